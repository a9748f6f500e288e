// Arrays are counted as everywhere: the leaves of parameters and results, in order, without tokens.
#include "tools/signature.h"

#include "hlo/device_groups.h"
#include "import/import_ir.h"
#include "lhlo/donation.h"
#include "stablehlo/stablehlo_to_hlo.h"
#include "tools/open_dims.h"

// --- arrays

// Rows and columns are said even where nobody chose them.
static const shape *with_plain_layout(arena *a, const shape *s) {
  if (s->layout || s->rank == 0) return s;
  int64_t *order = arena_array(a, int64_t, s->rank);
  shape_minor_to_major(s, order);
  layout *l = arena_new(a, layout);
  *l = (layout){.minor_to_major = order, .tail_padding = 1};
  return shape_with_layout(a, s, l);
}

static bool has_open_dims(const shape *s) {
  for (int k = 0; k < s->rank; k++)
    if (s->dims[k] < 0) return true;
  return false;
}

// `{{replicated}, {devices=…}}`: the number-th of a list, or the text itself where it is none.
static str sharding_of_element(str text, int number) {
  if (!str_starts_with(text, "{{")) return text;
  int depth = 0;
  size_t start = 1;
  for (size_t k = 0; k < text.size; k++) {
    const char c = text.data[k];
    depth += (c == '{') - (c == '}');
    const bool is_end = (c == ',' && depth == 1) || depth == 0;
    if (!is_end) continue;
    while (start < k && text.data[start] == ' ') start++;
    if (number-- == 0) return (str){text.data + start, k - start};
    start = k + 1;
  }
  return (str){0};
}

typedef struct leaf_walk {
  arena *arena;
  signature_arrays *out;
  str name;
  int number;
  int path[SHAPE_MAX_NESTING + 1];
} leaf_walk;

// Shapes nest at most SHAPE_MAX_NESTING deep.
static void add_leaves(leaf_walk *w, const shape *s, str sharding, int depth) {
  for (int k = 0; k < s->tuple_size; k++) {
    w->path[depth] = k;
    add_leaves(w, s->elements[k], sharding_of_element(sharding, k), depth + 1);
  }
  if (!shape_is_array(s)) return;
  int *path = arena_array(w->arena, int, depth);
  memcpy(path, w->path, (size_t)depth * sizeof *path);
  vec_push(w->arena, w->out,
           ((signature_array){.index = {w->number, depth, path},
                              .name = w->name,
                              .shape = with_plain_layout(w->arena, s),
                              .bytes = has_open_dims(s) ? -1 : kernel_buffer_bytes(s),
                              .partner = -1,
                              .sharding = sharding}));
}

static void add_arrays(arena *a, signature_arrays *out, str name, int number, const shape *s, str sharding) {
  leaf_walk w = {.arena = a, .out = out, .name = name, .number = number};
  add_leaves(&w, s, sharding, 0);
}

int64_t signature_bytes(const signature_arrays *arrays) {
  int64_t sum = 0;
  for (int k = 0; k < arrays->size; k++) {
    const int64_t bytes = arrays->data[k].bytes;
    if (bytes < 0) return -1;
    if (__builtin_add_overflow(sum, bytes, &sum)) return INT64_MAX;
  }
  return sum;
}

static void pair_up(signature *s, int result, int parameter) {
  if (parameter < 0 || parameter >= s->parameters.size || result >= s->results.size) return;
  s->results.data[result].partner = parameter;
  s->parameters.data[parameter].partner = result;
}

// --- parts

void name_counts_add(arena *a, name_counts *counts, str name) {
  int number = (int)(intptr_t)str_map_get(&counts->numbers, name);
  if (number == 0) {
    vec_push(a, &counts->rows, ((name_count){.name = name}));
    number = counts->rows.size;
    str_map_put(a, &counts->numbers, name, (void *)(intptr_t)number);  // NOLINT(performance-no-int-to-ptr)
  }
  counts->rows.data[number - 1].count++;
}

