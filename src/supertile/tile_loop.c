// What a piece of code computes is a tile; the loop's body is one, and so is each tile at a border, with numbers in the
// place of the turn. All pieces write to the same memory, one after the other, and none reads what another wrote, but
// for rows that members keep from turn to turn.
#include "supertile/tile_loop.h"

#include "fuse/tile_loops.h"
#include "supertile/tile_carry.h"
#include "supertile/tile_operation.h"
#include "supertile/tile_slices.h"
#include "supertile/tile_sum.h"

typedef struct kept_slice {
  const instruction *array;
  region region;
  instruction *slice;
} kept_slice;

typedef struct piece {
  tile_search *search;
  tile_group *group;
  builder to;
  instruction *turn;     // s32; null: the tile's place is known
  ptr_map outside;       // external: its value in this computation
  instruction **tiles;   // by member; null: it has none in this turn
  carried_rows *kept;    // by member: what it has of turns before; once it is read, what it leaves for the next
  int64_t number;        // of the turn, beside the loop
  instruction **values;  // of all outputs, one after the other, before the piece
  region_turns turns;
  bool is_first;           // of a sum: the piece that begins it
  VEC(kept_slice) slices;  // of externals, so that each is made once
} piece;

// --- slices

static tile_place place_of(const piece *p) { return (tile_place){p->to, p->turn, p->turns}; }

static instruction *index_of(const piece *p, const region_dim *d) {
  const tile_place place = place_of(p);
  return tile_place_index(&place, d);
}

static instruction *fixed_slice(const piece *p, instruction *x, const region *r) {
  slice_dim dims[SHAPE_MAX_RANK];
  for (int d = 0; d < r->rank; d++) dims[d] = (slice_dim){r->dims[d].base, r->dims[d].base + r->dims[d].size, 1};
  return builder_slice(&p->to, x, dims);
}

static instruction *slice_of(const piece *p, instruction *x, const region *r) {
  const shape *s = x->shape;
  if (region_is_whole(r, s)) return x;
  if (!region_moves(r)) return fixed_slice(p, x, r);
  instruction *operands[SHAPE_MAX_RANK + 1] = {x};
  int64_t *sizes = arena_array(p->to.arena, int64_t, r->rank);
  for (int d = 0; d < r->rank; d++) {
    operands[d + 1] = index_of(p, &r->dims[d]);
    sizes[d] = r->dims[d].size;
  }
  instruction *i = builder_add(&p->to, HLO_DYNAMIC_SLICE, tile_shape(p->to.arena, s, r), r->rank + 1, operands);
  i->attributes->dynamic_slice_sizes = (int_list){sizes, r->rank};
  attributes_mark(i->attributes, HLO_ATTRIBUTE_DYNAMIC_SLICE_SIZES);
  return i;
}

static instruction *slice_of_external(piece *p, const instruction *x, const region *r) {
  for (int k = 0; k < p->slices.size; k++)
    if (p->slices.data[k].array == x && region_equal(&p->slices.data[k].region, r)) return p->slices.data[k].slice;
  instruction *slice = slice_of(p, ptr_map_get(&p->outside, x), r);
  vec_push(p->search->arena, &p->slices, ((kept_slice){x, region_copy(p->search->arena, r), slice}));
  return slice;
}

// What sums and products that go on begin with: what changes nothing, which of sums is the negative zero. Others may
// begin with their own initial value once more.
static instruction *neutral_value(const piece *p, const instruction *sum) {
  const dtype t = sum->shape->dtype;
  const hlo_opcode combiner = tile_sum_combiner(sum);
  if (combiner == HLO_MULTIPLY) return builder_scalar_int(&p->to, t, 1);
  if (combiner != HLO_ADD) return NULL;
  return dtype_is_float(t) ? builder_scalar(&p->to, t, -0.0) : builder_scalar_int(&p->to, t, 0);
}

static int value_count(const tile_output *o) {
  return shape_is_tuple(o->instruction->shape) ? o->instruction->shape->tuple_size : 1;
}

// The values of all outputs stand one after the other.
static int first_value(const tile_group *g, const tile_output *o) {
  int number = 0;
  for (const tile_output *k = g->outputs.data; k < o; k++) number += value_count(k);
  return number;
}

static instruction *const *values_of(const piece *p, const tile_output *o) {
  return p->values + first_value(p->group, o);
}

