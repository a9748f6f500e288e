// iree-codegen-split-vectors: arithmetic on vectors of several dims becomes arithmetic on rows, and loops carry rows.
//
// What follows (narrow floats, mathematical functions, LLVM) works on vectors of one dim, as registers do. MLIR's
// conversion to LLVM would make arrays of vectors of the others, which LLVM keeps in memory where a loop carries them.
#include "emit/ir_builder.h"
#include "tile/passes.h"

static int rank_of(MlirType t) { return ir_is_vector(t) ? (int)mlirShapedTypeGetRank(t) : 0; }

static MlirType row_type(MlirType t) {
  const int rank = rank_of(t);
  intptr_t dims[16];
  for (int d = 1; d < rank; d++) dims[d - 1] = mlirShapedTypeGetDimSize(t, d);
  return mlirVectorTypeGet(rank - 1, dims, mlirShapedTypeGetElementType(t));
}

static MlirNamedAttribute position(const ir_builder *b, int64_t row) {
  return ir_named(b->context, "static_position", mlirDenseI64ArrayGet(b->context, 1, &row));
}

static MlirValue row_of(ir_builder *b, MlirValue x, int64_t row) {
  MlirNamedAttribute at = position(b, row);
  return ir_value_with(b, "vector.extract", row_type(mlirValueGetType(x)), 1, &x, 1, &at);
}

static MlirValue of_rows(ir_builder *b, MlirType t, const MlirValue *rows) {
  MlirType element = mlirShapedTypeGetElementType(t);
  MlirValue whole = mlirTypeIsAFloat(element) ? ir_float(b, t, 0) : ir_int(b, t, 0);
  for (int64_t row = 0; row < mlirShapedTypeGetDimSize(t, 0); row++) {
    MlirValue operands[] = {rows[row], whole};
    MlirNamedAttribute at = position(b, row);
    whole = ir_value_with(b, "vector.insert", t, 2, operands, 1, &at);
  }
  return whole;
}

// --- arithmetic

// All results have the shape of the first.
static bool is_arithmetic(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  const str s = {name.data, name.length};
  return (str_starts_with(s, "arith.") || str_starts_with(s, "math.")) && !str_is(s, "arith.constant") &&
         mlirOperationGetNumResults(op) > 0 && rank_of(ir_result_type(op, 0)) > 1;
}

// The operation on one row; the results go where results[0], results[rows], … are.
static void build_row(ir_builder *b, MlirOperation op, int64_t row, int64_t rows, MlirValue *results) {
  const int operands = (int)mlirOperationGetNumOperands(op), attributes = (int)mlirOperationGetNumAttributes(op),
            count = (int)mlirOperationGetNumResults(op);
  MlirNamedAttribute *kept = arena_array(b->arena, MlirNamedAttribute, attributes);
  MlirValue *parts = arena_array(b->arena, MlirValue, operands);
  MlirType *types = arena_array(b->arena, MlirType, count);
  for (int k = 0; k < attributes; k++) kept[k] = mlirOperationGetAttribute(op, k);
  for (int k = 0; k < count; k++) types[k] = row_type(ir_result_type(op, k));
  for (int k = 0; k < operands; k++) {
    MlirValue x = ir_operand(op, k);
    parts[k] = rank_of(mlirValueGetType(x)) > 1 ? row_of(b, x, row) : x;
  }
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  MlirOperation made = ir_build(b, (ir_op_state){.name = arena_strdup(b->arena, name.data, name.length),
                                                 .operand_count = operands,
                                                 .operands = parts,
                                                 .result_count = count,
                                                 .results = types,
                                                 .attribute_count = attributes,
                                                 .attributes = kept});
  for (int k = 0; k < count; k++) results[k * rows] = ir_result(made, k);
}

static void split_operation(arena *a, MlirOperation op) {
  const int count = (int)mlirOperationGetNumResults(op);
  const int64_t rows = mlirShapedTypeGetDimSize(ir_result_type(op, 0), 0);
  ir_builder b = ir_builder_before(op, a);
  MlirValue *made = arena_array(a, MlirValue, rows * count), *whole = arena_array(a, MlirValue, count);
  for (int64_t r = 0; r < rows; r++) build_row(&b, op, r, rows, made + r);
  for (int k = 0; k < count; k++) whole[k] = of_rows(&b, ir_result_type(op, k), made + k * rows);
  ir_replace(op, whole);
}

