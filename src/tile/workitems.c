// iree-codegen-workitems-to-loops: what a device's workitems do each for themselves is done by one thread of the CPU.
//
// A region that was dealt out among workitems asks who it is (gpu.block_id, gpu.thread_id). Its body becomes that of a
// loop over the workitems of a workgroup, whose number the attribute spv.entry_point_abi has, in one over workgroups,
// whose number is iree.workgroup_count. In a region that was not, one thread does all that a workgroup does, so that
// its barriers are nothing. Barriers between workitems would need the loop split at each of them; such a region is
// refused.
#include <mlir-c/BuiltinAttributes.h>

#include "emit/ir_builder.h"
#include "tile/passes.h"

#define LOCAL_SIZE "spv.entry_point_abi"
#define COUNT "iree.workgroup_count"

typedef enum kind { BLOCK_ID, THREAD_ID, BLOCK_DIM, GRID_DIM, KIND_COUNT } kind;

static const char *const names[KIND_COUNT] = {[BLOCK_ID] = "gpu.block_id",
                                              [THREAD_ID] = "gpu.thread_id",
                                              [BLOCK_DIM] = "gpu.block_dim",
                                              [GRID_DIM] = "gpu.grid_dim"};

typedef struct workitems {
  int64_t local[3], count[3];
  MlirValue values[KIND_COUNT][3];
} workitems;

static heddle_status read_sizes(MlirOperation function, workitems *w) {
  MlirAttribute abi = ir_get(function, LOCAL_SIZE), count = ir_get(function, COUNT), local = {NULL};
  if (!mlirAttributeIsNull(abi) && mlirAttributeIsADictionary(abi))
    local = mlirDictionaryAttrGetElementByName(abi, mlirStringRefCreateFromCString("local_size"));
  if (mlirAttributeIsNull(local) || !mlirAttributeIsADenseElements(local) ||
      mlirElementsAttrGetNumElements(local) != 3 ||
      !mlirTypeIsAInteger(mlirShapedTypeGetElementType(mlirAttributeGetType(local))) ||
      mlirIntegerTypeGetWidth(mlirShapedTypeGetElementType(mlirAttributeGetType(local))) != 32)
    return ir_refuse(function, HEDDLE_UNIMPLEMENTED,
                     "found workitems, wanted " LOCAL_SIZE " = {local_size = dense<[x, y, z]>}");
  if (mlirAttributeIsNull(count) || !mlirAttributeIsADenseI64Array(count) || mlirDenseArrayGetNumElements(count) != 3)
    return ir_refuse(function, HEDDLE_UNIMPLEMENTED, "found workitems, wanted " COUNT " = array<i64: x, y, z>");
  for (int d = 0; d < 3; d++) {
    w->local[d] = mlirDenseElementsAttrGetInt32Value(local, d);
    w->count[d] = mlirDenseI64ArrayGetElement(count, d);
    if (w->local[d] < 1 || w->count[d] < 0)
      return ir_refuse(function, HEDDLE_INVALID, "found a workgroup without workitems");
  }
  return status_ok();
}

static void append(MlirStringRef part, void *out) { text_append(out, (str){part.data, part.length}); }

// The attribute prints as #gpu<dim x>.
static int dimension(MlirOperation op) {
  text t = {0};
  mlirAttributePrint(ir_get(op, "dimension"), append, &t);
  const int d = t.size >= 2 ? text_cstr(&t)[t.size - 2] - 'x' : 0;
  text_free(&t);
  return d;
}

// --- the loops

static MlirOperation loop_over(ir_builder *b, int64_t count) {
  MlirOperation loop = ir_for(b, ir_index(b, 0), ir_index(b, count), ir_index(b, 1), 0, NULL);
  ir_builder in_body = ir_builder_at_end(b->context, ir_body(loop, 0), b->arena);
  ir_yield(&in_body, 0, NULL);
  return loop;
}

// Goes on building in the loop, whose variable *at becomes.
static void enter(ir_builder *b, MlirOperation loop, MlirValue *at) {
  MlirBlock body = ir_body(loop, 0);
  *at = mlirBlockGetArgument(body, 0);
  *b = ir_builder_before(ir_terminator(body), b->arena);
}

