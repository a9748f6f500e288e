// Custom calls named heddle.*, in which HLO passes wrap operations that a library or the runtime executes (cholesky,
// for one). The interpreter evaluates such a call as the operation that was wrapped.
#include "eval/custom_call.h"

static const struct {
  const char *name;
  hlo_opcode opcode;
  random_distribution distribution;
  int operand_count;
} own_calls[] = {
    {"heddle.cholesky", HLO_CHOLESKY, .operand_count = 1},
    {"heddle.rng_get_and_update_state", HLO_RNG_GET_AND_UPDATE_STATE},
    {"heddle.rng_normal", HLO_RNG, .distribution = RANDOM_NORMAL, .operand_count = 2},
    {"heddle.rng_uniform", HLO_RNG, .distribution = RANDOM_UNIFORM, .operand_count = 2},
    {"heddle.triangular_solve", HLO_TRIANGULAR_SOLVE, .operand_count = 2},
};

static bool truth_of(const instruction *i, const char *name) {
  int64_t truth = 0;
  return call_attribute_int(i->attributes->backend_config, name, &truth) && truth != 0;
}

// What the operation's verifier would have checked of matrices and numbers.
static bool fits(const instruction *i, hlo_opcode opcode) {
  if (!shape_is_array(i->shape)) return false;
  for (int k = 0; k < i->operand_count; k++)
    if (!shape_is_array(i->operands[k]->shape) || i->operands[k]->shape->dtype != i->shape->dtype) return false;
  if (opcode == HLO_RNG) return shape_is_scalar(i->operands[0]->shape) && shape_is_scalar(i->operands[1]->shape);
  if (opcode == HLO_RNG_GET_AND_UPDATE_STATE) return true;
  const shape *s = i->shape, *a = i->operands[0]->shape;
  if (!(dtypes[s->dtype].class & (CLASS_FLOAT | CLASS_COMPLEX)) || s->rank < 2 || a->rank != s->rank) return false;
  for (int d = 0; d < s->rank - 2; d++)
    if (a->dims[d] != s->dims[d]) return false;
  const int64_t n = a->dims[s->rank - 1];
  if (a->dims[s->rank - 2] != n) return false;
  if (opcode == HLO_CHOLESKY) return shape_same_dims(a, s);
  return shape_same_dims(i->operands[1]->shape, s) && n == s->dims[s->rank - (truth_of(i, "left_side") ? 2 : 1)];
}

heddle_status custom_call_own(interpreter *in, const instruction *i, value *const *operands, value **out) {
  for (size_t k = 0; k < sizeof own_calls / sizeof *own_calls; k++) {
    if (!str_is(i->attributes->custom_call_target, own_calls[k].name)) continue;
    if (i->operand_count != own_calls[k].operand_count || !fits(i, own_calls[k].opcode))
      return interpreter_refuse(i, "operands that do not fit the result");
    hlo_attributes attributes = *i->attributes;
    int64_t transpose = 0;
    attributes.lower = truth_of(i, "lower");
    attributes.left_side = truth_of(i, "left_side");
    attributes.unit_diagonal = truth_of(i, "unit_diagonal");
    call_attribute_int(i->attributes->backend_config, "transpose_a", &transpose);
    attributes.transpose_a = transpose == 1 ? TRANSPOSE_YES : transpose == 2 ? TRANSPOSE_ADJOINT : TRANSPOSE_NO;
    attributes.distribution = own_calls[k].distribution;
    call_attribute_int(i->attributes->backend_config, "delta", &attributes.delta);
    instruction same = *i;
    same.opcode = own_calls[k].opcode;
    same.attributes = &attributes;
    return eval_ops[same.opcode](in, &same, operands, out);
  }
  return interpreter_refuse(i, "unknown among our own");
}
