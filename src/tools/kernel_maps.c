// There is one function per hero, which follows the loops that its emitter makes of the same plan (emit/*.c). Ranges of
// the maps stand for the loops within a tile.
#include "tools/kernel_maps.h"

#include "emit/loop.h"
#include "index/hlo_indexing.h"

typedef struct finding {
  arena *arena;
  const kernel_plan *kernel;
  const target_description *target;
  kernel_maps *out;
} finding;

typedef heddle_status (*hero_maps)(const finding *f);

static void add(const finding *f, const instruction *of, int output, const indexing_map *m) {
  const indexing_map *simple = indexing_map_simplify(f->arena, m);
  if (!simple->is_empty) vec_push(f->arena, &f->out->list, ((kernel_map){of, output, simple}));
}

// Where `m` leads in an array of shape `space`, output `n` has the same element.
static void add_output(const finding *f, int n, const indexing_map *m, const shape *space) {
  const kernel_output *o = &f->kernel->outputs[n];
  if (!shape_same_dims(space, o->shape))
    m = indexing_map_compose(f->arena, m, hlo_indexing_reshape(f->arena, space, o->shape));
  add(f, o->root, n, m);
}

static indexing_variable sized(const char *name, int64_t count) {
  return (indexing_variable){.bounds = {0, count - 1}, .name = str_from(name)};
}

// part * size + within
static const affine_expr *joined(arena *a, const affine_expr *part, int64_t size, const affine_expr *within) {
  return affine_add(a, affine_mul_constant(a, part, size), within);
}

// --- loops and blocks

// (tile)[row, i] -> index in the block's space: whole rows, or chunks of one.
static indexing_map *block_map(arena *a, const kernel_block *block) {
  const bool takes_rows = block->rows > 1 && block->chunk == block->contiguous;
  const int64_t chunks = takes_rows ? 1 : block->tiles / block->rows;
  const shape *s = block->space;
  indexing_map *m = indexing_map_create(a, 1, 2, 0, s->rank, 2);
  m->dims[0] = sized("tile", block->tiles);
  m->ranges[0] = sized("row", takes_rows ? block->rows_per_tile : 1);
  m->ranges[1] = sized("i", block->chunk);
  const affine_expr *tile = affine_dim(a, 0);
  const affine_expr *row =
      takes_rows ? joined(a, tile, block->rows_per_tile, affine_symbol(a, 0)) : affine_floordiv(a, tile, chunks);
  const affine_expr *position = joined(a, affine_mod(a, tile, chunks), block->chunk, affine_symbol(a, 1));
  affine_delinearize(a, block->split, s->dims, row, m->results);
  affine_delinearize(a, s->rank - block->split, s->dims + block->split, position, m->results + block->split);
  m->constraints[0] = (indexing_constraint){row, {0, block->rows - 1}};
  m->constraints[1] = (indexing_constraint){position, {0, block->contiguous - 1}};
  return m;
}

static heddle_status loop_maps(const finding *f) {
  const hero_loop *h = &f->kernel->details.loop;
  const shape *space = f->kernel->outputs[0].shape;
  const indexing_map *m =
      h->is_blocked ? block_map(f->arena, &h->block) : emit_loop_map(f->arena, f->target, &f->kernel->launch, space);
  for (int n = 0; n < f->kernel->output_count; n++) {
    const kernel_output *o = &f->kernel->outputs[n];
    // Outputs of other dims are stored at the same position in memory.
    const bool is_same = shape_same_dims(space, o->shape);
    add(f, o->root, n,
        is_same ? m : indexing_map_compose(f->arena, m, hlo_indexing_bitcast(f->arena, space, o->shape)));
  }
  return status_ok();
}

static heddle_status loops_maps(const finding *f) {
  const hero_loops *h = &f->kernel->details.loops;
  for (int n = 0; n < f->kernel->output_count; n++) {
    const int b = h->block_of[n];
    if (b < 0) continue;
    const indexing_map *m = block_map(f->arena, &h->blocks[b]);
    const indexing_map *to = f->kernel->parts[b].results[h->value_of[n]].map;
    if (to) m = indexing_map_compose(f->arena, m, to);
    add(f, f->kernel->outputs[n].root, n, m);
  }
  return status_ok();
}

