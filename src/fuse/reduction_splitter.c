// Splitting reductions.
//
//   reduce(x[… R …]) -> reduce(reduce(x[… chunks, R / (chunks * side), side …], 1), chunks and side)
//
// R is the largest merged dim that is reduced. What the division leaves over is reduced by itself and combined last: a
// few elements. Narrow floats are summed up in f32 from the first step to the last.
#include "fuse/reduction_splitter.h"

#include <math.h>

#include "base/int64.h"
#include "hlo/builder.h"
#include "kernel/launch.h"
#include "kernel/reducer.h"
#include "kernel/reduction_space.h"

typedef struct split {
  reduction_space space;
  int group;             // that is split
  int64_t chunks, side;  // at least one of them above 1
  int64_t length;        // elements that one result of the first step is made of
  int64_t rest;          // elements of the group that are left over
} split;

// --- how on tiles

// What threads can take independently of each other.
static int64_t count_units(const target_tile_sizes *sizes, const reduction_space *s) {
  int64_t last = s->sizes[s->group_count - 1];
  return s->is_reduced[s->group_count - 1] ? s->kept : s->kept / last * int64_ceil_div(last, sizes->unit);
}

static int largest_reduced(const reduction_space *s) {
  int best = -1;
  for (int g = 0; g < s->group_count; g++)
    if (s->is_reduced[g] && (best < 0 || s->sizes[g] > s->sizes[best])) best = g;
  return best;
}

// A number of chunks that leaves nothing over, if one of about the right size does.
static int64_t choose_chunks(const target_tile_sizes *sizes, int64_t size) {
  const int64_t chunks = sizes->split_chunks;
  for (int64_t p = chunks; p >= sizes->min_split_chunks; p--)
    if (size % p == 0) return p;
  for (int64_t p = chunks + 1; p <= 4 * chunks; p++)
    if (size % p == 0) return p;
  return chunks;
}

// Elements beside each other that fill vectors; preferably a number that leaves nothing over.
static int64_t choose_side(int64_t lanes, int64_t size, int64_t columns) {
  int64_t side = 1;
  while (side * columns < lanes && size % (2 * side) == 0) side *= 2;
  if (side * columns >= lanes / 2) return side;
  for (side = 1; side * columns < lanes && size / side >= 4;) side *= 2;
  return side;
}

// A length of chunks read side by side of which no two begin at the same place of a cache's way: an odd number of
// lines.
static int64_t odd_lines(int64_t line, int64_t size) {
  const int64_t lines = size / line;
  return lines % 2 == 0 && lines > 0 ? (lines - 1) * line : lines * line;
}

static void choose_on_tiles(const target_description *target, const reducer *how, split *out) {
  const target_tile_sizes *sizes = &target->tiles;
  const reduction_space *s = &out->space;
  const bool any_order = how->form == REDUCER_BINARY || how->form == REDUCER_FREE;
  int64_t size = s->sizes[out->group], last = s->sizes[s->group_count - 1];
  bool is_column = !s->is_reduced[s->group_count - 1];
  if (any_order && is_column && out->group == s->group_count - 2 && last < sizes->min_side_columns)
    out->side = choose_side(sizes->unit, size, last);
  if (count_units(sizes, s) < sizes->min_split_units && size / out->side >= 2 * sizes->split_chunks)
    out->chunks = choose_chunks(sizes, size / out->side);
  out->length = size / (out->chunks * out->side);
  if (how->form == REDUCER_CHUNKS && out->chunks > 1 && !is_column)
    out->length = odd_lines(sizes->cache_line, out->length);
}

// --- how on a grid

// Blocks that reduce all of it without being cut.
static int64_t count_blocks(const target_description *target, const reduction_space *s) {
  const int64_t last = s->sizes[s->group_count - 1];
  if (s->is_reduced[s->group_count - 1]) return s->kept;
  return s->kept / last * int64_ceil_div(last, target->grid.column_threads * target->max_unroll);
}

