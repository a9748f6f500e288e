// Short rows of open size.
//
// Code for any number of turns has loops over several vectors, over one, over narrower ones and one under a mask, for
// each pass over a row. A row of a few elements spends most of its time on finding that there is nothing for most of
// them, and no pass sees what another has read or computed. Where the whole row is one vector under a mask there is no
// loop at all: what passes have in common is computed once, and nothing goes through memory. That is decided by the
// size when the kernel runs. The lanes are combined in the same order as those that a longer row leaves behind its
// loops, so that a result does not depend on which side made it.
#include "lower/vectorize_short.h"

#include "base/map.h"
#include "lower/vectorize_reductions.h"

// Such a row has up to half as many lanes as a register, as many, or twice as many: each has code of its own. Half a
// register takes a third less time, since machines have more units for it; four leave none for what is computed.
static int lanes_at(int lanes_of_register, int level) { return (lanes_of_register << level) / 2; }

enum { LEVELS = 3 };

// The passes over a row: `first` to `last` of a block, with all that stands between them.
typedef struct short_row {
  MlirValue size;
  MlirOperation first, last;
  int lanes, operations;
} short_row;

typedef struct row_search {
  arena *arena;
  const target_description *target;
  ptr_map lanes;  // by loop
  ptr_map taken;  // loops that are in a row already
} row_search;

static bool ends_at(const row_search *s, MlirOperation op, MlirValue size) {
  return ptr_map_has(&s->lanes, op.ptr) && mlirValueEqual(ir_operand(op, 1), size);
}

static void take_loop(row_search *s, MlirOperation loop, short_row *row) {
  const int lanes = *(const int *)ptr_map_get(&s->lanes, loop.ptr);
  if (row->lanes == 0 || lanes < row->lanes) row->lanes = lanes;
  ptr_map_put(s->arena, &s->taken, loop.ptr, loop.ptr);
  row->last = loop;
}

// Whether it can be one of the operations of a row: a loop of the row's without loops in it, or no control flow.
static bool fits(const row_search *s, MlirOperation op, MlirValue size) {
  if (mlirOperationGetNumRegions(op) == 0) return true;
  return ends_at(s, op, size) && ir_collect(s->arena, op, "scf.for").size == 1;
}

// The row that begins with a loop; false if there is none.
static bool find_row(row_search *s, MlirOperation loop, short_row *row) {
  *row = (short_row){.size = ir_operand(loop, 1), .first = loop, .last = loop};
  if (!vectorize_is_open_size(row->size)) return false;
  bool has_reduction = false;
  for (MlirOperation op = loop; !ir_is_null(op) && fits(s, op, row->size); op = mlirOperationGetNextInBlock(op)) {
    if (!ends_at(s, op, row->size)) continue;
    take_loop(s, op, row);
    has_reduction |= !mlirAttributeIsNull(ir_get(op, VECTORIZE_REDUCTIONS));
    row->operations += ir_collect(s->arena, op, NULL).size;
  }
  return has_reduction && row->operations <= s->target->code.max_copied_body;
}

// --- the branch

// A result of the row that something behind it uses.
typedef struct row_use {
  MlirOperation user;
  int operand, result;
} row_use;

typedef struct row_results {
  ir_values values;
  VEC(row_use) uses;
} row_results;

static bool is_in_row(const ptr_map *members, MlirOperation user, MlirBlock block) {
  const MlirOperation in_block = ir_in_block(user, block);
  return !ir_is_null(in_block) && ptr_map_has(members, in_block.ptr);
}

static void note_uses(arena *a, const ptr_map *members, MlirBlock block, MlirValue v, row_results *out) {
  bool is_result = false;
  for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    const MlirOperation user = mlirOpOperandGetOwner(use);
    if (is_in_row(members, user, block)) continue;
    if (!is_result) vec_push(a, &out->values, v);
    is_result = true;
    const row_use found = {user, (int)mlirOpOperandGetOperandNumber(use), out->values.size - 1};
    vec_push(a, &out->uses, found);
  }
}

static ir_operations operations_of(arena *a, const short_row *row) {
  ir_operations all = {0};
  for (MlirOperation op = row->first;; op = mlirOperationGetNextInBlock(op)) {
    vec_push(a, &all, op);
    if (mlirOperationEqual(op, row->last)) return all;
  }
}

