// What a turn computes is stored where another value reads it at other places than its own: a product reads all of its
// operand for each element. A step computes what can be computed together, one element after the other: values of as
// many elements whose operands earlier steps have stored. Cheap values that are made of the state and of what the loop
// keeps are computed again where they are read.
//
// Matrices that the loop keeps and whose columns neighbouring results read are turned round once, before the first
// turn.
#include "kernel/while_steps.h"

#include "kernel/same_bytes.h"
#include "kernel/while_body.h"
#include "kernel/work_estimate.h"

// How many operations a value may take that is computed again wherever it is read elsewhere, and from how many on one
// is stored as soon as two read it at all.
enum { FREE_OPERATIONS = 8, NOT_FREE = FREE_OPERATIONS + 1, HEAVY_OPERATIONS = 32 };

// A value that a step stores.
typedef struct stored_value {
  const instruction *of;
  int store;  // see while_step
  int level;
} stored_value;

typedef VEC(stored_value) stored_values;

typedef struct step_builder {
  arena *arena;
  kernel_plan *plan;
  const while_state *state;
  instruction_list order;  // of the loop's body
  bool *is_needed;         // by position, as marked
  bool *is_stored;
  int *free_operations;  // what computing the value again takes; NOT_FREE: it is not done
  int *levels;
  ptr_map stored, turned;  // see while_body
  stored_values values;
  module *in;
  VEC(const shape *) arrays;
  VEC(kernel_body) bodies;
  VEC(while_step) steps;
} step_builder;

// --- what is stored

static int64_t count_of(const instruction *i) { return shape_element_count(i->shape); }

// The element of `i` needs that element of the operand and no other.
static bool reads_in_place(const instruction *i, const instruction *operand) {
  if (same_bytes_kept(i)) return count_of(i) == count_of(operand);
  return hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && shape_same_dims(i->shape, operand->shape);
}

static bool is_leaf(const instruction *i) {
  return i->opcode == HLO_GET_TUPLE_ELEMENT || i->opcode == HLO_CONSTANT || i->opcode == HLO_IOTA;
}

static bool is_cheap(const instruction *i) {
  switch (i->opcode) {
    case HLO_BROADCAST:
    case HLO_SLICE:
    case HLO_DYNAMIC_SLICE:
    case HLO_TRANSPOSE:
    case HLO_REVERSE:
    case HLO_RESHAPE:
    case HLO_BITCAST: return true;
    default: return hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && !hlo_op_has(i->opcode, TRAIT_EXPENSIVE);
  }
}

static void find_free(step_builder *b, const instruction *i) {
  int operations = is_leaf(i) ? 0 : is_cheap(i) ? 1 : NOT_FREE;
  for (int k = 0; k < i->operand_count && !is_leaf(i) && operations < NOT_FREE; k++)
    operations += b->free_operations[i->operands[k]->mark];
  b->free_operations[i->mark] = operations < NOT_FREE ? operations : NOT_FREE;
}

static void need_operands(step_builder *b) {
  for (int n = b->order.size - 1; n >= 0; n--) {
    const instruction *i = b->order.data[n];
    if (!b->is_needed[n] || is_leaf(i)) continue;
    if (i->users.size > 1 && work_estimate_operations(i) >= HEAVY_OPERATIONS) b->is_stored[n] = true;
    for (int k = 0; k < i->operand_count; k++) {
      const instruction *x = i->operands[k];
      b->is_needed[x->mark] = true;
      if (!reads_in_place(i, x) && b->free_operations[x->mark] == NOT_FREE) b->is_stored[x->mark] = true;
    }
  }
}

// --- in which step

static void find_level(step_builder *b, const instruction *i) {
  int level = 0;
  for (int k = 0; k < i->operand_count && !is_leaf(i); k++) {
    const instruction *x = i->operands[k];
    const int from = b->levels[x->mark] + (b->is_stored[x->mark] && !reads_in_place(i, x));
    if (from > level) level = from;
  }
  b->levels[i->mark] = level;
}

