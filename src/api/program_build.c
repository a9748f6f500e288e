// Makes a program of LHLO: each operation becomes a thunk, each value a slice, and each constant its bytes.
//
// Nothing is decided here, and nothing of the compiler's is pointed at: a program lives on its own. What a thunk reads
// and writes is what its operation does, nested operations included.
#include "api/program_build.h"

#include <string.h>

#include "api/program_shape.h"
#include "hlo/origin.h"
#include "lhlo/footprint.h"
#include "lhlo/profile.h"
#include "lower/spirv_words.h"
#include "prog/library_fields.h"
#include "prog/program_layout.h"

typedef VEC(int) int_vector;
typedef VEC(program_slice) slice_vector;

typedef struct program_builder {
  arena *arena;
  const lhlo_program *source;
  const module *module;  // null for a program that was written as LHLO
  const program_kernels *kernels;
  program *out;
  slice_vector slices;
  int *table_allocations;  // by kernel
  str_map slice_numbers;   // the bytes of a program_slice -> its number, plus one
  bool hides;              // profiles show only some operations
} program_builder;

static const char *copy_text(arena *a, const char *text) { return arena_strdup(a, text, strlen(text)); }

// --- kernels

static void grow(arena *a, program_kernels *k, int *capacity) {
  if (k->count < *capacity) return;
  int wanted = *capacity ? *capacity * 2 : 16;
  k->plans = arena_grow(a, k->plans, sizeof *k->plans * (size_t)*capacity, sizeof *k->plans * (size_t)wanted);
  *capacity = wanted;
}

static void add_kernel(arena *a, program_kernels *k, const void *key, const kernel_plan *plan, int *capacity) {
  grow(a, k, capacity);
  k->plans[k->count++] = plan;
  ptr_map_put(a, &k->numbers, key, (void *)(intptr_t)k->count);
}

// Called with single elements: lhs0, rhs0, lhs1, rhs1, …, result.
static heddle_status add_comparator(arena *a, const computation *c, program_kernels *k, int *capacity) {
  if (ptr_map_has(&k->numbers, c)) return status_ok();
  kernel_leaves leaves = {0};
  TRY(kernel_leaves_of(a, c->root, &leaves));
  kernel_request wanted = {.computation = c,
                           .name = arena_printf(a, "compare_%d", k->count),
                           .target = k->callers,
                           .leaf_count = leaves.size,
                           .leaves = leaves.data,
                           .all_parameters = true};
  kernel_plan *plan;
  TRY(kernel_plan_leaves(a, &wanted, &plan));
  add_kernel(a, k, c, plan, capacity);
  return status_ok();
}

static heddle_status collect_comparators(arena *a, const lhlo_body *body, program_kernels *k, int *capacity) {
  for (int i = 0; i < body->ops.size; i++) {
    const lhlo_op *op = body->ops.data[i];
    if (op->library && op->library->comparator) TRY(add_comparator(a, op->library->comparator, k, capacity));
    for (int b = 0; b < op->body_count; b++) TRY(collect_comparators(a, &op->bodies[b], k, capacity));
  }
  return status_ok();
}

heddle_status program_collect_kernels(arena *a, const lhlo_program *p, const char *name, program_kernels *out) {
  *out = (program_kernels){0};
  int capacity = 0;
  for (int i = 0; i < p->kernel_count; i++) {
    const kernel_plan *k = p->kernels[i];
    if (launch_is_empty(&k->launch)) continue;
    add_kernel(a, out, k, k, &capacity);
    for (const kernel_plan *rest = k->rest; rest; rest = rest->rest) add_kernel(a, out, rest, rest, &capacity);
  }
  out->comparators = out->count;
  target_description *host = arena_new(a, target_description);
  *host = p->target.has_grid ? target_cpu(1) : p->target;
  out->callers = host;
  TRY(collect_comparators(a, &p->entry, out, &capacity));
  if (name) out->plans = kernel_plans_named(a, out->count, out->plans, name);
  return status_ok();
}

// --- slices

