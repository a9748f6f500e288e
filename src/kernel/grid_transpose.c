// Decides when a kernel on a grid is a transpose through shared memory, and what its tiles are.
//
// A warp's 32 accesses meet in as few transactions as there are sectors under them, so both the operand and the result
// have to be walked along their own innermost axes. A tile is as many accesses long either way; where an axis is short
// the tile is longer the other way, and threads are dealt out over its rows as they follow each other in memory. Where
// rows of batches follow each other in memory, a tile has several batches, if that makes them whole sectors.
#include "kernel/grid_transpose.h"

#include "base/int64.h"
#include "index/hlo_indexing.h"
#include "kernel/epilogue.h"
#include "kernel/grid_transpose_lines.h"
#include "kernel/transpose_sides.h"

typedef struct planning {
  arena *arena;
  kernel_plan *kernel;
  const target_description *target;
  const target_grid_sizes *sizes;
  hero_grid_transpose *hero;
  transpose_sides sides;
  int bytes, bits;  // of the widest hero's elements: in shared memory, in memory
} planning;

// Elements that share bytes in memory have bytes of their own in a tile.
static int bytes_in_tile(const instruction *hero) {
  const int bits = dtypes[hero->shape->dtype].bits;
  return bits < 8 ? 1 : bits / 8;
}

// --- tiles

static int64_t shared_bytes(const planning *p) {
  const hero_grid_transpose *h = p->hero;
  const int64_t lines = h->tile_batches * h->tile_b / h->rows_per_line;
  const int64_t elements = lines * (h->rows_per_line * h->tile_a + h->pad) * h->kept;
  int64_t bytes = 0;
  for (int n = 0; n < h->hero_count; n++)
    bytes += int64_round_up(elements * bytes_in_tile(h->heroes[n]), p->target->shared_alignment);
  return bytes;
}

static bool fits(const planning *p) {
  grid_transpose_lines_choose(p->sizes, p->bytes, p->hero);
  return shared_bytes(p) <= int64_min(p->target->shared_bytes, p->sizes->static_shared_bytes);
}

static int64_t block_count(const hero_grid_transpose *h) {
  return int64_ceil_div(h->batches, h->tile_batches) * int64_ceil_div(h->a, h->tile_a) *
         int64_ceil_div(h->b, h->tile_b);
}

// Smaller tiles keep more threads busy.
static bool has_enough_blocks(const planning *p) {
  return block_count(p->hero) >= (int64_t)p->target->cores * p->sizes->tiles_per_core;
}

// As many accesses as a warp has threads; short sides as they are, the tile then longer the other way, or over batches.
static void size_tile(const planning *p) {
  hero_grid_transpose *h = p->hero;
  const int64_t side = p->sizes->transpose_side, area = p->sizes->transpose_area;
  const int64_t unit_a = side * int64_ceil_div(h->lanes_in, h->kept);
  const int64_t unit_b = side * int64_ceil_div(h->lanes_out, h->kept);
  const bool a_is_short = h->a < p->sides.limits.short_side, b_is_short = h->b < p->sides.limits.short_side;
  h->tile_batches = 1;
  h->tile_a = a_is_short ? h->a : unit_a;
  h->tile_b = b_is_short ? h->b : unit_b;
  if (a_is_short && b_is_short) {
    h->tile_batches = int64_min(h->batches, int64_max(area / (h->a * h->b), 1));
  } else if (a_is_short) {
    h->tile_b = int64_min(int64_max(area / h->a / unit_b, 1) * unit_b, int64_round_up(h->b, unit_b));
  } else if (b_is_short) {
    h->tile_a = int64_min(int64_max(area / h->b / unit_a, 1) * unit_a, int64_round_up(h->a, unit_a));
  }
}

// Several elements at once, both ways, if both sides keep enough threads busy so, and there are enough tiles.
static bool packs(const planning *p) {
  hero_grid_transpose *h = p->hero;
  if (h->kept > 1) return false;
  for (int64_t lanes = p->sizes->access_bytes / p->bytes; lanes > 1; lanes /= 2) {
    h->lanes_in = h->lanes_out = lanes;
    h->is_packed = true;
    size_tile(p);
    const int64_t least = int64_max(p->sizes->min_packed_threads * lanes, p->sides.limits.short_side);
    if (h->a % lanes == 0 && h->b % lanes == 0 && h->a >= least && h->b >= least && has_enough_blocks(p) && fits(p))
      return true;
  }
  h->is_packed = false;
  return false;
}

