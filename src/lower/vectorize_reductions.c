// Accumulators over lanes.
//
// A sum in strict order waits for each addition: twelve times slower than memory. The mark on the loop says that order
// is free, so every lane keeps a partial result of its own, and several vectors of them take turns to hide the latency.
// Partial results begin with the combiner's neutral value (those of a function: with what the loop begins with, which
// may come in twice); behind the loop vectors are combined, then halves of the vector, down to one value, which meets
// what the loop began with last. The shape of that tree depends on types and sizes alone, so results do not depend on
// threads.
#include "lower/vectorize_reductions.h"

#include "emit/neutral.h"
#include "lower/vectorize_body.h"

typedef enum carried_kind { CARRIED_TENSOR, CARRIED_COMBINED, CARRIED_GROUP, CARRIED_MORE } carried_kind;

enum { NO_ORDER = -1 };

typedef struct carried_value {
  carried_kind kind;
  const char *combiner;   // combined
  MlirOperation reducer;  // first of a group
  int group_size;
  int index;  // which of the group's values orders partial results, or NO_ORDER
} carried_value;

typedef struct reduction_loop {
  arena *arena;
  const target_code_limits *limits;
  MlirOperation op;
  MlirBlock body;
  int count;
  carried_value *carried;
  int64_t trips;  // -1: the loop's upper bound, as it is when the kernel runs
} reduction_loop;

static MlirType old_type(const reduction_loop *l, int c) { return ir_result_type(l->op, c); }
static bool is_number(MlirType t) { return mlirTypeIsAInteger(t) || mlirTypeIsAFloat(t); }
static MlirType vector_type(MlirType element, int64_t width) { return mlirVectorTypeGet(1, &width, element); }

// --- reading the mark

static bool is_text(MlirAttribute mark, const char *text) {
  if (!mlirAttributeIsAString(mark)) return false;
  MlirStringRef s = mlirStringAttrGetValue(mark);
  return str_is((str){s.data, s.length}, text);
}

// The values that one function combines, from the first on.
static bool read_group(reduction_loop *l, MlirOperation module, MlirAttribute marks, int c) {
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(mlirArrayAttrGetElement(marks, c));
  carried_value *v = &l->carried[c];
  *v = (carried_value){.kind = CARRIED_GROUP, .group_size = 1, .index = NO_ORDER};
  v->reducer = ir_find_function(module, arena_strdup(l->arena, name.data, name.length));
  for (int k = c + 1; k < l->count; k++) {
    MlirAttribute mark = mlirArrayAttrGetElement(marks, k);
    if (is_text(mark, "index")) v->index = 1;
    else if (is_text(mark, "value")) v->index = 0;
    else if (!is_text(mark, "more")) break;
    l->carried[k].kind = CARRIED_MORE;
    v->group_size++;
  }
  for (int k = c; k < c + v->group_size; k++)
    if (!is_number(old_type(l, k))) return false;
  return !ir_is_null(v->reducer);
}

static bool read_entry(reduction_loop *l, MlirOperation module, MlirAttribute marks, int c) {
  MlirAttribute mark = mlirArrayAttrGetElement(marks, c);
  carried_value *v = &l->carried[c];
  if (v->kind == CARRIED_MORE) return true;
  if (mlirAttributeIsAFlatSymbolRef(mark)) return read_group(l, module, marks, c);
  MlirStringRef name = mlirStringAttrGetValue(mark);
  if (name.length == 0) return mlirTypeIsATensor(old_type(l, c));
  v->kind = CARRIED_COMBINED;
  v->combiner = arena_strdup(l->arena, name.data, name.length);
  return is_number(old_type(l, c)) && neutral_exists(v->combiner);
}

// A loop without a mark carries tensors alone.
static const char *read_loop(arena *a, const target_code_limits *limits, MlirOperation module, MlirOperation op,
                             reduction_loop *out) {
  int64_t lower, step;
  *out = (reduction_loop){.arena = a, .limits = limits, .op = op, .body = ir_body(op, 0)};
  out->count = (int)mlirOperationGetNumResults(op);
  out->carried = arena_array(a, carried_value, out->count);
  bool is_plain = ir_constant_value(ir_operand(op, 0), &lower) && ir_constant_value(ir_operand(op, 2), &step) &&
                  lower == 0 && step == 1;
  if (!is_plain) return "a marked loop that does not count from 0 by 1";
  if (!ir_constant_value(ir_operand(op, 1), &out->trips)) out->trips = -1;
  const MlirAttribute marks = ir_get(op, VECTORIZE_REDUCTIONS);
  if (mlirAttributeIsNull(marks)) return NULL;
  if (mlirArrayAttrGetNumElements(marks) != out->count) return "a mark that does not fit the loop any more";
  for (int c = 0; c < out->count; c++)
    if (!read_entry(out, module, marks, c)) return "a carried value without vector form";
  return NULL;
}