static int slice_number(program_builder *b, const lhlo_slice *s) {
  program_slice wanted;
  memset(&wanted, 0, sizeof wanted);  // padding is part of the key
  wanted.allocation = s->allocation;
  wanted.offset = s->offset;
  wanted.bytes = kernel_buffer_bytes(s->shape);
  wanted.is_temporary = s->is_temporary && b->source->allocations[s->allocation].kind == LHLO_RESULT;
  str key = str_copy(b->arena, (str){(const char *)&wanted, sizeof wanted});
  void *known = str_map_get(&b->slice_numbers, key);
  if (known) return (int)(intptr_t)known - 1;
  vec_push(b->arena, &b->slices, wanted);
  str_map_put(b->arena, &b->slice_numbers, key, (void *)(intptr_t)b->slices.size);
  return b->slices.size - 1;
}

// The slice of a kernel's table of sizes; -1 if it has none.
static int table_slice(program_builder *b, int kernel) {
  const program_table *t = b->kernels->tables ? &b->kernels->tables[kernel] : NULL;
  if (!t || t->count == 0) return -1;
  const program_slice wanted = {.allocation = b->table_allocations[kernel],
                                .bytes = t->count * (int64_t)sizeof(int64_t)};
  for (int k = 0; k < b->slices.size; k++)
    if (b->slices.data[k].allocation == wanted.allocation) return k;
  vec_push(b->arena, &b->slices, wanted);
  return b->slices.size - 1;
}

static void add_number(arena *a, int_vector *list, int number) {
  for (int i = list->size - 1; i >= 0 && i >= list->size - 8; i--)
    if (list->data[i] == number) return;
  vec_push(a, list, number);
}

// --- thunks

// The program outlives the module, and so its file's name.
static source_location copy_place(arena *a, source_location where) {
  if (!where.file) return SOURCE_UNKNOWN;
  return (source_location){copy_text(a, where.file), where.line, where.column};
}

static const program_thunk_kind library_thunks[LIBRARY_KIND_COUNT] = {
    [LIBRARY_GEMM] = THUNK_GEMM,
    [LIBRARY_CONVOLUTION] = THUNK_CONVOLUTION,
    [LIBRARY_FFT] = THUNK_FFT,
    [LIBRARY_SORT] = THUNK_SORT,
    [LIBRARY_TOP_K] = THUNK_TOP_K,
    [LIBRARY_CONCATENATE] = THUNK_CONCATENATE,
    [LIBRARY_RANDOM] = THUNK_RANDOM,
    [LIBRARY_CUSTOM_CALL] = THUNK_CUSTOM_CALL,
    [LIBRARY_COLLECTIVE] = THUNK_COLLECTIVE,
    [LIBRARY_TRANSFER] = THUNK_TRANSFER,
};

static program_array library_array(program_builder *b, const shape *as, const lhlo_slice *slice) {
  const program_shape plain = program_shape_of(b->arena, as);
  return (program_array){plain.type, plain.rank, plain.dims, slice_number(b, slice)};
}

static heddle_status fill_fields(program_builder *b, const library_call *call, program_thunk *t) {
  program_fields_clear(t);
  if (t->kind == THUNK_CUSTOM_CALL) {
    t->custom_call.target = copy_text(b->arena, call->target);
  } else if (call->target) {
    const named_attribute target = {.name = "target", .kind = NAMED_TEXT, .text = call->target};
    TRY(program_field_set(b->arena, t, &target));
  }
  for (int k = 0; k < call->attribute_count; k++) TRY(program_field_set(b->arena, t, &call->attributes[k]));
  if (call->comparator) t->sort.comparator = (int)(intptr_t)ptr_map_get(&b->kernels->numbers, call->comparator) - 1;
  return status_ok();
}

// Runs nothing: what it writes is there from then on.
static void fill_allocation(program_builder *b, program_thunk *t) {
  t->kind = THUNK_SEQUENCE;
  t->sequence_count = 1;
  t->sequences = arena_new(b->arena, program_sequence);
}

