// Points of structured operations as loads, arithmetic and stores.
#include "tile/points.h"

#include <mlir-c/AffineExpr.h>

enum { MOST_COPIES = 1 << 14 };  // operations that the bodies of one workitem's points come to

heddle_status points_of(lower_context *c, MlirOperation op, int64_t threads, const ptr_map *registers, points *out) {
  *out = (points){.context = c, .threads = threads, .registers = registers, .op = op};
  out->loop_count = tiling_loops(op, out->trips, out->is_reduction);
  for (int l = 0; l < out->loop_count; l++)
    if (out->trips[l] < 0) return ir_refuse(op, HEDDLE_UNIMPLEMENTED, "found a loop of unknown length for workitems");
  if (out->loop_count < 0 || mlirOperationGetNumResults(op) > 0)
    return ir_refuse(op, HEDDLE_UNIMPLEMENTED, "found an operation that has no points in memory");
  return status_ok();
}

// --- loops

// Goes on building within a loop from `from` in steps, whose variable is returned.
static MlirValue enter_loop(ir_builder *b, MlirValue from, MlirValue to, MlirValue step) {
  const MlirOperation loop = ir_for(b, from, to, step, 0, NULL);
  ir_builder body = ir_builder_at_end(b->context, ir_body(loop, 0), b->arena);
  ir_yield(&body, 0, NULL);
  *b = ir_builder_before(ir_terminator(ir_body(loop, 0)), b->arena);
  return mlirBlockGetArgument(ir_body(loop, 0), 0);
}

// Goes on building where the condition holds; a null one always does.
static void enter_branch(ir_builder *b, MlirValue condition) {
  if (condition.ptr == NULL) return;
  const MlirOperation branch = ir_if(b, condition, 0, NULL);
  for (int k = 0; k < 2; k++) {
    ir_builder body = ir_builder_at_end(b->context, ir_body(branch, k), b->arena);
    ir_yield(&body, 0, NULL);
  }
  *b = ir_builder_before(ir_terminator(ir_body(branch, 0)), b->arena);
}

// --- elements

static bool is_memory(MlirValue v) { return mlirTypeIsAMemRef(mlirValueGetType(v)); }

static MlirValue position(ir_builder *b, const points *p, MlirAffineExpr e, const MlirValue *at) {
  if (mlirAffineExprIsADim(e)) return at[mlirAffineDimExprGetPosition(e)];
  if (mlirAffineExprIsAConstant(e)) return ir_index(b, mlirAffineConstantExprGetValue(e));
  const MlirNamedAttribute map =
      ir_named(b->context, "map", mlirAffineMapAttrGet(mlirAffineMapGet(b->context, p->loop_count, 0, 1, &e)));
  return ir_value_with(b, "affine.apply", mlirIndexTypeGet(b->context), p->loop_count, at, 1, &map);
}

// The operand's memory and where its element for a point is, as a load or a store has them; returns how many.
static int address(const points *p, ir_builder *b, int operand, const MlirValue *at, const MlirValue *in_registers,
                   MlirValue *out) {
  const MlirValue memory = ir_operand(p->op, operand);
  const void *part = ptr_map_get(p->registers, memory.ptr);
  const MlirAffineMap map = tiling_map(p->op, operand);
  out[0] = part ? (MlirValue){part} : memory;
  const int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(out[0]));
  for (int d = 0; d < rank; d++)
    out[1 + d] = part ? in_registers[d] : position(b, p, mlirAffineMapGetResult(map, d), at);
  return 1 + rank;
}

static MlirValue load(const points *p, ir_builder *b, int operand, const MlirValue *at, const MlirValue *in_registers) {
  const MlirValue v = ir_operand(p->op, operand);
  if (!is_memory(v)) return v;
  MlirValue operands[1 + TILING_MAX_LOOPS];
  const int count = address(p, b, operand, at, in_registers, operands);
  return ir_value(b, "memref.load", ir_element_type(mlirValueGetType(v)), count, operands);
}

static void store(const points *p, ir_builder *b, int operand, const MlirValue *at, const MlirValue *in_registers,
                  MlirValue value) {
  MlirValue operands[2 + TILING_MAX_LOOPS] = {value};
  const int count = address(p, b, operand, at, in_registers, operands + 1);
  ir_build(b, (ir_op_state){.name = "memref.store", .operand_count = 1 + count, .operands = operands});
}

