// iree-codegen-stream-softmax: a product with a softmax takes what it sums over block by block (attention).
//
// Of the product's loops one runs over keys, which the weights are normalized along; one over queries, which the
// weights have and the values have not, runs over the lanes of vectors; the rest are taken one by one, but for those
// that the values alone have, which are features. For each block of queries,
//
//   scores are computed of one block of keys, laid out [keys, queries], so that no vector is ever reduced to a number;
//   `largest` becomes the largest score so far, and what was summed before shrinks by exp(before - largest);
//   `sums` and the product, laid out [features, queries], take this block's exponentials.
//
// Where scores are what a mask leaves of them, a block of which it leaves none is passed over, if that changes nothing:
// the exponentials are 0 then, and the values, which 0 would be multiplied with, finite.
//
// Scores are whatever the region computes for the weights: the tile of all that is fused into the loops, masks and
// scales included. A query all of whose scores are -inf has no largest one to be subtracted; until one comes, 0 is, and
// if none comes, the result is NaN as in the program. What a product of bfloat16 reads is widened once for a block.
#include "tile/stream_softmax.h"

#include <math.h>

#include <mlir-c/AffineExpr.h>

#include "base/int64.h"
#include "dialect/tiling.h"
#include "kernel/online_softmax.h"
#include "tile/passes.h"
#include "tile/structured.h"
#include "tile/turned.h"

// An operand or result of tiles: its dims as the product's loops.
typedef struct frame {
  int rank;
  int64_t loops[SHAPE_MAX_RANK];
} frame;

typedef enum role { ROLE_BATCH, ROLE_QUERY, ROLE_FEATURE, ROLE_KEY } role;

typedef struct stream {
  arena *arena;
  MlirContext context;
  MlirOperation product;
  int weights;      // operand of the product; the other one are the values
  bool is_divided;  // by the sum of the exponentials
  MlirValue scores;
  frame of_scores;
  MlirType number;  // of sums
  int loops, key, query;
  int64_t trips[TILING_MAX_LOOPS];
  role roles[TILING_MAX_LOOPS];
  int64_t block[TILING_MAX_LOOPS];      // size of a tile
  MlirValue offsets[TILING_MAX_LOOPS];  // of the tile that is being made; of features and, between blocks, keys: 0
} stream;

// --- the pattern

static frame frame_of(const stream *s, int operand) {
  MlirAffineMap map = tiling_map(s->product, operand);
  frame f = {.rank = (int)mlirAffineMapGetNumResults(map)};
  for (int d = 0; d < f.rank; d++) f.loops[d] = mlirAffineDimExprGetPosition(mlirAffineMapGetResult(map, d));
  return f;
}

static bool has_loop(const frame *f, int64_t loop) {
  bool any = false;
  for (int d = 0; d < f->rank; d++) any |= f->loops[d] == loop;
  return any;
}

static frame without(const frame *f, int64_t loop) {
  frame out = {0};
  for (int d = 0; d < f->rank; d++)
    if (f->loops[d] != loop) out.loops[out.rank++] = f->loops[d];
  return out;
}

static void append_loop(frame *f, int64_t loop) { f->loops[f->rank++] = loop; }

static bool contains(arena *a, MlirOperation op, const char *name) { return ir_collect(a, op, name).size > 0; }

// The operation's first operand, and which of the product's loops its dims are; -1 for dims of one element that no loop
// runs along. False if the operation is none that is elementwise.
static bool step_back(stream *s, MlirOperation op, MlirValue *v) {
  const int count = ir_is_null(op) || !tiling_is_structured(op) ? 0 : (int)mlirOperationGetNumOperands(op);
  if (count < 2) return false;
  MlirAffineMap read = tiling_map(op, 0), written = tiling_map(op, count - 1);
  frame before = {.rank = (int)mlirAffineMapGetNumResults(read)};
  if (before.rank > SHAPE_MAX_RANK) return false;
  for (int d = 0; d < before.rank; d++) {
    before.loops[d] = -1;
    for (int k = 0; k < s->of_scores.rank; k++)
      if (mlirAffineExprEqual(mlirAffineMapGetResult(read, d), mlirAffineMapGetResult(written, k)))
        before.loops[d] = s->of_scores.loops[k];
  }
  s->of_scores = before;
  *v = ir_operand(op, 0);
  return true;
}

