// When a kernel is a transpose, and what its tiles are.
#include "plan/hero_transpose.h"

#include "plan/hero_loop.h"

enum {
  STEP = 16,  // tiles are whole numbers of blocks that registers turn; no block is larger
  // Elements of four bytes and more go straight from memory to memory: a side is a few cache lines, and a few tiles fit
  // the first level of cache. A block of narrower ones is less than a line wide, so lines are gathered in buffers.
  WIDE_BYTES = 4,
  TILE_SIDE = 64,
  TILE_AREA = TILE_SIDE * TILE_SIDE,
  NARROW_SIDE_BYTES = 256,
  NARROW_AREA = 4 * TILE_AREA,
  SHORTEST_AXIS = 8,  // shorter ones gain nothing from being turned in blocks
  STREAM_BYTES = 32 << 20,
};

// --- axes

// Dims of the result that stay together, in the operand and in the result.
typedef struct axis {
  int first, count;  // of the result's dims
  int64_t size;
} axis;

typedef struct axes {
  int count;
  axis list[SHAPE_MAX_RANK];
} axes;

// The operand's next dim behind d that is larger than 1.
static int next_dim(const shape *operand, int d) {
  do d++;
  while (d < operand->rank && operand->dims[d] == 1);
  return d;
}

static void find_axes(const instruction *transpose, axes *out) {
  const int64_t *permutation = transpose->attributes->dimensions.data;
  const shape *operand = transpose->operands[0]->shape, *result = transpose->shape;
  int expected = -1;
  out->count = 0;
  for (int d = 0; d < result->rank; d++) {
    if (result->dims[d] == 1) continue;
    if (out->count == 0 || permutation[d] != expected) out->list[out->count++] = (axis){.first = d, .size = 1};
    axis *x = &out->list[out->count - 1];
    x->count = d + 1 - x->first;
    x->size *= result->dims[d];
    expected = next_dim(operand, (int)permutation[d]);
  }
}

// Which axis lies in the operand's memory without gaps.
static int minor_in_operand(const instruction *transpose, const axes *x) {
  const int64_t *permutation = transpose->attributes->dimensions.data;
  int best = 0, last = -1;
  for (int n = 0; n < x->count; n++) {
    int d = (int)permutation[x->list[n].first];
    if (d > last) {
      last = d;
      best = n;
    }
  }
  return best;
}

static indexing_variable sized(const char *name, int64_t count) {
  return (indexing_variable){.bounds = {0, count - 1}, .name = str_from(name)};
}

// The maps from (batch, a, b): each axis' value delinearized over its dims, in the result and in the operand.
static void make_maps(arena *a, const axes *x, int minor, hero_transpose *h) {
  const instruction *transpose = h->heroes[0];
  const shape *result = transpose->shape;
  indexing_map *maps[2];
  for (int m = 0; m < 2; m++) {
    maps[m] = indexing_map_create(a, 3, 0, 0, result->rank, 0);
    maps[m]->dims[0] = sized("batch", h->batches);
    maps[m]->dims[1] = sized("a", h->a);
    maps[m]->dims[2] = sized("b", h->b);
    for (int d = 0; d < result->rank; d++) maps[m]->results[d] = affine_constant(a, 0);
  }
  int64_t batch_sizes[SHAPE_MAX_RANK];
  const affine_expr *batch_values[SHAPE_MAX_RANK];
  int batch_count = 0;
  for (int n = 0; n < x->count - 1; n++)
    if (n != minor) batch_sizes[batch_count++] = x->list[n].size;
  indexing_delinearize(a, batch_count, batch_sizes, affine_dim(a, 0), batch_values);
  for (int n = 0, next = 0; n < x->count; n++) {
    const axis *y = &x->list[n];
    const affine_expr *value = n == minor          ? affine_dim(a, 1)
                               : n == x->count - 1 ? affine_dim(a, 2)
                                                   : batch_values[next++];
    const affine_expr **indices = maps[1]->results + y->first;
    indexing_delinearize(a, y->count, result->dims + y->first, value, indices);
    for (int d = y->first; d < y->first + y->count; d++)
      maps[0]->results[transpose->attributes->dimensions.data[d]] = maps[1]->results[d];
  }
  h->to_operand = indexing_map_simplify(a, maps[0]);
  h->to_result = indexing_map_simplify(a, maps[1]);
}

// --- heroes

static bool is_alike(const instruction *l, const instruction *r) {
  if (!shape_same_dims(l->shape, r->shape)) return false;
  for (int d = 0; d < l->shape->rank; d++)
    if (l->attributes->dimensions.data[d] != r->attributes->dimensions.data[d]) return false;
  return true;
}

static void find_direct(arena *a, const kernel_plan *k, hero_transpose *h) {
  int *inputs = arena_array(a, int, h->hero_count), *outputs = arena_array(a, int, h->hero_count);
  // Every output is a hero as it is, or all go through the epilogue.
  bool is_plain = k->output_count == h->hero_count;
  for (int n = 0; n < h->hero_count; n++) {
    bool is_wide = dtypes[h->heroes[n]->shape->dtype].bytes >= WIDE_BYTES;
    inputs[n] = is_wide ? kernel_plan_input(k, h->heroes[n]->operands[0]) : -1;
    outputs[n] = -1;
    for (int o = 0; o < k->output_count; o++)
      if (k->outputs[o].root == h->heroes[n]) outputs[n] = o;
    is_plain &= outputs[n] >= 0 && is_wide;
  }
  for (int n = 0; n < h->hero_count; n++)
    if (!is_plain) outputs[n] = -1;
  h->direct_inputs = inputs;
  h->direct_outputs = outputs;
}

