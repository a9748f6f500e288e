// Arrays become spans of addresses. Sorted by where they begin, a span overlaps an earlier one if and only if it begins
// before the farthest end so far, so that two ends, that of the results and that of the inputs, are all that is kept.
// Inputs outside of the stretch that holds all results, which are most, are not even sorted.
#include "rt/overlap.h"

#include <stdint.h>
#include <stdlib.h>

enum { STACK_SPANS = 64 };  // more of them lie on the heap

typedef struct span {
  uintptr_t begin, end;
  int device, number;
  bool is_result;
} span;

typedef struct span_list {
  span *spans;
  int count;
  uintptr_t begin, end;  // of the stretch that holds all results
} span_list;

static span span_of(const void *data, int64_t bytes, int device, int number, bool is_result) {
  const uintptr_t begin = (uintptr_t)data;
  return (span){begin, begin + (uintptr_t)bytes, device, number, is_result};
}

static int64_t parameter_bytes(const program *p, const int64_t *bytes, int number) {
  return bytes ? bytes[number] : program_shape_bytes(&p->parameters[number].shape);
}

static int64_t result_bytes(const program *p, const int64_t *bytes, int number) {
  return bytes ? bytes[p->parameter_count + number] : program_shape_bytes(&p->results[number].shape);
}

static void add_results(span_list *l, const program *p, const int64_t *bytes, int device, void *const *outputs) {
  for (int i = 0; i < p->given_result_count; i++) {
    const span s = span_of(outputs[i], result_bytes(p, bytes, i), device, i, true);
    if (s.begin == s.end) continue;
    if (!l->count || s.begin < l->begin) l->begin = s.begin;
    if (!l->count || s.end > l->end) l->end = s.end;
    l->spans[l->count++] = s;
  }
}

static void add_inputs(span_list *l, const program *p, const int *heirs, const int64_t *bytes, int device,
                       const void *const *inputs, void *const *outputs) {
  for (int i = 0; i < p->parameter_count; i++) {
    const span s = span_of(inputs[i], parameter_bytes(p, bytes, i), device, i, false);
    if (s.begin == s.end || s.end <= l->begin || s.begin >= l->end) continue;
    if (heirs[i] < 0 || inputs[i] != outputs[heirs[i]]) l->spans[l->count++] = s;
  }
}

static int compare(const void *a, const void *b) {
  const span *x = a, *y = b;
  return (x->begin > y->begin) - (x->begin < y->begin);
}

static heddle_status shared(const span *a, const span *b) {
  return status_error(HEDDLE_INVALID,
                      "results %d and %d (of devices %d and %d) are given memory that overlaps: each needs its own",
                      a->number, b->number, a->device, b->device);
}

static heddle_status sweep(const span_list *l, bool *reads_results) {
  const span *result = NULL, *input = NULL;  // those that end last
  for (int i = 0; i < l->count; i++) {
    const span *s = &l->spans[i];
    const bool meets_result = result && s->begin < result->end;
    if (s->is_result && meets_result) return shared(result, s);
    if (meets_result || (s->is_result && input && s->begin < input->end)) *reads_results = true;
    const span **last = s->is_result ? &result : &input;
    if (!*last || s->end > (*last)->end) *last = s;
  }
  return status_ok();
}

heddle_status overlap_find(const program *p, const int *heirs, const int64_t *bytes, const void *const *const *inputs,
                           void *const *const *outputs, bool *reads_results) {
  *reads_results = false;
  const size_t most = ((size_t)p->parameter_count + (size_t)p->given_result_count) * (size_t)p->device_count;
  span few[STACK_SPANS];
  span_list l = {.spans = most <= STACK_SPANS ? few : malloc(most * sizeof *l.spans)};
  if (!l.spans) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory to compare the places of %zu arrays", most);
  for (int d = 0; d < p->device_count; d++) add_results(&l, p, bytes, d, outputs[d]);
  for (int d = 0; d < p->device_count && l.count; d++) add_inputs(&l, p, heirs, bytes, d, inputs[d], outputs[d]);
  if (l.count > 1) qsort(l.spans, (size_t)l.count, sizeof *l.spans, compare);
  heddle_status s = sweep(&l, reads_results);
  if (l.spans != few) free(l.spans);
  return s;
}
