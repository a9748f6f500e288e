// Decides when a kernel is a transpose, and what its tiles are.
#include "kernel/hero_transpose.h"

#include "base/int64.h"
#include "kernel/hero_loop.h"
#include "kernel/transpose_sides.h"

// Elements of fewer bytes are narrow.
enum { WIDE_BYTES = 4 };

// --- heroes

static void find_groups(arena *a, hero_transpose *h) {
  int *groups = arena_array(a, int, h->hero_count);
  h->group_count = transpose_sides_groups(h->hero_count, h->heroes, groups);
  h->groups = groups;
}

static void make_maps(arena *a, const transpose_sides *s, hero_transpose *h) {
  const indexing_map **to_operand = arena_array(a, const indexing_map *, h->group_count);
  for (int n = 0; n < h->hero_count; n++)
    if (!to_operand[h->groups[n]]) to_operand[h->groups[n]] = transpose_sides_to_operand(a, s, h->heroes[n]);
  h->to_operand = to_operand;
  h->to_result = transpose_sides_to_result(a, s, h->heroes[0]);
}

static void find_direct(arena *a, const kernel_plan *k, hero_transpose *h) {
  int *inputs = arena_array(a, int, h->hero_count), *outputs = arena_array(a, int, h->hero_count);
  // Every output is a hero as it is, or all go through the epilogue.
  bool is_plain = k->output_count == h->hero_count;
  for (int n = 0; n < h->hero_count; n++) {
    bool has_large_elements = dtypes[h->heroes[n]->shape->dtype].bytes >= WIDE_BYTES;
    inputs[n] = has_large_elements ? kernel_plan_input(k, h->heroes[n]->operands[0]) : -1;
    outputs[n] = -1;
    for (int o = 0; o < k->output_count; o++)
      if (k->outputs[o].root == h->heroes[n]) outputs[n] = o;
    is_plain &= outputs[n] >= 0 && has_large_elements;
  }
  for (int n = 0; n < h->hero_count; n++)
    if (!is_plain) outputs[n] = -1;
  h->direct_inputs = inputs;
  h->direct_outputs = outputs;
}

// --- blocks

static bool fits_registers(const hero_transpose *h) {
  for (int n = 0; n < h->hero_count; n++)
    if (dtype_is_complex(h->heroes[n]->shape->dtype)) return false;
  return true;
}

// Elements narrower than a byte have bytes of their own in buffers.
static register_block block_of(const target_description *target, dtype t) {
  const target_tile_sizes *sizes = &target->tiles;
  const int bits = dtypes[t].bits < 8 ? 8 : dtypes[t].bits, register_bytes = target->vector_bits / 8;
  register_block b = {.chunk = sizes->shuffle_bytes * 8 / bits,
                      .lanes = sizes->transpose_vector_bytes / sizes->shuffle_bytes};
  // Narrow elements take many vectors at a time: those must be registers.
  while (b.lanes > 1 && b.chunk * (b.lanes * sizes->shuffle_bytes / register_bytes) > target->vector_registers / 2)
    b.lanes /= 2;
  return b;
}

// A short side is made of whole blocks if shorter ones do that: what is left over would go through buffers.
static void shorten(register_block *block, int64_t size) {
  register_block b = *block;
  while (b.lanes > 1 && size % ((int64_t)b.chunk * b.lanes) != 0) b.lanes /= 2;
  if (size % ((int64_t)b.chunk * b.lanes) == 0) *block = b;
}

static void choose_blocks(arena *a, hero_transpose *h, const target_description *target) {
  register_block *blocks = arena_array(a, register_block, h->hero_count);
  h->in_registers = fits_registers(h);
  if (!h->in_registers) return;
  for (int n = 0; n < h->hero_count; n++) {
    const dtype t = h->heroes[n]->shape->dtype;
    blocks[n] = block_of(target, t);
    if (dtypes[t].bytes >= WIDE_BYTES && h->b <= target->tiles.transpose_side) shorten(&blocks[n], h->b);
  }
  h->blocks = blocks;
}

// --- tiles

