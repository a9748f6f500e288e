// Who reads the array is known from the data flow alone: who does not wait for the loop can run before it.
#include "supertile/tile_in_place.h"

#include "base/int64.h"

// What the externals are computed from, as far back as `from`.
static void find_ancestors(const tile_search *s, const tile_group *g, const instruction *from, ptr_map *out) {
  instruction_list work = {0};
  for (int k = 0; k < g->externals.size; k++) vec_push(s->arena, &work, g->externals.data[k]);
  for (int w = 0; w < work.size; w++) {
    instruction *i = work.data[w];
    if (tile_search_order(s, i) <= tile_search_order(s, from) || ptr_map_has(out, i)) continue;
    ptr_map_put(s->arena, out, i, i);
    for (int k = 0; k < i->operand_count; k++) vec_push(s->arena, &work, i->operands[k]);
  }
}

// What needs an output, wherever it stands.
static void find_descendants(const tile_search *s, const tile_group *g, ptr_map *out) {
  instruction_list work = {0};
  for (int k = 0; k < g->outputs.size; k++) vec_push(s->arena, &work, g->outputs.data[k].instruction);
  for (int w = 0; w < work.size; w++) {
    const instruction_list users = work.data[w]->users;
    for (int u = 0; u < users.size; u++) {
      if (ptr_map_has(out, users.data[u])) continue;
      ptr_map_put(s->arena, out, users.data[u], users.data[u]);
      vec_push(s->arena, &work, users.data[u]);
    }
  }
}

static bool is_among(const ptr_map *set, const tile_search *s, const instruction *i) {
  return ptr_map_has(set, i) || ptr_map_has(&s->dead, i);
}

// Whether somebody outside reads what the instruction has computed there. `gone` are members that only the loop
// computes.
static bool is_read_outside(const tile_search *s, const ptr_map *gone, const instruction *i) {
  for (int u = 0; u < i->users.size; u++)
    if (!is_among(gone, s, i->users.data[u])) return true;
  return i == i->parent->root || i->control_predecessors.size > 0;
}

// Whether the instruction is done with what it reads when it has run: what no step stores is computed by its readers.
static bool runs_apart(const tile_search *s, const instruction *i) {
  return hlo_op_has(i->opcode, TRAIT_CONTROL) || plan_steps_of(s->steps, i);
}

// Whether the tuple is what loops begin with that run before, and that leave nothing of the array behind.
static bool is_read_by_loops(const ptr_map *ancestors, const instruction *tuple, const instruction *array) {
  for (int u = 0; u < tuple->users.size; u++) {
    const instruction *loop = tuple->users.data[u];
    if (loop->opcode != HLO_WHILE || !ptr_map_has(ancestors, loop)) return false;
    for (int k = 0; k < loop->users.size; k++) {
      const instruction *x = loop->users.data[k];
      if (x->opcode != HLO_GET_TUPLE_ELEMENT) return false;
      if (tuple->operands[x->attributes->index] == array && x->users.size > 0) return false;
    }
  }
  return tuple->opcode == HLO_TUPLE;
}

static bool is_external(const tile_group *g, const instruction *i) {
  for (int k = 0; k < g->externals.size; k++)
    if (g->externals.data[k] == i) return true;
  return false;
}

// What a user of the array, or of what is made of it without a step, means for a loop that writes over the array.
typedef enum reading {
  READS_BEFORE,  // it reads before the loop runs
  READS_BEHIND,  // … or it may not
  HANDS_ON,      // its own users are to be asked
} reading;

typedef struct array_readers {
  const tile_search *search;
  const tile_group *group;
  const ptr_map *gone;
  const instruction *array;
  ptr_map related;  // what the loop is computed from, or what needs it
} array_readers;

static bool none_reads_behind(const array_readers *r, reading (*ask)(const array_readers *r, const instruction *user)) {
  arena *a = r->search->arena;
  ptr_map seen = {0};
  instruction_list work = {0};
  vec_push(a, &work, (instruction *)r->array);
  for (int w = 0; w < work.size; w++) {
    const instruction *x = work.data[w];
    if (x == x->parent->root || x->control_predecessors.size > 0) return false;
    for (int u = 0; u < x->users.size; u++) {
      instruction *user = x->users.data[u];
      if (is_among(r->gone, r->search, user) || ptr_map_has(&seen, user)) continue;
      ptr_map_put(a, &seen, user, user);
      const reading when = ask(r, user);
      if (when == READS_BEHIND) return false;
      if (when == HANDS_ON) vec_push(a, &work, user);
    }
  }
  return true;
}

