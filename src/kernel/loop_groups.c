// Outputs fall into groups of equal element counts, bitcasts of one index space; slices of one index space are groups
// each, since their elements lie elsewhere in it.
#include "kernel/loop_groups.h"

#include "index/hlo_indexing.h"
#include "kernel/hero_loop.h"

static void add_value(arena *a, loop_group *g, const kernel_output *o) {
  kernel_value v = {.root = o->root, .element = o->element};
  if (!shape_same_dims(g->space, o->shape)) v.map = hlo_indexing_reshape(a, g->space, o->shape);
  vec_push(a, &g->values, v);
}

static void start(arena *a, const kernel_plan *k, loop_groups *out) {
  *out =
      (loop_groups){.group_of = arena_array(a, int, k->output_count), .value_of = arena_array(a, int, k->output_count)};
  for (int n = 0; n < k->output_count; n++) out->group_of[n] = -1;
}

bool loop_groups_by_size(arena *a, const kernel_plan *k, loop_groups *out) {
  start(a, k, out);
  for (int n = 0; n < k->output_count; n++) {
    const kernel_output *o = &k->outputs[n];
    int64_t elements = shape_element_count(o->shape);
    if (elements == 0) continue;
    int g = 0;
    while (g < out->list.size && shape_element_count(out->list.data[g].space) != elements) g++;
    if (g == out->list.size) vec_push(a, &out->list, (loop_group){.space = o->shape});
    out->group_of[n] = g;
    out->value_of[n] = out->list.data[g].values.size;
    add_value(a, &out->list.data[g], o);
  }
  return out->list.size >= 2;
}

static const instruction *slice_behind(const instruction *root) {
  while (root->opcode == HLO_BITCAST) root = root->operands[0];
  return root->opcode == HLO_SLICE ? root : NULL;
}

bool loop_groups_of_slices(arena *a, const kernel_plan *k, loop_groups *out) {
  start(a, k, out);
  const instruction *first = slice_behind(k->outputs[0].root);
  for (int n = 0; n < k->output_count; n++) {
    const kernel_output *o = &k->outputs[n];
    const instruction *slice = slice_behind(o->root);
    if (!slice || !shape_same_dims(slice->operands[0]->shape, first->operands[0]->shape)) return false;
    if (shape_element_count(o->shape) == 0) continue;
    // The loop walks the slice's own dims; a bitcast of the slice is stored through its map.
    loop_group g = {.space = slice->shape, .slice = slice};
    add_value(a, &g, o);
    out->group_of[n] = out->list.size;
    vec_push(a, &out->list, g);
  }
  return out->list.size > 0;
}

kernel_part *loop_groups_parts(arena *a, const loop_groups *groups) {
  kernel_part *parts = arena_array(a, kernel_part, groups->list.size);
  for (int g = 0; g < groups->list.size; g++) {
    const loop_group *group = &groups->list.data[g];
    parts[g] =
        (kernel_part){.index_space = group->space, .result_count = group->values.size, .results = group->values.data};
  }
  return parts;
}

launch_cost loop_groups_cost(const kernel_plan *k, const instruction_list *body, const loop_groups *groups) {
  int64_t elements = 0;
  for (int g = 0; g < groups->list.size; g++) elements += shape_element_count(groups->list.data[g].space);
  return hero_loop_cost(k, body, elements);
}
