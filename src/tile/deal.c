// iree-codegen-distribute-to-workitems: a region on buffers becomes what one workitem of a device does.
//
// Loops over workgroups become the number of one's own (gpu.block_id), the operations of a workgroup loops over points
// that a workitem has by its number (gpu.thread_id). Points go round: neighbours in memory are neighbouring workitems'.
// Sums and what is computed from them stay in registers (tile/registers.h), all else that a workgroup keeps is memory
// of the workgroup, with barriers around whatever one workitem writes and another one may read. Of loops over subgroups
// (tile/subgroup_loops.h) each has the tile of its number (gpu.subgroup_id), whose points its workitems share by their
// numbers in it (gpu.lane_id). An operation that was not tiled is dealt out among all workitems of all workgroups.
//
// How many workitems and workgroups there are the attribute xla.launch says, else as many as there is work for. A
// workgroup does the work of several where there are fewer. The number of turns of every loop around a barrier depends
// on the workgroup alone.
#include <mlir-c/BuiltinAttributes.h>

#include "base/int64.h"
#include "dialect/tiling.h"
#include "emit/ir_builder.h"
#include "kernel/grid_tiles.h"
#include "lower/launch.h"
#include "tile/markers.h"
#include "tile/passes.h"
#include "tile/points.h"
#include "tile/subgroup_loops.h"
#include "tile/views.h"
#include "tile/workgroups.h"

typedef struct deal {
  lower_context *context;
  MlirOperation function;
  int64_t threads, blocks;
  MlirValue thread, block;   // numbers
  int64_t lanes, subgroups;  // workitems of a subgroup, subgroups of a workgroup
  MlirValue lane, subgroup;  // numbers, where there are loops over subgroups
} deal;

// --- one operation

// A number below `count`; in x where the operation has several.
static MlirValue id(ir_builder *b, const char *op, bool has_dimensions, int64_t count) {
  const MlirNamedAttribute attributes[] = {
      ir_named_text(b->context, "xla.range",
                    arena_printf(b->arena, "[0 : index, %lld : index]", (long long)int64_max(count - 1, 0))),
      ir_named_text(b->context, "dimension", "#gpu<dim x>")};
  return ir_value_with(b, op, mlirIndexTypeGet(b->context), 0, NULL, has_dimensions ? 2 : 1, attributes);
}

static bool is_operation(MlirOperation op) { return tiling_is_structured(op) && mlirOperationGetNumResults(op) == 0; }

// All of what is dealt out among all workitems.
static heddle_status deal_untiled(deal *d, MlirOperation op, const ptr_map *none) {
  points p;
  ir_builder b = ir_builder_before(op, d->context->scratch);
  TRY(points_of(d->context, op, d->threads, none, &p));
  const MlirValue first =
      ir_binary(&b, "arith.addi", ir_binary(&b, "arith.muli", d->block, ir_index(&b, d->threads)), d->thread);
  TRY(points_in_turn(&p, &b, first, ir_index(&b, d->threads * d->blocks)));
  ir_erase(op);
  return status_ok();
}

// --- memory that workitems share

static bool is_promoted(MlirValue memory) {
  return mlirTypeIsAMemRef(mlirValueGetType(memory)) &&
         !mlirAttributeIsNull(mlirMemRefTypeGetMemorySpace(mlirValueGetType(memory)));
}

// Whether another operation of the workgroup touches the memory, too.
static bool is_shared(const ir_operations *all, MlirOperation op, MlirValue memory) {
  const MlirValue root = views_root(memory);
  bool any = false;
  for (int k = 0; k < all->size; k++) {
    if (mlirOperationEqual(all->data[k], op) || !is_operation(all->data[k])) continue;
    const int operands = (int)mlirOperationGetNumOperands(all->data[k]);
    for (int n = 0; n < operands; n++) any |= mlirValueEqual(views_root(ir_operand(all->data[k], n)), root);
  }
  return any;
}

// Promotion put barriers around what it copies; all other memory gets them here.
static bool needs_barriers(const ir_operations *all, MlirOperation op, const registers *r) {
  bool any = false;
  for (int k = tiling_output(op, 0); k < (int)mlirOperationGetNumOperands(op); k++) {
    const MlirValue memory = ir_operand(op, k);
    any |= !ptr_map_has(&r->buffers, memory.ptr) && !is_promoted(views_root(memory)) && is_shared(all, op, memory);
  }
  return any;
}

