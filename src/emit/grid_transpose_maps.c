// A tile's elements are numbered as they follow each other in memory, the operand's or the result's; trips of a block's
// threads take as many numbers as there are threads, each an access long. All else is taking such a number apart.
#include "emit/grid_transpose_maps.h"

#include "base/int64.h"

static const hero_grid_transpose *hero_of(const kernel_plan *k) { return &k->details.grid_transpose; }

static indexing_variable sized(const char *name, int64_t count) {
  return (indexing_variable){.bounds = {0, count - 1}, .name = str_from(name)};
}

static const affine_expr *joined(arena *a, const affine_expr *part, int64_t size, const affine_expr *within) {
  return affine_add(a, affine_mul_constant(a, part, size), within);
}

// --- where a block is

static void split_block(arena *a, const hero_grid_transpose *h, const affine_expr *block, const affine_expr **where) {
  const affine_expr *found[3];
  affine_delinearize(a, 3, (int64_t[]){h->tiles_batches, h->tiles_b, h->tiles_a}, block, found);
  where[0] = found[0];
  where[1] = found[2];
  where[2] = found[1];
}

const indexing_map *emit_grid_transpose_block(arena *a, const kernel_plan *k) {
  indexing_map *m = indexing_map_create(a, 1, 0, 0, 3, 0);
  m->dims[0] = sized("bl_x", k->launch.blocks_x);
  split_block(a, hero_of(k), affine_dim(a, 0), m->results);
  return indexing_map_simplify(a, m);
}

// --- where a thread is in the tile

// An element of a tile: which batch, along a, along b, and of the kept axis.
typedef struct place {
  const affine_expr *batch, *a, *b, *kept;
} place;

// The tile as a loop goes over it: `rows` of `width` numbers each, for each batch.
typedef struct walk {
  int64_t batches, rows, width, lanes, trips;
} walk;

static int64_t numbers_of(const walk *w) { return w->batches * w->rows * w->width; }

static walk walk_of(const kernel_plan *k, bool is_in) {
  const hero_grid_transpose *h = hero_of(k);
  walk w = {.batches = h->tile_batches,
            .rows = is_in ? int64_min(h->tile_b, h->b) : int64_min(h->tile_a, h->a),
            .width = (is_in ? h->tile_a : h->tile_b) * h->kept,
            .lanes = is_in ? h->lanes_in : h->lanes_out};
  w.trips = int64_ceil_div(numbers_of(&w), k->launch.threads * w.lanes);
  return w;
}

// A map from launch ids, trips and lanes; the number of the element that they take.
static indexing_map *number_map(arena *a, const kernel_plan *k, const walk *w, int result_count, int constraint_count,
                                const affine_expr **number) {
  const bool has_lanes = w->lanes > 1;
  indexing_map *m = indexing_map_create(a, 2, 1 + has_lanes, 0, result_count, constraint_count);
  m->dims[0] = sized("th_x", k->launch.threads);
  m->dims[1] = sized("bl_x", k->launch.blocks_x);
  m->ranges[0] = sized("i", w->trips);
  if (has_lanes) m->ranges[1] = sized("vector_index", w->lanes);
  *number = joined(a, affine_symbol(a, 0), k->launch.threads, affine_dim(a, 0));
  if (has_lanes) *number = joined(a, *number, w->lanes, affine_symbol(a, 1));
  return m;
}

static place place_of(arena *a, const hero_grid_transpose *h, bool is_in, const walk *w, const affine_expr *number) {
  const affine_expr *line = affine_floordiv(a, number, w->width), *within = affine_mod(a, number, w->width);
  const affine_expr *batch = affine_constant(a, 0), *row = line, *column = affine_floordiv(a, within, h->kept);
  if (w->batches > 1) {
    const int64_t lines = h->batches_in_rows ? w->batches : w->rows;
    const affine_expr *outer = affine_floordiv(a, line, lines), *inner = affine_mod(a, line, lines);
    batch = h->batches_in_rows ? inner : outer;
    row = h->batches_in_rows ? outer : inner;
  }
  return (place){batch, is_in ? column : row, is_in ? row : column, affine_mod(a, within, h->kept)};
}

// --- where the element is in arrays

