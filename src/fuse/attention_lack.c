// Both are searched for from the product back: exponentials of as many elements as the operand has, and from these the
// product that scores are.
#include "fuse/attention_lack.h"

#include "hlo/combiner.h"

enum { STEPS_MAX = 24 };

static bool keeps_elements(const instruction *i, const instruction *operand) {
  const bool moves = i->opcode == HLO_TRANSPOSE || i->opcode == HLO_COPY || i->opcode == HLO_RESHAPE ||
                     i->opcode == HLO_BITCAST || hlo_op_has(i->opcode, TRAIT_ELEMENTWISE);
  return moves && shape_is_array(operand->shape) &&
         shape_element_count(operand->shape) == shape_element_count(i->shape);
}

static const instruction *find(const instruction *i, hlo_opcode opcode, int *steps) {
  if (i->opcode == opcode) return i;
  const instruction *found = NULL;
  for (int k = 0; k < i->operand_count && !found && (*steps)-- > 0; k++)
    if (keeps_elements(i, i->operands[k])) found = find(i->operands[k], opcode, steps);
  return found;
}

// Behind conversions and moves.
static const instruction *sum_of(const instruction *i, int depth) {
  for (int k = 0; k < i->users.size; k++) {
    const instruction *user = i->users.data[k], *found = NULL;
    if (user->opcode == HLO_REDUCE && combiner_opcode(user->called[0]) == HLO_ADD) found = user;
    else if (depth > 0 && (user->opcode == HLO_CONVERT || user->opcode == HLO_COPY || user->opcode == HLO_RESHAPE))
      found = sum_of(user, depth - 1);
    if (found) return found;
  }
  return NULL;
}

static bool subtracts(const instruction *exponential) {
  int steps = 4;
  return find(exponential->operands[0], HLO_SUBTRACT, &steps) != NULL;
}

static const instruction *exponential_of(const instruction *product) {
  if (product->opcode != HLO_DOT) return NULL;
  for (int side = 0; side < 2; side++) {
    int steps = STEPS_MAX, more = STEPS_MAX;
    const instruction *e = find(product->operands[side], HLO_EXPONENTIAL, &steps);
    if (e && find(e->operands[0], HLO_DOT, &more) && (subtracts(e) || sum_of(e, 2))) return e;
  }
  return NULL;
}

bool attention_lack_is_likely(const instruction *product) { return exponential_of(product) != NULL; }

const char *attention_lack_form(const instruction *product) {
  const instruction *e = exponential_of(product);
  if (product->attributes->lhs_contracting_dims.size != 1) return "it sums over more than one dim";
  if (e && !subtracts(e)) return "no maximum is subtracted from its scores";
  return "its weights are not exp(scores - maximum), by its sum or not, along what it sums over";
}