static heddle_status fill_library(program_builder *b, const lhlo_op *op, program_thunk *t) {
  const library_call *call = op->library;
  t->kind = library_thunks[call->kind];
  t->operand_count = call->operand_count;
  t->result_count = call->result_count;
  program_array *operands = arena_array(b->arena, program_array, call->operand_count);
  program_array *results = arena_array(b->arena, program_array, call->result_count);
  for (int i = 0; i < call->operand_count; i++)
    operands[i] = library_array(b, call->operands[i], &op->operands[call->operand_leaves[i]]);
  for (int i = 0; i < call->result_count; i++) results[i] = library_array(b, call->results[i], &op->results[i]);
  t->operands = operands;
  t->results = results;
  return status_context(status_locate(fill_fields(b, call, t), t->where), "in the library call %s", t->name);
}

static void fill_kernel(program_builder *b, const lhlo_op *op, program_thunk *t) {
  const kernel_plan *k = op->kernel;
  const int number = (int)(intptr_t)ptr_map_get(&b->kernels->numbers, k) - 1, table = table_slice(b, number);
  t->kind = THUNK_KERNEL;
  int *buffers = arena_array(b->arena, int, k->slice_count + 1);
  buffers[k->slice_count] = table;
  for (int i = 0; i < k->slice_count; i++) {
    const kernel_buffer *from = &k->slices[i];
    buffers[i] =
        slice_number(b, from->kind == KERNEL_PARAMETER ? &op->operands[from->number] : &op->results[from->number]);
  }
  t->launch = (program_launch){number, k->slice_count + (table >= 0), buffers};
}

static heddle_status build_body(program_builder *b, const lhlo_body *body, program_sequence *out);

static heddle_status fill_bodies(program_builder *b, const lhlo_op *op, program_thunk *t) {
  static const program_thunk_kind kinds[] = {
      [LHLO_WHILE] = THUNK_WHILE, [LHLO_CONDITIONAL] = THUNK_CONDITIONAL, [LHLO_CALL] = THUNK_CALL};
  t->kind = kinds[op->kind];
  program_sequence *sequences = arena_array(b->arena, program_sequence, op->body_count);
  for (int i = 0; i < op->body_count; i++) TRY(build_body(b, &op->bodies[i], &sequences[i]));
  t->sequence_count = op->body_count;
  t->sequences = sequences;
  if (op->kind == LHLO_WHILE && op->trip_count >= 0) {
    t->kind = THUNK_FOR;
    t->trip_count = op->trip_count;
    t->sequence_count = 1;
    t->sequences = &sequences[1];
  } else if (op->kind != LHLO_CALL) {
    t->control = (program_control){slice_number(b, &op->control), op->control.shape->dtype == DTYPE_PRED};
  }
  return status_ok();
}

static void add_nested(program_builder *b, const program_thunk *t, int_vector *reads, int_vector *writes) {
  for (int s = 0; s < t->sequence_count; s++) {
    for (int i = 0; i < t->sequences[s].count; i++) {
      const program_thunk *inner = t->sequences[s].thunks[i];
      for (int k = 0; k < inner->read_count; k++) add_number(b->arena, reads, inner->reads[k]);
      for (int k = 0; k < inner->write_count; k++) add_number(b->arena, writes, inner->writes[k]);
    }
  }
}

static void fill_uses(program_builder *b, const lhlo_op *op, program_thunk *t) {
  int_vector reads = {0}, writes = {0};
  if (op->body_count == 0) {
    for (int i = 0; i < op->operand_count; i++) add_number(b->arena, &reads, slice_number(b, &op->operands[i]));
    if (op->kind == LHLO_FUSION && t->launch.buffer_count > op->kernel->slice_count)
      add_number(b->arena, &reads, t->launch.buffers[op->kernel->slice_count]);
    for (int i = 0; i < op->result_count; i++) add_number(b->arena, &writes, slice_number(b, &op->results[i]));
  } else {
    if (t->kind == THUNK_WHILE || t->kind == THUNK_CONDITIONAL) add_number(b->arena, &reads, t->control.slice);
    add_nested(b, t, &reads, &writes);
  }
  t->reads = reads.data;
  t->read_count = reads.size;
  t->writes = writes.data;
  t->write_count = writes.size;
}