static int64_t lanes_along(const planning *p, int64_t side) {
  const int64_t row = side * p->hero->kept;
  int64_t lanes = int64_max(p->sizes->access_bytes / p->bytes, 1);
  while (lanes > 1 &&
         (row % lanes != 0 || (side >= p->sides.limits.short_side && row < p->sizes->min_packed_threads * lanes)))
    lanes /= 2;
  return lanes;
}

static bool has_part_bytes(const planning *p) {
  for (int n = 0; n < p->kernel->output_count; n++)
    if (dtypes[p->kernel->outputs[n].shape->dtype].bits < 8) return true;
  return false;
}

static void halve_lanes(const planning *p) {
  hero_grid_transpose *h = p->hero;
  h->lanes_in = int64_max(h->lanes_in / 2, 1);
  h->lanes_out = int64_max(h->lanes_out / 2, 1);
  size_tile(p);
}

// --- tiles of whole rows

// Rows of the side end within a sector of memory.
static bool is_uneven(const planning *p, int64_t side) {
  return side * p->hero->kept * p->bits % (8 * p->sizes->sector_bytes) != 0;
}

// Elements of whole rows that a thread moves at once, though rows may end between them: a tile has `rows` of them, and
// as many as the axis is long follow each other in memory.
static int64_t lanes_of_run(const planning *p, int64_t side, int64_t rows, int axis) {
  const int64_t row = side * p->hero->kept, all = p->sides.axes[axis].size;
  int64_t lanes = int64_max(p->sizes->access_bytes / p->bytes, 1);
  while (lanes > 1 && (rows * row % lanes != 0 || all * row % lanes != 0)) lanes /= 2;
  return lanes;
}

// Where a tile's rows follow each other in memory: whole ones are one run. In half the memory, so that blocks run side
// by side, and with enough blocks; unless rows share bytes, which only runs of them fill.
static bool takes_rows(const planning *p) {
  hero_grid_transpose *h = p->hero;
  const bool wants_a = is_uneven(p, h->a), wants_b = is_uneven(p, h->b), shares_bytes = has_part_bytes(p);
  const int last = p->sides.axis_count - 1;
  if ((!wants_a && !wants_b) || !transpose_sides_share_rows(&p->sides, h->hero_count, h->heroes)) return false;
  for (int both = wants_a && wants_b; both >= 0; both--) {
    h->lanes_in = lanes_along(p, h->a);
    h->lanes_out = lanes_along(p, h->b);
    size_tile(p);
    if (both || (wants_a && (!wants_b || h->a <= h->b))) h->tile_a = h->a;
    if (both || (wants_b && (!wants_a || h->b < h->a))) h->tile_b = h->b;
    if (h->tile_a == h->a && h->tile_b == h->b)
      h->tile_batches = int64_clamp(1, p->sizes->transpose_area / (h->a * h->b), h->batches);
    if (h->tile_a == h->a) h->lanes_in = lanes_of_run(p, h->a, h->tile_b, last);
    if (h->tile_b == h->b) h->lanes_out = lanes_of_run(p, h->b, h->tile_a, p->sides.order[last]);
    if (!fits(p)) continue;
    if (shares_bytes || (2 * shared_bytes(p) <= p->sizes->static_shared_bytes && has_enough_blocks(p))) return true;
  }
  return false;
}

// --- tiles of several batches

// Or rows are no longer than a warp.
static bool wants_batches(const planning *p, int64_t side) {
  return is_uneven(p, side) || side < p->sides.limits.short_side;
}

// So many batches that their rows fill whole sectors.
static int64_t batches_in_sectors(const planning *p, int64_t side) {
  const int64_t sector = p->sizes->sector_bytes;
  return sector / int64_gcd(sector, side * p->hero->kept * p->bytes);
}

// Whether the rows of an innermost batch axis' batches are whole sectors, all together.
static bool batches_fill_sectors(const planning *p, int64_t side) {
  const int64_t batches = p->sides.axes[p->sides.axis_count - p->sides.b.count - 1].size;
  return batches * side * p->hero->kept * p->bytes % p->sizes->sector_bytes == 0;
}

