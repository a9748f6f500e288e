// iree-codegen-select-lowering-strategy: chooses the roots of a dispatch region and the sizes of their tiles.
//
// A root is an operation whose result leaves the region; what it reads is computed for each of its tiles. Its attribute
// `lowering_config` has a list of sizes for each of two levels, by loop: of the tile of a workgroup, and of the tile in
// registers. What each operation does at once of the latter is asked when it is there.
#include "tile/configure.h"

#include "dialect/tiling.h"
#include "emit/ir_builder.h"
#include "tile/by_tile.h"
#include "tile/direct.h"
#include "tile/grid_sizes.h"
#include "tile/groups.h"
#include "tile/markers.h"
#include "tile/pack.h"
#include "tile/panels.h"
#include "tile/passes.h"
#include "tile/sizes.h"

typedef struct loops {
  int count;
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS];
  bool has_reduction;
} loops;

static loops loops_of(MlirOperation op) {
  loops l = {0};
  l.count = tiling_loops(op, l.trips, l.is_reduction);
  for (int k = 0; k < l.count; k++) l.has_reduction |= l.is_reduction[k];
  return l;
}

// --- what a root's tiles would compute again

// For each loop of an operation, the loops of the root that its position depends on, as bits.
typedef struct reach {
  uint32_t loops[TILING_MAX_LOOPS];
  uint32_t all;
} reach;

// The dims of the consumer that the expression's value depends on, as the root's loops.
static uint32_t loops_in(MlirAffineExpr e, const reach *consumer) {
  if (mlirAffineExprIsADim(e)) return consumer->loops[mlirAffineDimExprGetPosition(e)];
  if (!mlirAffineExprIsABinary(e)) return 0;
  return loops_in(mlirAffineBinaryOpExprGetLHS(e), consumer) | loops_in(mlirAffineBinaryOpExprGetRHS(e), consumer);
}

static reach reach_of_producer(MlirOperation producer, int result, MlirAffineMap read, const reach *consumer) {
  reach r = {0};
  MlirAffineMap written = tiling_map(producer, tiling_output(producer, result));
  for (int d = 0; d < mlirAffineMapGetNumResults(written); d++) {
    MlirAffineExpr e = mlirAffineMapGetResult(written, d);
    if (!mlirAffineExprIsADim(e)) continue;
    const uint32_t needed = loops_in(mlirAffineMapGetResult(read, d), consumer);
    r.loops[mlirAffineDimExprGetPosition(e)] = needed;
    r.all |= needed;
  }
  return r;
}

// The loops of the root along which every producer that reduces has tiles of its own: tiling others would make it
// compute the same again.
static uint32_t tileable(MlirOperation op, const reach *at, uint32_t allowed) {
  const int operands = (int)mlirOperationGetNumOperands(op);
  for (int k = 0; k < operands; k++) {
    MlirOperation producer = ir_defining_op(ir_operand(op, k));
    if (ir_is_null(producer)) continue;
    const loops l = loops_of(producer);
    if (l.count < 0) continue;
    const int result = (int)mlirOpResultGetResultNumber(ir_operand(op, k));
    const reach r = reach_of_producer(producer, result, tiling_map(op, k), at);
    if (l.has_reduction) allowed &= r.all;
    allowed = tileable(producer, &r, allowed);
  }
  return allowed;
}

// Whether no operand has an element for each point: then points share elements, and a tile loads fewer than it has.
static bool multiplies(MlirOperation op, const loops *l) {
  bool shares = l->has_reduction;
  for (int k = 0; k < mlirOperationGetNumOperands(op); k++)
    shares &= mlirAffineMapGetNumResults(tiling_map(op, k)) < l->count;
  return shares;
}

// --- operations on the way

