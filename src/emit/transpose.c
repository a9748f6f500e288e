// Transposes, tile by tile.
//
// What a tile needs is brought into a buffer row by row (with the producers' work done on the way), turned in registers
// into a second buffer, and stored from there row by row, through the consumers. A full tile of an array that is an
// input as it is skips the first buffer, one whose result is an output as it is skips the second. Tiles at the edge use
// both, so that nothing is read or written beyond the arrays: what the buffers hold beyond the edge is never stored.
#include "emit/transpose.h"

#include "emit/epilogue.h"
#include "emit/register_transpose.h"

typedef struct tile_emitter {
  const hero_transpose *plan;
  MlirValue where[3];  // batch, tile along a, tile along b
  bool is_full;
  const int *sources, *targets;  // buffers by hero: numbers of carried tensors
} tile_emitter;

// --- maps: (batch, tile a, tile b, row)[i]

static void name_dims(const hero_transpose *h, indexing_map *m) {
  static const char *const names[] = {"batch", "ta", "tb", "row"};
  const int64_t counts[] = {h->batches, h->tiles_a, h->tiles_b};
  for (int d = 0; d < 3; d++) m->dims[d] = (indexing_variable){{0, counts[d] - 1}, str_from(names[d])};
}

// Indices (of the operand or the result) of the element at `a`, `b` within the tile.
static void indices_in_array(arena *a, const hero_transpose *h, const indexing_map *map, const affine_expr *at_a,
                             const affine_expr *at_b, const affine_expr **results) {
  const affine_expr *tile_a = affine_mul_constant(a, affine_dim(a, 1), h->tile_a);
  const affine_expr *tile_b = affine_mul_constant(a, affine_dim(a, 2), h->tile_b);
  const affine_expr *by[] = {affine_dim(a, 0), affine_add(a, tile_a, at_a), affine_add(a, tile_b, at_b)};
  for (int r = 0; r < map->result_count; r++) results[r] = affine_replace(a, map->results[r], by, 3, NULL, 0);
}

// Rows of the tile along a (or b); at the edge only those within the array.
static const indexing_map *rows_map(arena *a, const tile_emitter *t, bool along_a) {
  const hero_transpose *h = t->plan;
  int64_t side = along_a ? h->tile_a : h->tile_b, size = along_a ? h->a : h->b;
  bool is_cut = !t->is_full && size % side != 0;
  indexing_map *m = indexing_map_create(a, 3, 1, 0, 1, is_cut);
  name_dims(h, m);
  m->ranges[0] = (indexing_variable){{0, side - 1}, str_from("row")};
  m->results[0] = affine_symbol(a, 0);
  const affine_expr *position =
      affine_add(a, affine_mul_constant(a, affine_dim(a, along_a ? 1 : 2), side), affine_symbol(a, 0));
  if (is_cut) m->constraints[0] = (indexing_constraint){position, {0, size - 1}};
  return m;
}

// The elements of a row: their indices in the array, then their number in the buffer. Rows of the operand's buffer run
// along a, those of the result's along b.
static const indexing_map *row_map(arena *a, const tile_emitter *t, bool along_a, const indexing_map *map) {
  const hero_transpose *h = t->plan;
  int64_t side = along_a ? h->tile_a : h->tile_b, size = along_a ? h->a : h->b;
  int64_t rows = along_a ? h->tile_b : h->tile_a;
  bool is_cut = !t->is_full && size % side != 0;
  indexing_map *m = indexing_map_create(a, 4, 1, 0, map->result_count + 1, is_cut);
  name_dims(h, m);
  m->dims[3] = (indexing_variable){{0, rows - 1}, str_from("row")};
  m->ranges[0] = (indexing_variable){{0, side - 1}, str_from("i")};
  const affine_expr *row = affine_dim(a, 3), *i = affine_symbol(a, 0);
  indices_in_array(a, h, map, along_a ? i : row, along_a ? row : i, m->results);
  m->results[map->result_count] = affine_add(a, affine_mul_constant(a, row, side), i);
  const affine_expr *position = affine_add(a, affine_mul_constant(a, affine_dim(a, along_a ? 1 : 2), side), i);
  if (is_cut) m->constraints[0] = (indexing_constraint){position, {0, size - 1}};
  return indexing_map_simplify(a, m);
}

// --- row by row

typedef struct row_walk {
  tile_emitter *tile;
  int group;  // whose operands' rows they are; -1: the results'
  entry_body body;
} row_walk;

static heddle_status walk_row(kernel_entry *e, ir_builder *b, const index_vector *row, MlirValue *outputs,
                              const void *argument) {
  const row_walk *w = argument;
  const hero_transpose *h = w->tile->plan;
  const bool along_a = w->group >= 0;
  const indexing_map *map = row_map(b->arena, w->tile, along_a, along_a ? h->to_operand[w->group] : h->to_result);
  MlirValue dims[] = {w->tile->where[0], w->tile->where[1], w->tile->where[2], row->values[0]};
  return emit_entry_inner_loop(e, b, outputs, map, dims, w->body, w);
}

