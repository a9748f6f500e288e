// LHLO's text: allocations, views and the program around the operations.
#include <ctype.h>

#include "fuse/leaves.h"
#include "hlo/device_groups.h"
#include "import/import.h"
#include "lhlo/buffer_assignment.h"
#include "lhlo/footprint.h"
#include "lhlo/reader.h"
#include "mlir/parser.h"
#include "mlir/text.h"
#include "opt/dynamic_padder.h"

// --- types

// The shape of a buffer, with the default layout.
static heddle_status buffer_shape(lhlo_reader *r, const ir_type *t, source_location where, const shape **out) {
  if (t->kind != IR_TYPE_BUFFER) return status_at(HEDDLE_INVALID, where, "found a value that is no memref");
  TRY(ir_type_shape(r->arena, t, where, out));
  for (int k = 0; k < (*out)->rank; k++)
    if ((*out)->dims[k] < 0) return status_at(HEDDLE_INVALID, where, "found a memref with an unknown size");
  return shape_check(*out, where);
}

static heddle_status with_layout(lhlo_reader *r, const ir_attribute *order, source_location where, const shape **s) {
  const int64_t *dims;
  int count;
  if (!order) return status_ok();
  if (!ir_attribute_integers(r->arena, order, &dims, &count) || count != (*s)->rank)
    return status_at(HEDDLE_INVALID, where, "found a layout that does not fit, wanted one number for each dimension");
  layout *l = arena_new(r->arena, layout);
  *l = (layout){.minor_to_major = dims, .tail_padding = 1};
  *s = shape_with_layout(r->arena, *s, l);
  return shape_check(*s, where);
}

// --- allocations

static int add_allocation(lhlo_reader *r, lhlo_allocation_kind kind, const char *name, int number, const shape *s) {
  vec_push(r->arena, &r->allocations,
           ((lhlo_allocation){.kind = kind,
                              .name = name,
                              .number = number,
                              .bytes = s ? kernel_buffer_bytes(s) : 0,
                              .shape = s,
                              .donated_parameter = -1}));
  return r->allocations.size - 1;
}

static void set_slice(lhlo_reader *r, const ir_value *v, int allocation, int64_t offset, const shape *s) {
  lhlo_slice *slice = arena_new(r->arena, lhlo_slice);
  *slice = (lhlo_slice){allocation, offset, s};
  ptr_map_put(r->arena, &r->slices, v, slice);
}

static heddle_status check_donation(lhlo_reader *r, const ir_attribute *donated, source_location where, int result) {
  int64_t parameter;
  lhlo_allocation *x = &r->allocations.data[result];
  if (!ir_attribute_integer(donated, &parameter) || parameter < 0 || parameter >= r->program->parameter_count)
    return status_at(HEDDLE_INVALID, where, "found a donated parameter that does not exist");
  if (r->allocations.data[parameter].bytes != x->bytes)
    return status_at(HEDDLE_INVALID, where, "result %s and the parameter donated to it differ in size", x->name);
  if (!r->receivers) r->receivers = arena_array(r->arena, const char *, r->program->parameter_count);
  if (r->receivers[parameter]) return status_at(HEDDLE_INVALID, where, "found a parameter that is donated twice");
  r->receivers[parameter] = x->name;
  x->donated_parameter = (int)parameter;
  return status_ok();
}

static heddle_status read_argument(lhlo_reader *r, const ir_operation *main, int number,
                                   const ir_attribute *attributes) {
  const ir_value *v = main->regions[0]->blocks.data[0]->arguments[number];
  lhlo_program *p = r->program;
  const shape *s = NULL;
  TRY(buffer_shape(r, v->type, main->where, &s));
  TRY(with_layout(r, attributes ? ir_find_field(attributes, "lmhlo.layout") : NULL, main->where, &s));
  bool is_result = attributes && ir_find_field(attributes, "lmhlo.result");
  if (!is_result && p->result_count > 0)
    return status_at(HEDDLE_INVALID, main->where, "found a parameter behind results, wanted parameters first");
  int *count = is_result ? &p->result_count : &p->parameter_count;
  const char *name = arena_printf(r->arena, "%c%d", is_result ? 'r' : 'p', *count);
  int allocation = add_allocation(r, is_result ? LHLO_RESULT : LHLO_PARAMETER, name, (*count)++, s);
  const ir_attribute *donated = attributes ? ir_find_field(attributes, "lmhlo.donated") : NULL;
  if (is_result && donated) TRY(check_donation(r, donated, main->where, allocation));
  set_slice(r, v, allocation, 0, s);
  return status_ok();
}

