// Finding buffers whose elements only one workitem ever needs.
//
// A product's sums, zeros that they begin with and what is computed from them go through buffers of the workgroup's
// tile. If all of these operations are dealt out alike, no workitem asks for an element of another one: then each keeps
// its elements in registers, where sums stay from the first term to the last.
#include "tile/registers.h"

#include <mlir-c/AffineExpr.h>

#include "base/int64.h"
#include "tile/subgroup_loops.h"

enum { MOST_REGISTERS = 256 };  // elements of one buffer that a workitem keeps

typedef struct use {
  MlirOperation op;
  int operand;
} use;

typedef VEC(use) uses;

// False if something else than a structured operation in the loop uses the memory. *views: views of subgroups' tiles.
static bool find_uses(arena *a, MlirOperation loop, MlirValue memory, uses *out, ir_operations *views) {
  for (MlirOpOperand u = mlirValueGetFirstUse(memory); !mlirOpOperandIsNull(u); u = mlirOpOperandGetNextUse(u)) {
    const use found = {mlirOpOperandGetOwner(u), (int)mlirOpOperandGetOperandNumber(u)};
    if (ir_is(found.op, "memref.dealloc")) continue;
    if (!ir_is_within(found.op, loop)) return false;
    if (views && ir_is(found.op, "memref.subview")) {
      vec_push(a, views, found.op);
      continue;
    }
    if (!tiling_is_structured(found.op)) return false;
    vec_push(a, out, found);
  }
  return true;
}

// By dim of the buffer, the loop of the operation that goes along it; false if elements are not points' own.
static bool loops_of_dims(const use *u, int rank, int *loops) {
  int64_t trips[TILING_MAX_LOOPS];
  bool is_reduction[TILING_MAX_LOOPS];
  if (tiling_loops(u->op, trips, is_reduction) < 0) return false;
  const MlirAffineMap map = tiling_map(u->op, u->operand);
  uint32_t seen = 0;
  for (int d = 0; d < rank; d++) {
    const MlirAffineExpr e = mlirAffineMapGetResult(map, d);
    if (!mlirAffineExprIsADim(e)) return false;
    loops[d] = (int)mlirAffineDimExprGetPosition(e);
    if (is_reduction[loops[d]] || seen >> loops[d] & 1U) return false;
    seen |= 1U << loops[d];
  }
  return true;
}

// --- spaces

// The dim from `first` up to `end` of which a workitem has most, the last one of equals; -1 if it has one of each.
static int longest_dim(const registers_space *s, int first, int end) {
  int longest = -1;
  for (int d = end - 1; d >= first; d--)
    if (s->registers[d] > 1 && (longest < 0 || s->registers[d] > s->registers[longest])) longest = d;
  return longest;
}

static int64_t registers_along(const registers_space *s, int first, int end) {
  int64_t count = 1;
  for (int d = first; d < end; d++) count *= s->registers[d];
  return count;
}

// What a workitem loads for a step of a product are its rows and its columns, which lie along the last dim: they are
// kept about as many. Workitems are doubled along whichever are more.
static void share_out(registers_space *s, int64_t threads) {
  const int last = s->rank - 1;
  s->used = 1;
  for (int d = 0; d < s->rank; d++) s->threads[d] = 1, s->registers[d] = s->size[d];
  while (s->used * 2 <= threads) {
    const int among = longest_dim(s, 0, last);
    int d = last;
    if (s->rank == 0) return;
    if (among >= 0 && (registers_along(s, 0, last) > s->registers[last] || s->registers[last] == 1)) d = among;
    if (s->registers[d] == 1) return;
    s->threads[d] *= 2;
    s->used *= 2;
    s->registers[d] = int64_ceil_div(s->registers[d], 2);
  }
}

// --- buffers

typedef struct candidate {
  MlirValue buffer;
  ir_operations views;  // that all uses go through: of subgroups' tiles; none: they are a workgroup's
  workgroups_grid tiles;
  int tile_dim[REGISTERS_MAX_RANK];  // by dim of the buffer
  int rank;
  uses uses;
  int (*loops)[REGISTERS_MAX_RANK];  // by use
} candidate;

static bool is_same_grid(const workgroups_grid *x, const workgroups_grid *y) {
  bool all = x->rank == y->rank;
  for (int k = 0; k < x->rank && all; k++) all = x->trips[k] == y->trips[k] && x->step[k] == y->step[k];
  return all;
}

// All views are of the tiles that subgroups have, the same ones everywhere.
static bool read_views(arena *a, candidate *c) {
  for (int k = 0; k < c->views.size; k++) {
    const MlirOperation view = c->views.data[k], loop = subgroup_loops_around(view);
    int dims[SHAPE_MAX_RANK];
    workgroups_grid tiles;
    if (ir_is_null(loop) || !workgroups_covers(loop, view, dims) || !workgroups_grid_of(loop, &tiles)) return false;
    if (!find_uses(a, loop, ir_result(view, 0), &c->uses, NULL)) return false;
    if (k == 0) c->tiles = tiles;
    for (int d = 0; d < c->rank; d++) {
      if (k == 0) c->tile_dim[d] = dims[d];
      if (c->tile_dim[d] != dims[d]) return false;
    }
    if (!is_same_grid(&c->tiles, &tiles)) return false;
  }
  return true;
}