// "jit(f)/add f.py:3"
static const char *origin_text(arena *a, const instruction *i) {
  if (!i) return "";
  const origin from = origin_of(a, i);
  const char *gap = from.name.size && from.file.size ? " " : "";
  const char *line = from.file.size && from.line > 0 ? arena_printf(a, ":%d", from.line) : "";
  return arena_printf(a, STR_FMT "%s" STR_FMT "%s", STR_ARG(from.name), gap, STR_ARG(from.file), line);
}

static heddle_status build_op(program_builder *b, const lhlo_op *op, const program_thunk **out) {
  program_thunk *t = arena_new(b->arena, program_thunk);
  t->name = op->source ? arena_printf(b->arena, STR_FMT, STR_ARG(op->source->name)) : "copy";
  t->where = op->source ? copy_place(b->arena, op->source->where) : SOURCE_UNKNOWN;
  t->origin = origin_text(b->arena, op->source);
  switch (op->kind) {
    case LHLO_FUSION: fill_kernel(b, op, t); break;
    case LHLO_LIBRARY:
      if (footprint_is_allocation(op)) fill_allocation(b, t);
      else TRY(fill_library(b, op, t));
      break;
    case LHLO_COPY: t->kind = THUNK_COPY; break;
    case LHLO_WHILE:
    case LHLO_CONDITIONAL:
    case LHLO_CALL: TRY(fill_bodies(b, op, t)); break;
  }
  t->resident_bytes = op->resident_bytes;
  t->is_hidden = b->hides && !op->is_profiled;
  fill_uses(b, op, t);
  *out = t;
  return status_ok();
}

// Nothing to do, and no code for it: an operation all of whose results are empty.
static bool is_empty(const lhlo_op *op) { return op->kind == LHLO_FUSION && launch_is_empty(&op->kernel->launch); }

static heddle_status build_body(program_builder *b, const lhlo_body *body, program_sequence *out) {
  const program_thunk **thunks = arena_array(b->arena, const program_thunk *, body->ops.size);
  int count = 0;
  for (int i = 0; i < body->ops.size; i++)
    if (!is_empty(body->ops.data[i])) TRY(build_op(b, body->ops.data[i], &thunks[count++]));
  *out = (program_sequence){.count = count, .thunks = thunks};
  return status_ok();
}

// --- signature

typedef VEC(const char *) name_list;

// "x", or for the leaves of a tuple "x{0}", "x{1,0}", …: tuples nest at most SHAPE_MAX_NESTING deep.
static void add_names(arena *a, name_list *out, const char *name, const char *path, const shape *s) {
  if (shape_is_array(s)) vec_push(a, out, path[0] ? arena_printf(a, "%s{%s}", name, path) : name);
  for (int k = 0; k < s->tuple_size; k++)
    add_names(a, out, name, arena_printf(a, "%s%s%d", path, path[0] ? "," : "", k), s->elements[k]);
}

// One for each parameter leaf.
static name_list parameter_names(const program_builder *b) {
  arena *a = b->arena;
  name_list names = {0};
  for (int k = 0; b->module && k < b->module->entry->parameters.size; k++) {
    const instruction *p = b->module->entry->parameters.data[k];
    add_names(a, &names, arena_printf(a, STR_FMT, STR_ARG(p->name)), "", p->shape);
  }
  for (int k = names.size; k < b->source->parameter_count; k++) vec_push(a, &names, arena_printf(a, "p%d", k));
  return names;
}

static void build_values(program_builder *b) {
  const lhlo_program *p = b->source;
  const name_list names = parameter_names(b);
  program_value *parameters = arena_array(b->arena, program_value, p->parameter_count);
  program_value *results = arena_array(b->arena, program_value, p->result_count);
  for (int i = 0; i < p->parameter_count; i++)
    parameters[i] = (program_value){names.data[i], program_shape_of(b->arena, p->parameters[i]), -1};
  for (int i = 0; i < p->result_count; i++)
    results[i] = (program_value){"", program_shape_of(b->arena, p->results[i]), -1};
  for (int i = 0; i < p->allocation_count; i++)
    if (p->allocations[i].kind == LHLO_RESULT)
      results[p->allocations[i].number].donated_parameter = p->allocations[i].donated_parameter;
  b->out->parameters = parameters;
  b->out->results = results;
}