static bool is_dynamic(const shape *s) {
  bool found = shape_is_array(s) && !shape_is_static(s);
  for (int k = 0; k < s->tuple_size; k++) found |= is_dynamic(s->elements[k]);
  return found;
}

static bool is_part(const instruction *i, signature_part part) {
  const library_kind kind = library_kind_of(i);
  switch (part) {
    case SIGNATURE_OPERATIONS: return true;
    case SIGNATURE_CUSTOM_CALLS: return i->opcode == HLO_CUSTOM_CALL;
    case SIGNATURE_COLLECTIVES: return kind == LIBRARY_COLLECTIVE || hlo_op_has(i->opcode, TRAIT_COLLECTIVE);
    case SIGNATURE_RANDOM: return kind == LIBRARY_RANDOM || hlo_op_has(i->opcode, TRAIT_RANDOM);
    case SIGNATURE_TRANSFERS: return kind == LIBRARY_TRANSFER;
    case SIGNATURE_DYNAMIC: return is_dynamic(i->shape);
    case SIGNATURE_LIBRARIES: break;
    case SIGNATURE_PART_COUNT: return false;
  }
  for (int k = SIGNATURE_CUSTOM_CALLS; k < SIGNATURE_DYNAMIC; k++)
    if (is_part(i, (signature_part)k)) return false;
  return kind != LIBRARY_NONE;
}

static void count_instruction(arena *a, signature *s, const instruction *i) {
  const str opcode = str_from(hlo_op_text(i->opcode));
  for (int k = 0; k < SIGNATURE_PART_COUNT; k++)
    if (is_part(i, (signature_part)k))
      name_counts_add(a, &s->parts[k], k == SIGNATURE_CUSTOM_CALLS ? i->attributes->custom_call_target : opcode);
  if (i->opcode != HLO_CONSTANT) return;
  s->constants++;
  if (shape_is_array(i->shape)) s->constant_bytes += kernel_buffer_bytes(i->shape);
}

static void count_computation(arena *a, signature *s, const computation *c) {
  s->computations++;
  for (int k = 0; k < c->instructions.size; k++) count_instruction(a, s, c->instructions.data[k]);
}

static void count_module(arena *a, signature *s, const module *m) {
  s->has_parts = true;
  for (int c = 0; c < m->computations.size; c++) count_computation(a, s, m->computations.data[c]);
}

// --- modules

static const shape *declared_parameter(const module *m, int number) {
  const shape *all = m->entry_parameters_layout;
  return all && number < all->tuple_size ? all->elements[number] : m->entry->parameters.data[number]->shape;
}

static str sharding_of(const instruction *i) {
  const str *text = attributes_raw(i->attributes, "sharding");
  return text ? *text : (str){0};
}

heddle_status signature_of_module(arena *a, const module *m, signature *out) {
  *out = (signature){.module = m->name,
                     .entry = m->entry->name,
                     .replicas = device_groups_replicas(m),
                     .partitions = device_groups_partitions(m),
                     .parameter_count = m->entry->parameters.size};
  for (int k = 0; k < out->parameter_count; k++) {
    const instruction *p = m->entry->parameters.data[k];
    add_arrays(a, &out->parameters, p->name, k, declared_parameter(m, k), sharding_of(p));
  }
  const instruction *root = m->entry->root;
  const shape *result = m->entry_result_layout ? m->entry_result_layout : root->shape;
  add_arrays(a, &out->results, (str){0}, 0, result, sharding_of(root));
  for (int k = 0; k < out->parameters.size; k++) out->is_open |= out->parameters.data[k].bytes < 0;
  int *donated;
  TRY(donation_find(a, m, &donated));
  for (int k = 0; k < out->results.size; k++) pair_up(out, k, donated[k]);
  count_module(a, out, m);
  return status_ok();
}

// --- functions

