// iree-codegen-distribute-to-tiles: a dispatch region becomes a kernel of the CPU's runtime.
//
// The runtime calls a kernel with the addresses of its buffers and numbers of tiles (lower/lower_cpu_entry.c). So the
// bindings become pointers, in their order, and the scf.forall over workgroups becomes the share of it that one tile
// has: of N workgroups and T tiles, tile t takes those from t N / T up to (t + 1) N / T. T is the attribute xla.tiles
// of the function; without it each workgroup is a tile. Regions of which MLIR left more than independent foralls are
// run by tile 0 alone, in order.
#include <mlir-c/BuiltinAttributes.h>

#include "emit/ir_builder.h"
#include "hlo/shape.h"
#include "lower/llvm_build.h"
#include "tile/local_memory.h"
#include "tile/own_interface.h"
#include "tile/passes.h"
#include "tile/workgroups.h"

static MlirValue insert_value(ir_builder *b, MlirValue structure, MlirValue value, int count, const int64_t *at) {
  MlirValue operands[] = {structure, value};
  MlirNamedAttribute position = ir_named(b->context, "position", mlirDenseI64ArrayGet(b->context, count, at));
  return ir_value_with(b, "llvm.insertvalue", mlirValueGetType(structure), 2, operands, 1, &position);
}

// What MLIR's lowering of memory makes of a memref: allocated and aligned pointer, offset, sizes, strides.
static MlirValue descriptor(ir_builder *b, MlirValue pointer, MlirType memory) {
  const int rank = (int)mlirShapedTypeGetRank(memory);
  MlirType type = llvm_build_descriptor_type(b, rank), i64 = mlirIntegerTypeGet(b->context, 64);
  MlirValue d = ir_value(b, "llvm.mlir.undef", type, 0, NULL);
  d = insert_value(b, d, pointer, 1, (int64_t[]){0});
  d = insert_value(b, d, pointer, 1, (int64_t[]){1});
  d = insert_value(b, d, ir_int(b, i64, 0), 1, (int64_t[]){2});
  int64_t stride = 1;
  for (int k = rank - 1; k >= 0; k--) {
    const int64_t size = mlirShapedTypeGetDimSize(memory, k);
    d = insert_value(b, d, ir_int(b, i64, size), 2, (int64_t[]){3, k});
    d = insert_value(b, d, ir_int(b, i64, stride), 2, (int64_t[]){4, k});
    stride *= size;
  }
  return ir_cast(b, "builtin.unrealized_conversion_cast", memory, d);
}

static heddle_status replace_placeholders(lower_context *c, MlirOperation function, workgroups_bindings *all) {
  ir_operations placeholders = ir_collect(c->scratch, function, WORKGROUPS_PLACEHOLDER);
  for (int k = 0; k < placeholders.size; k++) {
    MlirOperation op = placeholders.data[k];
    const workgroups_binding *binding;
    TRY(workgroups_binding_of(op, all, &binding));
    ir_builder b = ir_builder_before(op, c->scratch);
    MlirValue memory = descriptor(&b, binding->pointer, ir_result_type(op, 0));
    ir_replace(op, &memory);
  }
  return status_ok();
}

// --- workgroups become tiles

static void inline_body(lower_context *c, MlirOperation forall, MlirBlock into, const workgroups_grid *g,
                        MlirValue number) {
  const bool is_there = mlirOperationEqual(mlirOperationGetParentOperation(forall), mlirBlockGetParentOperation(into));
  workgroups_put_turn(c->scratch, forall, g, is_there ? forall : ir_terminator(into), number);
}

// Which workgroups, of `all` that the function has, a tile runs, counted from `first`: from *begin to *end of `count`.
static void share_of_tile(ir_builder *b, MlirValue tile, int64_t tiles, int64_t first, int64_t count, int64_t all,
                          MlirValue *begin, MlirValue *end) {
  MlirValue total = ir_index(b, all), shares = ir_index(b, tiles);
  MlirValue next = ir_binary(b, "arith.addi", tile, ir_index(b, 1));
  *begin = ir_binary(b, "arith.divui", ir_binary(b, "arith.muli", tile, total), shares);
  *end = ir_binary(b, "arith.divui", ir_binary(b, "arith.muli", next, total), shares);
  if (all == count) return;
  MlirValue base = ir_index(b, first), last = ir_index(b, first + count);
  *begin = ir_binary(b, "arith.subi", ir_binary(b, "arith.maxui", *begin, base), base);
  *end = ir_binary(b, "arith.minui", ir_binary(b, "arith.maxui", *end, base), last);
  *end = ir_binary(b, "arith.subi", *end, base);
}

static void distribute(lower_context *c, MlirOperation forall, const workgroups_grid *g, MlirValue tile, int64_t tiles,
                       int64_t first, int64_t all) {
  ir_builder b = ir_builder_before(forall, c->scratch);
  if (tiles == g->count && all == g->count) {
    inline_body(c, forall, mlirOperationGetBlock(forall), g, tile);
    return;
  }
  MlirValue begin, end;
  share_of_tile(&b, tile, tiles, first, g->count, all, &begin, &end);
  MlirOperation loop = ir_for(&b, begin, end, ir_index(&b, 1), 0, NULL);
  MlirBlock body = ir_body(loop, 0);
  ir_builder in_loop = ir_builder_at_end(c->context, body, c->scratch);
  ir_yield(&in_loop, 0, NULL);
  inline_body(c, forall, body, g, mlirBlockGetArgument(body, 0));
}

