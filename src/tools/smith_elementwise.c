// Generates random elementwise operations: opcodes by their row in the table, operands of the classes that the row
// takes.
#include "tools/smith_pool.h"

// Written out by hand below, since they want attributes or other types; or not the same on two sides.
static bool is_special(hlo_opcode op) {
  return op == HLO_CONVERT || op == HLO_BITCAST_CONVERT || op == HLO_REDUCE_PRECISION || op == HLO_STOCHASTIC_CONVERT;
}

static hlo_opcode draw_opcode(smith *s, int arity) {
  hlo_opcode found[HLO_OPCODE_COUNT];
  int count = 0;
  for (int op = 0; op < HLO_OPCODE_COUNT; op++)
    if (hlo_op_has((hlo_opcode)op, TRAIT_ELEMENTWISE) && hlo_ops[op].arity == arity && !is_special((hlo_opcode)op))
      found[count++] = (hlo_opcode)op;
  return found[smith_below(s, count)];
}

// Complex numbers are made of f32 and f64 only.
static bool wants_wide(hlo_opcode op) { return op == HLO_COMPLEX; }
static bool is_f32_or_f64(dtype t) { return t == DTYPE_F32 || t == DTYPE_F64; }

instruction *smith_unary(smith *s) {
  hlo_opcode op = draw_opcode(s, 1);
  instruction *x = smith_any(s, (int)hlo_ops[op].classes);
  return x ? builder_unary(&s->b, op, x) : NULL;
}

static bool has_no_order(hlo_opcode op, dtype t) {
  return dtype_is_complex(t) && (op == HLO_MAXIMUM || op == HLO_MINIMUM || op == HLO_REMAINDER);
}

static instruction *compare(smith *s, instruction *x, instruction *y) {
  int64_t directions = dtype_is_complex(x->shape->dtype) ? 2 : 6;  // EQ and NE come first
  return builder_compare(&s->b, x, y, (comparison_direction)smith_below(s, directions));
}

instruction *smith_binary(smith *s) {
  hlo_opcode op = draw_opcode(s, 2);
  instruction *x = smith_any(s, (int)hlo_ops[op].classes);
  if (!x || has_no_order(op, x->shape->dtype) || (wants_wide(op) && !is_f32_or_f64(x->shape->dtype))) return NULL;
  instruction *y = smith_like(s, x->shape->dtype, x);
  return op == HLO_COMPARE ? compare(s, x, y) : builder_binary(&s->b, op, x, y);
}

instruction *smith_select(smith *s) {
  instruction *x = smith_any(s, CLASS_ARRAY);
  if (!x) return NULL;
  instruction *p = smith_chance(s, 30) ? smith_scalar(s, DTYPE_PRED) : smith_like(s, DTYPE_PRED, x);
  return builder_select(&s->b, p, x, smith_like(s, x->shape->dtype, x));
}

instruction *smith_clamp(smith *s) {
  instruction *x = smith_any(s, CLASS_REAL);
  if (!x) return NULL;
  dtype t = x->shape->dtype;
  instruction *low = smith_chance(s, 50) ? smith_scalar(s, t) : smith_like(s, t, x);
  instruction *high = low->shape->rank == 0 ? smith_scalar(s, t) : smith_like(s, t, x);
  return builder_add(&s->b, HLO_CLAMP, x->shape, 3, (instruction *[]){low, x, high});
}

instruction *smith_convert(smith *s) {
  instruction *x = smith_any(s, CLASS_ARRAY);
  dtype t = x ? smith_dtype(s, dtype_is_complex(x->shape->dtype) ? CLASS_COMPLEX : CLASS_ARRAY) : DTYPE_INVALID;
  return t == DTYPE_INVALID ? NULL : builder_convert(&s->b, x, t);
}

