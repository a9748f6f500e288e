// A register holds a row: what is done row by row costs an operation for each register, in the code that is made and
// in the time that it takes to make it. A tile of attention, with 16 rows of 16 numbers, took a quarter of its
// compilation for inserting and extracting numbers.
#include "tile/vector_rows.h"

#include <mlir-c/BuiltinAttributes.h>

#include "hlo/shape.h"

// --- rows

typedef struct rows {
  int lead;  // dims in front of the innermost one
  int64_t dims[SHAPE_MAX_RANK], count;
  MlirType type;  // of one row
} rows;

static bool rows_of(MlirType t, rows *out) {
  const int rank = (int)mlirShapedTypeGetRank(t);
  *out = (rows){.lead = rank - 1, .count = 1};
  if (rank < 1 || rank > SHAPE_MAX_RANK) return false;
  for (int d = 0; d < rank - 1; d++) out->count *= out->dims[d] = mlirShapedTypeGetDimSize(t, d);
  const intptr_t lanes = mlirShapedTypeGetDimSize(t, rank - 1);
  out->type = mlirVectorTypeGet(1, &lanes, mlirShapedTypeGetElementType(t));
  return true;
}

static void position_of(const rows *r, int64_t row, int64_t *out) {
  for (int d = r->lead - 1; d >= 0; row /= r->dims[d--]) out[d] = row % r->dims[d];
}

static MlirNamedAttribute position(const ir_builder *b, const rows *r, int64_t row) {
  int64_t at[SHAPE_MAX_RANK];
  position_of(r, row, at);
  return ir_named(b->context, "static_position", mlirDenseI64ArrayGet(b->context, r->lead, at));
}

static MlirValue take_row(ir_builder *b, const rows *r, MlirValue x, int64_t row) {
  if (r->lead == 0) return x;
  MlirNamedAttribute at = position(b, r, row);
  return ir_value_with(b, "vector.extract", r->type, 1, &x, 1, &at);
}

static MlirValue of_rows(ir_builder *b, const rows *r, MlirType t, const MlirValue *parts) {
  if (r->lead == 0) return parts[0];
  MlirValue whole = mlirTypeIsAFloat(mlirShapedTypeGetElementType(t)) ? ir_float(b, t, 0) : ir_int(b, t, 0);
  for (int64_t row = 0; row < r->count; row++) {
    MlirValue operands[] = {parts[row], whole};
    MlirNamedAttribute at = position(b, r, row);
    whole = ir_value_with(b, "vector.insert", t, 2, operands, 1, &at);
  }
  return whole;
}

// --- reductions

// The operation that combines two rows; null for a kind that is not known.
static const char *combining(MlirAttribute kind, bool is_float) {
  static const struct {
    const char *kind, *of_floats, *of_integers;
  } kinds[] = {
      {"#vector.kind<add>", "arith.addf", "arith.addi"},  {"#vector.kind<mul>", "arith.mulf", "arith.muli"},
      {"#vector.kind<minui>", NULL, "arith.minui"},       {"#vector.kind<minsi>", NULL, "arith.minsi"},
      {"#vector.kind<maxui>", NULL, "arith.maxui"},       {"#vector.kind<maxsi>", NULL, "arith.maxsi"},
      {"#vector.kind<and>", NULL, "arith.andi"},          {"#vector.kind<or>", NULL, "arith.ori"},
      {"#vector.kind<xor>", NULL, "arith.xori"},          {"#vector.kind<minnumf>", "arith.minnumf", NULL},
      {"#vector.kind<maxnumf>", "arith.maxnumf", NULL},   {"#vector.kind<minimumf>", "arith.minimumf", NULL},
      {"#vector.kind<maximumf>", "arith.maximumf", NULL},
  };
  const char *found = NULL;
  text t = {0};
  mlirAttributePrint(kind, ir_append, &t);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
    if (str_is(text_view(&t), kinds[k].kind)) found = is_float ? kinds[k].of_floats : kinds[k].of_integers;
  text_free(&t);
  return found;
}