// What the member's tile needs of an operand, out of the operand's own tile or array.
static instruction *operand_tile(piece *p, const tile_member *m, int k, const region *in) {
  instruction *x = m->instruction->operands[k];
  const int number = m->operands[k];
  const tile_output *o = tile_group_output(p->group, m->instruction);
  if (o && o->is_sum && !p->is_first && m->instruction->opcode == HLO_REDUCE && k == 1) {
    instruction *neutral = neutral_value(p, m->instruction);
    if (neutral) return neutral;
  }
  if (tile_group_goes_on(p->group, m->instruction, k)) return p->is_first ? x : values_of(p, o)[k];
  if (number < 0 && x->opcode == HLO_CONSTANT && shape_is_scalar(x->shape)) return builder_constant(&p->to, x->literal);
  if (number < 0) return slice_of_external(p, x, in);
  instruction *tile = p->tiles[number];
  const region *of = &p->group->members.data[number].region;
  if (shape_is_tuple(x->shape)) return tile;
  region inner = region_copy(p->search->arena, in);
  for (int d = 0; d < inner.rank; d++) {
    inner.dims[d].base -= of->dims[d].base;
    inner.dims[d].step -= of->dims[d].step;
  }
  return slice_of(p, tile, &inner);
}

// --- pieces

static heddle_status compute_member(piece *p, const tile_place *place, int k) {
  const tile_member *m = &p->group->members.data[k];
  if (m->is_copied || (m->instruction->opcode == HLO_GET_TUPLE_ELEMENT && m->operands[0] < 0)) {
    p->tiles[k] = slice_of_external(p, m->instruction, &m->computed);
    return status_ok();
  }
  instruction **operands = arena_array(p->search->arena, instruction *, m->instruction->operand_count);
  for (int o = 0; o < m->instruction->operand_count; o++) {
    region in;
    if (tile_group_operand(p->search, p->group, m, p->turns, o, &in) != REGION_FOUND)
      return status_at(HEDDLE_INTERNAL, m->instruction->where, "an operand's tile has no region");
    operands[o] = operand_tile(p, m, o, &in);
  }
  p->tiles[k] = tile_operation_make(place, m->instruction, &m->computed, operands);
  return status_ok();
}

// The rows of a tile that the next turn needs, cut out behind the last who reads the tile, which then need not live on.
static void keep_rows(piece *p, int k) {
  const tile_member *m = &p->group->members.data[k];
  if (m->carry_dim < 0) return;
  const region_dim *rows = &m->region.dims[m->carry_dim];
  const carried_rows all = {p->tiles[k], rows->base, rows->size};
  const int64_t from = rows->step ? rows->base + rows->step : tile_carry_begin(m, p->number + 1);
  const int64_t size = rows->step ? tile_carry_rows(m) : rows->base + rows->size - from;
  p->kept[k] = (carried_rows){NULL, from, size};
  if (size == 0) return;
  p->kept[k].value = tile_carry_slice(&p->to, m, &all, from, size);
  if (p->kept[k].value != all.value) tile_loops_mark(p->kept[k].value);
}

// By member: the last member that reads it; itself: none does.
static int *find_last_readers(const piece *p) {
  const tile_group *g = p->group;
  int *last = arena_array(p->search->arena, int, g->members.size);
  for (int k = 0; k < g->members.size; k++) last[k] = k;
  for (int k = g->members.size; k-- > 0;)
    for (int o = 0; o < g->members.data[k].instruction->operand_count; o++)
      if (g->members.data[k].operands[o] >= 0) last[g->members.data[k].operands[o]] = k;
  return last;
}

// The tiles of all members, whose regions are known.
static heddle_status compute(piece *p) {
  tile_group *g = p->group;
  const int *last = find_last_readers(p);
  p->tiles = arena_array(p->search->arena, instruction *, g->members.size);
  const tile_place place = place_of(p);
  for (int k = g->members.size; k-- > 0;) {
    const tile_member *m = &g->members.data[k];
    if (!m->is_idle) TRY(compute_member(p, &place, k));
    if (m->carry_dim >= 0) p->tiles[k] = tile_carry_join(&p->to, m, &p->kept[k], p->tiles[k]);
    if (last[k] == k) keep_rows(p, k);
    for (int o = 0; o < m->instruction->operand_count; o++) {
      const int of = m->operands[o];
      const bool is_first = of >= 0 && (o == 0 || m->operands[o - 1] != of);
      if (is_first && last[of] == k) keep_rows(p, of);
    }
  }
  return status_ok();
}

static heddle_status no_region(const tile_group *g) {
  return status_at(HEDDLE_INTERNAL, g->bottom->where, "a tile of " STR_FMT " has no region", STR_ARG(g->bottom->name));
}

// --- values

static int value_count_of_all(const tile_group *g) {
  int count = 0;
  for (int k = 0; k < g->outputs.size; k++) count += value_count(&g->outputs.data[k]);
  return count;
}

static const shape *value_shape(const tile_output *o, int k) {
  return shape_is_tuple(o->instruction->shape) ? o->instruction->shape->elements[k] : o->instruction->shape;
}

