// Mixed-types expander. An operation is computed in the widest float among the operands that belong together and the
// computation that is applied to them, and its result is rounded to the type it was declared with. Computations of
// other types than their operands are wrapped into one that converts: (bf16, bf16) -> convert(f(convert, convert)).
//
// The interpreter has no rules of its own for mixed types: it is given what this pass leaves.
#include "opt/mixed_types_expander.h"

#include "hlo/combiner.h"
#include "hlo/text.h"
#include "opt/passes.h"
#include "opt/rewrite.h"

// Which operands have to be of one type.
typedef enum type_groups {
  GROUPS_NONE,
  GROUPS_ALL,      // all operands
  GROUPS_PAIRS,    // k and n + k of 2 n operands: values and where they begin
  GROUPS_SCATTER,  // k and n + 1 + k of 2 n + 1 operands
  GROUPS_PRODUCT,  // all operands, floats or not
  GROUPS_CALLED,   // each is of its parameter's type
} type_groups;

static type_groups groups_of(const instruction *i) {
  static const type_groups of_rule[] = {
      [SHAPE_RULE_SAME] = GROUPS_ALL,
      [SHAPE_RULE_PREDICATE] = GROUPS_ALL,
      [SHAPE_RULE_COMPLEX] = GROUPS_ALL,
      [SHAPE_RULE_CLAMP] = GROUPS_ALL,
      [SHAPE_RULE_SELECT] = GROUPS_ALL,
      [SHAPE_RULE_PAD] = GROUPS_ALL,
      [SHAPE_RULE_CONCATENATE] = GROUPS_ALL,
      [SHAPE_RULE_DYNAMIC_UPDATE_SLICE] = GROUPS_ALL,
      [SHAPE_RULE_SELECT_AND_SCATTER] = GROUPS_ALL,
      [SHAPE_RULE_REDUCE] = GROUPS_PAIRS,
      [SHAPE_RULE_REDUCE_WINDOW] = GROUPS_PAIRS,
      [SHAPE_RULE_SCATTER] = GROUPS_SCATTER,
      [SHAPE_RULE_DOT] = GROUPS_PRODUCT,
      [SHAPE_RULE_RAGGED_DOT] = GROUPS_PRODUCT,
      [SHAPE_RULE_CONVOLUTION] = GROUPS_PRODUCT,
      [SHAPE_RULE_MAP] = GROUPS_CALLED,
      [SHAPE_RULE_DIMENSION_SIZE] = GROUPS_NONE,
  };
  return i->opcode == HLO_FUSION ? GROUPS_CALLED : of_rule[hlo_ops[i->opcode].shape_rule];
}

static int group_count(type_groups groups, const instruction *i) {
  return groups == GROUPS_PAIRS || groups == GROUPS_SCATTER ? i->operand_count / 2 : 1;
}

static bool is_in_group(type_groups groups, const instruction *i, int operand, int group) {
  const int n = i->operand_count / 2;
  if (groups == GROUPS_PAIRS) return operand % n == group;
  if (groups == GROUPS_SCATTER) return operand == group || operand == n + 1 + group;
  return groups != GROUPS_PRODUCT || operand < 2;
}

// The type of element `k` of a result: of the tuple, or of the one there is.
static dtype result_type(const shape *s, int k) {
  return shape_is_tuple(s) ? (k < s->tuple_size ? s->elements[k]->dtype : DTYPE_INVALID) : s->dtype;
}

// --- finding out

// Whether what is applied to values of the operands' types gives floats of other types.
static bool gives_another_float(const instruction *i, const computation *f) {
  for (int k = 0; k < i->operand_count && k < f->parameters.size; k++) {
    const dtype given = i->operands[k]->shape->dtype, found = result_type(f->root->shape, k);
    if (shape_is_tuple(f->root->shape) ? k >= f->root->shape->tuple_size : k > 0) return false;
    if (found != given && dtype_is_float(found) && dtype_is_float(given)) return true;
  }
  return false;
}

