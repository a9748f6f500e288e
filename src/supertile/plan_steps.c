// Fusions bear new names, but what they compute last keeps its own.
#include "supertile/plan_steps.h"

#include "fuse/tile_loops.h"

typedef struct finder {
  plan_steps *out;
  str_map names;  // "computation/instruction" and "computation@line:column:opcode" of the module
} finder;

static str key_of(arena *a, const instruction *i) {
  return str_from(arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(i->parent->name), STR_ARG(i->name)));
}

// What fusion value `element` is, or the instruction itself: under a name that the module knows.
static const instruction *named(const instruction *i, int element, const instruction **place) {
  *place = i;
  while (i->opcode == HLO_GET_TUPLE_ELEMENT && i->operands[0]->opcode == HLO_FUSION) {
    element = (int)i->attributes->index;
    i = i->operands[0];
    *place = i;
  }
  if (i->opcode != HLO_FUSION) return i;
  const instruction *root = i->called[0]->root;
  if (root->opcode == HLO_TUPLE && element < root->operand_count) root = root->operands[element];
  if (root->opcode == HLO_GET_TUPLE_ELEMENT && root->operands[0]->opcode != HLO_PARAMETER) root = root->operands[0];
  return root;
}

static str place_of(arena *a, const computation *c, const instruction *i) {
  return str_from(
      arena_printf(a, STR_FMT "@%d:%d:%d", STR_ARG(c->name), i->where.line, i->where.column, (int)i->opcode));
}

// The module's instruction of that name, in the computation where the planned one stands. What planning made anew, as
// the parts of a reduction, is found by its place in the text.
static instruction *found(const finder *f, const instruction *i, int element) {
  const instruction *place, *root = named(i, element, &place);
  arena *a = f->out->arena;
  const char *key = arena_printf(a, STR_FMT "/" STR_FMT, STR_ARG(place->parent->name), STR_ARG(root->name));
  instruction *same = str_map_get(&f->names, str_from(key));
  return same || root->where.column == 0 ? same : str_map_get(&f->names, place_of(a, place->parent, root));
}

static void note(finder *f, const instruction *planned, int element, const lhlo_slice *s) {
  instruction *i = found(f, planned, element);
  if (!i || i->opcode == HLO_BITCAST) return;  // a bitcast is another name for the same bytes
  stored_value *v = arena_new(f->out->arena, stored_value);
  *v = (stored_value){s->is_temporary, kernel_buffer_bytes(s->shape)};
  ptr_map_put(f->out->arena, &f->out->stored, i, v);
}

static bool are_arrays(const instruction *i) {
  for (int k = 0; k < i->operand_count; k++)
    if (!shape_is_array(i->operands[k]->shape)) return false;
  return true;
}

static void add_step(finder *f, const lhlo_op *op) {
  plan_step step = {
      .op = op, .footprint_bytes = op->live_bytes + op->resident_bytes, .touched_bytes = op->touched_bytes};
  const instruction *i = op->source;
  if (i) {
    int64_t most = -1;
    for (int k = 0; k < op->result_count; k++) {
      const int64_t bytes = kernel_buffer_bytes(op->results[k].shape);
      instruction *value = found(f, i, k);
      note(f, i, k, &op->results[k]);
      if (!value) continue;
      ptr_map_put(f->out->arena, &f->out->numbers, value,
                  (void *)(intptr_t)(f->out->steps.size + 1));  // NOLINT(performance-no-int-to-ptr)
      if (bytes < most) continue;
      step.bottom = value;
      most = bytes;
    }
    for (int k = 0; k < op->operand_count && are_arrays(i) && op->operand_count == i->operand_count; k++)
      note(f, i->operands[k], 0, &op->operands[k]);
  }
  vec_push(f->out->arena, &f->out->steps, step);
}

static void add_body(finder *f, const lhlo_body *body) {
  for (int k = 0; k < body->ops.size; k++) {
    const lhlo_op *op = body->ops.data[k];
    for (int b = 0; b < op->body_count; b++) add_body(f, &op->bodies[b]);
    if (op->body_count == 0) add_step(f, op);
  }
}

