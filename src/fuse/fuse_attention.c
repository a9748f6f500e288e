// From the weights back: what has an element for each query and key, and what is cheaper computed again than read, is
// computed where it is used; products of such a shape are those of the scores. Everything else is an operand.
#include "fuse/fuse_attention.h"

#include "base/int64.h"
#include "fuse/attention_lack.h"
#include "fuse/fusion_cost.h"
#include "fuse/softmax_quotient.h"
#include "hlo/builder.h"
#include "kernel/hero_tiles.h"
#include "kernel/online_softmax.h"

typedef struct attention {
  arena *arena;
  online_softmax softmax;
  instruction *root;     // the product, or the last of what only converts or moves it
  instruction *weights;  // that others read, too; null: nobody does
  ptr_map seen;          // members of the body, and inputs
  ptr_map members;
  instruction_list body;    // operands before users
  instruction_list inputs;  // in order of first use
  int products;             // among the body
} attention;

// --- what is computed within

static bool is_number(const instruction *i) { return i->opcode == HLO_CONSTANT && i->shape->rank == 0; }

// Whether a reshape only adds or takes away dims of one element.
static bool changes_unit_dims(const instruction *i) {
  int dims[SHAPE_MAX_RANK];
  const bool is_reshape = i->opcode == HLO_RESHAPE || i->opcode == HLO_BITCAST;
  return is_reshape && i->shape->dtype == i->operands[0]->shape->dtype &&
         shape_moves_unit_dims(i->operands[0]->shape, i->shape, dims);
}

// Made of numbers and positions alone, in a few steps.
static bool is_made_of_positions(const instruction *i, int *steps) {
  if (is_number(i) || i->opcode == HLO_IOTA) return true;
  if (--*steps < 0) return false;
  if (changes_unit_dims(i)) return is_made_of_positions(i->operands[0], steps);
  if (i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE) return false;
  if (!hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) && i->opcode != HLO_BROADCAST) return false;
  bool all = true;
  for (int k = 0; k < i->operand_count && all; k++) all = is_made_of_positions(i->operands[k], steps);
  return all;
}

// Whether a mask hides scores by where they are, whatever else it hides; looked for in a few steps.
static bool hides_positions(const instruction *mask, int *steps) {
  int of_positions = FUSION_DUPLICATED_INSTRUCTIONS;
  while (mask->opcode == HLO_BROADCAST || changes_unit_dims(mask)) mask = mask->operands[0];
  if (is_made_of_positions(mask, &of_positions)) return !is_number(mask);
  if (mask->opcode != HLO_AND || --*steps < 0) return false;
  return hides_positions(mask->operands[0], steps) || hides_positions(mask->operands[1], steps);
}

static bool is_mask_of_positions(const instruction *i) {
  int steps = FUSION_DUPLICATED_INSTRUCTIONS;
  return i->shape->dtype == DTYPE_PRED && hides_positions(i, &steps);
}

static bool has_scores_shape(const attention *t, const instruction *i) {
  return shape_is_array(i->shape) && shape_element_count(i->shape) == shape_element_count(t->softmax.scores->shape);
}

static bool is_score_product(const attention *t, const instruction *i) {
  return i->opcode == HLO_DOT && has_scores_shape(t, i);
}

// One of the values of each row that the softmax needs, converted or with other dims of one element.
static bool is_of_rows(const attention *t, const instruction *i) {
  const online_softmax *s = &t->softmax;
  for (int k = 0; k < s->row_count; k++)
    if (s->rows[k] == i) return true;
  while (i->opcode == HLO_CONVERT || i->opcode == HLO_COPY || i->opcode == HLO_RESHAPE || i->opcode == HLO_BITCAST)
    i = i->operands[0];
  return i == s->maximum || i == s->sum;
}

static bool is_computed(const attention *t, const instruction *i) {
  int steps = FUSION_DUPLICATED_INSTRUCTIONS;
  if (!hero_tiles_has_form(i)) return false;
  if (is_of_rows(t, i) || is_number(i) || is_score_product(t, i) || i->opcode == HLO_BROADCAST) return true;
  if (is_made_of_positions(i, &steps)) return true;
  if (i->opcode == HLO_AND && is_mask_of_positions(i)) return true;
  if (i->opcode == HLO_RESHAPE || i->opcode == HLO_BITCAST) return has_scores_shape(t, i) && changes_unit_dims(i);
  const bool is_moved = i->opcode == HLO_TRANSPOSE || i->opcode == HLO_COPY;
  return (hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) || is_moved) && has_scores_shape(t, i);
}

