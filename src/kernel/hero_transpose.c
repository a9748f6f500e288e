// Decides when a kernel is a transpose, and what its tiles are.
#include "kernel/hero_transpose.h"

#include "base/int64.h"
#include "kernel/hero_loop.h"

// Elements of fewer bytes are narrow.
enum { WIDE_BYTES = 4 };

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

static int dim_in_operand(const instruction *transpose, int d) {
  return (int)transpose->attributes->dimensions.data[d];
}

static bool follows(const instruction *transpose, int before, int d) {
  return dim_in_operand(transpose, d) == next_dim(transpose->operands[0]->shape, dim_in_operand(transpose, before));
}

// Of transposes to the same dims: dims that are neighbours in all operands.
static void find_axes(int count, const instruction *const *transposes, axes *out) {
  const shape *result = transposes[0]->shape;
  int before = -1;
  out->count = 0;
  for (int d = 0; d < result->rank; d++) {
    if (result->dims[d] == 1) continue;
    bool goes_on = before >= 0;
    for (int n = 0; n < count && goes_on; n++) goes_on = follows(transposes[n], before, d);
    if (!goes_on) out->list[out->count++] = (axis){.first = d, .size = 1};
    axis *x = &out->list[out->count - 1];
    x->count = d + 1 - x->first;
    x->size *= result->dims[d];
    before = d;
  }
}

// The axes as they lie in the operand.
static void order_in_operand(const instruction *transpose, const axes *x, int *order) {
  for (int n = 0; n < x->count; n++) {
    const int d = dim_in_operand(transpose, x->list[n].first);
    int k = n;
    for (; k > 0 && dim_in_operand(transpose, x->list[order[k - 1]].first) > d; k--) order[k] = order[k - 1];
    order[k] = n;
  }
}

// --- sides

// How many of an order's last axes a side takes, and how many elements they are.
typedef struct side {
  int count;
  int64_t size;
  bool is_short;  // one axis is not enough to turn blocks of
} side;

typedef struct sides {
  const target_tile_sizes *sizes;
  axes axes;
  int order[SHAPE_MAX_RANK];  // of the axes in the first operand
  side a, b;
} sides;

static bool is_in_a(const sides *s, int axis) {
  for (int k = s->axes.count - s->a.count; k < s->axes.count; k++)
    if (s->order[k] == axis) return true;
  return false;
}

// The axis that the side would take next; -1 if it wants none or the other has it.
static int next_of_a(const sides *s) {
  if (!s->a.is_short || s->a.size >= s->sizes->transpose_side || s->a.count == s->axes.count) return -1;
  const int next = s->order[s->axes.count - 1 - s->a.count];
  return next < s->axes.count - s->b.count ? next : -1;
}

static int next_of_b(const sides *s) {
  if (!s->b.is_short || s->b.size >= s->sizes->transpose_side || s->b.count == s->axes.count) return -1;
  const int next = s->axes.count - 1 - s->b.count;
  return is_in_a(s, next) ? -1 : next;
}

static void take(const sides *s, side *to, int axis) {
  to->count++;
  to->size *= s->axes.list[axis].size;
}

// Short sides grow in turns, the shorter one first.
static void grow(sides *s) {
  for (;;) {
    const int a = next_of_a(s), b = next_of_b(s);
    if (a < 0 && b < 0) return;
    if (b < 0 || (a >= 0 && s->a.size <= s->b.size)) take(s, &s->a, a);
    else take(s, &s->b, b);
  }
}

static side side_from(const sides *s, int axis) {
  const int64_t size = s->axes.list[axis].size;
  return (side){.count = 1, .size = size, .is_short = size < s->sizes->transpose_unit};
}

// Whether all the operands end with the axes that the first one ends with.
static bool agree_on_a(const sides *s, int count, const instruction *const *transposes) {
  int order[SHAPE_MAX_RANK];
  for (int n = 1; n < count; n++) {
    order_in_operand(transposes[n], &s->axes, order);
    for (int k = s->axes.count - s->a.count; k < s->axes.count; k++)
      if (order[k] != s->order[k]) return false;
  }
  return true;
}

// False if the transposes, which have the same dims, gain nothing from tiles.
static bool find_sides(const target_tile_sizes *sizes, int count, const instruction *const *transposes, sides *out) {
  *out = (sides){.sizes = sizes};
  find_axes(count, transposes, &out->axes);
  const int last = out->axes.count - 1;
  if (last < 1) return false;
  order_in_operand(transposes[0], &out->axes, out->order);
  if (out->order[last] == last) return false;
  out->a = side_from(out, out->order[last]);
  out->b = side_from(out, last);
  grow(out);
  return out->a.size >= sizes->min_transpose_side && out->b.size >= sizes->min_transpose_side &&
         agree_on_a(out, count, transposes);
}

