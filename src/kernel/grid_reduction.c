// Decides when a kernel on a grid is a reduction, and how many threads make a result.
//
// What is reduced innermost is a row: its elements lie side by side, so that neighbouring threads share it. Short rows
// take a part of a warp each, long ones a block; where there are few rows, more threads than the elements alone would
// ask for. What is kept innermost makes columns: neighbouring threads take neighbouring columns, and the elements of a
// column are spread over rows of threads.
//
// Where elements have an order, each thread takes a span of them. A reducer of which chunks may be combined first has
// as many spans as keep threads busy, any other one has one: then threads only share the reading.
#include "kernel/grid_reduction.h"

#include "base/int64.h"
#include "kernel/row_passes.h"
#include "kernel/work_estimate.h"

typedef struct planning {
  kernel_plan *kernel;
  const target_description *target;
  const target_grid_sizes *sizes;
  hero_grid_reduction *hero;
  const reduction_space *space;
  reducer_form form;  // what all reducers allow: any order (free), chunks, or one element after the other (ordered)
} planning;

static int64_t power_of_two_above(int64_t v) {
  int64_t p = 1;
  while (p < v) p *= 2;
  return p;
}

static int64_t innermost(const reduction_space *s) { return s->sizes[s->group_count - 1]; }

static bool is_column(const reduction_space *s) { return !s->is_reduced[s->group_count - 1]; }

// --- whether

// Complex numbers have no one that leaves infinities as they are.
static bool has_neutral_value(const reducer *how, const instruction *reduce) {
  for (int v = 0; how->form == REDUCER_BINARY && v < reduce->operand_count / 2; v++)
    if (dtype_is_complex(reduce->operands[v]->shape->dtype) && how->operations[v] != HLO_ADD) return false;
  return true;
}

static reducer_form common_form(arena *scratch, const row_analysis *r, const instruction_list *body) {
  reducer_form form = REDUCER_FREE;
  for (int n = 0; n < body->size; n++) {
    const instruction *i = body->data[n];
    if (!row_analysis_value(r, i).is_reduction) continue;
    const reducer how = reducer_of(scratch, i);
    if (how.form == REDUCER_ORDERED || !has_neutral_value(&how, i)) return REDUCER_ORDERED;
    if (how.form == REDUCER_CHUNKS) form = REDUCER_CHUNKS;
  }
  return form;
}

static bool analyse(arena *scratch, const kernel_plan *k, const instruction_list *body, row_analysis *out) {
  row_output *outputs = arena_array(scratch, row_output, k->output_count);
  for (int o = 0; o < k->output_count; o++)
    outputs[o] = (row_output){.root = k->outputs[o].root, .shape = k->outputs[o].shape};
  return row_analysis_of(scratch, body->size, body->data, k->output_count, outputs, out);
}

// --- vectors

static int64_t operations_of(const kernel_plan *k, int body) {
  if (body < 0) return 0;
  const instruction_list *l = &k->bodies[body].computation->instructions;
  int64_t sum = 0;
  for (int n = 0; n < l->size; n++) sum += int64_max(work_estimate_operations(l->data[n]), 1);
  return sum;
}

// Of the arrays that have as many elements as the space.
static int widest_bytes(const planning *p) {
  int bits = 8;
  for (int n = 0; n < p->kernel->slice_count; n++) {
    const shape *s = p->kernel->slices[n].shape;
    if (shape_element_count(s) == p->space->kept * p->space->reduced && dtypes[s->dtype].bits > bits)
      bits = dtypes[s->dtype].bits;
  }
  return bits / 8;
}

// Complex numbers are moved one by one: neighbouring threads then meet whole sectors at once.
static bool has_complex_elements(const planning *p) {
  for (int n = 0; n < p->kernel->slice_count; n++) {
    const shape *s = p->kernel->slices[n].shape;
    if (dtype_is_complex(s->dtype) && shape_element_count(s) == p->space->kept * p->space->reduced) return true;
  }
  return false;
}

static bool is_narrow_number(dtype t) { return !dtype_is_complex(t) && dtypes[t].bits >= 8; }

