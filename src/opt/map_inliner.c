// Map inliner: map(x, y), to_apply={ multiply(p0, add(p1, 1)) } -> multiply(x, add(y, broadcast(1))).
#include "opt/map_inliner.h"

#include "opt/passes.h"
#include "opt/rewrite.h"

static bool can_lift(const instruction *i) {
  return i->opcode == HLO_PARAMETER || i->opcode == HLO_CONSTANT ||
         (hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && i->called_count == 0 && i->control_predecessors.size == 0);
}

static bool can_inline(const instruction *map) {
  if (map->opcode != HLO_MAP) return false;
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
  return rewrite_with(b, i, s, operands);
}

static instruction *inline_map(instruction *map, void *argument) {
  arena *scratch = argument;
  instruction_list order = {0};
  ptr_map lifted = {0};
  const computation *body = map->called[0];
  const builder b = builder_for(map);
  heddle_status s = computation_post_order(scratch, body, &order);
  for (int k = 0; k < order.size; k++)
    ptr_map_put(scratch, &lifted, order.data[k], lift(&b, scratch, map, order.data[k], &lifted));
  instruction *result = status_is_ok(s) ? ptr_map_get(&lifted, body->root) : NULL;
  heddle_status_free(s);  // a cycle, which verified modules do not have
  return result;
}

instruction *map_inliner_inlined(arena *scratch, instruction *map) {
  if (!can_inline(map)) return map;
  instruction *inlined = inline_map(map, scratch);
  if (!inlined) return map;
  computation_remove(map->parent, map);
  return inlined;
}

static heddle_status run(pass_context *context, void *unit) {
  return rewrite_each_given(context, unit, can_inline, inline_map, context->scratch);
}

const pass opt_map_inliner = {
    .name = "map-inliner",
    .summary = "maps become the operations of their body on whole arrays",
    .order_reason = "behind the call inliner, as it needs bodies without calls",
    .use = PASS_NEEDED,
    .run = run,
};