// About `wanted` chunks: such that nothing is left over and all begin with a line of memory, or the former at least, if
// there is a number like that between a half and the double.
static int64_t choose_grid_chunks(const target_tile_sizes *sizes, int64_t size, int64_t wanted) {
  const int64_t units[] = {sizes->cache_line, 1};
  for (int u = 0; u < 2; u++) {
    for (int64_t away = 0; away <= wanted; away++) {
      if (size % ((wanted + away) * units[u]) == 0) return wanted + away;
      if (2 * away <= wanted && wanted > away && size % ((wanted - away) * units[u]) == 0) return wanted - away;
    }
  }
  return wanted;
}

// Whether the multiprocessors that have a block take longer than another kernel to start.
static bool fills_too_few(const target_description *target, const reduction_space *s, dtype t) {
  const int64_t blocks = count_blocks(target, s);
  const double bytes = (double)s->kept * (double)s->reduced * dtypes[t].bits / 8;
  return blocks < target->cores && bytes / (double)blocks > target->launch_ns * target->memory_bytes_per_ns;
}

// Enough blocks for all multiprocessors. Threads of a block share columns however few these are, so nothing is put
// beside them.
static void choose_on_grid(const target_description *target, dtype t, split *out) {
  const reduction_space *s = &out->space;
  const bool is_column = !s->is_reduced[s->group_count - 1];
  const int64_t blocks = count_blocks(target, s), size = s->sizes[out->group];
  const int64_t least = is_column ? target->grid.min_split_column : target->grid.min_split_row;
  const int64_t most = size * (s->reduced / size) / least;
  const int64_t wanted = int64_ceil_div((int64_t)target->cores * target->grid.blocks_per_core, blocks);
  const int64_t chunks = int64_min(wanted, int64_min(most, size / 2));
  if (fills_too_few(target, s, t) && chunks > 1) out->chunks = choose_grid_chunks(&target->tiles, size, chunks);
  out->length = size / out->chunks;
  if (s->kept == 1 && size % out->chunks != 0 && out->length > target->tiles.cache_line)
    out->length -= out->length % target->tiles.cache_line;
}

// --- either

// No number of chunks fits an open size.
static bool is_open(const instruction *reduce) {
  const module *m = reduce->parent->module;
  const shape *s = reduce->operands[0]->shape;
  bool is = false;
  for (int k = 0; k < reduce->attributes->dimensions.size; k++)
    is |= m->open_from > 0 && s->dims[reduce->attributes->dimensions.data[k]] >= m->open_from;
  return is;
}

static bool is_worth_it(const target_tile_sizes *sizes, const instruction *reduce, reduction_space *s) {
  return !is_open(reduce) && reduction_space_of(reduce, s) && s->kept * s->reduced >= sizes->min_split_elements;
}

static bool choose(const target_description *target, const reducer *how, dtype t, split *out) {
  const bool any_order = how->form == REDUCER_BINARY || how->form == REDUCER_FREE;
  if (!any_order && how->form != REDUCER_CHUNKS && !(how->form == REDUCER_PICK && how->in_chunks)) return false;
  out->group = largest_reduced(&out->space);
  if (target->has_grid) choose_on_grid(target, t, out);
  else choose_on_tiles(target, how, out);
  out->rest = out->space.sizes[out->group] - out->chunks * out->side * out->length;
  return out->chunks > 1 || out->side > 1;
}

// --- making it

typedef struct splitter {
  builder b;
  instruction *reduce;
  reducer how;
  reducer_form last_form;  // of steps over results of the first
  int count;               // values
  instruction **inits;     // of the steps before the last
  instruction **last_inits;
  computation *reducer;
  dtype *types;  // in which values are accumulated
  split split;
} splitter;

static bool is_summed(hlo_opcode op) { return op == HLO_ADD || op == HLO_MULTIPLY; }

// Combining it once more changes nothing.
static instruction *neutral(const splitter *s, int value) {
  hlo_opcode op = s->how.operations[value];
  dtype t = s->types[value];
  bool is_exact = dtype_is_integer(t) || t == DTYPE_PRED;
  if (op == HLO_ADD || op == HLO_XOR || op == HLO_OR)
    return is_exact ? builder_scalar_int(&s->b, t, 0) : builder_scalar(&s->b, t, 0);
  if (op == HLO_MULTIPLY) return is_exact ? builder_scalar_int(&s->b, t, 1) : builder_scalar(&s->b, t, 1);
  return s->last_inits[value];  // minimum, maximum, and: twice is as good as once
}