static heddle_status read_arguments(lhlo_reader *r, const ir_operation *main) {
  const ir_block *block = main->regions[0]->blocks.data[0];
  const ir_attribute *attributes = ir_find(main, "arg_attrs");
  bool has_attributes = attributes && attributes->kind == IR_ATTR_ARRAY && attributes->count == block->argument_count;
  for (int k = 0; k < block->argument_count; k++)
    TRY(read_argument(
        r, main, k, has_attributes && attributes->items[k]->kind == IR_ATTR_DICTIONARY ? attributes->items[k] : NULL));
  lhlo_program *p = r->program;
  p->parameters = arena_array(r->arena, const shape *, p->parameter_count);
  p->results = arena_array(r->arena, const shape *, p->result_count);
  for (int k = 0; k < p->parameter_count; k++) p->parameters[k] = r->allocations.data[k].shape;
  for (int k = 0; k < p->result_count; k++) p->results[k] = r->allocations.data[p->parameter_count + k].shape;
  return status_ok();
}

// --- constants and the arena

// The elements, each of them, within the bound on what a text may stand for.
static heddle_status expand(lhlo_reader *r, const ir_attribute *value, source_location where, literal **out) {
  const shape *s = ir_elements_shape(r->arena, value);
  if (ir_elements_repeat(value)) {
    if (shape_byte_size(s) > r->expansion_left)
      return status_at(HEDDLE_INVALID, where,
                       "found a value of %s that repeats one element, wanted less than 2 GiB of "
                       "such values",
                       shape_text(r->arena, s));
    r->expansion_left -= shape_byte_size(s);
  }
  return ir_elements_expand(r->arena, value, out);
}

static heddle_status new_constant(lhlo_reader *r, const ir_operation *get, str name, int *out) {
  const ir_operation *global = str_map_get(&r->globals, name);
  const ir_attribute *value = global ? ir_find(global, "initial_value") : NULL;
  if (!value || value->kind != IR_ATTR_ELEMENTS || value->elements->is_elided)
    return status_at(HEDDLE_INVALID, get->where, "found @" STR_FMT ", wanted the name of a memref.global with a value",
                     STR_ARG(name));
  literal *elements = NULL;
  const shape *s = ir_elements_shape(r->arena, value);
  TRY(expand(r, value, global->where, &elements));
  TRY(with_layout(r, ir_find(global, "lmhlo.layout"), global->where, &s));
  int number = 0;
  for (int k = 0; k < r->allocations.size; k++) number += r->allocations.data[k].kind == LHLO_CONSTANT;
  *out = add_allocation(r, LHLO_CONSTANT, arena_printf(r->arena, "c%d", number), number, s);
  r->allocations.data[*out].value = elements;
  str_map_put(r->arena, &r->global_numbers, name, (void *)(intptr_t)(*out + 1));  // NOLINT(performance-no-int-to-ptr)
  return status_ok();
}

static heddle_status read_get_global(lhlo_reader *r, const ir_operation *op) {
  const ir_attribute *name = ir_find(op, "name");
  const shape *s = NULL;
  if (!name || name->kind != IR_ATTR_SYMBOL || op->result_count != 1)
    return status_at(HEDDLE_INVALID, op->where, "found memref.get_global, wanted its name and one result");
  int allocation = (int)(intptr_t)str_map_get(&r->global_numbers, name->text) - 1;
  if (allocation < 0) TRY(new_constant(r, op, name->text, &allocation));
  TRY(buffer_shape(r, op->results[0]->type, op->where, &s));
  if (!shape_compatible(s, r->allocations.data[allocation].shape))
    return status_at(HEDDLE_INVALID, op->where, "found %s, wanted the constant's type %s", shape_text(r->arena, s),
                     shape_text(r->arena, r->allocations.data[allocation].shape));
  set_slice(r, op->results[0], allocation, 0, s);
  return status_ok();
}

static heddle_status read_alloc(lhlo_reader *r, const ir_operation *op) {
  const shape *s = NULL;
  if (op->result_count != 1 || op->operand_count != 0)
    return status_at(HEDDLE_INVALID, op->where, "found memref.alloc, wanted no operands and one result");
  TRY(buffer_shape(r, op->results[0]->type, op->where, &s));
  if (s->dtype != DTYPE_S8 || s->rank != 1)
    return status_at(HEDDLE_INVALID, op->where, "found memory of %s, wanted bytes: memref<…xi8>",
                     shape_text(r->arena, s));
  for (int k = 0; k < r->allocations.size; k++)
    if (r->allocations.data[k].kind == LHLO_TEMPORARY)
      return status_at(HEDDLE_INVALID, op->where, "found a second memref.alloc, wanted one for all temporary memory");
  int allocation = add_allocation(r, LHLO_TEMPORARY, "temp", 0, s);
  r->allocations.data[allocation].shape = NULL;
  r->program->temporary_bytes = r->allocations.data[allocation].bytes;
  set_slice(r, op->results[0], allocation, 0, s);
  return status_ok();
}

