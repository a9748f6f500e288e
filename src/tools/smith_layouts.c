// Random layouts for everything in a module that has one: parameters, results, constants, leaves of tuples, the inside
// of fusions, and what the entry declares outside of them.
//
// Values that are handed over (to and from called computations, in tuples) must have one layout on both sides. It is
// drawn for the module and the shape, not for the value, so that both sides agree without being followed; all other
// values draw their own.
#include "tools/smith_pool.h"

enum { ORDERED_PERCENT = 40, APART_PERCENT = 30 };

// The same for the same shape in this module.
static uint64_t shape_seed(const smith *s, const shape *of) {
  uint64_t h = s->options.seed * 0x2545f4914f6cdd1du + (uint64_t)of->dtype;
  for (int k = 0; k < of->rank; k++) h = (h ^ (uint64_t)of->dims[k]) * 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

static const shape *ordered(smith *s, const shape *of) {
  if (of->rank < 2 || !smith_chance(s, ORDERED_PERCENT)) return shape_with_layout(s->arena, of, NULL);
  int64_t *order = arena_array(s->arena, int64_t, of->rank);
  for (int k = 0; k < of->rank; k++) order[k] = k;
  smith_shuffle(s, of->rank, order);
  layout *l = arena_new(s->arena, layout);
  *l = (layout){.minor_to_major = order, .tail_padding = 1};
  return shape_with_layout(s->arena, of, l);
}

static const shape *handed_over(smith *s, const shape *of) {
  if (shape_is_array(of)) {
    smith same = *s;
    same.state = shape_seed(s, of);
    return ordered(&same, of);
  }
  if (!shape_is_tuple(of)) return of;
  const shape **elements = arena_array(s->arena, const shape *, of->tuple_size);
  for (int k = 0; k < of->tuple_size; k++) elements[k] = handed_over(s, of->elements[k]);
  return shape_tuple(s->arena, of->tuple_size, elements);
}

static bool hands_over(const instruction *i) {
  return shape_is_tuple(i->shape) || i->opcode == HLO_GET_TUPLE_ELEMENT || i->opcode == HLO_OPT_BARRIER ||
         i->opcode == HLO_FUSION || (hlo_ops[i->opcode].traits & TRAIT_CONTROL);
}

static bool is_handed_over(const computation *c, const instruction *i) {
  const bool is_called = c != c->module->entry;
  if (hands_over(i) || (is_called && (i == c->root || i->opcode == HLO_PARAMETER))) return true;
  for (int k = 0; k < i->users.size; k++)
    if (hands_over(i->users.data[k])) return true;
  return false;
}

static void set_layouts(smith *s, computation *c) {
  for (int k = 0; k < c->instructions.size; k++) {
    instruction *i = c->instructions.data[k];
    i->shape = is_handed_over(c, i) ? handed_over(s, i->shape) : ordered(s, i->shape);
    if (!i->literal) continue;
    literal *value = arena_new(s->arena, literal);
    *value = *i->literal;
    value->shape = i->shape;
    i->literal = value;
  }
}

static const shape *declared(smith *s, const shape *of) {
  if (shape_is_array(of)) return ordered(s, of);
  const shape **elements = arena_array(s->arena, const shape *, of->tuple_size);
  for (int k = 0; k < of->tuple_size; k++) elements[k] = declared(s, of->elements[k]);
  return shape_tuple(s->arena, of->tuple_size, elements);
}

static void declare_entry(smith *s, module *m) {
  const instruction_list *parameters = &m->entry->parameters;
  const shape **shapes = arena_array(s->arena, const shape *, parameters->size);
  for (int k = 0; k < parameters->size; k++) shapes[k] = declared(s, parameters->data[k]->shape);
  m->entry_parameters_layout = shape_tuple(s->arena, parameters->size, shapes);
  m->entry_result_layout = declared(s, m->entry->root->shape);
}

void smith_layouts(smith *s, module *m) {
  for (int k = 0; k < m->computations.size; k++) set_layouts(s, m->computations.data[k]);
  if (smith_chance(s, APART_PERCENT)) declare_entry(s, m);
}