// Dims of one element that the product does not have go away.
static void drop_unit_dims(stream *s) {
  frame kept = without(&s->of_scores, -1);
  if (kept.rank == s->of_scores.rank) return;
  ir_builder b = ir_builder_before(s->product, s->arena);
  int64_t dims[SHAPE_MAX_RANK] = {0};
  MlirAffineExpr exprs[SHAPE_MAX_RANK] = {{0}};
  int next = 0;
  for (int d = 0; d < s->of_scores.rank; d++) {
    const bool is_kept = s->of_scores.loops[d] >= 0;
    exprs[d] = is_kept ? mlirAffineDimExprGet(s->context, next) : mlirAffineConstantExprGet(s->context, 0);
    if (is_kept) dims[next++] = mlirShapedTypeGetDimSize(mlirValueGetType(s->scores), d);
  }
  MlirValue empty = structured_empty(&b, kept.rank, dims, ir_element_type(mlirValueGetType(s->scores)));
  MlirAffineMap map = mlirAffineMapGet(s->context, kept.rank, 0, s->of_scores.rank, exprs);
  s->scores = ir_result(structured_copy(&b, s->scores, empty, map), 0);
  s->of_scores = kept;
}

// From the weights back to the exponential, and from that to the scores.
static bool find_scores(stream *s) {
  MlirValue v = ir_operand(s->product, s->weights);
  s->of_scores = frame_of(s, s->weights);
  for (bool is_found = false; !is_found;) {
    MlirOperation op = ir_defining_op(v);
    if (!step_back(s, op, &v)) return false;
    is_found = contains(s->arena, op, "math.exp");
    s->is_divided |= contains(s->arena, op, "arith.divf");
  }
  for (bool is_found = false; !is_found;) {
    MlirOperation op = ir_defining_op(v);
    if (!step_back(s, op, &v)) return false;
    is_found = contains(s->arena, op, "arith.subf");
  }
  s->scores = v;
  drop_unit_dims(s);
  return true;
}

static bool find_roles(stream *s) {
  bool is_reduction[TILING_MAX_LOOPS];
  s->loops = tiling_loops(s->product, s->trips, is_reduction);
  const frame weights = frame_of(s, s->weights), values = frame_of(s, 1 - s->weights);
  s->key = s->query = -1;
  for (int k = 0; k < s->loops; k++) {
    const bool in_weights = has_loop(&weights, k), in_values = has_loop(&values, k);
    s->roles[k] = is_reduction[k] ? ROLE_KEY : !in_weights ? ROLE_FEATURE : in_values ? ROLE_BATCH : ROLE_QUERY;
    if (is_reduction[k]) s->key = k;
    if (s->roles[k] == ROLE_QUERY && has_loop(&s->of_scores, k) && (s->query < 0 || s->trips[k] >= s->trips[s->query]))
      s->query = k;
  }
  return s->key >= 0 && s->query >= 0 && has_loop(&s->of_scores, s->key);
}

// At least two blocks of queries, so that there is a loop over workgroups; false if there is one query only.
static bool choose_blocks(stream *s) {
  int64_t workgroups = 1;
  for (int k = 0; k < s->loops; k++) {
    s->block[k] = s->roles[k] == ROLE_FEATURE ? s->trips[k] : 1;
    if (s->roles[k] != ROLE_FEATURE && k != s->key && k != s->query) workgroups *= s->trips[k];
  }
  const int64_t queries = s->trips[s->query];
  s->block[s->query] = int64_min(ONLINE_SOFTMAX_BLOCK, queries);
  if (workgroups == 1 && queries <= ONLINE_SOFTMAX_BLOCK) s->block[s->query] = int64_ceil_div(queries, 2);
  s->block[s->key] = int64_min(ONLINE_SOFTMAX_BLOCK, s->trips[s->key]);
  return workgroups * queries > 1;
}

// --- tensors and operations of tiles

static MlirValue empty_of(const stream *s, ir_builder *b, const frame *f, MlirType element) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int d = 0; d < f->rank; d++) dims[d] = s->block[f->loops[d]];
  return structured_empty(b, f->rank, dims, element);
}

static MlirValue filled(const stream *s, ir_builder *b, const frame *f, double value) {
  return structured_fill(b, ir_float(b, s->number, value), empty_of(s, b, f, s->number));
}

