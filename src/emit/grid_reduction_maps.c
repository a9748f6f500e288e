// Maps of reductions on a grid, from the figures of the plan alone.
#include "emit/grid_reduction_maps.h"

#include "base/int64.h"

typedef struct map_maker {
  arena *arena;
  const kernel_plan *plan;
  const hero_grid_reduction *hero;
  const reduction_space *space;
  indexing_map *map;
  int constraints;
} map_maker;

enum { MAX_CONSTRAINTS = 4 };

static indexing_variable variable(const char *name, int64_t count) {
  return (indexing_variable){.bounds = {0, count - 1}, .name = str_from(name)};
}

static map_maker begin_with(arena *a, const kernel_plan *k, int dims, int ranges, int results) {
  const launch_plan *l = &k->launch;
  map_maker m = {.arena = a, .plan = k, .hero = &k->details.grid_reduction};
  m.space = &m.hero->on_tiles.passes.space;
  m.map = indexing_map_create(a, (l->blocks_y > 1 ? 3 : 2) + dims, ranges, 0, results, MAX_CONSTRAINTS);
  m.map->dims[0] = variable("th_x", l->threads);
  m.map->dims[1] = variable("bl_x", l->blocks_x);
  if (l->blocks_y > 1) m.map->dims[2] = variable("bl_y", l->blocks_y);
  return m;
}

static map_maker begin(arena *a, const kernel_plan *k, int ranges, int results) {
  return begin_with(a, k, 0, ranges, results);
}

static const indexing_map *finish(map_maker *m) {
  m->map->constraint_count = m->constraints;
  return indexing_map_simplify(m->arena, m->map);
}

static void constrain(map_maker *m, const affine_expr *e, int64_t first, int64_t last) {
  m->map->constraints[m->constraints++] = (indexing_constraint){e, {first, last}};
}

static const affine_expr *thread(const map_maker *m) { return affine_dim(m->arena, 0); }

static const affine_expr *scaled(const map_maker *m, const affine_expr *e, int64_t by, const affine_expr *plus) {
  return affine_add(m->arena, affine_mul_constant(m->arena, e, by), plus);
}

static const affine_expr *block(const map_maker *m) {
  const affine_expr *x = affine_dim(m->arena, 1);
  return m->plan->launch.blocks_y > 1 ? scaled(m, affine_dim(m->arena, 2), m->plan->launch.blocks_x, x) : x;
}

static bool is_column(const map_maker *m) {
  return m->hero->on_tiles.is_column && !m->hero->is_staged && m->hero->piece == 0;
}

// --- indices of the space

// Of the groups that are reduced or not; for columns without the innermost one.
static void put_indices(const map_maker *m, bool reduced, bool with_reduced, const affine_expr *linear) {
  const reduction_space *s = m->space;
  const int count = s->group_count - is_column(m);
  int64_t sizes[SHAPE_MAX_RANK];
  const affine_expr *indices[SHAPE_MAX_RANK];
  int rank = 0;
  for (int g = 0; g < count; g++)
    if (s->is_reduced[g] == reduced) sizes[rank++] = s->sizes[g];
  affine_delinearize(m->arena, rank, sizes, linear, indices);
  for (int g = 0, next = 0, result = 0; g < count; g++) {
    if (s->is_reduced[g] == reduced) m->map->results[result] = indices[next++];
    result += with_reduced || !s->is_reduced[g];
  }
}

static int64_t last_size(const map_maker *m) { return m->space->sizes[m->space->group_count - 1]; }

// --- rows

static const affine_expr *row_of(map_maker *m) {
  const int64_t rows = m->hero->on_tiles.tile;
  const affine_expr *in_block = affine_floordiv(m->arena, thread(m), m->hero->threads);
  const affine_expr *row = scaled(m, block(m), rows, in_block);
  constrain(m, row, 0, m->space->kept - 1);
  return row;
}