static bool is_binary(const splitter *s) { return s->how.form == REDUCER_BINARY; }

static computation *accumulating_reducer(splitter *s) {
  bool is_same = true;
  for (int v = 0; v < s->count; v++) is_same &= s->types[v] == s->reduce->operands[v]->shape->dtype;
  if (is_same || s->count != 1) return s->reduce->called[0];
  return builder_binary_computation(&s->b, s->how.operations[0], s->types[0]);
}

static void begin(splitter *s) {
  arena *a = s->b.arena;
  s->inits = arena_array(a, instruction *, s->count);
  s->last_inits = arena_array(a, instruction *, s->count);
  s->types = arena_array(a, dtype, s->count);
  for (int v = 0; v < s->count; v++) {
    dtype t = s->reduce->operands[v]->shape->dtype;
    bool accumulates = s->count == 1 && is_binary(s) && is_summed(s->how.operations[v]);
    s->types[v] = accumulates ? dtype_accumulator(t) : t;
    s->last_inits[v] = builder_convert(&s->b, s->reduce->operands[s->count + v], s->types[v]);
  }
  for (int v = 0; v < s->count; v++) s->inits[v] = is_binary(s) ? neutral(s, v) : s->last_inits[v];
  s->reducer = accumulating_reducer(s);
}

// Values of one step, by value.
static void add_reduce(const splitter *s, reducer_form form, instruction **x, instruction *const *inits, int count,
                       const int64_t *dimensions, instruction **out) {
  arena *a = s->b.arena;
  instruction **operands = arena_array(a, instruction *, 2 * s->count);
  for (int v = 0; v < s->count; v++) {
    operands[v] = x[v];
    operands[s->count + v] = inits[v];
  }
  instruction *r = builder_reduce_values(&s->b, s->count, operands, count, dimensions, s->reducer);
  if (form == REDUCER_CHUNKS || form == REDUCER_FREE) reducer_mark(r, form);
  for (int v = 0; v < s->count; v++) out[v] = builder_value(&s->b, r, v);
}

// The operands over the merged dims, from `first` on in the group that is split.
static void merged_operands(const splitter *s, int64_t first, int64_t size, instruction **out) {
  const reduction_space *space = &s->split.space;
  for (int v = 0; v < s->count; v++) {
    instruction *x = builder_convert(&s->b, s->reduce->operands[v], s->types[v]);
    x = builder_reshape(&s->b, x, space->group_count, space->sizes);
    if (size < space->sizes[s->split.group]) {
      slice_dim dims[SHAPE_MAX_RANK];
      for (int g = 0; g < space->group_count; g++) dims[g] = (slice_dim){0, space->sizes[g], 1};
      dims[s->split.group] = (slice_dim){first, first + size, 1};
      x = builder_slice(&s->b, x, dims);
    }
    out[v] = x;
  }
}

static void reduce_chunks(const splitter *s, instruction **out) {
  const split *p = &s->split;
  const reduction_space *space = &p->space;
  instruction **x = arena_array(s->b.arena, instruction *, s->count);
  int64_t size = space->sizes[p->group] - p->rest, dims[SHAPE_MAX_RANK + 2], first[SHAPE_MAX_RANK], then[2];
  merged_operands(s, 0, size, x);
  int rank = 0, first_count = 0, then_count = 0, kept = 0;
  for (int g = 0; g < space->group_count; g++) {
    if (g != p->group) {
      if (space->is_reduced[g]) first[first_count++] = rank;
      else kept++;
      dims[rank++] = space->sizes[g];
      continue;
    }
    if (p->chunks > 1) then[then_count++] = kept++;
    if (p->chunks > 1) dims[rank++] = p->chunks;
    first[first_count++] = rank;
    dims[rank++] = p->length;
    if (p->side > 1) then[then_count++] = kept++;
    if (p->side > 1) dims[rank++] = p->side;
  }
  for (int v = 0; v < s->count; v++) x[v] = builder_reshape(&s->b, x[v], rank, dims);
  add_reduce(s, s->how.form, x, s->inits, first_count, first, x);
  add_reduce(s, s->last_form, x, s->last_inits, then_count, then, out);
}