static int64_t dividing_side(int64_t unit, int64_t axis_size, int64_t wanted) {
  for (int64_t s = wanted / unit * unit; s > 0 && s >= wanted / 2; s -= unit)
    if (axis_size % s == 0) return s;
  return 0;
}

// A multiple of `unit`, about `wanted`: a side that divides the axis evenly if there is one, one of whole lines before
// others, else chunks of about equal size.
static int64_t side_of(const target_tile_sizes *sizes, int64_t unit, int64_t axis_size, int64_t wanted) {
  if (axis_size <= wanted) return int64_round_up(axis_size, unit);
  const int64_t long_unit = int64_max(unit, sizes->transpose_unit);
  int64_t side = dividing_side(long_unit, axis_size, wanted);
  if (!side) side = dividing_side(unit, axis_size, wanted);
  return side ? side : int64_round_up(int64_ceil_div(axis_size, int64_ceil_div(axis_size, wanted)), long_unit);
}

static int widest_bytes(const hero_transpose *h) {
  int widest = 1;
  for (int n = 0; n < h->hero_count; n++) {
    int bytes = dtypes[h->heroes[n]->shape->dtype].bytes;
    if (bytes > widest) widest = bytes;
  }
  return widest;
}

// What sides of tiles are multiples of. All blocks' sides are powers of two.
static void find_units(const hero_transpose *h, const target_tile_sizes *sizes, int64_t *unit_a, int64_t *unit_b) {
  *unit_a = *unit_b = h->in_registers ? 1 : sizes->transpose_unit;
  for (int n = 0; n < h->hero_count && h->in_registers; n++) {
    *unit_a = int64_max(*unit_a, h->blocks[n].chunk);
    *unit_b = int64_max(*unit_b, (int64_t)h->blocks[n].chunk * h->blocks[n].lanes);
  }
}

static void choose_tiles(hero_transpose *h, const target_tile_sizes *sizes) {
  const int bytes = widest_bytes(h);
  int64_t side = bytes < WIDE_BYTES ? sizes->transpose_narrow_side_bytes / bytes : sizes->transpose_side;
  int64_t area = bytes < WIDE_BYTES ? sizes->transpose_narrow_area : sizes->transpose_area, unit_a, unit_b;
  find_units(h, sizes, &unit_a, &unit_b);
  h->tile_a = side_of(sizes, unit_a, h->a, side);
  h->tile_b = side_of(sizes, unit_b, h->b, area / h->tile_a);
  if (h->tile_b * side < area) h->tile_a = side_of(sizes, unit_a, h->a, area / h->tile_b);
  h->tiles_a = int64_ceil_div(h->a, h->tile_a);
  h->tiles_b = int64_ceil_div(h->b, h->tile_b);
}

// A tile is as long along an open axis as all of its sizes are a multiple of. False if they are none.
static bool choose_open_tiles(const kernel_plan *k, hero_transpose *h, const target_tile_sizes *sizes) {
  const module *m = k->computation->module;
  const bool is_open_a = h->a >= m->open_from, is_open_b = h->b >= m->open_from;
  int64_t unit_a, unit_b;
  find_units(h, sizes, &unit_a, &unit_b);
  h->tile_a = is_open_a ? m->open_multiple : side_of(sizes, unit_a, h->a, sizes->transpose_side);
  h->tile_b = is_open_b ? m->open_multiple : side_of(sizes, unit_b, h->b, sizes->transpose_side);
  h->tiles_a = int64_ceil_div(h->a, h->tile_a);
  h->tiles_b = int64_ceil_div(h->b, h->tile_b);
  return (!is_open_a || h->a % h->tile_a == 0) && (!is_open_b || h->b % h->tile_b == 0) && h->tile_a % unit_a == 0 &&
         h->tile_b % unit_b == 0;
}

// Whether tiles write bytes of their own: elements that share bytes fill whole ones along `b`.
static bool fills_bytes(const kernel_plan *k, const hero_transpose *h) {
  for (int n = 0; n < k->output_count; n++) {
    const int bits = dtypes[k->outputs[n].shape->dtype].bits;
    if (bits < 8 && h->b % (8 / bits) != 0) return false;
  }
  return true;
}