static void barrier(ir_builder *b) { ir_build(b, (ir_op_state){.name = "gpu.barrier"}); }

// --- a workgroup's operations

static void make_registers(deal *d, MlirOperation loop, const registers *r, ptr_map *parts) {
  ir_builder b = ir_builder_before(mlirBlockGetFirstOperation(ir_body(d->function, 0)), d->context->scratch);
  const ir_operations allocs = ir_collect(d->context->scratch, loop, "memref.alloc");
  const MlirAttribute space = mlirIntegerAttrGet(mlirIntegerTypeGet(d->context->context, 64), POINTS_PRIVATE_SPACE);
  const MlirNamedAttribute sizes = ir_named_text(d->context->context, "operandSegmentSizes", "array<i32: 0, 0>");
  for (int k = 0; k < allocs.size; k++) {
    const MlirValue buffer = ir_result(allocs.data[k], 0);
    const registers_space *s = ptr_map_get(&r->buffers, buffer.ptr);
    if (!s) continue;
    const MlirType type =
        mlirMemRefTypeContiguousGet(ir_element_type(mlirValueGetType(buffer)), s->rank, s->registers, space);
    const MlirValue part = ir_value_with(&b, "memref.alloca", type, 0, NULL, 1, &sizes);
    ptr_map_put(d->context->scratch, parts, buffer.ptr, (void *)part.ptr);
    for (MlirOpOperand u = mlirValueGetFirstUse(buffer); !mlirOpOperandIsNull(u); u = mlirOpOperandGetNextUse(u))
      if (views_is_one(mlirOpOperandGetOwner(u)))
        ptr_map_put(d->context->scratch, parts, ir_result(mlirOpOperandGetOwner(u), 0).ptr, (void *)part.ptr);
  }
}

static heddle_status deal_operation(deal *d, MlirOperation op, const registers *r, const ptr_map *parts) {
  points p;
  ir_builder b = ir_builder_before(op, d->context->scratch);
  const registers_roles *roles = ptr_map_get(&r->operations, op.ptr);
  const bool is_subgroups = !ir_is_null(subgroup_loops_around(op));
  const int64_t workitems = is_subgroups ? d->lanes : d->threads;
  const MlirValue own = is_subgroups ? d->lane : d->thread;
  TRY(points_of(d->context, op, workitems, parts, &p));
  if (roles) return points_in_registers(&p, &b, roles, own);
  return points_in_turn(&p, &b, own, ir_index(&b, workitems));
}

static void erase_buffers(arena *a, MlirOperation loop, const registers *r) {
  const ir_operations frees = ir_collect(a, loop, "memref.dealloc"), allocs = ir_collect(a, loop, "memref.alloc");
  const ir_operations views = ir_collect(a, loop, "memref.subview");
  for (int k = 0; k < views.size; k++)
    if (ptr_map_has(&r->buffers, ir_result(views.data[k], 0).ptr)) ir_erase(views.data[k]);
  for (int k = 0; k < frees.size; k++) ir_erase(frees.data[k]);
  for (int k = 0; k < allocs.size; k++)
    if (ptr_map_has(&r->buffers, ir_result(allocs.data[k], 0).ptr)) ir_erase(allocs.data[k]);
}

// What is left of a workgroup's buffers is its memory, which has number 3 as on NVIDIA's GPUs.
static void mark_shared(deal *d) {
  const ir_operations all = ir_collect(d->context->scratch, d->function, NULL);
  const MlirAttribute space = mlirIntegerAttrGet(mlirIntegerTypeGet(d->context->context, 64), 3);
  for (int k = 0; k < all.size; k++)
    for (int n = 0; n < mlirOperationGetNumResults(all.data[k]); n++) {
      const MlirType t = ir_result_type(all.data[k], n);
      if (!mlirTypeIsAMemRef(t) || !mlirAttributeIsNull(mlirMemRefTypeGetMemorySpace(t))) continue;
      if (!ir_is(ir_defining_op(views_root(ir_result(all.data[k], n))), "memref.alloc")) continue;
      mlirValueSetType(ir_result(all.data[k], n),
                       mlirMemRefTypeGet(ir_element_type(t), mlirShapedTypeGetRank(t), ir_dims(d->context->scratch, t),
                                         mlirMemRefTypeGetLayout(t), space));
    }
}