void plan_steps_find(arena *a, const module *m, const lhlo_program *plan, plan_steps *out) {
  *out = (plan_steps){.arena = a, .plan = plan};
  finder f = {.out = out};
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++) {
      str_map_put(a, &f.names, key_of(a, all->data[k]), all->data[k]);
      str_map_put(a, &f.names, place_of(a, m->computations.data[c], all->data[k]), all->data[k]);
    }
  }
  add_body(&f, &plan->entry);
}

const stored_value *plan_steps_stored(const plan_steps *p, const instruction *i) { return ptr_map_get(&p->stored, i); }

const plan_step *plan_steps_of(const plan_steps *p, const instruction *bottom) {
  const intptr_t number = (intptr_t)ptr_map_get(&p->numbers, bottom);
  return number ? &p->steps.data[number - 1] : NULL;
}

enum { MOST_FOLLOWED = 8 };

static bool is_returned(const instruction *i, int depth);

// What element `index` of a loop's state is behind the loop.
static bool is_returned_behind(const instruction *tuple, const instruction *i, int depth) {
  const instruction *loop = tuple->users.size == 1 ? tuple->users.data[0] : NULL;
  if (!loop || loop->opcode != HLO_WHILE) return false;
  for (int u = 0; u < loop->users.size; u++) {
    const instruction *x = loop->users.data[u];
    if (x->opcode == HLO_GET_TUPLE_ELEMENT && tuple->operands[x->attributes->index] == i && is_returned(x, depth + 1))
      return true;
  }
  return false;
}

static bool is_view(const instruction *i) {
  return i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE || i->opcode == HLO_COPY;
}

static bool is_returned(const instruction *i, int depth) {
  const computation *c = i->parent;
  if (i == c->root) return c == c->module->entry;
  for (int u = 0; u < i->users.size && depth < MOST_FOLLOWED; u++) {
    const instruction *user = i->users.data[u];
    if (user->opcode == HLO_TUPLE && user == c->root && c == c->module->entry) return true;
    if (user->opcode == HLO_TUPLE && is_returned_behind(user, i, depth)) return true;
    if (user->opcode == HLO_DYNAMIC_UPDATE_SLICE && user->operands[0] == i && is_returned(user, depth + 1)) return true;
    if (is_view(user) && is_returned(user, depth + 1)) return true;
  }
  return false;
}

// Of what the turn of a loop of the program leaves to the next one: what it was when the turn began, by its only name.
// Null: the instruction is no such value.
static instruction *own_state(const instruction *i) {
  const computation *c = i->parent;
  const instruction *root = c->root;
  if (c == c->module->entry || str_starts_with(c->name, TILE_LOOPS_BODY) || root->opcode != HLO_TUPLE ||
      c->parameters.size != 1)
    return NULL;
  instruction *state = NULL;
  for (int k = 0; k < root->operand_count; k++) {
    if (root->operands[k] != i) continue;
    for (int u = 0; u < c->parameters.data[0]->users.size; u++) {
      instruction *x = c->parameters.data[0]->users.data[u];
      if (x->opcode != HLO_GET_TUPLE_ELEMENT || x->attributes->index != k) continue;
      if (state) return NULL;
      state = x;
    }
  }
  return state;
}

// Whether a loop's state that the value becomes lies in the memory of a result, and the value already does.
static bool is_in_result(const plan_steps *p, const instruction *i) {
  const instruction *state = own_state(i);
  const stored_value *before = state ? plan_steps_stored(p, state) : NULL, *now = plan_steps_stored(p, i);
  return before && now && !before->is_temporary && !now->is_temporary;
}

bool plan_steps_is_temporary(const plan_steps *p, const instruction *i) {
  while (i->opcode == HLO_BITCAST) i = i->operands[0];  // another name for the same bytes
  const bool is_name = i->opcode == HLO_GET_TUPLE_ELEMENT && i->operands[0]->opcode == HLO_PARAMETER;
  const stored_value *v = plan_steps_stored(p, i);
  if (i->opcode == HLO_CONSTANT) return false;
  if (i->opcode == HLO_PARAMETER || is_name) return v ? v->is_temporary : i->parent != i->parent->module->entry;
  return !is_returned(i, 0) && !is_in_result(p, i);
}
