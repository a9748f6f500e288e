// iree-codegen-narrow-memory: accesses to floats of 8 and 16 bits become accesses to integers, whose bits are the
// floats'.
//
// Narrow floats are integers of their bits in arithmetic where a machine lacks them (lower/expand_float_ops.c). Memory
// then has to be of integers too: its type is cast where it is accessed, which costs nothing, as the pointer behind it
// is the same.
#include "emit/ir_builder.h"
#include "tile/passes.h"

static bool is_narrow(MlirType t) {
  MlirType element = ir_element_type(t);
  return mlirTypeIsAFloat(element) && ir_bit_width(element) <= 16;
}

// The same vector or scalar of integers.
static MlirType as_integer(MlirContext context, MlirType t) {
  return ir_like(t, mlirIntegerTypeGet(context, (unsigned)ir_bit_width(ir_element_type(t))));
}

static MlirType memory_of_integers(const ir_builder *b, MlirType memory) {
  MlirType element = as_integer(b->context, ir_element_type(memory));
  return mlirMemRefTypeGet(element, mlirShapedTypeGetRank(memory), ir_dims(b->arena, memory),
                           mlirMemRefTypeGetLayout(memory), mlirMemRefTypeGetMemorySpace(memory));
}

static void cast_memory(ir_builder *b, MlirOperation op, int operand) {
  MlirValue memory = ir_operand(op, operand);
  MlirType type = memory_of_integers(b, mlirValueGetType(memory));
  mlirOperationSetOperand(op, operand, ir_cast(b, "builtin.unrealized_conversion_cast", type, memory));
}

static void narrow_load(arena *a, MlirOperation load) {
  MlirType type = ir_result_type(load, 0);
  if (!is_narrow(type)) return;
  ir_builder b = ir_builder_before(load, a), behind = ir_builder_after(load, a);
  cast_memory(&b, load, 0);
  MlirValue loaded = ir_result(load, 0);
  mlirValueSetType(loaded, as_integer(b.context, type));
  MlirValue floats = ir_cast(&behind, "arith.bitcast", type, loaded);
  ir_replace_value(loaded, floats);
  mlirOperationSetOperand(ir_defining_op(floats), 0, loaded);
}

static void narrow_store(arena *a, MlirOperation store) {
  MlirValue value = ir_operand(store, 0);
  if (!is_narrow(mlirValueGetType(value))) return;
  ir_builder b = ir_builder_before(store, a);
  cast_memory(&b, store, 1);
  mlirOperationSetOperand(store, 0,
                          ir_cast(&b, "arith.bitcast", as_integer(b.context, mlirValueGetType(value)), value));
}

static heddle_status run(pass_context *context, void *unit) {
  static const char *const loads[] = {"memref.load", "vector.load"}, *const stores[] = {"memref.store", "vector.store"};
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  for (int n = 0; n < 2; n++) {
    const ir_operations all = ir_collect(c->scratch, module, loads[n]),
                        others = ir_collect(c->scratch, module, stores[n]);
    for (int k = 0; k < all.size; k++) narrow_load(c->scratch, all.data[k]);
    for (int k = 0; k < others.size; k++) narrow_store(c->scratch, others.data[k]);
  }
  return status_ok();
}

const pass tile_narrow_memory = {
    .name = "iree-codegen-narrow-memory",
    .summary = "accesses to floats of 8 and 16 bits to accesses to integers",
    .order_reason = "once accesses are loads and stores of numbers and rows, before narrow floats are widened",
    .use = PASS_NEEDED,
    .run = run,
};
