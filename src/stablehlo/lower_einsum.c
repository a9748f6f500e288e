// einsum and unary_einsum ("ab,bc->ac"): labels of one side that the result lacks are summed away, shared labels become
// batch or contracting dimensions of a dot, and a transpose gives the wanted order.
#include "stablehlo/build_forms.h"
#include "stablehlo/lower_table.h"

enum { ELLIPSIS_LABEL = 256, MAX_LABELS = SHAPE_MAX_RANK };  // dims under `...` get labels from ELLIPSIS_LABEL on

typedef struct label_list {
  int count;
  int labels[MAX_LABELS];
} label_list;

static int find_label(const label_list *list, int label) {
  for (int k = 0; k < list->count; k++)
    if (list->labels[k] == label) return k;
  return -1;
}

static heddle_status add_label(const ir_operation *op, label_list *list, int label) {
  if (list->count == MAX_LABELS) return lowering_invalid(op, "einsum_config has more than %d labels", MAX_LABELS);
  if (find_label(list, label) >= 0) return lowering_refuse(op, "einsum_config repeats a label within one operand");
  list->labels[list->count++] = label;
  return status_ok();
}

// `ellipsis` dims stand for `...`; they are numbered from the last one backwards, so that shorter ones align right.
static heddle_status parse_labels(const ir_operation *op, str text, int ellipsis, label_list *out) {
  for (size_t k = 0; k < text.size; k++) {
    char c = text.data[k];
    if (c == ' ') continue;
    if (c == '.' && k + 2 < text.size && text.data[k + 1] == '.' && text.data[k + 2] == '.') {
      for (int n = ellipsis; n > 0; n--) TRY(add_label(op, out, ELLIPSIS_LABEL + n));
      k += 2;
      continue;
    }
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!is_letter) return lowering_invalid(op, "einsum_config has '%c', wanted letters", c);
    TRY(add_label(op, out, c));
  }
  return status_ok();
}

// How many dims `...` stands for in an operand of this rank; negative if the text has more letters than that.
static int ellipsis_rank(str text, int rank) {
  int letters = 0;
  bool has_ellipsis = false;
  for (size_t k = 0; k < text.size; k++) {
    if (text.data[k] == '.') has_ellipsis = true;
    else if (text.data[k] != ' ') letters++;
  }
  return has_ellipsis || letters != rank ? rank - letters : 0;
}

// Sums over the labels that are in none of the two lists.
static heddle_status sum_others(lowering *l, instruction *x, label_list *own, const label_list *other,
                                const label_list *result, instruction **out) {
  label_list kept = {0};
  int64_t summed[MAX_LABELS];
  int count = 0;
  for (int k = 0; k < own->count; k++) {
    int label = own->labels[k];
    if (find_label(other, label) < 0 && find_label(result, label) < 0) summed[count++] = k;
    else kept.labels[kept.count++] = label;
  }
  *out = x;
  if (!count) return status_ok();
  *own = kept;
  return build_sum(l, x, count, summed, out);
}

static heddle_status reorder(lowering *l, instruction *x, const label_list *have, const label_list *want,
                             instruction **out) {
  int64_t permutation[MAX_LABELS];
  bool is_identity = true;
  if (have->count != want->count) return lowering_invalid(l->op, "einsum_config has a result label of no operand");
  for (int k = 0; k < want->count; k++) {
    permutation[k] = find_label(have, want->labels[k]);
    if (permutation[k] < 0) return lowering_invalid(l->op, "einsum_config has a result label of no operand");
    is_identity &= permutation[k] == k;
  }
  *out = x;
  if (is_identity) return status_ok();
  *out = build_add(l, HLO_TRANSPOSE, x->shape, 1, &x);
  build_dimensions(l, *out, want->count, permutation);
  return build_infer(l, *out);
}

