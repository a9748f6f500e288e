#include "lower/ranges.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "dialect/xla_gpu.h"
#include "emit/ir_builder.h"

// Chains of arithmetic are followed this far; index computations are short once they are apply_indexing.
#define MAX_DEPTH 48

static interval range_at(ranges *r, MlirValue v, int depth);

bool ranges_from_attribute(MlirAttribute attribute, interval *out) {
  if (mlirAttributeIsNull(attribute)) return false;
  if (!mlirAttributeIsAArray(attribute) || mlirArrayAttrGetNumElements(attribute) != 2) return false;
  MlirAttribute lower = mlirArrayAttrGetElement(attribute, 0), upper = mlirArrayAttrGetElement(attribute, 1);
  if (!mlirAttributeIsAInteger(lower) || !mlirAttributeIsAInteger(upper)) return false;
  *out = (interval){mlirIntegerAttrGetValueInt(lower), mlirIntegerAttrGetValueInt(upper)};
  return true;
}

MlirAttribute ranges_to_attribute(MlirContext c, interval range) {
  MlirType index = mlirIndexTypeGet(c);
  MlirAttribute ends[] = {mlirIntegerAttrGet(index, range.lower), mlirIntegerAttrGet(index, range.upper)};
  return mlirArrayAttrGet(c, 2, ends);
}

// All values an integer type can hold, read as signed.
static interval range_of_type(MlirType type) {
  if (!mlirTypeIsAInteger(type)) return INTERVAL_ALL;
  unsigned width = mlirIntegerTypeGetWidth(type);
  if (width == 1) return (interval){0, 1};
  if (width >= 64) return INTERVAL_ALL;
  return (interval){-((int64_t)1 << (width - 1)), ((int64_t)1 << (width - 1)) - 1};
}

// --- maps

static interval variable_range(ranges *r, MlirValue v, interval bounds, int depth) {
  interval both = interval_intersect(range_at(r, v, depth), bounds);
  return interval_is_empty(both) ? bounds : both;
}

static interval map_result(ranges *r, MlirOperation op, const indexing_map *m, int result, int depth) {
  if (m->is_empty) return INTERVAL_ALL;
  int symbol_count = m->range_count + m->rt_count;
  interval *dims = arena_array(r->arena, interval, m->dim_count);
  interval *symbols = arena_array(r->arena, interval, symbol_count);
  for (int i = 0; i < m->dim_count; i++) dims[i] = variable_range(r, ir_operand(op, i), m->dims[i].bounds, depth);
  for (int i = 0; i < symbol_count; i++) {
    interval bounds = i < m->range_count ? m->ranges[i].bounds : m->rts[i - m->range_count].bounds;
    bool is_loop = ir_is(op, "xla_gpu.loop");  // its range variables are block arguments, not operands
    symbols[i] = is_loop ? bounds : variable_range(r, ir_operand(op, m->dim_count + i), bounds, depth);
  }
  return affine_range(m->results[result], dims, symbols);
}

// --- block arguments

static interval induction_variable(ranges *r, MlirOperation loop, int depth) {
  interval lower = range_at(r, ir_operand(loop, 0), depth), upper = range_at(r, ir_operand(loop, 1), depth);
  interval step = range_at(r, ir_operand(loop, 2), depth);
  interval range = {lower.lower, upper.upper == INT64_MAX ? INT64_MAX : upper.upper - 1};
  if (interval_is_point(lower) && interval_is_point(upper) && interval_is_point(step) && step.lower > 1 &&
      lower.lower < upper.lower)
    range.upper = lower.lower + (upper.lower - 1 - lower.lower) / step.lower * step.lower;
  return interval_is_empty(range) ? INTERVAL_ALL : range;
}

static interval block_argument(ranges *r, MlirValue v, int depth) {
  MlirBlock block = mlirBlockArgumentGetOwner(v);
  MlirOperation parent = mlirBlockGetParentOperation(block);
  int number = (int)mlirBlockArgumentGetArgNumber(v);
  interval found = range_of_type(mlirValueGetType(v));
  if (ir_is_null(parent)) return found;
  if (ir_is(parent, "func.func")) {
    ranges_from_attribute(ir_argument_attribute(parent, number, "xla.range"), &found);
  } else if (ir_is(parent, "scf.for")) {
    if (number == 0) return induction_variable(r, parent, depth);
  } else if (ir_is(parent, "xla_gpu.loop")) {
    const indexing_map *m = xla_gpu_indexing_map(ir_get(parent, "map"));
    if (number < m->range_count) return m->ranges[number].bounds;
    if (number < m->range_count + m->result_count) return map_result(r, parent, m, number - m->range_count, depth);
  }
  return found;
}

// --- arithmetic