// tensor.extract_slice or tensor.parallel_insert_slice of the tile where it is.
static MlirOperation slice_operation(const stream *s, ir_builder *b, const char *name, const frame *f,
                                     const MlirValue *of, int of_count, MlirType result) {
  MlirValue at[SHAPE_MAX_RANK];
  int64_t offsets[SHAPE_MAX_RANK], sizes[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
  structured_part part = {.rank = f->rank, .offsets = offsets, .sizes = sizes, .strides = strides, .at = at};
  for (int d = 0; d < f->rank; d++) {
    MlirValue offset = s->offsets[f->loops[d]];
    int64_t known = 0;
    const bool is_known = !offset.ptr || ir_constant_value(offset, &known);
    offsets[d] = is_known ? known : STRUCTURED_AT;
    if (!is_known) at[part.at_count++] = offset;
    sizes[d] = s->block[f->loops[d]];
    strides[d] = 1;
  }
  return structured_slice(b, name, &part, of_count, of, result);
}

static MlirValue tile_of(const stream *s, ir_builder *b, const frame *f, MlirValue v) {
  int64_t sizes[SHAPE_MAX_RANK];
  for (int d = 0; d < f->rank; d++) sizes[d] = s->block[f->loops[d]];
  MlirType type = mlirRankedTensorTypeGet(f->rank, sizes, ir_element_type(mlirValueGetType(v)), mlirAttributeGetNull());
  return ir_result(slice_operation(s, b, "tensor.extract_slice", f, &v, 1, type), 0);
}

// Where the loops `of` stand among the loops `in`.
static MlirAffineMap map_into(const stream *s, const frame *of, const frame *in) {
  int64_t dims[SHAPE_MAX_RANK];
  for (int d = 0; d < of->rank; d++)
    for (int k = 0; k < in->rank; k++)
      if (in->loops[k] == of->loops[d]) dims[d] = k;
  return structured_dims(s->context, in->rank, of->rank, dims);
}

typedef struct tile_input {
  MlirValue value;
  frame frame;
} tile_input;

// An operation whose loops are those of `space`; the last input is what it begins with. `arguments` are the elements,
// in the type of sums but for the last.
static MlirOperation begin(const stream *s, ir_builder *b, const frame *space, int count, const tile_input *inputs,
                           bool reduces, ir_builder *body, MlirValue *arguments) {
  MlirValue values[4];
  MlirAffineMap maps[4];
  bool is_reduction[SHAPE_MAX_RANK + 1] = {false};
  for (int k = 0; k < count; k++) {
    values[k] = inputs[k].value;
    maps[k] = map_into(s, &inputs[k].frame, space);
  }
  for (int k = 0; k < space->rank; k++)
    is_reduction[k] = reduces && !has_loop(&inputs[count - 1].frame, space->loops[k]);
  const structured_op op = {.input_count = count - 1,
                            .inputs = values,
                            .output_count = 1,
                            .outputs = &values[count - 1],
                            .maps = maps,
                            .loop_count = space->rank,
                            .is_reduction = is_reduction};
  MlirOperation made = structured_begin(b, &op, body);
  for (int k = 0; k < count; k++) {
    MlirValue element = mlirBlockGetArgument(body->block, k);
    const bool is_narrow = mlirTypeIsAFloat(mlirValueGetType(element)) &&
                           ir_bit_width(mlirValueGetType(element)) < ir_bit_width(s->number);
    arguments[k] = is_narrow ? ir_cast(body, "arith.extf", s->number, element) : element;
  }
  return made;
}

static MlirValue end(ir_builder *body, MlirOperation made, MlirValue value) {
  structured_yield(body, 1, &value);
  return ir_result(made, 0);
}

// --- one block of keys

typedef struct state {
  MlirValue largest, sums, product;
} state;

typedef struct frames {
  frame rows, scores, values, product, result;
} frames;

// The largest score, or 0 while there is none.
static MlirValue shift(const stream *s, ir_builder *body, MlirValue largest) {
  MlirValue none = ir_cmpf(body, "oeq", largest, ir_float(body, s->number, -INFINITY));
  return ir_select(body, none, ir_float(body, s->number, 0), largest);
}

static MlirValue largest_of(const stream *s, ir_builder *b, const frames *f, MlirValue scores) {
  frame space = without(&f->scores, s->key);
  append_loop(&space, s->key);
  const tile_input inputs[] = {{scores, f->scores}, {filled(s, b, &f->rows, -INFINITY), f->rows}};
  MlirValue x[2];
  ir_builder body;
  MlirOperation made = begin(s, b, &space, 2, inputs, true, &body, x);
  return end(&body, made, ir_binary(&body, "arith.maximumf", x[1], x[0]));
}

// What the loop carries is replaced in its place. Behind it only the exponentials read it, and fusion makes it a part
// of them, which it can only be where it writes nothing.
static MlirValue larger_of(const stream *s, ir_builder *b, const frames *f, MlirValue before, MlirValue here,
                           bool is_carried) {
  tile_input inputs[] = {{here, f->rows}, {before, f->rows}, {{0}, f->rows}};
  if (!is_carried) inputs[2].value = empty_of(s, b, &f->rows, s->number);
  MlirValue x[3];
  ir_builder body;
  MlirOperation made = begin(s, b, &f->rows, is_carried ? 2 : 3, inputs, false, &body, x);
  return end(&body, made, ir_binary(&body, "arith.maximumf", x[1], x[0]));
}

// By how much what was summed shrinks.
static MlirValue shrinkage(const stream *s, ir_builder *b, const frames *f, MlirValue before, MlirValue here) {
  const tile_input inputs[] = {{before, f->rows}, {here, f->rows}, {empty_of(s, b, &f->rows, s->number), f->rows}};
  MlirValue x[3];
  ir_builder body;
  MlirOperation made = begin(s, b, &f->rows, 3, inputs, false, &body, x);
  MlirValue now = shift(s, &body, ir_binary(&body, "arith.maximumf", x[0], x[1]));
  return end(&body, made, ir_unary(&body, "math.exp", ir_binary(&body, "arith.subf", x[0], now)));
}

static MlirValue shrunk(const stream *s, ir_builder *b, const frame *space, MlirValue factor, const frame *of_factor,
                        MlirValue onto) {
  const tile_input inputs[] = {{factor, *of_factor}, {onto, *space}};
  MlirValue x[2];
  ir_builder body;
  MlirOperation made = begin(s, b, space, 2, inputs, false, &body, x);
  return end(&body, made, ir_binary(&body, "arith.mulf", x[1], x[0]));
}

// In the place of the scores if they have the type of sums.
static MlirValue exponentials(const stream *s, ir_builder *b, const frames *f, MlirValue scores, MlirValue largest) {
  const bool in_place = mlirTypeEqual(ir_element_type(mlirValueGetType(scores)), s->number);
  MlirValue onto = in_place ? scores : empty_of(s, b, &f->scores, s->number), x[3];
  const tile_input inputs[] = {{largest, f->rows}, {scores, f->scores}, {onto, f->scores}};
  ir_builder body;
  const int skipped = in_place;  // the scores are what it begins with
  tile_input taken[3] = {inputs[0], inputs[1 + skipped], inputs[2]};
  MlirOperation made = begin(s, b, &f->scores, 3 - skipped, taken, false, &body, x);
  MlirValue shifted = ir_binary(&body, "arith.subf", x[1], shift(s, &body, x[0]));
  return end(&body, made, ir_unary(&body, "math.exp", shifted));
}

static MlirValue summed(const stream *s, ir_builder *b, const frames *f, MlirValue exponentials, MlirValue onto) {
  frame space = without(&f->scores, s->key);
  append_loop(&space, s->key);
  const tile_input inputs[] = {{exponentials, f->scores}, {onto, f->rows}};
  MlirValue x[2];
  ir_builder body;
  MlirOperation made = begin(s, b, &space, 2, inputs, true, &body, x);
  return end(&body, made, ir_binary(&body, "arith.addf", x[1], x[0]));
}

static MlirValue multiplied(const stream *s, ir_builder *b, const frames *f, MlirValue values, MlirValue exponentials,
                            MlirValue onto) {
  frame space = f->product;
  append_loop(&space, s->key);
  const tile_input inputs[] = {{values, f->values}, {exponentials, f->scores}, {onto, f->product}};
  MlirValue x[3];
  ir_builder body;
  MlirOperation made = begin(s, b, &space, 3, inputs, true, &body, x);
  return end(&body, made, ir_binary(&body, "arith.addf", x[2], ir_binary(&body, "arith.mulf", x[0], x[1])));
}

// Exponentials have two readers, so that fusion on tensors does not compute them again for each feature.
static state take_block(stream *s, ir_builder *b, const frames *f, MlirValue scores, MlirValue at, state before,
                        bool is_carried) {
  s->offsets[s->key] = at;
  MlirValue block = tile_of(s, b, &f->scores, scores);
  MlirValue values = tile_of(s, b, &f->values, ir_operand(s->product, 1 - s->weights));
  MlirValue here = largest_of(s, b, f, block), less = shrinkage(s, b, f, before.largest, here);
  state now = {.largest = larger_of(s, b, f, before.largest, here, is_carried)};
  MlirValue weights = exponentials(s, b, f, block, now.largest);
  now.sums = summed(s, b, f, weights, shrunk(s, b, &f->rows, less, &f->rows, before.sums));
  now.product = multiplied(s, b, f, values, weights, shrunk(s, b, &f->product, less, &f->rows, before.product));
  return now;
}

// --- blocks that a mask hides

// What the scores are where the mask is false.
typedef struct mask {
  MlirValue shown;  // one byte for each score; null: there is no mask
  double hidden;
} mask;

// The number that all elements of a tensor are; false if that is not known.
static bool number_of(MlirValue v, double *out) {
  for (MlirOperation op = ir_defining_op(v); !ir_is_null(op); op = ir_defining_op(ir_operand(op, 0))) {
    if (ir_is(op, "arith.constant")) {
      MlirAttribute value = ir_get(op, "value");
      const bool is_one = mlirAttributeIsADenseElements(value) && mlirDenseElementsAttrIsSplat(value);
      if (is_one) value = mlirDenseElementsAttrGetSplatValue(value);
      if (!mlirAttributeIsAFloat(value)) return false;
      *out = mlirFloatAttrGetValueDouble(value);
      return true;
    }
    if (!tiling_is_structured(op) || mlirOperationGetNumOperands(op) != 2) return false;
  }
  return false;
}

static mask mask_of_select(const stream *s, MlirOperation op) {
  mask m = {0};
  if (ir_is_null(op) || !tiling_is_structured(op) || mlirOperationGetNumOperands(op) != 4) return m;
  MlirValue shown = ir_operand(op, 0);
  const bool is_select = contains(s->arena, op, "arith.select") && ir_collect(s->arena, op, NULL).size == 4;
  const bool is_whole = mlirAffineMapEqual(tiling_map(op, 0), tiling_map(op, 3));
  if (is_select && is_whole && mlirTypeIsAInteger(ir_element_type(mlirValueGetType(shown))) &&
      number_of(ir_operand(op, 2), &m.hidden))
    m.shown = shown;
  return m;
}

// Where scores are a copy of what is masked, with fewer dims, the mask is copied like them.
static mask mask_of(const stream *s, MlirValue scores) {
  MlirOperation op = ir_defining_op(scores);
  const bool is_copy = !ir_is_null(op) && tiling_is_structured(op) && mlirOperationGetNumOperands(op) == 2 &&
                       ir_collect(s->arena, op, NULL).size == 2;
  if (!is_copy) return mask_of_select(s, op);
  mask m = mask_of_select(s, ir_defining_op(ir_operand(op, 0)));
  if (!m.shown.ptr) return m;
  ir_builder b = ir_builder_after(op, s->arena);
  MlirType type = mlirValueGetType(scores);
  MlirValue empty = structured_empty(&b, (int)mlirShapedTypeGetRank(type), ir_dims(s->arena, type),
                                     ir_element_type(mlirValueGetType(m.shown)));
  m.shown = ir_result(structured_copy(&b, m.shown, empty, tiling_map(op, 0)), 0);
  return m;
}

static const frame no_dims;

// A byte that is 0 if all bytes are that `element` gives of each of `value`, whose dims are those of `f`.
static MlirValue any_of(const stream *s, ir_builder *b, const frame *f, MlirValue value,
                        MlirValue (*element)(const stream *s, ir_builder *body, MlirValue x, double hidden),
                        double hidden) {
  MlirType byte = mlirIntegerTypeGet(s->context, 8);
  MlirValue none = structured_fill(b, ir_int(b, byte, 0), empty_of(s, b, &no_dims, byte));
  const tile_input inputs[] = {{value, *f}, {none, no_dims}};
  MlirValue x[2];
  ir_builder body;
  MlirOperation made = begin(s, b, f, 2, inputs, true, &body, x);
  MlirValue any = end(&body, made, ir_binary(&body, "arith.ori", x[1], element(s, &body, x[0], hidden)));
  return ir_value(b, "tensor.extract", byte, 1, &any);
}

static MlirValue is_zero(const stream *s, ir_builder *b, MlirValue byte) {
  return ir_cmpi(b, "eq", byte, ir_int(b, mlirIntegerTypeGet(s->context, 8), 0));
}

static MlirValue itself(const stream *s, ir_builder *body, MlirValue x, double hidden) {
  (void)s;
  (void)body;
  (void)hidden;
  return x;
}

static MlirValue as_byte(const stream *s, ir_builder *body, MlirValue condition) {
  return ir_cast(body, "arith.extui", mlirIntegerTypeGet(s->context, 8), condition);
}

// Whether exp(hidden - x) might be more than 0, or NaN: the smallest f32 is 2^-149, the smallest f64 2^-1074.
static MlirValue may_count(const stream *s, ir_builder *body, MlirValue x, double hidden) {
  const double least = ir_bit_width(s->number) > 32 ? -746 : -104;
  MlirValue shifted = ir_binary(body, "arith.subf", ir_float(body, s->number, hidden), shift(s, body, x));
  return as_byte(s, body, ir_cmpf(body, "uge", shifted, ir_float(body, s->number, least)));
}

static MlirValue is_not_zero(const stream *s, ir_builder *body, MlirValue x, double hidden) {
  (void)hidden;
  return as_byte(s, body, ir_cmpf(body, "une", x, ir_float(body, s->number, 0)));
}

// Sums along the keys of 0 times the values: 0 if all are finite.
static MlirValue zeros_of(const stream *s, ir_builder *b, const frames *f, MlirValue values, frame *rest) {
  *rest = without(&f->values, s->key);
  frame space = *rest;
  append_loop(&space, s->key);
  const tile_input inputs[] = {{values, f->values}, {filled(s, b, rest, 0), *rest}};
  MlirValue x[2];
  ir_builder body;
  MlirOperation made = begin(s, b, &space, 2, inputs, true, &body, x);
  MlirValue zero = ir_binary(&body, "arith.mulf", x[0], ir_float(&body, s->number, 0));
  return end(&body, made, ir_binary(&body, "arith.addf", x[1], zero));
}

static MlirValue shown_rows(const stream *s, ir_builder *b, const frames *f, MlirValue shown) {
  MlirType byte = mlirIntegerTypeGet(s->context, 8);
  frame space = without(&f->scores, s->key);
  append_loop(&space, s->key);
  MlirValue none = structured_fill(b, ir_int(b, byte, 0), empty_of(s, b, &f->rows, byte));
  const tile_input inputs[] = {{shown, f->scores}, {none, f->rows}};
  MlirValue x[2];
  ir_builder body;
  MlirOperation made = begin(s, b, &space, 2, inputs, true, &body, x);
  return end(&body, made, ir_binary(&body, "arith.ori", x[1], x[0]));
}

// i1: the block changes nothing. What that depends on beside the mask is looked at only if the mask hides all of it.
static MlirValue is_hidden(const stream *s, ir_builder *b, const frames *f, const mask *m, MlirValue largest) {
  MlirValue rows = shown_rows(s, b, f, tile_of(s, b, &f->scores, m->shown));
  MlirType bit = mlirIntegerTypeGet(s->context, 1);
  MlirOperation branch = ir_if(b, is_zero(s, b, any_of(s, b, &f->rows, rows, itself, 0)), 1, &bit);
  ir_builder in = ir_builder_at_end(s->context, ir_body(branch, 0), s->arena),
             otherwise = ir_builder_at_end(s->context, ir_body(branch, 1), s->arena);
  frame rest;
  MlirValue values = tile_of(s, &in, &f->values, ir_operand(s->product, 1 - s->weights));
  MlirValue zeros = zeros_of(s, &in, f, values, &rest);
  MlirValue is_finite = is_zero(s, &in, any_of(s, &in, &rest, zeros, is_not_zero, 0));
  MlirValue is_nothing = is_zero(s, &in, any_of(s, &in, &f->rows, largest, may_count, m->hidden));
  ir_yield(&in, 1, (MlirValue[]){ir_binary(&in, "arith.andi", is_finite, is_nothing)});
  ir_yield(&otherwise, 1, (MlirValue[]){ir_int(&otherwise, bit, 0)});
  return ir_result(branch, 0);
}

static state take_shown_block(stream *s, ir_builder *b, const frames *f, MlirValue scores, MlirValue at, state before) {
  const mask m = mask_of(s, scores);
  if (!m.shown.ptr) return take_block(s, b, f, scores, at, before, true);
  s->offsets[s->key] = at;
  const MlirType types[] = {mlirValueGetType(before.largest), mlirValueGetType(before.sums),
                            mlirValueGetType(before.product)};
  MlirOperation branch = ir_if(b, is_hidden(s, b, f, &m, before.largest), 3, types);
  ir_builder hidden = ir_builder_at_end(s->context, ir_body(branch, 0), s->arena),
             shown = ir_builder_at_end(s->context, ir_body(branch, 1), s->arena);
  ir_yield(&hidden, 3, (MlirValue[]){before.largest, before.sums, before.product});
  const state now = take_block(s, &shown, f, scores, at, before, true);
  ir_yield(&shown, 3, (MlirValue[]){now.largest, now.sums, now.product});
  return (state){ir_result(branch, 0), ir_result(branch, 1), ir_result(branch, 2)};
}

// --- one block of queries

static state take_keys(stream *s, ir_builder *b, const frames *f, MlirValue scores) {
  const int64_t keys = s->trips[s->key], block = s->block[s->key], whole = keys / block * block;
  state at = {filled(s, b, &f->rows, -INFINITY), filled(s, b, &f->rows, 0), filled(s, b, &f->product, 0)};
  if (whole > block) {
    const MlirValue inits[] = {at.largest, at.sums, at.product};
    MlirOperation loop = ir_for(b, ir_index(b, 0), ir_index(b, whole), ir_index(b, block), 3, inits);
    MlirBlock body = ir_body(loop, 0);
    ir_builder in = ir_builder_at_end(s->context, body, s->arena);
    const state before = {mlirBlockGetArgument(body, 1), mlirBlockGetArgument(body, 2), mlirBlockGetArgument(body, 3)};
    const state now = take_shown_block(s, &in, f, scores, mlirBlockGetArgument(body, 0), before);
    ir_yield(&in, 3, (MlirValue[]){now.largest, now.sums, now.product});
    at = (state){ir_result(loop, 0), ir_result(loop, 1), ir_result(loop, 2)};
  } else {
    at = take_block(s, b, f, scores, ir_index(b, 0), at, false);
  }
  if (whole < keys) {
    s->block[s->key] = keys - whole;
    at = take_block(s, b, f, scores, ir_index(b, whole), at, false);
    s->block[s->key] = block;
  }
  s->offsets[s->key] = (MlirValue){NULL};
  return at;
}

// Without a score the sum is 0: the largest score gives 1.
static MlirValue finished(const stream *s, ir_builder *b, const frames *f, state at, MlirValue onto) {
  const tile_input inputs[] = {{at.product, f->product}, {at.sums, f->rows}, {onto, f->result}};
  MlirValue x[3];
  ir_builder body;
  MlirOperation made = begin(s, b, &f->result, 3, inputs, false, &body, x);
  MlirValue value;
  if (s->is_divided) {
    value = ir_binary(&body, "arith.divf", x[0], x[1]);
  } else {
    MlirValue none = ir_cmpf(&body, "oeq", x[1], ir_float(&body, s->number, 0));
    value = ir_select(&body, none, ir_float(&body, s->number, NAN), x[0]);
  }
  MlirType wanted = ir_element_type(mlirValueGetType(onto));
  const bool is_narrow = ir_bit_width(wanted) < ir_bit_width(s->number);
  return end(&body, made, is_narrow ? ir_cast(&body, "arith.truncf", wanted, value) : value);
}

// --- the loop over blocks of queries

// scf.forall over the batch, the queries in blocks. The last block begins so early that it is whole: what two blocks
// have in common both compute, and to the same bits.
static MlirOperation begin_forall(stream *s, ir_builder *b, MlirValue onto, ir_builder *body) {
  int64_t zeros[TILING_MAX_LOOPS] = {0}, ones[TILING_MAX_LOOPS], upper[TILING_MAX_LOOPS];
  int count = 0, loops[TILING_MAX_LOOPS];
  for (int k = 0; k < s->loops; k++) {
    if (s->roles[k] == ROLE_FEATURE || s->roles[k] == ROLE_KEY) continue;
    ones[count] = 1;
    upper[count] = int64_ceil_div(s->trips[k], s->block[k]);
    loops[count++] = k;
  }
  MlirType types[TILING_MAX_LOOPS + 1];
  MlirLocation locations[TILING_MAX_LOOPS + 1];
  for (int k = 0; k <= count; k++) {
    types[k] = k < count ? mlirIndexTypeGet(s->context) : mlirValueGetType(onto);
    locations[k] = b->location;
  }
  MlirBlock block = mlirBlockCreate(count + 1, types, locations);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  MlirNamedAttribute attributes[] = {
      ir_named(s->context, "staticLowerBound", mlirDenseI64ArrayGet(s->context, count, zeros)),
      ir_named(s->context, "staticUpperBound", mlirDenseI64ArrayGet(s->context, count, upper)),
      ir_named(s->context, "staticStep", mlirDenseI64ArrayGet(s->context, count, ones)),
      ir_named(s->context, "operandSegmentSizes", mlirDenseI32ArrayGet(s->context, 4, (int32_t[]){0, 0, 0, 1})),
  };
  MlirType type = mlirValueGetType(onto);
  MlirOperation made = ir_build(b, (ir_op_state){.name = "scf.forall",
                                                 .operand_count = 1,
                                                 .operands = &onto,
                                                 .result_count = 1,
                                                 .results = &type,
                                                 .attribute_count = 4,
                                                 .attributes = attributes,
                                                 .region_count = 1,
                                                 .regions = &region});
  *body = ir_builder_at_end(s->context, block, s->arena);
  for (int n = 0; n < count; n++) {
    const int k = loops[n];
    MlirValue at = mlirBlockGetArgument(block, n);
    if (s->block[k] > 1) {
      at = ir_binary(body, "arith.muli", at, ir_index(body, s->block[k]));
      if (s->trips[k] % s->block[k] != 0)
        at = ir_binary(body, "arith.minui", at, ir_index(body, s->trips[k] - s->block[k]));
    }
    s->offsets[k] = s->trips[k] == s->block[k] ? ir_index(body, 0) : at;
  }
  return made;
}

static void end_forall(const stream *s, ir_builder *body, const frame *result, MlirValue tile, MlirValue onto) {
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  ir_build(body, (ir_op_state){.name = "scf.forall.in_parallel", .region_count = 1, .regions = &region});
  ir_builder in = ir_builder_at_end(s->context, block, s->arena);
  slice_operation(s, &in, "tensor.parallel_insert_slice", result, (MlirValue[]){tile, onto}, 2, (MlirType){NULL});
}

// The operation's result has the elements of its only input, converted or in another order of dims: *result, the
// input's dims, becomes that order. False if it does more.
static bool step_forward(const stream *s, MlirOperation op, frame *result) {
  static const char *const more[] = {"linalg.index", "tensor.extract", "arith.constant"};
  if (!tiling_is_structured(op) || mlirOperationGetNumOperands(op) != 2) return false;
  const int inside = ir_collect(s->arena, op, NULL).size - 1;  // without the operation itself
  bool moves = inside == 1 || (inside == 2 && contains(s->arena, op, "arith.truncf"));
  for (size_t k = 0; k < sizeof more / sizeof *more; k++) moves &= !contains(s->arena, op, more[k]);
  MlirAffineMap read = tiling_map(op, 0), written = tiling_map(op, 1);
  const int rank = result->rank;
  if (!moves || mlirAffineMapGetNumResults(written) != rank || mlirAffineMapGetNumResults(read) != rank) return false;
  frame turned = {.rank = rank};
  for (int d = 0; d < rank; d++) {
    int from = -1;
    for (int k = 0; k < rank; k++)
      if (mlirAffineExprEqual(mlirAffineMapGetResult(written, d), mlirAffineMapGetResult(read, k))) from = k;
    if (from < 0) return false;
    turned.loops[d] = result->loops[from];
  }
  *result = turned;
  return true;
}

// What is all that is done with the product, if it only converts or moves elements: then the loops give its result.
static MlirOperation last_of(const stream *s, frame *result) {
  MlirOperation op = s->product;
  *result = frame_of(s, 2);
  for (;;) {
    MlirOpOperand use = mlirValueGetFirstUse(ir_result(op, 0));
    if (mlirOpOperandIsNull(use) || !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use))) return op;
    if (mlirOpOperandGetOperandNumber(use) != 0 || !step_forward(s, mlirOpOperandGetOwner(use), result)) return op;
    op = mlirOpOperandGetOwner(use);
  }
}