static bool is_new(attention *t, instruction *i) {
  if (ptr_map_has(&t->seen, i)) return false;
  ptr_map_put(t->arena, &t->seen, i, i);
  return true;
}

// Behind its operands.
static void take(attention *t, instruction *i) {
  ptr_map_put(t->arena, &t->members, i, i);
  vec_push(t->arena, &t->body, i);
}

static bool is_view(const instruction *i) {
  return (i->opcode == HLO_TRANSPOSE || i->opcode == HLO_SLICE || i->opcode == HLO_BITCAST ||
          i->opcode == HLO_RESHAPE) &&
         hero_tiles_has_form(i);
}

// What a product multiplies is read where it lies, through slices, reshapes and transposes.
static void collect_factor(attention *t, instruction *i) {
  if (!is_new(t, i)) return;
  if (!is_view(i)) {
    vec_push(t->arena, &t->inputs, i);
    return;
  }
  collect_factor(t, i->operands[0]);
  take(t, i);
}

static void collect(attention *t, instruction *i) {
  if (!is_new(t, i)) return;
  if (i != t->softmax.product && !is_computed(t, i)) {
    vec_push(t->arena, &t->inputs, i);
    return;
  }
  const bool is_product = i->opcode == HLO_DOT;
  t->products += is_product;
  for (int k = 0; k < i->operand_count; k++) {
    if (is_product && !(i == t->softmax.product && k == t->softmax.side)) collect_factor(t, i->operands[k]);
    else collect(t, i->operands[k]);
  }
  take(t, i);
}

// A transpose or conversion that is all that is done with the product comes along.
static void collect_users(attention *t, instruction *product) {
  t->root = product;
  while (t->root->users.size == 1 && t->root->parent->root != t->root) {
    instruction *user = t->root->users.data[0];
    const bool narrows = user->opcode == HLO_CONVERT && dtype_is_float(user->shape->dtype) &&
                         dtypes[user->shape->dtype].bits < dtypes[t->root->shape->dtype].bits;
    if ((user->opcode != HLO_TRANSPOSE && !narrows) || !hero_tiles_has_form(user)) break;
    t->root = user;
    take(t, user);
  }
}

static bool is_read_outside(const attention *t, const instruction *i) {
  bool any = i->parent->root == i;
  for (int k = 0; k < i->users.size; k++) any |= !ptr_map_has(&t->members, i->users.data[k]);
  return any;
}

static bool is_private(const attention *t, const instruction *i) {
  int steps = FUSION_DUPLICATED_INSTRUCTIONS;
  if (i == t->root || i == t->weights || i->opcode == HLO_CONSTANT || i->opcode == HLO_BROADCAST ||
      (is_view(i) && !has_scores_shape(t, i)) || is_made_of_positions(i, &steps))
    return true;
  return !is_read_outside(t, i);
}

// What others read of the weights: the first of what they are before the product multiplies them.
static instruction *find_weights(const attention *t) {
  const online_softmax *s = &t->softmax;
  for (instruction *i = s->product->operands[s->side]; s->sum; i = i->operands[0]) {
    if (is_read_outside(t, i)) return i;
    if (i == s->weights) break;
  }
  return NULL;
}

// Whether what others make of the weights is among the inputs, so that they would have to be there before themselves;
// where anything waits for others without reading them, that is taken for granted.
static bool needs_weights(attention *t) {
  ptr_map seen = {0};
  instruction_list waiting = {0};
  const instruction_list *all = &t->root->parent->instructions;
  for (int k = 0; k < all->size; k++)
    if (all->data[k]->control_predecessors.size > 0) return true;
  vec_push(t->arena, &waiting, t->weights);
  for (int n = 0; n < waiting.size; n++) {
    const instruction *from = waiting.data[n];
    for (int k = 0; k < from->users.size; k++) {
      instruction *user = from->users.data[k];
      const bool is_member = ptr_map_has(&t->members, user);
      if (is_member && n > 0) return true;
      if (is_member || ptr_map_has(&seen, user)) continue;
      ptr_map_put(t->arena, &seen, user, user);
      vec_push(t->arena, &waiting, user);
    }
  }
  return false;
}

