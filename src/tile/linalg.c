// The walk over a computation, and the table of rules.
#include "tile/linalg.h"

#include "emit/elemental.h"
#include "tile/packed_loads.h"
#include "tile/structured.h"

const linalg_rule linalg_rules[HLO_OPCODE_COUNT] = {
    [HLO_BITCAST] = linalg_reshape,
    [HLO_BROADCAST] = linalg_broadcast,
    [HLO_CONCATENATE] = linalg_concatenate,
    [HLO_CONVOLUTION] = linalg_convolution,
    [HLO_DOT] = linalg_dot,
    [HLO_DYNAMIC_SLICE] = linalg_dynamic_slice,
    [HLO_GATHER] = linalg_gather,
    [HLO_IOTA] = linalg_iota,
    [HLO_PAD] = linalg_pad,
    [HLO_REDUCE] = linalg_reduce,
    [HLO_REDUCE_WINDOW] = linalg_reduce_window,
    [HLO_RESHAPE] = linalg_reshape,
    [HLO_REVERSE] = linalg_reverse,
    [HLO_SLICE] = linalg_slice,
    [HLO_TRANSPOSE] = linalg_transpose,
};

// --- what rules ask

MlirValue linalg_operand(const linalg_emitter *e, const instruction *i, int k) {
  const MlirValue *values = ptr_map_get(&e->values, i->operands[k]);
  return values[0];
}

heddle_status linalg_refuse(const linalg_emitter *e, const instruction *i, const char *why) {
  return status_at(HEDDLE_UNIMPLEMENTED, i->where, "%s %s of shape %s is no structured operation%s%s",
                   hlo_op_text(i->opcode), arena_printf(e->arena, STR_FMT, STR_ARG(i->name)),
                   shape_text(e->arena, i->shape), why[0] ? ": " : "", why);
}

static bool is_tensor(const shape *s) { return !shape_is_tuple(s) && dtypes[packed_loads_held(s->dtype)].bits >= 8; }

static bool has_tensors(const shape *s) {
  bool all = true;
  if (!shape_is_tuple(s)) return s->dtype == DTYPE_PRED || is_tensor(s);
  for (int k = 0; k < s->tuple_size; k++) all &= has_tensors(s->elements[k]);
  return all;
}

// Integers of less than a byte are moved, and converted or multiplied as they are read.
static bool takes_small(const instruction *i) {
  const bool is_elementwise = emit_is_elementwise(i) && i->opcode != HLO_CONVERT && i->opcode != HLO_COPY;
  bool any = packed_loads_shares_bytes(i->shape->dtype) && (is_elementwise || i->opcode == HLO_CONVERT);
  for (int k = 0; k < i->operand_count; k++)
    any |= is_elementwise && packed_loads_shares_bytes(i->operands[k]->shape->dtype);
  return !any;
}

bool linalg_takes(const instruction *i) {
  const bool is_leaf = i->opcode == HLO_PARAMETER || i->opcode == HLO_CONSTANT;
  bool all = is_leaf || i->opcode == HLO_TUPLE || i->opcode == HLO_GET_TUPLE_ELEMENT || i->opcode == HLO_COPY ||
             linalg_rules[i->opcode] || emit_is_elementwise(i);
  for (int k = 0; k < i->operand_count; k++) all &= has_tensors(i->operands[k]->shape);
  return all && has_tensors(i->shape) && (shape_is_tuple(i->shape) || takes_small(i));
}

// --- elements

MlirType linalg_element_type(MlirContext context, dtype t) {
  return t == DTYPE_PRED ? mlirIntegerTypeGet(context, 8) : emit_element_type(context, packed_loads_held(t));
}

MlirValue linalg_element(ir_builder *body, MlirValue stored, dtype t) {
  return t == DTYPE_PRED ? ir_cast(body, "arith.trunci", mlirIntegerTypeGet(body->context, 1), stored) : stored;
}

MlirValue linalg_stored(ir_builder *body, MlirValue element, dtype t) {
  return t == DTYPE_PRED ? ir_cast(body, "arith.extui", mlirIntegerTypeGet(body->context, 8), element) : element;
}

// --- elementwise

// Operands that are scalars beside arrays (clamp's bounds, select's condition) are the same at all points.
static MlirAffineMap map_of_operand(const linalg_emitter *e, const instruction *i, int k) {
  const int rank = i->shape->rank;
  return i->operands[k]->shape->rank == rank ? structured_identity(e->b.context, rank)
                                             : structured_dims(e->b.context, rank, 0, NULL);
}

static heddle_status elementwise(linalg_emitter *e, const instruction *i, MlirValue *out) {
  MlirValue inputs[3], elements[3] = {{NULL}};
  MlirAffineMap maps[4];
  for (int k = 0; k < i->operand_count; k++) {
    inputs[k] = linalg_operand(e, i, k);
    maps[k] = map_of_operand(e, i, k);
  }
  maps[i->operand_count] = structured_identity(e->b.context, i->shape->rank);
  MlirValue empty =
      structured_empty(&e->b, i->shape->rank, i->shape->dims, linalg_element_type(e->b.context, i->shape->dtype));
  ir_builder body;
  MlirOperation made = structured_begin(&e->b,
                                        &(structured_op){.input_count = i->operand_count,
                                                         .inputs = inputs,
                                                         .output_count = 1,
                                                         .outputs = &empty,
                                                         .maps = maps,
                                                         .loop_count = i->shape->rank},
                                        &body);
  for (int k = 0; k < i->operand_count; k++)
    elements[k] = linalg_element(&body, mlirBlockGetArgument(body.block, k), i->operands[k]->shape->dtype);
  const dtype from = i->operands[0]->shape->dtype;
  MlirValue value = packed_loads_shares_bytes(from)  // only conversions read such
                        ? emit_convert(&body, elements[0], packed_loads_held(from), i->shape->dtype)
                        : emit_elementwise(&body, i, elements);
  value = linalg_stored(&body, value, i->shape->dtype);
  structured_yield(&body, 1, &value);
  *out = ir_result(made, 0);
  return status_ok();
}

