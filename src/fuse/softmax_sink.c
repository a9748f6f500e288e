// The softmax is made twice, from the operations that make it: at the keys, and at the sink, where it has one value for
// each row. Its two reductions join both.
#include "fuse/softmax_sink.h"

#include "fuse/log_softmax.h"
#include "hlo/builder.h"
#include "hlo/combiner.h"
#include "kernel/online_softmax.h"

typedef struct sink {
  arena *arena;
  builder builder;
  online_softmax softmax;
  instruction *slice;        // of the weights, at the keys
  instruction *concatenate;  // of scores and sink
  int dim;                   // along which
  int side;                  // the operand of `concatenate` that the slice keeps
  const shape *of_keys, *of_rows;
  ptr_map seen;  // what is made anew
  ptr_map at_keys, at_sink, at_rows;
} sink;

// --- the pattern

static bool is_elementwise(const instruction *i) {
  return i->operand_count > 0 && i->called_count == 0 &&
         (i->opcode == HLO_COPY || hlo_op_has(i->opcode, TRAIT_ELEMENTWISE));
}

static bool has_all_dims(const sink *s, const instruction *i) {
  return shape_is_array(i->shape) && shape_same_dims(i->shape, s->concatenate->shape);
}

// What gives a value of rows other dims.
static bool is_move(const instruction *i) {
  return i->opcode == HLO_BROADCAST || i->opcode == HLO_RESHAPE || i->opcode == HLO_BITCAST;
}

// A value of rows at all keys: dims in order, without the keys'; or a number.
static bool is_repeated(const sink *s, const instruction *i) {
  const int_list dims = i->attributes->dimensions;
  if (i->opcode != HLO_BROADCAST) return false;
  bool all = dims.size == 0 || dims.size == i->shape->rank - 1;
  for (int k = 0; k < dims.size; k++) all &= dims.data[k] == k + (k >= s->dim);
  return all;
}

static bool is_reduction(const sink *s, const instruction *i) { return i == s->softmax.maximum || i == s->softmax.sum; }

static bool may_take(sink *s, instruction *i);

static bool may_take_operands(sink *s, const instruction *i, int count) {
  bool all = true;
  for (int k = 0; k < count && all; k++) all = may_take(s, i->operands[k]);
  return all;
}

// Whether the instruction, and what it is made of from the scores on, can be made anew.
static bool may_take(sink *s, instruction *i) {
  if (i == s->concatenate || ptr_map_has(&s->seen, i)) return true;
  const bool is_row = !has_all_dims(s, i);
  if (is_row && !is_reduction(s, i) && !is_elementwise(i) && !is_move(i)) return true;  // it stays
  ptr_map_put(s->arena, &s->seen, i, i);
  if (is_reduction(s, i)) return i->attributes->dimensions.data[0] == s->dim && may_take(s, i->operands[0]);
  if (is_repeated(s, i)) return may_take_operands(s, i, 1);
  return (is_elementwise(i) || (is_row && is_move(i))) && may_take_operands(s, i, i->operand_count);
}

// Nobody else reads what is made anew, but for values that were there before.
static bool is_private(const sink *s, const instruction *i) {
  bool all = i->parent->root != i;
  for (int k = 0; k < i->users.size; k++)
    all &= i->users.data[k] == s->slice || ptr_map_has(&s->seen, i->users.data[k]);
  return all;
}

// Whether the slice keeps one of two operands of the concatenate, and the other has one score for each row.
static bool keeps_one(sink *s) {
  const instruction *c = s->concatenate;
  const slice_dim *cut = s->slice->attributes->slice.dims;
  if (c->opcode != HLO_CONCATENATE || c->operand_count != 2 || c->attributes->dimensions.data[0] != s->dim)
    return false;
  const int64_t first = c->operands[0]->shape->dims[s->dim], all = c->shape->dims[s->dim];
  s->side = cut[s->dim].start == 0 ? 0 : 1;
  const int64_t start = s->side == 0 ? 0 : first, limit = s->side == 0 ? first : all;
  return cut[s->dim].start == start && cut[s->dim].limit == limit && c->operands[1 - s->side]->shape->dims[s->dim] == 1;
}

// The only dim that a slice cuts; -1 if there are more, or it leaves out elements in between.
static int cut_dim(const instruction *slice) {
  int dim = -1;
  for (int d = 0; d < slice->shape->rank; d++) {
    const slice_dim *cut = &slice->attributes->slice.dims[d];
    if (cut->stride != 1) return -1;
    if (slice->shape->dims[d] == slice->operands[0]->shape->dims[d]) continue;
    if (dim >= 0) return -1;
    dim = d;
  }
  return dim;
}