// Columns keep a vector of partial results for each value.
static bool has_vectors(const planning *p) {
  const row_passes *s = &p->hero->on_tiles.passes;
  for (int n = 0; n < s->pass_count; n++) {
    for (int i = 0; i < s->passes[n].reductions.size; i++) {
      const row_reduction *r = &s->passes[n].reductions.data[i];
      if (r->how.form != REDUCER_BINARY) return false;
      for (int v = 0; v < r->count; v++)
        if (!is_narrow_number(r->accumulators[v])) return false;
    }
  }
  return true;
}

// `run`: elements that lie side by side and are shared out in vectors.
static int64_t choose_vector(const planning *p, int64_t run) {
  const row_passes *s = &p->hero->on_tiles.passes;
  if (has_complex_elements(p) || (is_column(p->space) && !has_vectors(p))) return 1;
  int64_t operations = 1, vector = p->target->max_unroll;
  for (int n = 0; n < s->pass_count; n++)
    operations = int64_max(operations, operations_of(p->kernel, s->passes[n].body));
  while (vector > 1 && (run % vector != 0 || vector * widest_bytes(p) > p->sizes->vector_bytes ||
                        vector * operations > p->sizes->max_vector_operations))
    vector /= 2;
  return vector;
}

// Elements that share bytes in memory are stored by one thread. Results that do are few: they are stored one by one,
// atomically.
static bool fills_bytes(const planning *p) {
  for (int o = 0; o < p->kernel->output_count; o++) {
    const shape *s = p->kernel->outputs[o].shape;
    const int bits = dtypes[s->dtype].bits;
    if (bits >= 8 || shape_element_count(s) == p->space->kept) continue;
    if (p->hero->vector * bits % 8 != 0) return false;
  }
  return true;
}

// --- shared memory

static int64_t accumulator_bytes(dtype t) { return int64_max(dtypes[t].bits / 8, 1); }

// Of rows in order: the pieces of all spans, the results, and those of warps.
static int64_t shared_of_spans(const planning *p, int64_t bytes) {
  const hero_grid_reduction *h = p->hero;
  const int64_t rows = h->on_tiles.tile, warps = h->threads / p->target->subgroup_size;
  const int64_t unit = p->target->shared_alignment;
  return int64_round_up(rows * h->spans * (h->piece + h->pad) * bytes, unit) + int64_round_up(rows * bytes, unit) +
         (warps > 1 ? int64_round_up(rows * warps * bytes, unit) : 0);
}

static int64_t shared_of_value(const planning *p, dtype t) {
  const hero_grid_reduction *h = p->hero;
  const int64_t bytes = accumulator_bytes(t), unit = p->target->shared_alignment;
  if (h->piece > 0) return shared_of_spans(p, bytes);
  if (h->is_staged)
    return int64_round_up(h->threads * (p->space->reduced + h->pad) * bytes, unit) +
           int64_round_up(h->threads * bytes, unit);
  if (!h->on_tiles.is_column) {
    const int64_t warps = h->threads / p->target->subgroup_size;
    return warps > 1 ? int64_round_up(h->on_tiles.tile * warps * bytes, unit) : 0;
  }
  return int64_round_up(h->threads * (h->on_tiles.columns + h->pad) * bytes, unit) +
         int64_round_up(h->on_tiles.columns * bytes, unit);
}

static int64_t shared_bytes(const planning *p) {
  const row_passes *s = &p->hero->on_tiles.passes;
  int64_t bytes = 0;
  for (int n = 0; n < s->pass_count; n++) {
    for (int i = 0; i < s->passes[n].reductions.size; i++) {
      const row_reduction *r = &s->passes[n].reductions.data[i];
      for (int v = 0; v < r->count; v++) bytes += shared_of_value(p, r->accumulators[v]);
    }
  }
  return bytes;
}

// --- threads

