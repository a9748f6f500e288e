// The walk goes against the data flow, breadth first, and stops at values that have memory.
#include "supertile/fuse_groups.h"

static int64_t bytes_of(const instruction *i) {
  int64_t bytes = 0;
  if (shape_is_array(i->shape)) return kernel_buffer_bytes(i->shape);
  for (int k = 0; k < i->shape->tuple_size; k++)
    if (shape_is_array(i->shape->elements[k])) bytes += kernel_buffer_bytes(i->shape->elements[k]);
  return bytes;
}

static bool is_input(const fuse_groups *g, const instruction *i) {
  return i->opcode == HLO_PARAMETER || i->opcode == HLO_CONSTANT || i->opcode == HLO_GET_TUPLE_ELEMENT ||
         plan_steps_stored(g->steps, i) != NULL;
}

static void add_member(fuse_groups *g, const instruction *i, int id) {
  fuse_group_ids *ids = ptr_map_get(&g->fuse_group, i);
  if (!ids) {
    ids = arena_new(g->arena, fuse_group_ids);
    ptr_map_put(g->arena, &g->fuse_group, i, ids);
  }
  vec_push(g->arena, ids, id);
}

void fuse_groups_mark_backward(fuse_groups *g, instruction *output) {
  const int id = g->count++;
  instruction_list work = {0};
  ptr_map seen = {0};
  ptr_map_put(g->arena, &g->fuse_group_id, output, (void *)(intptr_t)(id + 1));  // NOLINT(performance-no-int-to-ptr)
  vec_push(g->arena, &g->inputs, 0);
  vec_push(g->arena, &work, output);
  ptr_map_put(g->arena, &seen, output, g);
  for (int at = 0; at < work.size; at++) {
    const instruction *i = work.data[at];
    add_member(g, i, id);
    for (int k = 0; k < i->operand_count; k++) {
      instruction *x = i->operands[k];
      if (ptr_map_has(&seen, x)) continue;
      ptr_map_put(g->arena, &seen, x, g);
      if (is_input(g, x)) g->inputs.data[id] += bytes_of(x);
      else vec_push(g->arena, &work, x);
    }
  }
}

void fuse_groups_mark(arena *a, const plan_steps *steps, fuse_groups *out) {
  *out = (fuse_groups){.arena = a, .steps = steps};
  for (int k = 0; k < steps->steps.size; k++) {
    instruction *bottom = steps->steps.data[k].bottom;
    if (bottom && !ptr_map_has(&out->fuse_group_id, bottom)) fuse_groups_mark_backward(out, bottom);
  }
}

int64_t fuse_groups_operation_data_size(const fuse_groups *g, const instruction *i) {
  const intptr_t id = (intptr_t)ptr_map_get(&g->fuse_group_id, i);
  return id ? g->inputs.data[id - 1] + bytes_of(i) : 0;
}

void fuse_groups_print(text *out, const fuse_groups *g, const instruction *bottom) {
  const intptr_t id = (intptr_t)ptr_map_get(&g->fuse_group_id, bottom);
  if (!id) return;
  instruction_list work = {0};
  ptr_map seen = {0};
  text_printf(out, "  group %d:", (int)id - 1);
  vec_push(g->arena, &work, (instruction *)bottom);
  for (int at = 0; at < work.size; at++) {
    const instruction *i = work.data[at];
    text_printf(out, "%s " STR_FMT, at ? "," : "", STR_ARG(i->name));
    const fuse_group_ids *own = ptr_map_get(&g->fuse_group, i);
    if (own && own->size > 1) text_printf(out, " (of %d groups)", own->size);
    for (int k = 0; k < i->operand_count; k++) {
      instruction *x = i->operands[k];
      if (ptr_map_has(&seen, x) || is_input(g, x)) continue;
      ptr_map_put(g->arena, &seen, x, out);
      vec_push(g->arena, &work, x);
    }
  }
  text_printf(out, "; %lld bytes\n", (long long)fuse_groups_operation_data_size(g, bottom));
}