// Where along dim `d` of what the loop writes into the element is that is at `place` of the bottom.
static instruction *place_in_update(const piece *p, const tile_output *o, int d, instruction *place) {
  const instruction *update = o->update;
  if (!update) return place;
  const int64_t most = update->shape->dims[d] - update->operands[1]->shape->dims[d];
  if (most == 0) return place;
  instruction *start = update->operands[d + 2];
  start = start->opcode == HLO_CONSTANT ? builder_constant(&p->to, start->literal) : ptr_map_get(&p->outside, start);
  return builder_binary(&p->to, HLO_ADD, tile_slices_clamp(&p->to, start, most), place);
}

// The tile goes to its place in `into`, or is added to it.
static instruction *write_tile(const piece *p, const tile_output *o, int k, instruction *into) {
  instruction *tile = p->tiles[o->member];
  const region *r = &p->group->members.data[o->member].region;
  if (shape_is_tuple(tile->shape)) tile = builder_element(&p->to, tile, k);
  const hlo_opcode combiner = tile_sum_combiner(o->instruction);
  if (o->is_sum)
    return p->is_first || combiner == HLO_OPCODE_COUNT ? tile : builder_binary(&p->to, combiner, into, tile);
  instruction *operands[SHAPE_MAX_RANK + 2] = {into, tile};
  for (int d = 0; d < r->rank; d++) operands[d + 2] = place_in_update(p, o, d, index_of(p, &r->dims[d]));
  return builder_add(&p->to, HLO_DYNAMIC_UPDATE_SLICE, into->shape, r->rank + 2, operands);
}

// `values` are those of all outputs, one after the other.
static void write_tiles(const piece *p, instruction **values) {
  for (int k = 0; k < p->group->outputs.size; k++) {
    const tile_output *o = &p->group->outputs.data[k];
    for (int v = 0; v < value_count(o); v++, values++)
      if (!p->group->members.data[o->member].is_idle) *values = write_tile(p, o, v, *values);
  }
}

static heddle_status add_lone_tile(tile_search *s, tile_group *g, int64_t turn, instruction **values,
                                   carried_rows *kept) {
  piece p = {.search = s, .group = g, .to = builder_for(g->bottom), .values = values, .kept = kept, .number = turn};
  p.is_first = turn == 0;
  for (int k = 0; k < g->externals.size; k++) {
    instruction *x = g->externals.data[k];
    const tile_output *over = tile_group_over(g, x);
    ptr_map_put(s->arena, &p.outside, x, over ? values[first_value(g, over)] : x);
  }
  if (tile_group_regions_of_turn(s, g, turn) != REGION_FOUND) return no_region(g);
  TRY(compute(&p));
  write_tiles(&p, values);
  return status_ok();
}

// --- the loop

static computation *make_condition(const builder *b, const shape *state, int64_t last) {
  computation *c = module_add_computation(b->computation->module, STR("tile_condition"));
  const builder to = {b->arena, c, b->where, b->metadata};
  instruction *p = computation_add_parameter(c, 0, STR("state"), state);
  instruction *turn = builder_element(&to, p, 0);
  computation_set_root(c, builder_compare(&to, turn, builder_scalar_int(&to, DTYPE_S32, last + 1), COMPARE_LT));
  return c;
}

// The rows that a turn begins with. They stand in `elements`, by member that carries, as do those that it leaves.
static void begin_with_kept(const tile_group *g, int64_t turn, instruction **elements, carried_rows *kept) {
  for (int k = 0; k < g->members.size; k++) {
    const tile_member *m = &g->members.data[k];
    if (m->carry_dim >= 0)
      kept[k] = (carried_rows){*elements++, m->window.base + m->window.step * turn, tile_carry_rows(m)};
  }
}

static void end_with_kept(const tile_group *g, const carried_rows *kept, instruction **elements) {
  for (int k = 0; k < g->members.size; k++)
    if (g->members.data[k].carry_dim >= 0) *elements++ = kept[k].value;
}

static int carried_count(const tile_group *g) {
  int count = 0;
  for (int k = 0; k < g->members.size; k++) count += g->members.data[k].carry_dim >= 0;
  return count;
}

