// The loop: every element of the output on its own. What no other hero wants ends here.
#include "plan/hero_loop.h"

#include "plan/hero_loops.h"
#include "plan/runs.h"
#include "plan/work_estimate.h"

launch_cost hero_loop_cost(const kernel_plan *k, const instruction_list *body, int64_t elements) {
  launch_cost cost = {.smallest_output_bits = 64};
  int64_t bytes = 0;
  for (int i = 0; i < k->slice_count; i++) bytes += plan_buffer_bytes(k->slices[i].shape);
  cost.bytes = bytes / elements;
  for (int i = 0; i < k->output_count; i++) {
    int bits = dtypes[k->outputs[i].shape->dtype].bits;
    if (bits < cost.smallest_output_bits) cost.smallest_output_bits = bits;
  }
  for (int i = 0; i < body->size; i++) {
    const instruction *x = body->data[i];
    bool is_variadic = shape_is_tuple(x->shape);
    cost.operations += work_operations(x);
    cost.prevents_vectors |= x->opcode == HLO_REDUCE_WINDOW || x->opcode == HLO_DOT || x->opcode == HLO_CONVOLUTION ||
                             is_variadic || (x->opcode == HLO_CONCATENATE && x->operand_count > 10);
  }
  return cost;
}

// One index space for all outputs, counted as it lies in memory.
static bool has_one_space(const kernel_plan *k) {
  for (int i = 0; i < k->output_count; i++) {
    const shape *s = k->outputs[i].shape;
    if (s->layout || !shape_same_dims(s, k->outputs[0].shape)) return false;
  }
  return true;
}

bool hero_loop_takes(arena *a, kernel_plan *k, const instruction_list *body, const plan_target *target) {
  int64_t elements = shape_element_count(k->outputs[0].shape);
  k->reason = "every element on its own";
  if (elements == 0) return true;
  launch_cost cost = hero_loop_cost(k, body, elements);
  k->launch = launch_decide(target, elements, &cost);
  if (target->kind != PLAN_CPU || !has_one_space(k)) return true;
  int split = plan_runs_split(body, k->outputs[0].shape);
  if (split > 0) hero_loops_in_runs(a, k, split, target, &cost);
  return true;
}