static bool is_used(MlirOperation op, int operand) {
  return !mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(ir_body(op, 0), operand)));
}

// A copy of the operation's body for one point; returns what it yields.
static ir_values compute(const points *p, ir_builder *b, const MlirValue *elements, const MlirValue *at) {
  arena *a = p->context->scratch;
  MlirOperation copy = mlirOperationClone(p->op);
  const ir_operations asked = ir_collect(a, copy, "linalg.index");
  for (int k = 0; k < asked.size; k++)
    ir_replace(asked.data[k], &at[mlirIntegerAttrGetValueInt(ir_get(asked.data[k], "dim"))]);
  const ir_values made = ir_inline_block(a, ir_body(copy, 0), b->before, elements);
  mlirOperationDestroy(copy);
  return made;
}

static int output_count(MlirOperation op) { return (int)mlirOperationGetNumOperands(op) - tiling_output(op, 0); }

// --- one point after the other

static void positions_of(const points *p, ir_builder *b, MlirValue number, MlirValue *at) {
  int outer = 0;
  while (outer < p->loop_count && p->is_reduction[outer]) outer++;
  for (int l = p->loop_count - 1; l >= 0; l--) {
    if (p->is_reduction[l]) continue;
    const MlirValue trips = ir_index(b, p->trips[l]);
    at[l] = l == outer ? number : ir_binary(b, "arith.remui", number, trips);
    if (l != outer) number = ir_binary(b, "arith.divui", number, trips);
  }
}

// Sums over the reductions from `first` on; *sums are those so far, and then those behind.
static void reduce(const points *p, ir_builder *b, int first, MlirValue *at, MlirValue *sums) {
  const int inputs = tiling_output(p->op, 0), outputs = output_count(p->op);
  int l = first;
  while (l < p->loop_count && !p->is_reduction[l]) l++;
  if (l == p->loop_count) {
    MlirValue *elements = arena_array(b->arena, MlirValue, inputs + outputs);
    for (int k = 0; k < inputs; k++) elements[k] = is_used(p->op, k) ? load(p, b, k, at, NULL) : sums[0];
    for (int k = 0; k < outputs; k++) elements[inputs + k] = sums[k];
    const ir_values made = compute(p, b, elements, at);
    for (int k = 0; k < outputs; k++) sums[k] = made.data[k];
    return;
  }
  const MlirOperation loop = ir_for(b, ir_index(b, 0), ir_index(b, p->trips[l]), ir_index(b, 1), outputs, sums);
  const MlirBlock body = ir_body(loop, 0);
  MlirValue *within = arena_array(b->arena, MlirValue, outputs);
  for (int k = 0; k < outputs; k++) within[k] = mlirBlockGetArgument(body, k + 1);
  at[l] = mlirBlockGetArgument(body, 0);
  // What is built in the loop stands before its end, which takes the sums once they are known.
  ir_builder in_loop = ir_builder_at_end(b->context, body, b->arena);
  ir_yield(&in_loop, outputs, within);
  in_loop = ir_builder_before(ir_terminator(body), b->arena);
  reduce(p, &in_loop, l + 1, at, within);
  for (int k = 0; k < outputs; k++) mlirOperationSetOperand(ir_terminator(body), k, within[k]);
  for (int k = 0; k < outputs; k++) sums[k] = ir_result(loop, k);
}

heddle_status points_in_turn(const points *p, ir_builder *b, MlirValue first, MlirValue stride) {
  const int inputs = tiling_output(p->op, 0), outputs = output_count(p->op);
  int64_t total = 1;
  bool reduces = false;
  for (int l = 0; l < p->loop_count; l++) {
    reduces |= p->is_reduction[l];
    if (!p->is_reduction[l]) total *= p->trips[l];
  }
  ir_builder in = *b;
  MlirValue at[TILING_MAX_LOOPS], *sums = arena_array(b->arena, MlirValue, outputs);
  const MlirValue number = enter_loop(&in, first, ir_index(&in, total), stride);
  positions_of(p, &in, number, at);
  for (int k = 0; k < outputs; k++)
    sums[k] = reduces || is_used(p->op, inputs + k) ? load(p, &in, inputs + k, at, NULL) : number;
  reduce(p, &in, 0, at, sums);
  for (int k = 0; k < outputs; k++) store(p, &in, inputs + k, at, NULL, sums[k]);
  return status_ok();
}

