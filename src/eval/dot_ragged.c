// ragged-dot and scaled-dot, by way of plain dots.
//
// The rows of a ragged dimension of lhs fall into groups of consecutive ones, whose sizes are an operand. Where the
// dimension is free, each group has a matrix of its own in rhs: there is a dot for each, of which the group's rows are
// kept. Where it is contracted, each group gives a result of its own: a dot of operands with zeros outside the group.
// Rows behind the last group belong to none and give zeros. A ragged batch dimension changes nothing.
#include "eval/interpreter.h"
#include "eval/strided.h"
#include "hlo/ragged_form.h"
#include "hlo/text.h"

typedef struct ragged {
  const instruction *original;
  arena *scratch;
  value *lhs, *rhs;
  ragged_form form;
  int *group_of;  // by prefix (row-major) and row; -1: none
} ragged;

static void find_groups(ragged *r, const value *sizes) {
  const shape *s = sizes->shape;
  const int64_t lists = r->form.groups ? shape_element_count(s) / r->form.groups : 0;
  r->group_of = arena_array(r->scratch, int, (size_t)(lists * r->form.rows));
  for (int64_t list = 0; list < lists; list++) {
    int64_t row = 0;
    for (int64_t g = 0; g < r->form.groups; g++) {
      const int64_t size = value_get_int(sizes, list * r->form.groups + g);
      for (int64_t k = 0; k < size && row < r->form.rows; k++) r->group_of[list * r->form.rows + row++] = (int)g;
    }
    while (row < r->form.rows) r->group_of[list * r->form.rows + row++] = -1;
  }
}

// The group of an element of which `index` has the coordinate of lhs's dim d at places[d].
static int group_at(const ragged *r, const int64_t *index, const int *positions) {
  int64_t list = 0;
  for (int k = 0; k < r->form.prefix_rank; k++)
    list = list * r->lhs->shape->dims[r->form.prefix[k]] + index[positions[r->form.prefix[k]]];
  return r->form.groups ? r->group_of[list * r->form.rows + index[positions[r->form.dim]]] : -1;
}

// A dot of two values under this result shape, with the original's dims; rhs has lost `lost` (-1: nothing).
static heddle_status plain_dot(interpreter *in, const ragged *r, value *lhs, value *rhs, int lost, const shape *s,
                               value **out) {
  instruction dot = *r->original;
  hlo_attributes x = *r->original->attributes;
  int_list *lists[] = {&x.rhs_batch_dims, &x.rhs_contracting_dims};
  for (int l = 0; l < 2; l++) *lists[l] = ragged_form_rhs_dims(r->scratch, *lists[l], lost);
  dot.opcode = HLO_DOT;
  dot.operand_count = 2;
  dot.attributes = &x;
  dot.shape = s;
  return eval_dot(in, &dot, (value *[]){lhs, rhs}, out);
}

// rhs's matrices of one group, without the dim of groups.
static heddle_status take_group(interpreter *in, const ragged *r, int dim, int64_t group, value **out) {
  const shape *from = r->rhs->shape;
  int64_t dims[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK], from_strides[SHAPE_MAX_RANK], dense[SHAPE_MAX_RANK];
  shape_strides(from, from_strides);
  int rank = 0;
  for (int d = 0; d < from->rank; d++) {
    if (d == dim) continue;
    dims[rank] = from->dims[d];
    strides[rank++] = from_strides[d];
  }
  const shape *s = shape_array(r->scratch, from->dtype, rank, dims);
  TRY(value_create(&in->pool, s, r->original->where, out));
  shape_strides(s, dense);
  const int size = dtypes[s->dtype].bytes;
  strided_copy(size, rank, dims, (*out)->data, dense, (const char *)r->rhs->data + group * from_strides[dim] * size,
               strides);
  return status_ok();
}

// Copies the elements that belong to the group.
static void keep_rows(const ragged *r, int64_t group, const value *from, value *to) {
  int positions[SHAPE_MAX_RANK];
  ragged_form_result_positions(r->original, positions);
  const size_t size = (size_t)dtypes[to->shape->dtype].bytes;
  int64_t index[SHAPE_MAX_RANK] = {0}, k = 0;
  if (strided_is_empty(to->shape->rank, to->shape->dims)) return;
  do {
    if (group_at(r, index, positions) == group)
      memcpy((char *)to->data + (size_t)k * size, (const char *)from->data + (size_t)k * size, size);
    k++;
  } while (strided_next(to->shape->rank, to->shape->dims, index));
}

static heddle_status multiply_free(interpreter *in, ragged *r, value *result) {
  const int dim = (int)r->original->attributes->rhs_group_dims.data[0];
  for (int64_t g = 0; g < r->form.groups; g++) {
    value *rhs = NULL, *product = NULL;
    heddle_status status = take_group(in, r, dim, g, &rhs);
    if (status_is_ok(status)) status = plain_dot(in, r, r->lhs, rhs, dim, result->shape, &product);
    if (status_is_ok(status)) keep_rows(r, g, product, result);
    value_release(rhs);
    value_release(product);
    TRY(status);
  }
  return status_ok();
}

// A copy with zeros outside the group. places[d] is the dim of `from` that goes with lhs's dim d.
static heddle_status mask(interpreter *in, const ragged *r, const value *from, const int *positions, int64_t group,
                          value **out) {
  const shape *s = from->shape;
  TRY(value_copy(&in->pool, from, out));
  if (strided_is_empty(s->rank, s->dims)) return status_ok();
  const size_t size = (size_t)dtypes[s->dtype].bytes;
  int64_t index[SHAPE_MAX_RANK] = {0}, k = 0;
  do {
    if (group_at(r, index, positions) != group) memset((char *)(*out)->data + (size_t)k * size, 0, size);
    k++;
  } while (strided_next(s->rank, s->dims, index));
  return status_ok();
}

