// Bindings, loops over workgroups, and the interface around both: what targets of every kind ask of a region.
#include "tile/workgroups.h"

#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

#include "base/int64.h"
#include "lower/launch.h"
#include "tile/passes.h"
#include "tile/views.h"

// --- bindings

static int64_t int_of(MlirOperation op, const char *name) { return mlirIntegerAttrGetValueInt(ir_get(op, name)); }

static bool is_before(const workgroups_binding *x, const workgroups_binding *y) {
  return x->set != y->set ? x->set < y->set : x->number < y->number;
}

static void collect_bindings(arena *a, MlirOperation module, workgroups_bindings *out) {
  ir_operations all = ir_collect(a, module, "hal.interface.binding");
  for (int k = 0; k < all.size; k++) {
    const workgroups_binding b = {
        ir_symbol(all.data[k]), int_of(all.data[k], "set"), int_of(all.data[k], "binding"), {0}};
    vec_push(a, out, b);
    for (int n = out->size - 1; n > 0 && is_before(&out->data[n], &out->data[n - 1]); n--) {
      const workgroups_binding later = out->data[n - 1];
      out->data[n - 1] = out->data[n];
      out->data[n] = later;
    }
  }
}

static void add_pointers(lower_context *c, MlirOperation function, workgroups_bindings *out) {
  collect_bindings(c->scratch, mlirOperationGetParentOperation(function), out);
  MlirType pointer = ir_type(c->context, "!llvm.ptr");
  for (int k = 0; k < out->size; k++)
    out->data[k].pointer = mlirBlockAddArgument(ir_body(function, 0), pointer, mlirOperationGetLocation(function));
}

static void describe_pointers(lower_context *c, MlirOperation function, const workgroups_bindings *all) {
  ir_retype_function(c->scratch, function);
  for (int k = 0; k < all->size; k++) {
    ir_set_argument_attribute(function, k, "llvm.noalias", mlirUnitAttrGet(c->context));
    ir_set_argument_attribute(function, k, "llvm.align", mlirIntegerAttrGet(mlirIntegerTypeGet(c->context, 64), 64));
  }
}

void workgroups_bind(lower_context *c, MlirOperation function, workgroups_bindings *out) {
  add_pointers(c, function, out);
  describe_pointers(c, function, out);
}

MlirValue workgroups_bind_numbered(lower_context *c, MlirOperation function, workgroups_bindings *out) {
  add_pointers(c, function, out);
  MlirValue number =
      mlirBlockAddArgument(ir_body(function, 0), mlirIndexTypeGet(c->context), mlirOperationGetLocation(function));
  describe_pointers(c, function, out);
  return number;
}

heddle_status workgroups_binding_of(MlirOperation placeholder, const workgroups_bindings *all,
                                    const workgroups_binding **out) {
  const MlirStringRef leaf = mlirSymbolRefAttrGetLeafReference(ir_get(placeholder, "binding"));
  int n = 0;
  while (n < all->size && !str_equal(all->data[n].name, (str){leaf.data, leaf.length})) n++;
  if (n == all->size) return ir_refuse(placeholder, HEDDLE_INVALID, "a placeholder names no binding");
  *out = &all->data[n];
  return status_ok();
}

// --- loops over workgroups

