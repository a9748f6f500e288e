// Dot canonicalizer: dots become batched matrix products.
//
// A product of matrices takes operands whose rows and depth can be walked with one stride each, one of them 1, and
// whose batch with two (hlo/dot_form.h): libraries read all of these as they are. An operand of another form is
// transposed to [batch dims, rows, depth] or [batch dims, depth, rows], so that its most minor dim stays where it is if
// possible.
//
// The other way around, transposes of operands that have such a form without them, or that bring the result's rows
// behind its columns, are said by dimension numbers instead.
#include "opt/passes.h"

#include "hlo/dot_form.h"
#include "opt/rewrite.h"
#include "opt/worklist.h"

// One operand and its dimension numbers.
typedef struct dimension_numbers {
  instruction *operand;
  int batch_count, depth_count;
  int64_t batch[SHAPE_MAX_RANK], depth[SHAPE_MAX_RANK];
} dimension_numbers;

static dimension_numbers dimension_numbers_of(instruction *operand, int_list batch, int_list depth) {
  dimension_numbers s = {.operand = operand, .batch_count = batch.size, .depth_count = depth.size};
  for (int k = 0; k < batch.size; k++) s.batch[k] = batch.data[k];
  for (int k = 0; k < depth.size; k++) s.depth[k] = depth.data[k];
  return s;
}

static bool has(const int64_t *list, int count, int64_t value) { return int_list_has((int_list){list, count}, value); }

static bool is_free(const dimension_numbers *s, int64_t d) {
  return !has(s->batch, s->batch_count, d) && !has(s->depth, s->depth_count, d);
}

static dot_dims dims_of(const dimension_numbers *s) {
  return (dot_dims){s->operand->shape, {s->batch, s->batch_count}, {s->depth, s->depth_count}};
}

static bool is_matrix(const dimension_numbers *s) {
  const dot_dims dims = dims_of(s);
  return dot_form_fits(&dims);
}

static bool fit_together(const dimension_numbers *l, const dimension_numbers *r) {
  const dot_dims x = dims_of(l), y = dims_of(r);
  return dot_form_fit_together(&x, &y);
}

static instruction *make_dot(const builder *b, const instruction *like, const shape *s, const dimension_numbers *l,
                             const dimension_numbers *r) {
  instruction *dot = rewrite_with(b, like, s, (instruction *[]){l->operand, r->operand});
  const dimension_numbers *sides[] = {l, r};
  int_list *lists[][2] = {{&dot->attributes->lhs_batch_dims, &dot->attributes->lhs_contracting_dims},
                          {&dot->attributes->rhs_batch_dims, &dot->attributes->rhs_contracting_dims}};
  for (int k = 0; k < 2; k++) {
    int64_t *batch = arena_array(b->arena, int64_t, sides[k]->batch_count);
    int64_t *depth = arena_array(b->arena, int64_t, sides[k]->depth_count);
    for (int j = 0; j < sides[k]->batch_count; j++) batch[j] = sides[k]->batch[j];
    for (int j = 0; j < sides[k]->depth_count; j++) depth[j] = sides[k]->depth[j];
    *lists[k][0] = (int_list){batch, sides[k]->batch_count};
    *lists[k][1] = (int_list){depth, sides[k]->depth_count};
  }
  return dot;
}

// --- transposes into dimension numbers

// The side without the transpose that its operand is; false if the free dims would come in another order.
static bool without_transpose(const dimension_numbers *s, dimension_numbers *out) {
  if (s->operand->opcode != HLO_TRANSPOSE) return false;
  const int_list order = s->operand->attributes->dimensions;
  int64_t last = -1;
  *out = *s;
  out->operand = s->operand->operands[0];
  for (int d = 0; d < order.size; d++) {
    if (!is_free(s, d) || s->operand->shape->dims[d] == 1) continue;
    if (order.data[d] < last) return false;
    last = order.data[d];
  }
  for (int k = 0; k < s->batch_count; k++) out->batch[k] = order.data[s->batch[k]];
  for (int k = 0; k < s->depth_count; k++) out->depth[k] = order.data[s->depth[k]];
  return true;
}