static heddle_status multiply_contracted(interpreter *in, ragged *r, value *result) {
  int lhs_places[SHAPE_MAX_RANK], rhs_places[SHAPE_MAX_RANK];
  for (int d = 0; d < SHAPE_MAX_RANK; d++) lhs_places[d] = d;
  ragged_form_rhs_positions(r->original, rhs_places);
  const shape *s = shape_array(r->scratch, result->shape->dtype, result->shape->rank - 1, result->shape->dims + 1);
  const size_t bytes = (size_t)shape_byte_size(s);
  for (int64_t g = 0; g < r->form.groups; g++) {
    value *lhs = NULL, *rhs = NULL, *product = NULL;
    heddle_status status = mask(in, r, r->lhs, lhs_places, g, &lhs);
    if (status_is_ok(status)) status = mask(in, r, r->rhs, rhs_places, g, &rhs);
    if (status_is_ok(status)) status = plain_dot(in, r, lhs, rhs, -1, s, &product);
    if (status_is_ok(status)) memcpy((char *)result->data + (size_t)g * bytes, product->data, bytes);
    value_release(lhs);
    value_release(rhs);
    value_release(product);
    TRY(status);
  }
  return status_ok();
}

static heddle_status multiply_groups(interpreter *in, ragged *r, const value *sizes, value *result) {
  memset(result->data, 0, (size_t)shape_byte_size(result->shape));
  find_groups(r, sizes);
  return r->form.kind == RAGGED_CONTRACTED ? multiply_contracted(in, r, result) : multiply_free(in, r, result);
}

heddle_status eval_ragged_dot(interpreter *in, const instruction *i, value *const *operands, value **out) {
  ragged r = {.original = i, .lhs = operands[0], .rhs = operands[1]};
  if (!ragged_form_of(i, &r.form)) return interpreter_refuse(i, "group sizes of this shape");
  r.scratch = arena_create();
  value *result = NULL;
  heddle_status status;
  if (r.form.kind == RAGGED_BATCH) {
    status = plain_dot(in, &r, r.lhs, r.rhs, -1, i->shape, &result);
  } else {
    status = value_create(&in->pool, i->shape, i->where, &result);
    if (status_is_ok(status)) status = multiply_groups(in, &r, operands[2], result);
  }
  arena_destroy(r.scratch);
  if (status_is_ok(status)) *out = result;
  else value_release(result);
  return status;
}

// The operand times its scales, of which each stands for a block: along each dim, as many elements as go into it.
// Double holds the products exactly.
static heddle_status apply_scales(interpreter *in, const instruction *i, const value *v, const value *scales,
                                  arena *scratch, value **out) {
  const shape *s = v->shape;
  bool fits = scales->shape->rank == s->rank || scales->shape->rank == 0;
  for (int d = 0; fits && d < scales->shape->rank; d++)
    fits = scales->shape->dims[d] > 0 ? s->dims[d] % scales->shape->dims[d] == 0 : s->dims[d] == 0;
  if (!fits) return interpreter_refuse(i, "scales of this shape");
  TRY(value_create(&in->pool, shape_array(scratch, DTYPE_F64, s->rank, s->dims), i->where, out));
  if (strided_is_empty(s->rank, s->dims)) return status_ok();
  const literal from = {.shape = s, .data = v->data}, scale = {.shape = scales->shape, .data = scales->data};
  double *to = (*out)->data;
  int64_t strides[SHAPE_MAX_RANK], index[SHAPE_MAX_RANK] = {0}, k = 0;
  shape_strides(scales->shape, strides);
  do {
    int64_t at = 0;
    for (int d = 0; d < scales->shape->rank; d++)
      if (s->dims[d] > 0) at += index[d] * scales->shape->dims[d] / s->dims[d] * strides[d];
    to[k] = literal_get_double(&from, k) * literal_get_double(&scale, at);
    k++;
  } while (strided_next(s->rank, s->dims, index));
  return status_ok();
}

// No rule has checked the shapes: those of the dot inside must fit.
static heddle_status check_dot(const instruction *dot, arena *scratch) {
  const shape *inferred;
  TRY(shape_infer(scratch, dot, &inferred));
  if (shape_same_dims(inferred, dot->shape)) return status_ok();
  return status_at(HEDDLE_INVALID, dot->where, "found the result's shape %s, wanted %s",
                   shape_text(scratch, dot->shape), shape_text(scratch, inferred));
}

heddle_status eval_scaled_dot(interpreter *in, const instruction *i, value *const *operands, value **out) {
  for (int k = 0; k < 4; k++)
    if (!dtype_is_float(operands[k]->shape->dtype)) return interpreter_refuse(i, "operands other than floats");
  if (!dtype_is_float(i->shape->dtype)) return interpreter_refuse(i, "a result other than floats");
  instruction dot = *i;
  dot.opcode = HLO_DOT;
  dot.operand_count = 2;
  arena *scratch = arena_create();
  value *scaled[2] = {0};
  heddle_status status = check_dot(&dot, scratch);
  for (int k = 0; k < 2 && status_is_ok(status); k++)
    status = apply_scales(in, i, operands[k], operands[k + 2], scratch, &scaled[k]);
  if (status_is_ok(status)) status = eval_dot(in, &dot, scaled, out);
  value_release(scaled[0]);
  value_release(scaled[1]);
  arena_destroy(scratch);
  return status;
}
