// Describes the dims of a dot's arrays by strides; neighbouring dims that can be walked with one stride become one dim.
#include "hlo/dot_form.h"

// Dims of one role, walked with at most two strides; those of size 1 say nothing.
typedef struct walk {
  int count;
  int64_t sizes[2], strides[2];  // the outer one first
} walk;

// The walks of an array. One whose elements are all in one place has a count of 0.
typedef struct walks {
  walk batch, rows, columns;
} walks;

// False if the dim needs a stride more than there may be.
static bool add_dim(walk *w, int most, int64_t size, int64_t stride) {
  const int last = w->count - 1;
  if (size == 1) return true;
  if (last >= 0 && w->strides[last] == stride * size) {
    w->sizes[last] *= size;
    w->strides[last] = stride;
    return true;
  }
  if (w->count == most) return false;
  w->sizes[w->count] = size;
  w->strides[w->count++] = stride;
  return true;
}

// Row-major. Dims of arrays without elements say nothing.
static void strides_of(const shape *s, int64_t *sizes, int64_t *strides) {
  const bool is_empty = shape_element_count(s) == 0;
  int64_t stride = 1;
  for (int d = s->rank - 1; d >= 0; d--) {
    sizes[d] = is_empty ? 1 : s->dims[d];
    strides[d] = stride;
    stride *= sizes[d];
  }
}