typedef struct position {
  const affine_expr *by[4];  // batch, a, b, kept
} position;

static position position_of(arena *a, const hero_grid_transpose *h, const affine_expr *block, const place *p) {
  const affine_expr *where[3];
  split_block(a, h, block, where);
  return (position){{joined(a, where[0], h->tile_batches, p->batch), joined(a, where[1], h->tile_a, p->a),
                     joined(a, where[2], h->tile_b, p->b), p->kept}};
}

static void indices_at(arena *a, const indexing_map *map, const position *p, const affine_expr **results) {
  for (int r = 0; r < map->result_count; r++)
    results[r] = affine_replace(a, map->results[r], p->by, map->dim_count, NULL, 0);
}

// Whether tiles at the end of a side leave the arrays.
static bool is_cut(int64_t size, int64_t tile) { return size % tile != 0; }

enum { MOST_CONSTRAINTS = 4 };

// The element is one of the tile's, and the tile has it.
static void constrain(indexing_map *m, const kernel_plan *k, const walk *w, int64_t step, const affine_expr *number,
                      const position *p, bool is_full) {
  const hero_grid_transpose *h = hero_of(k);
  int count = 0;
  if (numbers_of(w) % (k->launch.threads * step) != 0)
    m->constraints[count++] = (indexing_constraint){number, {0, numbers_of(w) - 1}};
  if (!is_full && is_cut(h->batches, h->tile_batches))
    m->constraints[count++] = (indexing_constraint){p->by[0], {0, h->batches - 1}};
  if (!is_full && is_cut(h->a, h->tile_a)) m->constraints[count++] = (indexing_constraint){p->by[1], {0, h->a - 1}};
  if (!is_full && is_cut(h->b, h->tile_b)) m->constraints[count++] = (indexing_constraint){p->by[2], {0, h->b - 1}};
  m->constraint_count = count;
}

// --- where the element is in shared memory

static void indices_in_shared(arena *a, const hero_grid_transpose *h, int hero, const place *p,
                              const affine_expr **results) {
  const grid_transpose_tile *t = &h->in_shared[hero];
  const int last = t->shape->rank - 1 - (h->kept > 1);
  const affine_expr *column = joined(a, affine_mod(a, p->b, h->rows_per_line), h->tile_a, p->a);
  for (int d = 0; d < t->shape->rank; d++) results[d] = affine_constant(a, 0);
  if (h->is_packed) {
    const int64_t lanes = h->lanes_in, accesses = h->rows_per_line * h->tile_a / lanes;
    const affine_expr *turns = affine_mul_constant(a, affine_floordiv(a, p->b, lanes), h->turn);
    const affine_expr *turned = affine_add(a, affine_floordiv(a, column, lanes), turns);
    column = joined(a, affine_mod(a, turned, accesses), lanes, affine_mod(a, p->a, lanes));
  }
  if (t->batch_dim >= 0) results[t->batch_dim] = p->batch;
  results[t->row_dim] = affine_floordiv(a, p->b, h->rows_per_line);
  results[last] = column;
  if (h->kept > 1) results[last + 1] = p->kept;
}

static int first_of_group(const hero_grid_transpose *h, int group) {
  int n = 0;
  while (h->in_shared[n].group != group) n++;
  return n;
}

// --- element by element

const indexing_map *emit_grid_transpose_in(arena *a, const kernel_plan *k, int group, bool is_full) {
  const hero_grid_transpose *h = hero_of(k);
  const int hero = first_of_group(h, group), indices = h->to_operand[group]->result_count;
  const walk w = walk_of(k, true);
  const affine_expr *number;
  indexing_map *m = number_map(a, k, &w, indices + h->in_shared[hero].shape->rank, MOST_CONSTRAINTS, &number);
  const place at = place_of(a, h, true, &w, number);
  const position p = position_of(a, h, affine_dim(a, 1), &at);
  indices_at(a, h->to_operand[group], &p, m->results);
  indices_in_shared(a, h, hero, &at, m->results + indices);
  constrain(m, k, &w, w.lanes, number, &p, is_full);
  return indexing_map_simplify(a, m);
}