// --- combining two partial results

static bool is_narrow_float(MlirType t) {
  MlirType element = ir_is_vector(t) ? ir_element_type(t) : t;
  return mlirTypeIsAFloat(element) && ir_bit_width(element) < 32;
}

// Narrow floats are combined in f32, as everywhere behind xla-widen-floats.
static MlirValue combine(ir_builder *b, const char *combiner, MlirValue x, MlirValue y) {
  MlirType type = mlirValueGetType(x);
  if (!is_narrow_float(type)) return ir_combine(b, combiner, x, y);
  MlirType wide = ir_like(type, mlirF32TypeGet(b->context));
  x = ir_cast(b, "arith.extf", wide, x);
  y = ir_cast(b, "arith.extf", wide, y);
  return ir_cast(b, "arith.truncf", type, ir_combine(b, combiner, x, y));
}

// As the reducer takes it: values that the loop carries in f32 may be of a narrower type there.
static MlirValue as_argument(ir_builder *b, MlirValue x, MlirType wanted) {
  MlirType type = ir_like(mlirValueGetType(x), wanted);
  return mlirTypeEqual(type, mlirValueGetType(x)) ? x : ir_cast(b, "arith.truncf", type, x);
}

// The reducer's body over all lanes; false if it has no vector form.
static bool call_reducer(const reduction_loop *l, ir_builder *b, const carried_value *v, const MlirValue *x,
                         const MlirValue *y, MlirValue *out) {
  MlirBlock body = ir_body(v->reducer, 0);
  const int count = v->group_size;
  MlirValue swaps = {0};
  if (v->index != NO_ORDER) swaps = ir_cmpi(b, "ult", y[v->index], x[v->index]);
  const int64_t width = mlirShapedTypeGetDimSize(mlirValueGetType(x[0]), 0);
  vectorizer lanes = {.arena = l->arena, .limits = l->limits, .width = (int)width};
  for (int k = 0; k < count; k++) {
    MlirValue first = x[k], second = y[k];
    if (v->index != NO_ORDER) {
      first = ir_select(b, swaps, y[k], x[k]);
      second = ir_select(b, swaps, x[k], y[k]);
    }
    MlirType wanted = mlirValueGetType(mlirBlockGetArgument(body, k));
    first = as_argument(b, first, wanted);
    second = as_argument(b, second, wanted);
    vectorizer_bind(&lanes, mlirBlockGetArgument(body, k), LANE_VECTOR, first);
    vectorizer_bind(&lanes, mlirBlockGetArgument(body, count + k), LANE_VECTOR, second);
  }
  if (!vectorizer_block(&lanes, b, body)) return false;
  for (int k = 0; k < count; k++) {
    MlirType type = mlirValueGetType(x[k]);  // x may be out
    out[k] = vectorizer_vector(&lanes, b, ir_operand(ir_terminator(body), k));
    if (!mlirTypeEqual(type, mlirValueGetType(out[k]))) out[k] = ir_cast(b, "arith.extf", type, out[k]);
  }
  return true;
}

// x and y: one value per carried value; those of tensors are left alone.
static bool combine_all(const reduction_loop *l, ir_builder *b, const MlirValue *x, const MlirValue *y,
                        MlirValue *out) {
  for (int c = 0; c < l->count; c++) {
    const carried_value *v = &l->carried[c];
    if (v->kind == CARRIED_COMBINED) out[c] = combine(b, v->combiner, x[c], y[c]);
    if (v->kind == CARRIED_GROUP && !call_reducer(l, b, v, x + c, y + c, out + c)) return false;
  }
  return true;
}

// --- down to one value

// `width` lanes from `first` on, and around the end again.
static MlirValue lanes_from(ir_builder *b, MlirValue vector, int first, int width) {
  int64_t all = mlirShapedTypeGetDimSize(mlirValueGetType(vector), 0);
  MlirAttribute *lanes = arena_array(b->arena, MlirAttribute, width);
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
  for (int i = 0; i < width; i++) lanes[i] = mlirIntegerAttrGet(i64, (first + i) % all);
  MlirNamedAttribute mask = ir_named(b->context, "mask", mlirArrayAttrGet(b->context, width, lanes));
  MlirType type = vector_type(ir_element_type(mlirValueGetType(vector)), width);
  return ir_value_with(b, "vector.shuffle", type, 2, (MlirValue[]){vector, vector}, 1, &mask);
}