static frames frames_of(const stream *s, const frame *weights, const frame *result) {
  frames f = {.rows = without(weights, s->key)};
  f.rows = without(&f.rows, s->query);
  f.scores = f.rows;
  append_loop(&f.rows, s->query);
  append_loop(&f.scores, s->key);
  append_loop(&f.scores, s->query);
  f.values = frame_of(s, 1 - s->weights);
  f.result = *result;
  f.product = frame_of(s, 2);
  f.product = without(&f.product, s->query);
  append_loop(&f.product, s->query);
  return f;
}

static MlirOperation stream_product(stream *s) {
  frame written;
  MlirOperation last = last_of(s, &written);
  const frame weights = s->of_scores;
  const frames f = frames_of(s, &weights, &written);
  ir_builder b = ir_builder_before(last, s->arena), body;
  int64_t order[SHAPE_MAX_RANK] = {0};
  for (int d = 0; d < f.scores.rank; d++)
    for (int k = 0; k < weights.rank; k++)
      if (weights.loops[k] == f.scores.loops[d]) order[d] = k;
  turned_values anew = {0};
  MlirValue scores = turned(&anew, &b, s->scores, order);
  MlirType type = mlirValueGetType(ir_result(last, 0));
  MlirValue whole = ir_value(&b, "tensor.empty", type, 0, NULL);
  MlirOperation forall = begin_forall(s, &b, whole, &body);
  MlirBlock block = ir_body(forall, 0);
  MlirValue onto = mlirBlockGetArgument(block, mlirBlockGetNumArguments(block) - 1);
  const state at = take_keys(s, &body, &f, scores);
  MlirValue tile = finished(s, &body, &f, at, tile_of(s, &body, &f.result, onto));
  end_forall(s, &body, &f.result, tile, onto);
  MlirValue result = ir_result(forall, 0);
  ir_replace(last, &result);
  return forall;
}