static bool called_is_mixed(const instruction *i) {
  const bool is_applied =
      i->opcode == HLO_SORT || hlo_op_has(i->opcode, TRAIT_COLLECTIVE) || groups_of(i) != GROUPS_NONE;
  if (!is_applied || i->operand_count == 0) return false;
  const bool is_one_to_one = groups_of(i) == GROUPS_CALLED;
  for (int c = 0; c < i->called_count; c++) {
    const instruction_list *parameters = &i->called[c]->parameters;
    if (!is_one_to_one && gives_another_float(i, i->called[c])) return true;
    for (int p = 0; p < parameters->size; p++) {
      const int wanted = is_one_to_one           ? p
                         : i->opcode == HLO_SORT ? p / 2
                                                 : p % (parameters->size > 1 ? parameters->size / 2 : 1);
      if (wanted >= i->operand_count) continue;
      const dtype found = parameters->data[p]->shape->dtype, given = i->operands[wanted]->shape->dtype;
      if (found != given && dtype_is_array(found) && dtype_is_array(given)) return true;
    }
  }
  return false;
}

// Cheap, as every instruction of every module is asked: shapes are inferred only where two float types meet.
static bool is_mixed(const instruction *i) {
  if (hlo_op_has(i->opcode, TRAIT_EXACT_TYPE)) return false;
  dtype first = DTYPE_INVALID;
  bool has_other = false, has_whole = false;
  const type_groups groups = groups_of(i);
  for (int k = groups == GROUPS_CALLED ? -2 : -1; k < i->operand_count; k++) {
    const shape *s = k == -2 ? i->called[0]->root->shape : k < 0 ? i->shape : i->operands[k]->shape;
    for (int e = 0; e < (shape_is_tuple(s) ? s->tuple_size : 1); e++) {
      const dtype t = result_type(s, e);
      has_whole |= k >= 0 && k < 2 && !dtype_is_float(t);
      if (!dtype_is_float(t)) continue;
      has_other |= first != DTYPE_INVALID && t != first;
      first = t;
    }
  }
  if (groups == GROUPS_PRODUCT)
    return i->operands[0]->shape->dtype != i->operands[1]->shape->dtype && first != DTYPE_INVALID &&
           (has_other || has_whole);
  if (called_is_mixed(i)) return true;
  return has_other && hlo_ops[i->opcode].shape_rule != SHAPE_RULE_GIVEN && i->opcode != HLO_CONVERT;
}

bool mixed_types_expander_applies(const module *m) {
  for (int c = 0; c < m->computations.size; c++)
    for (int k = 0; k < m->computations.data[c]->instructions.size; k++)
      if (is_mixed(m->computations.data[c]->instructions.data[k])) return true;
  return false;
}

// --- computations

// (x, y, …) of the given types -> f of what they convert to, converted to the given result types.
static computation *wrap(const instruction *i, computation *f, const dtype *parameters, const dtype *results) {
  module *m = i->parent->module;
  computation *c = module_add_computation(m, f->name);
  builder b = builder_in(c);
  instruction **arguments = arena_array(m->arena, instruction *, f->parameters.size);
  for (int p = 0; p < f->parameters.size; p++) {
    const instruction *from = f->parameters.data[p];
    instruction *parameter =
        computation_add_parameter(c, p, STR(""), shape_with_dtype(m->arena, from->shape, parameters[p]));
    arguments[p] = builder_convert(&b, parameter, from->shape->dtype);
  }
  instruction *call = builder_add(&b, HLO_CALL, f->root->shape, f->parameters.size, arguments);
  attributes_mark(call->attributes, HLO_ATTRIBUTE_TO_APPLY);
  instruction_set_called(call, 1, &f);
  if (!shape_is_tuple(call->shape)) {
    computation_set_root(c, builder_convert(&b, call, results[0]));
    return c;
  }
  instruction **elements = arena_array(m->arena, instruction *, call->shape->tuple_size);
  for (int k = 0; k < call->shape->tuple_size; k++)
    elements[k] = builder_convert(&b, builder_element(&b, call, k), results[k]);
  computation_set_root(c, builder_tuple(&b, call->shape->tuple_size, elements));
  return c;
}

