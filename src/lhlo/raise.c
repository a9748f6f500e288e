// Bodies of kernels and library operations as StableHLO: the importer's raising does the work.
#include "fuse/leaves.h"
#include "lhlo/text.h"
#include "stablehlo/hlo_to_stablehlo.h"

// --- functions that are called

static const ir_attribute *renamed(arena *a, const ir_attribute *x, const str_map *names) {
  if (x->kind == IR_ATTR_SYMBOL) {
    const char *name = str_map_get(names, x->text);
    return name ? ir_symbol_attribute(a, str_from(name)) : x;
  }
  if (x->kind != IR_ATTR_ARRAY) return x;
  const ir_attribute **items = arena_array(a, const ir_attribute *, x->count);
  for (int k = 0; k < x->count; k++) items[k] = renamed(a, x->items[k], names);
  return ir_array_attribute(a, x->count, items);
}

// Regions nest at most IR_MAX_DEPTH deep.
static void rename_calls(arena *a, const ir_operation *op, const str_map *names) {
  for (int k = 0; k < op->attribute_count; k++) op->attributes[k].value = renamed(a, op->attributes[k].value, names);
  for (int r = 0; r < op->region_count; r++) {
    const ir_region *region = op->regions[r];
    for (int b = 0; b < region->blocks.size; b++)
      for (int k = 0; k < region->blocks.data[b]->operations.size; k++)
        rename_calls(a, region->blocks.data[b]->operations.data[k], names);
  }
}

static void name_parts(arena *a, const lhlo_raised *x, int *parts) {
  str_map names = {0};
  for (int k = 0; k < x->called_count; k++) {
    const char *name = arena_printf(a, "part_%d", (*parts)++);
    str_map_put(a, &names, ir_find(x->called[k], "sym_name")->text, (void *)name);
    ir_set_attribute(a, x->called[k], "sym_name", ir_string_attribute(a, str_from(name)));
  }
  rename_calls(a, x->function, &names);
  for (int k = 0; k < x->called_count; k++) rename_calls(a, x->called[k], &names);
}

heddle_status lhlo_raise_computation(arena *a, const module *m, const computation *c, int *parts, lhlo_raised *out) {
  module alone = *m;
  alone.entry = (computation *)c;
  ir_module *raised;
  TRY(hlo_to_stablehlo(a, &alone, &raised));
  const ir_block *functions = raised->operation->regions[0]->blocks.data[0];
  *out = (lhlo_raised){.function = functions->operations.data[0],
                       .called_count = functions->operations.size - 1,
                       .called = functions->operations.data + 1};
  out->function->parent = NULL;
  ir_set_attribute(a, out->function, "sym_visibility", ir_string_attribute(a, STR("private")));
  name_parts(a, out, parts);
  return status_ok();
}

// --- one instruction

// A parameter for every array in `s`, and what else there is made on the spot.
static instruction *operand_of_shape(computation *c, const shape *s) {
  if (shape_is_array(s)) return computation_add_parameter(c, c->parameters.size, (str){0}, s);
  instruction **elements = arena_array(c->module->arena, instruction *, s->tuple_size);
  for (int k = 0; k < s->tuple_size; k++) elements[k] = operand_of_shape(c, s->elements[k]);
  hlo_opcode opcode = s->dtype == DTYPE_TOKEN ? HLO_AFTER_ALL : HLO_TUPLE;
  return computation_add(c, opcode, (str){0}, s, s->tuple_size, elements);
}

static instruction *copy_of(computation *c, const instruction *i) {
  instruction **operands = arena_array(c->module->arena, instruction *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) operands[k] = operand_of_shape(c, i->operands[k]->shape);
  instruction *copy = computation_add(c, i->opcode, (str){0}, i->shape, i->operand_count, operands);
  copy->attributes = i->attributes;
  copy->called = i->called;
  copy->called_count = i->called_count;
  copy->where = i->where;
  return copy;
}

static void add_leaves(computation *c, instruction *i, instruction_list *out) {
  arena *a = c->module->arena;
  if (shape_is_array(i->shape)) vec_push(a, out, i);
  for (int k = 0; k < i->shape->tuple_size; k++) {
    instruction *element = computation_add(c, HLO_GET_TUPLE_ELEMENT, (str){0}, i->shape->elements[k], 1, &i);
    element->attributes->index = k;
    add_leaves(c, element, out);
  }
}

static void set_root(computation *c, instruction *i) {
  arena *a = c->module->arena;
  instruction_list leaves = {0};
  shape_list shapes = {0};
  add_leaves(c, i, &leaves);
  leaves_of_shape(a, i->shape, &shapes);
  computation_set_root(
      c, computation_add(c, HLO_TUPLE, (str){0}, shape_tuple(a, shapes.size, shapes.data), leaves.size, leaves.data));
}

static bool are_in_order(int count, ir_value *const *values, int from_count, ir_value *const *from) {
  if (count != from_count) return false;
  for (int k = 0; k < count; k++)
    if (values[k] != from[k]) return false;
  return true;
}

static ir_operation *single_of(const ir_operation *function) {
  const ir_block *block = function->regions[0]->blocks.data[0];
  if (block->operations.size != 2) return NULL;
  ir_operation *op = block->operations.data[0], *end = block->operations.data[1];
  if (!str_starts_with(op->name, "stablehlo.") && !str_starts_with(op->name, "chlo.")) return NULL;
  return are_in_order(op->operand_count, op->operands, block->argument_count, block->arguments) &&
                 are_in_order(end->operand_count, end->operands, op->result_count, op->results)
             ? op
             : NULL;
}

heddle_status lhlo_raise_instruction(arena *a, const instruction *i, int *parts, lhlo_raised *out) {
  module *m = module_create(a, STR("operation"));
  m->file = i->where.file;
  m->entry = module_add_computation(m, STR("operation"));
  set_root(m->entry, copy_of(m->entry, i));
  TRY(lhlo_raise_computation(a, m, m->entry, parts, out));
  out->single = single_of(out->function);
  return status_ok();
}

const ir_type *lhlo_buffer_type(arena *a, const shape *s) {
  ir_type *t = arena_new(a, ir_type);
  *t = *ir_tensor_type(a, s->rank, s->dims, ir_scalar_type(a, s->dtype));
  t->kind = IR_TYPE_BUFFER;
  return t;
}