// body: at the array's indices and the number in the buffer, of each element of the tile; its argument is the walk.
static heddle_status walk_rows(kernel_entry *e, tile_emitter *t, int group, entry_body body) {
  const indexing_map *rows = rows_map(e->kernel->arena, t, group < 0);
  return emit_entry_loop(e, rows, t->where, walk_row, &(row_walk){t, group, body});
}

static bool is_direct_source(const tile_emitter *t, int hero) {
  return t->is_full && t->plan->direct_inputs[hero] >= 0;
}
static bool is_direct_target(const tile_emitter *t, int hero) {
  return t->is_full && t->plan->direct_outputs[hero] >= 0;
}

// Elements that share bytes have bytes of their own in buffers.
static MlirType buffer_element(const kernel_entry *e, dtype t) {
  MlirType element = emit_element_type(e->b.context, t);
  return dtypes[t].bits < 8 ? mlirIntegerTypeGet(e->b.context, 8) : element;
}

static MlirValue to_buffer(ir_builder *b, MlirType element, MlirValue value) {
  return mlirTypeEqual(mlirValueGetType(value), element) ? value : ir_cast(b, "arith.extui", element, value);
}

static MlirValue from_buffer(ir_builder *b, MlirType element, MlirValue value) {
  return mlirTypeEqual(mlirValueGetType(value), element) ? value : ir_cast(b, "arith.trunci", element, value);
}

static heddle_status bring_in(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                              const void *argument) {
  const row_walk *w = argument;
  const tile_emitter *t = w->tile;
  index_vector at = {.count = point->count - 1, .values = point->values};
  const MlirValue *values = emit_part(e->kernel, b, w->group, e->inputs, &at, NULL);
  for (int n = 0, next = 0; n < t->plan->hero_count; n++) {
    if (t->plan->groups[n] != w->group) continue;
    const MlirValue given = values[next++];
    if (is_direct_source(t, n)) continue;
    MlirValue *buffer = &outputs[t->sources[n]];
    MlirValue value = to_buffer(b, ir_element_type(mlirValueGetType(*buffer)), given);
    *buffer = emit_insert(b, value, *buffer, 1, &point->values[at.count]);
  }
  return status_ok();
}

static heddle_status bring_out(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                               const void *argument) {
  const tile_emitter *t = ((const row_walk *)argument)->tile;
  index_vector at = {.count = point->count - 1, .values = point->values};
  MlirValue *values = arena_array(b->arena, MlirValue, t->plan->hero_count);
  for (int n = 0; n < t->plan->hero_count; n++) {
    MlirType element = emit_element_type(e->b.context, t->plan->heroes[n]->shape->dtype);
    values[n] = from_buffer(b, element, emit_extract(b, outputs[t->targets[n]], 1, &point->values[at.count]));
  }
  emit_epilogue(e, b, &t->plan->epilogue, t->plan->group_count, &at, values, outputs);
  return status_ok();
}

// --- turning

// (batch, tile a, tile b, i, j) -> indices of the element (a = i + da, b = j + db): in the array, or in a buffer whose
// rows run along a or b.
static ir_values indices_of(ir_builder *b, const tile_emitter *t, const indexing_map *map, bool is_direct,
                            const MlirValue *ij, const transposed_block *block, int da, int db) {
  const hero_transpose *h = t->plan;
  arena *a = b->arena;
  const bool in_operand = map != h->to_result;
  indexing_map *m = indexing_map_create(a, 5, 0, 0, is_direct ? map->result_count : 1, 0);
  name_dims(h, m);
  m->dims[3] = (indexing_variable){{0, h->tile_a - block->chunk}, str_from("i")};
  m->dims[4] = (indexing_variable){{0, h->tile_b - (int64_t)block->chunk * block->lanes}, str_from("j")};
  const affine_expr *at_a = affine_add_constant(a, affine_dim(a, 3), da);
  const affine_expr *at_b = affine_add_constant(a, affine_dim(a, 4), db);
  if (is_direct) {
    indices_in_array(a, h, map, at_a, at_b, m->results);
  } else {
    const affine_expr *row = in_operand ? at_b : at_a, *element = in_operand ? at_a : at_b;
    m->results[0] = affine_add(a, affine_mul_constant(a, row, in_operand ? h->tile_a : h->tile_b), element);
  }
  MlirValue dims[] = {t->where[0], t->where[1], t->where[2], ij[0], ij[1]};
  return ir_apply_indexing(b, indexing_map_simplify(a, m), dims, NULL);
}

