// Sorts arrays together, by keys or by a compiled comparator.
#include "lib/sort.h"
#include "rt/cost.h"
#include "rt/routine.h"
#include "rt/thunk_types.h"

// Simple operations for each element and each halving of its line.
enum { OPERATIONS = 4 };

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  lib_call *call = arena_new(a, lib_call);
  routine_call_make(a, from, context->threads, call);
  const bool has_comparator = from->sort.comparator >= 0;
  if (has_comparator && !context->entries[from->sort.comparator])
    return status_error(HEDDLE_INVALID, "the comparator has no code for the host");
  TRY(sort_call_check(call, has_comparator));
  routine_reserve(t, call, sort_call_scratch(call, has_comparator));
  t->state = call;
  const lib_array *first = &call->operands[0];
  const int64_t elements = lib_element_count(first);
  double steps = 1;
  for (int64_t size = first->dims[from->sort.dimension]; size > 1; size /= 2) steps++;
  t->cost = (double)elements * steps * OPERATIONS / COST_OPERATIONS_PER_SECOND;
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const lib_call call = routine_call_in_scratch(t->state, t, f);
  const int comparator = t->from->sort.comparator;
  sort_call_execute(&call, comparator >= 0 ? f->context->entries[comparator] : NULL);
  return status_ok();
}

const thunk_type thunk_sort = {prepare, execute, NULL};