// A subgroup has the tile of its number.
static heddle_status put_subgroups(deal *d, MlirOperation loop) {
  const ir_operations all = ir_collect(d->context->scratch, loop, WORKGROUPS_FORALL);
  for (int k = 0; k < all.size; k++) {  // what is inside comes first
    workgroups_grid g;
    if (!workgroups_is_subgroups(all.data[k])) continue;
    if (!ir_is_null(subgroup_loops_around(all.data[k])))
      return ir_refuse(all.data[k], HEDDLE_UNIMPLEMENTED, "found loops over subgroups in one another");
    TRY(subgroup_loops_grid(all.data[k], &g));
    if (g.count != d->subgroups)
      return ir_refuse(all.data[k], HEDDLE_UNIMPLEMENTED, "found %lld subgroups' tiles, wanted %lld of %lld workitems",
                       (long long)g.count, (long long)d->subgroups, (long long)d->lanes);
    workgroups_put_turn(d->context->scratch, all.data[k], &g, all.data[k], d->subgroup);
  }
  return status_ok();
}

static heddle_status expect_marker(MlirOperation op) {
  const bool is_subgroups = !ir_is_null(subgroup_loops_around(op));
  if (markers_of(op) == (is_subgroups ? MARKER_SUBGROUP : MARKER_WORKGROUP)) return status_ok();
  return ir_refuse(op, HEDDLE_UNIMPLEMENTED, "found an operation that no %s has, wanted the marker \"%s\"",
                   is_subgroups ? "subgroup" : "workgroup", is_subgroups ? "subgroup" : "workgroup");
}

static heddle_status deal_workgroup(deal *d, MlirOperation loop) {
  arena *a = d->context->scratch;
  registers r;
  ptr_map parts = {0};
  registers_find(a, loop, d->threads, d->lanes, &r);
  make_registers(d, loop, &r, &parts);
  const ir_operations all = ir_collect(a, loop, NULL);
  ir_operations done = {0};
  for (int k = 0; k < all.size; k++) {
    if (!is_operation(all.data[k])) continue;
    TRY(expect_marker(all.data[k]));
    ir_builder before = ir_builder_before(all.data[k], a), after = ir_builder_after(all.data[k], a);
    const bool waits = needs_barriers(&all, all.data[k], &r);
    if (waits) barrier(&before);
    if (waits) barrier(&after);
    TRY(deal_operation(d, all.data[k], &r, &parts));
    vec_push(a, &done, all.data[k]);
  }
  for (int k = 0; k < done.size; k++) ir_erase(done.data[k]);
  erase_buffers(a, loop, &r);
  return put_subgroups(d, loop);
}

// --- workgroups

// One loop's workgroups have the numbers from 0 on, the next one's those behind.
static void put_loops(deal *d, const ir_operations *loops, const workgroups_grid *grids, ir_builder *b,
                      MlirValue number) {
  ir_builder at = *b;
  for (int k = 0; k < loops->size; k++) {
    if (k + 1 == loops->size) {
      workgroups_put_turn(d->context->scratch, loops->data[k], &grids[k], at.before, number);
      return;
    }
    const MlirValue count = ir_index(&at, grids[k].count);
    const MlirOperation branch = ir_if(&at, ir_cmpi(&at, "ult", number, count), 0, NULL);
    for (int r = 0; r < 2; r++) {
      ir_builder body = ir_builder_at_end(at.context, ir_body(branch, r), at.arena);
      ir_yield(&body, 0, NULL);
    }
    workgroups_put_turn(d->context->scratch, loops->data[k], &grids[k], ir_terminator(ir_body(branch, 0)), number);
    at = ir_builder_before(ir_terminator(ir_body(branch, 1)), at.arena);
    number = ir_binary(&at, "arith.subi", number, count);
  }
}

static void put_workgroups(deal *d, const ir_operations *loops, const workgroups_grid *grids, int64_t count) {
  ir_builder b = ir_builder_before(ir_terminator(ir_body(d->function, 0)), d->context->scratch);
  if (count == d->blocks) {
    put_loops(d, loops, grids, &b, d->block);
    return;
  }
  const MlirOperation turns = ir_for(&b, d->block, ir_index(&b, count), ir_index(&b, d->blocks), 0, NULL);
  const MlirBlock body = ir_body(turns, 0);
  ir_builder in_loop = ir_builder_at_end(b.context, body, b.arena);
  // The next workgroup's work begins when nobody is at this one's any more.
  barrier(&in_loop);
  ir_yield(&in_loop, 0, NULL);
  in_loop = ir_builder_before(mlirBlockGetFirstOperation(body), b.arena);
  put_loops(d, loops, grids, &in_loop, mlirBlockGetArgument(body, 0));
}

