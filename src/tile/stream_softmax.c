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
// the exponentials are 0 then, and the values, which 0 would be multiplied with, finite. What a mask of positions
// leaves of a block is told by the block's corners; where it leaves all, the block is not masked.
//
// Scores are whatever the region computes for the weights: the tile of all that is fused into the loops, masks and
// scales included. A query all of whose scores are -inf has no largest one to be subtracted; until one comes, 0 is, and
// if none comes, the result is NaN as in the program. What a product of bfloat16 reads is widened once for a block.
//
// On a grid blocks are a workgroup's, which has little memory. All of its workitems meet at barriers, so that no block
// is passed over, and each score's row is reduced by one workitem.
#include "tile/stream_softmax.h"

#include <math.h>

#include <mlir-c/AffineExpr.h>

#include "base/int64.h"
#include "dialect/tiling.h"
#include "kernel/online_softmax.h"
#include "lower/passes.h"
#include "tile/passes.h"
#include "tile/stream_mask.h"
#include "tile/stream_rows.h"
#include "tile/stream_weights.h"
#include "tile/turned.h"

enum { ROWS_AT_ONCE = STREAM_TILES_INPUTS - 1 };  // of scores, for whose largest is looked; a power of two

// --- the pattern

static bool contains(arena *a, MlirOperation op, const char *name) { return ir_collect(a, op, name).size > 0; }

// Which of the product's loops the dims of an operation's operand are; -1 for dims of one element that no loop runs
// along.
static stream_frame frame_of_operand(const stream *s, MlirOperation op, int operand) {
  MlirAffineMap read = tiling_map(op, operand), written = tiling_map(op, (int)mlirOperationGetNumOperands(op) - 1);
  stream_frame f = {.rank = (int)mlirAffineMapGetNumResults(read)};
  for (int d = 0; d < f.rank; d++) {
    f.loops[d] = -1;
    for (int k = 0; k < s->of_scores.rank; k++)
      if (mlirAffineExprEqual(mlirAffineMapGetResult(read, d), mlirAffineMapGetResult(written, k)))
        f.loops[d] = s->of_scores.loops[k];
  }
  return f;
}

// The operation's first operand, and its dims. False if the operation is none that is elementwise.
static bool step_back(stream *s, MlirOperation op, MlirValue *v) {
  const int count = ir_is_null(op) || !tiling_is_structured(op) ? 0 : (int)mlirOperationGetNumOperands(op);
  if (count < 2 || mlirAffineMapGetNumResults(tiling_map(op, 0)) > SHAPE_MAX_RANK) return false;
  s->of_scores = frame_of_operand(s, op, 0);
  *v = ir_operand(op, 0);
  return true;
}

