// iree-codegen-workitems-to-loops: what a device's workitems do each for themselves is done by one thread of the CPU.
//
// A region that was dealt out among workitems asks who it is (gpu.block_id, gpu.thread_id, gpu.subgroup_id,
// gpu.lane_id). Its body becomes that of a loop over the workitems of a workgroup, whose number the attribute
// spv.entry_point_abi has, in one over workgroups, whose number is iree.workgroup_count. In a region that was not, one
// thread does all that a workgroup does, so that its barriers are nothing, and loops over subgroups are loops. Barriers
// between workitems would need the loop split at each of them; such a region is refused.
#include <mlir-c/BuiltinAttributes.h>

#include "base/int64.h"
#include "emit/ir_builder.h"
#include "lower/launch.h"
#include "tile/passes.h"
#include "tile/subgroup_loops.h"
#include "tile/workgroups.h"

#define COUNT "iree.workgroup_count"

// Those of subgroups have no dims.
typedef enum kind {
  BLOCK_ID,
  THREAD_ID,
  BLOCK_DIM,
  GRID_DIM,
  SUBGROUP_SIZE,
  SUBGROUP_COUNT,
  SUBGROUP_ID,
  LANE_ID,
  KIND_COUNT
} kind;

static const char *const names[KIND_COUNT] = {
    [BLOCK_ID] = "gpu.block_id",           [THREAD_ID] = "gpu.thread_id",
    [BLOCK_DIM] = "gpu.block_dim",         [GRID_DIM] = "gpu.grid_dim",
    [SUBGROUP_SIZE] = "gpu.subgroup_size", [SUBGROUP_COUNT] = "gpu.num_subgroups",
    [SUBGROUP_ID] = "gpu.subgroup_id",     [LANE_ID] = "gpu.lane_id"};

typedef struct workitems {
  int64_t local[3], count[3], lanes;
  MlirValue values[KIND_COUNT][3];  // null: nobody is told
} workitems;

static heddle_status read_sizes(lower_context *c, MlirOperation function, workitems *w) {
  w->lanes = subgroup_loops_size(function, c->options->target.subgroup_size);
  MlirAttribute count = ir_get(function, COUNT);
  if (!workgroups_local_size(function, w->local))
    return ir_refuse(function, HEDDLE_UNIMPLEMENTED,
                     "found workitems, wanted " WORKGROUPS_LOCAL_SIZE " = {local_size = dense<[x, y, z]>}");
  if (mlirAttributeIsNull(count) || !mlirAttributeIsADenseI64Array(count) || mlirDenseArrayGetNumElements(count) != 3)
    return ir_refuse(function, HEDDLE_UNIMPLEMENTED, "found workitems, wanted " COUNT " = array<i64: x, y, z>");
  for (int d = 0; d < 3; d++) {
    w->count[d] = mlirDenseI64ArrayGetElement(count, d);
    if (w->local[d] < 1 || w->count[d] < 0)
      return ir_refuse(function, HEDDLE_INVALID, "found a workgroup without workitems");
  }
  return status_ok();
}