// --- a region

// Operations of a workgroup outside of any loop over workgroups, which had one turn, get one of one turn.
static MlirOperation wrap_single(lower_context *c, MlirOperation function, const ir_operations *single) {
  ir_builder b = ir_builder_before(ir_terminator(ir_body(function, 0)), c->scratch);
  const MlirType index = mlirIndexTypeGet(c->context);
  const MlirBlock body = mlirBlockCreate(1, &index, &b.location);
  MlirRegion region = mlirRegionCreate(), nothing = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body);
  mlirRegionAppendOwnedBlock(nothing, mlirBlockCreate(0, NULL, NULL));
  ir_builder in_body = ir_builder_at_end(c->context, body, c->scratch);
  ir_build(&in_body, (ir_op_state){.name = "scf.forall.in_parallel", .region_count = 1, .regions = &nothing});
  const MlirNamedAttribute attributes[] = {
      ir_named_text(c->context, "staticLowerBound", "array<i64: 0>"),
      ir_named_text(c->context, "staticUpperBound", "array<i64: 1>"),
      ir_named_text(c->context, "staticStep", "array<i64: 1>"),
      ir_named_text(c->context, "operandSegmentSizes", "array<i32: 0, 0, 0, 0>"),
  };
  const MlirOperation made = ir_build(&b, (ir_op_state){.name = WORKGROUPS_FORALL,
                                                        .attribute_count = 4,
                                                        .attributes = attributes,
                                                        .region_count = 1,
                                                        .regions = &region});
  const MlirOperation end = ir_terminator(body);
  for (int k = 0; k < single->size; k++) {
    mlirOperationRemoveFromParent(single->data[k]);
    mlirBlockInsertOwnedOperationBefore(body, end, single->data[k]);
  }
  return made;
}

// What computes nothing in memory may be computed wherever it stands.
static bool is_given(MlirOperation op) {
  static const char *const names[] = {WORKGROUPS_PLACEHOLDER, "func.return", "memref.get_global", "affine.apply"};
  const MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  bool any = views_is_one(op) || str_starts_with((str){name.data, name.length}, "arith.");
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) any |= ir_is(op, names[k]);
  return any;
}

static bool is_untiled(MlirOperation op) { return is_operation(op) && markers_of(op) < MARKER_WORKGROUP; }

