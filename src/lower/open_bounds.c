// xla-cpu-open-bounds: loops over open sizes end where the table of sizes says.
//
// A kernel of a program for open sizes is made with numbers that stand in for them. As ends of loops they would decide
// how many vectors there are and what fills none, so that code for one number is none for others. Here such an end
// becomes an element of the table that the entry is given (its argument with `xla.open_from`): loops are then made for
// any number of turns. Which sizes the elements are is noted in `xla.bounds` of the module, in order. All other numbers
// that depend on sizes stay, as indexing maps want them; whoever made the kernel finds them by comparing what different
// numbers led to.
#include <mlir-c/BuiltinAttributes.h>

#include "emit/ir_builder.h"
#include "lower/passes.h"
#include "lower/ranges.h"

typedef struct open_bounds {
  arena *arena;
  MlirBlock entry;
  MlirValue table;
  int64_t open_from;
  VEC(int64_t) sizes;
  ir_values loaded;  // by size
} open_bounds;

static MlirValue add_size(open_bounds *o, int64_t size) {
  ir_builder b = ir_builder_before(mlirBlockGetFirstOperation(o->entry), o->arena);
  MlirValue operands[] = {o->table, ir_index(&b, o->sizes.size)};
  MlirValue loaded = ir_value(&b, "tensor.extract", mlirIntegerTypeGet(b.context, 64), 2, operands);
  MlirNamedAttribute range = ir_named(b.context, "xla.range", ranges_to_attribute(b.context, (interval){0, size}));
  MlirValue value = ir_value_with(&b, "arith.index_cast", mlirIndexTypeGet(b.context), 1, &loaded, 1, &range);
  vec_push(o->arena, &o->sizes, size);
  vec_push(o->arena, &o->loaded, value);
  return value;
}

// At the function's beginning, once for each size.
static heddle_status load_size(open_bounds *o, MlirOperation loop, int64_t size, MlirValue *out) {
  const int64_t most = mlirShapedTypeGetDimSize(mlirValueGetType(o->table), 0);
  int number = 0;
  while (number < o->sizes.size && o->sizes.data[number] != size) number++;
  if (number == most)
    return ir_refuse(loop, HEDDLE_UNIMPLEMENTED, "a kernel whose loops end at more than %lld open sizes",
                     (long long)most);
  *out = number < o->sizes.size ? o->loaded.data[number] : add_size(o, size);
  return status_ok();
}

static heddle_status open_loops(open_bounds *o, MlirOperation function) {
  ir_operations loops = ir_collect(o->arena, function, "scf.for");
  for (int i = 0; i < loops.size; i++) {
    int64_t lower, upper;
    if (!ir_constant_value(ir_operand(loops.data[i], 0), &lower) || lower != 0) continue;
    if (!ir_constant_value(ir_operand(loops.data[i], 1), &upper) || upper < o->open_from) continue;
    MlirValue end = {NULL};
    TRY(load_size(o, loops.data[i], upper, &end));
    mlirOperationSetOperand(loops.data[i], 1, end);
  }
  return status_ok();
}

static heddle_status open_function(arena *a, MlirOperation module, MlirOperation function) {
  MlirBlock body = ir_body(function, 0);
  for (int i = 0; i < (int)mlirBlockGetNumArguments(body); i++) {
    MlirAttribute from = ir_argument_attribute(function, i, "xla.open_from");
    if (mlirAttributeIsNull(from)) continue;
    open_bounds o = {.arena = a,
                     .entry = body,
                     .table = mlirBlockGetArgument(body, i),
                     .open_from = mlirIntegerAttrGetValueInt(from)};
    TRY(open_loops(&o, function));
    ir_set(module, "xla.bounds", mlirDenseI64ArrayGet(mlirOperationGetContext(module), o.sizes.size, o.sizes.data));
  }
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  ir_operations functions = ir_collect(c->scratch, module, "func.func");
  for (int i = 0; i < functions.size; i++)
    if (!mlirBlockIsNull(ir_body(functions.data[i], 0))) TRY(open_function(c->scratch, module, functions.data[i]));
  return status_ok();
}

const pass lower_open_bounds = {
    .name = "xla-cpu-open-bounds",
    .summary = "loops over open sizes end where the table of sizes says",
    .order_reason = "when all loops are scf.for, and before anything is decided by how many turns they have",
    .use = PASS_NEEDED,
    .run = run,
};