// --- points in registers

typedef struct held {
  const points *p;
  const registers_roles *roles;
  ir_builder *b;
  int rank;                                   // of the space
  MlirValue at[TILING_MAX_LOOPS];             // of loops that every workitem takes whole
  MlirValue begin[REGISTERS_MAX_RANK];        // the workitem's place along each dim of the space
  MlirValue *positions[REGISTERS_MAX_RANK];   // by register; within the space
  MlirValue *is_inside[REGISTERS_MAX_RANK];   // by register; null: it always is
  MlirValue numbers[REGISTERS_MAX_RANK + 1];  // scratch: registers of a point as indices
  MlirValue has_points;                       // whether the workitem has any; null: all have
} held;

static void place_workitem(held *h, MlirValue workitem) {
  const registers_space *s = h->roles->space;
  int64_t left = s->used;
  MlirValue number = workitem;
  for (int d = 0; d < s->rank; d++) {
    left /= s->threads[d];
    h->begin[d] = left > 1 ? ir_binary(h->b, "arith.divui", number, ir_index(h->b, left)) : number;
    if (s->threads[d] == 1 && d + 1 < s->rank) h->begin[d] = ir_index(h->b, 0);
    if (left > 1) number = ir_binary(h->b, "arith.remui", number, ir_index(h->b, left));
    if (left == 1) number = ir_index(h->b, 0);
  }
}

// Registers behind the end stand for the last point, of which nothing is stored again.
static void place_registers(held *h) {
  const registers_space *s = h->roles->space;
  ir_builder *b = h->b;
  for (int d = 0; d < h->rank; d++) {
    h->positions[d] = arena_array(b->arena, MlirValue, s->registers[d]);
    h->is_inside[d] = arena_array(b->arena, MlirValue, s->registers[d]);
    for (int64_t r = 0; r < s->registers[d]; r++) {
      const MlirValue at = ir_binary(b, "arith.addi", h->begin[d], ir_index(b, s->threads[d] * r));
      const bool is_partial = s->threads[d] * (r + 1) > s->size[d];
      h->is_inside[d][r] = is_partial ? ir_cmpi(b, "ult", at, ir_index(b, s->size[d])) : (MlirValue){NULL};
      h->positions[d][r] = is_partial ? ir_binary(b, "arith.minui", at, ir_index(b, s->size[d] - 1)) : at;
    }
  }
}

// Which points of a workitem there are: a register along each dim that a loop of the operation goes along.
typedef struct corner {
  int64_t of[REGISTERS_MAX_RANK];
} corner;

static bool next_corner(const registers_space *s, corner *c) {
  for (int d = s->rank - 1; d >= 0; d--) {
    if (++c->of[d] < s->registers[d]) return true;
    c->of[d] = 0;
  }
  return false;
}

static int64_t corner_count(const registers_space *s) {
  int64_t count = 1;
  for (int d = 0; d < s->rank; d++) count *= s->registers[d];
  return count;
}

static const MlirValue *place_corner(held *h, const corner *c) {
  const registers_space *s = h->roles->space;
  for (int l = 0; l < h->p->loop_count; l++)
    if (h->roles->dim[l] >= 0) h->at[l] = h->positions[h->roles->dim[l]][c->of[h->roles->dim[l]]];
  for (int d = 0; d < s->rank; d++) h->numbers[d] = ir_index(h->b, c->of[d]);
  return h->numbers;
}

// The number of the element that a point reads, among those that a workitem's points read: points share elements along
// dims that the operand does not have.
static int64_t element_number(const held *h, int operand, const corner *c) {
  const registers_space *s = h->roles->space;
  const MlirAffineMap map = tiling_map(h->p->op, operand);
  int64_t number = 0;
  for (int l = 0; l < h->p->loop_count; l++) {
    const int d = h->roles->dim[l];
    bool depends = false;
    for (int k = 0; d >= 0 && k < mlirAffineMapGetNumResults(map); k++)
      depends |= mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, k), l);
    if (depends) number = number * s->registers[d] + c->of[d];
  }
  return number;
}