// Rows begin within a sector of memory: then a warp's accesses begin a little before the row, where one does.
static int64_t choose_align(const planning *p) {
  const hero_grid_reduction *h = p->hero;
  const int64_t bytes = h->vector * widest_bytes(p), row = p->space->reduced * widest_bytes(p);
  const bool is_one_run = innermost(p->space) == p->space->reduced && h->threads >= p->target->subgroup_size;
  if (!is_one_run || row % p->sizes->sector_bytes == 0 || bytes >= p->sizes->sector_bytes) return 1;
  return p->sizes->sector_bytes / bytes;
}

static void choose_row_threads(const planning *p) {
  hero_grid_reduction *h = p->hero;
  const int64_t warp = p->target->subgroup_size, vectors = p->space->reduced / h->vector;
  const int64_t most = int64_min(power_of_two_above(vectors), p->sizes->max_reducing_threads);
  h->threads = int64_min(most, warp);
  while (h->threads < most &&
         (h->threads * p->sizes->vectors_per_thread < vectors ||
          p->space->kept * h->threads < (int64_t)p->target->cores * p->target->threads_per_core / 2))
    h->threads *= 2;
  int64_t rows = int64_max(p->target->threads_per_block / h->threads, 1);
  while (rows > 1 && rows * h->threads > warp &&
         (rows / 2 >= p->space->kept || int64_ceil_div(p->space->kept, rows) < p->target->cores))
    rows /= 2;
  h->on_tiles.tile = rows;
  h->align = choose_align(p);
  h->trips = int64_ceil_div(vectors + h->align - 1, h->threads);
}

// Whether elements are rows, each of bytes of its own.
static bool can_stage(const planning *p) {
  const row_passes *s = &p->hero->on_tiles.passes;
  if (is_column(p->space)) return false;
  for (int n = 0; n < s->pass_count; n++) {
    for (int i = 0; i < s->passes[n].reductions.size; i++) {
      const row_reduction *r = &s->passes[n].reductions.data[i];
      for (int v = 0; v < r->count; v++)
        if (dtypes[r->reduce->operands[v]->shape->dtype].bits < 8) return false;
    }
  }
  return true;
}

static bool wants_stage(const planning *p) {
  if (innermost(p->space) != p->space->reduced || p->space->reduced > p->sizes->staged_row) return false;
  if (p->form != REDUCER_FREE) return true;
  if (p->space->reduced == p->hero->vector) return false;
  return p->space->reduced * widest_bytes(p) % p->sizes->sector_bytes != 0;
}

// Rows of an odd number of elements begin at different banks, and vectors of them are stored as such.
static void choose_stage_threads(const planning *p) {
  hero_grid_reduction *h = p->hero;
  const bool is_odd = p->space->reduced % 2 != 0;
  h->is_staged = h->on_tiles.is_column = true;
  h->vector = is_odd ? choose_vector(p, p->space->kept * p->space->reduced) : 1;
  h->pad = !is_odd;
  h->align = 1;
  h->threads = p->target->threads_per_block;
  while (h->threads > p->target->subgroup_size &&
         (shared_bytes(p) > p->sizes->static_shared_bytes || p->space->kept / h->threads < p->target->cores))
    h->threads /= 2;
  h->on_tiles.tile = h->on_tiles.columns = h->threads;
  h->on_tiles.column_blocks = 1;
  h->trips = int64_ceil_div(p->space->reduced, h->vector);
}

// Rows in order.

// A warp reads a piece of a span at once; pieces lie an odd number of elements apart, so that threads that go through
// theirs meet different banks.
static void cut_spans(const planning *p) {
  hero_grid_reduction *h = p->hero;
  const int64_t reduced = p->space->reduced;
  h->span = p->form == REDUCER_ORDERED ? reduced : int64_round_up(int64_ceil_div(reduced, h->threads), h->piece);
  h->spans = int64_ceil_div(reduced, h->span);
  h->trips = int64_ceil_div(h->spans * h->piece, h->threads);
}

// Of rows; a warp at least is left of the block.
static void take_fewer_rows(const planning *p) {
  hero_grid_reduction *h = p->hero;
  h->on_tiles.tile /= 2;
  if (h->on_tiles.tile * h->threads < p->target->subgroup_size) h->threads *= 2;
}