static str sharding_attribute(const ir_operation *function, const char *list, int number) {
  const ir_attribute *x = ir_find_argument_attribute(function, list, number, "mhlo.sharding");
  if (!x) x = ir_find_argument_attribute(function, list, number, "sdy.sharding");
  return x && (x->kind == IR_ATTR_STRING || x->kind == IR_ATTR_OPAQUE) ? x->text : (str){0};
}

void signature_add_notes(arena *a, const ir_operation *function, signature *s) {
  const ir_attribute *attributes = ir_find(function, "res_attrs");
  const bool is_tuple = attributes && attributes->kind == IR_ATTR_ARRAY && attributes->count > 1;
  for (int k = 0; k < s->parameters.size; k++) {
    signature_array *x = &s->parameters.data[k];
    if (!x->sharding.size) x->sharding = str_copy(a, sharding_attribute(function, "arg_attrs", x->index.number));
  }
  for (int k = 0; k < s->results.size; k++) {
    signature_array *x = &s->results.data[k];
    const int number = is_tuple && x->index.depth ? x->index.path[0] : 0;
    const ir_attribute *name = ir_find_argument_attribute(function, "res_attrs", number, "jax.result_info");
    if (name && name->kind == IR_ATTR_STRING) x->name = str_copy(a, name->text);
    if (!x->sharding.size) x->sharding = str_copy(a, sharding_attribute(function, "res_attrs", number));
  }
}

// What stands between two words; empty if they do not follow each other.
static str between(str text, const char *from, const char *to) {
  const char *start = memmem(text.data, text.size, from, strlen(from));
  if (!start) return (str){0};
  start += strlen(from);
  const size_t left = text.size - (size_t)(start - text.data);
  const char *end = memmem(start, left, to, strlen(to));
  return (str){start, end ? (size_t)(end - start) : 0};
}

// jax.export checks its arguments' shapes first, and says by what names.
static str find_symbols(const ir_operation *function) {
  const ir_block *body = function->regions[0]->blocks.data[0];
  for (int k = 0; k < body->operations.size; k++) {
    const ir_attribute *message = ir_find(body->operations.data[k], "error_message");
    if (!message || message->kind != IR_ATTR_STRING) continue;
    const str symbols = between(message->text, "polymorphic shapes specifications: ", ". Obtained");
    if (symbols.size) return symbols;
  }
  return (str){0};
}

static heddle_status declared_shape(arena *a, const ir_operation *function, const ir_type *t, const shape **out) {
  if (t->kind != IR_TYPE_UNRANKED) return ir_type_shape(a, t, function->where, out);
  return status_at(HEDDLE_INVALID, function->where,
                   "found a parameter or result without a rank, wanted a tensor's type");
}

// Sizes that do not fit leave it unknown what the program is made of, which is no error.
static void count_made_up(arena *a, const ir_module *m, const ir_operation *function, signature *s) {
  const ir_block *body = function->regions[0]->blocks.data[0];
  const int count = body->argument_count;
  literal **arguments = arena_array(a, literal *, count);
  const shape **shapes = arena_array(a, const shape *, count);
  heddle_status status = status_ok();
  for (int k = 0; k < count && status_is_ok(status); k++) {
    const shape *declared;
    status = ir_type_shape(a, body->arguments[k]->type, function->where, &declared);
    if (status_is_ok(status) && shape_is_array(declared))
      status = open_dims_argument(a, (unsigned)k, declared, &arguments[k]);
    shapes[k] = status_is_ok(status) && arguments[k] ? arguments[k]->shape : NULL;
  }
  module *made;
  const import_options options = {.argument_shapes = shapes, .arguments = arguments, .argument_count = count};
  if (status_is_ok(status)) status = stablehlo_to_hlo(a, m, function, &options, &made);
  s->is_made_up = status_is_ok(status);
  if (s->is_made_up) count_module(a, s, made);
  heddle_status_free(status);
}

static str symbol_name(const ir_operation *op) {
  const ir_attribute *name = ir_find(op, "sym_name");
  return name && name->kind == IR_ATTR_STRING ? name->text : (str){0};
}