static void put_row_elements(map_maker *m, const affine_expr *trip, const affine_expr *lane) {
  const hero_grid_reduction *h = m->hero;
  const affine_expr *row = row_of(m);
  const int64_t vectors = m->space->reduced / h->vector;
  const affine_expr *vector = scaled(m, trip, h->threads, affine_mod(m->arena, thread(m), h->threads));
  if (h->align > 1) {
    const affine_expr *first = affine_mul_constant(m->arena, row, vectors % h->align);
    vector = affine_sub(m->arena, vector, affine_mod(m->arena, first, h->align));
  }
  constrain(m, vector, 0, vectors - 1);
  put_indices(m, false, true, row);
  put_indices(m, true, true, scaled(m, vector, h->vector, lane));
}

// --- staged rows

static const affine_expr *place_in_stage(const map_maker *m, const affine_expr *row, const affine_expr *element) {
  return scaled(m, row, m->space->reduced + m->hero->pad, element);
}

static void put_staged_elements(map_maker *m, const affine_expr *trip, const affine_expr *lane) {
  const hero_grid_reduction *h = m->hero;
  const int64_t size = m->space->reduced;
  const affine_expr *vector = scaled(m, trip, h->threads, thread(m));
  const affine_expr *all = scaled(m, block(m), h->threads * size / h->vector, vector);
  constrain(m, vector, 0, h->threads * size / h->vector - 1);
  constrain(m, all, 0, m->space->kept * size / h->vector - 1);
  const affine_expr *element = scaled(m, vector, h->vector, lane);
  const affine_expr *row = affine_floordiv(m->arena, element, size), *in_row = affine_mod(m->arena, element, size);
  put_indices(m, false, true, scaled(m, block(m), h->threads, row));
  put_indices(m, true, true, in_row);
  m->map->results[m->space->group_count] = row;
  m->map->results[m->space->group_count + 1] = place_in_stage(m, row, in_row);
}

static const affine_expr *staged_row(map_maker *m) {
  const affine_expr *row = scaled(m, block(m), m->hero->threads, thread(m));
  constrain(m, row, 0, m->space->kept - 1);
  return row;
}

const indexing_map *emit_grid_reduction_staged(arena *a, const kernel_plan *k) {
  map_maker m = begin(a, k, 1, 1);
  m.map->ranges[0] = variable("element", m.space->reduced);
  staged_row(&m);
  m.map->results[0] = place_in_stage(&m, thread(&m), affine_symbol(a, 0));
  return finish(&m);
}

// --- rows in order

// The piece of each span that is worked on is the last dim.
static map_maker begin_piece(arena *a, const kernel_plan *k, int ranges, int results) {
  map_maker m = begin_with(a, k, 1, ranges, results);
  m.map->dims[m.map->dim_count - 1] = variable("piece", emit_grid_reduction_pieces(k));
  return m;
}

// Of the row, where element `in_piece` of span `span` has its place.
static const affine_expr *in_span(const map_maker *m, const affine_expr *span, const affine_expr *in_piece) {
  const affine_expr *piece = affine_dim(m->arena, m->map->dim_count - 1);
  return scaled(m, span, m->hero->span, scaled(m, piece, m->hero->piece, in_piece));
}

static const affine_expr *place_of_piece(const map_maker *m, const affine_expr *row, const affine_expr *span,
                                         const affine_expr *in_piece) {
  const affine_expr *all = scaled(m, row, m->hero->spans, span);
  return scaled(m, all, m->hero->piece + m->hero->pad, in_piece);
}