int64_t hero_transpose_output_bytes(const kernel_plan *k) {
  int64_t bytes = 0;
  for (int n = 0; n < k->output_count; n++) bytes += kernel_buffer_bytes(k->outputs[n].shape);
  return bytes;
}

// Whether rows of results are whole lines, each of which one vector fills: lines that are written in parts make memory
// slower past the caches than through them.
static bool fills_lines(const hero_transpose *h, const target_tile_sizes *sizes) {
  for (int n = 0; n < h->hero_count && h->in_registers; n++) {
    const int64_t bytes = dtypes[h->heroes[n]->shape->dtype].bytes;
    const int64_t vector = h->blocks[n].chunk * h->blocks[n].lanes * bytes;
    if (vector % sizes->transpose_vector_bytes != 0 || h->b * bytes % vector != 0) return false;
  }
  return h->in_registers;
}

// --- the kernel

static void make_parts(arena *a, kernel_plan *k, const hero_transpose *h) {
  kernel_part *parts = arena_array(a, kernel_part, h->group_count + 1);
  for (int g = 0; g < h->group_count; g++) {
    kernel_value *operands = arena_array(a, kernel_value, h->hero_count);
    int count = 0;
    for (int n = 0; n < h->hero_count; n++)
      if (h->groups[n] == g) operands[count++] = (kernel_value){.root = h->heroes[n]->operands[0]};
    parts[g] = (kernel_part){.index_space = operands[0].root->shape, .result_count = count, .results = operands};
  }
  parts[h->group_count] = h->epilogue.part;
  k->parts = parts;
  k->part_count = h->group_count + 1;
}

static bool turns_memory(arena *a, hero_transpose *h, const target_description *target) {
  transpose_sides s;
  if (!transpose_sides_find(target, h->hero_count, h->heroes, &s)) return false;
  h->a = s.a.size;
  h->b = s.b.size;
  h->batches = shape_element_count(h->heroes[0]->shape) / h->a / h->b;
  find_groups(a, h);
  make_maps(a, &s, h);
  return true;
}

bool hero_transpose_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  instruction_list heroes = {0};
  kernel_epilogue_heroes(a, target, body, HLO_TRANSPOSE, transpose_sides_alike, &heroes);
  if (heroes.size == 0 || shape_element_count(heroes.data[0]->shape) == 0) return false;
  k->details.transpose = (hero_transpose){0};
  hero_transpose *h = &k->details.transpose;
  h->heroes = (const instruction *const *)heroes.data;
  h->hero_count = heroes.size;
  if (!turns_memory(a, h, target)) {
    // What is alike in pairs has not always sides for all of them.
    h->hero_count = transpose_sides_keep_same_order(&heroes);
    if (!turns_memory(a, h, target)) return false;
  }
  if (!fills_bytes(k, h) || !kernel_epilogue_find(a, k, body, h->hero_count, h->heroes, &h->epilogue)) return false;
  choose_blocks(a, h, target);
  if (!k->takes_sizes) choose_tiles(h, &target->tiles);
  else if (!choose_open_tiles(k, h, &target->tiles)) return false;
  find_direct(a, k, h);
  h->streams = fills_lines(h, &target->tiles) &&
               (k->takes_sizes ? k->computation->module->open_is_large
                               : hero_transpose_output_bytes(k) >= target->tiles.transpose_stream_bytes);
  k->hero_instruction = heroes.data[0];
  k->reason = "through tiles, so that reads and writes are both contiguous";
  make_parts(a, k, h);
  int64_t elements = h->batches * h->a * h->b, area = h->tile_a * h->tile_b;
  launch_cost cost = hero_loop_cost(k, body, elements);
  k->launch = (launch_plan){.elements = elements, .tile = area, .tiles = h->batches * h->tiles_a * h->tiles_b};
  k->launch.tile_bytes = area * (cost.bytes > 0 ? cost.bytes : 1);
  return true;
}
