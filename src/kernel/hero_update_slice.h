// The update-slice hero is a dynamic-update-slice in place: where an output shares memory with the array that it
// updates, only the window is written.
#ifndef HEDDLE_KERNEL_HERO_UPDATE_SLICE_H_
#define HEDDLE_KERNEL_HERO_UPDATE_SLICE_H_

#include "kernel/blocks.h"

// See hero_rule.
bool hero_update_slice_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

// What the rule has of every kind of target: by output the update, whose windows are of the same dims; null if an
// output is no update in place. If all are, fills in the plan's parts, hero_instruction and reason, and what an element
// costs.
const instruction *const *hero_update_slice_find(arena *a, kernel_plan *k, const instruction_list *body,
                                                 launch_cost *cost);

// Whether a kernel of these leaves can write result leaf `leaf` over parameter `parameter` in place, by this hero: the
// leaf is a dynamic-update-slice of the parameter, and nothing else in the computation reads the parameter, but for
// dynamic slices at the very place that go into the updates elementwise. For buffer assignment.
bool hero_update_slice_in_place(arena *a, const kernel_leaf *leaf, int64_t parameter);

#endif