const indexing_map *emit_grid_reduction_piece(arena *a, const kernel_plan *k) {
  const hero_grid_reduction *h = &k->details.grid_reduction;
  const int groups = h->on_tiles.passes.space.group_count;
  map_maker m = begin_piece(a, k, h->trips > 1, groups + 2);
  if (h->trips > 1) m.map->ranges[0] = variable("trip", h->trips);
  const affine_expr *trip = h->trips > 1 ? affine_symbol(a, 0) : affine_constant(a, 0);
  const affine_expr *all = scaled(&m, trip, k->launch.threads, thread(&m));
  const affine_expr *in_piece = affine_mod(a, all, h->piece), *line = affine_floordiv(a, all, h->piece);
  const affine_expr *span = affine_mod(a, line, h->spans), *row = affine_floordiv(a, line, h->spans);
  const affine_expr *element = in_span(&m, span, in_piece);
  const affine_expr *index = scaled(&m, block(&m), h->on_tiles.tile, row);
  constrain(&m, row, 0, h->on_tiles.tile - 1);
  constrain(&m, index, 0, m.space->kept - 1);
  constrain(&m, element, 0, m.space->reduced - 1);
  put_indices(&m, false, true, index);
  put_indices(&m, true, true, element);
  m.map->results[groups] = row;
  m.map->results[groups + 1] = place_of_piece(&m, row, span, in_piece);
  return finish(&m);
}

const indexing_map *emit_grid_reduction_own_piece(arena *a, const kernel_plan *k) {
  const hero_grid_reduction *h = &k->details.grid_reduction;
  map_maker m = begin_piece(a, k, 1, 1);
  m.map->ranges[0] = variable("element", h->piece);
  const affine_expr *span = affine_mod(a, thread(&m), h->threads), *row = affine_floordiv(a, thread(&m), h->threads);
  const affine_expr *in_piece = affine_symbol(a, 0);
  constrain(&m, span, 0, h->spans - 1);
  constrain(&m, scaled(&m, block(&m), h->on_tiles.tile, row), 0, m.space->kept - 1);
  constrain(&m, in_span(&m, span, in_piece), 0, m.space->reduced - 1);
  m.map->results[0] = place_of_piece(&m, row, span, in_piece);
  return finish(&m);
}

int64_t emit_grid_reduction_pieces(const kernel_plan *k) {
  const hero_grid_reduction *h = &k->details.grid_reduction;
  return int64_ceil_div(h->span, h->piece);
}

const indexing_map *emit_grid_reduction_all_pieces(arena *a, const kernel_plan *k) {
  map_maker m = begin(a, k, 1, 0);
  m.map->ranges[0] = variable("piece", emit_grid_reduction_pieces(k));
  return finish(&m);
}

// --- columns

// The number of the column in the block, and its index among all.
typedef struct column_place {
  const affine_expr *in_block, *index;
} column_place;

// Vectors of the block's columns.
static int64_t vectors_of(const map_maker *m) { return m->hero->on_tiles.columns / m->hero->vector; }

static column_place place_of(map_maker *m, const affine_expr *vector, const affine_expr *lane) {
  const hero_grid_reduction *h = m->hero;
  const affine_expr *blocks = affine_mod(m->arena, block(m), h->on_tiles.column_blocks);
  const affine_expr *all = scaled(m, blocks, vectors_of(m), vector);
  constrain(m, all, 0, last_size(m) / h->vector - 1);
  return (column_place){scaled(m, vector, h->vector, lane), scaled(m, all, h->vector, lane)};
}

static const affine_expr *major_of(const map_maker *m) {
  return affine_floordiv(m->arena, block(m), m->hero->on_tiles.column_blocks);
}

// Which of the block's vectors the thread has. A row of threads has the elements of row, row + threads, …: all of them
// lie as far behind the begin of a sector, since so many elements are whole sectors.
static const affine_expr *vector_of_thread(map_maker *m) {
  const hero_grid_reduction *h = m->hero;
  const affine_expr *vector = affine_mod(m->arena, thread(m), h->side);
  if (h->align > 1) {
    const affine_expr *row = affine_floordiv(m->arena, thread(m), h->side);
    const affine_expr *element = scaled(m, major_of(m), m->space->reduced % h->align, row);
    const affine_expr *before = affine_mul_constant(m->arena, element, last_size(m) % h->align);
    vector = affine_sub(m->arena, vector, affine_mod(m->arena, before, h->align));
  }
  if (h->side > vectors_of(m)) constrain(m, vector, 0, vectors_of(m) - 1);
  return vector;
}