static heddle_status concatenate_maps(const finding *f) {
  const hero_concatenate *h = &f->kernel->details.concatenate;
  for (int b = 0; b < h->block_count; b++) {
    if (h->blocks[b].tiles == 0) continue;
    indexing_map *m = block_map(f->arena, &h->blocks[b]);
    m->results[h->dim] = affine_add_constant(f->arena, m->results[h->dim], h->offsets[b]);
    for (int n = 0; n < f->kernel->output_count; n++) add_output(f, n, m, f->kernel->hero_instruction->shape);
  }
  return status_ok();
}

// --- tiles of transposes

static heddle_status transpose_maps(const finding *f) {
  const hero_transpose *h = &f->kernel->details.transpose;
  arena *a = f->arena;
  indexing_map *m = indexing_map_create(a, 1, 2, 0, h->to_result->result_count, 2);
  m->dims[0] = sized("tile", h->batches * h->tiles_a * h->tiles_b);
  m->ranges[0] = sized("i", h->tile_a);
  m->ranges[1] = sized("j", h->tile_b);
  const affine_expr *where[3];
  affine_delinearize(a, 3, (int64_t[]){h->batches, h->tiles_a, h->tiles_b}, affine_dim(a, 0), where);
  const affine_expr *by[] = {where[0], joined(a, where[1], h->tile_a, affine_symbol(a, 0)),
                             joined(a, where[2], h->tile_b, affine_symbol(a, 1))};
  for (int r = 0; r < m->result_count; r++) m->results[r] = affine_replace(a, h->to_result->results[r], by, 3, NULL, 0);
  m->constraints[0] = (indexing_constraint){by[1], {0, h->a - 1}};
  m->constraints[1] = (indexing_constraint){by[2], {0, h->b - 1}};
  for (int n = 0; n < f->kernel->output_count; n++) add_output(f, n, m, h->heroes[0]->shape);
  return status_ok();
}

// --- passes over rows and columns

// (tile)[row, column, reduced…] -> indices of all groups, or of the kept ones only.
static indexing_map *pass_map(arena *a, const hero_reduction *h, int64_t tiles, bool is_element) {
  const reduction_space *space = &h->passes.space;
  const int last = space->group_count - 1, blocks = h->is_column ? (int)h->column_blocks : 1;
  const int64_t columns = h->is_column ? space->sizes[last] : 1, others = space->kept / columns;
  const int64_t width = blocks > 1 ? h->columns : columns;
  int64_t majors[SHAPE_MAX_RANK];
  int reduced = 0, major_count = 0;
  for (int g = 0; g < space->group_count; g++) {
    reduced += space->is_reduced[g];
    if (!space->is_reduced[g] && !(h->is_column && g == last)) majors[major_count++] = space->sizes[g];
  }
  indexing_map *m =
      indexing_map_create(a, 1, 2 + (is_element ? reduced : 0), 0, space->group_count - (is_element ? 0 : reduced), 2);
  m->dims[0] = sized("tile", tiles);
  m->ranges[0] = sized("row", h->tile);
  m->ranges[1] = sized("column", width);
  const affine_expr *tile = affine_dim(a, 0);
  const affine_expr *number = joined(a, affine_floordiv(a, tile, blocks), h->tile, affine_symbol(a, 0));
  const affine_expr *column = joined(a, affine_mod(a, tile, blocks), width, affine_symbol(a, 1));
  const affine_expr *major[SHAPE_MAX_RANK];
  affine_delinearize(a, major_count, majors, number, major);
  int result = 0, kept = 0, inner = 0;
  for (int g = 0; g < space->group_count; g++) {
    if (!space->is_reduced[g]) {
      m->results[result++] = h->is_column && g == last ? column : major[kept++];
    } else if (is_element) {
      m->ranges[2 + inner] = sized("r", space->sizes[g]);
      m->results[result++] = affine_symbol(a, 2 + inner++);
    }
  }
  m->constraints[0] = (indexing_constraint){number, {0, others - 1}};
  m->constraints[1] = (indexing_constraint){column, {0, columns - 1}};
  return m;
}

// A pass's reductions are computed once for each row, whatever reads them.
static void add_reduction(const finding *f, const hero_reduction *h, const row_reduction *r) {
  const shape *s = shape_is_tuple(r->reduce->shape) ? r->reduce->shape->elements[0] : r->reduce->shape;
  const shape *kept = reduction_space_kept_shape(f->arena, &h->passes.space, s->dtype);
  const indexing_map *m = pass_map(f->arena, h, f->kernel->launch.tiles, false);
  for (int n = 0; n < f->kernel->output_count; n++)
    if (f->kernel->outputs[n].root == r->reduce) return;
  if (!shape_same_dims(kept, s)) m = indexing_map_compose(f->arena, m, hlo_indexing_reshape(f->arena, kept, s));
  add(f, r->reduce, -1, m);
}

