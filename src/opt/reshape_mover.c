// Reshape mover: add(transpose(x), transpose(y)) -> transpose(add(x, y)), and the same for reshapes.
//
// Fewer moves are left, those that meet one another may cancel, and elementwise operations come together in one kernel.
// An operation is moved past when at least two of its operands move the same way, or one does and what follows it alone
// comes to such a move again; the other operands must be broadcast scalars, which have any shape. Dims are never more
// than they were, so that nothing is computed twice.
#include "opt/passes.h"

#include "opt/rewrite.h"
#include "opt/worklist.h"

static bool is_move(const instruction *i) { return i->opcode == HLO_RESHAPE || i->opcode == HLO_TRANSPOSE; }

static bool is_spread_scalar(const instruction *i) {
  return i->shape->rank == 0 || (i->opcode == HLO_BROADCAST && i->operands[0]->shape->rank == 0);
}

// Whether both bring arrays of the same dims to their dims in the same way.
static bool moves_alike(const instruction *l, const instruction *r) {
  if (l->opcode != r->opcode || !shape_same_dims(l->operands[0]->shape, r->operands[0]->shape)) return false;
  if (l->opcode == HLO_RESHAPE) return true;
  const int_list x = l->attributes->dimensions, y = r->attributes->dimensions;
  return memcmp(x.data, y.data, (size_t)x.size * sizeof *x.data) == 0;
}

static bool is_elementwise(const instruction *i) {
  if (!hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) || !shape_is_array(i->shape) || i->operand_count > 3) return false;
  for (int k = 0; k < i->operand_count; k++) {
    const shape *s = i->operands[k]->shape;
    if (!shape_is_array(s) || (s->rank > 0 && !shape_same_dims(s, i->shape))) return false;
  }
  return i->shape->rank > 0;
}

enum { MAX_CHAIN = 8 };  // operations between two moves

// Whether elementwise operations with one user each lead from `i` to a move of the kind.
static bool leads_to(const instruction *i, hlo_opcode move) {
  for (int n = 0; n < MAX_CHAIN && i->users.size == 1; n++) {
    const instruction *user = i->users.data[0];
    if (user->opcode == move) return true;
    if (!is_elementwise(user)) return false;
    for (int k = 0; k < user->operand_count; k++)
      if (user->operands[k] != i && !is_spread_scalar(user->operands[k])) return false;
    i = user;
  }
  return false;
}

// The move to be made after `i`; null if that gains nothing.
static const instruction *shared_move(const instruction *i) {
  const instruction *move = NULL;
  int moved = 0;
  for (int k = 0; k < i->operand_count; k++) {
    const instruction *x = i->operands[k];
    if (is_spread_scalar(x)) continue;
    if (!is_move(x) || (move && !moves_alike(move, x))) return NULL;
    if (!move || move != x) moved++;
    move = x;
  }
  if (!move || moved >= 2) return move;
  return move->users.size == 1 && leads_to(i, move->opcode) ? move : NULL;
}

static instruction *move_past(const builder *b, instruction *i) {
  const instruction *move = is_elementwise(i) ? shared_move(i) : NULL;
  instruction *operands[3];
  if (!move) return NULL;
  const shape *inner = shape_with_layout(b->arena, move->operands[0]->shape, NULL);
  for (int k = 0; k < i->operand_count; k++) {
    instruction *x = i->operands[k];
    if (x->shape->rank == 0) operands[k] = x;
    else if (is_move(x)) operands[k] = x->operands[0];
    else operands[k] = builder_broadcast(b, x->operands[0], inner, 0, NULL);
  }
  instruction *done = rewrite_with(b, i, shape_with_dtype(b->arena, inner, i->shape->dtype), operands);
  return rewrite_with(b, move, shape_with_dtype(b->arena, i->shape, i->shape->dtype), &done);
}

static heddle_status run(pass_context *context, void *unit) { return worklist_run(context, unit, move_past); }

const pass opt_reshape_mover = {
    .name = "reshape-mover",
    .summary = "reshapes and transposes move towards results",
    .order_reason = "before the passes on convolutions and dots, which take over the moves that come to them",
    .use = PASS_IMPROVES,
    .run = run,
};
