// Attributes: those that ops.def requires are there, and values that shape inference does not look at make sense.
#include "hlo/device_groups.h"
#include "hlo/verifier_rules.h"

// The next name in a row's list of attributes, with whether it is required; false at the end.
static bool next_attribute(const char **list, str *name, bool *is_required) {
  const char *p = *list;
  if (!p) return false;
  while (*p == ' ') p++;
  if (!*p) return false;
  size_t size = strcspn(p, " ");
  *is_required = p[size - 1] == '!';
  *name = (str){p, size - *is_required};
  *list = p + size;
  return true;
}

int verifier_required_computations(hlo_opcode op) {
  const char *list = hlo_ops[op].attributes;
  str name;
  bool is_required;
  int count = 0;
  while (hlo_op_has(op, TRAIT_HAS_COMPUTATIONS) && next_attribute(&list, &name, &is_required)) {
    if (!is_required) continue;
    hlo_attribute_id id = hlo_attribute_from_text(name);
    count += id != HLO_ATTRIBUTE_COUNT && hlo_attribute_infos[id].kind == ATTRIBUTE_COMPUTATION;
  }
  return count;
}

int verifier_allowed_computations(hlo_opcode op) {
  const char *list = hlo_ops[op].attributes;
  str name;
  bool is_required;
  int count = 0;
  while (next_attribute(&list, &name, &is_required)) {
    hlo_attribute_id id = hlo_attribute_from_text(name);
    if (id == HLO_ATTRIBUTE_COUNT) continue;
    if (hlo_attribute_infos[id].kind == ATTRIBUTE_COMPUTATIONS) return INT32_MAX;
    count += hlo_attribute_infos[id].kind == ATTRIBUTE_COMPUTATION;
  }
  return count;
}

// Whether the value counts as given. An instruction that did not come from a text may rely on its zeros.
static bool is_given(const instruction *i, hlo_attribute_id id) {
  const hlo_attribute_info *info = &hlo_attribute_infos[id];
  if (info->kind == ATTRIBUTE_COMPUTATION) return true;  // counted apart
  if (attributes_has(i->attributes, id) || !attributes_is_default(i->attributes, id)) return true;
  if (attributes_raw(i->attributes, info->text)) return true;
  return i->where.line == 0 && info->kind != ATTRIBUTE_RAW;
}

static heddle_status verify_required(const instruction *i) {
  const char *list = hlo_ops[i->opcode].attributes;
  str name;
  bool is_required;
  while (next_attribute(&list, &name, &is_required)) {
    hlo_attribute_id id = is_required ? hlo_attribute_from_text(name) : HLO_ATTRIBUTE_COUNT;
    if (id != HLO_ATTRIBUTE_COUNT && !is_given(i, id))
      return VERIFY_ERROR(i, "the attribute '" STR_FMT "' is missing", STR_ARG(name));
  }
  return status_ok();
}

// The class of types a comparison type is for.
static heddle_status verify_compare(arena *a, const instruction *i) {
  (void)a;
  static const unsigned wanted[] = {
      [COMPARISON_DEFAULT] = CLASS_ARRAY,
      [COMPARISON_FLOAT] = CLASS_FLOAT | CLASS_COMPLEX,
      [COMPARISON_TOTAL_ORDER] = CLASS_FLOAT,
      [COMPARISON_SIGNED] = CLASS_SIGNED,
      [COMPARISON_UNSIGNED] = CLASS_UNSIGNED | CLASS_PRED,
  };
  dtype t = i->operands[0]->shape->dtype;
  comparison_direction direction = i->attributes->direction;
  if (!(dtypes[t].class & wanted[i->attributes->compare_type]))
    return VERIFY_ERROR(i, "the comparison type is not one for %s", dtype_name(t));
  if (dtype_is_complex(t) && direction != COMPARE_EQ && direction != COMPARE_NE)
    return VERIFY_ERROR(i, "%s has no order: the direction must be EQ or NE", dtype_name(t));
  return status_ok();
}

