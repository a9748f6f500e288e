// Finds the axes of transposes and the two sides that tiles are cut along: what the rules for tiles in a CPU's caches
// and in a grid's shared memory have in common.
#include "kernel/transpose_sides.h"

#include "base/int64.h"

static int widest_bits(int count, const instruction *const *transposes) {
  int bits = 1;
  for (int n = 0; n < count; n++) bits = (int)int64_max(bits, dtypes[transposes[n]->shape->dtype].bits);
  return bits;
}

static transpose_limits limits_of(const target_description *target, int bits) {
  const target_tile_sizes *tiles = &target->tiles;
  const target_grid_sizes *grid = &target->grid;
  // Reads in strides cost a loop more than writes in strides, but for four elements of two bytes, which vectors of
  // whole registers shuffle apart.
  if (!target->has_grid)
    return (transpose_limits){.short_side = tiles->transpose_unit,
                              .side = tiles->transpose_side,
                              .min_side = tiles->min_transpose_side,
                              .min_side_a = tiles->min_transpose_side / 2 + (bits == 16)};
  // Narrow elements count by their bytes.
  const int short_side = (int)int64_max(grid->short_transpose_side, grid->short_transpose_bytes * 8 / bits);
  return (transpose_limits){.short_side = short_side,
                            .side = (int)int64_max(grid->transpose_side, short_side),
                            .min_side = grid->min_transpose_side,
                            .min_side_a = grid->min_transpose_side,
                            .min_elements = grid->min_transpose_elements,
                            .max_kept_bytes = grid->max_kept_bytes,
                            .shares_batches = bits >= 8};
}

// --- axes

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
static void find_axes(int count, const instruction *const *transposes, transpose_sides *out) {
  const shape *result = transposes[0]->shape;
  int before = -1;
  out->axis_count = 0;
  for (int d = 0; d < result->rank; d++) {
    if (result->dims[d] == 1) continue;
    bool goes_on = before >= 0;
    for (int n = 0; n < count && goes_on; n++) goes_on = follows(transposes[n], before, d);
    if (!goes_on) out->axes[out->axis_count++] = (transpose_axis){.first = d, .size = 1};
    transpose_axis *x = &out->axes[out->axis_count - 1];
    x->count = d + 1 - x->first;
    x->size *= result->dims[d];
    before = d;
  }
}

// The axes as they lie in the operand.
static void order_in_operand(const instruction *transpose, const transpose_sides *s, int *order) {
  for (int n = 0; n < s->axis_count; n++) {
    const int d = dim_in_operand(transpose, s->axes[n].first);
    int k = n;
    for (; k > 0 && dim_in_operand(transpose, s->axes[order[k - 1]].first) > d; k--) order[k] = order[k - 1];
    order[k] = n;
  }
}

// Sets the innermost axis aside if it is the innermost one of all operands, too. False if there it is so long that
// runs of it are no worse than tiles.
static bool set_kept_aside(int count, const instruction *const *transposes, transpose_sides *s) {
  const int last = s->axis_count - 1;
  const int bits = widest_bits(count, transposes);
  int order[SHAPE_MAX_RANK], kept = 0;
  s->kept = (transpose_axis){.size = 1};
  for (int n = 0; n < count; n++) {
    order_in_operand(transposes[n], s, order);
    kept += order[last] == last;
  }
  if (kept == 0) return true;
  if (kept < count || s->axes[last].size * bits >= 8 * (int64_t)s->limits.max_kept_bytes) return false;
  s->kept = s->axes[last];
  s->axis_count--;
  return true;
}

// --- sides

static bool is_in_a(const transpose_sides *s, int axis) {
  for (int k = s->axis_count - s->a.count; k < s->axis_count; k++)
    if (s->order[k] == axis) return true;
  return false;
}

// The axis that the side would take next; -1 if it wants none or the other has it.
static int next_of_a(const transpose_sides *s) {
  if (!s->a.is_short || s->a.size >= s->limits.side || s->a.count == s->axis_count) return -1;
  const int next = s->order[s->axis_count - 1 - s->a.count];
  return next < s->axis_count - s->b.count ? next : -1;
}

static int next_of_b(const transpose_sides *s) {
  if (!s->b.is_short || s->b.size >= s->limits.side || s->b.count == s->axis_count) return -1;
  const int next = s->axis_count - 1 - s->b.count;
  return is_in_a(s, next) ? -1 : next;
}