static void choose_span_threads(const planning *p) {
  hero_grid_reduction *h = p->hero;
  const int64_t reduced = p->space->reduced, resident = (int64_t)p->target->cores * p->target->threads_per_core / 2;
  h->on_tiles.is_column = true;
  h->vector = h->align = h->pad = h->threads = 1;
  h->piece = p->target->subgroup_size;
  while (p->form == REDUCER_CHUNKS && h->threads * h->piece < reduced && h->threads < p->target->threads_per_block &&
         (h->threads * h->piece * p->sizes->vectors_per_thread < reduced || p->space->kept * h->threads < resident))
    h->threads *= 2;
  h->on_tiles.tile = int64_max(p->target->threads_per_block / h->threads, 1);
  while (h->on_tiles.tile > 1 && int64_ceil_div(p->space->kept, h->on_tiles.tile) < p->target->cores)
    take_fewer_rows(p);
  cut_spans(p);
  while (shared_bytes(p) > p->sizes->static_shared_bytes && (h->on_tiles.tile > 1 || h->threads > 1)) {
    if (h->on_tiles.tile > 1) take_fewer_rows(p);
    else h->threads /= 2;
    cut_spans(p);
  }
  // A thread that has a whole row waits less often for those that read.
  if (p->form == REDUCER_ORDERED && h->on_tiles.tile == 1) h->piece *= p->sizes->vectors_per_thread;
  cut_spans(p);
  h->on_tiles.columns = h->on_tiles.tile;
  h->on_tiles.column_blocks = 1;
}

// Columns.

// A warp writes some whole rows of partial results if they are short, and reads as many of as many columns: all banks
// are met if rows begin an odd number of their threads apart. Else it reads down one column.
static void choose_column_lanes(const planning *p) {
  hero_grid_reduction *h = p->hero;
  const int64_t warp = p->target->subgroup_size, side = h->side;
  const bool is_short = side < warp && warp % side == 0;
  h->lanes = is_short ? warp / side : int64_min(warp, h->threads);
  if (is_short) h->pad = h->vector % 2 == 0 ? side : 0;
  else if (h->lanes == warp) h->pad = h->on_tiles.columns % 2 == 0;
  else h->pad = (warp + warp / h->lanes - h->on_tiles.columns % warp) % warp;
}

// Columns that lie side by side in a block of few rows of threads, and some more that there are not: a warp that brings
// partial results together has as many as it has lanes for.
static void make_wide(const planning *p, int64_t columns, int64_t rows) {
  hero_grid_reduction *h = p->hero;
  const int64_t at_once = int64_max(p->target->subgroup_size / rows, 1);
  const int64_t vectors = int64_round_up(columns / h->vector, at_once);
  h->threads = rows;
  h->side = int64_round_up(vectors + h->align - 1, int64_max(h->align, at_once));
  while (h->threads * 2 * h->side <= p->sizes->max_reducing_threads &&
         h->threads * p->sizes->vectors_per_thread < p->space->reduced)
    h->threads *= 2;
  h->on_tiles.columns = vectors * h->vector;
  h->on_tiles.column_blocks = int64_ceil_div(innermost(p->space), h->on_tiles.columns);
}

// Of the bytes that are read, those that are asked for, where accesses of so many neighbours begin anywhere.
static double share_asked_for(int64_t run, int64_t per_sector) { return (double)run / (double)(run + per_sector - 1); }

// Columns that begin within a sector, as far as all elements of a thread begin alike.
static bool choose_aligned_columns(const planning *p) {
  hero_grid_reduction *h = p->hero;
  const reduction_space *s = p->space;
  const int64_t bytes = widest_bytes(p), width = innermost(s), per_sector = p->sizes->sector_bytes / bytes;
  const int64_t before = s->group_count > 1 ? s->sizes[s->group_count - 2] : 0;
  if (before != s->reduced || p->form != REDUCER_FREE || width * bytes % p->sizes->sector_bytes == 0) return false;
  const int64_t rows = int64_max(p->sizes->vectors_per_thread, per_sector);
  const int64_t most = p->sizes->max_reducing_threads / rows / per_sector * per_sector - per_sector;
  const int64_t columns = int64_min(width, most), run = int64_min(p->sizes->column_threads * h->vector, width);
  if (columns <= 0 || share_asked_for(columns, per_sector) <= share_asked_for(run, per_sector)) return false;
  h->vector = 1;
  h->align = per_sector;
  make_wide(p, columns, rows);
  return true;
}

