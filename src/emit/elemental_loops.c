// Ops that combine many elements into one: reduce, reduce-window, dot, convolution.
//
// All four are the same nest of scf.for over the range variables of the operands' indexing maps, with the partial
// results as loop-carried values; constraints (padding, dilation holes) become an scf.if around the innermost body.
#include "emit/complex.h"
#include "emit/elemental.h"
#include "hlo/combiner.h"

typedef heddle_status (*combine_emitter)(function_emitter *e, const instruction *i, const MlirValue *carried,
                                         const MlirValue *x, MlirValue *next);

typedef struct loop_nest {
  const instruction *i;
  int operand_count;  // operands 0 … n - 1 are read in the loop
  int carried_count;
  combine_emitter combine;
} loop_nest;

// The operands at this point of the loop, combined with the carried values.
static heddle_status emit_step(function_emitter *e, const loop_nest *n, const MlirValue *symbols,
                               const MlirValue *carried, MlirValue *next) {
  const index_vector **indices = arena_array(e->kernel->arena, const index_vector *, n->operand_count);
  for (int k = 0; k < n->operand_count; k++) {
    indices[k] = emit_apply(e, emit_operand_access(e, n->i, k)->map, emit_indices(e, n->i), symbols);
    emit_provide(e, n->i, k, indices[k]);
  }
  TRY(emit_branch(e, n->i, 0));
  MlirValue *x = arena_array(e->kernel->arena, MlirValue, n->operand_count);
  for (int k = 0; k < n->operand_count; k++) {
    MlirValue *values = 0;
    TRY(emit_value(e, n->i->operands[k], indices[k], &values));
    x[k] = values[0];
  }
  return n->combine(e, n->i, carried, x, next);
}

static MlirValue check_operands(function_emitter *e, const loop_nest *n, const MlirValue *symbols) {
  MlirValue all = {0};
  for (int k = 0; k < n->operand_count; k++) {
    MlirValue holds = emit_is_inside(e, n->i, k, symbols);
    if (mlirValueIsNull(holds)) continue;
    all = mlirValueIsNull(all) ? holds : ir_binary(&e->b, "arith.andi", all, holds);
    // Inputs of one reduction are read through equal maps: one check serves them all.
    if (n->i->opcode == HLO_REDUCE || n->i->opcode == HLO_REDUCE_WINDOW) break;
  }
  return all;
}

static heddle_status emit_guarded_step(function_emitter *e, const loop_nest *n, const MlirValue *symbols,
                                       const MlirValue *carried, MlirValue *next) {
  MlirValue inside = check_operands(e, n, symbols);
  if (mlirValueIsNull(inside)) return emit_step(e, n, symbols, carried, next);
  MlirType *types = arena_array(e->kernel->arena, MlirType, n->carried_count);
  for (int c = 0; c < n->carried_count; c++) types[c] = mlirValueGetType(carried[c]);
  MlirOperation op = ir_if(&e->b, inside, n->carried_count, types);
  region_mark mark = emit_enter(e, ir_body(op, 0));
  TRY(emit_step(e, n, symbols, carried, next));
  ir_yield(&e->b, n->carried_count, next);
  emit_leave(e, mark);
  mark = emit_enter(e, ir_body(op, 1));
  ir_yield(&e->b, n->carried_count, carried);
  emit_leave(e, mark);
  for (int c = 0; c < n->carried_count; c++) next[c] = ir_result(op, c);
  return status_ok();
}

// One scf.for per range variable from `depth` on; depth is bounded by the rank.
static heddle_status emit_nest(function_emitter *e, const loop_nest *n, const indexing_map *map, int depth,
                               MlirValue *symbols, const MlirValue *carried, MlirValue *next) {
  if (depth == map->range_count) return emit_guarded_step(e, n, symbols, carried, next);
  interval bounds = map->ranges[depth].bounds;
  MlirValue lower = ir_index(&e->b, bounds.lower), upper = ir_index(&e->b, bounds.upper + 1);
  MlirOperation loop = ir_for(&e->b, lower, upper, ir_index(&e->b, 1), n->carried_count, carried);
  MlirBlock body = ir_body(loop, 0);
  region_mark mark = emit_enter(e, body);
  symbols[depth] = mlirBlockGetArgument(body, 0);
  MlirValue *inner = arena_array(e->kernel->arena, MlirValue, n->carried_count);
  for (int c = 0; c < n->carried_count; c++) inner[c] = mlirBlockGetArgument(body, c + 1);
  TRY(emit_nest(e, n, map, depth + 1, symbols, inner, next));
  ir_yield(&e->b, n->carried_count, next);
  emit_leave(e, mark);
  for (int c = 0; c < n->carried_count; c++) next[c] = ir_result(loop, c);
  return status_ok();
}

// The values after the whole nest, from `inits`.
static heddle_status emit_loops(function_emitter *e, const loop_nest *n, const MlirValue *inits, MlirValue *out) {
  for (int k = 0; k < n->operand_count; k++) {
    if (emit_operand_access(e, n->i, k)->is_needed) continue;
    for (int c = 0; c < n->carried_count; c++) out[c] = inits[c];  // nothing to combine
    return status_ok();
  }
  const indexing_map *map = emit_operand_access(e, n->i, 0)->map;
  MlirValue *symbols = arena_array(e->kernel->arena, MlirValue, map->range_count);
  return emit_nest(e, n, map, 0, symbols, inits, out);
}

// --- reduce and reduce-window