// State: the turn, the values, the rows that are kept, the externals. What is taken over is a value.
static heddle_status make_body(tile_search *s, tile_group *g, const builder *b, const shape *state,
                               const instruction_list *externals, computation **out) {
  computation *c = *out = module_add_computation(b->computation->module, STR(TILE_LOOPS_BODY));
  piece p = {.search = s, .group = g, .to = {b->arena, c, b->where, b->metadata}, .turns = g->inside};
  instruction *state_in = computation_add_parameter(c, 0, STR("state"), state);
  instruction **elements = arena_array(s->arena, instruction *, state->tuple_size);
  for (int k = 0; k < state->tuple_size; k++) elements[k] = builder_element(&p.to, state_in, k);
  const int count = value_count_of_all(g), carried = carried_count(g);
  for (int k = 0; k < externals->size; k++)
    ptr_map_put(s->arena, &p.outside, externals->data[k], elements[1 + count + carried + k]);
  for (int k = 0; k < g->outputs.size; k++) {
    const tile_output *o = &g->outputs.data[k];
    if (o->array) ptr_map_put(s->arena, &p.outside, o->array, elements[1 + first_value(g, o)]);
  }
  p.turn = elements[0];
  p.values = elements + 1;
  p.kept = arena_array(s->arena, carried_rows, g->members.size);
  begin_with_kept(g, 0, elements + 1 + count, p.kept);
  TRY(compute(&p));
  write_tiles(&p, elements + 1);
  end_with_kept(g, p.kept, elements + 1 + count);
  elements[0] = builder_binary(&p.to, HLO_ADD, p.turn, builder_scalar_int(&p.to, DTYPE_S32, 1));
  computation_set_root(c, builder_tuple(&p.to, state->tuple_size, elements));
  return status_ok();
}

static heddle_status add_loop(tile_search *s, tile_group *g, instruction **values, carried_rows *kept,
                              computation **body) {
  const builder b = builder_for(g->bottom);
  const int count = value_count_of_all(g), carried = carried_count(g);
  if (tile_group_regions(s, g) != REGION_FOUND) return no_region(g);
  instruction_list externals = {0};
  for (int k = 0; k < g->externals.size; k++)
    if (!tile_group_over(g, g->externals.data[k])) vec_push(s->arena, &externals, g->externals.data[k]);
  const int size = 1 + count + carried + externals.size;
  instruction **elements = arena_array(s->arena, instruction *, size);
  elements[0] = builder_scalar_int(&b, DTYPE_S32, g->inside.first);
  for (int k = 0; k < count; k++) elements[1 + k] = values[k];
  end_with_kept(g, kept, elements + 1 + count);
  for (int k = 0; k < externals.size; k++) elements[1 + count + carried + k] = externals.data[k];
  instruction *state = builder_tuple(&b, size, elements);
  computation *called[2];
  TRY(make_body(s, g, &b, state->shape, &externals, &called[1]));
  called[0] = make_condition(&b, state->shape, g->inside.last);
  instruction *loop = builder_add(&b, HLO_WHILE, state->shape, 1, &state);
  instruction_set_called(loop, 2, called);
  *body = called[1];
  tile_loops_mark(loop);
  for (int k = 0; k < count; k++) values[k] = builder_element(&b, loop, 1 + k);
  for (int k = 0; k < carried; k++) elements[k] = builder_element(&b, loop, 1 + count + k);
  begin_with_kept(g, g->inside.last + 1, elements, kept);
  return status_ok();
}

static instruction *allocate(const builder *b, const shape *s) {
  instruction *i = builder_add(b, HLO_CUSTOM_CALL, s, 0, NULL);
  i->attributes->custom_call_target = STR(LHLO_ALLOCATE_BUFFER);
  attributes_mark(i->attributes, HLO_ATTRIBUTE_CUSTOM_CALL_TARGET);
  return i;
}

// Sums begin with the first turn's.
static void allocate_all(const builder *b, const tile_group *g, instruction **values) {
  for (int k = 0; k < g->outputs.size; k++) {
    const tile_output *o = &g->outputs.data[k];
    for (int v = 0; v < value_count(o); v++, values++)
      if (!o->is_sum) *values = o->array ? o->array : allocate(b, value_shape(o, v));
  }
}

heddle_status tile_loop_make(tile_search *s, tile_group *g, computation **body) {
  const builder b = builder_for(g->bottom);
  instruction **values = arena_array(s->arena, instruction *, value_count_of_all(g));
  allocate_all(&b, g, values);
  carried_rows *kept = arena_array(s->arena, carried_rows, g->members.size);
  for (int64_t turn = g->first_turn; turn < g->inside.first; turn++) TRY(add_lone_tile(s, g, turn, values, kept));
  const bool is_loop = g->inside.last > g->inside.first;
  *body = NULL;
  if (is_loop) TRY(add_loop(s, g, values, kept, body));
  for (int64_t turn = is_loop ? g->inside.last + 1 : g->inside.first; turn < g->turns + (g->remainder > 0); turn++)
    TRY(add_lone_tile(s, g, turn, values, kept));
  for (int k = 0; k < g->outputs.size; k++) {
    const tile_output *o = &g->outputs.data[k];
    builder_replace_values(&b, o->update ? o->update : o->instruction, values);
    values += value_count(o);
  }
  return status_ok();
}