static int add_array(step_builder *b, const shape *s) {
  vec_push(b->arena, &b->arrays, s);
  return b->arrays.size - 1;
}

static void add_value(step_builder *b, const instruction *i, int store) {
  vec_push(b->arena, &b->values, ((stored_value){i, store, b->levels[i->mark]}));
  if (store >= 0 && !is_leaf(i) && !ptr_map_has(&b->stored, i))
    ptr_map_put(b->arena, &b->stored, i, (void *)(intptr_t)(store + 1));
}

// The next state, rows of outputs, and what is stored for others.
static void add_values(step_builder *b) {
  const while_state *s = b->state;
  for (int round = 0; round < 2; round++)
    for (int k = 0; k < s->leaf_count; k++)
      if (s->leaves[k].role == WHILE_CARRIED) {
        const int array = add_array(b, s->loop->shape->elements[k]);
        if (round == 1 && s->leaves[k].next) add_value(b, s->leaves[k].next, array);
      }
  for (int n = 0; n < b->plan->output_count; n++) {
    const int leaf = (int)b->plan->outputs[n].root->attributes->index;
    if (s->leaves[leaf].role == WHILE_STACKED && s->leaves[leaf].next) add_value(b, s->leaves[leaf].next, -1 - n);
  }
  for (int n = 0; n < b->order.size; n++) {
    const instruction *i = b->order.data[n];
    if (b->is_stored[n] && !ptr_map_has(&b->stored, i)) add_value(b, i, add_array(b, i->shape));
  }
}

static void find_values(step_builder *b) {
  const while_state *s = b->state;
  const int count = b->order.size;
  b->is_needed = arena_array(b->arena, bool, count);
  b->is_stored = arena_array(b->arena, bool, count);
  b->free_operations = arena_array(b->arena, int, count);
  b->levels = arena_array(b->arena, int, count);
  for (int n = 0; n < count; n++) b->order.data[n]->mark = (uint64_t)n;
  for (int n = 0; n < count; n++) find_free(b, b->order.data[n]);
  for (int k = 0; k < s->leaf_count; k++)
    if (s->leaves[k].next) b->is_needed[s->leaves[k].next->mark] = true;
  need_operands(b);
  for (int n = 0; n < count; n++)
    if (b->is_needed[n]) find_level(b, b->order.data[n]);
  add_values(b);
}

// --- steps

static while_body body_maker(step_builder *b, const ptr_map *own) {
  return (while_body){
      .arena = b->arena, .plan = b->plan, .state = b->state, .stored = &b->stored, .own = own, .turned = &b->turned};
}

static void add_step(step_builder *b, kernel_body body, const shape *space, int count, const int *stores) {
  vec_push(b->arena, &b->bodies, body);
  vec_push(b->arena, &b->steps,
           ((while_step){.body = b->bodies.size - 1, .space = space, .result_count = count, .stores = stores}));
}

// Where the state begins.
static void add_firsts(step_builder *b) {
  static const ptr_map none = {0};
  const while_state *s = b->state;
  for (int k = 0; k < s->leaf_count; k++) {
    if (s->leaves[k].role != WHILE_CARRIED) continue;
    while_body m = body_maker(b, &none);
    int *store = arena_array(b->arena, int, 1);
    store[0] = s->leaves[k].number;
    const shape *space = s->loop->shape->elements[k];
    add_step(b, while_body_make(&m, b->in, "before", 1, &s->values[k], space), space, 1, store);
  }
}

