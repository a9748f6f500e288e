// iree-codegen-hlo-to-linalg-on-buffers: tensors become the memory of the interface's bindings.
//
// A dispatch region gets no memory but what its caller gave it, since whoever calls it orders memory between regions.
// So each binding becomes an iree.placeholder at the function's start; what is stored is computed right where it is to
// lie, and so is what leads to it as far as that has the same place. MLIR's one-shot bufferization decides which
// tensors may share memory. What still needs memory of its own gets it from the tile that computes it
// (tile/distribute.c).
#include <mlir-c/BuiltinAttributes.h>

#include "dialect/tiling.h"
#include "emit/ir_builder.h"
#include "tile/markers.h"
#include "tile/panels.h"
#include "tile/passes.h"
#include "tile/structured.h"

static MlirType memory_of(arena *a, MlirType tensor) {
  return mlirMemRefTypeContiguousGet(ir_element_type(tensor), mlirShapedTypeGetRank(tensor), ir_dims(a, tensor),
                                     mlirAttributeGetNull());
}

static MlirValue placeholder(ir_builder *b, MlirOperation user, MlirType tensor) {
  MlirNamedAttribute attributes[] = {
      ir_named(b->context, "purpose",
               mlirStringAttrGet(b->context, mlirStringRefCreateFromCString("interface buffer"))),
      ir_named(b->context, "binding", ir_get(user, "binding")),
  };
  return ir_value_with(b, "iree.placeholder", memory_of(b->arena, tensor), 0, NULL, 2, attributes);
}

static heddle_status check_offset(MlirOperation op, int operand) {
  int64_t offset = 0;
  if (ir_constant_value(ir_operand(op, operand), &offset) && offset == 0) return status_ok();
  return ir_refuse(op, HEDDLE_UNIMPLEMENTED, "found a binding read or written from an offset, wanted offset 0");
}

static heddle_status convert_loads(lower_context *c, MlirOperation function, ir_builder *start) {
  ir_operations loads = ir_collect(c->scratch, function, "hal.interface.load.tensor");
  for (int k = 0; k < loads.size; k++) {
    MlirOperation load = loads.data[k];
    TRY(check_offset(load, 0));
    if (panels_is(load))
      return ir_refuse(load, HEDDLE_UNIMPLEMENTED, "found panels that no product reads, or that are none");
    MlirType type = ir_result_type(load, 0);
    MlirValue memory = placeholder(start, load, type);
    ir_builder b = ir_builder_before(load, c->scratch);
    MlirNamedAttribute alone = ir_named(c->context, "restrict", mlirUnitAttrGet(c->context));
    MlirValue tensor = ir_value_with(&b, "bufferization.to_tensor", type, 1, &memory, 1, &alone);
    ir_replace(load, &tensor);
  }
  return status_ok();
}

// Reshapes leave elements where they lie: what is stored is as well stored before them.
static MlirValue before_reshapes(MlirValue v) {
  for (MlirOperation op = ir_defining_op(v); !ir_is_null(op); op = ir_defining_op(v)) {
    if (!ir_is(op, "tensor.expand_shape") && !ir_is(op, "tensor.collapse_shape")) break;
    v = ir_operand(op, 0);
  }
  return v;
}

// The operand in whose place the result is made: a loop's init, an operation's output, the whole of which a part is
// replaced; -1 if there is none.
static int origin_of(MlirOperation op, int result) {
  const int operands = (int)mlirOperationGetNumOperands(op), results = (int)mlirOperationGetNumResults(op);
  if (ir_is(op, "tensor.insert_slice")) return 1;
  if (ir_is(op, "scf.for") || ir_is(op, "scf.forall")) return operands - results + result;
  return tiling_is_structured(op) ? tiling_output(op, result) : -1;
}

// What is put into a tensor grows there, too: the empty tensor that it comes from becomes that part.
static void grow_part(arena *a, MlirOperation insert) {
  static const char *const kept[] = {"static_offsets", "static_sizes", "static_strides"};
  MlirValue v = ir_operand(insert, 0), whole = ir_operand(insert, 1);
  if (mlirOperationGetNumOperands(insert) != 2) return;
  for (MlirOperation op = ir_defining_op(v); !ir_is_null(op); op = ir_defining_op(v)) {
    const int origin = origin_of(op, (int)mlirOpResultGetResultNumber(v));
    if (origin < 0 || !ir_has_one_use(v)) return;
    v = ir_operand(op, origin);
    MlirOperation before = ir_defining_op(v);
    if (ir_is_null(before)) return;
    if (!ir_is(before, "tensor.empty")) continue;
    if (!structured_stands_before(ir_defining_op(whole), op)) return;
    ir_builder b = ir_builder_before(op, a);
    MlirNamedAttribute attributes[4] = {
        ir_named(b.context, "operandSegmentSizes", mlirDenseI32ArrayGet(b.context, 4, (int32_t[]){1, 0, 0, 0}))};
    for (int k = 0; k < 3; k++) attributes[1 + k] = ir_named(b.context, kept[k], ir_get(insert, kept[k]));
    mlirOperationSetOperand(op, origin,
                            ir_value_with(&b, "tensor.extract_slice", mlirValueGetType(v), 1, &whole, 4, attributes));
    return;
  }
}

