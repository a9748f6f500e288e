// iree-codegen-vectorize: tiles of registers become arithmetic on vectors.
//
// What is marked for it is replaced by reads, vector arithmetic and writes (MLIR's vectorization); products become
// fused multiply-adds of rows; sums that a loop carries through memory stay in registers. What has no such form, for
// instance the rest of a loop whose size is not known, stays as it is and becomes loops.
#include "dialect/tiling.h"
#include "tile/by_tile.h"
#include "tile/flat_accesses.h"
#include "tile/markers.h"
#include "tile/passes.h"
#include "tile/row_copies.h"
#include "tile/term_groups.h"
#include "tile/turn_lanes.h"
#include "tile/vector_rows.h"
#include "tile/views.h"

enum { ROW_LANES = 16 };  // of a row that is made at once

// Of a vector that a tile becomes, in registers' lanes of 32 bits: beyond, its code would be longer than a loop pays
// for.
enum { MOST_REGISTERS = 192 };

static bool has_lanes(MlirOperation op) {
  bool all = true;
  for (int k = 0; k < mlirOperationGetNumOperands(op); k++)
    all &= !mlirTypeIsAComplex(ir_element_type(mlirValueGetType(ir_operand(op, k))));
  return all;
}

static bool is_small(MlirOperation op, const target_description *target) {
  const int64_t most = MOST_REGISTERS * (target->vector_bits > 128 ? target->vector_bits : 128) / 32;
  int64_t trips[TILING_MAX_LOOPS], points = 1;
  bool is_reduction[TILING_MAX_LOOPS];
  const int count = tiling_loops(op, trips, is_reduction);
  for (int k = 0; k < count; k++) {
    if (trips[k] < 0 || trips[k] > most) return false;
    points *= trips[k];
    if (points > most) return false;
  }
  return true;
}

// Whether no lane of an access lies outside of the memory.
static bool is_whole(MlirOperation access) {
  MlirAttribute in_bounds = ir_get(access, "in_bounds");
  bool all = !mlirAttributeIsNull(in_bounds) && mlirAttributeIsAArray(in_bounds);
  for (int k = 0; all && k < mlirArrayAttrGetNumElements(in_bounds); k++)
    all = mlirBoolAttrGetValue(mlirArrayAttrGetElement(in_bounds, k));
  return all;
}

// Whether two accesses mean the same vector at the same place.
static bool is_same_place(MlirOperation read, MlirOperation write) {
  const int count = (int)mlirOperationGetNumOperands(read);  // memory, indices, what lies outside
  if (!mlirTypeEqual(ir_result_type(read, 0), mlirValueGetType(ir_operand(write, 0)))) return false;
  if (count != (int)mlirOperationGetNumOperands(write)) return false;
  for (int k = 0; k < count - 1; k++)
    if (!mlirValueEqual(ir_operand(read, k), ir_operand(write, k + 1))) return false;
  return mlirAttributeEqual(ir_get(read, "permutation_map"), ir_get(write, "permutation_map")) && is_whole(read) &&
         is_whole(write);
}

// What was written right before is not read again from memory: the zeros that sums begin with.
static void forward_writes(arena *a, MlirOperation module) {
  const ir_operations reads = ir_collect(a, module, "vector.transfer_read");
  MlirOperation before = {NULL};
  for (int k = 0; k < reads.size; k++) {
    MlirBlock block = mlirOperationGetBlock(reads.data[k]);
    MlirOperation last = {NULL};
    for (before = mlirBlockGetFirstOperation(block); !mlirOperationEqual(before, reads.data[k]);
         before = mlirOperationGetNextInBlock(before)) {
      if (ir_is(before, "vector.transfer_write")) last = before;
      else if (mlirOperationGetNumRegions(before) > 0 || mlirOperationGetNumResults(before) == 0) last.ptr = NULL;
    }
    if (ir_is_null(last) || !is_same_place(reads.data[k], last)) continue;
    MlirValue written = ir_operand(last, 0);
    ir_replace(reads.data[k], &written);
  }
}

static bool holds(const ir_values *values, MlirValue v) {
  for (int k = 0; k < values->size; k++)
    if (mlirValueEqual(values->data[k], v)) return true;
  return false;
}

// A position along a loop of one turn is a number.
static bool is_position(MlirOperation op, const int64_t *trips) {
  return ir_is(op, "linalg.index") && trips[mlirIntegerAttrGetValueInt(ir_get(op, "dim"))] != 1;
}

