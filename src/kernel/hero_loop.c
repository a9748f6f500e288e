// The loop hero computes every element of the output on its own. It takes every kernel that no other hero takes.
#include "kernel/hero_loop.h"

#include "base/int64.h"
#include "kernel/blocks.h"
#include "kernel/contiguous_dims.h"
#include "kernel/live_values.h"
#include "kernel/work_estimate.h"

enum { GROUPS = 16, MOST_IN_GROUP = 16 };  // groups: a whole number of vectors

// What the kernel reads of a parameter: of one that is only sliced or gathered from, no more than what comes out. The
// row of an array that a step of a loop takes is no more work because the array has many.
static int64_t bytes_read(const instruction *parameter) {
  const int64_t all = kernel_buffer_bytes(parameter->shape);
  int64_t bytes = 0;
  for (int i = 0; i < parameter->users.size; i++) {
    const instruction *user = parameter->users.data[i];
    const bool picks = (user->opcode == HLO_SLICE || user->opcode == HLO_DYNAMIC_SLICE || user->opcode == HLO_GATHER) &&
                       user->operands[0] == parameter;
    bytes += picks ? kernel_buffer_bytes(user->shape) : all;
    if (bytes >= all) return all;
  }
  return parameter->users.size > 0 ? bytes : all;
}

static int64_t moved_bytes(const kernel_plan *k) {
  int64_t bytes = 0, least = 0;
  for (int i = 0; i < k->slice_count; i++) bytes += kernel_buffer_bytes(k->slices[i].shape);
  for (int i = 0; i < k->output_count; i++) least += kernel_buffer_bytes(k->outputs[i].shape);
  for (int i = 0; i < k->input_count; i++) {
    const kernel_input *x = &k->inputs[i];
    if (!k->slices[x->slice].is_written)
      bytes -= kernel_buffer_bytes(k->slices[x->slice].shape) - bytes_read(x->parameter);
  }
  return bytes > least ? bytes : least;
}

// They are moved one by one, so that neighbouring threads meet whole sectors: there are no vectors of them.
static bool has_complex_elements(const kernel_plan *k) {
  for (int i = 0; i < k->slice_count; i++)
    if (dtype_is_complex(k->slices[i].shape->dtype)) return true;
  return false;
}

static bool prevents_vectors(const instruction *i) {
  return i->opcode == HLO_REDUCE_WINDOW || i->opcode == HLO_DOT || i->opcode == HLO_CONVOLUTION ||
         shape_is_tuple(i->shape) || (i->opcode == HLO_CONCATENATE && i->operand_count > 10);
}

static bool walks_in_order(const instruction *i) {
  return hlo_op_has(i->opcode, TRAIT_ELEMENTWISE) || i->opcode == HLO_PARAMETER || i->opcode == HLO_CONSTANT ||
         i->opcode == HLO_BROADCAST || i->opcode == HLO_RESHAPE || i->opcode == HLO_BITCAST || i->opcode == HLO_IOTA ||
         i->opcode == HLO_TUPLE;
}

int hero_loop_widest_bits(const kernel_plan *k, const instruction_list *body, hlo_opcode but) {
  const int64_t elements = shape_element_count(k->outputs[0].shape);
  int bits = 0;
  for (int i = 0; i < body->size; i++)
    if (body->data[i]->opcode != but && !walks_in_order(body->data[i])) return 0;
  for (int i = 0; i < k->slice_count; i++) {
    const shape *s = k->slices[i].shape;
    const bool is_walked = but != HLO_OPCODE_COUNT || shape_element_count(s) >= elements;
    if (s->layout) return 0;
    if (is_walked && dtypes[s->dtype].bits > bits) bits = dtypes[s->dtype].bits;
  }
  return bits;
}

// Rows of the output that operands of fewer elements follow.
static int64_t followed_run(const kernel_plan *k, const instruction_list *body) {
  const shape *s = k->outputs[0].shape;
  for (int i = 0; i < body->size; i++) {
    const instruction *x = body->data[i];
    const bool is_row = x->opcode == HLO_BROADCAST && x->operands[0]->shape->rank > 0;
    if ((is_row || x->opcode == HLO_IOTA) && s->rank > 0) return s->dims[s->rank - 1];
  }
  return 0;
}

launch_cost hero_loop_cost(const kernel_plan *k, const instruction_list *body, int64_t elements) {
  launch_cost cost = {.smallest_output_bits = 64, .prevents_vectors = has_complex_elements(k)};
  cost.bytes = moved_bytes(k) / elements;
  cost.widest_bits = hero_loop_widest_bits(k, body, HLO_OPCODE_COUNT);
  cost.run = followed_run(k, body);
  for (int i = 0; i < k->output_count; i++) {
    int bits = dtypes[k->outputs[i].shape->dtype].bits;
    if (bits < cost.smallest_output_bits) cost.smallest_output_bits = bits;
  }
  for (int i = 0; i < body->size; i++) {
    const instruction *x = body->data[i];
    cost.operations += work_estimate_operations(x);
    cost.code += hlo_op_has(x->opcode, TRAIT_EXPENSIVE) ? WORK_EXPENSIVE : 1;
    cost.prevents_vectors |= prevents_vectors(x);
  }
  arena *scratch = arena_create();
  cost.registers = live_values_registers(scratch, body);
  arena_destroy(scratch);
  return cost;
}