static bool has_same_order(const instruction *l, const instruction *r) {
  for (int d = 0; d < l->shape->rank; d++)
    if (dim_in_operand(l, d) != dim_in_operand(r, d)) return false;
  return true;
}

bool hero_transpose_alike(const target_description *target, const instruction *l, const instruction *r) {
  const target_tile_sizes *sizes = &target->tiles;
  sides alone, both;
  if (!shape_same_dims(l->shape, r->shape) || !find_sides(sizes, 1, &l, &alone)) return false;
  if (l == r || has_same_order(l, r)) return true;
  return find_sides(sizes, 2, (const instruction *const[]){l, r}, &both) &&
         both.a.size >= int64_min(alone.a.size, sizes->transpose_side) &&
         both.b.size >= int64_min(alone.b.size, sizes->transpose_side);
}

// --- maps

static indexing_variable sized(const char *name, int64_t count) {
  return (indexing_variable){.bounds = {0, count - 1}, .name = str_from(name)};
}

// Values of the axes that the variable runs over, by axis.
static void spread(arena *a, const sides *s, int count, const int *list, const affine_expr *variable,
                   const affine_expr **values) {
  int64_t sizes[SHAPE_MAX_RANK];
  const affine_expr *found[SHAPE_MAX_RANK];
  for (int k = 0; k < count; k++) sizes[k] = s->axes.list[list[k]].size;
  affine_delinearize(a, count, sizes, variable, found);
  for (int k = 0; k < count; k++) values[list[k]] = found[k];
}

static void find_values(arena *a, const sides *s, const affine_expr **values) {
  const int first_a = s->axes.count - s->a.count, first_b = s->axes.count - s->b.count;
  int batch[SHAPE_MAX_RANK], of_b[SHAPE_MAX_RANK], batch_count = 0;
  for (int n = 0; n < first_b; n++)
    if (!is_in_a(s, n)) batch[batch_count++] = n;
  for (int k = 0; k < s->b.count; k++) of_b[k] = first_b + k;
  spread(a, s, batch_count, batch, affine_dim(a, 0), values);
  spread(a, s, s->a.count, s->order + first_a, affine_dim(a, 1), values);
  spread(a, s, s->b.count, of_b, affine_dim(a, 2), values);
}

static indexing_map *map_of(arena *a, const hero_transpose *h, int rank) {
  indexing_map *m = indexing_map_create(a, 3, 0, 0, rank, 0);
  m->dims[0] = sized("batch", h->batches);
  m->dims[1] = sized("a", h->a);
  m->dims[2] = sized("b", h->b);
  for (int d = 0; d < rank; d++) m->results[d] = affine_constant(a, 0);
  return m;
}

// The maps from (batch, a, b): each axis' value delinearized over its dims, in the result and in the operands.
static void make_maps(arena *a, const sides *s, hero_transpose *h) {
  const shape *result = h->heroes[0]->shape;
  const affine_expr *values[SHAPE_MAX_RANK];
  const indexing_map **to_operand = arena_array(a, const indexing_map *, h->group_count);
  indexing_map *to_result = map_of(a, h, result->rank);
  find_values(a, s, values);
  for (int n = 0; n < s->axes.count; n++) {
    const axis *x = &s->axes.list[n];
    affine_delinearize(a, x->count, result->dims + x->first, values[n], to_result->results + x->first);
  }
  for (int n = 0; n < h->hero_count; n++) {
    if (to_operand[h->groups[n]]) continue;
    indexing_map *m = map_of(a, h, result->rank);
    for (int d = 0; d < result->rank; d++) m->results[dim_in_operand(h->heroes[n], d)] = to_result->results[d];
    to_operand[h->groups[n]] = indexing_map_simplify(a, m);
  }
  h->to_operand = to_operand;
  h->to_result = indexing_map_simplify(a, to_result);
}

// --- heroes

