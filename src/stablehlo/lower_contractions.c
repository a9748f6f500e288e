// Matrix products: dot, dot_general and einsum, which is transposed, multiplied, summed and transposed again.
#include "stablehlo/build_forms.h"
#include "stablehlo/lower_table.h"

static const char *const precisions[] = {"DEFAULT", "HIGH", "HIGHEST", "PACKED_NIBBLE", NULL};

static heddle_status precision_of(const ir_operation *op, const ir_attribute *x, precision_kind *out) {
  for (int k = 0; precisions[k] && (x->kind == IR_ATTR_ENUM || x->kind == IR_ATTR_STRING); k++)
    if (str_is(x->text, precisions[k])) {
      *out = (precision_kind)k;
      return status_ok();
    }
  return lowering_invalid(op, "precision_config has an entry that is no precision");
}

heddle_status build_precision(lowering *l, instruction *i) {
  const ir_attribute *config = ir_find(l->op, "precision_config");
  if (!config || config->kind != IR_ATTR_ARRAY || !config->count) return status_ok();
  precision_kind *kinds = arena_array(l->arena, precision_kind, config->count);
  bool is_default = true;
  for (int k = 0; k < config->count; k++) {
    TRY(precision_of(l->op, config->items[k], &kinds[k]));
    is_default &= kinds[k] == PRECISION_DEFAULT;
  }
  if (is_default) return status_ok();
  i->attributes->operand_precision = kinds;
  i->attributes->precision_count = config->count;
  build_mark(i, HLO_ATTRIBUTE_OPERAND_PRECISION);
  return status_ok();
}

// The types may differ, and the result may be wider: HLO wants operands of one type and says the result's.
static instruction *dot_of(lowering *l, const ir_operation *op, instruction *x, instruction *y) {
  dtype to = ir_type_dtype(op->results[0]->type);
  if (to == DTYPE_INVALID) to = x->shape->dtype;
  const shape *s = shape_scalar(l->arena, to);
  return build_add(l, HLO_DOT, s, 2, (instruction *[]){x, y});
}

heddle_status lower_dot(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  instruction *i = dot_of(l, op, operands[0], operands[1]);
  int rank = operands[0]->shape->rank;
  if (!rank || !operands[1]->shape->rank) return lowering_invalid(op, "found a scalar, wanted vectors or matrices");
  int64_t last = rank - 1, first = 0;
  build_set_ints(l, i, HLO_ATTRIBUTE_LHS_CONTRACTING_DIMS, 1, &last);
  build_set_ints(l, i, HLO_ATTRIBUTE_RHS_CONTRACTING_DIMS, 1, &first);
  TRY(build_precision(l, i));
  results[0] = i;
  return build_infer(l, i);
}

// #stablehlo.dot_algorithm by the word HLO has for it.
typedef struct algorithm_word {
  const char *word;
  dtype lhs, rhs, accumulation;
  int primitives;
  bool imprecise;
} algorithm_word;

static const algorithm_word algorithm_words[] = {
    {"dot_any_f8_any_f8_f32", DTYPE_F8E5M2, DTYPE_F8E5M2, DTYPE_F32, 1, false},
    {"dot_any_f8_any_f8_f32_fast_accum", DTYPE_F8E5M2, DTYPE_F8E5M2, DTYPE_F32, 1, true},
    {"dot_f16_f16_f16", DTYPE_F16, DTYPE_F16, DTYPE_F16, 1, false},
    {"dot_f16_f16_f32", DTYPE_F16, DTYPE_F16, DTYPE_F32, 1, false},
    {"dot_bf16_bf16_bf16", DTYPE_BF16, DTYPE_BF16, DTYPE_BF16, 1, false},
    {"dot_bf16_bf16_f32", DTYPE_BF16, DTYPE_BF16, DTYPE_F32, 1, false},
    {"dot_bf16_bf16_f32_x3", DTYPE_BF16, DTYPE_BF16, DTYPE_F32, 3, false},
    {"dot_bf16_bf16_f32_x6", DTYPE_BF16, DTYPE_BF16, DTYPE_F32, 6, false},
    {"dot_bf16_bf16_f32_x9", DTYPE_BF16, DTYPE_BF16, DTYPE_F32, 9, false},
    {"dot_f32_f32_f32", DTYPE_F32, DTYPE_F32, DTYPE_F32, 1, false},
    {"dot_f64_f64_f64", DTYPE_F64, DTYPE_F64, DTYPE_F64, 1, false},
};