static MlirValue transpose_block(kernel_entry *e, ir_builder *b, const tile_emitter *t, int hero,
                                 const transposed_block *block, MlirValue target, const MlirValue *ij) {
  bool reads_array = is_direct_source(t, hero), writes_array = is_direct_target(t, hero);
  MlirValue source = reads_array ? e->inputs[t->plan->direct_inputs[hero]] : e->outputs[t->sources[hero]];
  const indexing_map *map = t->plan->to_operand[t->plan->groups[hero]];
  int height = block->chunk * block->lanes;
  MlirValue *rows = arena_array(b->arena, MlirValue, height), *columns = arena_array(b->arena, MlirValue, block->chunk);
  for (int r = 0; r < height; r++) {
    ir_values at = indices_of(b, t, map, reads_array, ij, block, 0, r);
    rows[r] = emit_read_vector(b, source, block->chunk, at.size, at.data);
  }
  emit_register_transpose(b, block, rows, columns);
  for (int c = 0; c < block->chunk; c++) {
    ir_values at = indices_of(b, t, t->plan->to_result, writes_array, ij, block, c, 0);
    target = emit_write_vector(b, columns[c], target, at.size, at.data, writes_array && t->plan->streams);
  }
  return target;
}

// All blocks of the tile, those of the same rows one after another.
static void transpose_tile(kernel_entry *e, const tile_emitter *t, int hero) {
  MlirType element = buffer_element(e, t->plan->heroes[hero]->shape->dtype);
  transposed_block block = emit_register_block(e->b.context, element, &t->plan->blocks[hero]);
  int number = is_direct_target(t, hero) ? t->plan->direct_outputs[hero] : t->targets[hero];
  MlirValue ij[2];
  const int64_t sides[] = {t->plan->tile_b, t->plan->tile_a}, steps[] = {block.chunk * block.lanes, block.chunk};
  ir_builder b = e->b;
  MlirOperation loops[2];
  MlirValue carried = e->outputs[number];
  for (int l = 0; l < 2; l++) {
    MlirValue lower = ir_index(&b, 0), upper = ir_index(&b, sides[l]), step = ir_index(&b, steps[l]);
    loops[l] = ir_for(&b, lower, upper, step, 1, &carried);
    MlirBlock body = ir_body(loops[l], 0);
    ij[1 - l] = mlirBlockGetArgument(body, 0);
    carried = mlirBlockGetArgument(body, 1);
    b = ir_builder_at_end(b.context, body, b.arena);
  }
  MlirValue turned = transpose_block(e, &b, t, hero, &block, carried, ij);
  ir_yield(&b, 1, &turned);
  ir_builder outer = ir_builder_at_end(b.context, ir_body(loops[0], 0), b.arena);
  MlirValue result = ir_result(loops[1], 0);
  ir_yield(&outer, 1, &result);
  e->outputs[number] = ir_result(loops[0], 0);
}

static heddle_status emit_tile(kernel_entry *e, tile_emitter *t) {
  const hero_transpose *h = t->plan;
  bool brings_out = false, *brings_in = arena_array(e->kernel->arena, bool, h->group_count);
  for (int n = 0; n < h->hero_count; n++) {
    brings_in[h->groups[n]] |= !is_direct_source(t, n);
    brings_out |= !is_direct_target(t, n);
  }
  for (int g = 0; g < h->group_count; g++)
    if (brings_in[g]) TRY(walk_rows(e, t, g, bring_in));
  for (int n = 0; n < h->hero_count; n++) transpose_tile(e, t, n);
  return brings_out ? walk_rows(e, t, -1, bring_out) : status_ok();
}

// --- without registers: element by element, which a tile makes friendly to caches all the same

static const indexing_map *operand_of_result(arena *a, const instruction *transpose) {
  indexing_map *m = indexing_map_identity(a, transpose->shape->rank, transpose->shape->dims);
  const affine_expr **results = arena_array(a, const affine_expr *, m->result_count);
  for (int d = 0; d < m->result_count; d++) results[transpose->attributes->dimensions.data[d]] = m->results[d];
  return indexing_map_with_results(a, m, m->result_count, results);
}

// The heroes' values of one group, at the result's index.
static void find_elements(kernel_entry *e, ir_builder *b, const hero_transpose *h, int group, const index_vector *at,
                          MlirValue *out) {
  const MlirValue *values = NULL;
  for (int n = 0, next = 0; n < h->hero_count; n++) {
    if (h->groups[n] != group) continue;
    if (!values) {
      ir_values from = ir_apply_indexing(b, operand_of_result(b->arena, h->heroes[n]), at->values, NULL);
      values =
          emit_part(e->kernel, b, group, e->inputs, &(index_vector){.count = from.size, .values = from.data}, NULL);
    }
    out[n] = values[next++];
  }
}