// Those whose steps give what the loop reads run before it. What the loop reads and no step gives may be another name
// for a part of the array.
static reading reading_as_ancestor(const array_readers *r, const instruction *user) {
  const bool is_before = ptr_map_has(&r->related, user);
  if (is_before && (plan_steps_of(r->search->steps, user) || is_read_by_loops(&r->related, user, r->array)))
    return READS_BEFORE;
  return runs_apart(r->search, user) || is_external(r->group, user) ? READS_BEHIND : HANDS_ON;
}

// Whoever does not need what a loop writes to a donated parameter can run before it, and is made to (lhlo/schedule.c).
static reading reading_unless_descendant(const array_readers *r, const instruction *user) {
  if (ptr_map_has(&r->related, user)) return READS_BEHIND;
  return runs_apart(r->search, user) ? READS_BEFORE : HANDS_ON;
}

// Whether nobody reads the array behind the loop.
static bool is_last_read(const tile_search *s, const tile_group *g, const ptr_map *gone, const instruction *array) {
  array_readers r = {s, g, gone, array, {0}};
  find_ancestors(s, g, array, &r.related);
  return none_reads_behind(&r, reading_as_ancestor);
}

// Whether nobody has to read the donated parameter behind the loop.
static bool may_be_last_read(const tile_search *s, const tile_group *g, const ptr_map *gone, const instruction *array) {
  array_readers r = {s, g, gone, array, {0}};
  find_descendants(s, g, &r.related);
  return none_reads_behind(&r, reading_unless_descendant);
}

// --- what a turn reads

// Where the loop may write an output: all of the array, or from a place on where the output is put into it.
typedef struct target {
  const tile_output *output;
  instruction *array, *update;
  bool is_known;                   // the place
  int64_t starts[SHAPE_MAX_RANK];  // the place, of whole arrays 0
} target;

static target target_of_update(const tile_output *o, instruction *update) {
  target t = {.output = o, .array = update->operands[0], .update = update, .is_known = true};
  for (int d = 0; d < update->shape->rank; d++) {
    const int64_t most = update->shape->dims[d] - update->operands[1]->shape->dims[d];
    const instruction *start = update->operands[d + 2];
    if (most == 0) continue;
    if (start->opcode == HLO_CONSTANT) t.starts[d] = int64_clamp(0, literal_get_int(start->literal, 0), most);
    else t.is_known = false;
  }
  return t;
}

// What a turn writes of the array.
static region written_by(tile_search *s, const tile_group *g, const target *t) {
  region r = region_copy(s->arena, &g->members.data[t->output->member].region);
  for (int d = 0; d < r.rank; d++) r.dims[d].base += t->starts[d];
  return r;
}

// Whether a turn copies, of rows that it keeps, those alone that no turn before it has written.
static bool is_ahead(const tile_member *m, int dim, const region *written) {
  const region_dim *rows = &m->computed.dims[dim];
  return m->carry_dim == dim && rows->step == written->dims[dim].step && rows->base >= written->dims[dim].base;
}

enum { MOST_DEPTH_OF_PLACE = 8 };

static bool is_plain_arithmetic(hlo_opcode opcode) {
  switch (opcode) {
    case HLO_ADD:
    case HLO_SUBTRACT:
    case HLO_MULTIPLY:
    case HLO_MAXIMUM:
    case HLO_MINIMUM:
    case HLO_CLAMP:
    case HLO_CONVERT: return true;
    default: return false;
  }
}

// Whether two scalars are computed alike, of the same values.
static bool is_same_scalar(const instruction *l, const instruction *r, int depth) {
  if (l == r) return true;
  if (l->opcode != r->opcode || !shape_equal(l->shape, r->shape) || depth > MOST_DEPTH_OF_PLACE) return false;
  if (l->opcode == HLO_CONSTANT) return literal_identical(l->literal, r->literal);
  if (l->opcode == HLO_GET_TUPLE_ELEMENT)
    return l->attributes->index == r->attributes->index && l->operands[0] == r->operands[0];
  if (!is_plain_arithmetic(l->opcode)) return false;
  for (int k = 0; k < l->operand_count; k++)
    if (!is_same_scalar(l->operands[k], r->operands[k], depth + 1)) return false;
  return true;
}