const indexing_map *emit_grid_transpose_out(arena *a, const kernel_plan *k, bool is_full) {
  const hero_grid_transpose *h = hero_of(k);
  const walk w = walk_of(k, false);
  const affine_expr *number;
  indexing_map *m = number_map(a, k, &w, h->to_result->result_count, MOST_CONSTRAINTS, &number);
  const place at = place_of(a, h, false, &w, number);
  const position p = position_of(a, h, affine_dim(a, 1), &at);
  indices_at(a, h->to_result, &p, m->results);
  constrain(m, k, &w, w.lanes, number, &p, is_full);
  return indexing_map_simplify(a, m);
}

const indexing_map *emit_grid_transpose_from_shared(arena *a, const kernel_plan *k, int hero) {
  const hero_grid_transpose *h = hero_of(k);
  const walk w = walk_of(k, false);
  const affine_expr *number;
  indexing_map *m = number_map(a, k, &w, h->in_shared[hero].shape->rank, 0, &number);
  const place at = place_of(a, h, false, &w, number);
  indices_in_shared(a, h, hero, &at, m->results);
  return indexing_map_simplify(a, m);
}

// --- square by square

// Numbers are those of squares, a result's row of them after the other.
static walk walk_of_squares(const kernel_plan *k) {
  const hero_grid_transpose *h = hero_of(k);
  walk w = {
      .batches = 1, .rows = int64_min(h->tile_a, h->a) / h->lanes_in, .width = h->tile_b / h->lanes_out, .lanes = 1};
  w.trips = int64_ceil_div(numbers_of(&w), k->launch.threads);
  return w;
}

const indexing_map *emit_grid_transpose_squares(arena *a, const kernel_plan *k, bool is_full) {
  const hero_grid_transpose *h = hero_of(k);
  const walk w = walk_of_squares(k);
  const affine_expr *number;
  indexing_map *m = number_map(a, k, &w, 2, MOST_CONSTRAINTS, &number);
  m->results[0] = affine_mod(a, number, w.width);
  m->results[1] = affine_floordiv(a, number, w.width);
  const place at = {affine_constant(a, 0), affine_mul_constant(a, m->results[1], h->lanes_in),
                    affine_mul_constant(a, m->results[0], h->lanes_out), affine_constant(a, 0)};
  const position p = position_of(a, h, affine_dim(a, 1), &at);
  constrain(m, k, &w, 1, number, &p, is_full);
  return indexing_map_simplify(a, m);
}

static void name_squares(const kernel_plan *k, indexing_variable *dims) {
  const walk w = walk_of_squares(k);
  dims[0] = sized("column", w.width);
  dims[1] = sized("row", w.rows);
}

const indexing_map *emit_grid_transpose_line(arena *a, const kernel_plan *k, int hero, int64_t line) {
  const hero_grid_transpose *h = hero_of(k);
  indexing_map *m = indexing_map_create(a, 2, 0, 0, h->in_shared[hero].shape->rank, 0);
  name_squares(k, m->dims);
  const place at = {affine_constant(a, 0), affine_mul_constant(a, affine_dim(a, 1), h->lanes_in),
                    joined(a, affine_dim(a, 0), h->lanes_out, affine_constant(a, line)), affine_constant(a, 0)};
  indices_in_shared(a, h, hero, &at, m->results);
  return indexing_map_simplify(a, m);
}

const indexing_map *emit_grid_transpose_square(arena *a, const kernel_plan *k) {
  const hero_grid_transpose *h = hero_of(k);
  indexing_map *m = indexing_map_create(a, 3, 2, 0, h->to_result->result_count, 0);
  m->dims[0] = sized("bl_x", k->launch.blocks_x);
  name_squares(k, m->dims + 1);
  m->ranges[0] = sized("k", h->lanes_in);
  m->ranges[1] = sized("vector_index", h->lanes_out);
  const place at = {affine_constant(a, 0), joined(a, affine_dim(a, 2), h->lanes_in, affine_symbol(a, 0)),
                    joined(a, affine_dim(a, 1), h->lanes_out, affine_symbol(a, 1)), affine_constant(a, 0)};
  const position p = position_of(a, h, affine_dim(a, 0), &at);
  indices_at(a, h->to_result, &p, m->results);
  return indexing_map_simplify(a, m);
}
