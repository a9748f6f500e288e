// Functions and operations of StableHLO inside LHLO become HLO again: the importer's lowering does the work.
#include "fuse/leaf_flow.h"
#include "fuse/leaves.h"
#include "hlo/origin.h"
#include "lhlo/reader.h"
#include "stablehlo/stablehlo_to_hlo.h"

heddle_status lhlo_lower_tensors(lhlo_reader *r, const ir_operation *function, module **out) {
  const import_options options = {0};
  return stablehlo_to_hlo(r->arena, r->source, function, &options, out);
}

// All the elements of one operation, in order, are that operation: so a kernel's root looks as fusion left it.
static void unpack_root(computation *c) {
  instruction *root = c->root, *from = NULL;
  if (root->opcode != HLO_TUPLE) return;
  for (int k = 0; k < root->operand_count; k++) {
    const instruction *x = root->operands[k];
    if (x->opcode != HLO_GET_TUPLE_ELEMENT || x->attributes->index != k || (from && x->operands[0] != from)) return;
    from = x->operands[0];
  }
  if (!from || from->shape->tuple_size != root->operand_count) return;
  computation_set_root(c, from);
  instruction **elements = root->operands;
  int count = root->operand_count;
  computation_remove(c, root);
  for (int k = 0; k < count; k++)
    if (elements[k]->users.size == 0) computation_remove(c, elements[k]);
}

heddle_status lhlo_lower_function(lhlo_reader *r, lhlo_function *f) {
  if (f->lowered) return status_ok();
  TRY(lhlo_lower_tensors(r, f->operation, &f->lowered));
  unpack_root(f->lowered->entry);
  return status_ok();
}

// --- single operations

static const ir_type *tensor_of(lhlo_reader *r, const shape *s) { return ir_type_of_shape(r->arena, s); }

// Attributes that LHLO adds to StableHLO's.
static bool is_ours(str name) { return str_is(name, "segments") || str_is(name, "name"); }

enum { PREFIX_SIZE = sizeof "lmhlo." - 1 };  // of what the operations are called

static str stablehlo_name(lhlo_reader *r, const ir_operation *op) {
  str name = {op->name.data + PREFIX_SIZE, op->name.size - PREFIX_SIZE};
  return str_starts_with(name, "chlo.") ? name : str_from(arena_printf(r->arena, "stablehlo." STR_FMT, STR_ARG(name)));
}

static ir_operation *tensor_operation(lhlo_reader *r, ir_block *block, const ir_operation *from, int result_count,
                                      const ir_type *const *results) {
  str name = stablehlo_name(r, from);
  ir_operation *op = ir_create(r->arena, block, ir_opcode_from_text(name), block->argument_count, block->arguments,
                               result_count, results, 0);
  op->name = name;
  op->where = from->where;
  op->location = from->location;
  op->region_count = from->region_count;
  op->regions = from->regions;
  for (int k = 0; k < from->attribute_count; k++)
    if (!is_ours(from->attributes[k].name))
      ir_set_attribute(r->arena, op, str_copy(r->arena, from->attributes[k].name).data, from->attributes[k].value);
  return op;
}

bool lhlo_is_library_operation(lhlo_reader *r, const ir_operation *op) {
  return ir_opcode_from_text(stablehlo_name(r, op)) != IR_OP_UNKNOWN;
}

heddle_status lhlo_lower_operation(lhlo_reader *r, const ir_operation *op, int operand_count,
                                   const lhlo_slice *operands, int result_count, const lhlo_slice *results,
                                   module **out) {
  arena *a = r->arena;
  ir_operation *function = ir_create(a, NULL, IR_OP_FUNC, 0, NULL, 0, NULL, 1);
  ir_block *block = ir_add_block(a, function->regions[0]);
  ir_type *type = arena_new(a, ir_type);
  const ir_type **inputs = arena_array(a, const ir_type *, operand_count);
  const ir_type **outputs = arena_array(a, const ir_type *, result_count);
  for (int k = 0; k < operand_count; k++) {
    inputs[k] = tensor_of(r, operands[k].shape);
    ir_add_argument(a, block, inputs[k]);
  }
  for (int k = 0; k < result_count; k++) outputs[k] = tensor_of(r, results[k].shape);
  *type = (ir_type){.kind = IR_TYPE_FUNCTION,
                    .count = operand_count,
                    .types = inputs,
                    .result_count = result_count,
                    .results = outputs};
  ir_operation *inner = tensor_operation(r, block, op, result_count, outputs);
  ir_operation *end = ir_create(a, block, IR_OP_FUNC_RETURN, result_count, inner->results, 0, NULL, 0);
  function->where = end->where = op->where;
  ir_set_attribute(a, function, "sym_name", ir_string_attribute(a, STR("operation")));
  ir_set_attribute(a, function, "function_type", ir_type_attribute(a, type));
  return lhlo_lower_tensors(r, function, out);
}