// Where rows of neighbouring batches follow each other in memory: whole rows of several batches, that begin and end
// with sectors of memory although the rows do not. Short rows that never do keep more threads busy so.
static bool takes_batches(const planning *p) {
  hero_grid_transpose *h = p->hero;
  const bool wants_a = wants_batches(p, h->a), wants_b = wants_batches(p, h->b);
  const bool is_short = h->a < p->sides.limits.short_side && h->b < p->sides.limits.short_side;
  if ((!wants_a && !wants_b) || !transpose_sides_share_batches(&p->sides, h->hero_count, h->heroes)) return false;
  if (!is_short && (!batches_fill_sectors(p, h->a) || !batches_fill_sectors(p, h->b))) return false;
  h->lanes_in = lanes_along(p, h->a);
  h->lanes_out = lanes_along(p, h->b);
  size_tile(p);
  if (wants_a) h->tile_a = h->a;
  if (wants_b) h->tile_b = h->b;
  const int64_t least = int64_max(batches_in_sectors(p, h->a), batches_in_sectors(p, h->b));
  h->tile_batches = int64_max(p->sizes->transpose_area / (h->tile_a * h->tile_b) / least, 1) * least;
  h->batches_in_rows = true;
  while (h->tile_batches > least && !has_enough_blocks(p)) h->tile_batches -= least;
  while (h->tile_batches > 2 && !fits(p)) h->tile_batches /= 2;
  if (fits(p) && (is_short || has_enough_blocks(p))) return true;
  h->batches_in_rows = false;
  return false;
}

// False if not even small tiles fit.
static bool choose_tile(const planning *p) {
  hero_grid_transpose *h = p->hero;
  if (packs(p) || takes_batches(p) || takes_rows(p)) return true;
  h->lanes_in = lanes_along(p, h->a);
  h->lanes_out = lanes_along(p, h->b);
  size_tile(p);
  while (!has_part_bytes(p) && !has_enough_blocks(p) && h->lanes_in * h->lanes_out > 1) halve_lanes(p);
  while (!fits(p) && h->lanes_in * h->lanes_out > 1) halve_lanes(p);
  while (!fits(p)) {
    int64_t *longest = h->tile_a > h->tile_b ? &h->tile_a : &h->tile_b;
    if (h->tile_batches > 1) longest = &h->tile_batches;
    else if (*longest <= p->sides.limits.short_side / 2 || *longest % 2 != 0) return false;
    *longest /= 2;
  }
  return true;
}

// --- what lies in shared memory

// Packed elements are turned as integers.
static dtype dtype_in_tile(const hero_grid_transpose *h, dtype t) {
  if (dtypes[t].bits < 8) return DTYPE_U8;
  if (!h->is_packed) return t;
  return dtypes[t].bits == 8 ? DTYPE_U8 : DTYPE_U16;
}

static grid_transpose_tile tile_of(const planning *p, int hero, int group) {
  const hero_grid_transpose *h = p->hero;
  transpose_label labels[SHAPE_MAX_RANK];
  int64_t dims[SHAPE_MAX_RANK];
  grid_transpose_tile t = {.group = group, .batch_dim = -1, .row_dim = -1};
  int count = transpose_sides_labels(&p->sides, h->heroes[hero], labels);
  if (h->batches_in_rows) {
    labels[0] = TRANSPOSE_BATCH;
    labels[1] = TRANSPOSE_B;
    labels[2] = TRANSPOSE_A;
    count = 3;
  }
  for (int d = 0; d < count; d++) {
    dims[d] = labels[d] == TRANSPOSE_A ? h->rows_per_line * h->tile_a + h->pad : 1;
    if (labels[d] == TRANSPOSE_BATCH && t.batch_dim < 0) {
      dims[d] = h->tile_batches;
      t.batch_dim = d;
    }
    if (labels[d] != TRANSPOSE_B || t.row_dim >= 0) continue;
    dims[d] = h->tile_b / h->rows_per_line;
    t.row_dim = d;
  }
  dims[count] = h->kept;
  t.shape = shape_array(p->arena, dtype_in_tile(h, h->heroes[hero]->shape->dtype), count + (h->kept > 1), dims);
  return t;
}

