// Slice sinker: exp(slice(x, 0:8)), exp(slice(x, 2:10)) -> slices of exp(x).
//
// Windows that overlap (stencils, shifted differences) are often sliced first and computed with afterwards. Where the
// same operation is done on slices of the same arrays that together have more elements than the arrays, it is done once
// on the arrays instead. Slices that have no more stay: nothing would be computed less often.
#include "opt/passes.h"

#include "opt/rewrite.h"

// The same operation on slices of the same arrays, each time at other places.
typedef struct sink_group {
  instruction_list members;
  int64_t elements;  // of all members
  struct sink_group *next;
} sink_group;

static bool same_slice(const instruction *l, const instruction *r) {
  if (l->shape->rank != r->shape->rank || !shape_same_dims(l->operands[0]->shape, r->operands[0]->shape)) return false;
  for (int d = 0; d < l->shape->rank; d++) {
    const slice_dim *x = &l->attributes->slice.dims[d], *y = &r->attributes->slice.dims[d];
    if (x->start != y->start || x->limit != y->limit || x->stride != y->stride) return false;
  }
  return true;
}

static bool is_candidate(const instruction *i) {
  if (!hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) || i->operand_count == 0 || !shape_is_array(i->shape)) return false;
  if (i->control_predecessors.size > 0 || !shape_is_static(i->shape)) return false;
  for (int k = 0; k < i->operand_count; k++) {
    const instruction *x = i->operands[k];
    if (x->opcode != HLO_SLICE || !shape_same_dims(x->shape, i->shape) || !same_slice(x, i->operands[0])) return false;
    if (!shape_is_static(x->operands[0]->shape)) return false;
  }
  return true;
}

static uint64_t key_hash(const instruction *i) {
  uint64_t hash = (uint64_t)i->opcode * 31 + (uint64_t)i->shape->dtype;
  for (int k = 0; k < i->operand_count; k++)
    hash = hash * 0x9e3779b97f4a7c15u + (uint64_t)i->operands[k]->operands[0]->id;
  return hash;
}

static bool same_operation(const instruction *l, const instruction *r) {
  if (l->opcode != r->opcode || l->shape->dtype != r->shape->dtype || l->operand_count != r->operand_count)
    return false;
  for (int k = 0; k < l->operand_count; k++)
    if (l->operands[k]->operands[0] != r->operands[k]->operands[0]) return false;
  return attributes_equal(l->attributes, r->attributes);
}

static void sink(const sink_group *group) {
  const instruction *first = group->members.data[0];
  const builder b = builder_for(first);
  instruction **operands = arena_array(b.arena, instruction *, first->operand_count);
  for (int k = 0; k < first->operand_count; k++) operands[k] = first->operands[k]->operands[0];
  const shape *s = shape_with_layout(b.arena, shape_with_dtype(b.arena, operands[0]->shape, first->shape->dtype), NULL);
  instruction *whole = rewrite_with(&b, first, s, operands);
  for (int k = 0; k < group->members.size; k++) {
    instruction *i = group->members.data[k];
    instruction_replace_uses(i, builder_slice(&b, whole, i->operands[0]->attributes->slice.dims));
  }
}

static void add_member(arena *scratch, ptr_map *groups, instruction *i) {
  const void *key = (const void *)(uintptr_t)key_hash(i);  // NOLINT(performance-no-int-to-ptr): keyed by integers
  sink_group *first = ptr_map_get(groups, key), *g = first;
  while (g && !same_operation(g->members.data[0], i)) g = g->next;
  if (!g) {
    g = arena_new(scratch, sink_group);
    g->next = first;
    ptr_map_put(scratch, groups, key, g);
  }
  vec_push(scratch, &g->members, i);
  g->elements += shape_element_count(i->shape);
}

// In the order of the first members, whatever the map's order is.
static void sink_all(pass_context *context, computation *c) {
  arena *scratch = context->scratch;
  ptr_map groups = {0};
  instruction_list candidates = {0};
  for (int k = 0; k < c->instructions.size; k++)
    if (is_candidate(c->instructions.data[k])) vec_push(scratch, &candidates, c->instructions.data[k]);
  for (int k = 0; k < candidates.size; k++) add_member(scratch, &groups, candidates.data[k]);
  for (int k = 0; k < candidates.size; k++) {
    const instruction *i = candidates.data[k];
    const void *key = (const void *)(uintptr_t)key_hash(i);  // NOLINT(performance-no-int-to-ptr)
    const sink_group *g = ptr_map_get(&groups, key);
    while (g && g->members.data[0] != i) g = g->next;
    if (!g || g->members.size == 1 || g->elements <= shape_element_count(i->operands[0]->operands[0]->shape)) continue;
    sink(g);
    context->changed = true;
  }
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  for (int k = 0; k < m->computations.size; k++) sink_all(context, m->computations.data[k]);
  return opt_dead_code.run(context, m);
}

const pass opt_slice_sinker = {
    .name = "slice-sinker",
    .summary = "what is computed on overlapping slices is computed once",
    .order_reason =
        "behind the algebra, which moves slices to what they take, and behind topk-rewriter, which needs them apart",
    .use = PASS_IMPROVES,
    .run = run,
};