// --- tiles

static int64_t round_up(int64_t v, int64_t unit) { return plan_ceil_divide(v, unit) * unit; }

// A side of about `wanted`: one that divides the axis evenly if there is one, else pieces of about equal size.
static int64_t side_of(int64_t axis_size, int64_t wanted) {
  if (axis_size <= wanted) return round_up(axis_size, STEP);
  for (int64_t s = wanted; s >= wanted / 2; s -= STEP)
    if (axis_size % s == 0) return s;
  return round_up(plan_ceil_divide(axis_size, plan_ceil_divide(axis_size, wanted)), STEP);
}

static int widest_bytes(const hero_transpose *h) {
  int widest = 1;
  for (int n = 0; n < h->hero_count; n++) {
    int bytes = dtypes[h->heroes[n]->shape->dtype].bytes;
    if (bytes > widest) widest = bytes;
  }
  return widest;
}

static void choose_tiles(hero_transpose *h) {
  int bytes = widest_bytes(h);
  int64_t side = bytes < WIDE_BYTES ? NARROW_SIDE_BYTES / bytes : TILE_SIDE;
  int64_t area = bytes < WIDE_BYTES ? NARROW_AREA : TILE_AREA;
  h->tile_a = side_of(h->a, side);
  h->tile_b = side_of(h->b, area / h->tile_a);
  if (h->tile_b * side < area) h->tile_a = side_of(h->a, area / h->tile_b);
  h->tiles_a = plan_ceil_divide(h->a, h->tile_a);
  h->tiles_b = plan_ceil_divide(h->b, h->tile_b);
}

static bool fits_registers(const hero_transpose *h) {
  for (int n = 0; n < h->hero_count; n++)
    if (dtype_is_complex(h->heroes[n]->shape->dtype)) return false;
  return true;
}

// Whether tiles write bytes of their own: elements that share bytes fill whole ones along `b`.
static bool fills_bytes(const kernel_plan *k, const hero_transpose *h) {
  for (int n = 0; n < k->output_count; n++) {
    const int bits = dtypes[k->outputs[n].shape->dtype].bits;
    if (bits < 8 && h->b % (8 / bits) != 0) return false;
  }
  return true;
}

static int64_t output_bytes(const kernel_plan *k) {
  int64_t bytes = 0;
  for (int n = 0; n < k->output_count; n++) bytes += plan_buffer_bytes(k->outputs[n].shape);
  return bytes;
}

// --- the kernel

static void make_parts(arena *a, kernel_plan *k, const hero_transpose *h) {
  kernel_value *operands = arena_array(a, kernel_value, h->hero_count);
  for (int n = 0; n < h->hero_count; n++) operands[n] = (kernel_value){.root = h->heroes[n]->operands[0]};
  kernel_part *parts = arena_array(a, kernel_part, 2);
  parts[0] = (kernel_part){
      .index_space = h->heroes[0]->operands[0]->shape, .result_count = h->hero_count, .results = operands};
  parts[1] = h->epilogue.part;
  k->parts = parts;
  k->part_count = 2;
}

static bool turns_memory(arena *a, hero_transpose *h) {
  axes x;
  find_axes(h->heroes[0], &x);
  if (x.count < 2) return false;
  int minor = minor_in_operand(h->heroes[0], &x);
  if (minor == x.count - 1) return false;
  h->a = x.list[minor].size;
  h->b = x.list[x.count - 1].size;
  if (h->a < SHORTEST_AXIS || h->b < SHORTEST_AXIS) return false;
  h->batches = shape_element_count(h->heroes[0]->shape) / h->a / h->b;
  make_maps(a, &x, minor, h);
  return true;
}

bool hero_transpose_takes(arena *a, kernel_plan *k, const instruction_list *body, const plan_target *target) {
  instruction_list heroes = {0};
  if (target->kind != PLAN_CPU) return false;
  plan_epilogue_heroes(a, body, HLO_TRANSPOSE, is_alike, &heroes);
  if (heroes.size == 0 || shape_element_count(heroes.data[0]->shape) == 0) return false;
  hero_transpose *h = arena_new(a, hero_transpose);
  h->hero_count = heroes.size;
  h->heroes = (const instruction *const *)heroes.data;
  if (!turns_memory(a, h) || !fills_bytes(k, h)) return false;
  if (!plan_epilogue_find(a, k, body, heroes.size, h->heroes, &h->epilogue)) return false;
  choose_tiles(h);
  find_direct(a, k, h);
  h->in_registers = fits_registers(h);
  h->streams = output_bytes(k) >= STREAM_BYTES;
  k->hero_instruction = heroes.data[0];
  k->reason = "through tiles, so that reads and writes are both contiguous";
  k->details = (const hero_details *)h;
  make_parts(a, k, h);
  int64_t elements = h->batches * h->a * h->b, area = h->tile_a * h->tile_b;
  launch_cost cost = hero_loop_cost(k, body, elements);
  k->launch = (launch_plan){.elements = elements, .tile = area, .tiles = h->batches * h->tiles_a * h->tiles_b};
  k->launch.tile_bytes = area * (cost.bytes > 0 ? cost.bytes : 1);
  return true;
}
