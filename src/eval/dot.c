// dot: both operands are packed in their compute type as [batch, rows, depth] and [batch, depth, columns], then
// multiplied block by block. Sums are kept in it and round once to the result's type, unless they are short; their
// terms come in order.

#include <string.h>

#include "base/call.h"
#include "eval/elementwise.h"
#include "eval/interpreter.h"
#include "eval/strided.h"

// One operand as a matrix per batch: three groups of its dims, each in the order the result wants.
typedef struct dot_matrices {
  const value *v;
  int rank;  // of the groups together
  int64_t dims[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
  int64_t batch, free, depth;  // products of the groups
} dot_matrices;

static int64_t add_dim(dot_matrices *s, int64_t d) {
  int64_t strides[SHAPE_MAX_RANK];
  shape_strides(s->v->shape, strides);
  s->dims[s->rank] = s->v->shape->dims[d];
  s->strides[s->rank++] = strides[d];
  return s->v->shape->dims[d];
}

static int64_t add_listed(dot_matrices *s, int_list dims) {
  int64_t product = 1;
  for (int k = 0; k < dims.size; k++) product *= add_dim(s, dims.data[k]);
  return product;
}

static int64_t add_free(dot_matrices *s, int_list batch, int_list contracting) {
  int64_t product = 1;
  for (int d = 0; d < s->v->shape->rank; d++)
    if (!int_list_has(batch, d) && !int_list_has(contracting, d)) product *= add_dim(s, d);
  return product;
}

static dot_matrices matrices_of(const value *v, int_list batch, int_list contracting, bool depth_first) {
  dot_matrices s = {.v = v};
  s.batch = add_listed(&s, batch);
  if (depth_first) s.depth = add_listed(&s, contracting);
  s.free = add_free(&s, batch, contracting);
  if (!depth_first) s.depth = add_listed(&s, contracting);
  return s;
}

static dtype_class compute_class(dtype t) {
  dtype_class class = dtypes[t].class;
  return class & (CLASS_FLOAT | CLASS_COMPLEX) ? class : CLASS_INTEGER;
}

// Wide integers become what a float of type `t` holds of them.
static void whole_to_float(dtype from, dtype t, void *block, int64_t count) {
  for (int64_t k = 0; k < count; k++) {
    uint64_t w;
    memcpy(&w, (char *)block + k * 8, sizeof w);
    const double x = dtype_is_signed(from) ? (double)(int64_t)w : (double)w;
    memcpy((char *)block + k * 8, &x, sizeof x);
  }
  compute_round(t, block, count);
}

// The elements in the side's order, in their compute type, as the result's type `to_type` has them. `to` is as large as
// the operand has elements.
static void pack(const dot_matrices *s, dtype to_type, void *to) {
  if (strided_is_empty(s->rank, s->dims)) return;
  const dtype t = s->v->shape->dtype;
  int64_t index[SHAPE_MAX_RANK] = {0}, offsets[COMPUTE_LANES], first = 0;
  bool more = true;
  while (more) {
    int64_t lanes = 0;
    while (more && lanes < COMPUTE_LANES) {
      offsets[lanes++] = strided_offset(s->rank, index, s->strides);
      more = strided_next(s->rank, s->dims, index);
    }
    char *block = (char *)to + first * compute_size(t);
    compute_load_at(t, s->v->data, 0, offsets, lanes, block);
    if (compute_class(t) == CLASS_INTEGER && dtype_is_float(to_type)) whole_to_float(t, to_type, block, lanes);
    first += lanes;
  }
}

// The next partial sum of a product's element.
static inline uint64_t add_integer(uint64_t sum, uint64_t x, uint64_t y) { return sum + x * y; }
static inline double add_float(double sum, double x, double y) { return sum + x * y; }
static inline double complex add_complex(double complex sum, double complex x, double complex y) {
  return sum + compute_product(x, y);
}

// With every step rounded to f32, to which double rounds as f32's own arithmetic would.
static inline double add_short_float(double sum, double x, double y) { return (float)(sum + (float)(x * y)); }

// The sums are volatile because gcc 12, where it makes a vector of the two, leaves out that they are rounded to floats.
static inline double complex add_short_complex(double complex sum, double complex x, double complex y) {
  const float re = (float)((double)(float)(creal(x) * creal(y)) - (float)(cimag(x) * cimag(y)));
  const float im = (float)((double)(float)(creal(x) * cimag(y)) + (float)(cimag(x) * creal(y)));
  const volatile float sums[] = {(float)(creal(sum) + re), (float)(cimag(sum) + im)};
  return compute_complex(sums[0], sums[1]);
}

// The widest vectors of the machine: lanes are elements, so that every sum has the same steps in all of them.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define ON_ANY_MACHINE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ON_ANY_MACHINE
#endif

// A block of a matrix product: sums[column] += Σ left[k] · right[k][column], k rising. Rows of the right matrix lie
// `stride` elements apart.
#define MULTIPLY_ROW(name, type)                                                                             \
  ON_ANY_MACHINE static void row_##name(int64_t depth, int64_t columns, const void *left, const void *right, \
                                        int64_t stride, void *sums) {                                        \
    const type *l = left, *r = right;                                                                        \
    type *s = sums;                                                                                          \
    int64_t k = 0;                                                                                           \
    for (; k + 4 <= depth; k += 4) {                                                                         \
      const type x0 = l[k], x1 = l[k + 1], x2 = l[k + 2], x3 = l[k + 3];                                     \
      const type *y = r + k * stride;                                                                        \
      for (int64_t c = 0; c < columns; c++) {                                                                \
        const type two = add_##name(add_##name(s[c], x0, y[c]), x1, y[stride + c]);                          \
        s[c] = add_##name(add_##name(two, x2, y[2 * stride + c]), x3, y[3 * stride + c]);                    \
      }                                                                                                      \
    }                                                                                                        \
    for (; k < depth; k++)                                                                                   \
      for (int64_t c = 0; c < columns; c++) s[c] = add_##name(s[c], l[k], r[k * stride + c]);                \
  }

