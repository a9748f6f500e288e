// Decides when a dynamic-update-slice is done in place.
#include "kernel/hero_update_slice.h"

#include "base/map.h"
#include "kernel/hero_loop.h"
#include "kernel/open_form.h"
#include "kernel/same_bytes.h"

// The array that an update's target is, seen through bitcasts.
static const instruction *target_of(const instruction *slice) { return same_bytes_origin(slice->operands[0]); }

static bool is_update(const instruction *i) {
  return i->opcode == HLO_DYNAMIC_UPDATE_SLICE && i->operand_count == 2 + i->shape->rank && i->shape->rank > 0;
}

// The update whose window is all that the output has to store; null if there is none.
static const instruction *in_place_update(const kernel_plan *k, const kernel_output *o) {
  const instruction *slice = same_bytes_origin(o->root);
  if (!is_update(slice) || slice->shape->dtype != o->shape->dtype) return NULL;
  int n = kernel_plan_input(k, target_of(slice));
  return n >= 0 && k->inputs[n].slice == o->slice ? slice : NULL;
}

static kernel_part starts_part(arena *a, const instruction *slice) {
  int rank = slice->shape->rank;
  kernel_value *starts = arena_array(a, kernel_value, rank);
  for (int d = 0; d < rank; d++) starts[d] = (kernel_value){.root = slice->operands[2 + d]};
  return (kernel_part){.index_space = slice->operands[2]->shape, .result_count = rank, .results = starts};
}

static launch_cost window_cost(const kernel_plan *k, const instruction_list *body, const shape *update) {
  int64_t elements = shape_element_count(update);
  launch_cost cost = hero_loop_cost(k, body, elements > 0 ? elements : 1);
  // The arrays updated count with their windows only.
  cost.bytes = 0;
  for (int n = 0; n < k->output_count; n++) cost.bytes += 2 * dtypes[k->outputs[n].shape->dtype].bytes;
  return cost;
}

const instruction *const *hero_update_slice_find(arena *a, kernel_plan *k, const instruction_list *body,
                                                 launch_cost *cost) {
  const instruction **slices = arena_array(a, const instruction *, k->output_count);
  kernel_value *updates = arena_array(a, kernel_value, k->output_count);
  kernel_part *parts = arena_array(a, kernel_part, k->output_count + 1);
  for (int n = 0; n < k->output_count; n++) {
    slices[n] = in_place_update(k, &k->outputs[n]);
    if (!slices[n] || !shape_same_dims(slices[n]->operands[1]->shape, slices[0]->operands[1]->shape)) return NULL;
    updates[n] = (kernel_value){.root = slices[n]->operands[1]};
    parts[1 + n] = starts_part(a, slices[n]);
  }
  const shape *update = slices[0]->operands[1]->shape;
  parts[0] = (kernel_part){.index_space = update, .result_count = k->output_count, .results = updates};
  *cost = window_cost(k, body, update);
  k->hero_instruction = slices[0];
  k->reason = "writes the window only: the output takes over its operand's memory";
  k->part_count = k->output_count + 1;
  k->parts = parts;
  return slices;
}

bool hero_update_slice_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  launch_cost cost;
  const instruction *const *slices = hero_update_slice_find(a, k, body, &cost);
  if (!slices) return false;
  const shape *update = slices[0]->operands[1]->shape;
  const int split = kernel_block_split_copy(target, update, slices[0]->shape);
  const bool is_open = k->takes_sizes && open_form_last_dim(k->computation->module, update) >= 0;
  const kernel_block block = is_open ? kernel_block_of_rows(k->computation->module, update)
                                     : kernel_block_deal(target, update, split, &cost, NULL);
  k->details.update_slice = (hero_update_slice){.block = block, .slices = slices};
  k->launch = kernel_blocks_launch(1, &block, &cost);
  return true;
}

// --- for buffer assignment

static bool is_elementwise(const instruction *i) {
  if (hlo_ops[i->opcode].index_rule != INDEX_RULE_ELEMENTWISE) return false;
  for (int n = 0; n < i->operand_count; n++)
    if (!shape_same_dims(i->operands[n]->shape, i->shape)) return false;
  return true;
}

// Reads exactly what `slice` overwrites.
static bool reads_window(const instruction *i, const instruction *slice) {
  if (i->opcode != HLO_DYNAMIC_SLICE || i->operand_count != 1 + slice->shape->rank) return false;
  if (same_bytes_origin(i->operands[0]) != target_of(slice)) return false;
  if (!shape_same_dims(i->operands[0]->shape, slice->shape)) return false;
  if (!shape_same_dims(i->shape, slice->operands[1]->shape)) return false;
  for (int d = 0; d < slice->shape->rank; d++)
    if (i->operands[1 + d] != slice->operands[2 + d]) return false;
  return true;
}

typedef enum reach { UNTOUCHED, WHOLE, WINDOW } reach;  // what of the parameter's old value an instruction carries

typedef struct follower {
  const instruction *slice;
  ptr_map reached;  // instruction -> reach, by the pointer's value
} follower;

static reach reach_of(const follower *f, const instruction *i) { return (reach)(intptr_t)ptr_map_get(&f->reached, i); }

// What `i` makes of the parameter's value; false if that cannot be done in place.
static bool follow(const follower *f, const instruction *i, reach *out) {
  reach most = UNTOUCHED;
  for (int n = 0; n < i->operand_count; n++) {
    reach r = reach_of(f, i->operands[n]);
    if (r == UNTOUCHED) continue;
    if (i == f->slice && ((n == 0 && r == WHOLE) || (n == 1 && r == WINDOW))) continue;
    if (r == WHOLE && n == 0 && same_bytes_origin(i) != i) most = WHOLE;
    else if (r == WHOLE && n == 0 && reads_window(i, f->slice)) most = WINDOW;
    else if (r == WINDOW && most != WHOLE && is_elementwise(i)) most = WINDOW;
    else return false;
  }
  *out = most;
  return true;
}

// From the parameter on, users after what they use. Only what the old value reaches is visited.
static bool follow_users(arena *a, follower *f, instruction *parameter) {
  instruction_list work = {0};
  ptr_map_put(a, &f->reached, parameter, (void *)(intptr_t)WHOLE);
  vec_push(a, &work, parameter);
  while (work.size > 0) {
    const instruction *i = vec_pop(&work);
    for (int u = 0; u < i->users.size; u++) {
      instruction *user = i->users.data[u];
      reach r = UNTOUCHED;
      // A result that carries old values would be stored when others have been written.
      if (user->opcode == HLO_TUPLE || user == user->parent->root) {
        if (user != f->slice && same_bytes_origin(user) != f->slice) return false;
      }
      if (!follow(f, user, &r)) return false;
      if (r == UNTOUCHED || r == reach_of(f, user)) continue;
      ptr_map_put(a, &f->reached, user, (void *)(intptr_t)r);
      vec_push(a, &work, user);
    }
  }
  return true;
}

bool hero_update_slice_in_place(arena *a, const kernel_leaf *leaf, int64_t parameter) {
  const instruction *slice = same_bytes_origin(leaf->root);
  if (!is_update(slice)) return false;
  const instruction *target = target_of(slice);
  if (target->opcode != HLO_PARAMETER || target->attributes->index != parameter) return false;
  follower f = {.slice = slice};
  return follow_users(a, &f, (instruction *)target);
}