static heddle_status verify_reduce_precision(arena *a, const instruction *i) {
  (void)a;
  int64_t exponent = i->attributes->exponent_bits, mantissa = i->attributes->mantissa_bits;
  if (exponent >= 1 && exponent <= 64 && mantissa >= 0 && mantissa <= 64) return status_ok();
  return VERIFY_ERROR(i, "found %lld exponent and %lld mantissa bits, wanted at least 1 and 0, at most 64",
                      (long long)exponent, (long long)mantissa);
}

static heddle_status verify_constant(arena *a, const instruction *i) {
  if (!i->literal) return VERIFY_ERROR(i, "it has no value");
  if (shape_compatible(i->literal->shape, i->shape)) return status_ok();
  return VERIFY_ERROR(i, "the value has shape %s, wanted %s", shape_text(a, i->literal->shape),
                      shape_text(a, i->shape));
}

static heddle_status verify_custom_call(arena *a, const instruction *i) {
  const hlo_attributes *x = i->attributes;
  if (!x->operand_layout_count && !attributes_has(x, HLO_ATTRIBUTE_OPERAND_LAYOUT_CONSTRAINTS)) return status_ok();
  if (x->operand_layout_count != i->operand_count)
    return VERIFY_ERROR(i, "operand_layout_constraints has %d shapes, wanted one for each of %d operands",
                        x->operand_layout_count, i->operand_count);
  for (int k = 0; k < i->operand_count; k++)
    if (!shape_compatible(x->operand_layouts[k], i->operands[k]->shape))
      return VERIFY_ERROR(i, "operand_layout_constraints has %s for operand %d, which has shape %s",
                          shape_text(a, x->operand_layouts[k]), k, shape_text(a, i->operands[k]->shape));
  return status_ok();
}

// An operand that is not dense changes what the convolution computes.
static heddle_status verify_convolution(arena *a, const instruction *i) {
  (void)a;
  const str *config = attributes_raw(i->attributes, "sparsity_config");
  for (size_t k = 0; config && k < config->size; k++)
    if (!strchr("{} \t\n", config->data[k]))
      return status_at(HEDDLE_UNIMPLEMENTED, i->where, "convolution: sparsity_config says that an operand is sparse");
  return status_ok();
}

// The mode repeats what the channel and the ids say; where it says something else, one of them is wrong.
static heddle_status verify_collective_mode(arena *a, const instruction *i) {
  (void)a;
  const char *const *names = hlo_attribute_infos[HLO_ATTRIBUTE_MODE].names;
  const int written = (int)i->attributes->collective_mode, meant = (int)device_groups_mode_of(i) + 1;
  if (written == COLLECTIVE_MODE_NOT_WRITTEN || written == meant) return status_ok();
  return VERIFY_ERROR(i, "found mode=%s, but channel_id and use_global_device_ids say %s", names[written],
                      names[meant]);
}

// What is exchanged are rows of the first dimension.
static heddle_status verify_ragged_all_to_all(arena *a, const instruction *i) {
  (void)a;
  const int_list dims = i->attributes->dimensions;
  if (!attributes_has(i->attributes, HLO_ATTRIBUTE_DIMENSIONS) && !dims.size) return status_ok();
  if (dims.size == 1 && dims.data[0] == 0) return status_ok();
  return VERIFY_ERROR(i, "wanted dimensions={0}: only the first dimension is ragged");
}

typedef heddle_status verify_fn(arena *a, const instruction *i);

static verify_fn *const values[HLO_OPCODE_COUNT] = {
    [HLO_COMPARE] = verify_compare,
    [HLO_REDUCE_PRECISION] = verify_reduce_precision,
    [HLO_CONSTANT] = verify_constant,
    [HLO_CUSTOM_CALL] = verify_custom_call,
    [HLO_CONVOLUTION] = verify_convolution,
    [HLO_ALL_REDUCE] = verify_collective_mode,
    [HLO_ALL_REDUCE_START] = verify_collective_mode,
    [HLO_REDUCE_SCATTER] = verify_collective_mode,
    [HLO_RAGGED_ALL_TO_ALL] = verify_ragged_all_to_all,
};

heddle_status verifier_check_attributes(arena *a, const instruction *i) {
  TRY(verify_required(i));
  return values[i->opcode] ? values[i->opcode](a, i) : status_ok();
}