static void put_majors(map_maker *m, bool with_reduced) {
  const int64_t majors = m->space->kept / last_size(m);
  const affine_expr *major = major_of(m);
  constrain(m, major, 0, majors - 1);
  put_indices(m, false, with_reduced, major);
}

// In order: the rows of threads that one thread brings together have spans that follow on each other.
static const affine_expr *span_of_row(const map_maker *m, const affine_expr *row) {
  const int64_t lanes = m->hero->lanes;
  return scaled(m, affine_mod(m->arena, row, lanes), m->hero->threads / lanes, affine_floordiv(m->arena, row, lanes));
}

static void put_column_elements(map_maker *m, const affine_expr *trip, const affine_expr *lane) {
  const hero_grid_reduction *h = m->hero;
  const column_place at = place_of(m, vector_of_thread(m), lane);
  const affine_expr *row = affine_floordiv(m->arena, thread(m), h->side);
  const affine_expr *element =
      h->spans > 0 ? scaled(m, span_of_row(m, row), h->span, trip) : scaled(m, trip, h->threads, row);
  constrain(m, element, 0, m->space->reduced - 1);
  put_majors(m, true);
  put_indices(m, true, true, element);
  m->map->results[m->space->group_count - 1] = at.index;
  m->map->results[m->space->group_count] = at.in_block;
}

// --- the maps

const indexing_map *emit_grid_reduction_elements(arena *a, const kernel_plan *k) {
  const hero_grid_reduction *h = &k->details.grid_reduction;
  const bool has_trips = h->trips > 1, has_lanes = h->vector > 1;
  const int places = h->on_tiles.is_column + h->is_staged;
  map_maker m = begin(a, k, has_trips + has_lanes, h->on_tiles.passes.space.group_count + places);
  if (has_trips) m.map->ranges[0] = variable("trip", h->trips);
  if (has_lanes) m.map->ranges[has_trips] = variable("vector_index", h->vector);
  const affine_expr *none = affine_constant(a, 0);
  const affine_expr *trip = has_trips ? affine_symbol(a, 0) : none;
  const affine_expr *lane = has_lanes ? affine_symbol(a, has_trips) : none;
  if (h->is_staged) put_staged_elements(&m, trip, lane);
  else if (h->on_tiles.is_column) put_column_elements(&m, trip, lane);
  else put_row_elements(&m, trip, lane);
  return finish(&m);
}

static int kept_groups(const reduction_space *s) {
  int count = 0;
  for (int g = 0; g < s->group_count; g++) count += !s->is_reduced[g];
  return count;
}

const indexing_map *emit_grid_reduction_results(arena *a, const kernel_plan *k) {
  const hero_grid_reduction *h = &k->details.grid_reduction;
  const int kept = kept_groups(&h->on_tiles.passes.space);
  map_maker m = begin(a, k, 0, kept + h->on_tiles.is_column);
  if (h->is_staged) {
    put_indices(&m, false, false, staged_row(&m));
    m.map->results[kept] = thread(&m);
    return finish(&m);
  }
  if (!is_column(&m)) {
    put_indices(&m, false, false, row_of(&m));
    constrain(&m, affine_mod(a, thread(&m), h->threads), 0, 0);
    if (h->piece > 0) m.map->results[kept] = affine_floordiv(a, thread(&m), h->threads);
    return finish(&m);
  }
  const affine_expr *lane = affine_mod(a, thread(&m), h->vector);
  const column_place at = place_of(&m, affine_floordiv(a, thread(&m), h->vector), lane);
  constrain(&m, thread(&m), 0, h->on_tiles.columns - 1);
  put_majors(&m, false);
  m.map->results[kept - 1] = at.index;
  m.map->results[kept] = at.in_block;
  return finish(&m);
}

// --- partial results