static void take(const transpose_sides *s, transpose_side *to, int axis) {
  to->count++;
  to->size *= s->axes[axis].size;
}

// Short sides grow in turns, the shorter one first.
static void grow(transpose_sides *s) {
  for (;;) {
    const int a = next_of_a(s), b = next_of_b(s);
    if (a < 0 && b < 0) return;
    if (a == b && s->limits.shares_batches) return;
    if (b < 0 || (a >= 0 && s->a.size <= s->b.size)) take(s, &s->a, a);
    else take(s, &s->b, b);
  }
}

static transpose_side side_from(const transpose_sides *s, int axis) {
  const int64_t size = s->axes[axis].size;
  return (transpose_side){.count = 1, .size = size, .is_short = size < s->limits.short_side};
}

// Whether all the operands end with the axes that the first one ends with.
static bool agree_on_a(const transpose_sides *s, int count, const instruction *const *transposes) {
  int order[SHAPE_MAX_RANK];
  for (int n = 1; n < count; n++) {
    order_in_operand(transposes[n], s, order);
    for (int k = s->axis_count - s->a.count; k < s->axis_count; k++)
      if (order[k] != s->order[k]) return false;
  }
  return true;
}

const char *transpose_sides_lack(const target_description *target, int count, const instruction *const *transposes,
                                 transpose_sides *out) {
  static const char *const stays = "the innermost axis stays, and is long enough";
  *out = (transpose_sides){.limits = limits_of(target, widest_bits(count, transposes))};
  if (shape_element_count(transposes[0]->shape) < out->limits.min_elements) return "the array is small";
  find_axes(count, transposes, out);
  if (out->axis_count < 2) return "elements stay where they are";
  if (!set_kept_aside(count, transposes, out) || out->axis_count < 2) return stays;
  const int last = out->axis_count - 1;
  order_in_operand(transposes[0], out, out->order);
  if (out->order[last] == last) return stays;
  out->a = side_from(out, out->order[last]);
  out->b = side_from(out, last);
  grow(out);
  if (out->a.size < out->limits.min_side_a || out->b.size < out->limits.min_side) return "tiles would be too narrow";
  return agree_on_a(out, count, transposes) ? NULL : "its transposes' operands have different innermost axes";
}

bool transpose_sides_find(const target_description *target, int count, const instruction *const *transposes,
                          transpose_sides *out) {
  return !transpose_sides_lack(target, count, transposes, out);
}

// Whether the axis lies before side a in each operand.
static bool lies_before_a(const transpose_sides *s, int count, const instruction *const *transposes, int axis) {
  const int before_a = s->axis_count - s->a.count - 1;
  int order[SHAPE_MAX_RANK];
  if (axis < 0 || before_a < 0) return false;
  for (int n = 0; n < count; n++) {
    order_in_operand(transposes[n], s, order);
    if (order[before_a] != axis) return false;
  }
  return true;
}

bool transpose_sides_share_batches(const transpose_sides *s, int count, const instruction *const *transposes) {
  return lies_before_a(s, count, transposes, s->axis_count - s->b.count - 1);
}

bool transpose_sides_share_rows(const transpose_sides *s, int count, const instruction *const *transposes) {
  const int last = s->axis_count - 1, before_b = last - s->b.count;
  return s->order[last] == before_b && lies_before_a(s, count, transposes, last);
}

static bool has_same_order(const instruction *l, const instruction *r) {
  for (int d = 0; d < l->shape->rank; d++)
    if (dim_in_operand(l, d) != dim_in_operand(r, d)) return false;
  return true;
}

bool transpose_sides_alike(const target_description *target, const instruction *l, const instruction *r) {
  transpose_sides alone, both;
  if (!shape_same_dims(l->shape, r->shape) || !transpose_sides_find(target, 1, &l, &alone)) return false;
  if (l == r || has_same_order(l, r)) return true;
  return transpose_sides_find(target, 2, (const instruction *const[]){l, r}, &both) &&
         both.a.size >= int64_min(alone.a.size, alone.limits.side) &&
         both.b.size >= int64_min(alone.b.size, alone.limits.side);
}

int transpose_sides_keep_same_order(instruction_list *transposes) {
  int kept = 0;
  for (int n = 0; n < transposes->size; n++)
    if (has_same_order(transposes->data[0], transposes->data[n])) transposes->data[kept++] = transposes->data[n];
  return kept;
}