// Whether all results are made of elements that the inputs have, or of positions. MLIR takes what a reduction makes of
// anything else, of the number that an input was filled with for instance, once, and not once for each turn.
static bool reduces_elements(arena *a, MlirOperation op) {
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS], any = false, all = true;
  const int count = tiling_loops(op, trips, is_reduction);
  for (int k = 0; k < count; k++) any |= is_reduction[k];
  if (!any) return true;
  MlirBlock body = ir_body(op, 0);
  const ir_operations inside = ir_collect(a, op, NULL);
  ir_values elements = {0};
  for (int k = 0; k < tiling_output(op, 0); k++) vec_push(a, &elements, mlirBlockGetArgument(body, k));
  for (int k = 0; k < inside.size; k++) {
    bool is_element = is_position(inside.data[k], trips);
    for (int o = 0; o < mlirOperationGetNumOperands(inside.data[k]); o++)
      is_element |= holds(&elements, ir_operand(inside.data[k], o));
    if (is_element && mlirOperationGetNumResults(inside.data[k]) > 0)
      vec_push(a, &elements, ir_result(inside.data[k], 0));
  }
  MlirOperation end = ir_terminator(body);
  for (int o = 0; o < mlirOperationGetNumOperands(end); o++) all &= holds(&elements, ir_operand(end, o));
  return all;
}

// Whether each turn of a reduction rounds what it has added up: a vector's sum is rounded but once.
static bool rounds_each_turn(MlirOperation op) {
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS], any = false, rounds = false;
  const int count = tiling_loops(op, trips, is_reduction);
  for (int k = 0; k < count; k++) any |= is_reduction[k];
  MlirOperation end = ir_terminator(ir_body(op, 0));
  for (int o = 0; any && o < mlirOperationGetNumOperands(end); o++) {
    MlirType type = mlirValueGetType(ir_operand(end, o));
    MlirOperation last = ir_defining_op(ir_operand(end, o));
    rounds |= mlirTypeIsAFloat(type) && ir_bit_width(type) < 32 && !ir_is_null(last) &&
              !ir_is(last, "arith.maximumf") && !ir_is(last, "arith.minimumf");
  }
  return rounds;
}

static void vectorize(arena *a, const lower_options *options, MlirOperation op) {
  const target_description *target = &options->target;
  if (!tiling_is_structured(op) || !has_lanes(op) || !reduces_elements(a, op)) return;
  if (options->exact && rounds_each_turn(op)) return;
  if (by_tile_is_held(op)) row_copies_vectorize(a, op, ROW_LANES);
  else if (markers_of(op) != MARKER_VECTORIZE || !is_small(op, target)) return;
  else if (!mlirAttributeIsNull(ir_get(op, TERM_GROUP))) term_groups_vectorize(a, target, op);
  else if (!mlirAttributeIsNull(ir_get(op, TERM_TURN))) term_groups_turn(a, op);
  else if (!turn_lanes_vectorize(a, op)) tiling_vectorize(op);
}

// --- sums in registers

static bool share_a_loop(MlirOperation l, MlirOperation r) {
  bool any = false;
  for (MlirOperation at = mlirOperationGetParentOperation(l); !ir_is_null(at); at = mlirOperationGetParentOperation(at))
    any |= ir_is(at, "scf.for") && ir_is_within(r, at);
  return any;
}

// Whether no operation that became no vectors works in a loop on memory that vectors are written to there.
static bool may_hoist(arena *a, MlirOperation module) {
  const ir_operations all = ir_collect(a, module, NULL), writes = ir_collect(a, module, "vector.transfer_write");
  bool may = true;
  for (int k = 0; k < all.size; k++) {
    if (markers_of(all.data[k]) != MARKER_VECTORIZE) continue;
    for (int o = 0; o < mlirOperationGetNumOperands(all.data[k]); o++) {
      MlirValue memory = views_root(ir_operand(all.data[k], o));
      for (int w = 0; w < writes.size && may; w++)
        may = !mlirValueEqual(memory, views_root(ir_operand(writes.data[w], 1))) ||
              !share_a_loop(all.data[k], writes.data[w]);
    }
  }
  return may;
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  tile_load_dialects(c->context);
  TRY(markers_expect(c->scratch, module, MARKERS_OF_VECTORS));
  ir_operations all = ir_collect(c->scratch, module, NULL);
  for (int k = 0; k < all.size; k++) vectorize(c->scratch, c->options, all.data[k]);
  // What has no vector form is reported, which is no error here.
  heddle_status_free(ir_diagnostics(c->context, HEDDLE_INTERNAL, "cannot vectorize"));
  // Products are recognized first, as folding of unit dims hides them. Slices of memory are folded into the accesses
  // before sums are hoisted: two accesses are one place where indices are.
  TRY(lower_vectors(context, unit, VECTOR_STEP_RECOGNIZE));
  TRY(lower_vectors(context, unit, VECTOR_STEP_VIEWS));
  TRY(lower_tidy(context, unit));
  vector_rows_reduce(c->scratch, module);
  // Canonicalizations are not among these patterns: some undo each other for ever.
  TRY(lower_vectors(context, unit, VECTOR_STEP_LOWER));
  TRY(lower_tidy(context, unit));
  if (may_hoist(c->scratch, module)) vector_steps_hoist(module);
  forward_writes(c->scratch, module);
  flat_accesses_make(c->scratch, module);
  return lower_tidy(context, unit);
}

const pass tile_vectorize = {
    .name = "iree-codegen-vectorize",
    .summary = "tiles of registers to arithmetic on vectors",
    .order_reason = "on buffers, where a sum that a loop carries is one place in memory",
    .use = PASS_IMPROVES,
    .run = run,
};