// What is ordered by control edges, or read by others, stays outside.
static bool is_closed(attention *t) {
  bool all = t->products >= 2;
  t->weights = find_weights(t);
  for (int k = 0; k < t->body.size && all; k++)
    all = is_private(t, t->body.data[k]) && t->body.data[k]->control_predecessors.size == 0;
  return all && !(t->weights && needs_weights(t));
}

// --- whether it can be done, and pays

static int64_t elements_along(const shape *s, int_list dims) {
  int64_t n = 1;
  for (int k = 0; k < dims.size; k++) n *= s->dims[dims.data[k]];
  return n;
}

// Of queries and keys, which scores sum over, and of values.
static int64_t features_of(const attention *t) {
  const online_softmax *s = &t->softmax;
  const int values = 1 - s->side;
  const hlo_attributes *a = s->product->attributes;
  const int_list batch = values == 0 ? a->lhs_batch_dims : a->rhs_batch_dims;
  const shape *of_values = s->product->operands[values]->shape;
  int64_t features =
      shape_element_count(of_values) / (elements_along(of_values, batch) * s->scores->shape->dims[s->key_dim]);
  for (int k = 0; k < t->body.size; k++) {
    const instruction *i = t->body.data[k];
    if (i->opcode == HLO_DOT && i != s->product)
      features += elements_along(i->operands[0]->shape, i->attributes->lhs_contracting_dims);
  }
  return features;
}

// The longest dim of the weights that neither the keys run along nor the values have.
static int64_t queries_of(const attention *t) {
  const online_softmax *s = &t->softmax;
  const shape *weights = s->product->operands[s->side]->shape;
  const hlo_attributes *a = s->product->attributes;
  const int_list batch = s->side == 0 ? a->lhs_batch_dims : a->rhs_batch_dims,
                 keys = s->side == 0 ? a->lhs_contracting_dims : a->rhs_contracting_dims;
  int64_t queries = 1;
  for (int d = 0; d < weights->rank; d++)
    if (!int_list_has(keys, d) && !int_list_has(batch, d) && weights->dims[d] > queries) queries = weights->dims[d];
  return queries;
}

// A tile holds a block of queries, of keys, of values and of results. Beside these are a block of each score that
// several read, and of those that the softmax makes.
enum { HELD_BYTES_MAX = 448 << 10 };

static bool fits(const attention *t, const target_description *target) {
  const online_softmax *s = &t->softmax;
  int64_t of_queries, of_keys;
  if (target->has_grid)
    return online_softmax_grid_blocks(queries_of(t), s->scores->shape->dims[s->key_dim], features_of(t),
                                      s->product->shape->dtype == DTYPE_F64 ? 8 : 4, target->shared_bytes, &of_queries,
                                      &of_keys);
  int64_t blocks = 3;
  for (int k = 0; k < t->body.size; k++)
    blocks += has_scores_shape(t, t->body.data[k]) && t->body.data[k]->users.size > 1;
  const int64_t bytes = s->product->shape->dtype == DTYPE_F64 ? 8 : 4;
  return ONLINE_SOFTMAX_BLOCK * (2 * features_of(t) + blocks * ONLINE_SOFTMAX_BLOCK) * bytes <= HELD_BYTES_MAX;
}

// Whether scores are hidden by where they are, as a causal mask does: then blocks of them are not computed at all.
static bool is_masked(const attention *t) {
  const instruction *i = t->softmax.scores;
  while (changes_unit_dims(i)) i = i->operands[0];
  return i->opcode == HLO_SELECT && is_mask_of_positions(i->operands[0]);
}

// One query, or none: nothing is dealt out. No element: nothing is computed.
static bool has_blocks(const attention *t) {
  const online_softmax *s = &t->softmax;
  const int64_t scores = shape_element_count(s->scores->shape), keys = s->scores->shape->dims[s->key_dim];
  return scores > keys && shape_element_count(s->product->operands[1 - s->side]->shape) > 0;
}