instruction *smith_bitcast_convert(smith *s) {
  instruction *x = smith_any(s, CLASS_REAL);
  dtype t = x ? smith_dtype(s, CLASS_REAL) : DTYPE_INVALID;
  if (t == DTYPE_INVALID || dtypes[t].bits != dtypes[x->shape->dtype].bits) return NULL;
  return builder_add(&s->b, HLO_BITCAST_CONVERT, shape_with_dtype(s->arena, x->shape, t), 1, &x);
}

// The bits of what is given or counted, so that they are the same wherever the module runs; from integers, there and
// back some of the time.
instruction *smith_bitcast_given(smith *s) {
  instruction *x = smith_any(s, CLASS_REAL);
  dtype t = x ? smith_dtype(s, CLASS_REAL) : DTYPE_INVALID;
  if (t == DTYPE_INVALID || dtypes[t].bits != dtypes[x->shape->dtype].bits) return NULL;
  dtype from = x->shape->dtype;
  if (dtype_is_float(from)) x = smith_fresh(s, from, x->shape->rank, x->shape->dims);
  instruction *cast = builder_add(&s->b, HLO_BITCAST_CONVERT, shape_with_dtype(s->arena, x->shape, t), 1, &x);
  if (dtype_is_float(from) || !smith_chance(s, 40)) return cast;
  return builder_add(&s->b, HLO_BITCAST_CONVERT, x->shape, 1, &cast);
}

instruction *smith_reduce_precision(smith *s) {
  instruction *x = smith_any(s, CLASS_FLOAT);
  if (!x || dtypes[x->shape->dtype].bits < 16) return NULL;
  instruction *i = builder_add(&s->b, HLO_REDUCE_PRECISION, x->shape, 1, &x);
  i->attributes->exponent_bits = smith_between(s, 2, 8);
  i->attributes->mantissa_bits = smith_between(s, 1, 10);
  attributes_mark(i->attributes, HLO_ATTRIBUTE_EXPONENT_BITS);
  attributes_mark(i->attributes, HLO_ATTRIBUTE_MANTISSA_BITS);
  return i;
}

instruction *smith_map(smith *s) {
  instruction *operands[3];
  operands[0] = smith_any(s, CLASS_ARRAY);
  if (!operands[0]) return NULL;
  const shape *of = operands[0]->shape;
  int count = (int)smith_between(s, 1, 3);
  for (int k = 1; k < count; k++) operands[k] = smith_like(s, of->dtype, operands[0]);
  computation *body = smith_scalar_computation(s, of->dtype, count);
  instruction *i = builder_add(&s->b, HLO_MAP, shape_array(s->arena, of->dtype, of->rank, of->dims), count, operands);
  int64_t *dims = arena_array(s->arena, int64_t, of->rank);
  for (int k = 0; k < of->rank; k++) dims[k] = k;
  i->attributes->dimensions = (int_list){dims, of->rank};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_DIMENSIONS);
  instruction_set_called(i, 1, &body);
  return i;
}

// The array under other dims, as its layout and the result's lay it out in memory.
instruction *smith_bitcast_of(smith *s, const builder *b, instruction *x) {
  int64_t dims[SMITH_MAX_RANK], left = shape_element_count(x->shape);
  int rank = 0;
  for (; left > 1 && rank + 1 < s->options.rank; rank++) {
    dims[rank] = smith_between(s, 1, 4);
    while (left % dims[rank]) dims[rank]--;
    left /= dims[rank];
  }
  if (rank < s->options.rank) dims[rank++] = left;
  if (!shape_is_static(x->shape) || (rank == 0 && left != 1)) return NULL;
  smith_shuffle(s, rank, dims);
  const shape *to = shape_array(s->arena, x->shape->dtype, rank, dims);
  return builder_add(b, HLO_BITCAST, to, 1, &x);
}

instruction *smith_bitcast(smith *s) {
  instruction *x = smith_any(s, CLASS_ARRAY);
  return x ? smith_bitcast_of(s, &s->b, x) : NULL;
}