// The attribute prints as #gpu<dim x>.
static int dimension(MlirOperation op) {
  text t = {0};
  if (mlirAttributeIsNull(ir_get(op, "dimension"))) return 0;
  mlirAttributePrint(ir_get(op, "dimension"), ir_append, &t);
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

// A subgroup that is not full is one all the same.
static void make_sizes(ir_builder *b, workitems *w) {
  const int64_t workitems = int64_saturating_mul(int64_saturating_mul(w->local[0], w->local[1]), w->local[2]);
  w->values[SUBGROUP_SIZE][0] = ir_index(b, w->lanes);
  w->values[SUBGROUP_COUNT][0] = ir_index(b, int64_ceil_div(workitems, w->lanes));
  for (int d = 0; d < 3; d++) {
    w->values[BLOCK_DIM][d] = ir_index(b, w->local[d]);
    w->values[GRID_DIM][d] = ir_index(b, w->count[d]);
  }
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

// The workitems of a subgroup follow one another, x first.
static void make_subgroups(ir_builder *b, workitems *w) {
  MlirValue number = w->values[THREAD_ID][2];
  for (int d = 1; d >= 0; d--)
    number = ir_binary(b, "arith.addi", ir_binary(b, "arith.muli", number, w->values[BLOCK_DIM][d]),
                       w->values[THREAD_ID][d]);
  w->values[SUBGROUP_ID][0] = ir_binary(b, "arith.divui", number, w->values[SUBGROUP_SIZE][0]);
  w->values[LANE_ID][0] = ir_binary(b, "arith.remui", number, w->values[SUBGROUP_SIZE][0]);
}

static void build_loops(ir_builder *b, workitems *w) {
  make_sizes(b, w);
  MlirOperation groups = over_workgroups(b, w);
  MlirBlock body = ir_body(groups, 0);
  for (int d = 0; d < 3; d++) w->values[BLOCK_ID][d] = mlirBlockGetArgument(body, 2 - d);
  *b = ir_builder_before(ir_terminator(body), b->arena);
  for (int d = 2; d >= 0; d--) enter(b, loop_over(b, w->local[d]), &w->values[THREAD_ID][d]);
  make_subgroups(b, w);
}

// --- the region

static kind kind_of(MlirOperation op) {
  int k = 0;
  while (k < KIND_COUNT && !ir_is(op, names[k])) k++;
  return (kind)k;
}

// Whether one of the operations asks who a workitem is.
static bool asks(const ir_operations *all) {
  bool any = false;
  for (int k = 0; k < all->size; k++) any |= kind_of(all->data[k]) < KIND_COUNT;
  return any;
}

static void answer(const ir_operations *all, const workitems *w) {
  for (int k = 0; k < all->size; k++) {
    const kind asked = kind_of(all->data[k]);
    const MlirValue *value = asked < KIND_COUNT ? &w->values[asked][dimension(all->data[k])] : NULL;
    if (value && value->ptr) ir_replace(all->data[k], value);
  }
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
  TRY(read_sizes(c, function, &w));
  if (ir_collect(c->scratch, function, "gpu.barrier").size > 0)
    return ir_refuse(function, HEDDLE_UNIMPLEMENTED,
                     "found a barrier between workitems, which one thread cannot wait at");
  move_body(c, function, &w);
  const ir_operations all = ir_collect(c->scratch, function, NULL);
  answer(&all, &w);
  ir_unset(function, COUNT);
  return status_ok();
}

// What all subgroups of a workgroup do, one after the other.
static heddle_status convert_subgroups(lower_context *c, MlirOperation function) {
  const ir_operations all = ir_collect(c->scratch, function, WORKGROUPS_FORALL);
  for (int k = 0; k < all.size; k++) {
    workgroups_grid g;
    MlirValue number;
    if (!workgroups_is_subgroups(all.data[k])) continue;
    TRY(subgroup_loops_grid(all.data[k], &g));
    ir_builder b = ir_builder_before(all.data[k], c->scratch);
    enter(&b, loop_over(&b, g.count), &number);
    workgroups_put_turn(c->scratch, all.data[k], &g, b.before, number);
  }
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const ir_operations functions = ir_collect(c->scratch, (MlirOperation){unit}, "func.func");
  for (int f = 0; f < functions.size; f++) {
    MlirOperation function = functions.data[f];
    const ir_operations all = ir_collect(c->scratch, function, NULL);
    if (asks(&all)) TRY(convert_workitems(c, function));
    TRY(convert_subgroups(c, function));
    ir_unset(function, SUBGROUP_LOOPS_SIZE);
    const ir_operations barriers = ir_collect(c->scratch, function, "gpu.barrier");
    for (int k = 0; k < barriers.size; k++) ir_erase(barriers.data[k]);
    ir_unset(function, WORKGROUPS_LOCAL_SIZE);
  }
  return status_ok();
}

// --- one number each

// x runs fastest.
static void number_dims(ir_builder *b, const char *op, const int64_t *sizes, MlirValue *out) {
  MlirValue rest = ir_value_with(b, op, mlirIndexTypeGet(b->context), 0, NULL, 1,
                                 (MlirNamedAttribute[]){ir_named_text(b->context, "dimension", "#gpu<dim x>")});
  for (int d = 0; d < 3; d++) {
    const MlirValue size = ir_index(b, sizes[d]);
    out[d] = d < 2 ? ir_binary(b, "arith.remui", rest, size) : rest;
    if (d < 2) rest = ir_binary(b, "arith.divui", rest, size);
  }
}

static heddle_status number_workitems(lower_context *c, MlirOperation function, const ir_operations *all) {
  workitems w = {0};
  TRY(read_sizes(c, function, &w));
  if (w.lanes != c->options->target.subgroup_size)
    return ir_refuse(function, HEDDLE_UNIMPLEMENTED, "found subgroups of %lld workitems, wanted %d", (long long)w.lanes,
                     c->options->target.subgroup_size);
  ir_builder b = ir_builder_before(mlirBlockGetFirstOperation(ir_body(function, 0)), c->scratch);
  make_sizes(&b, &w);
  number_dims(&b, names[THREAD_ID], w.local, w.values[THREAD_ID]);
  number_dims(&b, names[BLOCK_ID], w.count, w.values[BLOCK_ID]);
  answer(all, &w);
  int64_t launch[] = {1, 1, 1};
  TRY(workgroups_count_threads(function, w.local, &launch[0]));
  for (int d = 0; d < 3; d++) launch[1] = int64_saturating_mul(launch[1], w.count[d]);
  ir_set(function, LAUNCH_ATTRIBUTE, mlirDenseI64ArrayGet(c->context, 3, launch));
  ir_unset(function, COUNT);
  ir_unset(function, WORKGROUPS_LOCAL_SIZE);
  return status_ok();
}

static heddle_status run_numbering(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const ir_operations functions = ir_collect(c->scratch, (MlirOperation){unit}, "func.func");
  for (int f = 0; f < functions.size; f++) {
    if (!mlirAttributeIsNull(ir_get(functions.data[f], LAUNCH_ATTRIBUTE))) continue;  // it has one number
    const ir_operations all = ir_collect(c->scratch, functions.data[f], NULL);
    if (asks(&all)) TRY(number_workitems(c, functions.data[f], &all));
  }
  return status_ok();
}

const pass tile_number_workitems = {
    .name = "iree-codegen-number-workitems",
    .summary = "who a workitem is in several dims, from its number in the workgroup and that of this",
    .order_reason = "before distribution, which knows one dim and leaves alone what was dealt out before",
    .use = PASS_NEEDED,
    .run = run_numbering,
};

const pass tile_workitems = {
    .name = "iree-codegen-workitems-to-loops",
    .summary = "who a workitem is to loops over workgroups and workitems; barriers of a single thread are gone",
    .order_reason = "before workgroups are dealt among the tiles that the runtime calls",
    .use = PASS_NEEDED,
    .run = run,
};