static MlirValue first_lane(ir_builder *b, MlirValue vector) {
  MlirNamedAttribute position =
      ir_named(b->context, "static_position", mlirDenseI64ArrayGet(b->context, 1, (int64_t[]){0}));
  return ir_value_with(b, "vector.extract", ir_element_type(mlirValueGetType(vector)), 1, &vector, 1, &position);
}

// Vectors of `width` lanes become vectors of `wanted`, both powers of two; at one lane, scalars. The last two lanes
// meet as a vector, too: a choice between scalars would be a branch, and nobody can predict which of two lanes has the
// largest element.
static bool fold_to(const reduction_loop *l, ir_builder *b, int width, int wanted, MlirValue *values) {
  MlirValue *low = arena_array(l->arena, MlirValue, l->count), *high = arena_array(l->arena, MlirValue, l->count);
  for (; width > wanted; width /= 2) {
    for (int c = 0; c < l->count; c++) {
      if (l->carried[c].kind == CARRIED_TENSOR) continue;
      low[c] = width > 2 ? lanes_from(b, values[c], 0, width / 2) : values[c];
      high[c] = width > 2 ? lanes_from(b, values[c], width / 2, width / 2) : lanes_from(b, values[c], 1, 2);
    }
    if (!combine_all(l, b, low, high, values)) return false;
  }
  return true;
}

// Replaces vectors by scalars, which have met what the loop began with.
static bool fold_lanes(const reduction_loop *l, ir_builder *b, int width, MlirValue *values) {
  if (!fold_to(l, b, width, 1, values)) return false;
  for (int c = 0; c < l->count; c++) {
    const carried_value *v = &l->carried[c];
    if (v->kind == CARRIED_TENSOR) continue;
    values[c] = first_lane(b, values[c]);
    if (v->kind == CARRIED_COMBINED) values[c] = combine(b, v->combiner, ir_operand(l->op, 3 + c), values[c]);
  }
  return true;
}

// --- loops over vectors

// Vectors of iterations side by side: `copies` of them from `iv` on. `now`: carried values by copy, tensors in the
// first copy only. done_lanes: see vectorizer; then iv is that of iteration `first`. rest: the lanes that there are.
typedef struct vectors {
  int width, copies, done_lanes;
  int64_t first;
  MlirValue rest;
} vectors;

static void bind_carried(const reduction_loop *l, vectorizer *v, int copy, const MlirValue *now) {
  for (int c = 0; c < l->count; c++) {
    bool is_tensor = l->carried[c].kind == CARRIED_TENSOR;
    vectorizer_bind(v, mlirBlockGetArgument(l->body, c + 1), is_tensor ? LANE_UNIFORM : LANE_VECTOR,
                    now[is_tensor ? c : copy * l->count + c]);
  }
}

static void take_carried(const reduction_loop *l, vectorizer *v, ir_builder *b, int copy, MlirValue *now) {
  for (int c = 0; c < l->count; c++) {
    MlirValue yielded = ir_operand(ir_terminator(l->body), c);
    if (l->carried[c].kind == CARRIED_TENSOR) {
      now[c] = vectorizer_lookup(v, yielded)->value;
      continue;
    }
    MlirValue *value = &now[copy * l->count + c], made = vectorizer_vector(v, b, yielded);
    *value = v->done_lanes > 0 || v->rest.ptr ? vectorizer_blend(v, b, made, *value) : made;
  }
}

static const char *fill_vectors(const reduction_loop *l, ir_builder *b, const vectors *p, MlirValue iv,
                                MlirValue *now) {
  int loads = 0;
  for (int copy = 0; copy < p->copies; copy++) {
    MlirValue here = copy > 0 ? ir_binary(b, "arith.addi", iv, ir_index(b, (int64_t)copy * p->width)) : iv;
    vectorizer v = {.arena = l->arena,
                    .limits = l->limits,
                    .width = p->width,
                    .old_iv = mlirBlockGetArgument(l->body, 0),
                    .done_lanes = p->done_lanes,
                    .first = p->first,
                    .mask = p->rest,
                    .rest = p->rest};
    vectorizer_bind(&v, v.old_iv, LANE_CONTIGUOUS, here);
    bind_carried(l, &v, copy, now);
    if (!vectorizer_block(&v, b, l->body)) return v.refusal;
    take_carried(l, &v, b, copy, now);
    loads += v.separate_loads;
  }
  return loads > l->limits->max_reduction_loads ? "too many single-element loads" : NULL;
}