// Which dims are reduced; false if the innermost one is.
static bool reduced_dims(MlirOperation op, int lead, bool *out) {
  MlirAttribute dims = ir_get(op, "reduction_dims");
  for (intptr_t k = 0; k < mlirArrayAttrGetNumElements(dims); k++) {
    const int64_t d = mlirIntegerAttrGetValueInt(mlirArrayAttrGetElement(dims, k));
    if (d >= lead) return false;
    out[d] = true;
  }
  return true;
}

static void reduce(arena *a, MlirOperation op) {
  MlirValue from = ir_operand(op, 0), onto = ir_operand(op, 1);
  MlirType type = mlirValueGetType(from), result = ir_result_type(op, 0);
  rows in, out;
  bool is_reduced[SHAPE_MAX_RANK] = {0};
  const char *name = combining(ir_get(op, "kind"), mlirTypeIsAFloat(mlirShapedTypeGetElementType(type)));
  if (!name || !ir_is_vector(result) || ir_is(mlirOperationGetParentOperation(op), "vector.mask")) return;
  ir_builder b = ir_builder_before(op, a);
  if (ir_element_count(type) == ir_element_count(result)) {  // each sum is of one number
    MlirValue sums = ir_binary(&b, name, ir_cast(&b, "vector.shape_cast", result, from), onto);
    ir_replace(op, &sums);
    return;
  }
  if (!rows_of(type, &in) || !rows_of(result, &out) || !reduced_dims(op, in.lead, is_reduced)) return;
  MlirValue *sums = arena_array(a, MlirValue, out.count);
  for (int64_t r = 0; r < out.count; r++) sums[r] = take_row(&b, &out, onto, r);
  for (int64_t r = 0; r < in.count; r++) {
    int64_t at[SHAPE_MAX_RANK], into = 0;
    position_of(&in, r, at);
    for (int d = 0; d < in.lead; d++)
      if (!is_reduced[d]) into = into * in.dims[d] + at[d];
    sums[into] = ir_binary(&b, name, take_row(&b, &in, from, r), sums[into]);
  }
  MlirValue whole = of_rows(&b, &out, result, sums);
  ir_replace(op, &whole);
}

// Whether no dim with more than one element gets in front of another.
static bool keeps_order(MlirOperation transpose) {
  MlirAttribute from = ir_get(transpose, "permutation");
  MlirType type = mlirValueGetType(ir_operand(transpose, 0));
  int64_t last = -1;
  for (intptr_t d = 0; d < mlirDenseArrayGetNumElements(from); d++) {
    const int64_t at = mlirDenseI64ArrayGetElement(from, d);
    if (mlirShapedTypeGetDimSize(type, at) == 1) continue;
    if (at < last) return false;
    last = at;
  }
  return true;
}

void vector_rows_reduce(arena *a, MlirOperation module) {
  const ir_operations turned = ir_collect(a, module, "vector.transpose"),
                      all = ir_collect(a, module, "vector.multi_reduction");
  for (int k = 0; k < turned.size; k++) {
    if (!keeps_order(turned.data[k])) continue;
    ir_builder b = ir_builder_before(turned.data[k], a);
    MlirValue same = ir_cast(&b, "vector.shape_cast", ir_result_type(turned.data[k], 0), ir_operand(turned.data[k], 0));
    ir_replace(turned.data[k], &same);
  }
  for (int k = 0; k < all.size; k++) reduce(a, all.data[k]);
}

// --- casts

static void cast(arena *a, MlirOperation op) {
  MlirValue x = ir_operand(op, 0);
  MlirType result = ir_result_type(op, 0);
  rows in, out;
  if (!rows_of(mlirValueGetType(x), &in) || !rows_of(result, &out) || !mlirTypeEqual(in.type, out.type)) return;
  ir_builder b = ir_builder_before(op, a);
  MlirValue *parts = arena_array(a, MlirValue, in.count);
  for (int64_t r = 0; r < in.count; r++) parts[r] = take_row(&b, &in, x, r);
  MlirValue whole = of_rows(&b, &out, result, parts);
  ir_replace(op, &whole);
}

void vector_rows_cast(arena *a, MlirOperation module) {
  const ir_operations all = ir_collect(a, module, "vector.shape_cast");
  for (int k = 0; k < all.size; k++) cast(a, all.data[k]);
}
