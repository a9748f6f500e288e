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
#include "tile/local_memory.h"
#include "tile/passes.h"

#define PLACEHOLDER "iree.placeholder"
#define FORALL "scf.forall"
#define PARALLEL "scf.parallel"

// --- bindings become pointers

typedef struct binding {
  str name;
  int64_t set, number;
  MlirValue pointer;
} binding;

typedef VEC(binding) bindings;

static int64_t int_of(MlirOperation op, const char *name) { return mlirIntegerAttrGetValueInt(ir_get(op, name)); }

static bool is_before(const binding *x, const binding *y) {
  return x->set != y->set ? x->set < y->set : x->number < y->number;
}

static void collect_bindings(arena *a, MlirOperation module, bindings *out) {
  ir_operations all = ir_collect(a, module, "hal.interface.binding");
  for (int k = 0; k < all.size; k++) {
    const binding b = {ir_symbol(all.data[k]), int_of(all.data[k], "set"), int_of(all.data[k], "binding"), {0}};
    vec_push(a, out, b);
    for (int n = out->size - 1; n > 0 && is_before(&out->data[n], &out->data[n - 1]); n--) {
      const binding later = out->data[n - 1];
      out->data[n - 1] = out->data[n];
      out->data[n] = later;
    }
  }
}

static MlirValue insert_value(ir_builder *b, MlirValue structure, MlirValue value, int count, const int64_t *at) {
  MlirValue operands[] = {structure, value};
  MlirNamedAttribute position = ir_named(b->context, "position", mlirDenseI64ArrayGet(b->context, count, at));
  return ir_value_with(b, "llvm.insertvalue", mlirValueGetType(structure), 2, operands, 1, &position);
}