// Batch dims, then what is free on the left, then on the right: the dims of a dot's result.
static heddle_status multiply(lowering *l, instruction *const *sides, const label_list *lhs, const label_list *rhs,
                              const label_list *want, instruction **out) {
  int64_t dims[4][MAX_LABELS];
  int batch = 0, contracting = 0;
  label_list have = {0};
  for (int k = 0; k < lhs->count; k++) {
    int other = find_label(rhs, lhs->labels[k]);
    if (other < 0) continue;
    bool is_batch = find_label(want, lhs->labels[k]) >= 0;
    int at = is_batch ? batch++ : contracting++;
    dims[is_batch ? 0 : 2][at] = k;
    dims[is_batch ? 1 : 3][at] = other;
    if (is_batch) have.labels[have.count++] = lhs->labels[k];
  }
  for (int k = 0; k < lhs->count; k++)
    if (find_label(rhs, lhs->labels[k]) < 0) TRY(add_label(l->op, &have, lhs->labels[k]));
  for (int k = 0; k < rhs->count; k++)
    if (find_label(lhs, rhs->labels[k]) < 0) TRY(add_label(l->op, &have, rhs->labels[k]));
  instruction *i = build_add(l, HLO_DOT, shape_scalar(l->arena, sides[0]->shape->dtype), 2, sides);
  build_set_ints(l, i, HLO_ATTRIBUTE_LHS_BATCH_DIMS, batch, dims[0]);
  build_set_ints(l, i, HLO_ATTRIBUTE_RHS_BATCH_DIMS, batch, dims[1]);
  build_set_ints(l, i, HLO_ATTRIBUTE_LHS_CONTRACTING_DIMS, contracting, dims[2]);
  build_set_ints(l, i, HLO_ATTRIBUTE_RHS_CONTRACTING_DIMS, contracting, dims[3]);
  TRY(build_precision(l, i));
  TRY(build_infer(l, i));
  return reorder(l, i, &have, want, out);
}

static str part_of(str config, size_t from, size_t to) { return (str){config.data + from, to - from}; }

static size_t position_of(str config, const char *what, size_t from) {
  size_t n = strlen(what);
  for (size_t k = from; k + n <= config.size; k++)
    if (memcmp(config.data + k, what, n) == 0) return k;
  return config.size;
}

heddle_status lower_einsum(lowering *l, const ir_operation *op, instruction *const *operands, instruction **results) {
  str config = lowering_word(op, "einsum_config");
  size_t arrow = position_of(config, "->", 0), comma = position_of(config, ",", 0);
  bool is_binary = op->operand_count == 2;
  if (arrow == config.size || (comma < arrow) != is_binary || !op->operand_count)
    return lowering_invalid(op, "einsum_config is '" STR_FMT "', wanted one like 'ab,bc->ac'", STR_ARG(config));
  str texts[2] = {part_of(config, 0, is_binary ? comma : arrow),
                  is_binary ? part_of(config, comma + 1, arrow) : (str){0}};
  label_list labels[2] = {0}, want = {0};
  int widest = 0;
  for (int k = 0; k < (is_binary ? 2 : 1); k++) {
    int ellipsis = ellipsis_rank(texts[k], operands[k]->shape->rank);
    if (ellipsis > widest) widest = ellipsis;
    TRY(parse_labels(op, texts[k], ellipsis, &labels[k]));
    if (labels[k].count != operands[k]->shape->rank)
      return lowering_invalid(op, "einsum_config has %d labels for an operand of rank %d", labels[k].count,
                              operands[k]->shape->rank);
  }
  TRY(parse_labels(op, part_of(config, arrow + 2, config.size), widest, &want));
  instruction *sides[2] = {0};
  TRY(sum_others(l, operands[0], &labels[0], &labels[1], &want, &sides[0]));
  if (!is_binary) return reorder(l, sides[0], &labels[0], &want, &results[0]);
  TRY(sum_others(l, operands[1], &labels[1], &labels[0], &want, &sides[1]));
  return multiply(l, sides, &labels[0], &labels[1], &want, &results[0]);
}