// With `end`, where the loop's iterations end, what is behind them is masked.
static const char *fill_body(const reduction_loop *l, MlirOperation loop, int width, int copies, MlirValue end) {
  MlirBlock body = ir_body(loop, 0);
  ir_builder b = ir_builder_at_end(mlirOperationGetContext(loop), body, l->arena);
  int count = (int)mlirOperationGetNumResults(loop);
  MlirValue *now = arena_array(l->arena, MlirValue, count);
  for (int i = 0; i < count; i++) now[i] = mlirBlockGetArgument(body, i + 1);
  vectors p = {.width = width, .copies = copies};
  if (end.ptr) p.rest = vectorizer_rest(l->arena, &b, mlirBlockGetArgument(body, 0), end, width);
  const char *refusal = fill_vectors(l, &b, &p, mlirBlockGetArgument(body, 0), now);
  // A block needs its terminator even to be erased.
  for (int i = 0; refusal && i < count; i++) now[i] = mlirBlockGetArgument(body, i + 1);
  ir_yield(&b, count, now);
  return refusal;
}

// The loop from `first` to `last` by `copies` vectors. inits and results: by copy and carried value.
static MlirOperation build_loop(const reduction_loop *l, ir_builder *b, MlirValue first, MlirValue last, int width,
                                int copies, const MlirValue *inits) {
  return ir_for(b, first, last, ir_index(b, (int64_t)width * copies), copies * l->count, inits);
}

// What lanes begin with.
static void start_lanes(const reduction_loop *l, ir_builder *b, int width, int copies, MlirValue *out) {
  for (int copy = 0; copy < copies; copy++) {
    for (int c = 0; c < l->count; c++) {
      MlirValue init = ir_operand(l->op, 3 + c);
      MlirValue *to = &out[copy * l->count + c];
      *to = init;
      if (l->carried[c].kind == CARRIED_TENSOR) continue;
      MlirType type = vector_type(old_type(l, c), width);
      bool is_combined = l->carried[c].kind == CARRIED_COMBINED;
      *to = is_combined ? neutral_value(b, l->carried[c].combiner, type)
                        : ir_value(b, "vector.broadcast", type, 1, &init);
    }
  }
}

// Copies into the first, pairwise.
static bool fold_copies(const reduction_loop *l, ir_builder *b, int copies, MlirValue *values) {
  for (; copies > 1; copies /= 2) {
    for (int copy = 0; copy < copies / 2; copy++) {
      MlirValue *x = values + copy * l->count, *y = values + (copy + copies / 2) * l->count;
      if (!combine_all(l, b, x, y, x)) return false;
    }
  }
  return true;
}

// --- sizes

// Functions become tens of operations.
static bool is_math(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  return str_starts_with((str){name.data, name.length}, "math.");
}

static int body_size(const reduction_loop *l) {
  int size = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(l->body); !ir_is_null(op); op = mlirOperationGetNextInBlock(op))
    size += is_math(op) ? l->limits->reduction_math_cost : 1;
  return size;
}

// Of a number of turns that is not known it is taken that there are many.
static bool is_short(const reduction_loop *l, int64_t turns) { return l->trips >= 0 && turns > l->trips; }

static int count_copies(const reduction_loop *l, int width, int registers) {
  int accumulators = 0, size = body_size(l);
  for (int c = 0; c < l->count; c++) accumulators += l->carried[c].kind != CARRIED_TENSOR ? registers : 0;
  if (accumulators == 0) return 1;
  int copies = l->limits->max_reduction_copies;
  if (size > l->limits->large_reduction && copies > 2) copies = 2;
  if (size > l->limits->huge_reduction) copies = 1;
  const int most = l->limits->max_accumulators;
  while (copies > 1 && (copies * accumulators > most || is_short(l, (int64_t)copies * width))) copies /= 2;
  return copies;
}