static void build_dynamic(program_builder *b) {
  const dynamic_results *from = &b->source->dynamic;
  program_dynamic_size *sizes = arena_array(b->arena, program_dynamic_size, from->count);
  for (int i = 0; i < from->count; i++)
    sizes[i] = (program_dynamic_size){from->sizes[i].result, from->sizes[i].dimension, from->sizes[i].size};
  b->out->given_result_count = from->given_count;
  b->out->dynamic_count = from->count;
  b->out->dynamic = sizes;
}

typedef VEC(program_node) node_list;

// Sizes, with which a program comes out of the passes, are left out: they are the last elements of the outermost tuple.
static void add_nodes(const program_builder *b, const shape *s, int *next, node_list *out) {
  const int at = out->size;
  vec_push(b->arena, out, ((program_node){.type = s->dtype}));
  if (shape_is_array(s)) (*next)++;
  for (int k = 0; k < s->tuple_size; k++) {
    if (shape_is_array(s->elements[k]) && *next >= b->out->given_result_count) break;
    add_nodes(b, s->elements[k], next, out);
    out->data[at].count++;
  }
}

static void build_nodes(program_builder *b) {
  const lhlo_program *p = b->source;
  const shape *s = b->module ? b->module->entry->root->shape
                             : shape_tuple(b->arena, p->result_count, (const shape *const *)p->results);
  node_list nodes = {0};
  int next = 0;
  add_nodes(b, s, &next, &nodes);
  b->out->node_count = nodes.size;
  b->out->nodes = nodes.data;
}

// --- the whole

// A large value is used where it lies; the plan and what it was made of outlive the program.
static const void *constant_bytes(arena *a, const lhlo_allocation *from) {
  const program_shape s = program_shape_of(a, from->shape);
  const void *given = from->value->data;
  if (program_shape_is_plain(&s) && (uintptr_t)given % 64 == 0 && program_shape_bytes(&s) == from->bytes) return given;
  // The arena aligns to less than a kernel's vector loads ask for.
  char *raw = arena_alloc(a, (size_t)from->bytes + 64);
  char *data = raw + (-(uintptr_t)raw & 63);
  program_layout_pack(from->value->data, &s, data);
  return data;
}

// Tables of sizes come behind all else.
static void add_tables(program_builder *b, program_allocation *made) {
  const program_kernels *k = b->kernels;
  for (int i = 0; k->tables && i < k->count; i++) {
    if (k->tables[i].count == 0) continue;
    b->table_allocations[i] = b->out->allocation_count;
    made[b->out->allocation_count++] = (program_allocation){.kind = PROGRAM_NUMBERS,
                                                            .number = i,
                                                            .bytes = k->tables[i].count * (int64_t)sizeof(int64_t),
                                                            .data = k->tables[i].numbers};
  }
}

static void build_allocations(program_builder *b) {
  static const program_allocation_kind kinds[] = {[LHLO_PARAMETER] = PROGRAM_PARAMETER,
                                                  [LHLO_RESULT] = PROGRAM_RESULT,
                                                  [LHLO_CONSTANT] = PROGRAM_CONSTANT,
                                                  [LHLO_TEMPORARY] = PROGRAM_TEMPORARY};
  const lhlo_program *p = b->source;
  b->out->allocation_count = p->allocation_count;
  program_allocation *made = arena_array(b->arena, program_allocation, p->allocation_count + b->kernels->count);
  b->table_allocations = arena_array(b->arena, int, b->kernels->count);
  for (int i = 0; i < p->allocation_count; i++) {
    const lhlo_allocation *from = &p->allocations[i];
    made[i] = (program_allocation){.kind = kinds[from->kind],
                                   .number = from->number,
                                   .bytes = from->bytes,
                                   .data = from->kind == LHLO_CONSTANT ? constant_bytes(b->arena, from) : NULL};
  }
  add_tables(b, made);
  b->out->allocations = made;
}

