// A model repeats its layers, so most fusions have a twin: equal bodies share a kernel, which saves compiling it again.
// Bodies are compared in post order, where each instruction has a position that names and text do not change.
#include "lhlo/kernel_sharing.h"

#include <stdint.h>

#include "base/hash.h"

// Computations called inside bodies (reducers) nest at most this deep to be compared; deeper ones count as different.
enum { MAX_CALL_DEPTH = 16 };

static uint64_t hash_of_shape(uint64_t hash, const shape *s) {
  hash = hash_mix(hash_mix(hash, (uint64_t)s->dtype), (uint64_t)s->rank);
  for (int k = 0; k < s->rank; k++) hash = hash_mix(hash, (uint64_t)s->dims[k]);
  for (int k = 0; k < s->tuple_size; k++) hash = hash_of_shape(hash, s->elements[k]);
  return hash;
}

// Marks positions.
static heddle_status number_instructions(arena *scratch, const computation *c, instruction_list *order) {
  TRY(computation_post_order(scratch, c, order));
  for (int k = 0; k < order->size; k++) order->data[k]->mark = (uint64_t)k;
  return status_ok();
}

static heddle_status hash_of_computation(arena *scratch, const computation *c, uint64_t *out) {
  instruction_list order;
  uint64_t hash = 1;
  TRY(number_instructions(scratch, c, &order));
  for (int k = 0; k < order.size; k++) {
    const instruction *i = order.data[k];
    hash = hash_of_shape(hash_mix(hash, (uint64_t)i->opcode), i->shape);
    for (int j = 0; j < i->operand_count; j++) hash = hash_mix(hash, i->operands[j]->mark);
    hash = hash_mix(hash, (uint64_t)i->attributes->index);
    for (int j = 0; j < i->attributes->dimensions.size; j++)
      hash = hash_mix(hash, (uint64_t)i->attributes->dimensions.data[j]);
    if (i->literal && shape_is_scalar(i->shape)) hash = hash_mix(hash, (uint64_t)literal_get_int(i->literal, 0));
  }
  *out = hash_mix(hash, c->root->mark);
  return status_ok();
}

static bool equal_at(arena *scratch, const computation *l, const computation *r, int depth);

static bool instructions_equal(arena *scratch, const instruction *l, const instruction *r, int depth) {
  if (l->opcode != r->opcode || l->operand_count != r->operand_count || l->called_count != r->called_count)
    return false;
  if (!shape_equal(l->shape, r->shape)) return false;
  for (int k = 0; k < l->operand_count; k++)
    if (l->operands[k]->mark != r->operands[k]->mark) return false;
  if (!attributes_equal(l->attributes, r->attributes)) return false;
  if (!l->literal != !r->literal || (l->literal && !literal_identical(l->literal, r->literal))) return false;
  for (int k = 0; k < l->called_count; k++)
    if (!equal_at(scratch, l->called[k], r->called[k], depth + 1)) return false;
  return true;
}

static bool equal_at(arena *scratch, const computation *l, const computation *r, int depth) {
  if (l == r) return true;
  instruction_list left, right;
  if (depth > MAX_CALL_DEPTH || l->instructions.size != r->instructions.size) return false;
  heddle_status s = number_instructions(scratch, l, &left);
  if (status_is_ok(s)) s = number_instructions(scratch, r, &right);
  if (!status_is_ok(s)) {
    heddle_status_free(s);
    return false;
  }
  if (l->root->mark != r->root->mark) return false;
  for (int k = 0; k < left.size; k++)
    if (!instructions_equal(scratch, left.data[k], right.data[k], depth)) return false;
  return true;
}

// Instruction by instruction: opcodes, shapes, attributes, constants.
static bool is_same_computation(arena *scratch, const computation *l, const computation *r) {
  return equal_at(scratch, l, r, 0);
}

static bool aliases_equal(const kernel_sharing_entry *e, int count, const kernel_alias *aliases) {
  if (e->alias_count != count) return false;
  for (int k = 0; k < count; k++)
    if (e->aliases[k].result != aliases[k].result || e->aliases[k].parameter != aliases[k].parameter) return false;
  return true;
}

static int first_with(const kernel_sharing *k, uint64_t hash) {
  const void *found = ptr_map_get(&k->by_hash, (const void *)(uintptr_t)hash);  // NOLINT(performance-no-int-to-ptr)
  return (int)(intptr_t)found - 1;
}

static heddle_status plan_new(kernel_sharing *k, const instruction *fusion, uint64_t hash,
                              const kernel_sharing_entry *wanted, const kernel_plan **out) {
  int number = k->kernels.size;
  const char *name = number ? arena_printf(k->arena, "main_%d", number) : "main";
  kernel_plan *plan;
  heddle_status s =
      kernel_plan_create(k->arena, wanted->computation, name, &k->target, wanted->alias_count, wanted->aliases, &plan);
  TRY(status_context(s, "in fusion " STR_FMT, STR_ARG(fusion->name)));
  vec_push(k->arena, &k->kernels, plan);
  kernel_sharing_entry e = *wanted;
  e.kernel = plan;
  e.next = first_with(k, hash);
  vec_push(k->arena, &k->entries, e);
  ptr_map_put(k->arena, &k->by_hash, (const void *)(uintptr_t)hash,  // NOLINT(performance-no-int-to-ptr)
              (void *)(intptr_t)k->entries.size);                    // NOLINT(performance-no-int-to-ptr)
  *out = plan;
  return status_ok();
}

static heddle_status find(kernel_sharing *k, arena *scratch, const instruction *fusion,
                          const kernel_sharing_entry *wanted, const kernel_plan **out) {
  uint64_t hash;
  TRY(hash_of_computation(scratch, wanted->computation, &hash));
  for (int e = 0; e < wanted->alias_count; e++)
    hash = hash_mix(hash_mix(hash, (uint64_t)wanted->aliases[e].result), (uint64_t)wanted->aliases[e].parameter);
  for (int e = first_with(k, hash); e >= 0; e = k->entries.data[e].next) {
    const kernel_sharing_entry *entry = &k->entries.data[e];
    if (!aliases_equal(entry, wanted->alias_count, wanted->aliases)) continue;
    if (!is_same_computation(scratch, entry->computation, wanted->computation)) continue;
    *out = entry->kernel;
    return status_ok();
  }
  return plan_new(k, fusion, hash, wanted, out);
}

heddle_status kernel_sharing_find(kernel_sharing *k, const instruction *fusion, int alias_count,
                                  const kernel_alias *aliases, const kernel_plan **out) {
  arena *scratch = arena_create();
  kernel_sharing_entry wanted = {.computation = fusion->called[0], .alias_count = alias_count, .aliases = aliases};
  heddle_status s = find(k, scratch, fusion, &wanted, out);
  arena_destroy(scratch);
  return s;
}
