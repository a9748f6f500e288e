// Makes the loops over the blocks of a kernel (kernel_block): a decision tree over the tile number, then a loop over
// rows, then one over the contiguous elements of a row.
//
// The innermost loop is over one variable with the constraint in its bound, as the vectorizer takes it.
#include "emit/blocks.h"

#include "emit/choose.h"

static indexing_variable sized(const char *name, int64_t count) {
  return (indexing_variable){.bounds = {0, count - 1}, .name = str_from(name)};
}

// --- one block

static void delinearize_parts(arena *a, const kernel_block *block, const affine_expr *row, const affine_expr *position,
                              const affine_expr **results) {
  const shape *s = block->space;
  affine_delinearize(a, block->split, s->dims, row, results);
  affine_delinearize(a, s->rank - block->split, s->dims + block->split, position, results + block->split);
}

// (tile)[i] -> the i-th element of a chunk of a row.
static const indexing_map *chunk_map(arena *a, const kernel_block *block) {
  int64_t chunks = block->tiles / block->rows;
  bool is_uneven = block->contiguous % block->chunk != 0;
  indexing_map *m = indexing_map_create(a, 1, 1, 0, block->space->rank, is_uneven);
  m->dims[0] = sized("tile", block->tiles);
  m->ranges[0] = sized("i", block->chunk);
  const affine_expr *row = affine_floordiv(a, affine_dim(a, 0), chunks);
  const affine_expr *chunk = affine_mod(a, affine_dim(a, 0), chunks);
  const affine_expr *position = affine_add(a, affine_mul_constant(a, chunk, block->chunk), affine_symbol(a, 0));
  delinearize_parts(a, block, row, position, m->results);
  if (is_uneven) m->constraints[0] = (indexing_constraint){position, {0, block->contiguous - 1}};
  return indexing_map_simplify(a, m);
}

// (tile)[r] -> the r-th row of the tile.
static const indexing_map *rows_map(arena *a, const kernel_block *block) {
  bool is_uneven = block->rows % block->rows_per_tile != 0;
  indexing_map *m = indexing_map_create(a, 1, 1, 0, 1, is_uneven);
  m->dims[0] = sized("tile", block->tiles);
  m->ranges[0] = sized("r", block->rows_per_tile);
  m->results[0] = affine_add(a, affine_mul_constant(a, affine_dim(a, 0), block->rows_per_tile), affine_symbol(a, 0));
  if (is_uneven) m->constraints[0] = (indexing_constraint){m->results[0], {0, block->rows - 1}};
  return m;
}

// (row)[i] -> the i-th element of the row.
static const indexing_map *run_map(arena *a, const kernel_block *block) {
  indexing_map *m = indexing_map_create(a, 1, 1, 0, block->space->rank, 0);
  m->dims[0] = sized("row", block->rows);
  m->ranges[0] = sized("i", block->contiguous);
  delinearize_parts(a, block, affine_dim(a, 0), affine_symbol(a, 0), m->results);
  return indexing_map_simplify(a, m);
}

typedef struct run_body {
  const kernel_block *block;
  entry_body body;
  const void *argument;
} run_body;

static heddle_status walk_run(kernel_entry *e, ir_builder *b, const index_vector *row, MlirValue *outputs,
                              const void *argument) {
  const run_body *r = argument;
  return emit_entry_inner_loop(e, b, outputs, run_map(b->arena, r->block), row->values, r->body, r->argument);
}

heddle_status emit_block(kernel_entry *e, const kernel_block *block, MlirValue tile, entry_body body,
                         const void *argument) {
  arena *a = e->kernel->arena;
  bool takes_rows = block->rows > 1 && block->chunk == block->contiguous;
  if (!takes_rows) return emit_entry_loop(e, chunk_map(a, block), &tile, body, argument);
  return emit_entry_loop(e, rows_map(a, block), &tile, walk_run, &(run_body){block, body, argument});
}

typedef struct rows_body {
  int count;
  const kernel_block *blocks;
  entry_body body;
  const void *const *arguments;
} rows_body;

static heddle_status walk_runs(kernel_entry *e, ir_builder *b, const index_vector *row, MlirValue *outputs,
                               const void *argument) {
  const rows_body *r = argument;
  for (int n = 0; n < r->count; n++) {
    const run_body run = {&r->blocks[n], r->body, r->arguments[n]};
    TRY(walk_run(e, b, row, outputs, &run));
  }
  return status_ok();
}

heddle_status emit_rows_of_blocks(kernel_entry *e, int count, const kernel_block *blocks, MlirValue tile,
                                  entry_body body, const void *const *arguments) {
  return emit_entry_loop(e, rows_map(e->kernel->arena, &blocks[0]), &tile, walk_runs,
                         &(rows_body){count, blocks, body, arguments});
}

// --- which block

typedef struct block_choice {
  const kernel_block *blocks;
  const int *numbers;  // of those that have tiles
  block_emitter emit;
  const void *argument;
} block_choice;

static heddle_status emit_chosen(kernel_entry *e, int choice, const void *argument) {
  const block_choice *c = argument;
  const int number = c->numbers[choice];
  const int64_t start = c->blocks[number].first_tile;
  MlirValue tile = e->ids.data[0];
  if (start > 0) tile = ir_binary(&e->b, "arith.subi", tile, ir_index(&e->b, start));
  return c->emit(e, number, tile, c->argument);
}

heddle_status emit_blocks(kernel_entry *e, int count, const kernel_block *blocks, block_emitter emit,
                          const void *argument) {
  int *numbers = arena_array(e->kernel->arena, int, count), kept = 0;
  int64_t *firsts = arena_array(e->kernel->arena, int64_t, count);
  for (int i = 0; i < count; i++) {
    if (blocks[i].tiles == 0) continue;
    firsts[kept] = blocks[i].first_tile;
    numbers[kept++] = i;
  }
  const block_choice choice = {blocks, numbers, emit, argument};
  return emit_choose(e, e->ids.data[0], kept, firsts, emit_chosen, &choice);
}