int configure_step(const lower_context *c, MlirOperation op, int64_t *sizes) {
  const loops l = loops_of(op);
  if (c->options->target.has_grid) {
    grid_sizes_of_step(&c->options->target, l.count, l.trips, l.is_reduction, multiplies(op, &l), sizes);
    return l.count;
  }
  sizes_of_step(&c->options->target, op, l.count, l.trips, l.is_reduction, multiplies(op, &l), sizes);
  groups_align(op, l.count, l.trips, sizes);
  return l.count;
}

bool configure_packs(const lower_context *c, const product_form *p, bool is_root) {
  int64_t sums = 1;
  for (int k = 0; k < p->loop_count; k++)
    if (!p->is_reduction[k]) sums *= p->trips[k];
  if (!is_root && sums * ir_bit_width(p->type) / 8 > SIZES_MOST_SUM_BYTES) return false;
  if (direct_takes(c, p)) return true;
  if (p->row < 0 || p->shares_columns) return false;
  if (panels_width_of(p) > 0 || pack_takes_few_rows(c, p)) return true;
  return sizes_worth_packing(&c->options->target, p->type, product_form_rows(p), p->trips[p->column], p->terms,
                             p->columns.plain >= 0 && p->columns.minor == p->column);
}

static bool reads_products(MlirOperation op) {
  bool any = false;
  const int operands = (int)mlirOperationGetNumOperands(op);
  for (int k = 0; k < operands; k++) {
    MlirOperation producer = ir_defining_op(ir_operand(op, k));
    if (ir_is_null(producer)) continue;
    const loops l = loops_of(producer);
    if (l.count >= 0) any |= multiplies(producer, &l) || reads_products(producer);
  }
  return any;
}

// --- roots

// Of what is computed for one row of the root's tile: along loops that are not tiled, or along those that the root
// reduces.
static int64_t elements_held(MlirOperation op, const loops *l, uint32_t whole) {
  int64_t along = 1, reduced = 1;
  bool reads_computed = false;
  for (int k = 0; k < l->count; k++) {
    if (whole & 1U << k) along *= l->trips[k];
    if (l->is_reduction[k]) reduced *= l->trips[k];
  }
  for (int k = 0; k < tiling_output(op, 0); k++) {
    MlirOperation producer = ir_defining_op(ir_operand(op, k));
    reads_computed |= !ir_is_null(producer) && !by_tile_is_held(producer) && loops_of(producer).count > 0;
  }
  return reads_computed && reduced > along ? reduced : along;
}

// Finds a product that the operation is, or is computed from, and what the root's loops are of it.
static bool read_roles(MlirOperation op, const reach *at, int count, sizes_role *roles, sizes_request *request) {
  product_form p;
  if (product_form_of(op, &p)) {
    for (int k = 0; k < p.loop_count; k++) {
      const bool is_row = p.rows.loops >> k & 1U, is_column = p.columns.loops >> k & 1U;
      const bool is_outer = !is_column || p.shares_columns;
      const sizes_role role = k == p.row                                                         ? SIZES_ROW
                              : k == p.column                                                    ? SIZES_COLUMN
                              : is_outer && (is_row || (p.shares_columns && !p.is_reduction[k])) ? SIZES_OUTER_ROW
                                                                                                 : SIZES_OTHER;
      for (int r = 0; r < count; r++)
        if (at->loops[k] >> r & 1U) roles[r] = role;
    }
    request->shares_columns = p.shares_columns;
    request->panel_width = panels_width_of(&p);
    request->needs_packing =
        request->panel_width > 0 ||
        sizes_needs_packing(p.type, p.trips[p.column], p.terms, p.columns.plain >= 0 && p.columns.minor == p.column);
    return true;
  }
  const int operands = (int)mlirOperationGetNumOperands(op);
  for (int k = 0; k < operands; k++) {
    MlirOperation producer = ir_defining_op(ir_operand(op, k));
    if (ir_is_null(producer) || loops_of(producer).count < 0) continue;
    const int result = (int)mlirOpResultGetResultNumber(ir_operand(op, k));
    const reach r = reach_of_producer(producer, result, tiling_map(op, k), at);
    if (read_roles(producer, &r, count, roles, request)) return true;
  }
  return false;
}