// *single: what belongs to no loop.
static void sort_operations(arena *a, MlirOperation function, ir_operations *loops, ir_operations *untiled,
                            ir_operations *single) {
  bool has_single = false;
  const ptr_map hoisted = workgroups_hoisted(a, ir_body(function, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(ir_body(function, 0)); !ir_is_null(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (is_given(op) || ptr_map_has(&hoisted, op.ptr)) continue;
    if (workgroups_is_loop(op)) vec_push(a, loops, op);
    else if (is_untiled(op)) vec_push(a, untiled, op);
    else vec_push(a, single, op);
    has_single |= workgroups_is_subgroups(op) ||
                  (!workgroups_is_loop(op) && !is_untiled(op) && (is_operation(op) || ir_is(op, "scf.for")));
  }
  if (!has_single) single->size = 0;
}

// What a region on buffers says of its workgroups counts where the planner has decided nothing.
static heddle_status read_launch(deal *d, int64_t work) {
  launch l;
  TRY(launch_of(d->function, &l));
  TRY(workgroups_threads(d->function, d->context->options->target.grid.tile_threads, &d->threads));
  d->blocks = l.is_said ? l.blocks[0] : work;
  if (l.threads[1] * l.threads[2] * l.blocks[1] * l.blocks[2] != 1)
    return ir_refuse(d->function, HEDDLE_UNIMPLEMENTED, "found workgroups in two dimensions, wanted one");
  if (!l.is_said) ir_unset(d->function, WORKGROUPS_LOCAL_SIZE);
  ir_set(d->function, LAUNCH_ATTRIBUTE,
         mlirDenseI64ArrayGet(d->context->context, 3, (int64_t[]){d->threads, d->blocks, 1}));
  return status_ok();
}

static bool has_subgroups(arena *a, MlirOperation function) {
  const ir_operations all = ir_collect(a, function, WORKGROUPS_FORALL);
  bool any = false;
  for (int k = 0; k < all.size; k++) any |= workgroups_is_subgroups(all.data[k]);
  return any;
}

static heddle_status read_subgroups(deal *d, ir_builder *b) {
  const int64_t size = d->context->options->target.subgroup_size;
  d->lanes = subgroup_loops_size(d->function, size);
  d->subgroups = d->threads / d->lanes;
  if (!has_subgroups(d->context->scratch, d->function)) return status_ok();
  if (d->lanes != size || d->threads % size != 0)
    return ir_refuse(d->function, HEDDLE_UNIMPLEMENTED,
                     "found %lld workitems in subgroups of %lld, wanted whole ones of %lld", (long long)d->threads,
                     (long long)d->lanes, (long long)size);
  d->subgroup = id(b, "gpu.subgroup_id", false, d->subgroups);
  d->lane = id(b, "gpu.lane_id", false, d->lanes);
  return status_ok();
}

static int64_t points_among(MlirOperation op) {
  int64_t trips[TILING_MAX_LOOPS], count = 1;
  bool is_reduction[TILING_MAX_LOOPS];
  const int loops = tiling_loops(op, trips, is_reduction);
  for (int l = 0; l < loops; l++)
    if (!is_reduction[l]) count *= int64_max(trips[l], 1);
  return count;
}

static heddle_status deal_function(deal *d) {
  arena *a = d->context->scratch;
  ir_operations loops = {0}, untiled = {0}, single = {0};
  sort_operations(a, d->function, &loops, &untiled, &single);
  if (loops.size + untiled.size + (single.size > 0) > 1 &&
      (untiled.size > 0 || mlirAttributeIsNull(ir_get(d->function, TILE_INDEPENDENT))))
    return ir_refuse(d->function, HEDDLE_UNIMPLEMENTED, "found loops over workgroups that have to wait for each other");
  if (single.size > 0) {
    const MlirOperation wrapped = wrap_single(d->context, d->function, &single);
    vec_push(a, &loops, wrapped);
  }
  workgroups_grid *grids = arena_array(a, workgroups_grid, loops.size);
  int64_t count = 0, work = 1;
  for (int k = 0; k < loops.size; k++) {
    if (!workgroups_grid_of(loops.data[k], &grids[k]))
      return ir_refuse(loops.data[k], HEDDLE_UNIMPLEMENTED, "found workgroups of unknown number");
    count += grids[k].count;
  }
  if (untiled.size > 0)
    work = int64_ceil_div(points_among(untiled.data[0]), d->context->options->target.grid.tile_threads);
  TRY(read_launch(d, loops.size > 0 ? count : work));
  ir_builder b = ir_builder_before(mlirBlockGetFirstOperation(ir_body(d->function, 0)), a);
  d->thread = id(&b, "gpu.thread_id", true, d->threads);
  d->block = id(&b, "gpu.block_id", true, d->blocks);
  TRY(read_subgroups(d, &b));
  for (int k = 0; k < untiled.size; k++) TRY(deal_untiled(d, untiled.data[k], &(ptr_map){0}));
  for (int k = 0; k < loops.size; k++) TRY(deal_workgroup(d, loops.data[k]));
  if (loops.size == 0) return status_ok();
  mark_shared(d);
  put_workgroups(d, &loops, grids, count);
  return status_ok();
}

// A region that asks who a workitem is is what one does.
static bool was_dealt(arena *a, MlirOperation function) {
  static const char *const names[] = {"gpu.thread_id", "gpu.subgroup_id", "gpu.lane_id"};
  bool any = false;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) any |= ir_collect(a, function, names[k]).size > 0;
  return any;
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const ir_operations functions = ir_collect(c->scratch, (MlirOperation){unit}, "func.func");
  TRY(markers_expect(c->scratch, (MlirOperation){unit}, MARKERS_OF_GRID_TILES));
  for (int k = 0; k < functions.size; k++) {
    deal d = {.context = c, .function = functions.data[k]};
    if (mlirBlockIsNull(ir_body(d.function, 0))) continue;
    if (!was_dealt(c->scratch, d.function)) TRY(deal_function(&d));
    ir_unset(d.function, TILE_INDEPENDENT);
  }
  TRY(lower_upstream(context, unit, "lower-affine"));
  return lower_tidy(context, unit);
}

const pass tile_deal = {
    .name = "iree-codegen-distribute-to-workitems",
    .summary = "a workgroup's operations to loops over a workitem's points, workgroups to the number of one's own",
    .order_reason = "behind promotion: until here a workgroup is one; before memory becomes pointers",
    .use = PASS_NEEDED,
    .run = run,
};
