// Mutants: an instruction is drawn, then one of the changes that fit it. Whether a change alters any result is found by
// running it; that it leaves a valid module, by the verifier.
#include "tools/smith_mutants.h"

#include "hlo/text.h"
#include "tools/split_mix.h"

typedef struct mutation {
  arena *arena;
  uint64_t *state;
  instruction *target;
  computation *home;
} mutation;

static int64_t below(const mutation *x, int64_t n) { return (int64_t)(split_mix_next(x->state) % (uint64_t)n); }

// --- another operation

// Operations of the same operands' and results' types, so that each may stand for the others.
static const hlo_opcode binary_numbers[] = {HLO_ADD, HLO_SUBTRACT, HLO_MULTIPLY, HLO_MAXIMUM, HLO_MINIMUM, HLO_DIVIDE};
static const hlo_opcode unary_floats[] = {HLO_NEGATE, HLO_ABS,   HLO_EXPONENTIAL, HLO_SINE, HLO_COSINE,
                                          HLO_TANH,   HLO_FLOOR, HLO_CEIL,        HLO_SIGN, HLO_LOG_PLUS_ONE};
static const hlo_opcode unary_integers[] = {HLO_NEGATE, HLO_ABS, HLO_SIGN, HLO_NOT, HLO_POPCNT};
static const hlo_opcode logic[] = {HLO_AND, HLO_OR, HLO_XOR};
static const hlo_opcode shifts[] = {HLO_SHIFT_LEFT, HLO_SHIFT_RIGHT_ARITHMETIC, HLO_SHIFT_RIGHT_LOGICAL};

static const struct {
  const hlo_opcode *opcodes;
  int count;
} families[] = {{binary_numbers, sizeof binary_numbers / sizeof *binary_numbers},
                {unary_floats, sizeof unary_floats / sizeof *unary_floats},
                {unary_integers, sizeof unary_integers / sizeof *unary_integers},
                {logic, sizeof logic / sizeof *logic},
                {shifts, sizeof shifts / sizeof *shifts}};

static bool change_opcode(const mutation *x) {
  for (size_t f = 0; f < sizeof families / sizeof *families; f++)
    for (int k = 0; k < families[f].count; k++) {
      if (families[f].opcodes[k] != x->target->opcode) continue;
      x->target->opcode = families[f].opcodes[(k + 1 + below(x, families[f].count - 1)) % families[f].count];
      return true;
    }
  if (x->target->opcode != HLO_COMPARE) return false;
  comparison_direction *direction = &x->target->attributes->direction;
  *direction = (comparison_direction)((*direction + 1 + below(x, 5)) % 6);
  return true;
}

// --- another operand

static bool is_before(const computation *c, const instruction *i, const instruction *other) {
  for (int k = 0; k < c->instructions.size && c->instructions.data[k] != i; k++)
    if (c->instructions.data[k] == other) return true;
  return false;
}

static bool change_operand(const mutation *x) {
  if (x->target->operand_count == 0) return false;
  const int slot = (int)below(x, x->target->operand_count);
  const instruction *old = x->target->operands[slot];
  instruction *by = x->home->instructions.data[below(x, x->home->instructions.size)];
  if (by == old || by == x->target || !shape_compatible(by->shape, old->shape) || !is_before(x->home, x->target, by))
    return false;
  instruction_set_operand(x->target, slot, by);
  return true;
}

static bool swap_operands(const mutation *x) {
  if (x->target->operand_count < 2) return false;
  const int slot = (int)below(x, x->target->operand_count - 1);
  instruction *left = x->target->operands[slot], *right = x->target->operands[slot + 1];
  if (left == right || !shape_compatible(left->shape, right->shape)) return false;
  instruction_set_operand(x->target, slot, right);
  instruction_set_operand(x->target, slot + 1, left);
  return true;
}

// --- another number

static bool change_constant(const mutation *x) {
  if (x->target->opcode != HLO_CONSTANT || !shape_is_array(x->target->shape)) return false;
  const int64_t count = shape_element_count(x->target->shape);
  if (count == 0) return false;
  literal *value = literal_copy(x->arena, x->target->literal);
  const int64_t k = below(x, count);
  const dtype t = value->shape->dtype;
  if (dtype_is_inexact(t)) literal_set_complex(value, k, literal_get_complex(value, k) * 1.5 + 1);
  else literal_set_int(value, k, t == DTYPE_PRED ? !literal_get_int(value, k) : literal_get_int(value, k) + 1);
  x->target->literal = value;
  return true;
}

static bool change_dimensions(const mutation *x) {
  const int_list *list = &x->target->attributes->dimensions;
  if (list->size == 0) return false;
  int64_t *dims = arena_array(x->arena, int64_t, list->size);
  memcpy(dims, list->data, (size_t)list->size * sizeof *dims);
  const int64_t at = below(x, list->size), other = below(x, list->size);
  if (at != other) {
    dims[at] = list->data[other];
    dims[other] = list->data[at];
  } else {
    dims[at] = (dims[at] + 1) % (x->target->shape->rank > 0 ? x->target->shape->rank : 1);
  }
  x->target->attributes->dimensions.data = dims;
  return true;
}

static bool change_slice(const mutation *x) {
  hlo_attributes *a = x->target->attributes;
  if (x->target->opcode != HLO_SLICE || a->slice.rank == 0) return false;
  slice_dim *dim = &a->slice.dims[below(x, a->slice.rank)];
  const int64_t by = below(x, 2) ? 1 : -1;
  dim->start += by;
  dim->limit += by;
  return true;
}

static bool change_padding(const mutation *x) {
  hlo_attributes *a = x->target->attributes;
  if (x->target->opcode != HLO_PAD || a->padding.rank == 0) return false;
  padding_dim *dim = &a->padding.dims[below(x, a->padding.rank)];
  dim->low++;
  dim->high--;
  return true;
}

static bool change_window(const mutation *x) {
  const window *w = &x->target->attributes->window;
  if (w->rank == 0) return false;
  window_dim *dim = &w->dims[below(x, w->rank)];
  dim->padding_low++;
  dim->padding_high--;
  return true;
}

static bool change_index(const mutation *x) {
  if (x->target->opcode != HLO_GET_TUPLE_ELEMENT) return false;
  const int count = x->target->operands[0]->shape->tuple_size;
  if (count < 2) return false;
  x->target->attributes->index = (x->target->attributes->index + 1 + below(x, count - 1)) % count;
  return true;
}

// --- the tool's side

static const struct {
  const char *name;
  bool (*change)(const mutation *x);
} changes[] = {{"operation", change_opcode},  {"operand", change_operand},       {"order of operands", swap_operands},
               {"constant", change_constant}, {"dimensions", change_dimensions}, {"slice", change_slice},
               {"padding", change_padding},   {"window", change_window},         {"index", change_index}};

module *smith_mutant(arena *a, const module *m, uint64_t *state, text *what) {
  module *copy = module_clone(a, m);
  mutation x = {.arena = copy->arena, .state = state};
  x.home = copy->computations.data[below(&x, copy->computations.size)];
  x.target = x.home->instructions.data[below(&x, x.home->instructions.size)];
  const int64_t count = sizeof changes / sizeof *changes, drawn = below(&x, count);
  text_printf(what, "%s of " STR_FMT, changes[drawn].name, STR_ARG(x.target->name));
  if (!changes[drawn].change(&x)) return NULL;
  heddle_status s = module_verify(copy);
  const bool is_valid = status_is_ok(s);
  if (!is_valid) heddle_status_free(s);
  return is_valid ? copy : NULL;
}
