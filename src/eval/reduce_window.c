// reduce-window and select-and-scatter. Window elements in padding take no part.
#include "eval/reduce_window.h"
#include "base/heap.h"

#include "eval/interpreter.h"
#include "eval/scalar_program.h"
#include "eval/strided.h"

// Linear place in an array of `s` of window element `k` for result index `at`; -1 if any dim falls outside.
static int64_t window_element(const window *w, const shape *s, const int64_t *strides, const int64_t *at,
                              const int64_t *k) {
  int64_t offset = 0;
  for (int d = 0; d < s->rank; d++) {
    const int64_t source = reduce_window_source(&w->dims[d], at[d], k[d], s->dims[d]);
    if (source < 0) return -1;
    offset += source * strides[d];
  }
  return offset;
}

static void window_sizes(const window *w, int64_t *sizes) {
  for (int d = 0; d < w->rank; d++) sizes[d] = w->dims[d].size;
}

// A reduce-window in progress: lanes are elements of the result.
typedef struct windowing {
  const window *window;
  scalar_program *program;
  int count;  // operands, which are as many as initial values and results
  value *const *operands;
  value *const *inits;
  value **results;
  compute_block *accumulators, *elements, *sums;  // `count` each
  int64_t strides[SHAPE_MAX_RANK];                // of the operands
  int moving_count;                               // dims along which a window has several elements
  int moving[SHAPE_MAX_RANK];
} windowing;

// Some elements of the result.
typedef struct window_lanes {
  int64_t count;
  int64_t at[COMPUTE_LANES][SHAPE_MAX_RANK];
  int64_t base[COMPUTE_LANES];  // place along the dims that do not move; -1 where these leave nothing of the window
} window_lanes;

static void find_moving(windowing *w) {
  shape_strides(w->operands[0]->shape, w->strides);
  for (int d = 0; d < w->window->rank; d++)
    if (w->window->dims[d].size > 1) w->moving[w->moving_count++] = d;
}

static int64_t find_base(const windowing *w, const int64_t *at) {
  const shape *s = w->operands[0]->shape;
  int64_t base = 0;
  for (int d = 0; d < s->rank; d++) {
    if (w->window->dims[d].size > 1) continue;
    const int64_t source = reduce_window_source(&w->window->dims[d], at[d], 0, s->dims[d]);
    if (source < 0) return -1;
    base += source * w->strides[d];
  }
  return base;
}

// Where the lanes that have window element `k` find it. Returns how many those are.
static int64_t find_element(const windowing *w, const window_lanes *l, const int64_t *k, int64_t *offsets,
                            int64_t *lane_of) {
  const shape *s = w->operands[0]->shape;
  int64_t live = 0;
  for (int64_t lane = 0; lane < l->count; lane++) {
    int64_t offset = l->base[lane];
    for (int m = 0; m < w->moving_count && offset >= 0; m++) {
      const int d = w->moving[m];
      const int64_t source = reduce_window_source(&w->window->dims[d], l->at[lane][d], k[d], s->dims[d]);
      offset = source < 0 ? -1 : offset + source * w->strides[d];
    }
    offsets[live] = offset;
    lane_of[live] = lane;
    live += offset >= 0;
  }
  return live;
}

static void pick_lanes(int64_t count, const int64_t *lane_of, size_t size, const void *from, void *to) {
  for (int64_t k = 0; k < count; k++)
    memcpy((char *)to + (size_t)k * size, (char *)from + (size_t)lane_of[k] * size, size);
}

static void put_lanes(int64_t count, const int64_t *lane_of, size_t size, const void *from, void *to) {
  for (int64_t k = 0; k < count; k++)
    memcpy((char *)to + (size_t)lane_of[k] * size, (char *)from + (size_t)k * size, size);
}

