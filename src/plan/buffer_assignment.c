// Allocations, and a place in one of them for every value.
#include "plan/buffer_assignment.h"

static lhlo_allocation allocation_for(arena *a, lhlo_allocation_kind kind, int number, const shape *s) {
  static const char prefixes[] = {[LHLO_PARAMETER] = 'p', [LHLO_RESULT] = 'r', [LHLO_CONSTANT] = 'c'};
  return (lhlo_allocation){.kind = kind,
                           .name = arena_printf(a, "%c%d", prefixes[kind], number),
                           .number = number,
                           .bytes = plan_buffer_bytes(s),
                           .shape = s,
                           .donated_parameter = -1};
}

static void add_allocations(arena *a, buffer_assignment *b) {
  const buffer_values *v = b->values;
  lhlo_allocation *out = arena_array(a, lhlo_allocation, v->parameter_count + v->result_count + v->constants.size + 1);
  b->allocations = out;
  for (int k = 0; k < v->parameter_count; k++) *out++ = allocation_for(a, LHLO_PARAMETER, k, v->parameters[k]);
  for (int k = 0; k < v->result_count; k++) {
    *out = allocation_for(a, LHLO_RESULT, k, v->results[k]);
    out++->donated_parameter = v->donated[k];
  }
  for (int k = 0; k < v->constants.size; k++) {
    *out = allocation_for(a, LHLO_CONSTANT, k, v->constants.data[k].shape);
    out++->value = v->constants.data[k].value;
  }
  if (b->temporary_bytes > 0)
    *out++ =
        (lhlo_allocation){.kind = LHLO_TEMPORARY, .name = "temp", .bytes = b->temporary_bytes, .donated_parameter = -1};
  b->allocation_count = (int)(out - b->allocations);
}

static void find_fixed(arena *a, buffer_assignment *b) {
  buffer_values *v = b->values;
  b->fixed = arena_array(a, int, v->values.size);
  for (int k = 0; k < v->values.size; k++) b->fixed[k] = -1;
  for (int k = 0; k < v->values.size; k++)
    if (v->values.data[k].is_fixed) b->fixed[buffer_place(v, k)] = k;
}

static void place_apart(arena *a, buffer_assignment *b) {
  buffer_values *v = b->values;
  b->offsets = arena_array(a, int64_t, v->values.size);
  for (int k = 0; k < v->values.size; k++) {
    if (buffer_place(v, k) != k || b->fixed[k] >= 0) continue;
    b->offsets[k] = b->temporary_bytes;
    b->temporary_bytes += (v->values.data[k].bytes + BUFFER_ALIGNMENT - 1) / BUFFER_ALIGNMENT * BUFFER_ALIGNMENT;
  }
}

heddle_status buffer_assignment_find(arena *a, buffer_values *v, buffer_assignment *out) {
  *out = (buffer_assignment){.values = v};
  find_fixed(a, out);
  place_apart(a, out);
  add_allocations(a, out);
  return status_ok();
}

lhlo_slice buffer_assignment_slice(const buffer_assignment *b, int value, const shape *s) {
  const buffer_values *v = b->values;
  int place = buffer_place(b->values, value);
  lhlo_slice slice = {.allocation = b->allocation_count - 1, .offset = b->offsets[place], .shape = s};
  if (b->fixed[place] < 0) return slice;
  const buffer_value *fixed = &v->values.data[b->fixed[place]];
  slice.offset = 0;
  slice.allocation = fixed->number;
  if (fixed->kind != LHLO_PARAMETER) slice.allocation += v->parameter_count;
  if (fixed->kind == LHLO_CONSTANT) slice.allocation += v->result_count;
  return slice;
}
