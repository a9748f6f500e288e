// Candidates are tried one after the other; each is kept if fewer are left who need a member from outside.
#include "supertile/tile_outputs.h"

#include "supertile/tile_estimate.h"
#include "supertile/tile_in_place.h"

enum { MOST_OUTPUTS = 16, MOST_PROBES = 64, MOST_STORED = 1 << 20 };

// Values behind a member that are looked through for the next that is stored.
enum { MOST_LOOKED_THROUGH = 64 };

// Values behind readers that may be outputs.
enum { MOST_BEHIND = 24 };

bool tile_outputs_are_missing(const tile_group *g) {
  for (int k = 0; k < g->members.size; k++)
    if (g->members.data[k].is_repeated) return true;
  return false;
}

typedef struct output_search {
  tile_search *search;
  tile_group *group;
  int64_t across;
  ptr_map members;
  instruction_list readers;  // stored values outside that need a member
  bool in_place;             // outputs may not take memory of their own
  int probes;
} output_search;

static bool is_open(const output_search *o, const instruction *i) {
  const tile_search *s = o->search;
  return ptr_map_has(&s->orders, i) && !ptr_map_has(&s->dead, i) && !(s->taken && ptr_map_has(s->taken, i));
}

static void add_readers_of(const output_search *o, instruction *member, ptr_map *seen, instruction_list *out) {
  arena *a = o->search->arena;
  instruction_list work = {0};
  vec_push(a, &work, member);
  for (int w = 0; w < work.size && w < MOST_LOOKED_THROUGH; w++) {
    for (int u = 0; u < work.data[w]->users.size; u++) {
      instruction *user = work.data[w]->users.data[u];
      if (ptr_map_has(seen, user) || ptr_map_has(&o->members, user) || ptr_map_has(&o->search->dead, user)) continue;
      ptr_map_put(a, seen, user, user);
      if (plan_steps_stored(o->search->steps, user)) vec_push(a, out, user);
      else vec_push(a, &work, user);
    }
  }
}

// Who needs members from outside, members that are the computation's result not counted.
static void find_readers(output_search *o) {
  arena *a = o->search->arena;
  ptr_map seen = {0};
  o->members = (ptr_map){0};
  o->readers.size = 0;
  for (int k = 0; k < o->group->members.size; k++)
    ptr_map_put(a, &o->members, o->group->members.data[k].instruction, a);
  for (int k = 0; k < o->group->members.size; k++)
    if (o->group->members.data[k].is_repeated)
      add_readers_of(o, o->group->members.data[k].instruction, &seen, &o->readers);
}

static int repeated_count(const tile_group *g) {
  int count = 0;
  for (int k = 0; k < g->members.size; k++) count += g->members.data[k].is_repeated;
  return count;
}

// Whether nothing that the loop leaves takes memory: all of it lies where something lay before.
static bool takes_no_memory(const tile_search *s, const tile_group *g) {
  for (int k = 0; k < g->outputs.size; k++) {
    const tile_output *o = &g->outputs.data[k];
    if (!o->array && plan_steps_is_temporary(s->steps, o->instruction)) return false;
  }
  return true;
}

// The group with one output more, which s->further has then. False: there is none, or it is not what is looked for.
static bool grow_with(output_search *o, instruction *i, int dim, tile_group *grown) {
  tile_search *s = o->search;
  const tile_group *before = o->group;
  if (o->probes >= MOST_PROBES || s->maps->asked >= s->most_asked) return false;
  o->probes++;
  vec_push(s->arena, &s->further, ((tile_output){.instruction = i, .dim = dim}));
  bool found = tile_in_place_grow(s, before->bottom, before->dim, before->tile, MOST_STORED, grown);
  found = found && grown->tile == before->tile && (!o->in_place || takes_no_memory(s, grown));
  if (found) tile_estimate_group(s, grown, o->across);
  else vec_drop(&s->further);
  return found;
}

// Whether the group is better with the output: then it has it.
static bool try_output(output_search *o, instruction *i, int dim) {
  const tile_group before = *o->group;
  const int readers = o->readers.size, repeated = repeated_count(&before);
  tile_group grown;
  if (!grow_with(o, i, dim, &grown)) return false;
  *o->group = grown;
  find_readers(o);
  const bool fewer = o->readers.size < readers || repeated_count(&grown) < repeated;
  if (fewer && grown.more_work <= before.more_work * 1.001) return true;
  vec_drop(&o->search->further);
  *o->group = before;
  find_readers(o);
  return false;
}

