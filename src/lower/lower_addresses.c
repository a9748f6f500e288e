// xla-cpu-share-addresses: addresses of elements share what is equal in them (lower/shared_addresses.h).
#include "emit/ir_builder.h"
#include "lower/passes.h"
#include "lower/shared_addresses.h"

// What an address of one index is computed from: null if it is no number of elements that was computed as an index.
static MlirValue index_of(MlirOperation address) {
  MlirValue none = {NULL};
  if (mlirOperationGetNumOperands(address) != 2) return none;
  MlirOperation cast = ir_defining_op(ir_operand(address, 1));
  if (ir_is_null(cast) || !ir_is(cast, "arith.index_cast") || ir_is_vector(ir_result_type(cast, 0))) return none;
  return mlirTypeIsAIndex(mlirValueGetType(ir_operand(cast, 0))) ? ir_operand(cast, 0) : none;
}

static bool is_address(MlirOperation op) { return !ir_is_null(op) && ir_is(op, "llvm.getelementptr"); }

static void share(shared_addresses *s, MlirOperation address) {
  MlirValue index = index_of(address);
  if (!index.ptr) return;
  MlirValue base = ir_operand(address, 0);
  if (is_address(ir_defining_op(base))) return;
  shared_addresses_sum *sum = shared_addresses_begin_sum(s);
  shared_addresses_add(s, sum, index, 1);
  MlirType element = mlirTypeAttrGetValue(ir_get(address, "elem_type"));
  MlirValue made = shared_addresses_build(s, base, ir_defining_op(base), element, sum, address);
  if (made.ptr) ir_replace(address, &made);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  // Scalar loops are left to LLVM's passes. Of a kernel that takes sizes all but its numbers is the same for all of
  // them, and here 0 and 1 make a difference.
  const bool is_scalar =
      c->options->target.vector_bits == 0 || !mlirAttributeIsNull(ir_get(module, "xla.scalar_loops"));
  if (is_scalar || c->options->takes_sizes) return status_ok();
  const ir_operations all = ir_collect(c->scratch, module, "llvm.getelementptr");
  shared_addresses *s = shared_addresses_begin(c->scratch, module);
  for (int k = 0; k < all.size; k++) share(s, all.data[k]);
  shared_addresses_end(s);
  return status_ok();
}

const pass lower_addresses = {
    .name = "xla-cpu-share-addresses",
    .summary = "what addresses have in common is computed once, where it is known",
    .order_reason = "once indices are arithmetic, before loops are branches",
    .use = PASS_IMPROVES,
    .run = run,
};
