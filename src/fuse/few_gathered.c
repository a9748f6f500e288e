// An operation is moved only where all that it is made of is there already, in memory, or takes few elements to make:
// a value that would have lived in one kernel with its user must not become an array for a gather's sake.
#include "fuse/few_gathered.h"

#include "opt/rewrite.h"

// An array is gathered few elements of where it has at least so many times as many; so many operations are moved for
// one gather at most.
enum { TIMES = 8, OPERATIONS = 16 };

typedef struct moving {
  arena *arena;  // of the maps
  const instruction *gather;
  builder builder;
  int operations;
  ptr_map seen, made;
} moving;

// With operands of its own dims, but for single numbers.
static bool is_elementwise(const instruction *i) {
  bool is_it = i->operand_count > 0 && i->called_count == 0 && i->control_predecessors.size == 0 &&
               shape_is_array(i->shape) && hlo_op_has(i->opcode, TRAIT_ELEMENTWISE);
  for (int k = 0; k < i->operand_count && is_it; k++) {
    const shape *s = i->operands[k]->shape;
    is_it = shape_is_array(s) && (s->rank == 0 || shape_same_dims(s, i->shape));
  }
  return is_it;
}

static bool is_few(const moving *m, const instruction *i) {
  return shape_element_count(i->shape) * TIMES <= shape_element_count(m->gather->operands[0]->shape);
}

// Arrays that are in memory whoever reads them.
static bool is_stored(const instruction *i) {
  while (i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE) i = i->operands[0];
  switch (i->opcode) {
    case HLO_PARAMETER:
    case HLO_CONSTANT:
    case HLO_GET_TUPLE_ELEMENT:
    case HLO_DOT:
    case HLO_CONVOLUTION: return true;
    default: return false;
  }
}

static bool may_move(moving *m, instruction *i) {
  if (i->shape->rank == 0 || ptr_map_has(&m->seen, i)) return true;  // select's condition, clamp's bounds
  ptr_map_put(m->arena, &m->seen, i, i);
  if (i->opcode == HLO_IOTA || is_stored(i)) return true;
  if (i->opcode == HLO_BROADCAST) return is_few(m, i->operands[0]);
  bool all = is_elementwise(i) && ++m->operations <= OPERATIONS;
  for (int k = 0; k < i->operand_count && all; k++) all = may_move(m, i->operands[k]);
  return all;
}

static const shape *gathered_shape(const moving *m, const instruction *i) {
  const shape *s = m->gather->shape;
  return shape_array(m->builder.arena, i->shape->dtype, s->rank, s->dims);
}

// Where errors are told of, it stands where `from` does.
static instruction *copy_of(const moving *m, const instruction *from, const shape *s, instruction *const *operands) {
  instruction *made = rewrite_with(&m->builder, from, s, operands);
  made->where = from->where;
  return made;
}

// What the gather has of `i`.
static instruction *gathered(moving *m, instruction *i) {
  if (i->shape->rank == 0) return i;
  instruction *made = ptr_map_get(&m->made, i);
  if (made) return made;
  const bool is_spread = i->opcode == HLO_BROADCAST && i->operands[0]->shape->rank == 0;
  if (is_spread) {
    made = builder_broadcast(&m->builder, i->operands[0], gathered_shape(m, i), 0, NULL);
  } else if (is_elementwise(i)) {
    instruction **operands = arena_array(m->arena, instruction *, i->operand_count);
    for (int k = 0; k < i->operand_count; k++) operands[k] = gathered(m, i->operands[k]);
    made = copy_of(m, i, gathered_shape(m, i), operands);
  } else {
    made = copy_of(m, m->gather, gathered_shape(m, i), (instruction *[]){i, m->gather->operands[1]});
  }
  ptr_map_put(m->arena, &m->made, i, made);
  return made;
}

static bool is_wanted(moving *m) {
  instruction *of = m->gather->operands[0];
  return m->gather->control_predecessors.size == 0 && of->users.size == 1 && of->parent->root != of &&
         is_elementwise(of) && is_few(m, m->gather) && may_move(m, of);
}

bool few_gathered_run(computation *c) {
  bool any = false;
  arena *scratch = arena_create();
  for (int k = 0, count = c->instructions.size; k < count; k++) {
    instruction *i = c->instructions.data[k];
    moving m = {.arena = scratch, .gather = i};
    if (i->opcode != HLO_GATHER || !is_wanted(&m)) continue;
    m.builder = builder_for(i);
    instruction_replace_uses(i, gathered(&m, i->operands[0]));
    any = true;
  }
  arena_destroy(scratch);
  return any;
}