typedef bool output_try(output_search *o, instruction *i, int dim);

static bool try_all_dims(output_search *o, instruction *i, output_try *try) {
  const int64_t size = tile_group_dim_size(o->group->bottom, o->group->dim);
  const bool may_be = is_open(o, i) && i->parent == o->group->bottom->parent && region_has_tiles(i) &&
                      i->opcode != HLO_GET_TUPLE_ELEMENT && i->opcode != HLO_CONSTANT;
  if (!may_be || tile_group_output(o->group, i)) return false;
  for (int d = 0; d < tile_group_dims(i, o->search->exact); d++)
    if (tile_group_dim_size(i, d) == size && try(o, i, d)) return true;
  return false;
}

// One of the readers, or of what is made of what they make, the nearest first.
static bool add_behind(output_search *o, output_try *try) {
  arena *a = o->search->arena;
  instruction_list work = {0};
  ptr_map seen = {0};
  for (int k = 0; k < o->readers.size; k++) {
    ptr_map_put(a, &seen, o->readers.data[k], o);
    vec_push(a, &work, o->readers.data[k]);
  }
  for (int w = 0; w < work.size && w < MOST_BEHIND; w++) {
    if (try_all_dims(o, work.data[w], try)) return true;
    add_readers_of(o, work.data[w], &seen, &work);
  }
  return false;
}

static bool add_one(output_search *o, output_try *try) {
  if (o->in_place) return add_behind(o, try);
  const instruction_list readers = o->readers;
  for (int k = 0; k < readers.size; k++)
    if (try_all_dims(o, readers.data[k], try)) return true;
  for (int k = 0; k < o->group->members.size; k++)
    if (o->group->members.data[k].is_repeated && try_all_dims(o, o->group->members.data[k].instruction, try))
      return true;
  return false;
}

// Outputs that the group has go on being asked for.
static void take_outputs(tile_search *s, const tile_group *g) {
  s->further = (tile_output_list){0};
  for (int k = 1; k < g->outputs.size; k++) vec_push(s->arena, &s->further, g->outputs.data[k]);
}

// --- readers of what is written over

// Stored values outside that read what the loop writes over, wherever they run now.
static void find_readers_of_arrays(output_search *o) {
  ptr_map seen = {0};
  find_readers(o);
  o->readers.size = 0;
  for (int k = 0; k < o->group->outputs.size; k++)
    if (o->group->outputs.data[k].array) add_readers_of(o, o->group->outputs.data[k].array, &seen, &o->readers);
}

// Whether the group with the output computes what outsiders read of its arrays, and nothing more twice: then it has it.
static bool try_reader(output_search *o, instruction *i, int dim) {
  tile_search *s = o->search;
  const tile_group before = *o->group;
  const int readers = o->readers.size;
  tile_group grown;
  if (!grow_with(o, i, dim, &grown)) return false;
  *o->group = grown;
  // What the output's producers are needed for besides may be an output, too.
  find_readers(o);
  while (tile_outputs_are_missing(o->group) && s->further.size < MOST_OUTPUTS && add_one(o, try_output)) continue;
  find_readers_of_arrays(o);
  if (o->readers.size < readers && o->group->more_work <= before.more_work * 1.001) return true;
  s->further.size = before.outputs.size - 1;
  *o->group = before;
  find_readers_of_arrays(o);
  return false;
}

bool tile_outputs_add_readers(tile_search *s, tile_group *g, int64_t across) {
  output_search o = {.search = s, .group = g, .across = across, .in_place = true};
  take_outputs(s, g);
  const int before = s->further.size;
  find_readers_of_arrays(&o);
  while (o.readers.size > 0 && s->further.size < MOST_OUTPUTS && add_one(&o, try_reader)) continue;
  return s->further.size > before;
}

bool tile_outputs_add(tile_search *s, tile_group *g, int64_t across) {
  const tile_group before = *g;
  output_search o = {.search = s, .group = g, .across = across};
  take_outputs(s, g);
  find_readers(&o);
  while (tile_outputs_are_missing(g) && s->further.size < MOST_OUTPUTS && add_one(&o, try_output)) continue;
  if (s->further.size > 0 && repeated_count(g) < repeated_count(&before)) return true;
  s->further = (tile_output_list){0};
  *g = before;
  return false;
}