static interval divide(interval x, interval y, bool is_floor) {
  if (!interval_is_point(y) || y.lower <= 0) return INTERVAL_ALL;
  if (is_floor || x.lower >= 0) return interval_floordiv(x, y.lower);
  // Rounding towards zero: the quotients of the ends, and zero lies between them if the signs differ.
  if (x.lower == INT64_MIN || x.upper == INT64_MAX) return INTERVAL_ALL;
  return (interval){x.lower / y.lower, x.upper / y.lower};
}

static interval remainder_of(interval x, interval y) {
  if (y.lower <= 0 || y.upper == INT64_MAX) return INTERVAL_ALL;
  if (x.lower >= 0 && interval_is_point(y)) return interval_mod(x, y.lower);
  if (x.lower >= 0) return (interval){0, x.upper < y.upper - 1 ? x.upper : y.upper - 1};
  return (interval){-(y.upper - 1), y.upper - 1};
}

// Bits of two values that are not negative: no more than the lesser's (and), no more than both together (or, xor).
static interval bitwise(const char *name, interval x, interval y) {
  bool is_and = strcmp(name, "andi") == 0;
  if (is_and && y.lower >= 0) return (interval){0, x.lower >= 0 && x.upper < y.upper ? x.upper : y.upper};
  if (is_and && x.lower >= 0) return (interval){0, x.upper};
  if (x.lower < 0 || y.lower < 0) return INTERVAL_ALL;
  int64_t largest = x.upper > y.upper ? x.upper : y.upper, mask = 1;
  while (mask - 1 < largest && mask <= INT64_MAX / 2) mask *= 2;
  return mask - 1 < largest ? INTERVAL_ALL : (interval){0, mask - 1};
}

static interval binary(const char *name, interval x, interval y) {
  if (strcmp(name, "addi") == 0) return interval_add(x, y);
  if (strcmp(name, "subi") == 0) return interval_sub(x, y);
  if (strcmp(name, "muli") == 0) return interval_mul(x, y);
  if (strcmp(name, "minsi") == 0) return interval_min(x, y);
  if (strcmp(name, "maxsi") == 0) return interval_max(x, y);
  if (strcmp(name, "divsi") == 0) return divide(x, y, false);
  if (strcmp(name, "floordivsi") == 0) return divide(x, y, true);
  if (strcmp(name, "remsi") == 0) return remainder_of(x, y);
  bool is_bitwise = strcmp(name, "andi") == 0 || strcmp(name, "ori") == 0 || strcmp(name, "xori") == 0;
  if (is_bitwise) return bitwise(name, x, y);
  bool is_unsigned = x.lower >= 0 && y.lower >= 0;
  if (strcmp(name, "divui") == 0 && is_unsigned) return divide(x, y, true);
  if (strcmp(name, "remui") == 0 && is_unsigned) return remainder_of(x, y);
  if (strcmp(name, "minui") == 0 && is_unsigned) return interval_min(x, y);
  if (strcmp(name, "maxui") == 0 && is_unsigned) return interval_max(x, y);
  if (strcmp(name, "shrui") == 0 && is_unsigned && interval_is_point(y) && y.lower < 62)
    return interval_floordiv(x, (int64_t)1 << y.lower);
  if (strcmp(name, "shli") == 0 && is_unsigned && interval_is_point(y) && y.lower < 62)
    return interval_mul(x, interval_point((int64_t)1 << y.lower));
  return INTERVAL_ALL;
}

static interval cast(const char *name, MlirType from, interval x) {
  bool keeps_sign = strcmp(name, "index_cast") == 0 || strcmp(name, "extsi") == 0 || strcmp(name, "trunci") == 0;
  bool is_bool = mlirTypeIsAInteger(from) && mlirIntegerTypeGetWidth(from) == 1;
  if (keeps_sign && is_bool) return (interval){-1, 0};  // i1 is 0 or 1 here, its sign extension 0 or -1
  if (keeps_sign) return x;
  bool drops_sign = strcmp(name, "index_castui") == 0 || strcmp(name, "extui") == 0;
  if (drops_sign && x.lower >= 0) return x;
  if (drops_sign && mlirTypeIsAInteger(from) && mlirIntegerTypeGetWidth(from) < 63)
    return (interval){0, ((int64_t)1 << mlirIntegerTypeGetWidth(from)) - 1};
  return INTERVAL_ALL;
}

// --- select

// Numbered as arith.cmpi's predicates are.
typedef enum order { ORDER_EQ, ORDER_NE, ORDER_SLT, ORDER_SLE, ORDER_SGT, ORDER_SGE } order;