// A few more than are side by side in a block else.
static bool choose_few_columns(const planning *p) {
  const int64_t vectors = innermost(p->space) / p->hero->vector, usual = p->sizes->column_threads;
  if (vectors <= usual || vectors >= 2 * usual) return false;
  make_wide(p, innermost(p->space), p->sizes->vectors_per_thread);
  return true;
}

// Among the rows of threads.
static void share_columns(const planning *p) {
  hero_grid_reduction *h = p->hero;
  h->trips = int64_ceil_div(p->space->reduced, h->threads);
  if (p->form != REDUCER_CHUNKS) return;
  h->span = h->trips;
  h->spans = int64_ceil_div(p->space->reduced, h->span);
}

static void choose_usual_columns(const planning *p) {
  hero_grid_reduction *h = p->hero;
  const int64_t vectors = innermost(p->space) / h->vector;
  const int64_t side = h->side = int64_min(vectors, p->sizes->column_threads);
  h->threads = p->target->subgroup_size;
  while (h->threads * 2 * side <= p->sizes->max_reducing_threads &&
         h->threads * p->sizes->vectors_per_thread < p->space->reduced)
    h->threads *= 2;
  h->on_tiles.columns = side * h->vector;
  h->on_tiles.column_blocks = int64_ceil_div(vectors, side);
}

static void choose_column_threads(const planning *p) {
  hero_grid_reduction *h = p->hero;
  const int64_t vector = h->vector;
  h->on_tiles.tile = h->align = 1;
  if (choose_aligned_columns(p) || choose_few_columns(p)) {
    choose_column_lanes(p);
    share_columns(p);
    if (shared_bytes(p) <= p->sizes->static_shared_bytes) return;
    h->vector = vector;
    h->align = 1;
  }
  choose_usual_columns(p);
  choose_column_lanes(p);
  share_columns(p);
}

// False if columns do not fit with a warp's rows.
static bool fits_shared(const planning *p) {
  hero_grid_reduction *h = p->hero;
  const int64_t most = int64_min(p->target->shared_bytes, p->sizes->static_shared_bytes);
  while (shared_bytes(p) > most && h->on_tiles.is_column && !h->is_staged && h->piece == 0) {
    const int64_t side = h->side;
    if (h->threads > p->target->subgroup_size) {
      h->threads /= 2;
      share_columns(p);
    } else if (h->vector > 1) {
      h->vector /= 2;
      h->on_tiles.columns = side * h->vector;
      h->on_tiles.column_blocks = int64_ceil_div(innermost(p->space) / h->vector, side);
      choose_column_lanes(p);
    } else {
      return false;
    }
  }
  return shared_bytes(p) <= most;
}

// --- the kernel

static void decide_launch(const planning *p) {
  const hero_grid_reduction *h = p->hero;
  const bool is_column = h->on_tiles.is_column && !h->is_staged && h->piece == 0;
  const int64_t side = h->is_staged ? 1 : is_column ? h->side : h->on_tiles.tile;
  const int64_t blocks = is_column ? p->space->kept / innermost(p->space) * h->on_tiles.column_blocks
                                   : int64_ceil_div(p->space->kept, h->on_tiles.tile);
  launch_plan *l = &p->kernel->launch;
  *l = (launch_plan){.elements = p->space->kept,
                     .threads = side * h->threads,
                     .unroll = (int)h->vector,
                     .shared_bytes = shared_bytes(p)};
  l->blocks_y = int64_ceil_div(blocks, p->target->max_grid_x);
  l->blocks_x = int64_ceil_div(blocks, l->blocks_y);
}

static double work_of(const planning *p) {
  double operations = 0;
  for (int b = 0; b < p->kernel->body_count; b++) operations += (double)operations_of(p->kernel, b);
  return operations * (double)p->space->kept * (double)p->space->reduced;
}

