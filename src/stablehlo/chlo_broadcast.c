// CHLO's elementwise operations with broadcasting: the operands are brought to one shape, then the plain operation is
// lowered. As in NumPy, dims of size 1 grow, and missing dims are added in front (or where `broadcast_dimensions`
// says).
#include "stablehlo/build.h"
#include "stablehlo/chlo.h"

static const ir_opcode plain[IR_OP_COUNT] = {
    [IR_OP_CHLO_BROADCAST_ADD] = IR_OP_ADD,
    [IR_OP_CHLO_BROADCAST_AND] = IR_OP_AND,
    [IR_OP_CHLO_BROADCAST_ATAN2] = IR_OP_ATAN2,
    [IR_OP_CHLO_BROADCAST_COMPARE] = IR_OP_COMPARE,
    [IR_OP_CHLO_BROADCAST_COMPLEX] = IR_OP_COMPLEX,
    [IR_OP_CHLO_BROADCAST_DIVIDE] = IR_OP_DIVIDE,
    [IR_OP_CHLO_BROADCAST_MAXIMUM] = IR_OP_MAXIMUM,
    [IR_OP_CHLO_BROADCAST_MINIMUM] = IR_OP_MINIMUM,
    [IR_OP_CHLO_BROADCAST_MULTIPLY] = IR_OP_MULTIPLY,
    [IR_OP_CHLO_BROADCAST_NEXT_AFTER] = IR_OP_CHLO_NEXT_AFTER,
    [IR_OP_CHLO_BROADCAST_OR] = IR_OP_OR,
    [IR_OP_CHLO_BROADCAST_POLYGAMMA] = IR_OP_CHLO_POLYGAMMA,
    [IR_OP_CHLO_BROADCAST_POWER] = IR_OP_POWER,
    [IR_OP_CHLO_BROADCAST_REMAINDER] = IR_OP_REMAINDER,
    [IR_OP_CHLO_BROADCAST_SELECT] = IR_OP_SELECT,
    [IR_OP_CHLO_BROADCAST_SHIFT_LEFT] = IR_OP_SHIFT_LEFT,
    [IR_OP_CHLO_BROADCAST_SHIFT_RIGHT_ARITHMETIC] = IR_OP_SHIFT_RIGHT_ARITHMETIC,
    [IR_OP_CHLO_BROADCAST_SHIFT_RIGHT_LOGICAL] = IR_OP_SHIFT_RIGHT_LOGICAL,
    [IR_OP_CHLO_BROADCAST_SUBTRACT] = IR_OP_SUBTRACT,
    [IR_OP_CHLO_BROADCAST_XOR] = IR_OP_XOR,
    [IR_OP_CHLO_BROADCAST_ZETA] = IR_OP_CHLO_ZETA,
};

enum { MAX_OPERANDS = 3 };

// Which dim of the result each operand's dims go to.
static heddle_status map_dims(lowering *l, const ir_operation *op, const shape *s, int rank, int64_t *map) {
  int_list given;
  TRY(lowering_ints(l, op, "broadcast_dimensions", &given));
  bool is_mapped = ir_find(op, "broadcast_dimensions") && s->rank < rank;
  if (is_mapped && given.size != s->rank)
    return lowering_invalid(op, "found %d broadcast_dimensions for %s", given.size, shape_text(l->arena, s));
  for (int k = 0; k < s->rank; k++) {
    map[k] = is_mapped ? given.data[k] : rank - s->rank + k;
    if (map[k] < 0 || map[k] >= rank || (k && map[k] <= map[k - 1]))
      return lowering_invalid(op, "broadcast_dimensions do not name dims of the result in order");
  }
  return status_ok();
}

// Dims of size 1 are dropped where the result's are larger.
static instruction *expand(lowering *l, instruction *x, const shape *to, const int64_t *map) {
  if (shape_same_dims(x->shape, to)) return x;
  int64_t dims[SHAPE_MAX_RANK], kept[SHAPE_MAX_RANK];
  int count = 0;
  for (int k = 0; k < x->shape->rank; k++) {
    if (x->shape->dims[k] != to->dims[map[k]]) continue;
    dims[count] = x->shape->dims[k];
    kept[count++] = map[k];
  }
  if (count != x->shape->rank) x = build_reshape(l, x, count, dims);
  return build_broadcast(l, x, to, count, kept);
}

static heddle_status merge_dims(lowering *l, const ir_operation *op, const shape *s, const int64_t *map,
                                int64_t *dims) {
  for (int k = 0; k < s->rank; k++) {
    int64_t *dim = &dims[map[k]];
    if (s->dims[k] == 1 || s->dims[k] == *dim) continue;
    if (*dim != 1)
      return lowering_invalid(op, "dim %d of %s does not match size %lld of another operand", k,
                              shape_text(l->arena, s), (long long)*dim);
    *dim = s->dims[k];
  }
  return status_ok();
}

heddle_status lower_chlo_broadcast(lowering *l, const ir_operation *op, instruction *const *operands,
                                   instruction **results) {
  int wanted = op->op == IR_OP_CHLO_BROADCAST_SELECT ? 3 : 2, rank = 0;
  if (op->operand_count != wanted || op->result_count != 1)
    return lowering_invalid(op, "found %d operands and %d results, wanted %d and one", op->operand_count,
                            op->result_count, wanted);
  for (int k = 0; k < wanted; k++) {
    if (!shape_is_array(operands[k]->shape)) return lowering_invalid(op, "operand %d is no array", k);
    if (operands[k]->shape->rank > rank) rank = operands[k]->shape->rank;
  }
  int64_t maps[MAX_OPERANDS][SHAPE_MAX_RANK] = {{0}}, dims[SHAPE_MAX_RANK] = {0};
  for (int k = 0; k < rank; k++) dims[k] = 1;
  for (int k = 0; k < wanted; k++) {
    TRY(map_dims(l, op, operands[k]->shape, rank, maps[k]));
    TRY(merge_dims(l, op, operands[k]->shape, maps[k], dims));
  }
  instruction *expanded[MAX_OPERANDS];
  for (int k = 0; k < wanted; k++) {
    const shape *to = shape_array(l->arena, operands[k]->shape->dtype, rank, dims);
    expanded[k] = expand(l, operands[k], to, maps[k]);
  }
  ir_operation same_shape = *op;
  same_shape.op = plain[op->op];
  return lowerings[same_shape.op](l, &same_shape, expanded, results);
}