static bool add_dim(workgroups_grid *g, int64_t lower, int64_t upper, int64_t step) {
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
static bool grid_of_parallel(MlirOperation parallel, workgroups_grid *out) {
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

bool workgroups_grid_of(MlirOperation forall, workgroups_grid *out) {
  *out = (workgroups_grid){.count = 1};
  if (ir_is(forall, WORKGROUPS_PARALLEL)) return grid_of_parallel(forall, out);
  MlirAttribute lower = ir_get(forall, "staticLowerBound"), upper = ir_get(forall, "staticUpperBound"),
                step = ir_get(forall, "staticStep");
  const int rank = (int)mlirDenseArrayGetNumElements(lower);
  bool is_known = rank <= SHAPE_MAX_RANK && mlirOperationGetNumOperands(forall) == 0;
  for (int k = 0; k < rank && is_known; k++)
    is_known = add_dim(out, mlirDenseI64ArrayGetElement(lower, k), mlirDenseI64ArrayGetElement(upper, k),
                       mlirDenseI64ArrayGetElement(step, k));
  return is_known;
}

// The loop's dimension whose variable it is, -1: none.
static int dimension_of(MlirOperation loop, MlirValue at) {
  const MlirBlock body = ir_body(loop, 0);
  for (int k = 0; k < (int)mlirBlockGetNumArguments(body); k++)
    if (mlirValueEqual(mlirBlockGetArgument(body, k), at)) return k;
  return -1;
}

// Whether along the dim of the memory the view is as long as the loop's step, from its variable on, or all of it.
static bool covers_dim(MlirOperation loop, const workgroups_grid *g, MlirOperation view, int dim, int *operand,
                       int *loop_dim) {
  const int64_t all = mlirShapedTypeGetDimSize(mlirValueGetType(ir_operand(view, 0)), dim),
                offset = mlirDenseI64ArrayGetElement(ir_get(view, "static_offsets"), dim),
                size = mlirDenseI64ArrayGetElement(ir_get(view, "static_sizes"), dim);
  *loop_dim = -1;
  if (mlirDenseI64ArrayGetElement(ir_get(view, "static_strides"), dim) != 1) return false;
  if (offset != INT64_MIN) return offset == 0 && size == all;
  const int k = dimension_of(loop, ir_operand(view, (*operand)++));
  *loop_dim = k;
  return k >= 0 && g->lower[k] == 0 && size == g->step[k] && g->trips[k] * g->step[k] == all;
}

bool workgroups_covers(MlirOperation loop, MlirOperation view, int *dims) {
  workgroups_grid g;
  uint32_t used = 0;
  int operand = 1;
  const int rank = (int)mlirDenseArrayGetNumElements(ir_get(view, "static_offsets"));
  if (rank > SHAPE_MAX_RANK || !workgroups_grid_of(loop, &g)) return false;
  for (int d = 0; d < rank; d++) {
    if (!covers_dim(loop, &g, view, d, &operand, &dims[d]) || (dims[d] >= 0 && used >> dims[d] & 1U)) return false;
    if (dims[d] >= 0) used |= 1U << dims[d];
  }
  bool all = true;
  for (int k = 0; k < g.rank; k++) all = all && (used >> k & 1U || g.trips[k] == 1);
  return all && operand == (int)mlirOperationGetNumOperands(view);
}

bool workgroups_local_size(MlirOperation function, int64_t out[3]) {
  const MlirAttribute abi = ir_get(function, WORKGROUPS_LOCAL_SIZE);
  if (mlirAttributeIsNull(abi) || !mlirAttributeIsADictionary(abi)) return false;
  const MlirAttribute local = mlirDictionaryAttrGetElementByName(abi, mlirStringRefCreateFromCString("local_size"));
  if (mlirAttributeIsNull(local) || !mlirAttributeIsADenseElements(local) || mlirElementsAttrGetNumElements(local) != 3)
    return false;
  const MlirType element = mlirShapedTypeGetElementType(mlirAttributeGetType(local));
  if (!mlirTypeIsAInteger(element) || mlirIntegerTypeGetWidth(element) != 32) return false;
  for (int d = 0; d < 3; d++) out[d] = mlirDenseElementsAttrGetInt32Value(local, d);
  return true;
}

heddle_status workgroups_tiles(MlirOperation function, int64_t *out) {
  const MlirAttribute tiles = ir_get(function, WORKGROUPS_TILES);
  if (mlirAttributeIsNull(tiles)) return status_ok();
  const bool is_number =
      mlirAttributeIsAInteger(tiles) &&
      mlirTypeEqual(mlirAttributeGetType(tiles), mlirIntegerTypeGet(mlirOperationGetContext(function), 64));
  if (is_number) *out = mlirIntegerAttrGetValueInt(tiles);
  if (is_number && *out >= 1 && *out <= INT32_MAX) return status_ok();
  return ir_refuse(function, HEDDLE_INVALID, "found another " WORKGROUPS_TILES ", wanted a number from 1 to %d : i64",
                   INT32_MAX);
}

heddle_status workgroups_count_threads(MlirOperation function, const int64_t local[3], int64_t *out) {
  *out = 1;
  for (int d = 0; d < 3; d++) *out = int64_saturating_mul(*out, int64_max(local[d], 0));
  if (*out < 1 || *out > LAUNCH_MOST_THREADS)
    return ir_refuse(function, HEDDLE_INVALID, "found a workgroup of %lld workitems, wanted 1 to %d", (long long)*out,
                     LAUNCH_MOST_THREADS);
  return status_ok();
}

heddle_status workgroups_threads(MlirOperation function, int64_t otherwise, int64_t *out) {
  launch l;
  int64_t local[3];
  TRY(launch_of(function, &l));
  *out = l.is_said ? l.threads[0] : otherwise;
  if (l.is_said || !workgroups_local_size(function, local)) return status_ok();
  return workgroups_count_threads(function, local, out);
}

// The loop's variables in the turn of that number.
static void put_positions(ir_builder *b, const workgroups_grid *g, MlirValue number, MlirValue *out) {
  for (int k = g->rank - 1; k >= 0; k--) {
    MlirValue trips = ir_index(b, g->trips[k]);
    MlirValue at = k > 0 ? ir_binary(b, "arith.remui", number, trips) : number;
    number = k > 0 ? ir_binary(b, "arith.divui", number, trips) : number;
    out[k] =
        ir_binary(b, "arith.addi", ir_binary(b, "arith.muli", at, ir_index(b, g->step[k])), ir_index(b, g->lower[k]));
  }
}

void workgroups_put_turn(arena *a, MlirOperation loop, const workgroups_grid *g, MlirOperation anchor,
                         MlirValue number) {
  ir_builder b = ir_builder_before(anchor, a);
  MlirValue at[SHAPE_MAX_RANK];
  put_positions(&b, g, number, at);
  ir_inline_block(a, ir_body(loop, 0), anchor, at);
  ir_erase(loop);
}

bool workgroups_is_subgroups(MlirOperation op) {
  if (ir_is_null(op) || !ir_is(op, WORKGROUPS_FORALL) || mlirAttributeIsNull(ir_get(op, WORKGROUPS_MAPPING)))
    return false;
  text t = {0};
  mlirAttributePrint(ir_get(op, WORKGROUPS_MAPPING), ir_append, &t);
  const bool found = strstr(text_cstr(&t), "#gpu.warp") != NULL;
  text_free(&t);
  return found;
}

bool workgroups_is_loop(MlirOperation op) {
  return ir_is(op, WORKGROUPS_PARALLEL) || (ir_is(op, WORKGROUPS_FORALL) && !workgroups_is_subgroups(op));
}

// `needed` has what is known to be; whoever reads a value stands behind it.
static bool is_needed(MlirOperation op, MlirBlock block, const ptr_map *needed) {
  bool any = false;
  for (int r = 0; r < mlirOperationGetNumResults(op); r++)
    for (MlirOpOperand use = mlirValueGetFirstUse(ir_result(op, r)); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
      MlirOperation by = ir_in_block(mlirOpOperandGetOwner(use), block);
      any |= workgroups_is_loop(by) || ptr_map_has(needed, by.ptr);
    }
  return any;
}

static bool computes_nothing(MlirOperation op) {
  static const char *const names[] = {WORKGROUPS_PLACEHOLDER, "arith.constant", "memref.alloca",
                                      "affine.apply",         "func.return",    "memref.view"};
  bool any = views_is_one(op);
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) any |= ir_is(op, names[k]);
  return any;
}

ptr_map workgroups_hoisted(arena *a, MlirBlock block) {
  ir_operations all = {0};
  ptr_map needed = {0};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !ir_is_null(op); op = mlirOperationGetNextInBlock(op))
    vec_push(a, &all, op);
  for (int k = all.size - 1; k >= 0; k--)
    if (is_needed(all.data[k], block, &needed)) ptr_map_put(a, &needed, all.data[k].ptr, all.data[k].ptr);
  return needed;
}

