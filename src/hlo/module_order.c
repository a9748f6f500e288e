// Orders: operands before users, callees before callers. Both are depth-first searches with a stack of their own, since
// a program may be a chain of a hundred thousand links.
#include "hlo/module.h"

#include <stdint.h>

typedef enum visit_state { VISIT_NONE, VISIT_OPEN, VISIT_DONE } visit_state;

static visit_state state_of(const ptr_map *states, const void *key) {
  return (visit_state)(intptr_t)ptr_map_get(states, key);
}

static void set_state(arena *a, ptr_map *states, const void *key, visit_state state) {
  ptr_map_put(a, states, key, (void *)(intptr_t)state);  // NOLINT(performance-no-int-to-ptr): maps hold small integers
}

typedef struct instruction_frame {
  instruction *instruction;
  int next;  // of the control predecessors, then of the operands
} instruction_frame;

typedef VEC(instruction_frame) instruction_stack;

static instruction *next_dependency(instruction_frame *frame) {
  instruction *i = frame->instruction;
  int k = frame->next++, controls = i->control_predecessors.size;
  if (k < controls) return i->control_predecessors.data[k];
  return k - controls < i->operand_count ? i->operands[k - controls] : NULL;
}

static bool is_finished(const instruction_frame *frame) {
  const instruction *i = frame->instruction;
  return frame->next >= i->control_predecessors.size + i->operand_count;
}

static heddle_status visit_from(arena *a, arena *scratch, const computation *c, instruction *start, ptr_map *states,
                                instruction_stack *stack, instruction_list *out) {
  if (state_of(states, start) != VISIT_NONE) return status_ok();
  set_state(scratch, states, start, VISIT_OPEN);
  vec_push(scratch, stack, (instruction_frame){start, 0});
  while (stack->size) {
    instruction_frame *frame = &vec_last(stack);
    if (is_finished(frame)) {
      set_state(scratch, states, frame->instruction, VISIT_DONE);
      vec_push(a, out, frame->instruction);
      stack->size--;
      continue;
    }
    instruction *next = next_dependency(frame);
    if (!next || next->parent != c) continue;
    visit_state state = state_of(states, next);
    if (state == VISIT_OPEN)
      return status_at(HEDDLE_INVALID, next->where, "instruction '" STR_FMT "' depends on itself", STR_ARG(next->name));
    if (state == VISIT_DONE) continue;
    set_state(scratch, states, next, VISIT_OPEN);
    vec_push(scratch, stack, (instruction_frame){next, 0});
  }
  return status_ok();
}

heddle_status computation_post_order(arena *a, const computation *c, instruction_list *out) {
  *out = (instruction_list){0};
  arena *scratch = arena_create();
  ptr_map states = {0};
  instruction_stack stack = {0};
  heddle_status status = status_ok();
  for (int k = 0; k < c->instructions.size && status_is_ok(status); k++)
    status = visit_from(a, scratch, c, c->instructions.data[k], &states, &stack, out);
  arena_destroy(scratch);
  return status;
}

heddle_status computation_sort(arena *scratch, computation *c) {
  instruction_list order;
  TRY(computation_post_order(scratch, c, &order));
  for (int k = 0; k < order.size; k++) c->instructions.data[k] = order.data[k];
  return status_ok();
}

typedef struct computation_frame {
  computation *computation;
  int instruction, called;  // the next call to look at
} computation_frame;

typedef VEC(computation_frame) computation_stack;
typedef VEC(computation *) computation_list;

// The next computation called, or null after the last.
static computation *next_callee(computation_frame *frame) {
  const instruction_list *instructions = &frame->computation->instructions;
  for (; frame->instruction < instructions->size; frame->instruction++, frame->called = 0) {
    const instruction *i = instructions->data[frame->instruction];
    if (frame->called < i->called_count) return i->called[frame->called++];
  }
  return NULL;
}

static heddle_status visit_calls(arena *a, arena *scratch, computation *start, ptr_map *states,
                                 computation_stack *stack, computation_list *order) {
  if (state_of(states, start) != VISIT_NONE) return status_ok();
  set_state(scratch, states, start, VISIT_OPEN);
  vec_push(scratch, stack, (computation_frame){start, 0, 0});
  while (stack->size) {
    computation *callee = next_callee(&vec_last(stack));
    if (!callee) {
      computation *done = vec_pop(stack).computation;
      set_state(scratch, states, done, VISIT_DONE);
      vec_push(a, order, done);
      continue;
    }
    visit_state state = state_of(states, callee);
    if (state == VISIT_OPEN)
      return status_at(HEDDLE_INVALID, callee->where, "computation '" STR_FMT "' calls itself", STR_ARG(callee->name));
    if (state == VISIT_DONE) continue;
    set_state(scratch, states, callee, VISIT_OPEN);
    vec_push(scratch, stack, (computation_frame){callee, 0, 0});
  }
  return status_ok();
}

heddle_status module_call_order(arena *a, const module *m, computation ***out, int *count) {
  arena *scratch = arena_create();
  ptr_map states = {0};
  computation_stack stack = {0};
  computation_list order = {0};
  heddle_status status = status_ok();
  for (int k = 0; k < m->computations.size && status_is_ok(status); k++)
    status = visit_calls(a, scratch, m->computations.data[k], &states, &stack, &order);
  arena_destroy(scratch);
  *out = order.data;
  *count = order.size;
  return status;
}

// A walk from the end sees every caller before it decides on a callee.
heddle_status module_remove_uncalled(arena *scratch, module *m, const ptr_map *among) {
  computation **order;
  int count;
  ptr_map called = {0};
  TRY(module_call_order(scratch, m, &order, &count));
  for (int k = count; k-- > 0;) {
    computation *c = order[k];
    if (c != m->entry && !ptr_map_has(&called, c) && (!among || ptr_map_has(among, c))) {
      module_remove_computation(m, c);
      continue;
    }
    for (int n = 0; n < c->instructions.size; n++) {
      const instruction *i = c->instructions.data[n];
      for (int j = 0; j < i->called_count; j++) ptr_map_put(scratch, &called, i->called[j], c);
    }
  }
  return status_ok();
}