// Free dims as rows, contracting dims as columns. Strides are those of the view unless it is null.
static bool walk_side(const dot_dims *side, const array_view *view, walks *out) {
  int64_t sizes[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
  *out = (walks){0};
  strides_of(side->shape, sizes, strides);
  for (int d = 0; view && d < view->rank; d++) strides[d] = view->strides[d];
  bool fits = true;
  for (int k = 0; k < side->batch.size; k++)
    fits &= add_dim(&out->batch, 2, sizes[side->batch.data[k]], strides[side->batch.data[k]]);
  for (int k = 0; k < side->depth.size; k++)
    fits &= add_dim(&out->columns, 1, sizes[side->depth.data[k]], strides[side->depth.data[k]]);
  for (int d = 0; d < side->shape->rank; d++)
    if (!int_list_has(side->batch, d) && !int_list_has(side->depth, d))
      fits &= add_dim(&out->rows, 1, sizes[d], strides[d]);
  return fits;
}

// The dot's dims as they lie in the transpose's result.
static bool walk_result(const instruction *dot, const instruction *transpose, int batch, int rows, walks *out) {
  int64_t sizes[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
  int position[SHAPE_MAX_RANK];
  *out = (walks){0};
  strides_of(transpose ? transpose->shape : dot->shape, sizes, strides);
  for (int d = 0; d < dot->shape->rank; d++) position[transpose ? transpose->attributes->dimensions.data[d] : d] = d;
  bool fits = true;
  for (int d = 0; d < dot->shape->rank; d++) {
    walk *w = d < batch ? &out->batch : d < batch + rows ? &out->rows : &out->columns;
    fits &= add_dim(w, d < batch ? 2 : 1, sizes[position[d]], strides[position[d]]);
  }
  return fits;
}

static bool is_unit(const walk *w) { return w->count == 0 || w->strides[0] == 1; }

// Whether libraries read or write the matrix as it is, and its leading stride.
static bool lead(const walk *rows, const walk *columns, int64_t *leading) {
  *leading = rows->count ? rows->strides[0] : columns->count ? columns->sizes[0] : 1;
  return is_unit(columns);
}

// The size of groups that all arrays can be cut into; 0 if there is none.
static int64_t group_of(int count, const walk *const *batches) {
  int64_t group = 0;
  for (int k = 0; k < count; k++) {
    if (batches[k]->count < 2) continue;
    if (group > 0 && group != batches[k]->sizes[1]) return 0;
    group = batches[k]->sizes[1];
  }
  if (group > 0) return group;
  return batches[0]->count ? batches[0]->sizes[0] : 1;
}

static dot_strides strides_in(const walk *batch, int64_t group, int64_t leading, const array_view *view) {
  dot_strides s = {.leading = leading, .offset = view ? view->offset : 0};
  if (batch->count > 0) s.member = batch->strides[batch->count - 1];
  if (batch->count > 0) s.group = batch->count == 2 ? batch->strides[0] : s.member * group;
  return s;
}

static dot_dims side_of(const instruction *dot, int k) {
  const hlo_attributes *x = dot->attributes;
  return (dot_dims){dot->operands[k]->shape, k ? x->rhs_batch_dims : x->lhs_batch_dims,
                    k ? x->rhs_contracting_dims : x->lhs_contracting_dims};
}

static int64_t product(const shape *s, int from, int to) {
  int64_t p = 1;
  for (int d = from; d < to; d++) p *= s->dims[d];
  return p;
}

static int64_t product_of(const shape *s, int_list dims) {
  int64_t p = 1;
  for (int k = 0; k < dims.size; k++) p *= s->dims[dims.data[k]];
  return p;
}

// Whether rows and members follow one another without a gap, from the beginning on.
static bool is_dense(const dot_strides *s, int64_t batch, int64_t rows, int64_t columns) {
  return s->offset == 0 && (rows <= 1 || s->leading == columns) && (batch <= 1 || s->member == rows * columns);
}

// Whether what is shown begins at one place in all runs.
static bool stays(const array_view *view) { return !view || !view->start.value; }

bool dot_form_of(const instruction *dot, const instruction *transpose, const array_view *views, dot_form *out) {
  if (dot->operand_count != 2) return false;
  const dot_dims l = side_of(dot, 0), r = side_of(dot, 1);
  const array_view *at_lhs = views ? &views[0] : NULL, *at_rhs = views ? &views[1] : NULL;
  const int batch = l.batch.size, rows = l.shape->rank - batch - l.depth.size;
  walks x, y, z;
  int64_t leading[3];
  if (!walk_side(&l, at_lhs, &x) || !walk_side(&r, at_rhs, &y) || !walk_result(dot, transpose, batch, rows, &z))
    return false;
  const walk *batches[] = {&x.batch, &y.batch, &z.batch};
  const int64_t group = group_of(3, batches);
  const bool lies_lhs = lead(&x.rows, &x.columns, &leading[0]), lies_rhs = lead(&y.columns, &y.rows, &leading[1]);
  *out = (dot_form){.transpose_lhs = !lies_lhs, .transpose_rhs = !lies_rhs, .group = group};
  if (group == 0 || !lead(&z.rows, &z.columns, &leading[2])) return false;
  if (!lies_lhs && !lead(&x.columns, &x.rows, &leading[0])) return false;
  if (!lies_rhs && !lead(&y.rows, &y.columns, &leading[1])) return false;
  out->batch = product(dot->shape, 0, batch);
  out->m = product(dot->shape, batch, batch + rows);
  out->n = product(dot->shape, batch + rows, dot->shape->rank);
  out->k = product_of(l.shape, l.depth);
  out->lhs = strides_in(&x.batch, group, leading[0], at_lhs);
  out->rhs = strides_in(&y.batch, group, leading[1], at_rhs);
  out->result = strides_in(&z.batch, group, leading[2], NULL);
  const bool is_empty = shape_element_count(l.shape) == 0 || shape_element_count(r.shape) == 0;
  out->is_dense =
      stays(at_lhs) && stays(at_rhs) &&
      (is_empty ||
       (is_dense(&out->lhs, out->batch, lies_lhs ? out->m : out->k, lies_lhs ? out->k : out->m) &&
        is_dense(&out->rhs, out->batch, lies_rhs ? out->k : out->n, lies_rhs ? out->n : out->k) &&
        is_dense(&out->result, out->batch, out->m, out->n) && (out->group == out->batch || out->batch <= 1)));
  return true;
}

bool dot_form_fits(const dot_dims *side) {
  walks x;
  return walk_side(side, NULL, &x) && (is_unit(&x.rows) || is_unit(&x.columns));
}

bool dot_form_fit_together(const dot_dims *lhs, const dot_dims *rhs) {
  walks x, y;
  if (!walk_side(lhs, NULL, &x) || !walk_side(rhs, NULL, &y)) return false;
  const walk *batches[] = {&x.batch, &y.batch};
  return group_of(2, batches) > 0;
}