// Free dims of size 1 may have moved: the result's dims by name again.
static instruction *with_shape(const builder *b, instruction *dot, const shape *s) {
  builder_infer(b, dot);
  return shape_same_dims(dot->shape, s) ? dot : builder_reshape(b, dot, s->rank, s->dims);
}

static instruction *fold_transposes(const builder *b, instruction *i, const dimension_numbers *l,
                                    const dimension_numbers *r) {
  dimension_numbers x, y;
  bool left = without_transpose(l, &x) && is_matrix(&x), right = without_transpose(r, &y) && is_matrix(&y);
  if (left && right && is_matrix(l) && !fit_together(&x, &y)) left = false;
  if (left && !right && is_matrix(r)) left = fit_together(&x, r);
  if (right && !left && is_matrix(l)) right = fit_together(l, &y);
  if (!left && !right) return NULL;
  return with_shape(b, make_dot(b, i, i->shape, left ? &x : l, right ? &y : r), i->shape);
}

// --- operands that are no matrices

// Contracting pairs in the order of one side's dims.
static void sort_depth(dimension_numbers *by, dimension_numbers *other) {
  for (int k = 1; k < by->depth_count; k++)
    for (int j = k; j > 0 && by->depth[j] < by->depth[j - 1]; j--) {
      const int64_t x = by->depth[j], y = other->depth[j];
      by->depth[j] = by->depth[j - 1];
      by->depth[j - 1] = x;
      other->depth[j] = other->depth[j - 1];
      other->depth[j - 1] = y;
    }
}

// Elements that must be moved.
static int64_t cost_of(const dimension_numbers *l, const dimension_numbers *r) {
  const int64_t left = shape_element_count(l->operand->shape), right = shape_element_count(r->operand->shape);
  const bool moves_left = !is_matrix(l), moves_right = !is_matrix(r);
  if (!moves_left && !moves_right && !fit_together(l, r)) return left < right ? left : right;
  return (moves_left ? left : 0) + (moves_right ? right : 0);
}

enum { SHORT_SUM = 16 };

// Sums of f64 have no room for another order, and those of few terms gain nothing from one.
static bool may_reorder(dtype t, const dimension_numbers *s) {
  int64_t depth = shape_element_count(s->operand->shape) > 0;
  for (int k = 0; k < s->depth_count && depth > 0; k++) depth *= s->operand->shape->dims[s->depth[k]];
  return t != DTYPE_F64 && t != DTYPE_C128 && depth > SHORT_SUM;
}

// The cheapest order of the contracting pairs.
static void order_depth(dtype t, dimension_numbers *l, dimension_numbers *r) {
  const dimension_numbers given[] = {*l, *r};
  if (!may_reorder(t, l)) return;
  for (int way = 0; way < 2; way++) {
    dimension_numbers x = given[0], y = given[1];
    if (way == 0) sort_depth(&x, &y);
    else sort_depth(&y, &x);
    if (cost_of(&x, &y) >= cost_of(l, r)) continue;
    *l = x;
    *r = y;
  }
}

// The operand as [batch, free, depth], or as [batch, depth, free] if its most minor dim is free.
static void make_matrix(const builder *b, dimension_numbers *s) {
  const int rank = s->operand->shape->rank, free_count = rank - s->batch_count - s->depth_count;
  const bool depth_last = !is_free(s, rank - 1);
  const int depth_at = s->batch_count + (depth_last ? free_count : 0);
  int64_t order[SHAPE_MAX_RANK];
  int free_at = s->batch_count + (depth_last ? 0 : s->depth_count);
  for (int d = 0; d < rank; d++)
    if (is_free(s, d)) order[free_at++] = d;
  for (int k = 0; k < s->batch_count; k++) order[k] = s->batch[k];
  for (int k = 0; k < s->depth_count; k++) order[depth_at + k] = s->depth[k];
  s->operand = builder_transpose(b, s->operand, order);
  for (int k = 0; k < s->batch_count; k++) s->batch[k] = k;
  for (int k = 0; k < s->depth_count; k++) s->depth[k] = depth_at + k;
}