static bool split_arithmetic(arena *a, MlirOperation module) {
  ir_operations all = ir_collect(a, module, NULL);
  bool any = false;
  for (int k = 0; k < all.size; k++)
    if (is_arithmetic(all.data[k])) {
      split_operation(a, all.data[k]);
      any = true;
    }
  return any;
}

// --- loops

// Adds the rows of a value that is to be split, or the value.
static void add_rows(arena *a, ir_builder *b, MlirValue x, ir_values *out) {
  MlirType t = mlirValueGetType(x);
  if (rank_of(t) < 2) vec_push(a, out, x);
  for (int64_t r = 0; rank_of(t) > 1 && r < mlirShapedTypeGetDimSize(t, 0); r++) vec_push(a, out, row_of(b, x, r));
}

// Takes the value of type t back from its rows, which begin at *next.
static MlirValue take_value(ir_builder *b, MlirType t, const MlirValue **next) {
  MlirValue whole = rank_of(t) > 1 ? of_rows(b, t, *next) : **next;
  *next += rank_of(t) > 1 ? mlirShapedTypeGetDimSize(t, 0) : 1;
  return whole;
}

static bool carries_rows(MlirOperation loop) {
  bool any = false;
  for (int k = 0; k < mlirOperationGetNumResults(loop); k++) any |= rank_of(ir_result_type(loop, k)) > 1;
  return any;
}

static void split_loop(arena *a, MlirOperation loop) {
  ir_builder b = ir_builder_before(loop, a);
  const int carried = (int)mlirOperationGetNumResults(loop);
  ir_values inits = {0}, arguments = {0}, results = {0}, yielded = {0};
  for (int k = 0; k < carried; k++) add_rows(a, &b, ir_operand(loop, 3 + k), &inits);
  MlirOperation made =
      ir_for(&b, ir_operand(loop, 0), ir_operand(loop, 1), ir_operand(loop, 2), inits.size, inits.data);
  MlirBlock body = ir_body(made, 0);
  ir_builder inner = ir_builder_at_end(b.context, body, a);
  MlirValue *rows = arena_array(a, MlirValue, inits.size);
  for (int k = 0; k < inits.size; k++) rows[k] = mlirBlockGetArgument(body, 1 + k);
  const MlirValue *next = rows;
  vec_push(a, &arguments, mlirBlockGetArgument(body, 0));
  for (int k = 0; k < carried; k++) vec_push(a, &arguments, take_value(&inner, ir_result_type(loop, k), &next));
  ir_yield(&inner, inits.size, rows);
  const ir_values old = ir_inline_block(a, ir_body(loop, 0), ir_terminator(body), arguments.data);
  MlirOperation end = ir_terminator(body);
  ir_builder last = ir_builder_before(end, a);
  for (int k = 0; k < carried; k++) add_rows(a, &last, old.data[k], &yielded);
  for (int k = 0; k < yielded.size; k++) mlirOperationSetOperand(end, k, yielded.data[k]);
  ir_builder behind = ir_builder_after(made, a);
  for (int k = 0; k < inits.size; k++) rows[k] = ir_result(made, k);
  next = rows;
  for (int k = 0; k < carried; k++) vec_push(a, &results, take_value(&behind, ir_result_type(loop, k), &next));
  ir_replace(loop, results.data);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  for (bool again = true; again;) {
    again = split_arithmetic(c->scratch, module);
    ir_operations loops = ir_collect(c->scratch, module, "scf.for");
    for (int k = 0; k < loops.size; k++)
      if (carries_rows(loops.data[k])) {
        split_loop(c->scratch, loops.data[k]);
        again = true;
      }
  }
  return lower_tidy(context, unit);
}

const pass tile_split_vectors = {
    .name = "iree-codegen-split-vectors",
    .summary = "vectors of several dims to rows, in arithmetic and where loops carry them",
    .order_reason = "before all that is done to numbers, which knows vectors of one dim only",
    .use = PASS_NEEDED,
    .run = run,
};