static const affine_expr *warp_partial(const map_maker *m, int64_t warp, bool is_own) {
  const int64_t warps = m->hero->threads / warp;
  if (is_own) return affine_floordiv(m->arena, thread(m), warp);
  const affine_expr *row = affine_floordiv(m->arena, thread(m), m->hero->threads);
  return scaled(m, row, warps, affine_mod(m->arena, thread(m), warps));
}

// Columns lie there in the order in which a row of threads writes them: by number in the vector first.
static const affine_expr *thread_partial(map_maker *m) {
  const hero_grid_reduction *h = m->hero;
  const affine_expr *row = affine_floordiv(m->arena, thread(m), h->side);
  const affine_expr *lane = h->vector > 1 ? affine_symbol(m->arena, 0) : affine_constant(m->arena, 0);
  const affine_expr *column = scaled(m, lane, vectors_of(m), vector_of_thread(m));
  return scaled(m, row, h->on_tiles.columns + h->pad, column);
}

// Which of the block's columns, in that order, the thread and its neighbours take.
static const affine_expr *shared_column(const map_maker *m) {
  const int64_t lanes = m->hero->lanes;
  const affine_expr *own = affine_floordiv(m->arena, thread(m), lanes);
  return scaled(m, affine_symbol(m->arena, 0), m->plan->launch.threads / lanes, own);
}

// Rows in order, and spans.
static const affine_expr *order_of(const map_maker *m, grid_partial which, int64_t warp) {
  const hero_grid_reduction *h = m->hero;
  arena *a = m->arena;
  if (which == GRID_PARTIAL_RESULT) return affine_floordiv(a, thread(m), h->threads);
  if (which == GRID_PARTIAL_SPAN_OF_OTHER)
    return affine_mul_constant(a, affine_mod(a, thread(m), h->threads / warp), warp);
  if (h->piece > 0) return affine_mod(a, thread(m), h->threads);
  return scaled(m, affine_mod(a, thread(m), h->lanes), h->threads / h->lanes, affine_symbol(a, 0));
}

const indexing_map *emit_grid_reduction_partial(arena *a, const kernel_plan *k, const target_description *target,
                                                grid_partial which) {
  const hero_grid_reduction *h = &k->details.grid_reduction;
  const int64_t warp = target->subgroup_size, columns = h->on_tiles.columns;
  const bool has_trips = which == GRID_PARTIAL_OF_ROW || which == GRID_PARTIAL_COLUMN;
  const bool has_rows = which == GRID_PARTIAL_OF_ROW || (which == GRID_PARTIAL_SPAN && h->piece == 0);
  const bool has_lanes = which == GRID_PARTIAL_OF_THREAD && h->vector > 1;
  map_maker m = begin(a, k, has_trips + has_rows + has_lanes, 1);
  if (has_trips) m.map->ranges[0] = variable("trip", int64_ceil_div(columns, k->launch.threads / h->lanes));
  if (has_rows) m.map->ranges[has_trips] = variable("row", h->threads / h->lanes);
  if (has_lanes) m.map->ranges[0] = variable("vector_index", h->vector);
  if (has_trips) constrain(&m, shared_column(&m), 0, columns - 1);
  if (which >= GRID_PARTIAL_RESULT) {
    m.map->results[0] = order_of(&m, which, warp);
  } else if (which <= GRID_PARTIAL_OF_OTHER) {
    m.map->results[0] = warp_partial(&m, warp, which == GRID_PARTIAL_OF_WARP);
  } else if (which == GRID_PARTIAL_OF_THREAD) {
    m.map->results[0] = thread_partial(&m);
  } else if (which == GRID_PARTIAL_OF_ROW) {
    const affine_expr *row = scaled(&m, affine_symbol(a, 1), h->lanes, affine_mod(a, thread(&m), h->lanes));
    m.map->results[0] = scaled(&m, row, columns + h->pad, shared_column(&m));
  } else {
    const affine_expr *at = shared_column(&m);
    const int64_t vectors = vectors_of(&m);
    m.map->results[0] = scaled(&m, affine_mod(a, at, vectors), h->vector, affine_floordiv(a, at, vectors));
  }
  return finish(&m);
}