static void find_groups(arena *a, hero_transpose *h) {
  int *groups = arena_array(a, int, h->hero_count);
  for (int n = 0; n < h->hero_count; n++) {
    int same = 0;
    while (same < n && !has_same_order(h->heroes[n], h->heroes[same])) same++;
    groups[n] = same < n ? groups[same] : h->group_count++;
  }
  h->groups = groups;
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

// --- tiles

static int64_t round_up(int64_t v, int64_t unit) { return int64_ceil_div(v, unit) * unit; }

// A side of about `wanted`: one that divides the axis evenly if there is one, else chunks of about equal size.
static int64_t side_of(int64_t unit, int64_t axis_size, int64_t wanted) {
  if (axis_size <= wanted) return round_up(axis_size, unit);
  for (int64_t s = wanted; s >= wanted / 2; s -= unit)
    if (axis_size % s == 0) return s;
  return round_up(int64_ceil_div(axis_size, int64_ceil_div(axis_size, wanted)), unit);
}

static int widest_bytes(const hero_transpose *h) {
  int widest = 1;
  for (int n = 0; n < h->hero_count; n++) {
    int bytes = dtypes[h->heroes[n]->shape->dtype].bytes;
    if (bytes > widest) widest = bytes;
  }
  return widest;
}

static void choose_tiles(hero_transpose *h, const target_tile_sizes *sizes) {
  const int bytes = widest_bytes(h), unit = sizes->transpose_unit;
  int64_t side = bytes < WIDE_BYTES ? sizes->transpose_narrow_side_bytes / bytes : sizes->transpose_side;
  int64_t area = bytes < WIDE_BYTES ? sizes->transpose_narrow_area : sizes->transpose_area;
  h->tile_a = side_of(unit, h->a, side);
  h->tile_b = side_of(unit, h->b, area / h->tile_a);
  if (h->tile_b * side < area) h->tile_a = side_of(unit, h->a, area / h->tile_b);
  h->tiles_a = int64_ceil_div(h->a, h->tile_a);
  h->tiles_b = int64_ceil_div(h->b, h->tile_b);
}

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

static void choose_blocks(arena *a, hero_transpose *h, const target_description *target) {
  register_block *blocks = arena_array(a, register_block, h->hero_count);
  h->in_registers = fits_registers(h);
  if (!h->in_registers) return;
  for (int n = 0; n < h->hero_count; n++) blocks[n] = block_of(target, h->heroes[n]->shape->dtype);
  h->blocks = blocks;
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
  for (int n = 0; n < k->output_count; n++) bytes += kernel_buffer_bytes(k->outputs[n].shape);
  return bytes;
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

static bool turns_memory(arena *a, hero_transpose *h, const target_tile_sizes *sizes) {
  sides s;
  if (!find_sides(sizes, h->hero_count, h->heroes, &s)) return false;
  h->a = s.a.size;
  h->b = s.b.size;
  h->batches = shape_element_count(h->heroes[0]->shape) / h->a / h->b;
  find_groups(a, h);
  make_maps(a, &s, h);
  return true;
}

// The first hero and those of its permutation; returns how many.
static int keep_same_order(instruction_list *heroes) {
  int kept = 0;
  for (int n = 0; n < heroes->size; n++)
    if (has_same_order(heroes->data[0], heroes->data[n])) heroes->data[kept++] = heroes->data[n];
  return kept;
}

bool hero_transpose_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  instruction_list heroes = {0};
  kernel_epilogue_heroes(a, target, body, HLO_TRANSPOSE, hero_transpose_alike, &heroes);
  if (heroes.size == 0 || shape_element_count(heroes.data[0]->shape) == 0) return false;
  k->details.transpose = (hero_transpose){0};
  hero_transpose *h = &k->details.transpose;
  h->heroes = (const instruction *const *)heroes.data;
  h->hero_count = heroes.size;
  if (!turns_memory(a, h, &target->tiles)) {
    // What is alike in pairs has not always sides for all of them.
    h->hero_count = keep_same_order(&heroes);
    if (!turns_memory(a, h, &target->tiles)) return false;
  }
  if (!fills_bytes(k, h) || !kernel_epilogue_find(a, k, body, h->hero_count, h->heroes, &h->epilogue)) return false;
  choose_tiles(h, &target->tiles);
  find_direct(a, k, h);
  choose_blocks(a, h, target);
  h->streams = output_bytes(k) >= target->tiles.transpose_stream_bytes;
  k->hero_instruction = heroes.data[0];
  k->reason = "through tiles, so that reads and writes are both contiguous";
  make_parts(a, k, h);
  int64_t elements = h->batches * h->a * h->b, area = h->tile_a * h->tile_b;
  launch_cost cost = hero_loop_cost(k, body, elements);
  k->launch = (launch_plan){.elements = elements, .tile = area, .tiles = h->batches * h->tiles_a * h->tiles_b};
  k->launch.tile_bytes = area * (cost.bytes > 0 ? cost.bytes : 1);
  return true;
}