static void put_parameters(arena *a, ptr_map *values, const computation *c, const MlirValue *parameters) {
  for (int p = 0; p < c->parameters.size; p++) {
    MlirValue *value = arena_new(a, MlirValue);
    *value = parameters[p];
    ptr_map_put(a, values, c->parameters.data[p], value);
  }
}

heddle_status linalg_emit_scalars(linalg_emitter *e, ir_builder *body, const computation *c,
                                  const MlirValue *parameters, MlirValue *out) {
  instruction_list order = {0};
  TRY(computation_post_order(e->arena, c, &order));
  ptr_map values = {0};
  put_parameters(e->arena, &values, c, parameters);
  for (int n = 0; n < order.size; n++) {
    const instruction *i = order.data[n];
    if (i->opcode == HLO_PARAMETER || (i == c->root && i->opcode == HLO_TUPLE)) continue;
    MlirValue *made = arena_new(e->arena, MlirValue), operands[3];
    if (i->opcode == HLO_CONSTANT) {
      *made = emit_literal_element(body, i->literal, 0);
    } else if (emit_is_elementwise(i)) {
      for (int k = 0; k < i->operand_count; k++) operands[k] = *(const MlirValue *)ptr_map_get(&values, i->operands[k]);
      *made = emit_elementwise(body, i, operands);
    } else {
      return linalg_refuse(e, i, "in a reducer");
    }
    ptr_map_put(e->arena, &values, i, made);
  }
  const bool is_tuple = c->root->opcode == HLO_TUPLE;
  for (int k = 0; k < (is_tuple ? c->root->operand_count : 1); k++)
    out[k] = *(const MlirValue *)ptr_map_get(&values, is_tuple ? c->root->operands[k] : c->root);
  return status_ok();
}

MlirValue linalg_converted(linalg_emitter *e, MlirValue x, const shape *s, dtype from, dtype to) {
  if (from == to) return x;
  MlirAffineMap identity = structured_identity(e->b.context, s->rank), maps[] = {identity, identity};
  MlirValue empty = structured_empty(&e->b, s->rank, s->dims, linalg_element_type(e->b.context, to));
  const structured_op op = {
      .input_count = 1, .inputs = &x, .output_count = 1, .outputs = &empty, .maps = maps, .loop_count = s->rank};
  ir_builder body;
  MlirOperation made = structured_begin(&e->b, &op, &body);
  MlirValue element = emit_convert(&body, linalg_element(&body, mlirBlockGetArgument(body.block, 0), from), from, to);
  element = linalg_stored(&body, element, to);
  structured_yield(&body, 1, &element);
  return ir_result(made, 0);
}

// --- the walk

static MlirValue constant(linalg_emitter *e, const instruction *i) {
  MlirValue bits = emit_literal_tensor(&e->b, i->literal);
  const dtype t = i->shape->dtype;
  if (t != DTYPE_PRED && !packed_loads_shares_bytes(t)) return bits;
  MlirType bytes = mlirRankedTensorTypeGet(i->shape->rank, i->shape->dims, linalg_element_type(e->b.context, t),
                                           mlirAttributeGetNull());
  return ir_cast(&e->b, dtypes[t].class == CLASS_SIGNED ? "arith.extsi" : "arith.extui", bytes, bits);
}

static heddle_status emit_instruction(linalg_emitter *e, const instruction *i, MlirValue *out) {
  if (!linalg_takes(i)) return linalg_refuse(e, i, "");
  switch (i->opcode) {
    case HLO_CONSTANT: *out = constant(e, i); return status_ok();
    case HLO_COPY: *out = linalg_operand(e, i, 0); return status_ok();
    case HLO_GET_TUPLE_ELEMENT:
      *out = ((const MlirValue *)ptr_map_get(&e->values, i->operands[0]))[i->attributes->index];
      return status_ok();
    default: break;
  }
  const linalg_rule rule = linalg_rules[i->opcode];
  return rule ? rule(e, i, out) : elementwise(e, i, out);
}

heddle_status linalg_emit(arena *a, const ir_builder *b, const computation *c, const MlirValue *parameters,
                          int leaf_count, const kernel_leaf *leaves, MlirValue *out) {
  linalg_emitter e = {.b = *b, .arena = a};
  instruction_list order = {0};
  TRY(computation_post_order(a, c, &order));
  put_parameters(a, &e.values, c, parameters);
  for (int n = 0; n < order.size; n++) {
    const instruction *i = order.data[n];
    if (i->opcode == HLO_TUPLE || i->opcode == HLO_PARAMETER) continue;
    const int count = shape_is_tuple(i->shape) ? i->shape->tuple_size : 1;
    MlirValue *values = arena_array(a, MlirValue, count);
    TRY(emit_instruction(&e, i, values));
    ptr_map_put(a, &e.values, i, values);
  }
  for (int k = 0; k < leaf_count; k++)
    out[k] = ((const MlirValue *)ptr_map_get(&e.values, leaves[k].root))[leaves[k].element];
  return status_ok();
}