static heddle_status row_maps(const finding *f) {
  const hero_reduction *h = &f->kernel->details.reduction;
  const reduction_space *space = &h->passes.space;
  for (int n = 0; n < f->kernel->output_count; n++) {
    const kernel_output *o = &f->kernel->outputs[n];
    const bool is_element = shape_element_count(o->shape) == space->kept * space->reduced;
    const shape *from = is_element ? reduction_space_shape(f->arena, space, o->shape->dtype)
                                   : reduction_space_kept_shape(f->arena, space, o->shape->dtype);
    add_output(f, n, pass_map(f->arena, h, f->kernel->launch.tiles, is_element), from);
  }
  for (int s = 0; s < h->passes.pass_count; s++)
    for (int r = 0; r < h->passes.passes[s].reductions.size; r++)
      add_reduction(f, h, &h->passes.passes[s].reductions.data[r]);
  return status_ok();
}

// --- updates in place

static heddle_status update_maps(const finding *f) {
  const hero_update_slice *h = &f->kernel->details.update_slice;
  f->out->are_windows = true;
  for (int n = 0; n < f->kernel->output_count; n++)
    add(f, h->slices[n]->operands[1], n, block_map(f->arena, &h->block));
  return status_ok();
}

// (tile)[update, row, i] -> index of the updates.
static heddle_status scatter_maps(const finding *f) {
  const hero_scatter *h = &f->kernel->details.scatter;
  arena *a = f->arena;
  if (h->tiling == SCATTER_BY_OWNER)
    return status_at(HEDDLE_UNIMPLEMENTED, h->scatter->where,
                     "which tile takes an update of " STR_FMT " is known at run time only", STR_ARG(h->scatter->name));
  const bool by_update = h->tiling == SCATTER_BY_UPDATE, by_column = h->tiling == SCATTER_BY_COLUMN;
  const int64_t updates = h->updates->dims[0], chunk = by_column ? h->chunk : h->contiguous;
  indexing_map *m = indexing_map_create(a, 1, 3, 0, h->updates->rank, 2);
  m->dims[0] = sized("tile", f->kernel->launch.tiles);
  m->ranges[0] = sized("update", by_update ? h->chunk : updates);
  m->ranges[1] = sized("row", h->rows);
  m->ranges[2] = sized("i", chunk);
  const affine_expr *tile = affine_dim(a, 0), *position = affine_symbol(a, 2);
  m->results[0] = by_update ? joined(a, tile, h->chunk, affine_symbol(a, 0)) : affine_symbol(a, 0);
  if (by_column) position = joined(a, tile, chunk, position);
  const int64_t *sizes = h->updates->dims + 1;
  affine_delinearize(a, h->split, sizes, affine_symbol(a, 1), m->results + 1);
  affine_delinearize(a, h->updates->rank - 1 - h->split, sizes + h->split, position, m->results + 1 + h->split);
  m->constraints[0] = (indexing_constraint){m->results[0], {0, updates - 1}};
  m->constraints[1] = (indexing_constraint){position, {0, h->contiguous - 1}};
  f->out->are_windows = true;
  const int first = f->kernel->output_count + 1;  // behind operands and indices
  for (int n = 0; n < f->kernel->output_count; n++) add(f, h->scatter->operands[first + n], n, m);
  return status_ok();
}

static const hero_maps heroes[HERO_COUNT] = {
    [HERO_CONCATENATE] = concatenate_maps, [HERO_LOOP] = loop_maps,       [HERO_LOOPS] = loops_maps,
    [HERO_REDUCTION] = row_maps,           [HERO_SCATTER] = scatter_maps, [HERO_TRANSPOSE] = transpose_maps,
    [HERO_UPDATE_SLICE] = update_maps,
};

heddle_status kernel_maps_find(arena *a, const kernel_plan *kernel, const target_description *target,
                               kernel_maps *out) {
  *out = (kernel_maps){0};
  return heroes[kernel->hero](&(finding){a, kernel, target, out});
}
