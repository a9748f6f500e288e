// What loops carry but never change needs no memory of its own, nor a copy on the way in. Whether an element is such a
// one follows from its loop's body alone, and bodies may hold loops and calls: callees are looked at first.
#include "lhlo/forwarding.h"

#include "fuse/leaf_flow.h"
#include "fuse/leaves.h"
#include "hlo/program_order.h"

typedef struct finder {
  arena *arena;    // of the results
  leaf_flow flow;  // of one computation: a parameter's leaf by number, or -1
  ptr_map *found;
} finder;

static leaf_numbers numbered(finder *f, const shape *s, int first) {
  leaf_numbers v = {.count = leaves_count(s)};
  v.numbers = arena_array(f->flow.arena, int, v.count);
  for (int k = 0; k < v.count; k++) v.numbers[k] = first < 0 ? -1 : first + k;
  return v;
}

// What the called computation makes of its arguments.
static leaf_numbers of_call(finder *f, const instruction *i) {
  const forwarding *inner = ptr_map_get(f->found, i->called[0]);
  leaf_numbers arguments = leaf_flow_operands(&f->flow, i, 0), v = {.count = inner->count};
  v.numbers = arena_array(f->flow.arena, int, inner->count);
  for (int k = 0; k < v.count; k++) v.numbers[k] = inner->sources[k] < 0 ? -1 : arguments.numbers[inner->sources[k]];
  return v;
}

static leaf_numbers of_loop(finder *f, const instruction *i) {
  const forwarding *body = ptr_map_get(f->found, i->called[1]);
  leaf_numbers v = numbered(f, i->shape, -1);
  const leaf_numbers *start = &f->flow.values[i->operands[0]->mark];
  for (int k = 0; k < v.count; k++)
    if (body->sources[k] == k) v.numbers[k] = start->numbers[k];
  return v;
}

static leaf_numbers of_instruction(finder *f, const instruction *i, const int *parameter_starts) {
  leaf_numbers v;
  if (leaf_flow_name(&f->flow, i, &v)) return v;
  if (i->opcode == HLO_PARAMETER) return numbered(f, i->shape, parameter_starts[i->attributes->index]);
  if (i->opcode == HLO_WHILE) return of_loop(f, i);
  if (i->opcode == HLO_CALL) return of_call(f, i);
  return numbered(f, i->shape, -1);
}

static heddle_status find_in(finder *f, const computation *c) {
  instruction_list order = {0};
  TRY(computation_post_order(f->flow.arena, c, &order));
  int *starts = arena_array(f->flow.arena, int, c->parameters.size);
  for (int k = 0, at = 0; k < c->parameters.size; k++) {
    starts[k] = at;
    at += leaves_count(c->parameters.data[k]->shape);
  }
  f->flow.values = arena_array(f->flow.arena, leaf_numbers, order.size);
  for (int k = 0; k < order.size; k++) {
    order.data[k]->mark = (uint64_t)k;
    f->flow.values[k] = of_instruction(f, order.data[k], starts);
  }
  const leaf_numbers *root = &f->flow.values[c->root->mark];
  forwarding *out = arena_new(f->arena, forwarding);
  out->count = root->count;
  out->sources = arena_array(f->arena, int, root->count);
  if (root->count) memcpy(out->sources, root->numbers, (size_t)root->count * sizeof *out->sources);
  ptr_map_put(f->arena, f->found, c, out);
  return status_ok();
}

heddle_status forwarding_find(arena *a, const module *m, ptr_map *out) {
  arena *scratch = arena_create(), *inner = arena_create();
  finder f = {.arena = a, .flow = {.arena = inner}, .found = out};
  program_list programs = {0};
  heddle_status s = program_order(scratch, m, &programs);
  for (int k = 0; k < programs.size && status_is_ok(s); k++) {
    s = find_in(&f, programs.data[k]);
    arena_reset(inner);
  }
  arena_destroy(inner);
  arena_destroy(scratch);
  return s;
}
