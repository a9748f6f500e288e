// A value lives from where it is computed to its last user. The order of the body is one that compilers for GPUs stay
// near to: they move what helps latency, not what saves registers. Inputs count from the beginning on, since wide loads
// stand in front of everything else.
#include "kernel/live_values.h"

#include "base/map.h"

static int registers_of(const shape *s) {
  if (shape_is_tuple(s)) {
    int sum = 0;
    for (int k = 0; k < s->tuple_size; k++) sum += registers_of(s->elements[k]);
    return sum;
  }
  return (dtypes[s->dtype].bits + 31) / 32;
}

// Scalars, and what is made of them alone, are found again rather than kept.
static bool is_kept(const instruction *i) {
  if (i->opcode == HLO_PARAMETER) return i->shape->rank > 0;
  if (i->opcode == HLO_TUPLE) return false;
  for (int k = 0; k < i->operand_count; k++)
    if (i->operands[k]->shape->rank > 0 || shape_is_tuple(i->operands[k]->shape)) return true;
  return false;
}

int live_values_registers(arena *scratch, const instruction_list *body) {
  ptr_map last = {0};  // instruction -> number of its last user, plus one; without users it lives to the end
  for (int n = 0; n < body->size; n++)
    for (int k = 0; k < body->data[n]->operand_count; k++)
      ptr_map_put(scratch, &last, body->data[n]->operands[k], (void *)(intptr_t)(n + 1));
  int *dying = arena_array(scratch, int, body->size + 1), live = 0, most = 0;
  for (int n = 0; n < body->size; n++) {
    const instruction *i = body->data[n];
    if (!is_kept(i)) continue;
    const int end = (int)(intptr_t)ptr_map_get(&last, i);
    if (end > 0) dying[end - 1] += registers_of(i->shape);
    if (i->opcode == HLO_PARAMETER) live += registers_of(i->shape);
  }
  for (int n = 0; n < body->size; n++) {
    const instruction *i = body->data[n];
    if (is_kept(i) && i->opcode != HLO_PARAMETER) live += registers_of(i->shape);
    if (live > most) most = live;
    live -= dying[n];
  }
  return most;
}