static bool match(sink *s) {
  instruction *weights = s->slice->operands[0];
  s->dim = cut_dim(s->slice);
  if (s->dim < 0 || !online_softmax_of_weights(weights, s->dim, &s->softmax)) return false;
  instruction *i = weights;
  while (i->opcode == HLO_DIVIDE || i->opcode == HLO_EXPONENTIAL || i->opcode == HLO_SUBTRACT ||
         i->opcode == HLO_CONVERT || i->opcode == HLO_COPY)
    i = i->operands[0];
  s->concatenate = i;
  if (!shape_same_dims(i->shape, weights->shape) || !keeps_one(s) || !may_take(s, weights)) return false;
  bool all = is_private(s, s->concatenate);
  const instruction_list *of = &s->slice->parent->instructions;
  for (int k = 0; k < of->size && all; k++)
    if (ptr_map_has(&s->seen, of->data[k]) && has_all_dims(s, of->data[k])) all = is_private(s, of->data[k]);
  return all;
}

// --- the softmax anew

static instruction *row_of(sink *s, instruction *i);

static instruction *keep(sink *s, ptr_map *in, const instruction *i, instruction *made) {
  ptr_map_put(s->arena, in, i, made);
  return made;
}

static const shape *as(const sink *s, const instruction *i, const shape *dims) {
  return shape_array(s->builder.arena, i->shape->dtype, dims->rank, dims->dims);
}

// The same operation on other operands.
static instruction *again(const sink *s, const instruction *i, const shape *dims, instruction *const *operands) {
  instruction *made = computation_add_copy(s->builder.computation, i, operands);
  made->shape = as(s, i, dims);
  return made;
}

static instruction *elementwise_again(sink *s, instruction *i, const shape *dims,
                                      instruction *(*operand)(sink *, instruction *)) {
  instruction **operands = arena_array(s->arena, instruction *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) operands[k] = operand(s, i->operands[k]);
  return again(s, i, dims, operands);
}

static instruction *at_keys(sink *s, instruction *i) {
  instruction *made = ptr_map_get(&s->at_keys, i);
  if (made) return made;
  if (i == s->concatenate) return i->operands[s->side];
  if (i->shape->rank == 0) return row_of(s, i);  // select's condition, clamp's bounds
  if (i->opcode != HLO_BROADCAST) return keep(s, &s->at_keys, i, elementwise_again(s, i, s->of_keys, at_keys));
  instruction *row = row_of(s, i->operands[0]);
  return keep(s, &s->at_keys, i, again(s, i, s->of_keys, &row));
}

static instruction *at_sink(sink *s, instruction *i) {
  instruction *made = ptr_map_get(&s->at_sink, i);
  if (made) return made;
  if (i == s->concatenate) {
    made = builder_reshape(&s->builder, i->operands[1 - s->side], s->of_rows->rank, s->of_rows->dims);
  } else if (i->shape->rank == 0) {
    made = row_of(s, i);
  } else if (i->opcode != HLO_BROADCAST) {
    made = elementwise_again(s, i, s->of_rows, at_sink);
  } else {
    made = row_of(s, i->operands[0]);
    if (made->shape->rank == 0) made = builder_broadcast(&s->builder, made, as(s, i, s->of_rows), 0, NULL);
  }
  return keep(s, &s->at_sink, i, made);
}

// A value of each row: the reductions have the sink's, too.
static instruction *row_of(sink *s, instruction *i) {
  instruction *made = ptr_map_get(&s->at_rows, i);
  if (made) return made;
  if (!ptr_map_has(&s->seen, i)) return i;
  if (!is_reduction(s, i)) return keep(s, &s->at_rows, i, elementwise_again(s, i, i->shape, row_of));
  instruction *operands[] = {at_keys(s, i->operands[0]), i->operands[1]};
  instruction *of_keys = computation_add_copy(s->builder.computation, i, operands);
  return keep(s, &s->at_rows, i,
              builder_binary(&s->builder, combiner_opcode(i->called[0]), of_keys, at_sink(s, i->operands[0])));
}

static void replace(sink *s) {
  const shape *all = s->concatenate->shape;
  int64_t dims[SHAPE_MAX_RANK];
  int rank = 0;
  for (int d = 0; d < all->rank; d++)
    if (d != s->dim) dims[rank++] = all->dims[d];
  s->builder = builder_for(s->slice);
  s->of_keys = s->slice->shape;
  s->of_rows = shape_array(s->builder.arena, all->dtype, rank, dims);
  instruction_replace_uses(s->slice, at_keys(s, s->slice->operands[0]));
}

bool softmax_sink_run(computation *c, const target_description *target) {
  bool any = false;
  if (target->codegen != CODEGEN_CHOSEN && target->codegen != CODEGEN_TILES) return false;
  arena *scratch = arena_create();
  for (int k = 0, count = c->instructions.size; k < count; k++) {
    sink s = {.arena = scratch, .slice = c->instructions.data[k]};
    if (s.slice->opcode != HLO_SLICE || !log_softmax_is_for_product(s.slice) || !match(&s)) continue;
    replace(&s);
    any = true;
  }
  arena_destroy(scratch);
  return any;
}
