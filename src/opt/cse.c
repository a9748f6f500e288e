// Common subexpressions: an instruction that computes what an earlier one does is replaced by it.
//
// Two instructions are equal when opcode, shape, operands, attributes, value and called computations are; computations
// are equal when their instructions are, one by one in textual order, so that the many copies of (x, y) -> x + y count
// as one. Never merged: what has effects, draws random numbers, runs other programs, or is ordered by control edges;
// barriers, which are there to keep things apart.
#include "hlo/open_size.h"
#include "opt/passes.h"

#include "base/hash.h"
#include "opt/rewrite.h"

// Whatever has been seen with one hash.
typedef struct seen {
  void *what;  // instruction or computation
  struct seen *next;
} seen;

typedef struct cse {
  pass_context *context;
  arena *scratch;
  ptr_map computations;      // computation -> the first one equal to it
  ptr_map computation_seen;  // hash -> seen
  ptr_map instruction_seen;
} cse;

static const void *key_of(uint64_t hash) {
  return (const void *)(uintptr_t)hash;  // NOLINT(performance-no-int-to-ptr): maps are keyed by integers too
}

static void remember(cse *state, ptr_map *map, uint64_t hash, void *what) {
  seen *s = arena_new(state->scratch, seen);
  *s = (seen){what, ptr_map_get(map, key_of(hash))};
  ptr_map_put(state->scratch, map, key_of(hash), s);
}

static const computation *first_like(const cse *state, const computation *c) {
  const computation *first = ptr_map_get(&state->computations, c);
  return first ? first : c;
}

static uint64_t shape_hash(uint64_t hash, const shape *s) {
  hash = hash_mix(hash, (uint64_t)s->dtype);
  for (int d = 0; d < s->rank; d++) hash = hash_mix(hash, (uint64_t)s->dims[d]);
  return hash_mix(hash, (uint64_t)s->tuple_size);
}

enum { HASHED_BYTES = 4096 };  // of a constant

static uint64_t literal_hash(const literal *l) {
  if (!shape_is_array(l->shape)) return 0;
  const int64_t bytes = shape_byte_size(l->shape);
  return str_hash((str){l->data, (size_t)(bytes < HASHED_BYTES ? bytes : HASHED_BYTES)});
}

// All but operands.
static uint64_t own_hash(const cse *state, const instruction *i) {
  uint64_t hash = hash_mix(shape_hash((uint64_t)i->opcode, i->shape), attributes_hash(i->attributes));
  for (int k = 0; k < i->called_count; k++) hash = hash_mix(hash, (uintptr_t)first_like(state, i->called[k]));
  return i->literal ? hash_mix(hash, literal_hash(i->literal)) : hash;
}

static bool equal_but_operands(const cse *state, const instruction *l, const instruction *r) {
  if (l->opcode != r->opcode || l->operand_count != r->operand_count || l->called_count != r->called_count)
    return false;
  for (int k = 0; k < l->called_count; k++)
    if (first_like(state, l->called[k]) != first_like(state, r->called[k])) return false;
  if (!l->literal != !r->literal || (l->literal && !literal_identical(l->literal, r->literal))) return false;
  return shape_equal(l->shape, r->shape) && attributes_equal(l->attributes, r->attributes);
}

// --- computations

// While computations are compared, an instruction's mark is its place in its computation.
static uint64_t computation_hash(const cse *state, computation *c) {
  uint64_t hash = hash_mix((uint64_t)c->instructions.size, (uint64_t)c->parameters.size);
  for (int k = 0; k < c->instructions.size; k++) {
    instruction *i = c->instructions.data[k];
    i->mark = (uint64_t)k;
    hash = hash_mix(hash, own_hash(state, i));
  }
  return hash;
}

static bool computations_equal(const cse *state, const computation *l, const computation *r) {
  if (l->instructions.size != r->instructions.size || l->root->mark != r->root->mark) return false;
  for (int k = 0; k < l->instructions.size; k++) {
    const instruction *x = l->instructions.data[k], *y = r->instructions.data[k];
    if (!equal_but_operands(state, x, y) || x->control_predecessors.size || y->control_predecessors.size) return false;
    for (int j = 0; j < x->operand_count; j++)
      if (x->operands[j]->mark != y->operands[j]->mark) return false;
  }
  return true;
}

static bool has_effects(const computation *c) {
  for (int k = 0; k < c->instructions.size; k++)
    if (hlo_ops[c->instructions.data[k]->opcode].traits & (TRAIT_SIDE_EFFECT | TRAIT_RANDOM | TRAIT_CONTROL))
      return true;
  return false;
}