// Of columns each value has a place for every column of the block.
static void decide_buffers(const planning *p) {
  row_passes *s = &p->hero->on_tiles.passes;
  for (int n = 0; n < s->pass_count; n++) s->passes[n].elements_at_once = 1;
  for (int g = 0; g < s->carried_values.size; g++)
    if (p->hero->on_tiles.is_column && !s->carried_values.data[g].is_kept)
      s->carried_values.data[g].buffer = p->hero->on_tiles.columns;
}

static bool decide(const planning *p) {
  hero_grid_reduction *h = p->hero;
  h->vector = choose_vector(p, innermost(p->space));
  if (can_stage(p) && wants_stage(p)) choose_stage_threads(p);
  else if (can_stage(p) && p->form != REDUCER_FREE) choose_span_threads(p);
  else if (p->form == REDUCER_ORDERED || (p->form == REDUCER_CHUNKS && !h->on_tiles.is_column)) return false;
  else if (h->on_tiles.is_column) choose_column_threads(p);
  else choose_row_threads(p);
  if (!fits_shared(p) || !fills_bytes(p)) return false;
  decide_buffers(p);
  decide_launch(p);
  p->kernel->work = work_of(p);
  return true;
}

static const instruction *first_reduction(const row_passes *s) {
  for (int n = 0; n < s->pass_count; n++)
    if (s->passes[n].reductions.size > 0) return s->passes[n].reductions.data[0].reduce;
  return NULL;
}

static const char *reason_of(arena *a, const hero_grid_reduction *h) {
  const int count = h->on_tiles.passes.pass_count;
  if (h->is_staged)
    return arena_printf(a, "%d pass%s over rows in shared memory, a thread for each", count, count > 1 ? "es" : "");
  if (h->spans > 0)
    return arena_printf(a, "%d pass%s over each %s in order, %lld threads have a span of one", count,
                        count > 1 ? "es" : "", h->piece > 0 ? "row" : "column", (long long)h->spans);
  return arena_printf(a, "%d pass%s over each %s, %lld threads share one", count, count > 1 ? "es" : "",
                      h->on_tiles.is_column ? "column" : "row", (long long)h->threads);
}

bool grid_reduction_takes(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target) {
  arena *scratch = arena_create();
  row_analysis analysis;
  bool takes = analyse(scratch, k, body, &analysis);
  if (takes) {
    hero_grid_reduction *h = &k->details.grid_reduction;
    *h = (hero_grid_reduction){.on_tiles.is_column = is_column(&analysis.space)};
    // Threads compute faster than memory gives back what was kept.
    row_passes_make(a, k, &analysis, body, -1, &h->on_tiles.passes);
    const reducer_form form = common_form(scratch, &analysis, body);
    const planning p = {k, target, &target->grid, h, &h->on_tiles.passes.space, form};
    takes = decide(&p);
    k->hero_instruction = first_reduction(&h->on_tiles.passes);
    k->reason = reason_of(a, h);
  }
  arena_destroy(scratch);
  return takes;
}

// --- larger blocks

bool grid_reduction_widen(kernel_plan *k, const target_description *target, int64_t threads) {
  hero_grid_reduction *h = &k->details.grid_reduction;
  const int64_t times = threads / k->launch.threads;
  if (times * k->launch.threads != threads || power_of_two_above(times) != times) return false;
  const reducer_form form = h->spans == 0 ? REDUCER_FREE : h->spans == 1 ? REDUCER_ORDERED : REDUCER_CHUNKS;
  const planning p = {k, target, &target->grid, h, &h->on_tiles.passes.space, form};
  if (h->is_staged || !h->on_tiles.is_column || h->piece > 0) h->on_tiles.tile *= times;
  if (h->is_staged || (h->on_tiles.is_column && h->piece == 0)) h->threads *= times;
  if (h->is_staged || h->piece > 0) h->on_tiles.columns = h->on_tiles.tile;
  else if (h->on_tiles.is_column) share_columns(&p);
  decide_buffers(&p);
  decide_launch(&p);
  return shared_bytes(&p) <= p.sizes->static_shared_bytes;
}