static heddle_status call_reducer(function_emitter *e, const instruction *i, const MlirValue *carried,
                                  const MlirValue *x, MlirValue *next) {
  int count = i->operand_count / 2;
  MlirValue *operands = arena_array(e->kernel->arena, MlirValue, i->operand_count);
  for (int k = 0; k < count; k++) {
    operands[k] = carried[k];
    operands[count + k] = x[k];
  }
  const partition_function *reducer = partition_entry(e->kernel->partition, i->called[0]);
  const MlirValue *values = emit_call(e->kernel, &e->b, reducer, operands, 0, "xla.is_reduction");
  for (int k = 0; k < count; k++) next[k] = values[k];
  return status_ok();
}

// Extrema of floats as wide as those that are computed on.
static bool is_wide_extreme(const instruction *i) {
  const hlo_opcode op = combiner_opcode(i->called[0]);
  const dtype t = i->shape->dtype;
  return i->operand_count == 2 && (op == HLO_MAXIMUM || op == HLO_MINIMUM) && (t == DTYPE_F32 || t == DTYPE_F64);
}

static heddle_status take_extreme(function_emitter *e, const instruction *i, const MlirValue *carried,
                                  const MlirValue *x, MlirValue *next) {
  const bool is_maximum = combiner_opcode(i->called[0]) == HLO_MAXIMUM;
  next[0] = ir_combine(&e->b, is_maximum ? "arith.maximumf" : "arith.minimumf", carried[0], x[0]);
  return status_ok();
}

// Sums round once, at their end, in exact mode as well.
static bool is_narrow_sum(const instruction *i) {
  if (i->operand_count != 2 || !dtypes[i->shape->dtype].is_narrow_float) return false;
  hlo_opcode op = combiner_opcode(i->called[0]);
  return op == HLO_ADD || op == HLO_MULTIPLY;
}

static heddle_status add_widened(function_emitter *e, const instruction *i, const MlirValue *carried,
                                 const MlirValue *x, MlirValue *next) {
  const char *op = combiner_opcode(i->called[0]) == HLO_ADD ? "arith.addf" : "arith.mulf";
  next[0] =
      ir_binary(&e->b, op, carried[0], emit_convert(&e->b, x[0], i->shape->dtype, dtype_accumulator(i->shape->dtype)));
  return status_ok();
}

static heddle_status emit_narrow_sum(function_emitter *e, const instruction *i, MlirValue *out) {
  loop_nest n = {.i = i, .operand_count = 1, .carried_count = 1, .combine = add_widened};
  MlirValue init, sum;
  TRY(emit_operand(e, i, 1, &init));
  const dtype narrow = i->shape->dtype, accumulator = dtype_accumulator(narrow);
  init = emit_convert(&e->b, init, narrow, accumulator);
  TRY(emit_loops(e, &n, &init, &sum));
  *out = emit_convert(&e->b, sum, accumulator, narrow);
  return status_ok();
}

heddle_status emit_reduce(function_emitter *e, const instruction *i, MlirValue *out) {
  if (is_narrow_sum(i)) return emit_narrow_sum(e, i, out);
  int count = i->operand_count / 2;
  MlirValue *inits = arena_array(e->kernel->arena, MlirValue, count);
  for (int k = 0; k < count; k++) TRY(emit_operand(e, i, count + k, &inits[k]));
  loop_nest n = {.i = i, .operand_count = count, .carried_count = count};
  n.combine = is_wide_extreme(i) ? take_extreme : call_reducer;
  return emit_loops(e, &n, inits, out);
}

heddle_status emit_reduce_window(function_emitter *e, const instruction *i, MlirValue *out) {
  return emit_reduce(e, i, out);
}

// --- dot and convolution

// An algorithm or an operand precision that allows less than the types say is not taken up: operands stay as they are.
static MlirValue prepared(function_emitter *e, const instruction *i, int k, MlirValue x) {
  return emit_convert(&e->b, x, i->operands[k]->shape->dtype, dtype_accumulator(i->shape->dtype));
}

MlirValue emit_multiply_add(ir_builder *b, dtype t, MlirValue l, MlirValue r, MlirValue sum) {
  if (dtype_is_complex(t)) return complex_sum(b, sum, complex_product(b, l, r));
  if (dtype_is_float(t)) return ir_binary(b, "arith.addf", sum, ir_binary(b, "arith.mulf", l, r));
  if (t == DTYPE_PRED) return ir_binary(b, "arith.ori", sum, ir_binary(b, "arith.andi", l, r));
  return ir_binary(b, "arith.addi", sum, ir_binary(b, "arith.muli", l, r));
}

static heddle_status multiply_add(function_emitter *e, const instruction *i, const MlirValue *carried,
                                  const MlirValue *x, MlirValue *next) {
  MlirValue l = prepared(e, i, 0, x[0]), r = prepared(e, i, 1, x[1]);
  next[0] = emit_multiply_add(&e->b, dtype_accumulator(i->shape->dtype), l, r, carried[0]);
  return status_ok();
}

heddle_status emit_dot(function_emitter *e, const instruction *i, MlirValue *out) {
  if (i->operand_count != 2) return emit_refuse(e, i, "sparse operands");
  dtype t = dtype_accumulator(i->shape->dtype);
  MlirValue zero = emit_zero(&e->b, t);
  loop_nest n = {.i = i, .operand_count = 2, .carried_count = 1, .combine = multiply_add};
  MlirValue sum;
  TRY(emit_loops(e, &n, &zero, &sum));
  *out = emit_convert(&e->b, sum, t, i->shape->dtype);
  return status_ok();
}

heddle_status emit_convolution(function_emitter *e, const instruction *i, MlirValue *out) {
  return emit_dot(e, i, out);
}