static MlirValue both(ir_builder *b, MlirValue x, MlirValue y) {
  if (!x.ptr) return y;
  return y.ptr ? ir_binary(b, "arith.andi", x, y) : x;
}

static bool is_kept(const held *h, int operand) {
  return ptr_map_has(h->p->registers, ir_operand(h->p->op, operand).ptr);
}

// Whether the point is one of the workitem's own; null: it always is.
static MlirValue is_own(held *h, const corner *c) {
  MlirValue condition = h->has_points;
  for (int d = 0; d < h->rank; d++) condition = both(h->b, condition, h->is_inside[d][c->of[d]]);
  return condition;
}

// Memory that others see changes from what it held: who has no such point must not look at it meanwhile.
static bool updates_memory(const held *h) {
  bool any = false;
  for (int k = tiling_output(h->p->op, 0); k < (int)mlirOperationGetNumOperands(h->p->op); k++)
    any |= !is_kept(h, k) && is_used(h->p->op, k);
  return any;
}

static void compute_point(held *h, const corner *c, MlirValue **read) {
  const points *p = h->p;
  const int inputs = tiling_output(p->op, 0), outputs = output_count(p->op);
  MlirValue *elements = arena_array(h->b->arena, MlirValue, inputs + outputs);
  const MlirValue *numbers = place_corner(h, c);
  ir_builder in = *h->b;
  const bool updates = updates_memory(h);
  if (updates) enter_branch(&in, is_own(h, c));
  for (int k = 0; k < inputs + outputs; k++) {
    elements[k] = h->begin[0];  // of what the body does not ask for
    if (!is_used(p->op, k)) continue;
    elements[k] = k < inputs ? read[k][element_number(h, k, c)] : load(p, &in, k, h->at, numbers);
  }
  const ir_values made = compute(p, &in, elements, h->at);
  for (int k = 0; k < outputs; k++) {
    ir_builder at = in;
    if (!updates && !is_kept(h, inputs + k)) enter_branch(&at, is_own(h, c));
    store(p, &at, inputs + k, h->at, numbers, made.data[k]);
  }
}

// What all points read comes first, so that what they share is read once.
static void compute_points(held *h) {
  const points *p = h->p;
  const registers_space *s = h->roles->space;
  const int inputs = tiling_output(p->op, 0);
  const int64_t count = corner_count(s);
  MlirValue **read = arena_array(h->b->arena, MlirValue *, inputs);
  for (int k = 0; k < inputs; k++) {
    read[k] = arena_array(h->b->arena, MlirValue, count);
    for (int64_t n = 0; n < count; n++) read[k][n] = (MlirValue){NULL};
    corner c = {{0}};
    do {
      MlirValue *element = &read[k][element_number(h, k, &c)];
      if (element->ptr || !is_used(p->op, k)) continue;
      const MlirValue *numbers = place_corner(h, &c);
      *element = load(p, h->b, k, h->at, numbers);
    } while (next_corner(s, &c));
  }
  corner c = {{0}};
  do compute_point(h, &c, read);
  while (next_corner(s, &c));
}

heddle_status points_in_registers(const points *p, ir_builder *b, const registers_roles *roles, MlirValue workitem) {
  ir_builder in = *b;
  held h = {.p = p, .roles = roles, .b = &in, .rank = roles->space->rank};
  const ir_operations body = ir_collect(p->context->scratch, p->op, NULL);
  if (corner_count(roles->space) * body.size > MOST_COPIES)
    return ir_refuse(p->op, HEDDLE_UNIMPLEMENTED, "a workitem's points would be too much code");
  // Workitems without points of their own go along with others, but store nothing.
  if (roles->space->used < p->threads) {
    const MlirValue used = ir_index(&in, roles->space->used);
    h.has_points = ir_cmpi(&in, "ult", workitem, used);
    workitem = ir_binary(&in, "arith.remui", workitem, used);
  }
  h.begin[0] = workitem;
  place_workitem(&h, workitem);
  place_registers(&h);
  for (int l = 0; l < p->loop_count; l++)
    if (roles->dim[l] < 0) h.at[l] = enter_loop(&in, ir_index(&in, 0), ir_index(&in, p->trips[l]), ir_index(&in, 1));
  compute_points(&h);
  return status_ok();
}
