// The array is [outer, size, inner]. Where inner is more than one, a row of accumulators walks down the dim, a chunk of
// columns at a time. Where it is one, every line is a chain of dependent operations, so several lines are walked side
// by side to keep the machine busy.
#include "lib/cumulative.h"

#include <complex.h>
#include <math.h>
#include <string.h>

#include "base/pool.h"
#include "lib/combine.h"

enum { COLUMNS = 256, LINES = 8, WIDEST = 16, LINE_BYTES = 64, PARALLEL_ELEMENTS = 32 << 10 };

typedef struct cumulative cumulative;
typedef void (*lines_fn)(const cumulative *c, int64_t first, int64_t count);

struct cumulative {
  const lib_array *from, *to;
  int64_t outer, size, inner;
  bool is_reverse;
  combine_fn combine;
  work_type work;
  lines_fn walk;  // lines, for which inner is 1
};

static int64_t position_of_step(const cumulative *c, int64_t step) { return c->is_reverse ? c->size - 1 - step : step; }

// Columns first … first + count - 1 of one outer index.
static void walk_columns(const cumulative *c, int64_t outer, int64_t first, int64_t count) {
  _Alignas(64) char total[COLUMNS * WIDEST];
  _Alignas(64) char here[COLUMNS * WIDEST];
  for (int64_t step = 0; step < c->size; step++) {
    int64_t at = (outer * c->size + position_of_step(c, step)) * c->inner + first;
    work_load(c->work, c->from, at, count, step == 0 ? total : here);
    if (step > 0) c->combine(total, here, count);
    work_store(c->work, total, c->to, at, count);
  }
}

// Lines first … first + count - 1, for which inner is 1: a tile of each is turned so that the lines lie side by side.
static void walk_lines(const cumulative *c, int64_t first, int64_t count) {
  enum { TILE = COLUMNS / LINES };
  const size_t bytes = (size_t)work_size(c->work);
  _Alignas(64) char total[LINES * WIDEST];
  _Alignas(64) char tile[COLUMNS * WIDEST], line[TILE * WIDEST];
  for (int64_t begin = 0; begin < c->size; begin += TILE) {
    int64_t steps = c->size - begin < TILE ? c->size - begin : TILE;
    int64_t low = c->is_reverse ? c->size - begin - steps : begin;
    for (int64_t l = 0; l < count; l++) {
      work_load(c->work, c->from, (first + l) * c->size + low, steps, line);
      for (int64_t k = 0; k < steps; k++)
        memcpy(tile + ((size_t)k * LINES + (size_t)l) * bytes, line + (size_t)k * bytes, bytes);
    }
    for (int64_t k = 0; k < steps; k++) {
      char *here = tile + (size_t)(c->is_reverse ? steps - 1 - k : k) * LINES * bytes;
      if (begin + k > 0) c->combine(total, here, count);
      else memcpy(total, here, (size_t)count * bytes);
      memcpy(here, total, (size_t)count * bytes);
    }
    for (int64_t l = 0; l < count; l++) {
      for (int64_t k = 0; k < steps; k++)
        memcpy(line + (size_t)k * bytes, tile + ((size_t)k * LINES + (size_t)l) * bytes, bytes);
      work_store(c->work, line, c->to, (first + l) * c->size + low, steps);
    }
  }
}

// The common cases, with the totals of the lines in registers. A cache line of each is moved at once: lines often lie a
// multiple of the cache's way apart. Fewer lines than LINES are walked one by one.
#define WALK_LINES(name, type, total_type, first_total, x_op_y)                                                    \
  static inline __attribute__((always_inline)) void name##_of(const cumulative *c, int64_t first, int64_t count) { \
    enum { STEPS = LINE_BYTES / sizeof(type) };                                                                    \
    type tile[LINES][STEPS];                                                                                       \
    total_type totals[LINES];                                                                                      \
    for (int64_t l = 0; l < count; l++) totals[l] = first_total;                                                   \
    for (int64_t begin = 0; begin < c->size; begin += STEPS) {                                                     \
      const int64_t steps = c->size - begin < STEPS ? c->size - begin : STEPS;                                     \
      const int64_t low = c->is_reverse ? c->size - begin - steps : begin;                                         \
      const type *from = (const type *)c->from->data + first * c->size + low;                                      \
      type *to = (type *)c->to->data + first * c->size + low;                                                      \
      for (int64_t l = 0; l < count; l++) memcpy(tile[l], from + l * c->size, (size_t)steps * sizeof(type));       \
      for (int64_t step = 0; step < steps; step++) {                                                               \
        const int64_t k = c->is_reverse ? steps - 1 - step : step;                                                 \
        for (int64_t l = 0; l < count; l++) {                                                                      \
          const total_type x = totals[l], y = (total_type)tile[l][k];                                              \
          totals[l] = x_op_y;                                                                                      \
          tile[l][k] = (type)totals[l];                                                                            \
        }                                                                                                          \
      }                                                                                                            \
      for (int64_t l = 0; l < count; l++) memcpy(to + l * c->size, tile[l], (size_t)steps * sizeof(type));         \
    }                                                                                                              \
  }                                                                                                                \
  static void name(const cumulative *c, int64_t first, int64_t count) {                                            \
    if (count == LINES) name##_of(c, first, LINES);                                                                \
    else                                                                                                           \
      for (int64_t l = 0; l < count; l++) name##_of(c, first + l, 1);                                              \
  }