// MLIR folds a vector that is read from one whole tensor and written over another into the tensor it was read from.
static bool fills_a_tensor(const reduction_loop *l, int width) {
  for (int c = 0; c < l->count; c++) {
    MlirType t = old_type(l, c);
    if (l->carried[c].kind == CARRIED_TENSOR && mlirShapedTypeGetRank(t) == 1 &&
        mlirShapedTypeGetDimSize(t, 0) == width)
      return true;
  }
  return false;
}

// --- the rewrite

typedef struct lane_plan {
  int width, copies, masked_width;
  int64_t main_end, vector_end;
} lane_plan;

// All that takes the loop's place; `now` receives its results.
static const char *build(const reduction_loop *l, ir_builder *b, const lane_plan *p, MlirValue *now) {
  MlirValue *values = arena_array(l->arena, MlirValue, p->copies * l->count);
  start_lanes(l, b, p->width, p->copies, values);
  MlirOperation loop = build_loop(l, b, ir_index(b, 0), ir_index(b, p->main_end), p->width, p->copies, values);
  const char *refusal = fill_body(l, loop, p->width, p->copies, (MlirValue){NULL});
  for (int i = 0; i < p->copies * l->count; i++) values[i] = ir_result(loop, i);
  if (!refusal && !fold_copies(l, b, p->copies, values)) refusal = "a reducer without vector form";
  if (!refusal && p->main_end < p->vector_end) {
    loop = build_loop(l, b, ir_index(b, p->main_end), ir_index(b, p->vector_end), p->width, 1, values);
    refusal = fill_body(l, loop, p->width, 1, (MlirValue){NULL});
    for (int c = 0; c < l->count; c++) values[c] = ir_result(loop, c);
  }
  if (!refusal && p->vector_end < l->trips) {
    // The last vector begins before the end of the one before it.
    const vectors last = {.width = p->width,
                          .copies = 1,
                          .done_lanes = (int)(p->width - (l->trips - p->vector_end)),
                          .first = l->trips - p->width};
    refusal = fill_vectors(l, b, &last, ir_index(b, last.first), values);
  }
  if (!refusal && !fold_lanes(l, b, p->width, values)) refusal = "a reducer without vector form";
  for (int c = 0; c < l->count; c++) now[c] = values[c];
  return refusal;
}

// The upper bound without what is left of whole steps.
static MlirValue whole_steps(const reduction_loop *l, ir_builder *b, int64_t step) {
  MlirValue all = ir_operand(l->op, 1);
  return ir_binary(b, "arith.subi", all, ir_binary(b, "arith.remsi", all, ir_index(b, step)));
}

// A loop over vectors between two places, one vector a turn; `values` go in and come out.
static const char *take_open(const reduction_loop *l, ir_builder *b, MlirValue from, MlirValue to, int width,
                             MlirValue *values) {
  MlirOperation loop = build_loop(l, b, from, to, width, 1, values);
  const char *refusal = fill_body(l, loop, width, 1, (MlirValue){NULL});
  for (int c = 0; c < l->count; c++) values[c] = ir_result(loop, c);
  return refusal;
}

// What is left from `from` on, fewer iterations than a vector has lanes, as one vector under a mask; false if that has
// no such form.
static bool take_rest(const reduction_loop *l, ir_builder *b, MlirValue from, int width, MlirValue *values) {
  const MlirValue end = ir_operand(l->op, 1);
  MlirOperation loop = build_loop(l, b, from, end, width, 1, values);
  if (fill_body(l, loop, width, 1, end)) {
    ir_erase(loop);
    return false;
  }
  for (int c = 0; c < l->count; c++) values[c] = ir_result(loop, c);
  return true;
}