// How much of the scores blocks compute that a mask hides all others of, if it is causal: half of them, and half of the
// blocks that the diagonal goes through.
static double computed_share(const attention *t) {
  const double blocks =
      (double)int64_ceil_div(t->softmax.scores->shape->dims[t->softmax.key_dim], ONLINE_SOFTMAX_BLOCK);
  return is_masked(t) ? (blocks + 1) / (2 * blocks) : 1;
}

// What a score takes, in multiplications of a library's product, of which it takes as many as there are features.
// Measured on one thread with 1 to 64 heads of 8 to 128 features, 16 to 296 queries and 16 to 2048 keys, with AVX-512
// and with AVX2: 16 queries by 1024 keys, 64 features each, take a library 1.5 to 1.8 times as long as tiles, 64 by 64
// 1.0 to 1.1 times, 256 by 256 with 128 features 0.93 times. A library puts keys and values in order for all queries of
// a head, computes whole vectors of keys, and has scores written and read between three kernels, from memory where they
// fill a cache; tiles are not quite as quick at multiplying.
// With AVX-512 it multiplies small ones as they lie. Where one block has all keys, what tiles do for each query, as to
// turn it and its result, is not shared by many: 64 by 64 with 32, 64 and 128 features take tiles 0.89, 1.01 to 1.09
// and 1.06 to 1.1 of its time, 96 by 96 with 64 features 0.81 to 0.98, 128 by 128 0.83, 0.86 to 0.98 and 0.92 to 1.07.
static bool takes_less_time(const attention *t, const target_description *target) {
  enum {
    ORDERED = 10,
    ORDERED_AVX512 = 3,
    SOFTMAX = 36,
    SOFTMAX_FROM_MEMORY = 72,
    SCORES_IN_CACHE = 1 << 20,
    SOFTMAX_OF_TILES = 4,
    TURNED_AVX512 = 8
  };
  const int64_t vector = 16, keys = t->softmax.scores->shape->dims[t->softmax.key_dim], queries = queries_of(t),
                scores = shape_element_count(t->softmax.scores->shape);
  const bool is_wide = target->products.panel_bits >= 512;
  const double slower = is_wide ? 1.18 : 1.2, ordered = is_wide ? ORDERED_AVX512 : ORDERED,
               turned = is_wide && keys <= ONLINE_SOFTMAX_BLOCK ? TURNED_AVX512 : 0, features = (double)features_of(t);
  int64_t computed;
  online_softmax_queries(queries, scores == queries * keys, &computed);
  const double library =
      features * (1 + ordered / (double)queries) + (scores < SCORES_IN_CACHE ? SOFTMAX : SOFTMAX_FROM_MEMORY);
  const double tiles = (slower * features + SOFTMAX_OF_TILES) * computed_share(t) + turned * features / (double)keys;
  return tiles * (double)computed / (double)queries <
         library * (double)(int64_ceil_div(keys, vector) * vector) / (double)keys;
}

// Fewer queries fill no vector, and for fewer scores a kernel is called for longer than it computes.
enum { QUERIES_MIN = 16, SCORES_MIN = 1 << 13 };

static bool pays(const attention *t, const target_description *target) {
  if (target->codegen == CODEGEN_TILES) return queries_of(t) > 1;
  return queries_of(t) >= QUERIES_MIN && shape_element_count(t->softmax.scores->shape) >= SCORES_MIN &&
         takes_less_time(t, target);
}

// Weights that are a result are computed a second time: that takes 1.2 to 1.3 times what libraries and a softmax of
// rows take, which write scores and read them.
static bool pays_with_weights(const attention *t, const target_description *target) {
  return !t->weights || target->codegen == CODEGEN_TILES;
}

// --- the fusion