// --- views

static heddle_status add_view(lhlo_reader *r, const ir_operation *op, int64_t offset) {
  const lhlo_slice *base = op->operand_count ? ptr_map_get(&r->slices, op->operands[0]) : NULL;
  const shape *s = NULL;
  if (!base || op->result_count != 1)
    return status_at(HEDDLE_INVALID, op->where, "found " STR_FMT ", wanted memory as its operand and one result",
                     STR_ARG(op->name));
  TRY(buffer_shape(r, op->results[0]->type, op->where, &s));
  int64_t bytes = kernel_buffer_bytes(base->shape);
  if (offset < 0 || offset > bytes || kernel_buffer_bytes(s) > bytes - offset)
    return status_at(HEDDLE_INVALID, op->where,
                     "found %lld bytes at offset %lld, wanted them inside the %lld bytes of %s",
                     (long long)kernel_buffer_bytes(s), (long long)offset, (long long)bytes,
                     r->allocations.data[base->allocation].name);
  if (offset % BUFFER_ALIGNMENT != 0)
    return status_at(HEDDLE_INVALID, op->where, "found offset %lld, wanted a multiple of %d", (long long)offset,
                     BUFFER_ALIGNMENT);
  set_slice(r, op->results[0], base->allocation, base->offset + offset, s);
  return status_ok();
}

static heddle_status read_constant_index(lhlo_reader *r, const ir_operation *op) {
  const ir_attribute *value = ir_find(op, "value");
  int64_t number;
  if (op->result_count != 1 || !ir_attribute_integer(value, &number))
    return status_at(HEDDLE_INVALID, op->where, "found arith.constant, wanted an integer");
  ptr_map_put(r->arena, &r->offsets, op->results[0], (void *)value);
  return status_ok();
}

static heddle_status read_arena_view(lhlo_reader *r, const ir_operation *op) {
  int64_t offset;
  const ir_attribute *value = op->operand_count == 2 ? ptr_map_get(&r->offsets, op->operands[1]) : NULL;
  if (!ir_attribute_integer(value, &offset))
    return status_at(HEDDLE_INVALID, op->where, "found memref.view, wanted memory and an arith.constant as operands");
  return add_view(r, op, offset);
}

static heddle_status read_value_view(lhlo_reader *r, const ir_operation *op) {
  int64_t offset;
  if (op->operand_count != 1 || !ir_attribute_integer(ir_find(op, "offset"), &offset))
    return status_at(HEDDLE_INVALID, op->where, "found lmhlo.view, wanted one operand and its offset");
  return add_view(r, op, offset);
}

heddle_status lhlo_read_view(lhlo_reader *r, const ir_operation *op, bool *is_one) {
  static const struct {
    const char *name;
    heddle_status (*read)(lhlo_reader *, const ir_operation *);
  } rows[] = {{"memref.get_global", read_get_global},
              {"memref.alloc", read_alloc},
              {"memref.view", read_arena_view},
              {"lmhlo.view", read_value_view},
              {"arith.constant", read_constant_index}};
  *is_one = true;
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (str_is(op->name, rows[k].name)) return rows[k].read(r, op);
  *is_one = false;
  return status_ok();
}

// --- the program

static heddle_status read_symbols(lhlo_reader *r, const ir_operation **main) {
  const ir_block *block = r->source->operation->regions[0]->blocks.data[0];
  for (int k = 0; k < block->operations.size; k++) {
    const ir_operation *op = block->operations.data[k];
    const ir_attribute *name = ir_find(op, "sym_name");
    if (!name || name->kind != IR_ATTR_STRING)
      return status_at(HEDDLE_INVALID, op->where, "found " STR_FMT " without a name, wanted functions and constants",
                       STR_ARG(op->name));
    if (str_is(op->name, "memref.global")) {
      str_map_put(r->arena, &r->globals, name->text, (void *)op);
    } else if (op->op != IR_OP_FUNC || op->region_count != 1 || op->regions[0]->blocks.size != 1) {
      return status_at(HEDDLE_INVALID, op->where, "found " STR_FMT ", wanted a function with a body, or memref.global",
                       STR_ARG(op->name));
    } else if (str_is(name->text, "main")) {
      *main = op;
    } else {
      lhlo_function *f = arena_new(r->arena, lhlo_function);
      f->operation = op;
      str_map_put(r->arena, &r->functions, name->text, f);
    }
  }
  return status_ok();
}