MULTIPLY_ROW(integer, uint64_t)
MULTIPLY_ROW(float, double)
MULTIPLY_ROW(complex, double complex)
MULTIPLY_ROW(short_float, double)
MULTIPLY_ROW(short_complex, double complex)

typedef void (*row_fn)(int64_t depth, int64_t columns, const void *left, const void *right, int64_t stride, void *sums);

static row_fn row_of(dtype t, int64_t depth) {
  if (interpreter_sum_rounds(t, depth)) return t == DTYPE_F32 ? row_short_float : row_short_complex;
  if (dtype_is_float(t)) return row_float;
  return dtype_is_complex(t) ? row_complex : row_integer;
}

// Whether elements of type `t` can be summed up in `sum`: in its class, or integers in floats.
static bool may_sum_in(dtype t, dtype sum) {
  return compute_class(t) == compute_class(sum) || (compute_class(t) == CLASS_INTEGER && dtype_is_float(sum));
}

// Rows that share what is read of the right matrix, and the part of it that they read before they go on, which stays in
// a cache.
enum { BLOCK_ROWS = 32, BLOCK_COLUMNS = 512, BLOCK_DEPTH = 64 };

static int64_t smaller(int64_t x, int64_t y) { return x < y ? x : y; }

// Some rows of the left matrix times all of the right one.
static void multiply_rows(row_fn row, int64_t size, int64_t rows, int64_t depth, int64_t columns, const char *left,
                          const char *right, char *sums) {
  memset(sums, 0, (size_t)(rows * columns * size));
  for (int64_t c = 0; c < columns; c += BLOCK_COLUMNS)
    for (int64_t k = 0; k < depth; k += BLOCK_DEPTH)
      for (int64_t m = 0; m < rows; m++)
        row(smaller(depth - k, BLOCK_DEPTH), smaller(columns - c, BLOCK_COLUMNS), left + (m * depth + k) * size,
            right + (k * columns + c) * size, columns, sums + (m * columns + c) * size);
}

// Cut short when the call is over, which whoever runs the instruction asks, too.
static void multiply(interpreter *in, const dot_matrices *l, const dot_matrices *r, const void *left, const void *right,
                     void *sums, value *out) {
  const dtype t = out->shape->dtype;
  const row_fn row = row_of(t, l->depth);
  const int64_t size = compute_size(t);
  for (int64_t b = 0; b < l->batch; b++)
    for (int64_t m = 0; m < l->free && !call_is_over(); m += BLOCK_ROWS) {
      const int64_t rows = smaller(l->free - m, BLOCK_ROWS);
      multiply_rows(row, size, rows, l->depth, r->free, (const char *)left + (b * l->free + m) * l->depth * size,
                    (const char *)right + b * r->free * r->depth * size, sums);
      noise_on_rounding(&in->noise, t, rows * r->free, sums);
      compute_store(t, out->data, (b * l->free + m) * r->free, rows * r->free, sums);
    }
}

static heddle_status create_packed(interpreter *in, const instruction *i, dtype t, int64_t count, value **out) {
  const int64_t words = count * (compute_size(t) / 8);
  const shape s = {.dtype = DTYPE_U64, .rank = 1, .dims = &words};
  TRY(value_create(&in->pool, &s, i->where, out));
  return status_ok();
}

heddle_status eval_dot(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const hlo_attributes *a = i->attributes;
  const dtype t = i->shape->dtype, left = operands[0]->shape->dtype, right = operands[1]->shape->dtype;
  if (!may_sum_in(left, t) || !may_sum_in(right, t))
    return interpreter_refuse(i, "operands of another class than the result");
  if (i->operand_count != 2) return interpreter_refuse(i, "sparse operands");
  const dot_matrices l = matrices_of(operands[0], a->lhs_batch_dims, a->lhs_contracting_dims, false);
  const dot_matrices r = matrices_of(operands[1], a->rhs_batch_dims, a->rhs_contracting_dims, true);
  value *packed[3] = {0}, *result = NULL;
  heddle_status status = create_packed(in, i, t, shape_element_count(operands[0]->shape), &packed[0]);
  if (status_is_ok(status)) status = create_packed(in, i, t, shape_element_count(operands[1]->shape), &packed[1]);
  if (status_is_ok(status)) status = create_packed(in, i, t, smaller(l.free, BLOCK_ROWS) * r.free, &packed[2]);
  if (status_is_ok(status)) status = value_create(&in->pool, i->shape, i->where, &result);
  if (status_is_ok(status)) {
    pack(&l, t, packed[0]->data);
    pack(&r, t, packed[1]->data);
    noise_on_factors(&in->noise, t, t, l.depth, shape_element_count(operands[0]->shape), packed[0]->data);
    noise_on_factors(&in->noise, t, t, l.depth, shape_element_count(operands[1]->shape), packed[1]->data);
    multiply(in, &l, &r, packed[0]->data, packed[1]->data, packed[2]->data, result);
    *out = result;
  }
  for (int k = 0; k < 3; k++) value_release(packed[k]);
  return status;
}