// What is stored grows in its place from the beginning: the empty tensor that it comes from becomes that place. The
// zeros that a sum begins with may be those of others, too: then it gets its own.
static void grow_in(arena *a, MlirValue v, MlirValue place) {
  for (MlirOperation op = ir_defining_op(v); !ir_is_null(op); op = ir_defining_op(v)) {
    const int origin = origin_of(op, (int)mlirOpResultGetResultNumber(v));
    if (origin < 0) return;
    v = ir_operand(op, origin);
    MlirOperation before = ir_defining_op(v);
    if (ir_is_null(before)) return;
    const bool begins = ir_is(before, "tensor.empty");
    if (begins) mlirOperationSetOperand(op, origin, place);
    if (ir_is(op, "tensor.insert_slice")) grow_part(a, op);
    if (begins) return;
    if (ir_is(before, "linalg.fill") && !ir_has_one_use(v)) {
      MlirOperation own = mlirOperationClone(before);
      mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(op), op, own);
      v = ir_result(own, 0);
      mlirOperationSetOperand(op, origin, v);
    }
  }
}

static MlirOperation materialize(ir_builder *b, MlirValue value, MlirValue place, bool is_memory) {
  MlirValue operands[] = {value, place};
  MlirType type = mlirValueGetType(value);
  MlirNamedAttribute attributes[] = {ir_named(b->context, "restrict", mlirUnitAttrGet(b->context)),
                                     ir_named(b->context, "writable", mlirUnitAttrGet(b->context))};
  return ir_build(b, (ir_op_state){.name = "bufferization.materialize_in_destination",
                                   .operand_count = 2,
                                   .operands = operands,
                                   .result_count = is_memory ? 0 : 1,
                                   .results = &type,
                                   .attribute_count = is_memory ? 2 : 0,
                                   .attributes = attributes});
}

static heddle_status convert_stores(lower_context *c, MlirOperation function, ir_builder *start) {
  ir_operations stores = ir_collect(c->scratch, function, "hal.interface.store.tensor");
  for (int k = 0; k < stores.size; k++) {
    MlirOperation store = stores.data[k];
    TRY(check_offset(store, 1));
    MlirValue stored = before_reshapes(ir_operand(store, 0));
    MlirType type = mlirValueGetType(stored);
    MlirValue memory = placeholder(start, store, type);
    // A tensor stands for the place, so that the bufferization sees who writes it, and when.
    MlirNamedAttribute own[] = {ir_named(c->context, "restrict", mlirUnitAttrGet(c->context)),
                                ir_named(c->context, "writable", mlirUnitAttrGet(c->context))};
    MlirValue place = ir_value_with(start, "bufferization.to_tensor", type, 1, &memory, 2, own);
    grow_in(c->scratch, stored, place);
    ir_builder b = ir_builder_before(store, c->scratch);
    materialize(&b, ir_result(materialize(&b, stored, place, false), 0), memory, true);
    ir_erase(store);
  }
  return status_ok();
}

// Copies that move something are structured operations like others; what is a register tile becomes a vector.
static heddle_status copy_by_loops(lower_context *c, MlirOperation copy) {
  ir_builder b = ir_builder_before(copy, c->scratch);
  MlirValue from = ir_operand(copy, 0), to = ir_operand(copy, 1);
  MlirOperation made = structured_copy(
      &b, from, to, structured_identity(c->context, (int)mlirShapedTypeGetRank(mlirValueGetType(from))));
  ir_erase(copy);
  return markers_begin(made, c->options->target.has_grid ? MARKER_WORKGROUP : MARKER_VECTORIZE);
}

// What a loop carries is bufferized to where it lies anyway, and then copied there.
static heddle_status erase_copies_in_place(lower_context *c, MlirOperation module) {
  ir_operations copies = ir_collect(c->scratch, module, "memref.copy");
  for (int k = 0; k < copies.size; k++)
    if (mlirValueEqual(ir_operand(copies.data[k], 0), ir_operand(copies.data[k], 1))) ir_erase(copies.data[k]);
    else TRY(copy_by_loops(c, copies.data[k]));
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  ir_operations functions = ir_collect(c->scratch, (MlirOperation){unit}, "func.func");
  tile_load_dialects(c->context);
  TRY(markers_expect(c->scratch, (MlirOperation){unit}, MARKERS_OF_TILES));
  for (int k = 0; k < functions.size; k++) {
    MlirBlock block = ir_body(functions.data[k], 0);
    if (mlirBlockIsNull(block)) continue;
    ir_builder start = ir_builder_before(mlirBlockGetFirstOperation(block), c->scratch);
    TRY(convert_loads(c, functions.data[k], &start));
    TRY(convert_stores(c, functions.data[k], &start));
  }
  TRY(lower_tidy(context, unit));
  TRY(lower_upstream(context, unit, "one-shot-bufferize"));
  TRY(lower_tidy(context, unit));
  return erase_copies_in_place(c, (MlirOperation){unit});
}

const pass tile_to_buffers = {
    .name = "iree-codegen-hlo-to-linalg-on-buffers",
    .summary = "tensors to the memory of the interface's bindings, without temporaries",
    .order_reason = "behind all that moves operations between each other, which is easy on tensors only",
    .use = PASS_NEEDED,
    .run = run,
};