// What MLIR's lowering of memory makes of a memref: allocated and aligned pointer, offset, sizes, strides.
static MlirValue descriptor(ir_builder *b, MlirValue pointer, MlirType memory) {
  const int rank = (int)mlirShapedTypeGetRank(memory);
  const char *arrays = rank > 0 ? arena_printf(b->arena, ", array<%d x i64>, array<%d x i64>", rank, rank) : "";
  MlirType type = ir_type(b->context, arena_printf(b->arena, "!llvm.struct<(ptr, ptr, i64%s)>", arrays));
  MlirType i64 = mlirIntegerTypeGet(b->context, 64);
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

static heddle_status replace_placeholders(lower_context *c, MlirOperation function, bindings *all) {
  ir_operations placeholders = ir_collect(c->scratch, function, PLACEHOLDER);
  for (int k = 0; k < placeholders.size; k++) {
    MlirOperation op = placeholders.data[k];
    MlirAttribute name = ir_get(op, "binding");
    MlirStringRef leaf = mlirSymbolRefAttrGetLeafReference(name);
    int n = 0;
    while (n < all->size && !str_equal(all->data[n].name, (str){leaf.data, leaf.length})) n++;
    if (n == all->size) return ir_refuse(op, HEDDLE_INVALID, "a placeholder names no binding");
    ir_builder b = ir_builder_before(op, c->scratch);
    MlirValue memory = descriptor(&b, all->data[n].pointer, ir_result_type(op, 0));
    ir_replace(op, &memory);
  }
  return status_ok();
}

// Pointers by binding, then the number of the tile, which is returned.
static MlirValue add_arguments(lower_context *c, MlirOperation function, bindings *all) {
  MlirBlock block = ir_body(function, 0);
  MlirLocation location = mlirOperationGetLocation(function);
  MlirType pointer = ir_type(c->context, "!llvm.ptr");
  for (int k = 0; k < all->size; k++) all->data[k].pointer = mlirBlockAddArgument(block, pointer, location);
  MlirValue tile = mlirBlockAddArgument(block, mlirIndexTypeGet(c->context), location);
  ir_retype_function(c->scratch, function);
  for (int k = 0; k < all->size; k++) {
    ir_set_argument_attribute(function, k, "llvm.noalias", mlirUnitAttrGet(c->context));
    ir_set_argument_attribute(function, k, "llvm.align", mlirIntegerAttrGet(mlirIntegerTypeGet(c->context, 64), 64));
  }
  return tile;
}

// --- workgroups become tiles

typedef struct grid {
  int rank;
  int64_t lower[SHAPE_MAX_RANK], step[SHAPE_MAX_RANK], trips[SHAPE_MAX_RANK];
  int64_t count;
} grid;

static bool add_dim(grid *g, int64_t lower, int64_t upper, int64_t step) {
  const int k = g->rank++;
  const int64_t size = upper - lower;
  g->lower[k] = lower;
  g->step[k] = step;
  if (step <= 0) return false;
  g->trips[k] = size > 0 ? (size + step - 1) / step : 0;
  g->count *= g->trips[k];
  return true;
}

// Lower bounds, upper bounds and steps are operands.
static bool grid_of_parallel(MlirOperation parallel, grid *out) {
  const int rank = (int)mlirBlockGetNumArguments(ir_body(parallel, 0));
  bool is_known = rank <= SHAPE_MAX_RANK && mlirOperationGetNumOperands(parallel) == 3 * rank;
  for (int k = 0; k < rank && is_known; k++) {
    int64_t bounds[3];
    for (int n = 0; n < 3; n++)
      is_known = is_known && ir_constant_value(ir_operand(parallel, n * rank + k), &bounds[n]);
    is_known = is_known && add_dim(out, bounds[0], bounds[1], bounds[2]);
  }
  return is_known;
}

static bool grid_of(MlirOperation forall, grid *out) {
  *out = (grid){.count = 1};
  if (ir_is(forall, PARALLEL)) return grid_of_parallel(forall, out);
  MlirAttribute lower = ir_get(forall, "staticLowerBound"), upper = ir_get(forall, "staticUpperBound"),
                step = ir_get(forall, "staticStep");
  const int rank = (int)mlirDenseArrayGetNumElements(lower);
  bool is_known = rank <= SHAPE_MAX_RANK && mlirOperationGetNumOperands(forall) == 0;
  for (int k = 0; k < rank && is_known; k++)
    is_known = add_dim(out, mlirDenseI64ArrayGetElement(lower, k), mlirDenseI64ArrayGetElement(upper, k),
                       mlirDenseI64ArrayGetElement(step, k));
  return is_known;
}

// The workgroup's position along each dim, from its number in row-major order.
static void positions(ir_builder *b, const grid *g, MlirValue number, MlirValue *out) {
  for (int k = g->rank - 1; k >= 0; k--) {
    MlirValue trips = ir_index(b, g->trips[k]);
    MlirValue at = k > 0 ? ir_binary(b, "arith.remui", number, trips) : number;
    number = k > 0 ? ir_binary(b, "arith.divui", number, trips) : number;
    out[k] =
        ir_binary(b, "arith.addi", ir_binary(b, "arith.muli", at, ir_index(b, g->step[k])), ir_index(b, g->lower[k]));
  }
}

static void inline_body(lower_context *c, MlirOperation forall, MlirBlock into, const grid *g, MlirValue number) {
  ir_builder b = ir_builder_before(ir_terminator(into), c->scratch);
  if (mlirOperationEqual(mlirOperationGetParentOperation(forall), mlirBlockGetParentOperation(into)))
    b = ir_builder_before(forall, c->scratch);
  MlirValue at[SHAPE_MAX_RANK];
  positions(&b, g, number, at);
  MlirOperation anchor = b.before;
  ir_inline_block(c->scratch, ir_body(forall, 0), anchor, at);
  ir_erase(forall);
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

static void distribute(lower_context *c, MlirOperation forall, const grid *g, MlirValue tile, int64_t tiles,
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

// Whether the function is loops over workgroups that can run side by side, and what computes nothing in memory; then
// *foralls are they. *single: what else computes something, which is one workgroup more.
static bool is_parallel(arena *a, MlirOperation function, ir_operations *foralls, ir_operations *single) {
  static const char *const others[] = {PLACEHOLDER,           "arith.constant", "memref.subview",
                                       "memref.alloca",       "affine.apply",   "memref.collapse_shape",
                                       "memref.expand_shape", "func.return",    "memref.cast",
                                       "memref.view"};
  MlirBlock block = ir_body(function, 0);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !ir_is_null(op); op = mlirOperationGetNextInBlock(op)) {
    bool is_known = ir_is(op, FORALL) || ir_is(op, PARALLEL);
    if (is_known) vec_push(a, foralls, op);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) is_known |= ir_is(op, others[k]);
    if (!is_known) vec_push(a, single, op);
  }
  if (foralls->size > 0 && !mlirAttributeIsNull(ir_get(function, TILE_INDEPENDENT))) return true;
  return foralls->size == 1 && single->size == 0;
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
  MlirAttribute wanted = ir_get(function, "xla.tiles");
  ir_operations foralls = {0}, single = {0};
  const bool parallel = is_parallel(c->scratch, function, &foralls, &single);
  if (!parallel) foralls = ir_collect(c->scratch, function, FORALL);  // scf.parallel is run in order anyway
  grid *grids = arena_array(c->scratch, grid, foralls.size);
  int64_t all = single.size > 0, first = 0;
  for (int k = 0; k < foralls.size; k++) {
    if (!grid_of(foralls.data[k], &grids[k]))
      return ir_refuse(foralls.data[k], HEDDLE_UNIMPLEMENTED, "found workgroups of unknown number");
    all += grids[k].count;
  }
  const int64_t tiles = mlirAttributeIsNull(wanted) ? all : mlirIntegerAttrGetValueInt(wanted);
  for (int k = 0; k < foralls.size; k++) {
    const grid *g = &grids[k];
    ir_builder b = ir_builder_before(foralls.data[k], c->scratch);
    if (parallel) distribute(c, foralls.data[k], g, tile, tiles, first, all);
    else distribute(c, foralls.data[k], g, ir_index(&b, 0), 1, 0, g->count);
    first += g->count;
  }
  if (parallel && single.size > 0) distribute_single(c, block, &single, tile, tiles, first, all);
  if (!parallel) run_alone(c, block, tile);
  return status_ok();
}

// --- the module becomes flat

static void lift(MlirOperation module, MlirOperation function) {
  if (mlirOperationEqual(mlirOperationGetParentOperation(function), module)) return;
  mlirOperationRemoveFromParent(function);
  mlirBlockAppendOwnedOperation(ir_body(module, 0), function);
}

static void erase_all(arena *a, MlirOperation module, const char *name) {
  ir_operations all = ir_collect(a, module, name);
  for (int k = 0; k < all.size; k++) ir_erase(all.data[k]);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  ir_operations functions = ir_collect(c->scratch, module, "func.func");
  for (int k = 0; k < functions.size; k++) {
    MlirOperation f = functions.data[k];
    if (mlirBlockIsNull(ir_body(f, 0)) || mlirBlockGetNumArguments(ir_body(f, 0)) > 0) continue;
    bindings all = {0};
    collect_bindings(c->scratch, mlirOperationGetParentOperation(f), &all);
    MlirValue tile = add_arguments(c, f, &all);
    TRY(local_memory_place(c, f));
    TRY(distribute_all(c, f, tile));
    TRY(replace_placeholders(c, f, &all));
    ir_set(f, "xla.entry", mlirUnitAttrGet(c->context));
    ir_unset(f, "xla.tiles");
    ir_unset(f, TILE_INDEPENDENT);
    lift(module, f);
  }
  erase_all(c->scratch, module, "hal.interface");
  erase_all(c->scratch, module, "hal.executable.target");
  return status_ok();
}

const pass tile_distribute = {
    .name = "iree-codegen-distribute-to-tiles",
    .summary = "bindings to pointers, workgroups to the tiles that the runtime calls",
    .order_reason = "behind vectorization: until here one function is all of the region",
    .use = PASS_NEEDED,
    .run = run,
};