// --- the library's instruction

static bool counts_up(const leaf_numbers *x, int first) {
  for (int k = 0; k < x->count; k++)
    if (x->numbers[k] != first + k) return false;
  return true;
}

static leaf_numbers count_leaves(arena *a, const shape *s, int *next) {
  leaf_numbers v = {.count = leaves_count(s)};
  v.numbers = arena_array(a, int, v.count);
  for (int k = 0; k < v.count; k++) v.numbers[k] = (*next)++;
  return v;
}

static heddle_status not_one(const ir_operation *op) {
  return status_at(HEDDLE_INVALID, op->where,
                   "found " STR_FMT ", wanted one operation of a library that takes the operands and makes the results",
                   STR_ARG(op->name));
}

bool lhlo_has_library(const module *m) {
  for (int k = 0; k < m->entry->instructions.size; k++)
    if (library_kind_of(m->entry->instructions.data[k]) != LIBRARY_NONE) return true;
  return false;
}

static heddle_status find_library(arena *scratch, module *m, const ir_operation *op, instruction **out) {
  const computation *c = m->entry;
  instruction_list order;
  TRY(computation_post_order(scratch, c, &order));
  leaf_flow flow = {scratch, arena_array(scratch, leaf_numbers, order.size)};
  int next = 0, parameters;
  for (int k = 0; k < order.size; k++) order.data[k]->mark = (uint64_t)k;
  for (int k = 0; k < c->parameters.size; k++) {
    const instruction *p = c->parameters.data[k];
    flow.values[p->mark] = count_leaves(scratch, p->shape, &next);
  }
  parameters = next;
  *out = NULL;
  for (int k = 0; k < order.size; k++) {
    instruction *i = order.data[k];
    if (i->opcode == HLO_PARAMETER || leaf_flow_name(&flow, i, &flow.values[k])) continue;
    leaf_numbers operands = leaf_flow_operands(&flow, i, 0);
    if (*out || library_kind_of(i) == LIBRARY_NONE || operands.count != parameters || !counts_up(&operands, 0))
      return not_one(op);
    flow.values[k] = count_leaves(scratch, i->shape, &next);
    *out = i;
  }
  const leaf_numbers *root = &flow.values[c->root->mark];
  return !*out || root->count != next - parameters || !counts_up(root, parameters) ? not_one(op) : status_ok();
}

heddle_status lhlo_find_library(lhlo_reader *r, module *m, const ir_operation *op, instruction **out) {
  (void)r;
  arena *scratch = arena_create();
  heddle_status s = find_library(scratch, m, op, out);
  arena_destroy(scratch);
  return s;
}

// --- fusions

void lhlo_name_source(lhlo_reader *r, const ir_operation *op, instruction *i) {
  const ir_attribute *name = ir_find(op, "name"), *callee = ir_find(op, "callee");
  str text = {op->name.data + PREFIX_SIZE, op->name.size - PREFIX_SIZE};
  if (name && name->kind == IR_ATTR_STRING && name->text.size) text = name->text;
  else if (callee && callee->kind == IR_ATTR_SYMBOL && callee->text.size) text = callee->text;
  i->name = str_copy(r->arena, text);
  i->where = op->where;
  const origin from = {op->location.name, op->location.file, op->location.line, op->location.column};
  origin_set(i, &from);
}

instruction *lhlo_make_fusion(lhlo_reader *r, module *m, const ir_operation *op, fusion_kind kind) {
  computation *c = module_add_computation(m, STR("operation"));
  int count = m->entry->parameters.size;
  instruction **operands = arena_array(r->arena, instruction *, count);
  for (int k = 0; k < count; k++)
    operands[k] = computation_add_parameter(c, k, (str){0}, m->entry->parameters.data[k]->shape);
  instruction *fusion = computation_add(c, HLO_FUSION, (str){0}, m->entry->root->shape, count, operands);
  instruction_set_called(fusion, 1, &m->entry);
  fusion->attributes->kind = kind;
  attributes_mark(fusion->attributes, HLO_ATTRIBUTE_KIND);
  computation_set_root(c, fusion);
  lhlo_name_source(r, op, fusion);
  return fusion;
}
