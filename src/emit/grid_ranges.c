// A decision tree over the block's number, the same way for all threads of a block, then a loop over the elements that
// a thread takes.
#include "emit/grid_ranges.h"

#include "emit/choose.h"
#include "emit/loop.h"

static indexing_variable sized(const char *name, int64_t count) {
  return (indexing_variable){.bounds = {0, count - 1}, .name = str_from(name)};
}

// (th_x, bl)[vector_index] -> the element's indices, where bl is counted from the range's first block.
static const indexing_map *range_map(arena *a, const grid_range *r, int64_t threads) {
  const bool is_uneven = r->blocks * threads * r->unroll > r->elements;
  indexing_map *m = indexing_map_create(a, 2, 1, 0, r->space->rank, is_uneven);
  m->dims[0] = sized("th_x", threads);
  m->dims[1] = sized("bl_x", r->blocks);
  m->ranges[0] = sized("vector_index", r->unroll);
  const affine_expr *thread = affine_add(a, affine_mul_constant(a, affine_dim(a, 1), threads), affine_dim(a, 0));
  const affine_expr *linear = affine_add(a, affine_mul_constant(a, thread, r->unroll), affine_symbol(a, 0));
  emit_loop_indices(a, r->space, linear, m->results);
  if (is_uneven) m->constraints[0] = (indexing_constraint){linear, {0, r->elements - 1}};
  return indexing_map_simplify(a, m);
}

// --- block numbers

MlirValue emit_grid_ranges_block(kernel_entry *e) {
  const launch_plan *l = &e->kernel->plan->launch;
  if (l->blocks_y == 1) return e->ids.data[1];
  indexing_map *m = indexing_map_create(e->kernel->arena, 2, 0, 0, 1, 0);
  m->dims[0] = sized("bl_x", l->blocks_x);
  m->dims[1] = sized("bl_y", l->blocks_y);
  m->results[0] =
      affine_add(e->kernel->arena, affine_mul_constant(e->kernel->arena, affine_dim(e->kernel->arena, 1), l->blocks_x),
                 affine_dim(e->kernel->arena, 0));
  return ir_apply_indexing(&e->b, m, e->ids.data + 1, NULL).data[0];
}

typedef struct range_choice {
  const grid_range *ranges;
  const int *numbers;  // of those that have blocks
  int count;
  const bool *const *changes;
  MlirValue block;
  entry_body body;
  const void *const *arguments;
} range_choice;

MlirValue emit_grid_ranges_number(kernel_entry *e, MlirValue block, int64_t first, int64_t count) {
  const MlirValue operands[] = {block, ir_index(&e->b, first)};
  const MlirNamedAttribute range = ir_named(e->b.context, "xla.range", emit_entry_range(e->b.context, count));
  return ir_value_with(&e->b, "arith.subi", mlirIndexTypeGet(e->b.context), 2, operands, 1, &range);
}

// Where a grid has more blocks than are needed the last range has them.
static MlirValue number_in_range(kernel_entry *e, const range_choice *c, int choice) {
  const grid_range *r = &c->ranges[c->numbers[choice]];
  const launch_plan *l = &e->kernel->plan->launch;
  if (c->count == 1) return c->block;
  const int64_t blocks = choice + 1 < c->count ? r->blocks : l->blocks_x * l->blocks_y - r->first_block;
  return emit_grid_ranges_number(e, c->block, r->first_block, blocks);
}

static heddle_status walk_range(kernel_entry *e, int choice, const void *argument) {
  const range_choice *c = argument;
  const int number = c->numbers[choice];
  const indexing_map *map = range_map(e->kernel->arena, &c->ranges[number], e->kernel->plan->launch.threads);
  const MlirValue dims[] = {e->ids.data[0], number_in_range(e, c, choice)};
  if (!c->changes) return emit_entry_loop(e, map, dims, c->body, c->arguments[number]);
  return emit_entry_loop_changing(e, map, dims, c->changes[number], c->body, c->arguments[number]);
}

heddle_status emit_grid_ranges(kernel_entry *e, int count, const grid_range *ranges, const bool *const *changes,
                               entry_body body, const void *const *arguments) {
  arena *a = e->kernel->arena;
  int *numbers = arena_array(a, int, count), kept = 0;
  int64_t *firsts = arena_array(a, int64_t, count);
  for (int r = 0; r < count; r++) {
    if (ranges[r].blocks == 0) continue;
    firsts[kept] = ranges[r].first_block;
    numbers[kept++] = r;
  }
  if (kept == 0) return status_ok();
  const range_choice c = {ranges, numbers, kept, changes, emit_grid_ranges_block(e), body, arguments};
  return emit_choose(e, c.block, kept, firsts, walk_range, &c);
}