static void find_groups(const planning *p) {
  hero_grid_transpose *h = p->hero;
  int *groups = arena_array(p->arena, int, h->hero_count);
  grid_transpose_tile *tiles = arena_array(p->arena, grid_transpose_tile, h->hero_count);
  h->group_count = transpose_sides_groups(h->hero_count, h->heroes, groups);
  const indexing_map **to_operand = arena_array(p->arena, const indexing_map *, h->group_count);
  for (int n = 0; n < h->hero_count; n++) {
    tiles[n] = tile_of(p, n, groups[n]);
    if (!to_operand[groups[n]]) to_operand[groups[n]] = transpose_sides_to_operand(p->arena, &p->sides, h->heroes[n]);
  }
  h->in_shared = tiles;
  h->to_operand = to_operand;
  h->to_result = transpose_sides_to_result(p->arena, &p->sides, h->heroes[0]);
}

// --- outputs

static const shape *operand_dims(const hero_grid_transpose *h, int group) {
  int n = 0;
  while (h->in_shared[n].group != group) n++;
  return h->heroes[n]->operands[0]->shape;
}

// What does not depend on heroes is computed where the operands are, unless it has the result's dims only.
static grid_transpose_side_output side_output(const planning *p, const shape *output) {
  const hero_grid_transpose *h = p->hero;
  for (int g = 0; g < h->group_count; g++)
    if (shape_same_dims(operand_dims(h, g), output)) return (grid_transpose_side_output){.group = g};
  if (shape_same_dims(h->heroes[0]->shape, output)) return (grid_transpose_side_output){.group = -1};
  return (grid_transpose_side_output){.map = hlo_indexing_reshape(p->arena, operand_dims(h, 0), output)};
}

static void find_side_outputs(const planning *p) {
  hero_grid_transpose *h = p->hero;
  grid_transpose_side_output *sides = arena_array(p->arena, grid_transpose_side_output, p->kernel->output_count);
  for (int n = 0; n < p->kernel->output_count; n++) {
    sides[n].group = -1;
    if (h->epilogue.is_apart[n]) sides[n] = side_output(p, p->kernel->outputs[n].shape);
  }
  h->side_outputs = sides;
}

// Whether threads write bytes of their own: elements that share bytes fill whole ones.
static bool fills_bytes(const planning *p) {
  for (int n = 0; n < p->kernel->output_count; n++) {
    const int64_t lanes = p->hero->side_outputs[n].group < 0 ? p->hero->lanes_out : p->hero->lanes_in;
    const int bits = dtypes[p->kernel->outputs[n].shape->dtype].bits;
    if (bits < 8 && lanes * bits % 8 != 0) return false;
  }
  return true;
}

static kernel_part operand_part(const planning *p, int group) {
  const hero_grid_transpose *h = p->hero;
  const kernel_plan *k = p->kernel;
  kernel_value *values = arena_array(p->arena, kernel_value, h->hero_count + k->output_count);
  int count = 0;
  for (int n = 0; n < h->hero_count; n++)
    if (h->in_shared[n].group == group) values[count++] = (kernel_value){.root = h->heroes[n]->operands[0]};
  for (int n = 0; n < k->output_count; n++) {
    const grid_transpose_side_output *side = &h->side_outputs[n];
    if (side->group == group) values[count++] = (kernel_value){k->outputs[n].root, k->outputs[n].element, side->map};
  }
  return (kernel_part){.index_space = operand_dims(h, group), .result_count = count, .results = values};
}

// The epilogue without what is computed beside the operands.
static kernel_part result_part(const planning *p) {
  const hero_grid_transpose *h = p->hero;
  kernel_part part = h->epilogue.part;
  kernel_value *values = arena_array(p->arena, kernel_value, part.result_count);
  int count = 0;
  for (int n = 0; n < part.result_count; n++)
    if (h->side_outputs[n].group < 0) values[count++] = part.results[n];
  part.result_count = count;
  part.results = values;
  return part;
}

static void make_parts(const planning *p) {
  hero_grid_transpose *h = p->hero;
  kernel_part *parts = arena_array(p->arena, kernel_part, h->group_count + 1);
  for (int g = 0; g < h->group_count; g++) parts[g] = operand_part(p, g);
  parts[h->group_count] = h->epilogue.part = result_part(p);
  p->kernel->parts = parts;
  p->kernel->part_count = h->group_count + 1;
}

// --- the kernel

// These functions say what is lacking; null if nothing is.