bool workgroups_are_independent(arena *a, MlirOperation function, ir_operations *foralls, ir_operations *single) {
  MlirBlock block = ir_body(function, 0);
  const ptr_map hoisted = workgroups_hoisted(a, block);
  bool are_apart = true;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !ir_is_null(op); op = mlirOperationGetNextInBlock(op)) {
    const bool is_hoisted = ptr_map_has(&hoisted, op.ptr);
    are_apart = are_apart && !(is_hoisted && mlirOperationGetNumRegions(op) > 0);
    if (workgroups_is_loop(op)) vec_push(a, foralls, op);
    else if (!computes_nothing(op) && !is_hoisted) vec_push(a, single, op);
  }
  if (!are_apart) return false;
  if (foralls->size > 0 && !mlirAttributeIsNull(ir_get(function, TILE_INDEPENDENT))) return true;
  return foralls->size == 1 && single->size == 0;
}

// --- the interface

void workgroups_lift(MlirOperation module, MlirOperation function) {
  if (mlirOperationEqual(mlirOperationGetParentOperation(function), module)) return;
  mlirOperationRemoveFromParent(function);
  mlirBlockAppendOwnedOperation(ir_body(module, 0), function);
}

static void erase_all(arena *a, MlirOperation module, const char *name) {
  ir_operations all = ir_collect(a, module, name);
  for (int k = 0; k < all.size; k++) ir_erase(all.data[k]);
}

void workgroups_forget_interfaces(arena *a, MlirOperation module) {
  erase_all(a, module, "hal.interface");
  erase_all(a, module, "hal.executable.target");
}