// What is left of x's range where x stands in this order to y.
static interval ordered(interval x, order by, interval y) {
  const int64_t below = y.upper == INT64_MIN ? INT64_MIN : y.upper - 1;
  const int64_t above = y.lower == INT64_MAX ? INT64_MAX : y.lower + 1;
  switch (by) {
    case ORDER_EQ: return interval_intersect(x, y);
    case ORDER_SLT: return interval_intersect(x, (interval){INT64_MIN, below});
    case ORDER_SLE: return interval_intersect(x, (interval){INT64_MIN, y.upper});
    case ORDER_SGT: return interval_intersect(x, (interval){above, INT64_MAX});
    case ORDER_SGE: return interval_intersect(x, (interval){y.lower, INT64_MAX});
    default: return x;
  }
}

// A side of a select, given that the comparison of `compared` with something in range `with` came out as `by` says: the
// compared value itself, or a constant minus it, as in |x| = x >= 0 ? x : 0 - x.
static interval chosen(ranges *r, MlirValue side, MlirValue compared, order by, interval with, int depth) {
  const interval plain = range_at(r, side, depth);
  const interval x = ordered(range_at(r, compared, depth), by, with);
  if (interval_is_empty(x)) return plain;  // never chosen
  if (mlirValueEqual(side, compared)) return x;
  MlirOperation op = ir_defining_op(side);
  if (ir_is_null(op) || !ir_is(op, "arith.subi") || !mlirValueEqual(ir_operand(op, 1), compared)) return plain;
  const interval difference = interval_sub(range_at(r, ir_operand(op, 0), depth), x);
  return interval_covers(range_of_type(mlirValueGetType(side)), difference) ? difference : plain;
}

static interval selection(ranges *r, MlirOperation op, int depth) {
  static const order opposite[] = {ORDER_NE, ORDER_EQ, ORDER_SGE, ORDER_SGT, ORDER_SLE, ORDER_SLT};
  MlirOperation condition = ir_defining_op(ir_operand(op, 0));
  MlirValue sides[] = {ir_operand(op, 1), ir_operand(op, 2)};
  const bool is_compared = !ir_is_null(condition) && ir_is(condition, "arith.cmpi");
  const int64_t predicate = is_compared ? mlirIntegerAttrGetValueInt(ir_get(condition, "predicate")) : -1;
  if (predicate < 0 || predicate > ORDER_SGE)
    return interval_union(range_at(r, sides[0], depth), range_at(r, sides[1], depth));
  MlirValue compared = ir_operand(condition, 0);
  const interval with = range_at(r, ir_operand(condition, 1), depth);
  return interval_union(chosen(r, sides[0], compared, (order)predicate, with, depth),
                        chosen(r, sides[1], compared, opposite[predicate], with, depth));
}

static interval arithmetic(ranges *r, MlirOperation op, const char *name, int depth) {
  int count = (int)mlirOperationGetNumOperands(op);
  if (count == 1) return cast(name, mlirValueGetType(ir_operand(op, 0)), range_at(r, ir_operand(op, 0), depth));
  if (count == 2) return binary(name, range_at(r, ir_operand(op, 0), depth), range_at(r, ir_operand(op, 1), depth));
  return strcmp(name, "select") == 0 ? selection(r, op, depth) : INTERVAL_ALL;
}

static interval compute(ranges *r, MlirValue v, int depth) {
  int64_t constant = 0;
  if (ir_constant_value(v, &constant)) return interval_point(constant);
  if (mlirValueIsABlockArgument(v)) return block_argument(r, v, depth);
  MlirOperation op = ir_defining_op(v);
  interval of_type = range_of_type(mlirValueGetType(v)), found = INTERVAL_ALL;
  if (ranges_from_attribute(ir_get(op, "xla.range"), &found)) return interval_intersect(found, of_type);
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  str view = {name.data, name.length};
  if (str_is(view, "xla_gpu.apply_indexing")) {
    const indexing_map *m = xla_gpu_indexing_map(ir_get(op, "map"));
    found = map_result(r, op, m, (int)mlirOpResultGetResultNumber(v), depth);
  } else if (str_starts_with(view, "arith.")) {
    found = arithmetic(r, op, arena_strdup(r->arena, view.data + 6, view.size - 6), depth);
  }
  // What leaves the type's range has wrapped around: then nothing is known but the type.
  return interval_covers(of_type, found) ? found : of_type;
}

static interval range_at(ranges *r, MlirValue v, int depth) {
  MlirType type = mlirValueGetType(v);
  if (!mlirTypeIsAIndex(type) && !mlirTypeIsAInteger(type)) return INTERVAL_ALL;
  interval *known = ptr_map_get(&r->known, v.ptr);
  if (known) return *known;
  if (depth == 0) return range_of_type(type);
  known = arena_new(r->arena, interval);
  *known = compute(r, v, depth - 1);
  ptr_map_put(r->arena, &r->known, v.ptr, known);
  return *known;
}

interval ranges_of(ranges *r, MlirValue v) { return range_at(r, v, MAX_DEPTH); }