// The module that an LHLO program has: its name and its interface, around an operation that stands for all the rest.
static void make_shell(lhlo_reader *r) {
  lhlo_program *p = r->program;
  const ir_attribute *name = ir_find(r->source->operation, "sym_name");
  module *m =
      module_create(r->arena, name && name->kind == IR_ATTR_STRING ? str_copy(r->arena, name->text) : STR("main"));
  m->file = r->source->file;
  m->entry = module_add_computation(m, STR("main"));
  instruction **operands = arena_array(r->arena, instruction *, p->parameter_count);
  for (int k = 0; k < p->parameter_count; k++)
    operands[k] = computation_add_parameter(m->entry, k, (str){0}, p->parameters[k]);
  const shape *result = p->result_count == 1 ? p->results[0] : shape_tuple(r->arena, p->result_count, p->results);
  instruction *all = computation_add(m->entry, HLO_CUSTOM_CALL, STR("program"), result, p->parameter_count, operands);
  all->attributes->custom_call_target = STR("lmhlo.program");
  computation_set_root(m->entry, all);
  const ir_attribute *sizes = ir_find(r->source->operation, "lmhlo.dynamic_results");
  if (sizes && sizes->kind == IR_ATTR_STRING)
    vec_push(r->arena, &m->attributes, ((module_attribute){STR(DYNAMIC_RESULTS), str_copy(r->arena, sizes->text)}));
  r->shell = m;
  p->module = m;
}

static heddle_status check_total(const lhlo_reader *r, const ir_operation *main) {
  int64_t left = LHLO_MOST_BYTES;
  for (int k = 0; k < r->allocations.size; k++) {
    if (r->allocations.data[k].bytes > left)
      return status_at(HEDDLE_OUT_OF_MEMORY, main->where, "the program takes more memory than can be addressed");
    left -= r->allocations.data[k].bytes;
  }
  return status_ok();
}

static heddle_status read_count(lhlo_reader *r, const char *name, int *out) {
  const ir_operation *module = r->source->operation;
  const ir_attribute *count = ir_find(module, name);
  int64_t number = 1;
  if (count && (!ir_attribute_integer(count, &number) || number < 1 || number > DEVICE_GROUPS_MOST))
    return status_at(HEDDLE_INVALID, module->where, "found another %s, wanted 1 to %d", name, DEVICE_GROUPS_MOST);
  *out = (int)number;
  return status_ok();
}

static heddle_status read_devices(lhlo_reader *r) {
  int replicas = 1;
  lhlo_program *p = r->program;
  TRY(read_count(r, "mhlo.num_replicas", &replicas));
  TRY(read_count(r, "mhlo.num_partitions", &p->partition_count));
  p->device_count = replicas * p->partition_count;
  if (p->device_count <= DEVICE_GROUPS_MOST) return status_ok();
  return status_at(HEDDLE_INVALID, r->source->operation->where, "found %d devices, wanted 1 to %d", p->device_count,
                   DEVICE_GROUPS_MOST);
}

static heddle_status read_program(lhlo_reader *r) {
  const ir_operation *main = NULL;
  lhlo_program *p = r->program;
  TRY(read_devices(r));
  TRY(read_symbols(r, &main));
  if (!main) return status_at(HEDDLE_INVALID, r->source->operation->where, "found no function @main");
  TRY(read_arguments(r, main));
  make_shell(r);
  TRY(dynamic_results_find(r->arena, r->shell, p->result_count, (const shape *const *)p->results, &p->dynamic));
  TRY(lhlo_read_ops(r, main->regions[0]->blocks.data[0], &p->entry));
  TRY(check_total(r, main));
  p->allocation_count = r->allocations.size;
  p->allocations = r->allocations.data;
  p->kernel_count = r->kernels.kernels.size;
  p->kernels = r->kernels.kernels.data;
  p->peak_bytes = lhlo_peak_bytes(p);
  return lhlo_check_written(r);
}

heddle_status lhlo_parse(arena *a, str source, const char *file, const target_description *target, lhlo_program **out) {
  return lhlo_parse_limited(a, source, file, target, MLIR_MOST_SPLAT_BYTES, out);
}

heddle_status lhlo_parse_limited(arena *a, str source, const char *file, const target_description *target,
                                 int64_t most_expanded, lhlo_program **out) {
  ir_module **modules;
  int count;
  TRY(mlir_parser_run(a, file, source, most_expanded, &count, &modules));
  if (count != 1) {
    return status_at(HEDDLE_INVALID, (source_location){.file = file, .line = 1, .column = 1},
                     "found %d modules, wanted one", count);
  }
  lhlo_reader r = {.arena = a,
                   .source = modules[0],
                   .expansion_left = most_expanded,
                   .program = arena_new(a, lhlo_program),
                   .kernels = {.arena = a, .target = *target}};
  r.program->target = *target;
  TRY(read_program(&r));
  footprint_find_all(r.program);
  *out = r.program;
  return status_ok();
}
