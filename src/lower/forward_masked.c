// xla-cpu-forward-masked: what was just written under a mask is not read again.
//
// A pass over a short row keeps what it computed in the result, where the next pass reads it and writes it over
// (lower/vectorize_short.c). LLVM sees through whole vectors that are stored and loaded, not through those under a
// mask, and processors do not hand the bytes of such a store on: the load waits until they are in the cache.
#include "emit/ir_builder.h"
#include "lower/passes.h"

// Operands of vector.transfer_read and vector.transfer_write under a mask, of and into a flat tensor.
enum { READ_INDEX = 1, READ_PADDING = 2, WRITE_VECTOR = 0, WRITE_TENSOR = 1, WRITE_INDEX = 2, MASK = 3, OPERANDS = 4 };

static bool is_masked(MlirOperation op, const char *name) {
  return ir_is(op, name) && mlirOperationGetNumOperands(op) == OPERANDS;
}

static bool same(MlirOperation x, int of_x, MlirOperation y, int of_y) {
  return mlirValueEqual(ir_operand(x, of_x), ir_operand(y, of_y));
}

// Whether a read takes all lanes that were written and no others.
static bool reads_back(MlirOperation read, MlirOperation write) {
  return is_masked(read, "vector.transfer_read") && mlirValueEqual(ir_operand(read, 0), ir_result(write, 0)) &&
         same(read, READ_INDEX, write, WRITE_INDEX) && same(read, MASK, write, MASK) &&
         mlirTypeEqual(ir_result_type(read, 0), mlirValueGetType(ir_operand(write, WRITE_VECTOR)));
}

static bool writes_over(MlirOperation later, MlirOperation write) {
  return is_masked(later, "vector.transfer_write") &&
         mlirValueEqual(ir_operand(later, WRITE_TENSOR), ir_result(write, 0)) &&
         same(later, WRITE_INDEX, write, WRITE_INDEX) && same(later, MASK, write, MASK) &&
         mlirTypeEqual(mlirValueGetType(ir_operand(later, WRITE_VECTOR)),
                       mlirValueGetType(ir_operand(write, WRITE_VECTOR)));
}

static void forward(arena *a, MlirOperation write) {
  ir_operations reads = {0};
  const MlirValue written = ir_result(write, 0);
  for (MlirOpOperand use = mlirValueGetFirstUse(written); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    const MlirOperation user = mlirOpOperandGetOwner(use);
    if (reads_back(user, write)) vec_push(a, &reads, user);
  }
  for (int i = 0; i < reads.size; i++) {
    const MlirOperation read = reads.data[i];
    ir_builder b = ir_builder_before(read, a);
    MlirValue padding = ir_operand(read, READ_PADDING);
    padding = ir_value(&b, "vector.broadcast", ir_result_type(read, 0), 1, &padding);
    const MlirValue lanes = ir_select(&b, ir_operand(write, MASK), ir_operand(write, WRITE_VECTOR), padding);
    ir_replace(read, &lanes);
  }
  if (!ir_has_one_use(written)) return;
  const MlirOperation later = mlirOpOperandGetOwner(mlirValueGetFirstUse(written));
  if (!writes_over(later, write)) return;
  mlirOperationSetOperand(later, WRITE_TENSOR, ir_operand(write, WRITE_TENSOR));
  ir_erase(write);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const ir_operations writes = ir_collect(c->scratch, (MlirOperation){unit}, "vector.transfer_write");
  for (int i = 0; i < writes.size; i++)
    if (is_masked(writes.data[i], "vector.transfer_write")) forward(c->scratch, writes.data[i]);
  return status_ok();
}

const pass lower_forward_masked = {
    .name = "xla-cpu-forward-masked",
    .summary = "reads of what was just written under the same mask -> the vector that was written",
    .order_reason = "behind the vectorizer, whose indices and masks are the same values once cse has run",
    .use = PASS_IMPROVES,
    .run = run,
};