// NaN stays; 0 is more than -0.
static inline double larger(double x, double y) {
  if (x > y || x != x) return x;
  return x == y && signbit(y) ? x : y;
}

static inline double smaller(double x, double y) {
  if (x < y || x != x) return x;
  return x == y && signbit(x) ? x : y;
}

WALK_LINES(add_lines_f32, float, double, 0, x + y)
WALK_LINES(multiply_lines_f32, float, double, 1, x *y)
WALK_LINES(maximum_lines_f32, float, double, -INFINITY, larger(x, y))
WALK_LINES(minimum_lines_f32, float, double, INFINITY, smaller(x, y))
WALK_LINES(add_lines_u32, uint32_t, uint32_t, 0, x + y)
WALK_LINES(multiply_lines_u32, uint32_t, uint32_t, 1, x *y)
WALK_LINES(maximum_lines_s32, int32_t, int32_t, INT32_MIN, x > y ? x : y)
WALK_LINES(minimum_lines_s32, int32_t, int32_t, INT32_MAX, x < y ? x : y)

static lines_fn lines_fn_of(dtype t, const char *reducer) {
  static const struct {
    dtype type;
    const char *reducer;
    lines_fn walk;
  } rows[] = {
      {DTYPE_F32, "add", add_lines_f32},         {DTYPE_F32, "multiply", multiply_lines_f32},
      {DTYPE_F32, "maximum", maximum_lines_f32}, {DTYPE_F32, "minimum", minimum_lines_f32},
      {DTYPE_S32, "add", add_lines_u32},         {DTYPE_S32, "multiply", multiply_lines_u32},
      {DTYPE_S32, "maximum", maximum_lines_s32}, {DTYPE_S32, "minimum", minimum_lines_s32},
      {DTYPE_U32, "add", add_lines_u32},         {DTYPE_U32, "multiply", multiply_lines_u32},
  };
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (rows[k].type == t && strcmp(rows[k].reducer, reducer) == 0) return rows[k].walk;
  return walk_lines;
}

static void walk_line_range(void *argument, int64_t begin, int64_t end) {
  const cumulative *c = argument;
  for (int64_t group = begin; group < end; group++) {
    int64_t first = group * LINES, left = c->outer - first;
    c->walk(c, first, left < LINES ? left : LINES);
  }
}

static void walk_column_range(void *argument, int64_t begin, int64_t end) {
  const cumulative *c = argument;
  int64_t chunks = (c->inner + COLUMNS - 1) / COLUMNS;
  for (int64_t item = begin; item < end; item++) {
    int64_t first = item % chunks * COLUMNS, left = c->inner - first;
    walk_columns(c, item / chunks, first, left < COLUMNS ? left : COLUMNS);
  }
}

static heddle_status describe(const lib_call *call, cumulative *c) {
  const char *reducer = lib_text(call, "reducer");
  if (call->operand_count != 1 || call->result_count != 1 || !reducer)
    return status_error(HEDDLE_INVALID, "a cumulative operation wants one operand, one result and a reducer");
  const lib_array *from = call->operands, *to = call->results;
  int64_t dim = lib_int(call, "dimension", -1);
  bool same = from->type == to->type && from->rank == to->rank && dim >= 0 && dim < from->rank;
  for (int d = 0; same && d < from->rank; d++) same = from->dims[d] == to->dims[d];
  if (!same) return status_error(HEDDLE_INVALID, "a cumulative operation wants a result like its operand, and its dim");
  *c = (cumulative){.from = from, .to = to, .outer = 1, .size = from->dims[dim], .inner = 1};
  for (int d = 0; d < from->rank; d++) *(d < dim ? &c->outer : &c->inner) *= d == dim ? 1 : from->dims[d];
  c->is_reverse = lib_int(call, "reverse", 0) != 0;
  bool is_double = dtype_is_complex(from->type) ? from->type == DTYPE_C128 : from->type == DTYPE_F64;
  dtype accumulator = is_double || !dtype_is_inexact(from->type) ? from->type
                      : dtype_is_complex(from->type)             ? DTYPE_C128
                                                                 : DTYPE_F64;
  c->combine = combine_find(reducer, accumulator, &c->work);
  c->walk = lines_fn_of(from->type, reducer);
  if (c->combine) return status_ok();
  return status_error(HEDDLE_INVALID, "a cumulative %s of %s is unknown", reducer, dtype_name(from->type));
}

heddle_status cumulative_execute(const lib_call *call) {
  cumulative c = {0};
  TRY(describe(call, &c));
  int64_t elements = c.outer * c.size * c.inner;
  // Threads must not share the bytes of packed arrays.
  int threads = elements < PARALLEL_ELEMENTS || dtypes[c.from->type].bits < 8 ? 1 : call->threads;
  if (elements == 0) return status_ok();
  if (c.inner == 1) pool_run(threads, (c.outer + LINES - 1) / LINES, walk_line_range, &c);
  else pool_run(threads, c.outer * ((c.inner + COLUMNS - 1) / COLUMNS), walk_column_range, &c);
  return status_ok();
}