// What belongs to no loop over workgroups is one workgroup.
static void distribute_single(lower_context *c, MlirBlock block, const ir_operations *single, MlirValue tile,
                              int64_t tiles, int64_t first, int64_t all) {
  ir_builder b = ir_builder_before(ir_terminator(block), c->scratch);
  MlirValue begin, end;
  share_of_tile(&b, tile, tiles, first, 1, all, &begin, &end);
  MlirOperation loop = ir_for(&b, begin, end, ir_index(&b, 1), 0, NULL);
  ir_builder in_loop = ir_builder_at_end(c->context, ir_body(loop, 0), c->scratch);
  for (int k = 0; k < single->size; k++) {
    mlirOperationRemoveFromParent(single->data[k]);
    mlirBlockAppendOwnedOperation(ir_body(loop, 0), single->data[k]);
  }
  ir_yield(&in_loop, 0, NULL);
}

static void run_alone(lower_context *c, MlirBlock block, MlirValue tile) {
  MlirOperation first = mlirBlockGetFirstOperation(block), end = ir_terminator(block);
  if (mlirOperationEqual(first, end)) return;
  ir_builder b = ir_builder_before(end, c->scratch);
  MlirOperation branch = ir_if(&b, ir_cmpi(&b, "eq", tile, ir_index(&b, 0)), 0, NULL);
  MlirOperation condition = ir_defining_op(ir_operand(branch, 0));
  MlirOperation zero = ir_defining_op(ir_operand(condition, 1));
  MlirBlock body = ir_body(branch, 0);
  for (MlirOperation op = first, next; !mlirOperationEqual(op, zero); op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationRemoveFromParent(op);
    mlirBlockAppendOwnedOperation(body, op);
  }
  ir_builder in_body = ir_builder_at_end(c->context, body, c->scratch);
  ir_yield(&in_body, 0, NULL);
  ir_builder in_else = ir_builder_at_end(c->context, ir_body(branch, 1), c->scratch);
  ir_yield(&in_else, 0, NULL);
}

static heddle_status distribute_all(lower_context *c, MlirOperation function, MlirValue tile) {
  MlirBlock block = ir_body(function, 0);
  ir_operations foralls = {0}, single = {0};
  const bool parallel = workgroups_are_independent(c->scratch, function, &foralls, &single);
  if (!parallel) foralls = ir_collect(c->scratch, function, WORKGROUPS_FORALL);  // scf.parallel is run in order anyway
  workgroups_grid *grids = arena_array(c->scratch, workgroups_grid, foralls.size);
  int64_t all = single.size > 0, first = 0;
  for (int k = 0; k < foralls.size; k++) {
    if (!workgroups_grid_of(foralls.data[k], &grids[k]))
      return ir_refuse(foralls.data[k], HEDDLE_UNIMPLEMENTED, "found workgroups of unknown number");
    all += grids[k].count;
  }
  int64_t tiles = all;
  TRY(workgroups_tiles(function, &tiles));
  for (int k = 0; k < foralls.size; k++) {
    const workgroups_grid *g = &grids[k];
    ir_builder b = ir_builder_before(foralls.data[k], c->scratch);
    if (parallel) distribute(c, foralls.data[k], g, tile, tiles, first, all);
    else distribute(c, foralls.data[k], g, ir_index(&b, 0), 1, 0, g->count);
    first += g->count;
  }
  if (parallel && single.size > 0) distribute_single(c, block, &single, tile, tiles, first, all);
  if (!parallel) run_alone(c, block, tile);
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  own_interface_make(c->scratch, module);
  ir_operations functions = ir_collect(c->scratch, module, "func.func");
  for (int k = 0; k < functions.size; k++) {
    MlirOperation f = functions.data[k];
    if (mlirBlockIsNull(ir_body(f, 0)) || mlirBlockGetNumArguments(ir_body(f, 0)) > 0) continue;
    workgroups_bindings all = {0};
    MlirValue tile = workgroups_bind_numbered(c, f, &all);
    TRY(local_memory_place(c, f));
    TRY(distribute_all(c, f, tile));
    TRY(replace_placeholders(c, f, &all));
    ir_set(f, "xla.entry", mlirUnitAttrGet(c->context));
    ir_unset(f, WORKGROUPS_TILES);
    ir_unset(f, TILE_INDEPENDENT);
    workgroups_lift(module, f);
  }
  workgroups_forget_interfaces(c->scratch, module);
  return status_ok();
}

const pass tile_distribute = {
    .name = "iree-codegen-distribute-to-tiles",
    .summary = "bindings to pointers, workgroups to the tiles that the runtime calls",
    .order_reason = "behind vectorization: until here one function is all of the region",
    .use = PASS_NEEDED,
    .run = run,
};
