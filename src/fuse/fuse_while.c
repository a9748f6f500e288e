// A loop that counts and works element by element is a fusion of its own kind: the while with what its state begins
// with, as far as that is cheap, and as its results the leaves that somebody reads. Whether a kernel can be made of it
// is the hero's to say (kernel/hero_while.h); what it refuses stays a loop of kernels.
#include "fuse/fuse_while.h"

#include "fuse/tile_loops.h"
#include "hlo/body_copy.h"
#include "hlo/builder.h"
#include "hlo/program_order.h"
#include "kernel/kernel.h"
#include "opt/rewrite.h"
#include "opt/while_loop.h"
#include "opt/while_trip_count.h"

typedef struct loop_fusion {
  arena *scratch;
  instruction *loop;
  const target_description *target;
  computation *body;    // of the fusion
  instruction *inside;  // the loop in it
  instruction_list operands;
  ptr_map copies;
  bool is_whole;  // somebody takes the state as one
  bool *is_read;  // leaves of the state, behind the loop
  int *number;    // the fusion's result that the leaf is; -1: it is no result
  int result_count;
  int counter;
  int64_t last;  // value of the counter behind the loop
} loop_fusion;

// --- what is read behind the loop

static bool find_read(loop_fusion *f) {
  const instruction *loop = f->loop;
  bool any = false;
  f->is_whole = loop == loop->parent->root;
  for (int u = 0; u < loop->users.size; u++) f->is_whole |= loop->users.data[u]->opcode != HLO_GET_TUPLE_ELEMENT;
  for (int u = 0; !f->is_whole && u < loop->users.size; u++) f->is_read[loop->users.data[u]->attributes->index] = true;
  for (int k = 0; k < loop->shape->tuple_size; k++) {
    f->number[k] = -1;
    f->is_read[k] |= f->is_whole;
    if (!f->is_read[k] || k == f->counter || while_loop_keeps(loop, k)) continue;
    f->number[k] = f->result_count++;
    any = true;
  }
  return any;
}

// --- the fusion's body

// Constants, also spread: no kernel reads them from memory.
static bool is_constant(const instruction *i) {
  if (i->opcode == HLO_BROADCAST) i = i->operands[0];
  return i->opcode == HLO_CONSTANT && shape_is_scalar(i->shape);
}

static instruction *value_inside(loop_fusion *f, instruction *outside) {
  instruction *known = ptr_map_get(&f->copies, outside);
  if (known) return known;
  if (is_constant(outside)) {
    if (outside->operand_count > 0) value_inside(f, outside->operands[0]);
    body_copy_one(f->scratch, outside, f->body, true, &f->copies);
    return ptr_map_get(&f->copies, outside);
  }
  const int number = f->operands.size;
  str name = str_from(arena_printf(f->scratch, "param_%d." STR_FMT, number, STR_ARG(outside->name)));
  known = computation_add_parameter(f->body, number, name, outside->shape);
  vec_push(f->scratch, &f->operands, outside);
  ptr_map_put(f->scratch, &f->copies, outside, known);
  return known;
}

static heddle_status copy_called(loop_fusion *f, const computation *from, computation **out) {
  computation *c = module_add_computation(f->loop->parent->module, from->name);
  const instruction *parameter = from->parameters.data[0];
  ptr_map copies = {0};
  ptr_map_put(f->scratch, &copies, parameter, computation_add_parameter(c, 0, parameter->name, parameter->shape));
  *out = c;
  TRY(body_copy(f->scratch, from, c, true, &copies));
  computation_set_root(c, ptr_map_get(&copies, from->root));
  return status_ok();
}

static heddle_status make_body(loop_fusion *f) {
  const instruction *loop = f->loop;
  module *m = loop->parent->module;
  const int leaves = loop->shape->tuple_size;
  f->body = module_add_computation(m, str_from(arena_printf(f->scratch, "fused_" STR_FMT, STR_ARG(loop->name))));
  const builder b = {.arena = m->arena, .computation = f->body, .where = loop->where};
  instruction **values = arena_array(f->scratch, instruction *, leaves);
  for (int k = 0; k < leaves; k++) values[k] = value_inside(f, loop->operands[0]->operands[k]);
  instruction *state = builder_tuple(&b, leaves, values);
  instruction *inside = builder_add(&b, HLO_WHILE, loop->shape, 1, &state);
  inside->name = loop->name;
  f->inside = inside;
  computation *called[2];
  inside->attributes = attributes_copy(m->arena, loop->attributes);
  for (int k = 0; k < 2; k++) TRY(copy_called(f, loop->called[k], &called[k]));
  instruction_set_called(inside, 2, called);
  instruction **results = arena_array(f->scratch, instruction *, f->result_count);
  for (int k = 0; k < leaves; k++)
    if (f->number[k] >= 0) results[f->number[k]] = builder_element(&b, inside, k);
  computation_set_root(f->body, f->result_count == 1 ? results[0] : builder_tuple(&b, f->result_count, results));
  return status_ok();
}