static int count_note(const ir_module *m, const char *name) {
  int64_t count = 1;
  return ir_attribute_integer(ir_find(m->operation, name), &count) && count > 0 && count <= INT32_MAX ? (int)count : 1;
}

heddle_status signature_of_open(arena *a, const ir_module *m, const ir_operation *function, signature *out) {
  const ir_block *body = function->regions[0]->blocks.data[0];
  const ir_attribute *type = ir_find(function, "function_type");
  const str name = symbol_name(m->operation), own = symbol_name(function);
  *out = (signature){.module = name.size ? name : own,
                     .entry = own,
                     .replicas = count_note(m, "mhlo.num_replicas"),
                     .partitions = count_note(m, "mhlo.num_partitions"),
                     .parameter_count = body->argument_count,
                     .is_open = true,
                     .symbols = find_symbols(function)};
  for (int k = 0; k < body->argument_count; k++) {
    const shape *s = NULL;
    TRY(declared_shape(a, function, body->arguments[k]->type, &s));
    const str from = body->argument_locations ? body->argument_locations[k].name : (str){0};
    add_arrays(a, &out->parameters, from, k, s, (str){0});
  }
  const int results = type && type->type ? type->type->result_count : 0;
  const shape **shapes = arena_array(a, const shape *, results);
  for (int k = 0; k < results; k++) TRY(declared_shape(a, function, type->type->results[k], &shapes[k]));
  add_arrays(a, &out->results, (str){0}, 0, results == 1 ? shapes[0] : shape_tuple(a, results, shapes), (str){0});
  for (int k = 0; k < out->parameters.size; k++) {
    int64_t result;
    const ir_attribute *alias =
        ir_find_argument_attribute(function, "arg_attrs", out->parameters.data[k].index.number, "tf.aliasing_output");
    if (ir_attribute_integer(alias, &result) && result >= 0 && result < out->results.size) pair_up(out, (int)result, k);
  }
  signature_add_notes(a, function, out);
  count_made_up(a, m, function, out);
  return status_ok();
}

// --- LHLO

// Bodies nest as regions do, which are read to a limit.
static void count_body(arena *a, signature *s, const lhlo_body *body) {
  s->computations++;
  for (int k = 0; k < body->ops.size; k++) {
    const lhlo_op *op = body->ops.data[k];
    if (op->kind == LHLO_COPY || !op->source) name_counts_add(a, &s->parts[SIGNATURE_OPERATIONS], STR("copy"));
    else count_instruction(a, s, op->source);
    if (op->kernel) count_computation(a, s, op->kernel->computation);
    for (int b = 0; b < op->body_count; b++) count_body(a, s, &op->bodies[b]);
  }
}

heddle_status signature_of_lhlo(arena *a, const lhlo_program *p, signature *out) {
  *out = (signature){.module = p->module->name,
                     .entry = STR("main"),
                     .replicas = p->device_count / p->partition_count,
                     .partitions = p->partition_count,
                     .parameter_count = p->parameter_count,
                     .has_parts = true};
  for (int k = 0; k < p->parameter_count; k++) add_arrays(a, &out->parameters, (str){0}, k, p->parameters[k], (str){0});
  for (int k = 0; k < p->result_count; k++) {
    signature_array x = {.shape = with_plain_layout(a, p->results[k]), .bytes = kernel_buffer_bytes(p->results[k])};
    x.partner = -1;
    int *path = arena_array(a, int, 1);
    path[0] = k;
    x.index = (signature_index){0, p->result_count > 1, path};
    vec_push(a, &out->results, x);
  }
  count_body(a, out, &p->entry);
  for (int k = 0; k < p->allocation_count; k++) {
    const lhlo_allocation *x = &p->allocations[k];
    if (x->kind == LHLO_RESULT) pair_up(out, x->number, x->donated_parameter);
    if (x->kind != LHLO_CONSTANT) continue;
    out->constants++;
    out->constant_bytes += x->bytes;
  }
  return status_ok();
}
