// Map inliner: map(x, y), to_apply={ multiply(p0, add(p1, 1)) } -> multiply(x, add(y, broadcast(1))).
#include "opt/map_inliner.h"

#include "hlo/builder.h"

static bool can_lift(const instruction *i) {
  return i->opcode == HLO_PARAMETER || i->opcode == HLO_CONSTANT ||
         (hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && i->called_count == 0 && i->control_predecessors.size == 0);
}

static bool can_inline(const instruction *map) {
  const computation *body = map->called[0];
  for (int k = 0; k < body->instructions.size; k++)
    if (!can_lift(body->instructions.data[k])) return false;
  return shape_is_array(body->root->shape);
}

// The instruction of the body, on arrays of the map's dims.
static instruction *lift(const builder *b, arena *scratch, const instruction *map, const instruction *i,
                         const ptr_map *lifted) {
  if (i->opcode == HLO_PARAMETER) return map->operands[i->attributes->index];
  if (i->opcode == HLO_CONSTANT) {
    instruction *constant = builder_constant(b, i->literal);
    return map->shape->rank == 0 ? constant : builder_broadcast(b, constant, map->shape, 0, NULL);
  }
  instruction **operands = arena_array(scratch, instruction *, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) operands[k] = ptr_map_get(lifted, i->operands[k]);
  const shape *s = shape_array(b->arena, i->shape->dtype, map->shape->rank, map->shape->dims);
  instruction *result = builder_add(b, i->opcode, s, i->operand_count, operands);
  result->attributes = attributes_copy(b->arena, i->attributes);
  return result;
}

static heddle_status inline_map(arena *scratch, instruction *map) {
  instruction_list order = {0};
  ptr_map lifted = {0};
  const computation *body = map->called[0];
  const builder b = builder_for(map);
  TRY(computation_post_order(scratch, body, &order));
  for (int k = 0; k < order.size; k++)
    ptr_map_put(scratch, &lifted, order.data[k], lift(&b, scratch, map, order.data[k], &lifted));
  instruction_replace_uses(map, ptr_map_get(&lifted, body->root));
  computation_remove(map->parent, map);
  return status_ok();
}

heddle_status map_inliner_run(module *m) {
  arena *scratch = arena_create();
  heddle_status s = status_ok();
  for (int c = 0; c < m->computations.size; c++) {
    instruction_list maps = {0};
    for (int i = 0; i < m->computations.data[c]->instructions.size; i++) {
      instruction *x = m->computations.data[c]->instructions.data[i];
      if (x->opcode == HLO_MAP && can_inline(x)) vec_push(scratch, &maps, x);
    }
    for (int i = 0; i < maps.size && status_is_ok(s); i++) s = inline_map(scratch, maps.data[i]);
  }
  arena_destroy(scratch);
  return s;
}