// Adds window element `k` to the lanes for which it exists. If those are not all, they are packed at the front, run,
// and put back.
static heddle_status add_window_element(interpreter *in, windowing *w, const window_lanes *l, const int64_t *k) {
  const void *inputs[2 * SHAPE_MAX_RANK];
  void *outputs[SHAPE_MAX_RANK];
  int64_t offsets[COMPUTE_LANES], lane_of[COMPUTE_LANES];
  const int64_t live = find_element(w, l, k, offsets, lane_of);
  const bool are_all = live == l->count;
  if (live == 0) return status_ok();
  for (int j = 0; j < w->count; j++) {
    const dtype t = w->operands[j]->shape->dtype;
    compute_load_at(t, w->operands[j]->data, 0, offsets, live, &w->elements[j]);
    if (!are_all) pick_lanes(live, lane_of, (size_t)compute_size(t), &w->accumulators[j], &w->sums[j]);
    inputs[j] = outputs[j] = are_all ? &w->accumulators[j] : &w->sums[j];
    inputs[w->count + j] = &w->elements[j];
  }
  TRY(scalar_program_run(in, w->program, live, inputs, outputs));
  for (int j = 0; j < w->count && !are_all; j++)
    put_lanes(live, lane_of, (size_t)compute_size(w->operands[j]->shape->dtype), &w->sums[j], &w->accumulators[j]);
  return status_ok();
}

static heddle_status reduce_window_block(interpreter *in, windowing *w, int64_t first, const window_lanes *l) {
  int64_t sizes[SHAPE_MAX_RANK], k[SHAPE_MAX_RANK] = {0};
  window_sizes(w->window, sizes);
  for (int j = 0; j < w->count; j++) {
    const dtype t = w->inits[j]->shape->dtype;
    compute_load(t, w->inits[j]->data, 0, 1, &w->accumulators[j]);
    compute_splat(t, &w->accumulators[j], l->count);
  }
  do {
    TRY(add_window_element(in, w, l, k));
  } while (strided_next(w->window->rank, sizes, k));
  for (int j = 0; j < w->count; j++) {
    const dtype t = w->results[j]->shape->dtype;
    noise_on_rounding(&in->noise, t, l->count, &w->accumulators[j]);
    compute_store(t, w->results[j]->data, first, l->count, &w->accumulators[j]);
  }
  return status_ok();
}

static heddle_status reduce_all_windows(interpreter *in, windowing *w) {
  const shape *to = w->results[0]->shape;
  if (shape_element_count(to) == 0) return status_ok();
  window_lanes *l = heap_try_allocate(sizeof *l);
  if (!l) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for window positions");
  int64_t index[SHAPE_MAX_RANK] = {0}, first = 0;
  heddle_status status = status_ok();
  for (bool more = true; more && status_is_ok(status);) {
    for (l->count = 0; more && l->count < COMPUTE_LANES; l->count++) {
      memcpy(l->at[l->count], index, (size_t)to->rank * sizeof *index);
      l->base[l->count] = find_base(w, index);
      more = strided_next(to->rank, to->dims, index);
    }
    status = reduce_window_block(in, w, first, l);
    first += l->count;
  }
  heap_free(l);
  return status;
}

static heddle_status reduce_window_into(interpreter *in, const instruction *i, windowing *w, value **out) {
  int64_t terms = 1;
  for (int d = 0; d < w->window->rank && terms < INT32_MAX; d++)
    terms *= w->window->dims[d].size < INT32_MAX ? w->window->dims[d].size : INT32_MAX;
  const bool rounds = interpreter_sum_rounds(w->operands[0]->shape->dtype, terms);
  TRY(scalar_program_of(in, i, 0, rounds ? SCALAR_EXACT : SCALAR_WIDE, &w->program));
  if (scalar_program_result_count(w->program) != w->count)
    return interpreter_refuse(i, "a computation with other results");
  for (int k = 0; k < w->count; k++) {
    const shape *s = shape_is_tuple(i->shape) ? i->shape->elements[k] : i->shape;
    TRY(value_create(&in->pool, s, i->where, &w->results[k]));
  }
  find_moving(w);
  TRY(reduce_all_windows(in, w));
  if (shape_is_tuple(i->shape)) return value_create_tuple(&in->pool, i->shape, w->results, i->where, out);
  *out = value_retain(w->results[0]);
  return status_ok();
}