// --- what is within the loops

// What the slices are of is computed where they are; of tensors with nothing in them there is no more than the slice.
static void fuse_producers(arena *a, MlirOperation forall) {
  ir_operations slices = ir_collect(a, forall, "tensor.extract_slice");
  for (int k = 0; k < slices.size; k++) {
    if (structured_narrow_empty(a, slices.data[k])) continue;
    MlirOperation made = tiling_fuse(slices.data[k]);
    for (int n = 0; !ir_is_null(made) && n < mlirOperationGetNumOperands(made); n++) {
      MlirOperation read = ir_defining_op(ir_operand(made, n));
      if (!ir_is_null(read) && ir_is(read, "tensor.extract_slice")) vec_push(a, &slices, read);
    }
  }
}

// --- the pass

static bool take(lower_context *c, MlirOperation product) {
  stream s = {.arena = c->scratch, .context = c->context, .product = product};
  s.weights = (int)mlirIntegerAttrGetValueInt(ir_get(product, TILE_ONLINE_SOFTMAX));
  s.number = ir_element_type(ir_result_type(product, 0));
  ir_unset(product, TILE_ONLINE_SOFTMAX);
  if (s.weights > 1 || !find_scores(&s) || !find_roles(&s) || !choose_blocks(&s)) return false;
  fuse_producers(c->scratch, stream_product(&s));
  return true;
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const ir_operations all = ir_collect(c->scratch, (MlirOperation){unit}, NULL);
  ir_operations products = {0};
  bool any = false;
  for (int k = 0; k < all.size; k++)
    if (!mlirAttributeIsNull(ir_get(all.data[k], TILE_ONLINE_SOFTMAX))) vec_push(c->scratch, &products, all.data[k]);
  for (int k = 0; k < products.size; k++) any |= take(c, products.data[k]);
  return any ? lower_upstream(context, unit, "canonicalize,cse,loop-invariant-code-motion") : status_ok();
}

const pass tile_stream_softmax = {
    .name = "iree-codegen-stream-softmax",
    .summary = "products with a softmax take what they sum over block by block",
    .order_reason = "before fusion on tensors, which would hide the pattern",
    .use = PASS_IMPROVES,
    .run = run,
};