static bool read_candidate(arena *a, MlirOperation loop, MlirOperation alloc, candidate *out) {
  const MlirType type = ir_result_type(alloc, 0);
  *out = (candidate){.buffer = ir_result(alloc, 0), .rank = (int)mlirShapedTypeGetRank(type)};
  if (out->rank > REGISTERS_MAX_RANK || !mlirAttributeIsNull(mlirMemRefTypeGetMemorySpace(type))) return false;
  if (!find_uses(a, loop, out->buffer, &out->uses, &out->views)) return false;
  for (int n = 0; n < out->uses.size; n++)
    if (out->views.size > 0 || !ir_is_null(subgroup_loops_around(out->uses.data[n].op))) return false;
  if (!read_views(a, out) || out->uses.size == 0) return false;
  out->loops = arena_alloc(a, sizeof *out->loops * (size_t)out->uses.size);
  for (int n = 0; n < out->uses.size; n++) {
    if (!loops_of_dims(&out->uses.data[n], out->rank, out->loops[n])) return false;
    for (int m = 0; m < n; m++)
      for (int d = 0; d < out->rank; d++)
        if (mlirOperationEqual(out->uses.data[m].op, out->uses.data[n].op) && out->loops[m][d] != out->loops[n][d])
          return false;
  }
  return true;
}

// The space that an operation of the buffer is in already, and the buffer's dims in it; null if none is.
static registers_space *known_space(const registers *r, const candidate *c, int *dims) {
  for (int n = 0; n < c->uses.size; n++) {
    const registers_roles *roles = ptr_map_get(&r->operations, c->uses.data[n].op.ptr);
    if (!roles) continue;
    for (int d = 0; d < c->rank; d++) dims[d] = roles->dim[c->loops[n][d]];
    return roles->space;
  }
  for (int d = 0; d < c->rank; d++) dims[d] = d;
  return NULL;
}

// Whether all operations that are in a space are in this one, and go along the buffer's dims as it says.
static bool agrees(const registers *r, const candidate *c, const registers_space *space, const int *dims) {
  uint32_t seen = 0;
  for (int d = 0; d < c->rank; d++) {
    if (dims[d] < 0) return false;
    seen |= 1U << dims[d];
  }
  if (space && seen != (1U << space->rank) - 1) return false;
  if (space && !is_same_grid(&c->tiles, &space->tiles)) return false;
  for (int d = 0; d < c->rank && space; d++)
    if (c->views.size > 0 && c->tile_dim[d] != space->tile_dim[dims[d]]) return false;
  for (int n = 0; n < c->uses.size; n++) {
    const registers_roles *roles = ptr_map_get(&r->operations, c->uses.data[n].op.ptr);
    if (!roles) continue;
    if (roles->space != space) return false;
    for (int d = 0; d < c->rank; d++)
      if (roles->dim[c->loops[n][d]] != dims[d]) return false;
  }
  return true;
}

static void place(arena *a, registers *r, const candidate *c, registers_space *space, const int *dims) {
  ptr_map_put(a, &r->buffers, c->buffer.ptr, space);
  for (int k = 0; k < c->views.size; k++) ptr_map_put(a, &r->buffers, ir_result(c->views.data[k], 0).ptr, space);
  for (int n = 0; n < c->uses.size; n++) {
    if (ptr_map_has(&r->operations, c->uses.data[n].op.ptr)) continue;
    registers_roles *roles = arena_new(a, registers_roles);
    roles->space = space;
    for (int l = 0; l < TILING_MAX_LOOPS; l++) roles->dim[l] = -1;
    for (int d = 0; d < c->rank; d++) roles->dim[c->loops[n][d]] = dims[d];
    ptr_map_put(a, &r->operations, c->uses.data[n].op.ptr, roles);
  }
}

static registers_space *space_of(arena *a, const candidate *c, int64_t threads, int64_t lanes) {
  const bool has_tiles = c->views.size > 0;
  const MlirType memory = has_tiles ? ir_result_type(c->views.data[0], 0) : mlirValueGetType(c->buffer);
  registers_space *s = arena_new(a, registers_space);
  *s = (registers_space){.rank = c->rank, .tiles = c->tiles};
  for (int d = 0; d < s->rank; d++) {
    s->size[d] = mlirShapedTypeGetDimSize(memory, d);
    s->tile_dim[d] = has_tiles ? c->tile_dim[d] : -1;
  }
  share_out(s, has_tiles ? lanes : threads);
  return s;
}

// An operation is in one space: that of the most points, so that none is left to few workitems for a few numbers of
// rows.
static void put_largest_first(ir_operations *allocs) {
  for (int k = 1; k < allocs->size; k++) {
    const MlirOperation moved = allocs->data[k];
    const int64_t count = ir_element_count(ir_result_type(moved, 0));
    int n = k;
    for (; n > 0 && ir_element_count(ir_result_type(allocs->data[n - 1], 0)) < count; n--)
      allocs->data[n] = allocs->data[n - 1];
    allocs->data[n] = moved;
  }
}

void registers_find(arena *a, MlirOperation loop, int64_t threads, int64_t lanes, registers *out) {
  *out = (registers){0};
  ir_operations allocs = ir_collect(a, loop, "memref.alloc");
  put_largest_first(&allocs);
  for (int k = 0; k < allocs.size; k++) {
    candidate c;
    int dims[REGISTERS_MAX_RANK];
    if (!read_candidate(a, loop, allocs.data[k], &c)) continue;
    registers_space *space = known_space(out, &c, dims);
    if (!agrees(out, &c, space, dims)) continue;
    if (!space) space = space_of(a, &c, threads, lanes);
    if (registers_along(space, 0, space->rank) <= MOST_REGISTERS) place(a, out, &c, space, dims);
  }
}
