// Where a result may lie over an operand. A dynamic-update-slice writes its window and leaves the rest as it was, a
// scatter combines into what is there: both need the operand's values in the memory of the result, so the result takes
// that memory over. Operations element by element may: they read an element before they write it.
#include "kernel/in_place.h"

#include "kernel/hero_tiles.h"
#include "kernel/hero_update_slice.h"
#include "kernel/same_bytes.h"

// The one user that is no bitcast, if the value has one user only all the way.
static bool is_read_by_alone(const instruction *i, const instruction *wanted) {
  while (i->users.size == 1 && same_bytes_kept(i->users.data[0])) i = i->users.data[0];
  return i->users.size == 1 && i->users.data[0] == wanted;
}

// The parameter that the leaf updates, or null.
static const instruction *updated_parameter(arena *a, const kernel_leaf *leaf) {
  int element;
  const instruction *root = same_bytes_writer(leaf->root, leaf->element, &element);
  if (root->opcode != HLO_DYNAMIC_UPDATE_SLICE && root->opcode != HLO_SCATTER) return NULL;
  const instruction *updated = same_bytes_origin(root->operands[element]);
  if (updated->opcode != HLO_PARAMETER) return NULL;
  if (root->opcode == HLO_DYNAMIC_UPDATE_SLICE && !is_read_by_alone(updated, root) &&
      !hero_update_slice_in_place(a, leaf, updated->attributes->index))
    return NULL;
  return updated;
}

// --- element by element

// Which leaves an instruction's elements go into, each at its own index. Kept in `mark`.
enum {
  READ_NOWHERE,
  READ_BY_MANY,      // several leaves
  READ_ELSEWHERE,    // also at other indices
  READ_BY_ONE = 16,  // plus the leaf's number
};

static uint64_t both(uint64_t l, uint64_t r) {
  if (l == READ_NOWHERE || l == r) return r;
  if (r == READ_NOWHERE) return l;
  return l == READ_ELSEWHERE || r == READ_ELSEWHERE ? READ_ELSEWHERE : READ_BY_MANY;
}

// Element e of the user needs element e of the operand, counted in memory.
static bool keeps_index(const instruction *user, const instruction *operand) {
  if (!shape_is_array(user->shape) || !shape_is_array(operand->shape)) return false;
  if (!shape_layout_is_default(user->shape) || !shape_layout_is_default(operand->shape)) return false;
  if (same_bytes_kept(user)) return shape_element_count(user->shape) == shape_element_count(operand->shape);
  return hlo_op_has(user->opcode, TRAIT_ELEMENTWISE) && shape_same_dims(user->shape, operand->shape);
}

static void find_readers(const instruction_list *order, const kernel_leaves *leaves) {
  for (int k = 0; k < order->size; k++) order->data[k]->mark = READ_NOWHERE;
  for (int k = 0; k < leaves->size; k++) {
    instruction *root = (instruction *)leaves->data[k].root;
    root->mark = both(root->mark, READ_BY_ONE + (uint64_t)k);
  }
  for (int k = order->size; k-- > 0;) {
    const instruction *i = order->data[k];
    if (i->mark == READ_NOWHERE) continue;
    for (int j = 0; j < i->operand_count; j++) {
      instruction *x = i->operands[j];
      x->mark = both(x->mark, keeps_index(i, x) ? i->mark : READ_ELSEWHERE);
    }
  }
}

static bool has_hero(arena *a, const computation *c, const target_description *target, hero_kind hero) {
  kernel_plan *k;
  heddle_status s = kernel_plan_create(a, c, "", target, 0, NULL, &k);
  bool is_ok = status_is_ok(s);
  heddle_status_free(s);
  return is_ok && k->hero == hero;
}

static bool same_element_bytes(const shape *l, const shape *r) {
  return dtypes[l->dtype].bits == dtypes[r->dtype].bits && dtypes[l->dtype].bits >= 8 &&
         shape_element_count(l) == shape_element_count(r);
}

enum { MOST_PAIRS = 4096 };

// With several leaves, an operand may be taken over by any of them if all are computed together.
static void add_pairs(arena *a, const computation *c, const kernel_leaves *leaves, bool anywhere, in_place_pairs *out) {
  for (int k = 0; k < c->parameters.size; k++) {
    const instruction *p = c->parameters.data[k];
    if (p->mark == READ_NOWHERE || p->mark == READ_ELSEWHERE || !shape_is_array(p->shape)) continue;
    if (p->mark == READ_BY_MANY && !anywhere) continue;
    for (int j = 0; j < leaves->size && out->size < MOST_PAIRS; j++) {
      if (!anywhere && p->mark != READ_BY_ONE + (uint64_t)j) continue;
      if (same_element_bytes(p->shape, leaves->data[j].shape)) vec_push(a, out, ((in_place_pair){j, k}));
    }
  }
}

heddle_status in_place_updates(arena *a, const computation *c, in_place_pairs *out) {
  kernel_leaves leaves = {0};
  TRY(kernel_leaves_of(a, c->root, &leaves));
  bool *taken = arena_array(a, bool, c->parameters.size);
  for (int k = 0; k < leaves.size; k++) {
    const instruction *p = updated_parameter(a, &leaves.data[k]);
    if (!p || taken[p->attributes->index]) continue;
    taken[p->attributes->index] = true;
    vec_push(a, out, ((in_place_pair){k, (int)p->attributes->index}));
  }
  return status_ok();
}

heddle_status in_place_aliases(arena *a, const computation *body, int *count, kernel_alias **out) {
  in_place_pairs pairs = {0};
  TRY(in_place_updates(a, body, &pairs));
  *count = pairs.size;
  *out = arena_array(a, kernel_alias, pairs.size);
  for (int k = 0; k < pairs.size; k++) (*out)[k] = (kernel_alias){pairs.data[k].result, pairs.data[k].operand};
  return status_ok();
}

heddle_status in_place_kernel(arena *a, const computation *body, const char *name, const target_description *target,
                              kernel_plan **out) {
  int count;
  kernel_alias *aliases;
  TRY(in_place_aliases(a, body, &count, &aliases));
  return kernel_plan_create(a, body, name, target, count, aliases, out);
}

heddle_status in_place_find(arena *a, const instruction *fusion, const target_description *target, in_place *out) {
  *out = (in_place){0};
  kernel_leaves leaves = {0};
  instruction_list order;
  in_place_pairs pairs = {0}, updates = {0};
  const computation *c = fusion->called[0];
  TRY(kernel_leaves_of(a, c->root, &leaves));
  TRY(computation_post_order(a, c, &order));
  // The loop's kernel computes all its leaves for an element before it stores any of them. Tiles of sums grow where
  // they are stored in the end, while operands are still to be read.
  bool anywhere = leaves.size > 1 && has_hero(a, c, target, HERO_LOOP);
  const bool grows = hero_tiles_may_take(c, target) && has_hero(a, c, target, HERO_TILES);
  find_readers(&order, &leaves);  // in marks, which planning uses, too
  if (!grows) add_pairs(a, c, &leaves, anywhere, &pairs);
  out->may = pairs.data;
  out->may_count = pairs.size;
  TRY(in_place_updates(a, c, &updates));
  out->must = updates.data;
  out->must_count = updates.size;
  return status_ok();
}