static row_results results_of(arena *a, const ir_operations *all) {
  row_results out = {0};
  ptr_map members = {0};
  const MlirBlock block = mlirOperationGetBlock(all->data[0]);
  for (int i = 0; i < all->size; i++) ptr_map_put(a, &members, all->data[i].ptr, all->data[i].ptr);
  for (int i = 0; i < all->size; i++)
    for (int r = 0; r < (int)mlirOperationGetNumResults(all->data[i]); r++)
      note_uses(a, &members, block, ir_result(all->data[i], r), &out);
  return out;
}

// The row on the second side of a branch that nothing is on the first side of yet. The condition: 1 to `most`.
static MlirOperation build_branch(arena *a, const short_row *row, int most) {
  const ir_operations all = operations_of(a, row);
  const row_results results = results_of(a, &all);
  MlirType *types = arena_array(a, MlirType, results.values.size);
  for (int i = 0; i < results.values.size; i++) types[i] = mlirValueGetType(results.values.data[i]);
  ir_builder b = ir_builder_before(row->first, a);
  MlirValue before = ir_binary(&b, "arith.subi", row->size, ir_index(&b, 1));
  MlirOperation branch = ir_if(&b, ir_cmpi(&b, "ult", before, ir_index(&b, most)), results.values.size, types);
  for (int i = 0; i < results.uses.size; i++) {
    const row_use *use = &results.uses.data[i];
    mlirOperationSetOperand(use->user, use->operand, ir_result(branch, use->result));
  }
  ir_builder side = ir_builder_at_end(b.context, ir_body(branch, 1), a);
  ir_yield(&side, results.values.size, results.values.data);
  const MlirOperation end = ir_terminator(ir_body(branch, 1));
  for (int i = 0; i < all.size; i++) mlirOperationMoveBefore(all.data[i], end);
  return branch;
}

// The same operations on the first side.
static void copy_row(arena *a, MlirOperation branch) {
  ir_builder side = ir_builder_at_end(mlirOperationGetContext(branch), ir_body(branch, 0), a);
  MlirOperation copy = mlirOperationClone(branch);
  ir_yield(&side, 0, NULL);
  const MlirOperation end = ir_terminator(ir_body(branch, 0));
  const ir_values yielded = ir_inline_block(a, ir_body(copy, 1), end, NULL);
  mlirOperationSetOperands(end, yielded.size, yielded.data);
  ir_erase(copy);
}

// Its loops become vectors; false if one cannot.
static bool vectorize_side(arena *a, const target_description *t, MlirOperation module, MlirBlock side, int lanes) {
  const MlirOperation end = ir_terminator(side);
  for (MlirOperation op = mlirBlockGetFirstOperation(side), next; !mlirOperationEqual(op, end); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (ir_is(op, "scf.for") && vectorize_reductions_at_once(a, t, module, op, lanes)) return false;
  }
  return true;
}

// As it was before.
static void take_back(arena *a, MlirOperation branch) {
  const ir_values yielded = ir_inline_block(a, ir_body(branch, 1), branch, NULL);
  ir_replace(branch, yielded.data);
}

bool vectorize_is_open_size(MlirValue v) {
  MlirOperation op = ir_defining_op(v);
  return !ir_is_null(op) && ir_is(op, "arith.index_cast");
}

void vectorize_short_rows(arena *a, const target_description *t, MlirOperation module, short_loops loops) {
  if (!vectorize_masks_rests(t)) return;
  row_search s = {.arena = a, .target = t};
  for (int i = 0; i < loops.count; i++) ptr_map_put(a, &s.lanes, loops.loops[i].ptr, (void *)&loops.lanes[i]);
  for (int i = 0; i < loops.count; i++) {
    short_row row;
    if (ptr_map_has(&s.taken, loops.loops[i].ptr) || !find_row(&s, loops.loops[i], &row)) continue;
    for (int level = 0; level < LEVELS; level++) {
      const int lanes = lanes_at(row.lanes, level);
      MlirOperation branch = build_branch(a, &row, lanes);
      copy_row(a, branch);
      if (vectorize_side(a, t, module, ir_body(branch, 0), lanes)) continue;
      take_back(a, branch);
      break;
    }
  }
}