static dtype algorithm_type(const ir_attribute *algorithm, const char *name) {
  const ir_attribute *x = ir_find_field(algorithm, name);
  if (!x || x->kind != IR_ATTR_TYPE) return DTYPE_INVALID;
  if (x->type->kind == IR_TYPE_OPAQUE && str_is(x->type->text, "tf32")) return DTYPE_TUPLE;
  return ir_type_dtype(x->type);
}

static bool is_f8(dtype t) { return dtype_is_float(t) && dtypes[t].bits == 8; }

static const char *algorithm_of(const ir_attribute *x) {
  dtype lhs = algorithm_type(x, "lhs_precision_type"), rhs = algorithm_type(x, "rhs_precision_type");
  dtype accumulation = algorithm_type(x, "accumulation_type");
  int64_t primitives = lowering_field_int(x, "num_primitive_operations", 1);
  bool imprecise = lowering_field_int(x, "allow_imprecise_accumulation", 0) != 0;
  if (lhs == DTYPE_TUPLE && accumulation == DTYPE_F32)
    return primitives == 3 ? "dot_tf32_tf32_f32_x3" : "dot_tf32_tf32_f32";
  if (is_f8(lhs) && is_f8(rhs)) lhs = rhs = DTYPE_F8E5M2;
  for (size_t k = 0; k < sizeof algorithm_words / sizeof *algorithm_words; k++) {
    const algorithm_word *w = &algorithm_words[k];
    if (w->lhs == lhs && w->rhs == rhs && w->accumulation == accumulation && w->primitives == primitives &&
        w->imprecise == imprecise)
      return w->word;
  }
  return NULL;
}

static heddle_status set_algorithm(const ir_operation *op, instruction *i) {
  const ir_attribute *algorithm = ir_find(op, "algorithm");
  if (!algorithm || algorithm->kind != IR_ATTR_STRUCT) return status_ok();
  const char *word = algorithm_of(algorithm);
  if (!word) return lowering_refuse(op, "HLO has no name for this algorithm");
  i->attributes->dot_algorithm = str_from(word);
  build_mark(i, HLO_ATTRIBUTE_ALGORITHM);
  return status_ok();
}

heddle_status lower_dot_general(lowering *l, const ir_operation *op, instruction *const *operands,
                                instruction **results) {
  static const struct {
    const char *name;
    hlo_attribute_id id;
  } lists[] = {
      {"lhs_batching_dimensions", HLO_ATTRIBUTE_LHS_BATCH_DIMS},
      {"lhs_contracting_dimensions", HLO_ATTRIBUTE_LHS_CONTRACTING_DIMS},
      {"rhs_batching_dimensions", HLO_ATTRIBUTE_RHS_BATCH_DIMS},
      {"rhs_contracting_dimensions", HLO_ATTRIBUTE_RHS_CONTRACTING_DIMS},
  };
  const ir_attribute *numbers = ir_find(op, "dot_dimension_numbers");
  if (!numbers) return lowering_invalid(op, "attribute dot_dimension_numbers is missing");
  instruction *i = dot_of(l, op, operands[0], operands[1]);
  for (int k = 0; k < 4; k++) {
    int_list list;
    TRY(lowering_field_ints(l, op, numbers, lists[k].name, &list));
    if (list.size) build_set_ints(l, i, lists[k].id, list.size, list.data);
  }
  TRY(build_precision(l, i));
  TRY(set_algorithm(op, i));
  results[0] = i;
  return build_infer(l, i);
}