// The same where the number of turns is only known when the kernel runs: what fills no vector goes to narrower ones,
// then to one of a register under a mask (masked_width, 0: none), or else to still narrower ones and the last few turns
// to the loop itself, which goes on from there with what the lanes came to.
static const char *build_open(const reduction_loop *l, ir_builder *b, const lane_plan *p, MlirValue *now) {
  const int narrowest = l->limits->min_vector_lanes;
  static const char no_form[] = "a reducer without vector form";
  const bool is_long = body_size(l) > l->limits->huge_reduction;
  MlirValue *values = arena_array(l->arena, MlirValue, p->copies * l->count);
  MlirValue main_end = whole_steps(l, b, (int64_t)p->width * p->copies), end = main_end;
  start_lanes(l, b, p->width, p->copies, values);
  MlirOperation loop = build_loop(l, b, ir_index(b, 0), main_end, p->width, p->copies, values);
  const char *refusal = fill_body(l, loop, p->width, p->copies, (MlirValue){NULL});
  for (int i = 0; i < p->copies * l->count; i++) values[i] = ir_result(loop, i);
  if (!refusal && !fold_copies(l, b, p->copies, values)) refusal = no_form;
  int width = p->copies > 1 ? p->width : p->width / 2;
  int lanes = p->width;
  for (; !refusal && width >= narrowest; width /= is_long ? 4 : 2) {
    if (fills_a_tensor(l, width)) continue;
    MlirValue next = whole_steps(l, b, width);
    if (!fold_to(l, b, lanes, width, values)) return no_form;
    refusal = take_open(l, b, end, next, width, values);
    lanes = width;
    end = next;
    if (!refusal && width == p->masked_width && take_rest(l, b, end, width, values)) {
      end = ir_operand(l->op, 1);
      break;
    }
  }
  if (!refusal && !fold_lanes(l, b, lanes, values)) refusal = no_form;
  for (int c = 0; c < l->count; c++) now[c] = values[c];
  if (!refusal) mlirOperationSetOperand(l->op, 0, end);
  return refusal;
}

// Everything between two operations of a block, last first.
static void erase_between(MlirOperation before, MlirOperation after, MlirBlock block) {
  for (;;) {
    MlirOperation last = {0};
    MlirOperation op = ir_is_null(before) ? mlirBlockGetFirstOperation(block) : mlirOperationGetNextInBlock(before);
    for (; !mlirOperationEqual(op, after); op = mlirOperationGetNextInBlock(op)) last = op;
    if (ir_is_null(last)) return;
    ir_erase(last);
  }
}

static MlirOperation operation_before(MlirOperation op) {
  MlirOperation before = {0};
  for (MlirOperation o = mlirBlockGetFirstOperation(mlirOperationGetBlock(op)); !mlirOperationEqual(o, op);
       o = mlirOperationGetNextInBlock(o))
    before = o;
  return before;
}

bool vectorize_masks_rests(const target_description *t) { return t->vector_bits >= t->code.mask_register_bits; }

const char *vectorize_reductions(arena *a, const target_description *t, MlirOperation module, MlirOperation loop,
                                 int lanes, int registers) {
  reduction_loop l;
  const char *refusal = read_loop(a, &t->code, module, loop, &l);
  if (refusal) return refusal;
  lane_plan p = {.width = lanes};
  while (is_short(&l, p.width) || fills_a_tensor(&l, p.width)) p.width /= 2;
  if (p.width < 2) return "too few iterations";
  p.copies = count_copies(&l, p.width, registers);
  if (vectorize_masks_rests(t) && registers > 0) p.masked_width = lanes / registers;
  p.main_end = l.trips - l.trips % ((int64_t)p.width * p.copies);
  p.vector_end = l.trips - l.trips % p.width;
  MlirOperation before = operation_before(loop);
  ir_builder b = ir_builder_before(loop, a);
  MlirValue *now = arena_array(a, MlirValue, l.count);
  refusal = l.trips < 0 ? build_open(&l, &b, &p, now) : build(&l, &b, &p, now);
  if (refusal) {
    erase_between(before, loop, mlirOperationGetBlock(loop));
    return refusal;
  }
  const bool is_done = l.trips >= 0 || mlirValueEqual(ir_operand(loop, 0), ir_operand(loop, 1));
  for (int c = 0; !is_done && c < l.count; c++) mlirOperationSetOperand(loop, 3 + c, now[c]);
  if (is_done) ir_replace(loop, now);
  return NULL;
}

const char *vectorize_reductions_at_once(arena *a, const target_description *t, MlirOperation module,
                                         MlirOperation loop, int lanes) {
  reduction_loop l;
  const char *refusal = read_loop(a, &t->code, module, loop, &l);
  if (refusal) return refusal;
  if (fills_a_tensor(&l, lanes)) return "a tensor as long as the vector";
  ir_builder b = ir_builder_before(loop, a);
  MlirValue *now = arena_array(a, MlirValue, l.count), from = ir_index(&b, 0);
  start_lanes(&l, &b, lanes, 1, now);
  const vectors all = {.width = lanes, .copies = 1, .rest = vectorizer_rest(a, &b, from, ir_operand(loop, 1), lanes)};
  refusal = fill_vectors(&l, &b, &all, from, now);
  if (refusal) return refusal;
  if (!fold_lanes(&l, &b, lanes, now)) return "a reducer without vector form";
  ir_replace(loop, now);
  return NULL;
}
