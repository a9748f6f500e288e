// What loops carry but never change needs no memory of its own, nor a copy on the way in. Whether an element is such a
// one follows from its loop's body alone, and bodies may hold loops and calls: callees are looked at first.
#include "plan/forwarding.h"

#include "plan/leaves.h"

typedef struct leaf_sources {
  int count;
  int *sources;
  int *starts;  // of the elements of a tuple
} leaf_sources;

typedef struct finder {
  arena *arena;    // of the results
  arena *scratch;  // of one computation
  ptr_map *found;
  leaf_sources *values;  // by an instruction's mark
} finder;

static void set_starts(finder *f, const shape *s, leaf_sources *v) {
  v->starts = arena_array(f->scratch, int, s->tuple_size);
  for (int k = 0, at = 0; k < s->tuple_size; k++) {
    v->starts[k] = at;
    at += leaves_count(s->elements[k]);
  }
}

static leaf_sources unknown(finder *f, const shape *s) {
  leaf_sources v = {.count = leaves_count(s)};
  v.sources = arena_array(f->scratch, int, v.count);
  for (int k = 0; k < v.count; k++) v.sources[k] = -1;
  return v;
}

static leaf_sources joined(finder *f, const instruction *i, int first) {
  leaf_sources v = {0};
  for (int k = first; k < i->operand_count; k++) v.count += f->values[i->operands[k]->mark].count;
  v.sources = arena_array(f->scratch, int, v.count);
  for (int k = first, at = 0; k < i->operand_count; k++) {
    const leaf_sources *x = &f->values[i->operands[k]->mark];
    memcpy(v.sources + at, x->sources, (size_t)x->count * sizeof *v.sources);
    at += x->count;
  }
  return v;
}

// What the called computation makes of `arguments`.
static leaf_sources through(finder *f, const computation *called, const leaf_sources *arguments) {
  const forwarding *inner = ptr_map_get(f->found, called);
  leaf_sources v = {.count = inner->count, .sources = arena_array(f->scratch, int, inner->count)};
  for (int k = 0; k < v.count; k++) v.sources[k] = inner->sources[k] < 0 ? -1 : arguments->sources[inner->sources[k]];
  return v;
}

static leaf_sources of_loop(finder *f, const instruction *i) {
  const forwarding *body = ptr_map_get(f->found, i->called[1]);
  leaf_sources v = unknown(f, i->shape);
  const leaf_sources *start = &f->values[i->operands[0]->mark];
  for (int k = 0; k < v.count; k++)
    if (body->sources[k] == k) v.sources[k] = start->sources[k];
  return v;
}

static leaf_sources of_instruction(finder *f, const instruction *i, const int *parameter_starts) {
  leaf_sources v;
  switch (i->opcode) {
    case HLO_PARAMETER:
      v = unknown(f, i->shape);
      for (int k = 0; k < v.count; k++) v.sources[k] = parameter_starts[i->attributes->index] + k;
      return v;
    case HLO_TUPLE: return joined(f, i, 0);
    case HLO_GET_TUPLE_ELEMENT: {
      leaf_sources *from = &f->values[i->operands[0]->mark];
      if (!from->starts) set_starts(f, i->operands[0]->shape, from);
      return (leaf_sources){.count = leaves_count(i->shape),
                            .sources = from->sources + from->starts[i->attributes->index]};
    }
    case HLO_BITCAST:
    case HLO_OPT_BARRIER:
    case HLO_ADD_DEPENDENCY: return f->values[i->operands[0]->mark];
    case HLO_WHILE: return of_loop(f, i);
    case HLO_CALL: v = joined(f, i, 0); return through(f, i->called[0], &v);
    default: return unknown(f, i->shape);
  }
}

static heddle_status find_in(finder *f, const computation *c) {
  instruction_list order = {0};
  TRY(computation_post_order(f->scratch, c, &order));
  int *starts = arena_array(f->scratch, int, c->parameters.size);
  for (int k = 0, at = 0; k < c->parameters.size; k++) {
    starts[k] = at;
    at += leaves_count(c->parameters.data[k]->shape);
  }
  f->values = arena_array(f->scratch, leaf_sources, order.size);
  for (int k = 0; k < order.size; k++) {
    order.data[k]->mark = (uint64_t)k;
    f->values[k] = of_instruction(f, order.data[k], starts);
  }
  const leaf_sources *root = &f->values[c->root->mark];
  forwarding *out = arena_new(f->arena, forwarding);
  out->count = root->count;
  out->sources = arena_array(f->arena, int, root->count);
  memcpy(out->sources, root->sources, (size_t)root->count * sizeof *out->sources);
  ptr_map_put(f->arena, f->found, c, out);
  return status_ok();
}

// Computations that run as programs: the entry and what control flow in such ones calls.
static void find_programs(arena *scratch, computation *const *order, int count, const module *m, ptr_map *programs) {
  ptr_map_put(scratch, programs, m->entry, scratch);
  for (int k = count; k-- > 0;) {
    if (!ptr_map_has(programs, order[k])) continue;
    for (int n = 0; n < order[k]->instructions.size; n++) {
      const instruction *i = order[k]->instructions.data[n];
      if (!hlo_op_has(i->opcode, TRAIT_CONTROL)) continue;
      for (int j = 0; j < i->called_count; j++) ptr_map_put(scratch, programs, i->called[j], scratch);
    }
  }
}

heddle_status forwarding_find(arena *a, const module *m, ptr_map *out) {
  arena *scratch = arena_create(), *inner = arena_create();
  finder f = {.arena = a, .scratch = inner, .found = out};
  computation **order = NULL;
  int count = 0;
  heddle_status s = module_call_order(scratch, m, &order, &count);
  ptr_map programs = {0};
  if (status_is_ok(s)) find_programs(scratch, order, count, m, &programs);
  for (int k = 0; k < count && status_is_ok(s); k++) {
    if (!ptr_map_has(&programs, order[k])) continue;
    s = find_in(&f, order[k]);
    arena_reset(inner);
  }
  arena_destroy(inner);
  arena_destroy(scratch);
  return s;
}