int transpose_sides_groups(int count, const instruction *const *transposes, int *groups) {
  int group_count = 0;
  for (int n = 0; n < count; n++) {
    int same = 0;
    while (same < n && !has_same_order(transposes[n], transposes[same])) same++;
    groups[n] = same < n ? groups[same] : group_count++;
  }
  return group_count;
}

int transpose_sides_labels(const transpose_sides *s, const instruction *transpose, transpose_label *out) {
  int order[SHAPE_MAX_RANK], count = 0;
  order_in_operand(transpose, s, order);
  for (int k = 0; k < s->axis_count; k++) {
    const int axis = order[k];
    const transpose_label label = is_in_a(s, axis)                     ? TRANSPOSE_A
                                  : axis >= s->axis_count - s->b.count ? TRANSPOSE_B
                                                                       : TRANSPOSE_BATCH;
    if (count == 0 || out[count - 1] != label) out[count++] = label;
  }
  return count;
}

// --- maps

static indexing_variable sized(const char *name, int64_t count) {
  return (indexing_variable){.bounds = {0, count - 1}, .name = str_from(name)};
}

// Values of the axes that the variable runs over, by axis; returns how many points there are.
static int64_t spread(arena *a, const transpose_sides *s, int count, const int *list, const affine_expr *variable,
                      const affine_expr **values) {
  int64_t sizes[SHAPE_MAX_RANK], points = 1;
  const affine_expr *found[SHAPE_MAX_RANK];
  for (int k = 0; k < count; k++) points *= sizes[k] = s->axes[list[k]].size;
  affine_delinearize(a, count, sizes, variable, found);
  for (int k = 0; k < count; k++) values[list[k]] = found[k];
  return points;
}

// Values of all axes but the kept one, from (batch, a, b); returns how many batches there are.
static int64_t find_values(arena *a, const transpose_sides *s, const affine_expr **values) {
  const int first_a = s->axis_count - s->a.count, first_b = s->axis_count - s->b.count;
  int batch[SHAPE_MAX_RANK], of_b[SHAPE_MAX_RANK], batch_count = 0;
  for (int n = 0; n < first_b; n++)
    if (!is_in_a(s, n)) batch[batch_count++] = n;
  for (int k = 0; k < s->b.count; k++) of_b[k] = first_b + k;
  spread(a, s, s->a.count, s->order + first_a, affine_dim(a, 1), values);
  spread(a, s, s->b.count, of_b, affine_dim(a, 2), values);
  return spread(a, s, batch_count, batch, affine_dim(a, 0), values);
}

// Each axis' value delinearized over its dims.
static indexing_map *result_map(arena *a, const transpose_sides *s, const shape *result) {
  const affine_expr *values[SHAPE_MAX_RANK] = {0};
  const bool is_kept = s->kept.size > 1;
  indexing_map *m = indexing_map_create(a, 3 + is_kept, 0, 0, result->rank, 0);
  m->dims[0] = sized("batch", find_values(a, s, values));
  m->dims[1] = sized("a", s->a.size);
  m->dims[2] = sized("b", s->b.size);
  for (int d = 0; d < result->rank; d++) m->results[d] = affine_constant(a, 0);
  for (int n = 0; n < s->axis_count; n++) {
    const transpose_axis *x = &s->axes[n];
    affine_delinearize(a, x->count, result->dims + x->first, values[n], m->results + x->first);
  }
  if (!is_kept) return m;
  m->dims[3] = sized("kept", s->kept.size);
  affine_delinearize(a, s->kept.count, result->dims + s->kept.first, affine_dim(a, 3), m->results + s->kept.first);
  return m;
}

const indexing_map *transpose_sides_to_result(arena *a, const transpose_sides *s, const instruction *transpose) {
  return indexing_map_simplify(a, result_map(a, s, transpose->shape));
}

const indexing_map *transpose_sides_to_operand(arena *a, const transpose_sides *s, const instruction *transpose) {
  const indexing_map *result = result_map(a, s, transpose->shape);
  const affine_expr **results = arena_array(a, const affine_expr *, result->result_count);
  for (int d = 0; d < result->result_count; d++) results[dim_in_operand(transpose, d)] = result->results[d];
  return indexing_map_simplify(a, indexing_map_with_results(a, result, result->result_count, results));
}