static int mantissa_bits(dtype t) {
  if (dtypes[t].is_narrow_float) return float_formats[dtypes[t].narrow].mantissa_bits;
  return t == DTYPE_F32 ? 23 : 52;
}

// Whether devices that combine values of type `to` by `f` get the same by f's operation on that type: it is exact in
// the wider type, or rounding twice is like rounding once, as it is with twice the digits and two more.
static bool is_same_when_narrow(const instruction *i, const computation *f, dtype to) {
  const hlo_opcode op = combiner_opcode(f);
  const dtype from = f->root->shape->dtype;
  if (!hlo_op_has(i->opcode, TRAIT_COLLECTIVE) || !dtype_is_float(from) || !dtype_is_float(to)) return false;
  if (op == HLO_MAXIMUM || op == HLO_MINIMUM) return mantissa_bits(from) >= mantissa_bits(to);
  return (op == HLO_ADD || op == HLO_MULTIPLY) && mantissa_bits(from) + 1 >= 2 * (mantissa_bits(to) + 1) + 2;
}

static computation *narrow_operation(const instruction *i, const computation *f, dtype to) {
  const builder b = builder_for(i);
  return builder_binary_computation(&b, combiner_opcode(f), to);
}

// The computation `which` takes values of `types`, of which parameter p wants number p % count or, side by side, p / 2.
// Comparisons give what they give.
static void fit_called(pass_context *context, instruction *i, int which, int count, const dtype *types) {
  computation *f = i->called[which];
  const int size = f->parameters.size;
  const bool compares = f->root->shape->dtype == DTYPE_PRED;
  dtype *parameters = arena_array(context->scratch, dtype, size),
        *results = arena_array(context->scratch, dtype, size + count);
  bool fits = true;
  for (int p = 0; p < size; p++) {
    parameters[p] = types[i->opcode == HLO_SORT ? p / 2 % count : p % count];
    fits &= parameters[p] == f->parameters.data[p]->shape->dtype;
  }
  for (int k = 0; k < count; k++) {
    results[k] = compares ? DTYPE_PRED : types[k];
    fits &= results[k] == result_type(f->root->shape, k);
  }
  if (fits) return;
  computation **called = arena_array(context->scratch, computation *, i->called_count);
  memcpy(called, i->called, (size_t)i->called_count * sizeof *called);
  called[which] = is_same_when_narrow(i, f, parameters[0]) ? narrow_operation(i, f, parameters[0])
                                                           : wrap(i, f, parameters, results);
  instruction_set_called(i, i->called_count, called);
  context->changed = true;
}

// --- operands and results

static void convert_operand(pass_context *context, const builder *b, instruction *i, int k, dtype to) {
  if (i->operands[k]->shape->dtype == to) return;
  instruction_set_operand(i, k, builder_convert(b, i->operands[k], to));
  context->changed = true;
}

// Floats of the group's operands and of the computation that takes them. Products of floats and whole numbers are
// computed in the result's type where that is wider.
static dtype group_type(type_groups groups, const instruction *i, int group) {
  dtype t = DTYPE_INVALID;
  bool has_whole = false;
  for (int k = 0; k < i->operand_count; k++) {
    const dtype found = i->operands[k]->shape->dtype;
    if (!is_in_group(groups, i, k, group)) continue;
    has_whole |= !dtype_is_float(found);
    if (dtype_is_float(found)) t = t == DTYPE_INVALID ? found : dtype_wider_float(t, found);
  }
  if (t == DTYPE_INVALID) return t;
  if (groups == GROUPS_PRODUCT && has_whole && dtype_is_float(i->shape->dtype))
    t = dtype_wider_float(t, i->shape->dtype);
  if (groups != GROUPS_PAIRS && groups != GROUPS_SCATTER) return t;
  const computation *f = i->called[0];
  const int n = group_count(groups, i);
  for (int p = group; p < f->parameters.size; p += n) t = dtype_wider_float(t, f->parameters.data[p]->shape->dtype);
  return dtype_wider_float(t, result_type(i->shape, group));
}