// Two values side by side, reduced in their order.
static void combine_in_order(const splitter *s, instruction **values, instruction *const *rest) {
  const int rank = values[0]->shape->rank;
  int64_t dims[SHAPE_MAX_RANK + 1], last = rank;
  for (int d = 0; d < rank; d++) dims[d] = values[0]->shape->dims[d];
  dims[rank] = 1;
  for (int v = 0; v < s->count; v++) {
    instruction *both[] = {builder_reshape(&s->b, values[v], rank + 1, dims),
                           builder_reshape(&s->b, rest[v], rank + 1, dims)};
    values[v] = builder_concatenate(&s->b, 2, both, rank);
  }
  add_reduce(s, s->last_form, values, s->last_inits, 1, &last, values);
}

static void combine_rest(const splitter *s, instruction **values) {
  const reduction_space *space = &s->split.space;
  arena *a = s->b.arena;
  instruction **x = arena_array(a, instruction *, s->count), **rest = arena_array(a, instruction *, s->count);
  merged_operands(s, space->sizes[s->split.group] - s->split.rest, s->split.rest, x);
  int64_t reduced[SHAPE_MAX_RANK];
  int count = 0;
  for (int g = 0; g < space->group_count; g++)
    if (space->is_reduced[g]) reduced[count++] = g;
  add_reduce(s, s->how.form, x, s->inits, count, reduced, rest);
  if (!is_binary(s)) combine_in_order(s, values, rest);
  else
    for (int v = 0; v < s->count; v++) values[v] = builder_binary(&s->b, s->how.operations[v], values[v], rest[v]);
}

static void replace(const splitter *s, instruction **values) {
  bool is_tuple = shape_is_tuple(s->reduce->shape);
  for (int v = 0; v < s->count; v++) {
    const shape *wanted = is_tuple ? s->reduce->shape->elements[v] : s->reduce->shape;
    instruction *x = builder_reshape(&s->b, values[v], wanted->rank, wanted->dims);
    values[v] = builder_convert(&s->b, x, wanted->dtype);
  }
  builder_replace_values(&s->b, s->reduce, values);
}

bool reduction_splitter_splits(const target_description *target, const instruction *reduce, reducer_form form) {
  const reducer how = {.form = form, .in_chunks = true};
  split s = {.chunks = 1, .side = 1};
  return is_worth_it(&target->tiles, reduce, &s.space) && choose(target, &how, reduce->operands[0]->shape->dtype, &s);
}

static bool split_reduce(const target_description *target, instruction *reduce) {
  splitter s = {.b = builder_for(reduce), .reduce = reduce, .count = reduce->operand_count / 2};
  s.split = (split){.chunks = 1, .side = 1};
  if (!is_worth_it(&target->tiles, reduce, &s.split.space)) return false;
  s.how = reducer_of(s.b.arena, reduce);
  if (!choose(target, &s.how, reduce->operands[0]->shape->dtype, &s.split)) return false;
  // Picked pairs have no index any more that tells of itself that it grows.
  s.last_form = s.how.form == REDUCER_PICK && target->has_grid ? REDUCER_CHUNKS : s.how.form;
  begin(&s);
  instruction **values = arena_array(s.b.arena, instruction *, s.count);
  reduce_chunks(&s, values);
  if (s.split.rest > 0) combine_rest(&s, values);
  replace(&s, values);
  return true;
}

bool reduction_splitter_run(computation *c, const target_description *target) {
  bool any = false;
  int count = c->instructions.size;
  for (int n = 0; n < count; n++)
    if (c->instructions.data[n]->opcode == HLO_REDUCE) any |= split_reduce(target, c->instructions.data[n]);
  return any;
}
