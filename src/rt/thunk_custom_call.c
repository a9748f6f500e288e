// Calls a function by name: the user's, if there is one of that name, else a routine of lib or a draw of random
// numbers.
#include "lib/external.h"
#include "rt/custom_call_registry.h"
#include "rt/routine.h"
#include "rt/thunk_types.h"

// One of fn and routine is set, or neither for draws.
typedef struct state {
  lib_call call;
  const lib_routine *routine;
  heddle_custom_call_fn fn;
  heddle_custom_call made;  // without arrays
} state;

static const heddle_custom_call_attribute *public_attributes(arena *a, const lib_call *call) {
  static const heddle_attribute_kind kinds[] = {[NAMED_INTS] = HEDDLE_ATTRIBUTE_INTS,
                                                [NAMED_DOUBLE] = HEDDLE_ATTRIBUTE_NUMBER,
                                                [NAMED_TEXT] = HEDDLE_ATTRIBUTE_TEXT};
  heddle_custom_call_attribute *made = arena_array(a, heddle_custom_call_attribute, call->attribute_count);
  for (int k = 0; k < call->attribute_count; k++) {
    const named_attribute *from = &call->attributes[k];
    made[k] = (heddle_custom_call_attribute){.name = from->name,
                                             .kind = kinds[from->kind],
                                             .count = from->count,
                                             .ints = from->ints,
                                             .number = from->number,
                                             .text = from->text};
  }
  return made;
}

static void prepare_users(arena *a, const program_thunk *from, thunk *t) {
  state *s = t->state;
  const int arrays = from->operand_count + from->result_count;
  s->made.struct_size = sizeof s->made;
  s->made.target = from->custom_call.target;
  s->made.operand_count = from->operand_count;
  s->made.result_count = from->result_count;
  s->made.attribute_count = s->call.attribute_count;
  s->made.attributes = public_attributes(a, &s->call);
  routine_reserve(t, &s->call, arrays * (int64_t)sizeof(heddle_custom_call_array));
}

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  state *s = arena_new(a, state);
  routine_call_make(a, from, context->threads, &s->call);
  t->state = s;
  t->has_effects = from->custom_call.has_side_effect;
  if (custom_call_registry_find(s->call.target, &s->fn, &s->made.user)) {
    prepare_users(a, from, t);
    return status_ok();
  }
  if (draw_is_target(s->call.target)) {
    t->has_effects = true;
    t->is_serial = true;
    routine_reserve(t, &s->call, 0);
    return draw_check(s->call.target, &s->call);
  }
  s->routine = lib_find(s->call.target);
  if (!s->routine)
    return status_error(HEDDLE_UNIMPLEMENTED, "the target \"%s\" of a custom call is unknown", s->call.target);
  TRY(external_need_all(s->routine->needs));
  routine_reserve(t, &s->call, s->routine->scratch ? s->routine->scratch(&s->call) : 0);
  return status_ok();
}

static heddle_status execute_users(const state *s, const lib_call *call) {
  heddle_custom_call_array *arrays = call->scratch;
  const int operands = call->operand_count, all = operands + call->result_count;
  for (int k = 0; k < all; k++) {
    const lib_array *from = k < operands ? &call->operands[k] : &call->results[k - operands];
    arrays[k] = (heddle_custom_call_array){dtype_name(from->type), from->rank, from->dims, from->data};
  }
  heddle_custom_call made = s->made;
  made.operands = arrays;
  made.results = arrays + operands;
  return s->fn(&made);
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const state *s = t->state;
  const lib_call call = routine_call_in_scratch(&s->call, t, f);
  if (s->fn) return execute_users(s, &call);
  if (s->routine) return s->routine->call(&call);
  draw_execute(s->call.target, &call, f->draws);
  return status_ok();
}

const thunk_type thunk_custom_call = {prepare, execute, NULL};