static void convert_groups(pass_context *context, const builder *b, instruction *i, type_groups groups) {
  const int count = group_count(groups, i);
  dtype *types = arena_array(context->scratch, dtype, count);
  for (int g = 0; g < count; g++) {
    types[g] = group_type(groups, i, g);
    for (int k = 0; k < i->operand_count && types[g] != DTYPE_INVALID; k++) {
      const dtype found = i->operands[k]->shape->dtype;
      const bool is_index = groups != GROUPS_PRODUCT && !dtype_is_float(found);
      if (is_in_group(groups, i, k, g) && !is_index) convert_operand(context, b, i, k, types[g]);
    }
    if (types[g] == DTYPE_INVALID) types[g] = i->operands[g]->shape->dtype;
  }
  for (int c = 0; c < i->called_count; c++) fit_called(context, i, c, count, types);
}

// Sorts and collectives keep their operands: what they apply takes other types.
static void fit_to_operands(pass_context *context, instruction *i) {
  const int count = i->opcode == HLO_SORT ? i->operand_count : 1;
  dtype *types = arena_array(context->scratch, dtype, count);
  for (int k = 0; k < count; k++) types[k] = i->operands[k]->shape->dtype;
  for (int k = 1; k < i->operand_count && i->opcode != HLO_SORT; k++)
    if (i->operands[k]->shape->dtype != types[0]) return;
  for (int c = 0; c < i->called_count; c++) fit_called(context, i, c, count, types);
}

// The users of `i`, whose type has become `inferred`, get what it was declared as.
static void round_result(arena *a, const builder *b, instruction *i, const shape *inferred) {
  const shape *declared = i->shape;
  if (!shape_is_tuple(declared)) {
    i->shape = shape_with_dtype(a, declared, inferred->dtype);
    instruction_replace_uses(i, builder_convert(b, i, declared->dtype));
    return;
  }
  instruction **elements = arena_array(a, instruction *, declared->tuple_size),
              **raw = arena_array(a, instruction *, declared->tuple_size);
  const shape **shapes = arena_array(a, const shape *, declared->tuple_size);
  for (int k = 0; k < declared->tuple_size; k++)
    shapes[k] = shape_with_dtype(a, declared->elements[k], inferred->elements[k]->dtype);
  i->shape = shape_tuple(a, declared->tuple_size, shapes);
  for (int k = 0; k < declared->tuple_size; k++) {
    raw[k] = builder_element(b, i, k);
    elements[k] = builder_convert(b, raw[k], declared->elements[k]->dtype);
  }
  instruction_replace_uses(i, builder_tuple(b, declared->tuple_size, elements));
  for (int k = 0; k < declared->tuple_size; k++) instruction_set_operand(raw[k], 0, i);
}

static heddle_status expand(pass_context *context, instruction *i) {
  module *m = i->parent->module;
  const builder b = builder_for(i);
  const type_groups groups = groups_of(i);
  if (groups == GROUPS_CALLED) {
    for (int k = 0; k < i->operand_count; k++)
      if (dtype_is_array(i->operands[k]->shape->dtype))
        convert_operand(context, &b, i, k, i->called[0]->parameters.data[k]->shape->dtype);
  } else if (groups != GROUPS_NONE) {
    convert_groups(context, &b, i, groups);
  } else {
    fit_to_operands(context, i);
  }
  const shape *inferred;
  TRY(shape_infer(m->arena, i, &inferred));
  if (shape_compatible(inferred, i->shape)) return status_ok();
  round_result(m->arena, &b, i, inferred);
  context->changed = true;
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  arena *scratch = context->scratch;
  for (int c = 0, count = m->computations.size; c < count; c++) {
    computation *at = m->computations.data[c];
    instruction_list found = {0};
    for (int k = 0; k < at->instructions.size; k++)
      if (is_mixed(at->instructions.data[k])) vec_push(scratch, &found, at->instructions.data[k]);
    for (int k = 0; k < found.size; k++) TRY(expand(context, found.data[k]));
  }
  return status_ok();
}

const pass opt_mixed_types_expander = {
    .name = "mixed-types-expander",
    .summary = "converts stand where an operation mixes element types",
    .order_reason = "near the front: all passes behind it rely on operands whose types agree",
    .use = PASS_NEEDED,
    .run = run,
};
