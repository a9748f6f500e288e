// A dynamic-update-slice writes its window and leaves the rest as it was; a scatter combines into what is there. Both
// need the operand's values in the result's memory, so the result takes that memory over.
#include "plan/in_place.h"

#include "plan/kernel.h"

// The same elements in the same order in memory.
static bool keeps_bytes(const instruction *i) {
  return i->opcode == HLO_BITCAST || i->opcode == HLO_RESHAPE || i->opcode == HLO_COPY;
}

static const instruction *behind_bitcasts(const instruction *i) {
  while (keeps_bytes(i)) i = i->operands[0];
  return i;
}

// The one user that is no bitcast, if the value has one user only all the way.
static bool is_read_by_alone(const instruction *i, const instruction *wanted) {
  while (i->users.size == 1 && keeps_bytes(i->users.data[0])) i = i->users.data[0];
  return i->users.size == 1 && i->users.data[0] == wanted;
}

// The parameter that the leaf updates, or null.
static const instruction *updated_parameter(const kernel_leaf *leaf) {
  const instruction *root = behind_bitcasts(leaf->root);
  if (root->opcode != HLO_DYNAMIC_UPDATE_SLICE && root->opcode != HLO_SCATTER) return NULL;
  if (root->opcode == HLO_SCATTER && leaf->element >= root->operand_count / 2) return NULL;
  const instruction *updated = behind_bitcasts(root->operands[leaf->element]);
  if (updated->opcode != HLO_PARAMETER) return NULL;
  if (root->opcode == HLO_DYNAMIC_UPDATE_SLICE && !is_read_by_alone(updated, root)) return NULL;
  return updated;
}

heddle_status in_place_find(arena *a, const instruction *fusion, in_place *out) {
  *out = (in_place){0};
  kernel_leaves leaves = {0};
  const computation *c = fusion->called[0];
  TRY(kernel_leaves_of(a, c->root, &leaves));
  out->must = arena_array(a, in_place_pair, leaves.size);
  for (int k = 0; k < c->parameters.size; k++) c->parameters.data[k]->mark = 0;
  for (int k = 0; k < leaves.size; k++) {
    instruction *p = (instruction *)updated_parameter(&leaves.data[k]);
    if (!p || p->mark) continue;
    p->mark = 1;
    out->must[out->must_count++] = (in_place_pair){k, (int)p->attributes->index};
  }
  return status_ok();
}