// Whether it needs more than what lies in memory.
static bool reads_operations(MlirOperation op) {
  bool any = false;
  const int operands = (int)mlirOperationGetNumOperands(op);
  for (int k = 0; k < operands; k++) {
    MlirOperation producer = ir_defining_op(ir_operand(op, k));
    any |= !ir_is_null(producer) && !ir_is(producer, "hal.interface.load.tensor") &&
           !ir_is(producer, "arith.constant") && !ir_is(producer, "tensor.empty");
  }
  return any;
}

static heddle_status configure_root(lower_context *c, MlirOperation op, const loops *l) {
  reach own = {0};
  for (int k = 0; k < l->count; k++) own.all |= own.loops[k] = l->is_reduction[k] ? 0 : 1U << k;
  const uint32_t allowed = tileable(op, &own, own.all);
  const bool is_product = reads_products(op) || multiplies(op, l);
  int64_t workgroup[TILING_MAX_LOOPS], registers[TILING_MAX_LOOPS];
  sizes_role roles[TILING_MAX_LOOPS] = {SIZES_OTHER};
  sizes_request request = {.count = l->count,
                           .trips = l->trips,
                           .allowed = allowed,
                           .is_product = is_product,
                           .holds_sums = is_product && !multiplies(op, l),
                           .held = elements_held(op, l, own.all & ~allowed)};
  if (read_roles(op, &own, l->count, roles, &request)) request.roles = roles;
  if (c->options->target.has_grid) {
    const bool is_single = !l->has_reduction && !reads_operations(op);
    grid_sizes_of_tiles(&c->options->target, &request, is_single, workgroup, registers);
  } else {
    sizes_of_tiles(&c->options->target, op, &request, workgroup, registers);
  }
  by_tile_fit(op, l->count, l->trips, workgroup);
  groups_align(op, l->count, l->trips, workgroup);
  for (int k = 0; k < l->count; k++)
    if (registers[k] > workgroup[k]) registers[k] = workgroup[k];
  groups_align(op, l->count, workgroup, registers);
  MlirAttribute levels[] = {mlirDenseI64ArrayGet(c->context, l->count, workgroup),
                            mlirDenseI64ArrayGet(c->context, l->count, registers)};
  ir_set(op, "lowering_config", mlirArrayAttrGet(c->context, 2, levels));
  return markers_advance(op, MARKER_ROOT);
}

// Whether a linalg operation reads one of the results: then it comes along with that one's tiles.
static bool is_read(MlirOperation op) {
  for (int k = 0; k < mlirOperationGetNumResults(op); k++)
    for (MlirOpOperand use = mlirValueGetFirstUse(ir_result(op, k)); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use))
      if (tiling_is_structured(mlirOpOperandGetOwner(use))) return true;
  return false;
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const bool is_on_grid = c->options->target.has_grid;
  TRY(markers_expect(c->scratch, (MlirOperation){unit}, is_on_grid ? MARKERS_OF_GRID_TENSORS : MARKERS_OF_TENSORS));
  ir_operations all = ir_collect(c->scratch, (MlirOperation){unit}, NULL);
  for (int k = 0; k < all.size; k++) {
    const loops l = loops_of(all.data[k]);
    if (l.count >= 0 && mlirOperationGetNumResults(all.data[k]) > 0 && markers_of(all.data[k]) == MARKER_NONE &&
        !is_read(all.data[k]))
      TRY(configure_root(c, all.data[k], &l));
  }
  return status_ok();
}

heddle_status configure_left(lower_context *c, MlirOperation op) {
  const loops l = loops_of(op);
  return configure_root(c, op, &l);
}

const pass tile_configure = {
    .name = "iree-codegen-select-lowering-strategy",
    .summary = "chooses roots and the sizes of their tiles",
    .order_reason = "behind fusion on tensors, which decides which operations there are; before tiling, which obeys",
    .use = PASS_NEEDED,
    .run = run,
};