static void add_turned(step_builder *b) {
  static const ptr_map none = {0};
  for (int n = 0; n < b->order.size; n++) {
    int operand;
    const instruction *i = b->order.data[n];
    const instruction *leaf = b->is_needed[n] ? while_body_column_operand(b->state, i, &operand) : NULL;
    const instruction *matrix = leaf ? b->state->values[leaf->attributes->index] : NULL;
    if (!matrix || matrix->opcode != HLO_PARAMETER || ptr_map_has(&b->turned, matrix)) continue;
    const int64_t dims[] = {matrix->shape->dims[1], matrix->shape->dims[0]};
    const shape *space = shape_array(b->arena, matrix->shape->dtype, 2, dims);
    while_body m = body_maker(b, &none);
    int *store = arena_array(b->arena, int, 1);
    store[0] = add_array(b, space);
    ptr_map_put(b->arena, &b->turned, matrix, (void *)(intptr_t)(store[0] + 1));
    add_step(b, while_body_make_turned(&m, b->in, matrix), space, 1, store);
  }
}

// The step of value `first` and of all others that can be computed with it.
static void add_step_of(step_builder *b, int first, bool *is_done) {
  const stored_value *leader = &b->values.data[first];
  ptr_map own = {0};
  int count = 0;
  int *stores = arena_array(b->arena, int, b->values.size);
  const instruction **roots = arena_array(b->arena, const instruction *, b->values.size);
  for (int n = first; n < b->values.size; n++) {
    const stored_value *v = &b->values.data[n];
    if (is_done[n] || v->level != leader->level || count_of(v->of) != count_of(leader->of)) continue;
    is_done[n] = true;
    stores[count] = v->store;
    roots[count++] = v->of;
    ptr_map_put(b->arena, &own, v->of, b);
  }
  while_body m = body_maker(b, &own);
  const shape *space = leader->of->shape;
  add_step(b, while_body_make(&m, b->in, "step", count, roots, space), space, count, stores);
}

static void add_steps(step_builder *b) {
  bool *is_done = arena_array(b->arena, bool, b->values.size);
  for (int level = 0, done = 0; done < b->values.size; level++)
    for (int n = 0; n < b->values.size; n++) {
      if (b->values.data[n].level != level) continue;
      if (!is_done[n]) add_step_of(b, n, is_done);
      done++;
    }
}

// --- figures

static double work_of_turn(const step_builder *b, int first) {
  double work = 0;
  for (int n = first; n < b->steps.size; n++) {
    const while_step *step = &b->steps.data[n];
    const computation *c = b->bodies.data[step->body].computation;
    work += work_estimate(b->arena, &c->instructions) * (double)shape_element_count(step->space);
  }
  return work;
}

static bool has_room(const step_builder *b, const target_description *target, double work) {
  const target_fusion_costs *limits = &target->fusion;
  int64_t bytes = 0;
  int instructions = 0;
  for (int n = 0; n < b->arrays.size; n++) bytes += kernel_buffer_bytes(b->arrays.data[n]);
  for (int n = 0; n < b->bodies.size; n++) instructions += b->bodies.data[n].computation->instructions.size;
  return bytes <= limits->max_state_bytes && instructions <= limits->max_turn_instructions &&
         work <= limits->max_turn_work && work * (double)b->state->turns <= limits->max_turns_operations;
}

bool while_steps_make(arena *a, kernel_plan *k, const while_state *s, const target_description *target, double *work) {
  step_builder b = {.arena = a, .plan = k, .state = s, .in = module_create(a, STR("turns"))};
  b.in->open_from = k->computation->module->open_from;
  heddle_status sorted = computation_post_order(a, s->loop->called[1], &b.order);
  const bool is_sorted = status_is_ok(sorted);
  heddle_status_free(sorted);
  if (!is_sorted) return false;
  find_values(&b);
  for (int n = 0; n < b.arrays.size; n++)
    if (shape_element_count(b.arrays.data[n]) == 0) return false;
  add_firsts(&b);
  add_turned(&b);
  const int before = b.steps.size;
  add_steps(&b);
  *work = work_of_turn(&b, before);
  if (!has_room(&b, target, *work)) return false;
  hero_while *h = &k->details.turns;
  h->array_count = b.arrays.size;
  h->arrays = b.arrays.data;
  h->before_count = before;
  h->step_count = b.steps.size;
  h->steps = b.steps.data;
  k->bodies = b.bodies.data;
  k->body_count = b.bodies.size;
  return true;
}