static void number_computation(cse *state, computation *c) {
  const uint64_t hash = computation_hash(state, c);
  if (has_effects(c)) return;
  for (const seen *s = ptr_map_get(&state->computation_seen, key_of(hash)); s; s = s->next)
    if (computations_equal(state, s->what, c)) {
      ptr_map_put(state->scratch, &state->computations, c, s->what);
      return;
    }
  remember(state, &state->computation_seen, hash, c);
}

// --- instructions

static bool may_merge(const instruction *i) {
  static const unsigned never = TRAIT_SIDE_EFFECT | TRAIT_RANDOM | TRAIT_CONTROL | TRAIT_COLLECTIVE | TRAIT_ASYNC;
  if (open_size_is(i)) return true;
  if (hlo_ops[i->opcode].traits & never || i->attributes->custom_call_has_side_effect) return false;
  switch (i->opcode) {
    case HLO_PARAMETER:
    case HLO_OPT_BARRIER:
    case HLO_ADD_DEPENDENCY:
    case HLO_AFTER_ALL:
    case HLO_DOMAIN: return false;
    case HLO_CONSTANT: return !i->literal->is_elided;
    default: return true;
  }
}

// The greater of two zeros depends on the order.
static bool commutes(const instruction *i) {
  return hlo_op_has(i->opcode, TRAIT_COMMUTES) && i->opcode != HLO_MAXIMUM && i->opcode != HLO_MINIMUM;
}

static uint64_t instruction_hash(const cse *state, const instruction *i) {
  uint64_t hash = own_hash(state, i);
  if (commutes(i)) return hash_mix(hash, (uint64_t)i->operands[0]->id + (uint64_t)i->operands[1]->id);
  for (int k = 0; k < i->operand_count; k++) hash = hash_mix(hash, (uint64_t)i->operands[k]->id);
  return hash;
}

static bool operands_equal(const instruction *l, const instruction *r) {
  if (commutes(l) && l->operands[0] == r->operands[1] && l->operands[1] == r->operands[0]) return true;
  for (int k = 0; k < l->operand_count; k++)
    if (l->operands[k] != r->operands[k]) return false;
  return true;
}

// The earlier instruction that computes the same; null if there is none, and then `i` is the first.
static instruction *earlier(cse *state, instruction *i) {
  const uint64_t hash = instruction_hash(state, i);
  for (const seen *s = ptr_map_get(&state->instruction_seen, key_of(hash)); s; s = s->next) {
    instruction *x = s->what;
    if (x->opcode == i->opcode && x->operand_count == i->operand_count && operands_equal(x, i) &&
        equal_but_operands(state, x, i))
      return x;
  }
  remember(state, &state->instruction_seen, hash, i);
  return NULL;
}

// Callers of equal computations call one. Loops keep bodies of their own, which passes on loops rewrite.
static void share_called(const cse *state, instruction *i) {
  if (i->called_count == 0 || hlo_op_has(i->opcode, TRAIT_CONTROL)) return;
  for (int k = 0; k < i->called_count; k++) {
    computation *first = (computation *)first_like(state, i->called[k]);
    state->context->changed |= first != i->called[k];
    i->called[k] = first;
  }
}

static heddle_status merge(cse *state, computation *c) {
  instruction_list order;
  ptr_map waited_for = {0};
  TRY(computation_post_order(state->scratch, c, &order));
  rewrite_find_waited_for(state->scratch, c, &waited_for);
  state->instruction_seen = (ptr_map){0};
  for (int k = 0; k < order.size; k++) {
    instruction *i = order.data[k];
    share_called(state, i);
    if (!may_merge(i) || i->control_predecessors.size > 0 || ptr_map_has(&waited_for, i)) continue;
    instruction *first = earlier(state, i);
    if (first) rewrite_uses(state->context, i, first);
  }
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  cse state = {.context = context, .scratch = context->scratch};
  computation **order;
  int count = 0;
  TRY(module_call_order(state.scratch, m, &order, &count));
  for (int k = 0; k < count; k++) {
    TRY(merge(&state, order[k]));
    number_computation(&state, order[k]);
  }
  return opt_dead_code.run(context, m);
}

const pass opt_cse = {
    .name = "cse",
    .summary = "what is computed twice is computed once",
    .order_reason =
        "behind folding each time, which makes constants equal, and before invariant code moves: no "
        "two pieces are the same",
    .use = PASS_IMPROVES,
    .run = run,
};