// One scf.forall over workgroups, the slowest dimension first.
static MlirOperation over_workgroups(ir_builder *b, const workitems *w) {
  MlirType index = mlirIndexTypeGet(b->context);
  MlirLocation locations[] = {b->location, b->location, b->location};
  MlirBlock body = mlirBlockCreate(3, (MlirType[]){index, index, index}, locations);
  MlirRegion region = mlirRegionCreate(), nothing = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body);
  mlirRegionAppendOwnedBlock(nothing, mlirBlockCreate(0, NULL, NULL));
  ir_builder in_body = ir_builder_at_end(b->context, body, b->arena);
  ir_build(&in_body, (ir_op_state){.name = "scf.forall.in_parallel", .region_count = 1, .regions = &nothing});
  MlirNamedAttribute attributes[] = {
      ir_named_text(b->context, "staticLowerBound", "array<i64: 0, 0, 0>"),
      ir_named(b->context, "staticUpperBound",
               mlirDenseI64ArrayGet(b->context, 3, (int64_t[]){w->count[2], w->count[1], w->count[0]})),
      ir_named_text(b->context, "staticStep", "array<i64: 1, 1, 1>"),
      ir_named_text(b->context, "operandSegmentSizes", "array<i32: 0, 0, 0, 0>"),
  };
  return ir_build(
      b,
      (ir_op_state){
          .name = "scf.forall", .attribute_count = 4, .attributes = attributes, .region_count = 1, .regions = &region});
}

static void build_loops(ir_builder *b, workitems *w) {
  for (int d = 0; d < 3; d++) {
    w->values[BLOCK_DIM][d] = ir_index(b, w->local[d]);
    w->values[GRID_DIM][d] = ir_index(b, w->count[d]);
  }
  MlirOperation groups = over_workgroups(b, w);
  MlirBlock body = ir_body(groups, 0);
  for (int d = 0; d < 3; d++) w->values[BLOCK_ID][d] = mlirBlockGetArgument(body, 2 - d);
  *b = ir_builder_before(ir_terminator(body), b->arena);
  for (int d = 2; d >= 0; d--) enter(b, loop_over(b, w->local[d]), &w->values[THREAD_ID][d]);
}

// --- the region

static kind kind_of(MlirOperation op) {
  int k = 0;
  while (k < KIND_COUNT && !ir_is(op, names[k])) k++;
  return (kind)k;
}

// What a workitem does moves into the loops; what it is given stays before them.
static void move_body(lower_context *c, MlirOperation function, workitems *w) {
  MlirBlock block = ir_body(function, 0);
  MlirOperation end = ir_terminator(block), before = {NULL};
  ir_operations moved = {0};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op)) {
    if (!ir_is(op, "iree.placeholder") && !ir_is(op, "arith.constant")) vec_push(c->scratch, &moved, op);
  }
  ir_builder b = ir_builder_before(end, c->scratch);
  build_loops(&b, w);
  before = b.before;
  for (int k = 0; k < moved.size; k++) {
    mlirOperationRemoveFromParent(moved.data[k]);
    mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(before), before, moved.data[k]);
  }
}

static heddle_status convert_workitems(lower_context *c, MlirOperation function) {
  workitems w = {0};
  TRY(read_sizes(function, &w));
  if (ir_collect(c->scratch, function, "gpu.barrier").size > 0)
    return ir_refuse(function, HEDDLE_UNIMPLEMENTED,
                     "found a barrier between workitems, which one thread cannot wait at");
  move_body(c, function, &w);
  const ir_operations all = ir_collect(c->scratch, function, NULL);
  for (int k = 0; k < all.size; k++) {
    const kind asked = kind_of(all.data[k]);
    if (asked < KIND_COUNT) ir_replace(all.data[k], &w.values[asked][dimension(all.data[k])]);
  }
  ir_unset(function, COUNT);
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const ir_operations functions = ir_collect(c->scratch, (MlirOperation){unit}, "func.func");
  for (int f = 0; f < functions.size; f++) {
    MlirOperation function = functions.data[f];
    bool asks = false;
    const ir_operations all = ir_collect(c->scratch, function, NULL);
    for (int k = 0; k < all.size; k++) asks |= kind_of(all.data[k]) < KIND_COUNT;
    if (asks) TRY(convert_workitems(c, function));
    const ir_operations barriers = ir_collect(c->scratch, function, "gpu.barrier");
    for (int k = 0; k < barriers.size; k++) ir_erase(barriers.data[k]);
    ir_unset(function, LOCAL_SIZE);
  }
  return status_ok();
}

const pass tile_workitems = {
    .name = "iree-codegen-workitems-to-loops",
    .summary = "who a workitem is to loops over workgroups and workitems; barriers of a single thread are gone",
    .order_reason = "before workgroups are dealt among the tiles that the runtime calls",
    .use = PASS_NEEDED,
    .run = run,
};