static const char *find_sides(planning *p) {
  hero_grid_transpose *h = p->hero;
  const char *lack = transpose_sides_lack(p->target, h->hero_count, h->heroes, &p->sides);
  if (lack) return lack;
  h->a = p->sides.a.size;
  h->b = p->sides.b.size;
  h->kept = p->sides.kept.size;
  h->batches = shape_element_count(h->heroes[0]->shape) / h->a / h->b / h->kept;
  p->bytes = p->bits = 1;
  for (int n = 0; n < h->hero_count; n++) {
    p->bytes = (int)int64_max(p->bytes, bytes_in_tile(h->heroes[n]));
    p->bits = (int)int64_max(p->bits, dtypes[h->heroes[n]->shape->dtype].bits);
  }
  return NULL;
}

static void decide_launch(const planning *p) {
  const hero_grid_transpose *h = p->hero;
  p->kernel->launch = (launch_plan){.elements = h->batches * h->a * h->b * h->kept,
                                    .threads = p->target->threads_per_block,
                                    .blocks_x = block_count(h),
                                    .blocks_y = 1,
                                    .unroll = (int)h->lanes_out,
                                    .shared_bytes = shared_bytes(p)};
}

static const char *decide(planning *p, const instruction_list *body) {
  hero_grid_transpose *h = p->hero;
  if (!choose_tile(p)) return "no tile fits a block's shared memory";
  if (block_count(h) > p->target->max_grid_x) return "there would be too many blocks";
  if (!kernel_epilogue_find(p->arena, p->kernel, body, h->hero_count, h->heroes, &h->epilogue))
    return "not all of the kernel follows from it element by element";
  h->tiles_batches = int64_ceil_div(h->batches, h->tile_batches);
  h->tiles_a = int64_ceil_div(h->a, h->tile_a);
  h->tiles_b = int64_ceil_div(h->b, h->tile_b);
  find_groups(p);
  find_side_outputs(p);
  if (!fills_bytes(p)) return "rows of an output share bytes";
  const bool has_edge = h->batches % h->tile_batches != 0 || h->a % h->tile_a != 0 || h->b % h->tile_b != 0;
  h->peels = has_edge && h->a >= h->tile_a && h->b >= h->tile_b && body->size <= p->sizes->max_peeled_body;
  make_parts(p);
  decide_launch(p);
  return NULL;
}

// Whether a hero's operand is read from memory rather than computed from indices and scalars.
static bool reads_memory(const hero_grid_transpose *h, const instruction_list *body) {
  for (int n = 0; n < body->size; n++) {
    instruction *i = body->data[n];
    const bool is_stored = i->opcode == HLO_PARAMETER || i->opcode == HLO_CONSTANT;
    i->mark = is_stored && (!shape_is_array(i->shape) || shape_element_count(i->shape) > 1);
    for (int k = 0; k < i->operand_count; k++) i->mark |= i->operands[k]->mark;
  }
  for (int n = 0; n < h->hero_count; n++)
    if (h->heroes[n]->operands[0]->mark) return true;
  return false;
}

static const char *decide_for(planning *p, const instruction_list *body, instruction_list *heroes) {
  hero_grid_transpose *h = p->hero;
  *h = (hero_grid_transpose){.hero_count = heroes->size, .heroes = (const instruction *const *)heroes->data};
  if (!reads_memory(h, body)) return "nothing is read from memory";
  if (find_sides(p)) {
    // What is alike in pairs has not always sides for all of them.
    h->hero_count = transpose_sides_keep_same_order(heroes);
    const char *lack = find_sides(p);
    if (lack) return lack;
  }
  return decide(p, body);
}

// Of the last transpose, which is no hero.
static const char *lack_of_hero(const target_description *target, const instruction_list *body) {
  transpose_sides sides;
  for (int n = body->size - 1; n >= 0; n--) {
    const instruction *i = body->data[n];
    if (i->opcode == HLO_TRANSPOSE) return transpose_sides_lack(target, 1, &i, &sides);
  }
  return NULL;
}

bool grid_transpose_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  instruction_list heroes = {0};
  kernel_epilogue_heroes(a, target, body, HLO_TRANSPOSE, transpose_sides_alike, &heroes);
  planning p = {.arena = a, .kernel = k, .target = target, .sizes = &target->grid, .hero = &k->details.grid_transpose};
  const char *lack = heroes.size > 0 ? decide_for(&p, body, &heroes) : lack_of_hero(target, body);
  if (lack) k->lack = arena_printf(a, "no transpose: %s", lack);
  if (lack || heroes.size == 0) return false;
  k->hero_instruction = heroes.data[0];
  k->reason = "through shared memory, so that reads and writes are both coalesced";
  return true;
}