static heddle_status move_element(kernel_entry *e, ir_builder *b, const index_vector *point, MlirValue *outputs,
                                  const void *argument) {
  const hero_transpose *h = ((const row_walk *)argument)->tile->plan;
  index_vector at = {.count = point->count - 1, .values = point->values};
  MlirValue *values = arena_array(b->arena, MlirValue, h->hero_count);
  for (int g = 0; g < h->group_count; g++) find_elements(e, b, h, g, &at, values);
  emit_epilogue(e, b, &h->epilogue, h->group_count, &at, values, outputs);
  return status_ok();
}

// --- the entry

static void find_tile(kernel_entry *e, const hero_transpose *h, MlirValue *where) {
  arena *a = e->kernel->arena;
  indexing_map *m = indexing_map_create(a, 1, 0, 0, 3, 0);
  m->dims[0] = (indexing_variable){{0, h->batches * h->tiles_a * h->tiles_b - 1}, str_from("tile")};
  affine_delinearize(a, 3, (int64_t[]){h->batches, h->tiles_b, h->tiles_a}, affine_dim(a, 0), m->results);
  ir_values values = ir_apply_indexing(&e->b, indexing_map_simplify(a, m), e->ids.data, NULL);
  where[0] = values.data[0];
  where[1] = values.data[2];
  where[2] = values.data[1];
}

static void allocate_buffers(kernel_entry *e, const hero_transpose *h, tile_emitter *t, bool has_edge) {
  int *sources = arena_array(e->kernel->arena, int, h->hero_count);
  int *targets = arena_array(e->kernel->arena, int, h->hero_count);
  for (int n = 0; n < h->hero_count; n++) {
    MlirType element = buffer_element(e, h->heroes[n]->shape->dtype);
    sources[n] = targets[n] = -1;
    if (has_edge || h->direct_inputs[n] < 0) sources[n] = emit_entry_allocate(e, element, h->tile_a * h->tile_b);
    if (has_edge || h->direct_outputs[n] < 0) targets[n] = emit_entry_allocate(e, element, h->tile_a * h->tile_b);
  }
  t->sources = sources;
  t->targets = targets;
}

static heddle_status emit_side(kernel_entry *e, tile_emitter t, MlirOperation branch, int region, bool is_full) {
  kernel_entry side = *e;
  side.b = ir_builder_at_end(e->b.context, ir_body(branch, region), e->kernel->arena);
  side.outputs = arena_array(e->kernel->arena, MlirValue, e->carried);
  for (int i = 0; i < e->carried; i++) side.outputs[i] = e->outputs[i];
  t.is_full = is_full;
  TRY(emit_tile(&side, &t));
  ir_yield(&side.b, e->carried, side.outputs);
  return status_ok();
}

// Full tiles and those at the edge, told apart once per tile.
static heddle_status emit_either(kernel_entry *e, tile_emitter *t) {
  const hero_transpose *h = t->plan;
  MlirValue is_full = {NULL};
  const int64_t whole[] = {h->a / h->tile_a, h->b / h->tile_b}, tiles[] = {h->tiles_a, h->tiles_b};
  for (int d = 0; d < 2; d++) {
    if (whole[d] == tiles[d]) continue;
    MlirValue holds = ir_cmpi(&e->b, "slt", t->where[1 + d], ir_index(&e->b, whole[d]));
    is_full = mlirValueIsNull(is_full) ? holds : ir_binary(&e->b, "arith.andi", is_full, holds);
  }
  MlirType *types = arena_array(e->kernel->arena, MlirType, e->carried);
  for (int i = 0; i < e->carried; i++) types[i] = mlirValueGetType(e->outputs[i]);
  MlirOperation branch = ir_if(&e->b, is_full, e->carried, types);
  TRY(emit_side(e, *t, branch, 0, true));
  TRY(emit_side(e, *t, branch, 1, false));
  for (int i = 0; i < e->carried; i++) e->outputs[i] = ir_result(branch, i);
  return status_ok();
}

heddle_status emit_transpose_entry(kernel_emitter *k, const target_description *target) {
  const hero_transpose *h = &k->plan->details.transpose;
  kernel_entry entry;
  TRY(emit_entry_begin(k, target, &entry));
  tile_emitter t = {.plan = h};
  find_tile(&entry, h, t.where);
  bool has_edge = h->a % h->tile_a != 0 || h->b % h->tile_b != 0;
  bool has_full = h->a >= h->tile_a && h->b >= h->tile_b;
  t.is_full = !has_edge;
  if (!h->in_registers) {
    TRY(walk_rows(&entry, &t, -1, move_element));
  } else {
    allocate_buffers(&entry, h, &t, has_edge);
    TRY(has_edge && has_full ? emit_either(&entry, &t) : emit_tile(&entry, &t));
  }
  emit_entry_end(&entry);
  return status_ok();
}