// Dims of one element that the product does not have go away.
static void drop_unit_dims(stream *s) {
  stream_frame kept = stream_tiles_without(&s->of_scores, -1);
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

// What is subtracted and what divides, by the reductions that they come from.
static bool find_rows(stream *s, MlirValue exponentials) {
  stream_row *subtracted = &s->subtracted, *divisor = &s->divisor;
  *subtracted = stream_rows_find(s, subtracted->value, &subtracted->frame, "arith.maximumf", s->scores);
  if (divisor->value.ptr) *divisor = stream_rows_find(s, divisor->value, &divisor->frame, "arith.addf", exponentials);
  return !ir_is_null(subtracted->reduction) && (!divisor->value.ptr || !ir_is_null(divisor->reduction));
}

// From the weights back to the exponential, and from that to the scores.
static bool find_scores(stream *s) {
  MlirValue v = ir_operand(s->product, s->weights), exponentials = {NULL};
  MlirOperation reader = s->product;
  s->of_scores = stream_tiles_frame(s, s->weights);
  while (!exponentials.ptr) {
    MlirOperation op = ir_defining_op(v);
    if (!s->divisor.value.ptr) stream_weights_find(s, v, reader, &s->of_scores);
    if (!ir_is_null(op) && contains(s->arena, op, "arith.divf"))
      s->divisor = (stream_row){.value = ir_operand(op, 1), .frame = frame_of_operand(s, op, 1)};
    const MlirValue result = v;
    reader = op;
    if (!step_back(s, op, &v)) return false;
    if (contains(s->arena, op, "math.exp")) exponentials = result;
  }
  // Only quotients are made a second time: exponentials that others read are what the program makes of them.
  if (!s->divisor.value.ptr) s->weights_store = (MlirOperation){NULL};
  while (!s->subtracted.value.ptr) {
    MlirOperation op = ir_defining_op(v);
    if (!ir_is_null(op) && contains(s->arena, op, "arith.subf"))
      s->subtracted = (stream_row){.value = ir_operand(op, 1), .frame = frame_of_operand(s, op, 1)};
    if (!step_back(s, op, &v)) return false;
  }
  s->scores = v;
  return find_rows(s, exponentials);
}

static bool find_roles(stream *s) {
  bool is_reduction[TILING_MAX_LOOPS];
  s->loops = tiling_loops(s->product, s->trips, is_reduction);
  const stream_frame weights = stream_tiles_frame(s, s->weights), values = stream_tiles_frame(s, 1 - s->weights);
  s->key = s->query = -1;
  for (int k = 0; k < s->loops; k++) {
    const bool in_weights = stream_tiles_has_loop(&weights, k), in_values = stream_tiles_has_loop(&values, k);
    s->roles[k] = is_reduction[k] ? ROLE_KEY : !in_weights ? ROLE_FEATURE : in_values ? ROLE_BATCH : ROLE_QUERY;
    if (is_reduction[k]) s->key = k;
    if (s->roles[k] == ROLE_QUERY && stream_tiles_has_loop(&s->of_scores, k) &&
        (s->query < 0 || s->trips[k] >= s->trips[s->query]))
      s->query = k;
  }
  return s->key >= 0 && s->query >= 0 && stream_tiles_has_loop(&s->of_scores, s->key);
}

static bool choose_grid_blocks(stream *s) {
  int64_t features = 1;
  for (int k = 0; k < s->loops; k++)
    if (s->roles[k] == ROLE_FEATURE) features *= s->trips[k];
  return online_softmax_grid_blocks(s->trips[s->query], s->trips[s->key], 2 * features, ir_bit_width(s->number) / 8,
                                    s->grid->shared_bytes, &s->block[s->query], &s->block[s->key]);
}

// At least two blocks of queries, so that there is a loop over workgroups; false if there is one query only.
static bool choose_blocks(stream *s) {
  int64_t workgroups = 1;
  for (int k = 0; k < s->loops; k++) {
    s->block[k] = s->roles[k] == ROLE_FEATURE ? s->trips[k] : 1;
    if (s->roles[k] != ROLE_FEATURE && k != s->key && k != s->query) workgroups *= s->trips[k];
  }
  const int64_t queries = s->trips[s->query];
  int64_t computed;
  if (workgroups * queries <= 1) return false;
  if (s->grid) return choose_grid_blocks(s);
  s->block[s->query] = online_softmax_queries(queries, workgroups == 1, &computed);
  s->block[s->key] = int64_min(ONLINE_SOFTMAX_BLOCK, s->trips[s->key]);
  return true;
}

// --- one block of keys

typedef struct state {
  MlirValue largest, sums, product;
} state;

// x86 has one instruction for this. Which of two zeros it is makes no difference to what is made of it, nor whether a
// score that is no number is: that score's exponential makes all results of its query NaN.
static MlirValue larger(ir_builder *body, MlirValue x, MlirValue y) {
  return ir_select(body, ir_cmpf(body, "ogt", x, y), x, y);
}

// The scores of one key of the block.
static MlirValue row_of_block(const stream *s, ir_builder *b, const stream_frames *f, MlirValue scores, MlirValue key) {
  int64_t offsets[SHAPE_MAX_RANK] = {0}, sizes[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK];
  structured_part part = {
      .rank = f->scores.rank, .offsets = offsets, .sizes = sizes, .strides = strides, .at_count = 1, .at = &key};
  int rank = 0;
  for (int d = 0; d < f->scores.rank; d++) {
    const bool is_key = f->scores.loops[d] == s->key;
    if (is_key) offsets[d] = STRUCTURED_AT;
    sizes[d] = is_key ? 1 : s->block[f->scores.loops[d]];
    strides[d] = 1;
    if (!is_key) dims[rank++] = sizes[d];
  }
  MlirType type =
      mlirRankedTensorTypeGet(rank, dims, ir_element_type(mlirValueGetType(scores)), mlirAttributeGetNull());
  return ir_result(structured_slice(b, "tensor.extract_slice", &part, 1, &scores, type), 0);
}

// Some keys at a time: a reduction by such a maximum has no vector form in MLIR, and each of its steps would wait for
// the one before.
static MlirValue largest_of(const stream *s, ir_builder *b, const stream_frames *f, MlirValue scores) {
  const int64_t keys = s->block[s->key];
  int at_once = ROWS_AT_ONCE;
  while (keys % at_once != 0) at_once /= 2;
  const MlirValue none = stream_tiles_fill(s, b, &f->rows, -INFINITY);
  MlirOperation loop = ir_for(b, ir_index(b, 0), ir_index(b, keys), ir_index(b, at_once), 1, &none);
  MlirBlock block = ir_body(loop, 0);
  ir_builder in = ir_builder_at_end(s->context, block, s->arena), body;
  stream_frame of_rows = stream_tiles_without(&f->scores, s->key);
  stream_tiles_input inputs[STREAM_TILES_INPUTS];
  for (int k = 0; k < at_once; k++) {
    MlirValue key = ir_binary(&in, "arith.addi", mlirBlockGetArgument(block, 0), ir_index(&in, k));
    inputs[k] = (stream_tiles_input){row_of_block(s, &in, f, scores, key), of_rows};
  }
  inputs[at_once] = (stream_tiles_input){mlirBlockGetArgument(block, 1), f->rows};
  MlirValue x[STREAM_TILES_INPUTS];
  MlirOperation made = stream_tiles_begin(s, &in, &f->rows, at_once + 1, inputs, false, &body, x);
  for (int width = at_once; width > 1; width /= 2)
    for (int k = 0; k < width / 2; k++) x[k] = larger(&body, x[k], x[k + width / 2]);
  MlirValue result = stream_tiles_end(&body, made, larger(&body, x[0], x[at_once]));
  ir_yield(&in, 1, &result);
  return ir_result(loop, 0);
}

static MlirValue reduced(const stream *s, ir_builder *b, const stream_frames *f, MlirValue block, MlirValue onto,
                         bool is_sum) {
  stream_frame space = stream_tiles_without(&f->scores, s->key);
  stream_tiles_append(&space, s->key);
  const stream_tiles_input inputs[] = {{block, f->scores}, {onto, f->rows}};
  MlirValue x[2];
  ir_builder body;
  MlirOperation made = stream_tiles_begin(s, b, &space, 2, inputs, true, &body, x);
  return stream_tiles_end(&body, made, is_sum ? ir_binary(&body, "arith.addf", x[1], x[0]) : larger(&body, x[0], x[1]));
}

// What the loop carries is replaced in its place. Behind it only the exponentials read it, and fusion makes it a part
// of them, which it can only be where it writes nothing.
static MlirValue larger_of(const stream *s, ir_builder *b, const stream_frames *f, MlirValue before, MlirValue here,
                           bool is_carried) {
  stream_tiles_input inputs[] = {{here, f->rows}, {before, f->rows}, {{0}, f->rows}};
  if (!is_carried) inputs[2].value = stream_tiles_empty(s, b, &f->rows, s->number);
  MlirValue x[3];
  ir_builder body;
  MlirOperation made = stream_tiles_begin(s, b, &f->rows, is_carried ? 2 : 3, inputs, false, &body, x);
  return stream_tiles_end(&body, made, larger(&body, x[1], x[0]));
}

// By how much what was summed shrinks.
static MlirValue shrinkage(const stream *s, ir_builder *b, const stream_frames *f, MlirValue before, MlirValue here) {
  const stream_tiles_input inputs[] = {
      {before, f->rows}, {here, f->rows}, {stream_tiles_empty(s, b, &f->rows, s->number), f->rows}};
  MlirValue x[3];
  ir_builder body;
  MlirOperation made = stream_tiles_begin(s, b, &f->rows, 3, inputs, false, &body, x);
  MlirValue now = stream_tiles_shift(s, &body, larger(&body, x[0], x[1]));
  return stream_tiles_end(&body, made, ir_unary(&body, "math.exp", ir_binary(&body, "arith.subf", x[0], now)));
}

static MlirValue shrunk(const stream *s, ir_builder *b, const stream_frame *space, MlirValue factor,
                        const stream_frame *of_factor, MlirValue onto) {
  const stream_tiles_input inputs[] = {{factor, *of_factor}, {onto, *space}};
  MlirValue x[2];
  ir_builder body;
  MlirOperation made = stream_tiles_begin(s, b, space, 2, inputs, false, &body, x);
  return stream_tiles_end(&body, made, ir_binary(&body, "arith.mulf", x[1], x[0]));
}

// In the place of the scores if they have the type of sums.
static MlirValue exponentials(const stream *s, ir_builder *b, const stream_frames *f, MlirValue scores,
                              MlirValue largest) {
  const bool in_place = mlirTypeEqual(ir_element_type(mlirValueGetType(scores)), s->number);
  MlirValue onto = in_place ? scores : stream_tiles_empty(s, b, &f->scores, s->number), x[3];
  const stream_tiles_input inputs[] = {{largest, f->rows}, {scores, f->scores}, {onto, f->scores}};
  ir_builder body;
  const int skipped = in_place;  // the scores are what it begins with
  stream_tiles_input taken[3] = {inputs[0], inputs[1 + skipped], inputs[2]};
  MlirOperation made = stream_tiles_begin(s, b, &f->scores, 3 - skipped, taken, false, &body, x);
  MlirValue shifted = ir_binary(&body, "arith.subf", x[1], stream_tiles_shift(s, &body, x[0]));
  return stream_tiles_end(&body, made, ir_unary(&body, "math.exp", shifted));
}

static MlirValue multiplied(const stream *s, ir_builder *b, const stream_frames *f, MlirValue values,
                            MlirValue exponentials, MlirValue onto) {
  stream_frame space = f->product;
  stream_tiles_append(&space, s->key);
  const stream_tiles_input inputs[] = {{values, f->values}, {exponentials, f->scores}, {onto, f->product}};
  MlirValue x[3];
  ir_builder body;
  MlirOperation made = stream_tiles_begin(s, b, &space, 3, inputs, true, &body, x);
  return stream_tiles_end(&body, made,
                          ir_binary(&body, "arith.addf", x[2], ir_binary(&body, "arith.mulf", x[0], x[1])));
}

// Exponentials have two readers, so that fusion on tensors does not compute them again for each feature.
static state take_block(stream *s, ir_builder *b, const stream_frames *f, MlirValue block, state before,
                        bool is_carried) {
  MlirValue values = stream_tiles_at(s, b, &f->values, ir_operand(s->product, 1 - s->weights));
  MlirValue here = s->grid ? reduced(s, b, f, block, stream_tiles_fill(s, b, &f->rows, -INFINITY), false)
                           : largest_of(s, b, f, block),
            less = shrinkage(s, b, f, before.largest, here);
  state now = {.largest = larger_of(s, b, f, before.largest, here, is_carried)};
  MlirValue weights = exponentials(s, b, f, block, now.largest);
  now.sums = reduced(s, b, f, weights, shrunk(s, b, &f->rows, less, &f->rows, before.sums), true);
  now.product = multiplied(s, b, f, values, weights, shrunk(s, b, &f->product, less, &f->rows, before.product));
  return now;
}

static state take_shown_block(stream *s, ir_builder *b, const stream_frames *f, MlirValue scores, state before) {
  stream_mask m = stream_mask_of(s, scores);
  if (!m.shown.ptr || s->grid) return take_block(s, b, f, stream_tiles_at(s, b, &f->scores, scores), before, true);
  const MlirType types[] = {mlirValueGetType(before.largest), mlirValueGetType(before.sums),
                            mlirValueGetType(before.product)};
  MlirOperation branch = ir_if(b, stream_mask_hides(s, b, f, &m, before.largest), 3, types);
  ir_builder passed = ir_builder_at_end(s->context, ir_body(branch, 0), s->arena),
             taken = ir_builder_at_end(s->context, ir_body(branch, 1), s->arena);
  ir_yield(&passed, 3, (MlirValue[]){before.largest, before.sums, before.product});
  MlirValue block = stream_mask_scores(s, &taken, f, &m, scores);
  const state now = take_block(s, &taken, f, block, before, true);
  ir_yield(&taken, 3, (MlirValue[]){now.largest, now.sums, now.product});
  return (state){ir_result(branch, 0), ir_result(branch, 1), ir_result(branch, 2)};
}

// --- one block of queries

static state take_keys(stream *s, ir_builder *b, const stream_frames *f, MlirValue scores) {
  const int64_t keys = s->trips[s->key], block = s->block[s->key], whole = keys / block * block;
  state at = {stream_tiles_fill(s, b, &f->rows, -INFINITY), stream_tiles_fill(s, b, &f->rows, 0),
              stream_tiles_fill(s, b, &f->product, 0)};
  if (whole > block) {
    const MlirValue inits[] = {at.largest, at.sums, at.product};
    MlirOperation loop = ir_for(b, ir_index(b, 0), ir_index(b, whole), ir_index(b, block), 3, inits);
    MlirBlock body = ir_body(loop, 0);
    ir_builder in = ir_builder_at_end(s->context, body, s->arena);
    const state before = {mlirBlockGetArgument(body, 1), mlirBlockGetArgument(body, 2), mlirBlockGetArgument(body, 3)};
    s->offsets[s->key] = mlirBlockGetArgument(body, 0);
    const state now = take_shown_block(s, &in, f, scores, before);
    ir_yield(&in, 3, (MlirValue[]){now.largest, now.sums, now.product});
    at = (state){ir_result(loop, 0), ir_result(loop, 1), ir_result(loop, 2)};
  } else {
    s->offsets[s->key] = ir_index(b, 0);
    at = take_block(s, b, f, stream_tiles_at(s, b, &f->scores, scores), at, false);
  }
  if (whole < keys) {
    s->block[s->key] = keys - whole;
    s->offsets[s->key] = ir_index(b, whole);
    at = take_block(s, b, f, stream_tiles_at(s, b, &f->scores, scores), at, false);
    s->block[s->key] = block;
  }
  s->offsets[s->key] = (MlirValue){NULL};
  return at;
}

// exp(largest - what is subtracted), 0 or NaN without a score. That there is none is told by the sum, which is needed
// so: exponentials that only the product read would be computed again for each feature (take_block).
static MlirValue correction(const stream *s, ir_builder *b, const stream_frames *f, MlirValue subtracted) {
  const stream_tiles_input inputs[] = {{s->largest, f->rows},
                                       {subtracted, f->rows},
                                       {s->sums, f->rows},
                                       {stream_tiles_empty(s, b, &f->rows, s->number), f->rows}};
  MlirValue x[4];
  ir_builder body;
  MlirOperation made = stream_tiles_begin(s, b, &f->rows, 4, inputs, false, &body, x);
  MlirValue none = ir_cmpf(&body, "oeq", x[2], ir_float(&body, s->number, 0));
  MlirValue largest = ir_select(&body, none, ir_float(&body, s->number, -INFINITY), x[0]);
  return stream_tiles_end(&body, made, ir_unary(&body, "math.exp", ir_binary(&body, "arith.subf", largest, x[1])));
}

static MlirValue corrected(const stream *s, ir_builder *b, const stream_frames *f, MlirValue sums, MlirValue by) {
  const stream_tiles_input inputs[] = {
      {sums, f->rows}, {by, f->rows}, {stream_tiles_empty(s, b, &f->rows, s->number), f->rows}};
  MlirValue x[3];
  ir_builder body;
  MlirOperation made = stream_tiles_begin(s, b, &f->rows, 3, inputs, false, &body, x);
  return stream_tiles_end(&body, made, ir_binary(&body, "arith.mulf", x[0], x[1]));
}

// Without a score the sum is 0: the largest score gives 1.
static MlirValue without_none(const stream *s, ir_builder *body, MlirValue product, MlirValue sum) {
  MlirValue none = ir_cmpf(body, "oeq", sum, ir_float(body, s->number, 0));
  return ir_select(body, none, ir_float(body, s->number, NAN), product);
}

// The sums as the program has them, which a divisor is a function of: NaN without a score.
static MlirValue sums_without_none(const stream *s, ir_builder *b, const stream_frames *f, MlirValue sums) {
  const stream_tiles_input inputs[] = {{sums, f->rows}, {stream_tiles_empty(s, b, &f->rows, s->number), f->rows}};
  MlirValue x[2];
  ir_builder body;
  MlirOperation made = stream_tiles_begin(s, b, &f->rows, 2, inputs, false, &body, x);
  return stream_tiles_end(&body, made, without_none(s, &body, x[0], x[0]));
}

// The place of the block's weights for all keys.
static MlirValue of_all_keys(stream *s, ir_builder *b, MlirValue onto) {
  const int64_t block = s->block[s->key];
  s->block[s->key] = s->trips[s->key];
  MlirValue place = stream_tiles_at(s, b, &s->of_returned, onto);
  s->block[s->key] = block;
  return place;
}

// What a block of queries gives: a tile of the result, and of the weights, if they are one.
typedef struct block_results {
  MlirValue product, weights;
} block_results;

static block_results finished(stream *s, ir_builder *b, const stream_frames *f, state at, MlirValue scores,
                              const MlirValue *onto) {
  const bool is_divided = s->divisor.value.ptr != NULL, is_corrected = !s->subtracted.is_bare;
  s->largest = at.largest;
  s->sums = at.sums;
  MlirValue by = at.sums, subtracted = at.largest;
  if (is_corrected) {
    subtracted = stream_rows_at(s, b, f, &s->subtracted);
    by = correction(s, b, f, subtracted);
    s->sums = corrected(s, b, f, at.sums, by);
  } else if (is_divided && !s->divisor.is_bare) {
    s->sums = sums_without_none(s, b, f, at.sums);
  }
  MlirValue divisor = is_divided && !s->divisor.is_bare ? stream_rows_at(s, b, f, &s->divisor) : s->sums;
  MlirValue place = stream_tiles_at(s, b, &f->result, onto[0]);
  const stream_tiles_input inputs[] = {{at.product, f->product}, {divisor, f->rows}, {by, f->rows}, {place, f->result}};
  MlirValue x[4];
  ir_builder body;
  MlirOperation made = stream_tiles_begin(s, b, &f->result, 4, inputs, false, &body, x);
  MlirValue value = is_corrected ? ir_binary(&body, "arith.mulf", x[0], x[2]) : x[0];
  if (is_divided) value = ir_binary(&body, "arith.divf", value, x[1]);
  else if (!is_corrected) value = without_none(s, &body, value, x[1]);
  MlirType wanted = ir_element_type(mlirValueGetType(onto[0]));
  const bool is_narrow = ir_bit_width(wanted) < ir_bit_width(s->number);
  block_results r = {
      .product = stream_tiles_end(&body, made, is_narrow ? ir_cast(&body, "arith.truncf", wanted, value) : value)};
  if (!ir_is_null(s->weights_store))
    r.weights = stream_weights_tile(s, b, f, scores, subtracted, divisor, of_all_keys(s, b, onto[1]));
  return r;
}

// --- the loop over blocks of queries

// scf.forall over the batch, the queries in blocks. The last block begins so early that it is whole: what two blocks
// have in common both compute, and to the same bits.
static MlirOperation begin_forall(stream *s, ir_builder *b, int result_count, const MlirValue *onto, ir_builder *body) {
  int64_t zeros[TILING_MAX_LOOPS] = {0}, ones[TILING_MAX_LOOPS], upper[TILING_MAX_LOOPS];
  int count = 0, loops[TILING_MAX_LOOPS];
  for (int k = 0; k < s->loops; k++) {
    if (s->roles[k] == ROLE_FEATURE || s->roles[k] == ROLE_KEY) continue;
    ones[count] = 1;
    upper[count] = int64_ceil_div(s->trips[k], s->block[k]);
    loops[count++] = k;
  }
  MlirType types[TILING_MAX_LOOPS + 2];
  MlirLocation locations[TILING_MAX_LOOPS + 2];
  for (int k = 0; k < count + result_count; k++) {
    types[k] = k < count ? mlirIndexTypeGet(s->context) : mlirValueGetType(onto[k - count]);
    locations[k] = b->location;
  }
  MlirBlock block = mlirBlockCreate(count + result_count, types, locations);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  MlirNamedAttribute attributes[] = {
      ir_named(s->context, "staticLowerBound", mlirDenseI64ArrayGet(s->context, count, zeros)),
      ir_named(s->context, "staticUpperBound", mlirDenseI64ArrayGet(s->context, count, upper)),
      ir_named(s->context, "staticStep", mlirDenseI64ArrayGet(s->context, count, ones)),
      ir_named(s->context, "operandSegmentSizes",
               mlirDenseI32ArrayGet(s->context, 4, (int32_t[]){0, 0, 0, result_count})),
  };
  MlirOperation made = ir_build(b, (ir_op_state){.name = "scf.forall",
                                                 .operand_count = result_count,
                                                 .operands = onto,
                                                 .result_count = result_count,
                                                 .results = &types[count],
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

static void end_forall(stream *s, ir_builder *body, const stream_frame *result, block_results tiles,
                       const MlirValue *onto) {
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  ir_build(body, (ir_op_state){.name = "scf.forall.in_parallel", .region_count = 1, .regions = &region});
  ir_builder in = ir_builder_at_end(s->context, block, s->arena);
  const char *name = "tensor.parallel_insert_slice";
  stream_tiles_slice(s, &in, name, result, (MlirValue[]){tiles.product, onto[0]}, 2, (MlirType){NULL});
  if (ir_is_null(s->weights_store)) return;
  s->block[s->key] = s->trips[s->key];
  stream_tiles_slice(s, &in, name, &s->of_returned, (MlirValue[]){tiles.weights, onto[1]}, 2, (MlirType){NULL});
}

// The operation's result has the elements of its only input, converted or in another order of dims: *result, the
// input's dims, becomes that order. False if it does more.
static bool step_forward(const stream *s, MlirOperation op, stream_frame *result) {
  static const char *const more[] = {"linalg.index", "tensor.extract", "arith.constant"};
  if (!tiling_is_structured(op) || mlirOperationGetNumOperands(op) != 2) return false;
  const int inside = ir_collect(s->arena, op, NULL).size - 1;  // without the operation itself
  bool moves = inside == 1 || (inside == 2 && contains(s->arena, op, "arith.truncf"));
  for (size_t k = 0; k < sizeof more / sizeof *more; k++) moves &= !contains(s->arena, op, more[k]);
  MlirAffineMap read = tiling_map(op, 0), written = tiling_map(op, 1);
  const int rank = result->rank;
  if (!moves || mlirAffineMapGetNumResults(written) != rank || mlirAffineMapGetNumResults(read) != rank) return false;
  stream_frame turned = {.rank = rank};
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
static MlirOperation last_of(const stream *s, stream_frame *result) {
  MlirOperation op = s->product;
  *result = stream_tiles_frame(s, 2);
  for (;;) {
    MlirOpOperand use = mlirValueGetFirstUse(ir_result(op, 0));
    if (mlirOpOperandIsNull(use) || !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use))) return op;
    if (mlirOpOperandGetOperandNumber(use) != 0 || !step_forward(s, mlirOpOperandGetOwner(use), result)) return op;
    op = mlirOpOperandGetOwner(use);
  }
}

static stream_frames frames_of(const stream *s, const stream_frame *weights, const stream_frame *result) {
  stream_frames f = {.rows = stream_tiles_without(weights, s->key)};
  f.rows = stream_tiles_without(&f.rows, s->query);
  f.scores = f.rows;
  stream_tiles_append(&f.rows, s->query);
  stream_tiles_append(&f.scores, s->key);
  stream_tiles_append(&f.scores, s->query);
  f.values = stream_tiles_frame(s, 1 - s->weights);
  f.result = *result;
  f.product = stream_tiles_frame(s, 2);
  f.product = stream_tiles_without(&f.product, s->query);
  stream_tiles_append(&f.product, s->query);
  return f;
}

static MlirOperation stream_product(stream *s) {
  stream_frame written;
  MlirOperation last = last_of(s, &written);
  const stream_frame weights = s->of_scores;
  const stream_frames f = frames_of(s, &weights, &written);
  ir_builder b = ir_builder_before(last, s->arena), body;
  int64_t order[SHAPE_MAX_RANK] = {0};
  for (int d = 0; d < f.scores.rank; d++)
    for (int k = 0; k < weights.rank; k++)
      if (weights.loops[k] == f.scores.loops[d]) order[d] = k;
  turned_values anew = {0};
  MlirValue scores = turned(&anew, &b, s->scores, order);
  const int count = ir_is_null(s->weights_store) ? 1 : 2;
  const MlirValue results[] = {ir_result(last, 0), count == 2 ? ir_operand(s->weights_store, 0) : (MlirValue){NULL}};
  MlirValue whole[2], onto[2];
  for (int k = 0; k < count; k++) whole[k] = ir_value(&b, "tensor.empty", mlirValueGetType(results[k]), 0, NULL);
  MlirOperation forall = begin_forall(s, &b, count, whole, &body);
  MlirBlock block = ir_body(forall, 0);
  for (int k = 0; k < count; k++) onto[k] = mlirBlockGetArgument(block, mlirBlockGetNumArguments(block) - count + k);
  const state at = take_keys(s, &body, &f, scores);
  end_forall(s, &body, &f.result, finished(s, &body, &f, at, scores, onto), onto);
  if (count == 2) mlirOperationSetOperand(s->weights_store, 0, ir_result(forall, 1));
  MlirValue result = ir_result(forall, 0);
  ir_replace(last, &result);
  return forall;
}

// --- what is within the loops

// What the slices are of is computed where they are; of tensors with nothing in them there is no more than the slice.
// Slices of slices are the rows of a tile that stays whole.
static void fuse_producers(const stream *s, MlirOperation forall) {
  arena *a = s->arena;
  const ir_operations all = ir_collect(a, forall, "tensor.extract_slice");
  ir_operations slices = {0};
  for (int k = 0; k < all.size; k++) {
    MlirOperation of = ir_defining_op(ir_operand(all.data[k], 0));
    if (ir_is_null(of) || !ir_is(of, "tensor.extract_slice")) vec_push(a, &slices, all.data[k]);
  }
  for (int k = 0; k < slices.size; k++) {
    if (structured_narrow_empty(a, slices.data[k]) || stream_rows_replace(s, slices.data[k])) continue;
    MlirOperation made = tiling_fuse(slices.data[k]);
    for (int n = 0; !ir_is_null(made) && n < mlirOperationGetNumOperands(made); n++) {
      MlirOperation read = ir_defining_op(ir_operand(made, n));
      if (!ir_is_null(read) && ir_is(read, "tensor.extract_slice")) vec_push(a, &slices, read);
    }
  }
}

// --- the pass

static bool take(lower_context *c, MlirOperation product) {
  const target_description *target = &c->options->target;
  stream s = {.arena = c->scratch, .context = c->context, .product = product, .grid = target->has_grid ? target : NULL};
  s.weights = (int)mlirIntegerAttrGetValueInt(ir_get(product, TILE_ONLINE_SOFTMAX));
  s.number = ir_element_type(ir_result_type(product, 0));
  ir_unset(product, TILE_ONLINE_SOFTMAX);
  if (s.weights > 1 || !find_scores(&s)) return false;
  drop_unit_dims(&s);
  if (!find_roles(&s) || !choose_blocks(&s)) return false;
  fuse_producers(&s, stream_product(&s));
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
  if (!any) return status_ok();
  TRY(lower_tidy(context, unit));
  return lower_licm.run(context, unit);
}

const pass tile_stream_softmax = {
    .name = "iree-codegen-stream-softmax",
    .summary = "products with a softmax take what they sum over block by block",
    .order_reason = "before fusion on tensors, which would hide the pattern",
    .use = PASS_IMPROVES,
    .run = run,
};