static void remove_body(loop_fusion *f) {
  module *m = f->loop->parent->module;
  computation *called[2] = {f->inside->called[0], f->inside->called[1]};
  module_remove_computation(m, f->body);
  for (int k = 0; k < 2; k++) module_remove_computation(m, called[k]);
}

// --- in the place of the loop

static instruction *add_fusion(loop_fusion *f) {
  const builder b = builder_for(f->loop);
  instruction *fusion = builder_add(&b, HLO_FUSION, f->body->root->shape, f->operands.size, f->operands.data);
  fusion->name = str_from(arena_printf(b.arena, "while_" STR_FMT, STR_ARG(fusion->name)));
  fusion->attributes->kind = FUSION_LOOP;
  attributes_mark(fusion->attributes, HLO_ATTRIBUTE_KIND);
  instruction_set_called(fusion, 1, &f->body);
  return fusion;
}

static void replace(loop_fusion *f) {
  const builder b = builder_for(f->loop);
  const int leaves = f->loop->shape->tuple_size;
  instruction **values = arena_array(f->scratch, instruction *, leaves);
  instruction *fusion = add_fusion(f);
  for (int k = 0; k < leaves; k++) {
    const shape *s = f->loop->shape->elements[k];
    values[k] = f->loop->operands[0]->operands[k];
    if (f->number[k] >= 0) values[k] = f->result_count == 1 ? fusion : builder_element(&b, fusion, f->number[k]);
    else if (k == f->counter && f->is_read[k]) values[k] = builder_scalar_int(&b, s->dtype, f->last);
  }
  const instruction_list users = f->loop->users;
  for (int u = 0; u < users.size; u++)
    if (users.data[u]->opcode == HLO_GET_TUPLE_ELEMENT)
      instruction_replace_uses(users.data[u], values[users.data[u]->attributes->index]);
  if (f->is_whole) instruction_replace_uses(f->loop, builder_tuple(&b, leaves, values));
}

static heddle_status fuse_loop(arena *scratch, instruction *loop, const target_description *target) {
  loop_fusion f = {.scratch = scratch, .loop = loop, .target = target};
  int64_t start, step, turns;
  if (!while_loop_is_open(loop) || !while_trip_count(loop, &f.counter, &start, &step, &turns)) return status_ok();
  f.last = start + step * turns;
  f.is_read = arena_array(scratch, bool, loop->shape->tuple_size);
  f.number = arena_array(scratch, int, loop->shape->tuple_size);
  if (!find_read(&f)) return status_ok();
  TRY(make_body(&f));
  kernel_plan *plan = NULL;
  heddle_status s = kernel_plan_create(scratch, f.body, "loop", target, 0, NULL, &plan);
  const bool is_kernel = status_is_ok(s) && plan->hero == HERO_WHILE;
  heddle_status_free(s);
  if (!is_kernel) {
    remove_body(&f);
    return status_ok();
  }
  replace(&f);
  return status_ok();
}

// --- all loops

// Neither ordered by control edges nor kept apart for the sake of memory.
static bool is_free(const instruction *i, const ptr_map *waited_for) {
  return i->opcode == HLO_WHILE && i->control_predecessors.size == 0 && !ptr_map_has(waited_for, i) &&
         !tile_loops_has(i);
}

heddle_status fuse_while_run(arena *scratch, module *m, const target_description *target) {
  program_list sequences = {0};
  if (!kernel_hero_exists(target->kind, HERO_WHILE)) return status_ok();
  program_list_find(scratch, m, &sequences);
  for (int c = 0; c < sequences.size; c++) {
    const instruction_list all = sequences.data[c]->instructions;
    ptr_map waited_for = {0};
    rewrite_find_waited_for(scratch, sequences.data[c], &waited_for);
    for (int k = 0; k < all.size; k++)
      if (is_free(all.data[k], &waited_for)) TRY(fuse_loop(scratch, all.data[k], target));
  }
  return status_ok();
}
