// One product of matrices that lie in memory, and work element by element on its result: what tiles do in one sweep,
// where a library would write the product for a kernel to read.
#include "kernel/tiled_product.h"

#include "kernel/hero_tiles.h"
#include "kernel/product_cost.h"

// What is computed: instructions of a body, each with whether it depends on the product.
typedef struct suitable {
  arena *scratch;
  const target_description *target;
  ptr_map computed;
  const instruction *product;
} suitable;

static char depends_on_product, is_apart;  // addresses are values of the map

static bool is_in_memory(const suitable *s, const instruction *i) {
  while (i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE) i = i->operands[0];
  return !ptr_map_has(&s->computed, i);
}

static bool takes_alone(const suitable *s, const instruction *i) {
  switch (i->opcode) {
    case HLO_CONSTANT:
    case HLO_BROADCAST:
    case HLO_IOTA: return true;
    case HLO_BITCAST:
    case HLO_RESHAPE: return is_in_memory(s, i->operands[0]);
    case HLO_DOT:
      return !s->product && product_cost_multiplications(i) > s->target->fusion.max_loop_product &&
             is_in_memory(s, i->operands[0]) && is_in_memory(s, i->operands[1]);
    default: return hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && i->called_count == 0;
  }
}

// Everything that is made of the product has its dims.
static bool takes(suitable *s, const instruction *i) {
  if (!hero_tiles_has_form(i) || !takes_alone(s, i)) return false;
  if (i->opcode == HLO_DOT) s->product = i;
  bool depends = i == s->product;
  for (int k = 0; k < i->operand_count; k++)
    depends |= ptr_map_get(&s->computed, i->operands[k]) == &depends_on_product;
  ptr_map_put(s->scratch, &s->computed, i, depends ? &depends_on_product : &is_apart);
  return !depends || shape_same_dims(i->shape, s->product->shape);
}

bool tiled_product_suits(arena *scratch, const instruction_list *body, const target_description *target) {
  suitable s = {.scratch = scratch, .target = target};
  for (int n = 0; n < body->size; n++)
    if (body->data[n]->opcode != HLO_PARAMETER && !takes(&s, body->data[n])) return false;
  return s.product;
}

bool tiled_product_is_sooner(arena *a, const instruction_list *body, const target_description *target) {
  const instruction *product = NULL;
  for (int n = 0; n < body->size; n++)
    if (body->data[n]->opcode == HLO_DOT) product = body->data[n];
  if (!product || !tiled_product_suits(a, body, target)) return false;
  const double tiles = product_cost_time(target, product, PRODUCT_BY_TILES);
  return tiles * target->products.least_gain <= product_cost_time(target, product, PRODUCT_BY_EMITTER);
}