// Whether the instruction is what lies in the array where the output is put: its elements are in the output's places.
static bool is_slice_at_target(const instruction *i, const target *t) {
  const instruction *update = t->update;
  if (!update || i->opcode != HLO_DYNAMIC_SLICE || !shape_same_dims(i->shape, update->operands[1]->shape)) return false;
  for (int d = 0; d < i->shape->rank; d++) {
    const bool is_whole = i->shape->dims[d] == update->shape->dims[d];
    if (!is_whole && !is_same_scalar(i->operands[d + 1], update->operands[d + 2], 0)) return false;
  }
  return true;
}

// Whether each turn reads of the array what it then writes of the output, and nothing else but rows that are copied.
static bool is_read_where_written(tile_search *s, const tile_group *g, const target *t) {
  const region written = written_by(s, g, t);
  for (int k = 0; k < g->members.size; k++) {
    const tile_member *m = &g->members.data[k];
    if (m->is_copied && m->instruction == t->array && (!t->is_known || !is_ahead(m, t->output->dim, &written)))
      return false;
    for (int o = 0; o < m->instruction->operand_count && !m->is_copied; o++) {
      region in;
      if (m->instruction->operands[o] != t->array) continue;
      if (m->operands[o] >= 0 && g->members.data[m->operands[o]].is_copied) continue;
      const region *at_target = &g->members.data[t->output->member].region;
      if (m->operands[o] < 0 && is_slice_at_target(m->instruction, t) && region_equal(&m->computed, at_target))
        continue;
      if (!t->is_known || m->operands[o] >= 0) return false;
      if (tile_group_operand(s, g, m, g->inside, o, &in) != REGION_FOUND) return false;
      if (!region_equal(&in, &written)) return false;
    }
  }
  return true;
}

// --- which array

// What turns of a loop, of the program or over tiles, write on.
static bool is_written_on(const instruction *state, const instruction *result) {
  const computation *c = result->parent;
  if (state->opcode != HLO_GET_TUPLE_ELEMENT || c == c->module->entry || c->parameters.size != 1) return false;
  const int64_t number = state->attributes->index;
  return state->operands[0] == c->parameters.data[0] && c->root->opcode == HLO_TUPLE &&
         number < c->root->operand_count && c->root->operands[number] == result;
}

// A donated parameter's memory is that of one result, and a loop's state that of what the next turn finds there.
static bool may_be_written(const tile_search *s, const instruction *i, const instruction *result) {
  if (i->opcode == HLO_PARAMETER) return ptr_map_get(&s->donated, i) == result;
  if (is_written_on(i, result)) return true;
  const bool is_name = i->opcode == HLO_GET_TUPLE_ELEMENT && i->operands[0]->opcode == HLO_PARAMETER;
  return i->opcode != HLO_CONSTANT && i->opcode != HLO_BITCAST && !is_name && plan_steps_is_temporary(s->steps, i);
}

// Whether the caller has given a parameter's memory for the result.
static bool is_donated_to(const tile_search *s, const instruction *result) {
  const instruction_list *all = &result->parent->parameters;
  for (int k = 0; k < all->size; k++)
    if (ptr_map_get(&s->donated, all->data[k]) == result) return true;
  return false;
}

// Whether the loop may write there as far as others are concerned.
static bool is_free(const tile_search *s, const tile_group *g, const ptr_map *gone, const target *t) {
  const instruction *result = t->update ? t->update : t->output->instruction;
  const bool is_donated = is_donated_to(s, result);
  if (is_donated && t->array->opcode != HLO_PARAMETER) return false;  // it would have to be copied behind the loop
  if (!may_be_written(s, t->array, result)) return false;
  if (!is_read_outside(s, gone, t->array) || is_last_read(s, g, gone, t->array)) return true;
  return is_donated && may_be_last_read(s, g, gone, t->array);
}

// What puts the output, which nobody else reads, into an array; null: nothing does.
static instruction *update_of(const tile_search *s, const instruction *output) {
  instruction *update = NULL;
  for (int u = 0; u < output->users.size; u++) {
    if (ptr_map_has(&s->dead, output->users.data[u])) continue;
    if (update) return NULL;
    update = output->users.data[u];
  }
  const bool is_apart = output == output->parent->root || output->control_predecessors.size > 0;
  if (is_apart || !update || update->opcode != HLO_DYNAMIC_UPDATE_SLICE || update->operands[0] == output) return NULL;
  return update->operands[1] == output && update->control_predecessors.size == 0 ? update : NULL;
}

typedef VEC(target) target_list;