heddle_status eval_reduce_window(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const int count = i->operand_count / 2;
  if (count > SHAPE_MAX_RANK) return interpreter_refuse(i, "more than 64 operands");
  value *results[SHAPE_MAX_RANK] = {0};
  windowing w = {.window = &i->attributes->window, .count = count, .operands = operands, .inits = operands + count};
  w.results = results;
  w.accumulators = heap_try_allocate(3 * (size_t)count * sizeof *w.accumulators);
  if (!w.accumulators) return status_at(HEDDLE_OUT_OF_MEMORY, i->where, "no memory for %d accumulators", count);
  w.elements = w.accumulators + count;
  w.sums = w.elements + count;
  heddle_status status = reduce_window_into(in, i, &w, out);
  for (int k = 0; k < count; k++) value_release(results[k]);
  heap_free(w.accumulators);
  return status;
}

// The element of the window at `at` that wins: the first one, replaced whenever `select` does not hold for it and the
// next.
static heddle_status select_in_window(interpreter *in, scalar_program *select, const window *w, const value *operand,
                                      const int64_t *at, int64_t *winner) {
  const shape *s = operand->shape;
  int64_t sizes[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK], k[SHAPE_MAX_RANK] = {0};
  window_sizes(w, sizes);
  shape_strides(s, strides);
  *winner = -1;
  do {
    const int64_t candidate = window_element(w, s, strides, at, k);
    if (candidate < 0) continue;
    if (*winner < 0) {
      *winner = candidate;
      continue;
    }
    double complex left, right;
    int64_t keep;
    compute_load(s->dtype, operand->data, *winner, 1, &left);
    compute_load(s->dtype, operand->data, candidate, 1, &right);
    TRY(scalar_program_run(in, select, 1, (const void *[]){&left, &right}, (void *[]){&keep}));
    if (!keep) *winner = candidate;
  } while (strided_next(s->rank, sizes, k));
  return status_ok();
}

static heddle_status scatter_selected(interpreter *in, const instruction *i, const value *operand, const value *source,
                                      value *result) {
  scalar_program *select, *scatter;
  TRY(scalar_program_of(in, i, 0, SCALAR_EXACT, &select));
  TRY(scalar_program_of(in, i, 1, SCALAR_EXACT, &scatter));
  const dtype t = source->shape->dtype;
  int64_t at[SHAPE_MAX_RANK] = {0}, number = 0;
  if (shape_element_count(source->shape) == 0) return status_ok();
  do {
    int64_t winner;
    TRY(select_in_window(in, select, &i->attributes->window, operand, at, &winner));
    double complex current, addend;
    compute_load(t, source->data, number++, 1, &addend);
    if (winner < 0) continue;
    compute_load(t, result->data, winner, 1, &current);
    TRY(scalar_program_run(in, scatter, 1, (const void *[]){&current, &addend}, (void *[]){&current}));
    compute_store(t, result->data, winner, 1, &current);
  } while (strided_next(source->shape->rank, source->shape->dims, at));
  return status_ok();
}

heddle_status eval_select_and_scatter(interpreter *in, const instruction *i, value *const *operands, value **out) {
  value *result;
  TRY(value_create(&in->pool, i->shape, i->where, &result));
  int64_t dense[SHAPE_MAX_RANK], still[SHAPE_MAX_RANK] = {0};
  shape_strides(i->shape, dense);
  strided_copy(dtypes[i->shape->dtype].bytes, i->shape->rank, i->shape->dims, result->data, dense, operands[2]->data,
               still);
  heddle_status status = scatter_selected(in, i, operands[0], operands[1], result);
  if (status_is_ok(status)) *out = result;
  else value_release(result);
  return status;
}