// Of a kernel with a rest the program counts pieces, which are the tiles of the last one.
static int64_t tiles_of(const kernel_plan *k) {
  while (k->rest) k = k->rest;
  return k->launch.tiles;
}

static program_kernel kernel_of(const program_builder *b, int number) {
  const kernel_plan *k = b->kernels->plans[number];
  const launch_plan *launch = &k->launch;
  const double operations = launch->tiles > 0 ? k->work / (double)launch->tiles : 0;
  const bool has_grid = b->source->target.has_grid && number < b->kernels->comparators;
  return (program_kernel){.entry = copy_text(b->arena, k->name),
                          .buffer_count = k->slice_count + (b->kernels->tables && b->kernels->tables[number].count > 0),
                          .tiles = tiles_of(k),
                          .pieces = k->rest ? launch->pieces : 0,
                          .rest = k->rest ? (int)(intptr_t)ptr_map_get(&b->kernels->numbers, k->rest) - 1 : 0,
                          .tile_bytes = launch->tile_bytes,
                          .tile_operations = operations < 1e15 ? (int64_t)operations : (int64_t)1e15,
                          .grid = {launch->blocks_x, launch->blocks_y, has_grid},
                          .block = {launch->threads, has_grid, has_grid},
                          .shared_bytes = launch->shared_bytes};
}

typedef VEC(program_image) program_images;

// Modules of SPIR-V that are forms of one kernel are images of their own. How many more than one there are.
static int add_image(arena *a, program_image_format format, const kernel_image *from, program_images *to) {
  const int before = to->size;
  str rest = {from->data, from->size};
  while (format == PROGRAM_SPIRV && rest.size > 0) {
    const str words = spirv_words_take(&rest);
    const program_image made = {format, words.data, words.size};
    vec_push(a, to, made);
  }
  const program_image whole = {format, from->data, from->size};
  if (to->size == before) vec_push(a, to, whole);
  return to->size - before - 1;
}

// Each kernel has an image of its own, or several, or all are in one.
static void build_kernels(program_builder *b, int image_count, const kernel_image *from) {
  static const program_image_format formats[] = {[IMAGE_ELF] = PROGRAM_ELF,
                                                 [IMAGE_PTX] = PROGRAM_PTX,
                                                 [IMAGE_SPIRV] = PROGRAM_SPIRV,
                                                 [IMAGE_MLIR] = PROGRAM_MLIR,
                                                 [IMAGE_LLVM] = PROGRAM_LLVM};
  const int count = b->kernels->count;
  program_images images = {0};
  program_kernel *kernels = arena_array(b->arena, program_kernel, count);
  for (int i = 0; i < count; i++) kernels[i] = kernel_of(b, i);
  for (int i = 0; i < image_count; i++) {
    const int first = images.size, forms = add_image(b->arena, formats[from[i].format], &from[i], &images);
    if (image_count != count) continue;
    kernels[i].image = first;
    kernels[i].forms = forms;
  }
  b->out->image_count = images.size;
  b->out->images = images.data;
  b->out->kernel_count = count;
  b->out->kernels = kernels;
}

heddle_status program_build(arena *a, const lhlo_program *p, const module *source, const program_kernels *kernels,
                            int image_count, const kernel_image *images, program *out) {
  *out = (program){.name = arena_printf(a, STR_FMT, STR_ARG(p->module->name)),
                   .where = copy_place(a, p->module->entry->where),
                   .device = p->target.kind,
                   .device_count = p->device_count,
                   .partition_count = p->partition_count,
                   .parameter_count = p->parameter_count,
                   .result_count = p->result_count,
                   .temporary_bytes = p->temporary_bytes,
                   .memory_limit = p->memory_limit};
  program_builder b = {
      .arena = a, .source = p, .module = source, .kernels = kernels, .out = out, .hides = lhlo_profile_is_injected(p)};
  build_values(&b);
  build_dynamic(&b);
  build_nodes(&b);
  build_allocations(&b);
  build_kernels(&b, image_count, images);
  TRY(build_body(&b, &p->entry, &out->entry));
  out->slices = b.slices.data;
  out->slice_count = b.slices.size;
  return status_ok();
}