bool hero_loop_prevents_vectors(const instruction_list *body, hlo_opcode but) {
  for (int i = 0; i < body->size; i++)
    if (body->data[i]->opcode != but && prevents_vectors(body->data[i])) return true;
  return false;
}

// One index space for all outputs, counted as it lies in memory.
static bool has_one_space(const kernel_plan *k) {
  for (int i = 0; i < k->output_count; i++) {
    const shape *s = k->outputs[i].shape;
    if (s->layout || !shape_same_dims(s, k->outputs[0].shape)) return false;
  }
  return true;
}

// Tiles of whole groups of the minor dim's elements, if those are few and no power of two (the colours of an image):
// the element of the group is then the same in each iteration of a loop over vectors of whole groups.
static void take_whole_groups(const kernel_plan *k, launch_plan *l) {
  const shape *s = k->outputs[0].shape;
  const int64_t minor = s->rank > 0 ? s->dims[s->rank - 1] : 1, unit = GROUPS * minor;
  if (minor < 3 || minor > MOST_IN_GROUP || (minor & (minor - 1)) == 0 || l->tile < 2 * unit) return;
  int64_t tile = l->tile - l->tile % unit;
  const int64_t bytes = l->tile_bytes / int64_min(l->tile, l->elements);
  for (int64_t t = tile; t > l->tile / 2; t -= unit)
    if (l->elements % t == 0) {
      tile = t;
      break;
    }
  l->tile = tile;
  l->tiles = int64_ceil_div(l->elements, tile);
  l->tile_bytes = bytes * int64_min(tile, l->elements);
}

// The tiles of a block walk the space where it has contiguous dims that a flat loop would break.
static void walk_contiguous_dims(kernel_plan *k, int split, const target_description *target, const launch_cost *cost) {
  hero_loop *h = &k->details.loop;
  h->is_blocked = true;
  h->block = kernel_block_deal(target, k->outputs[0].shape, split, cost, NULL);
  const int64_t open = module_open_count(k->computation->module, h->block.space);
  int64_t pieces = 0;
  if (open > 1 && h->block.rows % open == 0) {
    pieces = launch_open_tile(h->block.rows, open, k->tile_limit, &h->block.rows_per_tile);
    if (h->block.chunk == h->block.contiguous) h->block.tiles = h->block.rows / h->block.rows_per_tile;
  }
  k->launch = kernel_blocks_launch(1, &h->block, cost);
  k->launch.pieces = pieces;
  k->launch.rest_limit = launch_rest_limit(h->block.rows_per_tile, pieces);
  k->reason = "every element on its own, along contiguous dims";
}

// Of tiles for open sizes.
static void divide_open(const kernel_plan *k, launch_plan *l) {
  const int64_t open = module_open_count(k->computation->module, k->outputs[0].shape);
  if (open <= 1) return;
  const int64_t bytes = l->tile_bytes / int64_max(l->tile, 1);
  l->pieces = launch_open_tile(l->elements, open, k->tile_limit, &l->tile);
  l->rest_limit = launch_rest_limit(l->tile, l->pieces);
  l->tiles = int64_ceil_div(l->elements, l->tile);
  l->tile_bytes = bytes * l->tile;
}

static void walk_open_rows(kernel_plan *k, const launch_cost *cost) {
  hero_loop *h = &k->details.loop;
  h->is_blocked = true;
  h->block = kernel_block_of_rows(k->computation->module, k->outputs[0].shape);
  k->launch = kernel_blocks_launch(1, &h->block, cost);
  k->reason = "every element on its own, along rows of open sizes";
}

bool hero_loop_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  (void)a;
  int64_t elements = shape_element_count(k->outputs[0].shape);
  k->reason = "every element on its own";
  if (elements == 0) return true;
  launch_cost cost = hero_loop_cost(k, body, elements);
  k->launch = launch_decide(target, elements, &cost);
  if (target->has_grid) return true;
  if (k->takes_sizes) {
    walk_open_rows(k, &cost);
    return true;
  }
  int split = has_one_space(k) ? contiguous_dims_split(target, body, k->outputs[0].shape) : 0;
  if (split > 0) {
    walk_contiguous_dims(k, split, target, &cost);
  } else {
    if (has_one_space(k)) take_whole_groups(k, &k->launch);
    divide_open(k, &k->launch);
  }
  return true;
}