// All arrays that the output might be written to, of which no other output is.
static target_list find_targets(const tile_search *s, const tile_group *g, const tile_output *o) {
  target_list all = {0};
  const shape *wanted = o->instruction->shape;
  if (o->is_sum || !shape_is_array(wanted)) return all;
  // Of several outputs the array might be made of another.
  instruction *update = g->outputs.size == 1 ? update_of(s, o->instruction) : NULL;
  if (update && !tile_group_over(g, update->operands[0])) vec_push(s->arena, &all, target_of_update(o, update));
  for (int k = 0; k < g->externals.size; k++) {
    instruction *x = g->externals.data[k];
    const bool is_alike = shape_is_array(x->shape) && x->shape->dtype == wanted->dtype;
    if (is_alike && shape_same_dims(x->shape, wanted) && !tile_group_over(g, x))
      vec_push(s->arena, &all, ((target){.output = o, .array = x, .is_known = true}));
  }
  return all;
}

// What is there no more when the loop is: members that it alone needs, and the update whose place it takes.
static ptr_map find_gone(const tile_search *s, const tile_group *g, const target *t) {
  ptr_map gone = {0};
  if (t->update) ptr_map_put(s->arena, &gone, t->update, s->arena);
  for (int k = 0; k < g->members.size; k++) {
    const tile_member *m = &g->members.data[k];
    if (m->is_copied) continue;
    if (tile_group_output(g, m->instruction) || !is_read_outside(s, &gone, m->instruction))
      ptr_map_put(s->arena, &gone, m->instruction, s->arena);
  }
  return gone;
}

static void add_external(const tile_search *s, tile_group *g, instruction *x) {
  if (!is_external(g, x)) vec_push(s->arena, &g->externals, x);
}

static void find_of_output(tile_search *s, tile_group *g, tile_output *o) {
  const target_list all = find_targets(s, g, o);
  for (int k = 0; k < all.size && !o->array; k++) {
    const target *t = &all.data[k];
    const ptr_map gone = find_gone(s, g, t);
    if (!is_read_where_written(s, g, t) || !is_free(s, g, &gone, t)) continue;
    o->array = t->array;
    o->update = t->update;
    for (int d = 0; t->update && !t->is_known && d < t->array->shape->rank; d++)
      if (t->update->operands[d + 2]->opcode != HLO_CONSTANT) add_external(s, g, t->update->operands[d + 2]);
  }
}

static void find_arrays(tile_search *s, tile_group *g) {
  for (int k = 0; k < g->outputs.size; k++) g->outputs.data[k].array = g->outputs.data[k].update = NULL;
  for (int k = 0; k < g->outputs.size; k++) find_of_output(s, g, &g->outputs.data[k]);
}

// Whether all that a turn reads of the array moves with what the loop writes of it.
static bool moves_with_target(tile_search *s, const tile_group *g, const target *t) {
  const int dim = t->output->dim;
  for (int k = 0; k < g->members.size; k++) {
    const tile_member *m = &g->members.data[k];
    for (int o = 0; o < m->instruction->operand_count && !m->is_copied; o++) {
      region in;
      if (m->instruction->operands[o] != t->array || m->operands[o] >= 0) continue;
      if (tile_group_operand(s, g, m, g->inside, o, &in) != REGION_FOUND || in.dims[dim].step != g->tile) return false;
    }
  }
  return true;
}

// An array that could be written over if turns kept rows of it; null: there is none.
static const instruction *find_candidate(tile_search *s, const tile_group *g) {
  for (int n = 0; n < g->outputs.size; n++) {
    if (g->outputs.data[n].array) continue;
    const target_list all = find_targets(s, g, &g->outputs.data[n]);
    for (int k = 0; k < all.size; k++) {
      const target *t = &all.data[k];
      const ptr_map gone = find_gone(s, g, t);
      if (t->is_known && moves_with_target(s, g, t) && is_free(s, g, &gone, t)) return t->array;
    }
  }
  return NULL;
}

bool tile_in_place_grow(tile_search *s, instruction *bottom, int dim, int64_t tile, int most_stored, tile_group *out) {
  if (!tile_group_grow(s, bottom, dim, tile, most_stored, out)) return false;
  find_arrays(s, out);
  tile_group kept;
  s->rows_of = s->may_carry ? find_candidate(s, out) : NULL;
  if (s->rows_of && tile_group_grow(s, bottom, dim, out->tile, most_stored, &kept) && kept.tile == out->tile) {
    find_arrays(s, &kept);
    if (tile_group_over(&kept, s->rows_of)) *out = kept;
  }
  s->rows_of = NULL;
  return true;
}