static instruction *canonicalize_dot(const builder *b, instruction *i) {
  const hlo_attributes *x = i->attributes;
  if (i->operand_count != 2) return NULL;
  dimension_numbers l = dimension_numbers_of(i->operands[0], x->lhs_batch_dims, x->lhs_contracting_dims);
  dimension_numbers r = dimension_numbers_of(i->operands[1], x->rhs_batch_dims, x->rhs_contracting_dims);
  instruction *folded = fold_transposes(b, i, &l, &r);
  if (folded || cost_of(&l, &r) == 0) return folded;
  order_depth(i->shape->dtype, &l, &r);
  const bool is_left_larger = shape_element_count(l.operand->shape) >= shape_element_count(r.operand->shape);
  if (!is_matrix(&l)) make_matrix(b, &l);
  if (!is_matrix(&r)) make_matrix(b, &r);
  if (!fit_together(&l, &r)) make_matrix(b, is_left_larger ? &r : &l);
  return make_dot(b, i, i->shape, &l, &r);
}

// --- transposed results

// transpose(dot(l, r)) -> transpose(dot(r, l)) where the most minor dim then stays the most minor one: mostly that is
// no transpose at all.
static instruction *exchange_sides(const builder *b, instruction *i) {
  const instruction *dot = i->operands[0];
  if (dot->opcode != HLO_DOT || dot->operand_count != 2 || dot->users.size != 1) return NULL;
  const hlo_attributes *x = dot->attributes;
  if (x->dot_algorithm.size || (x->precision_count > 1 && x->operand_precision[0] != x->operand_precision[1]))
    return NULL;
  const dimension_numbers l = dimension_numbers_of(dot->operands[0], x->lhs_batch_dims, x->lhs_contracting_dims);
  const dimension_numbers r = dimension_numbers_of(dot->operands[1], x->rhs_batch_dims, x->rhs_contracting_dims);
  const int batch = l.batch_count, rows = l.operand->shape->rank - batch - l.depth_count, rank = dot->shape->rank;
  const int columns = rank - batch - rows;
  const int64_t *order = i->attributes->dimensions.data;
  if (rows == 0 || columns == 0 || order[rank - 1] != batch + rows - 1) return NULL;
  int64_t dims[SHAPE_MAX_RANK], positions[SHAPE_MAX_RANK];
  for (int d = 0; d < rank; d++) {
    const int to = d < batch ? d : d < batch + rows ? d + columns : d - rows;
    dims[to] = dot->shape->dims[d];
    positions[d] = to;
  }
  int64_t remaining[SHAPE_MAX_RANK];
  for (int d = 0; d < rank; d++) remaining[d] = positions[order[d]];
  const shape *exchanged = shape_array(b->arena, dot->shape->dtype, rank, dims);
  return builder_transpose(b, make_dot(b, dot, exchanged, &r, &l), remaining);
}

static instruction *canonicalize(const builder *b, instruction *i) {
  if (i->opcode == HLO_DOT) return canonicalize_dot(b, i);
  return i->opcode == HLO_TRANSPOSE ? exchange_sides(b, i) : NULL;
}

static heddle_status run(pass_context *context, void *unit) { return worklist_run(context, unit, canonicalize); }

const pass opt_dot_canonicalizer = {
    .name = "dot-canonicalizer",
    .summary = "dots become batched matrix products",
    .order_reason = "behind all passes that make dots or move what stands around them",
    .use = PASS_NEEDED,
    .run = run,
};