static instruction *build(const attention *t, computation *c) {
  module *m = c->module;
  computation *body = module_add_computation(m, STR("fused_attention"));
  ptr_map copies = {0};
  for (int k = 0; k < t->inputs.size; k++) {
    const instruction *x = t->inputs.data[k];
    str name = str_from(arena_printf(m->arena, "param_%d." STR_FMT, k, STR_ARG(x->name)));
    ptr_map_put(t->arena, &copies, x, computation_add_parameter(body, k, name, x->shape));
  }
  for (int k = 0; k < t->body.size; k++) {
    instruction *from = t->body.data[k];
    instruction **operands = arena_array(t->arena, instruction *, from->operand_count);
    for (int o = 0; o < from->operand_count; o++) operands[o] = ptr_map_get(&copies, from->operands[o]);
    ptr_map_put(t->arena, &copies, from, computation_add_copy(body, from, operands));
  }
  instruction *results[] = {ptr_map_get(&copies, t->root), t->weights ? ptr_map_get(&copies, t->weights) : NULL};
  const builder in_body = builder_in(body);
  computation_set_root(body, t->weights ? builder_tuple(&in_body, 2, results) : results[0]);
  const char *name = arena_printf(m->arena, "attention_fusion.%d", m->next_name);
  instruction *fusion =
      computation_add(c, HLO_FUSION, str_from(name), body->root->shape, t->inputs.size, t->inputs.data);
  fusion->where = t->softmax.product->where;
  fusion->attributes->kind = FUSION_LOOP;
  fusion->attributes->is_kept = true;
  attributes_mark(fusion->attributes, HLO_ATTRIBUTE_KIND);
  instruction_set_called(fusion, 1, &body);
  return fusion;
}

static void replace_uses(const attention *t, instruction *fusion) {
  const builder b = builder_for(t->softmax.product);
  if (t->weights) {
    instruction_replace_uses(t->weights, builder_element(&b, fusion, 1));
    instruction_replace_uses(t->root, builder_element(&b, fusion, 0));
  } else {
    instruction_replace_uses(t->root, fusion);
  }
}

// Why it is none; null if it is one.
static const char *lack_of(attention *t, const target_description *target, instruction *product) {
  if (!online_softmax_of(product, &t->softmax)) return attention_lack_form(product);
  if (!has_blocks(t)) return "one query, or no element, is nothing to be dealt out";
  collect(t, product);
  collect_users(t, product);
  if (t->products < 2) return "between product and exponentials, or before these, stands what tiles do not compute";
  if (!is_closed(t)) return "others read its scores or exponentials, or control edges order them";
  if (!fits(t, target)) return "a block of queries, keys and values is more than a tile holds";
  if (!pays(t, target)) return "libraries and a softmax of rows are estimated to take less time";
  if (!pays_with_weights(t, target)) return "others read its weights, which would be computed a second time";
  return NULL;
}

// `idle`: what does not count as reading.
static const char *try_product(arena *scratch, const target_description *target, instruction *product,
                               const ptr_map *idle, text *reasons) {
  attention t = {.arena = scratch};
  const str name = product->name;
  if (idle) t.members = *idle;
  const char *lack = lack_of(&t, target, product);
  if (lack) return lack;
  instruction *fusion = build(&t, product->parent);
  replace_uses(&t, fusion);
  if (reasons)
    text_printf(reasons, STR_FMT ": kernel tiles " STR_FMT ": keys block by block, scores are never written%s\n",
                STR_ARG(name), STR_ARG(fusion->name), t.weights ? ", weights once" : "");
  return NULL;
}

static bool try_forms(arena *scratch, const target_description *target, instruction *product, text *reasons) {
  softmax_quotient q;
  const char *lack = NULL;
  if (softmax_quotient_make(scratch, product, &q)) {
    lack = try_product(scratch, target, q.product, &q.idle, reasons);
    if (!lack) return true;
    softmax_quotient_undo(&q);
  }
  const char *plain = try_product(scratch, target, product, NULL, reasons);
  if (!plain) return true;
  if (reasons && attention_lack_is_likely(product))
    text_printf(reasons, STR_FMT ": no attention: %s\n", STR_ARG(product->name), lack ? lack : plain);
  return false;
}

bool fuse_attention_run(computation *c, const target_description *target, text *reasons) {
  const bool has_tiles = kernel_hero_exists(target->kind, HERO_TILES) && target->codegen != CODEGEN_LIBRARY &&
                         target->codegen != CODEGEN_EMITTERS;
  bool any = false;
  arena *scratch = arena_create();
  for (int k = 0, count = c->instructions.size; has_tiles && k < count; k++) {
    if (c->instructions.data[k]->opcode == HLO_DOT) any |= try_forms(scratch, target, c->instructions.data[k], reasons);
    arena_reset(scratch);
  }
  arena_destroy(scratch);
  return any;
}
