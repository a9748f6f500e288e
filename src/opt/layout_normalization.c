// Layout normalization: arrays inside a module have the default (row-major) layout; what other layouts meant is said by
// transposes.
//
// HLO's operations speak of logical indices, so that a layout can be dropped wherever no one looks at memory. Two
// things look: bitcasts and the world outside. A bitcast becomes
//     transpose to the operand's order in memory -> reshape -> transpose from the result's order in memory
// (bitcast-convert too if the type changes, and a bitcast between default layouts if the width does). Where tiles
// count, memory is a line: pads fill tiles up, and what fills the result's tiles is cut off. At the entry the declared
// layouts stay, on the parameter and on the root alone, each next to a bitcast that is the identity in memory:
//     f32[2,3]{0,1} parameter -> f32[3,2] bitcast -> f32[2,3] transpose
//     f32[2,3] x -> f32[3,2] transpose -> f32[2,3]{0,1} bitcast, the root
// Elements of tuples at the entry are treated the same way. The declared layout is the one that
// entry_computation_layout writes, else the instruction's own; tiles, memory spaces and layouts of dynamic arrays are
// dropped. Constants lose theirs in the literal too, whose elements are row-major anyway. Custom calls take and give
// row-major arrays too, and say so in operand_layout_constraints.
#include "opt/passes.h"

#include "hlo/builder.h"
#include "hlo/tiled_layout.h"
#include "opt/rewrite.h"

typedef struct normalization {
  pass_context *context;
  arena *arena;  // the module's
  arena *scratch;
  ptr_map plain;  // shape -> the same without layouts; all instructions share few
} normalization;

// --- shapes

static bool has_layouts(const shape *s) {
  if (shape_is_array(s)) return s->layout != NULL;
  for (int k = 0; k < s->tuple_size; k++)
    if (has_layouts(s->elements[k])) return true;
  return false;
}

static const shape *plain_shape(normalization *n, const shape *s) {
  if (shape_is_array(s)) return s->layout ? shape_with_layout(n->arena, s, NULL) : s;
  if (!shape_is_tuple(s)) return s;
  const shape **elements = arena_array(n->arena, const shape *, s->tuple_size);
  for (int k = 0; k < s->tuple_size; k++) elements[k] = plain_shape(n, s->elements[k]);
  return shape_tuple(n->arena, s->tuple_size, elements);
}

static const shape *plain_once(normalization *n, const shape *s) {
  const shape *known = ptr_map_get(&n->plain, s);
  if (known) return known;
  known = plain_shape(n, s);
  n->context->changed |= has_layouts(s);
  ptr_map_put(n->scratch, &n->plain, s, (void *)known);
  return known;
}

// Dims from the most major to the most minor.
static void memory_order(const shape *s, int64_t *order) {
  int64_t minor_to_major[SHAPE_MAX_RANK];
  shape_minor_to_major(s, minor_to_major);
  for (int k = 0; k < s->rank; k++) order[k] = minor_to_major[s->rank - 1 - k];
}

static void invert(int rank, const int64_t *order, int64_t *inverse) {
  for (int k = 0; k < rank; k++) inverse[order[k]] = k;
}

// The array as it lies in memory: the same elements, dims in memory order.
static const shape *memory_shape(arena *a, const shape *s) {
  int64_t order[SHAPE_MAX_RANK], dims[SHAPE_MAX_RANK];
  memory_order(s, order);
  for (int k = 0; k < s->rank; k++) dims[k] = s->dims[order[k]];
  return shape_array(a, s->dtype, s->rank, dims);
}

static instruction *to_memory(const builder *b, instruction *x, const shape *s) {
  int64_t order[SHAPE_MAX_RANK];
  memory_order(s, order);
  return builder_transpose(b, x, order);
}

static instruction *from_memory(const builder *b, instruction *x, const shape *s) {
  int64_t order[SHAPE_MAX_RANK], inverse[SHAPE_MAX_RANK];
  memory_order(s, order);
  invert(s->rank, order, inverse);
  return builder_transpose(b, x, inverse);
}

// --- bitcasts

// Memory is read with the layouts that were there before anything was changed.
typedef struct bitcast_site {
  instruction *bitcast;
  const shape *from;
} bitcast_site;

typedef VEC(bitcast_site) bitcast_list;

// What lies in memory as `x`, row by row, read as `memory`.
static instruction *reread(const builder *b, instruction *x, const shape *memory) {
  if (dtypes[x->shape->dtype].bits != dtypes[memory->dtype].bits) return builder_add(b, HLO_BITCAST, memory, 1, &x);
  if (!shape_same_dims(x->shape, memory)) x = builder_reshape(b, x, memory->rank, memory->dims);
  return x->shape->dtype != memory->dtype ? builder_add(b, HLO_BITCAST_CONVERT, memory, 1, &x) : x;
}

static instruction *as_moves(const builder *b, instruction *x, const shape *from, const shape *to) {
  return from_memory(b, reread(b, to_memory(b, x, from), memory_shape(b->arena, to)), to);
}

// --- tiles

// A tile splits the last dims, which are filled up to whole tiles first: [.., q0*t0, q1*t1] -> [.., q0, q1, t0, t1].
typedef struct tiling {
  int rank, count;                 // of the array it applies to, ones in front included; of the dims it splits
  int64_t dims[SHAPE_MAX_RANK];    // of that array
  int64_t filled[SHAPE_MAX_RANK];  // up to whole tiles
  int64_t split[SHAPE_MAX_RANK];   // [.., q0, t0, q1, t1]
  int64_t order[SHAPE_MAX_RANK];   // that brings the tiles' dims behind all others
  int64_t back[SHAPE_MAX_RANK];    // the inverse
  int64_t tiled[SHAPE_MAX_RANK];   // [.., q0, q1, t0, t1]
} tiling;

static bool tiling_of(int rank, const int64_t *dims, const layout_tile *t, tiling *out) {
  const int ones = t->rank > rank ? t->rank - rank : 0, first = rank + ones - t->rank;
  out->rank = rank + ones;
  out->count = t->rank;
  if (out->rank + t->rank > SHAPE_MAX_RANK) return false;
  for (int d = 0; d < out->rank; d++) out->dims[d] = d < ones ? 1 : dims[d - ones];
  for (int d = 0; d < first; d++) out->filled[d] = out->split[d] = out->dims[d], out->order[d] = d;
  for (int k = 0; k < t->rank; k++) {
    const int64_t size = t->dims[k], tiles = (out->dims[first + k] + size - 1) / size;
    out->filled[first + k] = tiles * size;
    out->split[first + 2 * k] = tiles;
    out->split[first + 2 * k + 1] = size;
    out->order[first + k] = first + 2 * k;
    out->order[out->rank + k] = first + 2 * k + 1;
  }
  invert(out->rank + t->rank, out->order, out->back);
  for (int d = 0; d < out->rank + t->rank; d++) out->tiled[d] = out->split[out->order[d]];
  return true;
}

static instruction *reshape_to(const builder *b, instruction *x, int rank, const int64_t *dims) {
  const shape wanted = {.rank = rank, .dims = dims};
  return shape_same_dims(x->shape, &wanted) ? x : builder_reshape(b, x, rank, dims);
}

static instruction *fill_up(const builder *b, instruction *x, const tiling *t) {
  padding_dim more[SHAPE_MAX_RANK] = {0};
  bool any = false;
  for (int d = 0; d < t->rank; d++) {
    more[d].high = t->filled[d] - t->dims[d];
    any |= more[d].high > 0;
  }
  return any ? builder_pad(b, x, builder_scalar_int(b, x->shape->dtype, 0), more) : x;
}

static instruction *cut_off(const builder *b, instruction *x, const tiling *t) {
  slice_dim kept[SHAPE_MAX_RANK];
  bool any = false;
  for (int d = 0; d < t->rank; d++) {
    kept[d] = (slice_dim){0, t->dims[d], 1};
    any |= t->filled[d] > t->dims[d];
  }
  return any ? builder_slice(b, x, kept) : x;
}

// The tilings of a layout's tiles, one on the other. False where an array would have too many dims.
static bool tilings_of(const shape *s, const shape *memory, tiling *out) {
  int rank = memory->rank;
  const int64_t *dims = memory->dims;
  for (int k = 0; k < s->layout->tile_count; k++) {
    if (!tiling_of(rank, dims, &s->layout->tiles[k], &out[k])) return false;
    rank = out[k].rank + out[k].count;
    dims = out[k].tiled;
  }
  return true;
}

static instruction *to_tiles(const builder *b, instruction *x, int count, const tiling *tilings) {
  for (int k = 0; k < count; k++) {
    const tiling *t = &tilings[k];
    x = fill_up(b, reshape_to(b, x, t->rank, t->dims), t);
    x = builder_transpose(b, reshape_to(b, x, t->rank + t->count, t->split), t->order);
  }
  return x;
}

static instruction *from_tiles(const builder *b, instruction *x, int count, const tiling *tilings) {
  for (int k = count; k-- > 0;) {
    const tiling *t = &tilings[k];
    x = builder_transpose(b, reshape_to(b, x, t->rank + t->count, t->tiled), t->back);
    x = cut_off(b, reshape_to(b, x, t->rank, t->filled), t);
  }
  return x;
}

// Null where tiles have too many dims.
static instruction *as_tiled_moves(const builder *b, instruction *x, const shape *from, const shape *to) {
  const shape *memory[2] = {memory_shape(b->arena, from), memory_shape(b->arena, to)}, *ends[2] = {from, to};
  int counts[2];
  tiling *tilings[2];
  for (int k = 0; k < 2; k++) {
    counts[k] = tiled_layout_has_tiles(ends[k]) ? ends[k]->layout->tile_count : 0;
    tilings[k] = arena_array(b->arena, tiling, counts[k]);
    if (counts[k] && !tilings_of(ends[k], memory[k], tilings[k])) return NULL;
  }
  x = to_tiles(b, to_memory(b, x, from), counts[0], tilings[0]);
  const int64_t line = shape_element_count(x->shape), positions = tiled_layout_element_count(to);
  x = reread(b, reshape_to(b, x, 1, &line), shape_array(b->arena, to->dtype, 1, &positions));
  x = from_tiles(b, x, counts[1], tilings[1]);
  return from_memory(b, reshape_to(b, x, to->rank, memory[1]->dims), to);
}

static instruction *as_tiled(const builder *b, instruction *x, const shape *from, const shape *to) {
  return tiled_layout_matters(from, to) ? as_tiled_moves(b, x, from, to) : as_moves(b, x, from, to);
}

static heddle_status replace_bitcast(pass_context *context, const bitcast_site *site) {
  instruction *i = site->bitcast;
  const shape *from = site->from, *to = i->shape;
  const builder b = builder_for(i);
  if (!shape_is_array(to) || !shape_is_static(to) || !shape_is_static(from)) return status_ok();
  const bool is_plain = shape_layout_is_default(from) && shape_layout_is_default(to);
  if (is_plain && dtypes[from->dtype].bits != dtypes[to->dtype].bits) return status_ok();
  instruction *by = i->operands[0];
  if (!shape_equal(from, to)) {
    by = tiled_layout_is_known(from, to) ? as_tiled(&b, by, from, to) : NULL;
    if (!by)
      return status_at(HEDDLE_UNIMPLEMENTED, i->where, "bitcast '" STR_FMT "' between tiles of this kind",
                       STR_ARG(i->name));
  }
  if (by == i->operands[0] && i->control_predecessors.size > 0) return status_ok();
  for (int k = 0; k < i->control_predecessors.size; k++)
    vec_push(b.arena, &by->control_predecessors, i->control_predecessors.data[k]);
  rewrite_uses(context, i, by);
  return status_ok();
}

static heddle_status replace_bitcasts(normalization *n, module *m) {
  bitcast_list found = {0};
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++) {
      instruction *i = all->data[k];
      if (i->opcode == HLO_BITCAST) vec_push(n->scratch, &found, (bitcast_site){i, i->operands[0]->shape});
    }
  }
  for (int k = 0; k < found.size; k++) TRY(replace_bitcast(n->context, &found.data[k]));
  return status_ok();
}

// --- the entry

// The layout that counts outside: the order of dims and nothing else.
static const shape *declared_array(arena *a, const shape *own, const shape *written) {
  const layout *l = written ? written->layout : own->layout;
  const shape *ordered = own;
  if (l && l->minor_to_major) ordered = shape_with_layout(a, own, &(layout){.minor_to_major = l->minor_to_major});
  if (!l || !shape_is_static(own) || shape_layout_is_default(ordered)) return shape_with_layout(a, own, NULL);
  layout *order = arena_new(a, layout);
  order->minor_to_major = l->minor_to_major;
  return shape_with_layout(a, own, order);
}

static const shape *declared_shape(arena *a, const shape *own, const shape *written) {
  if (shape_is_array(own)) return declared_array(a, own, written);
  if (!shape_is_tuple(own)) return own;
  const shape **elements = arena_array(a, const shape *, own->tuple_size);
  for (int k = 0; k < own->tuple_size; k++)
    elements[k] = declared_shape(a, own->elements[k], written ? written->elements[k] : NULL);
  return shape_tuple(a, own->tuple_size, elements);
}

// A value as it comes from outside -> in the default layout.
static instruction *take_in(const builder *b, instruction *x) {
  const shape *s = x->shape;
  if (!has_layouts(s)) return x;
  if (shape_is_array(s)) return from_memory(b, builder_add(b, HLO_BITCAST, memory_shape(b->arena, s), 1, &x), s);
  instruction **elements = arena_array(b->arena, instruction *, s->tuple_size);
  for (int k = 0; k < s->tuple_size; k++) elements[k] = take_in(b, builder_element(b, x, k));
  return builder_tuple(b, s->tuple_size, elements);
}

// A value in the default layout -> as `s` wants it outside.
static instruction *give_out(const builder *b, instruction *x, const shape *s) {
  if (!has_layouts(s)) return x;
  if (shape_is_array(s)) {
    instruction *memory = to_memory(b, x, s);
    return builder_add(b, HLO_BITCAST, s, 1, &memory);
  }
  instruction **elements = arena_array(b->arena, instruction *, s->tuple_size);
  for (int k = 0; k < s->tuple_size; k++) elements[k] = give_out(b, builder_element(b, x, k), s->elements[k]);
  return builder_tuple(b, s->tuple_size, elements);
}

// Whoever used the parameter uses the value in the default layout, from the last user on: that one is found first in
// the list of users.
static void normalize_parameter(normalization *n, const builder *b, instruction *p, const shape *declared) {
  const int count = p->users.size;
  instruction **users = arena_array(n->scratch, instruction *, count);
  if (count) memcpy(users, p->users.data, (size_t)count * sizeof *users);
  p->shape = declared;
  instruction *by = take_in(b, p);
  if (by != p) {
    n->context->changed = true;
    for (int k = count; k-- > 0;)
      for (int j = 0; j < users[k]->operand_count; j++)
        if (users[k]->operands[j] == p) instruction_set_operand(users[k], j, by);
    if (b->computation->root == p) computation_set_root(b->computation, by);
  }
}

static void normalize_entry(normalization *n, module *m, const shape *const *parameters, const shape *result) {
  computation *entry = m->entry;
  const builder b = builder_in(entry);
  for (int k = 0; k < entry->parameters.size; k++) normalize_parameter(n, &b, entry->parameters.data[k], parameters[k]);
  instruction *root = give_out(&b, entry->root, result);
  n->context->changed |= root != entry->root;
  computation_set_root(entry, root);
}

// --- everything else

// The same value, whose elements are in row-major order whatever the shape says.
static literal *plain_literal(normalization *n, const literal *from, const shape *s) {
  literal *to = arena_new(n->arena, literal);
  *to = *from;
  to->shape = s;
  if (s->tuple_size) to->elements = arena_array(n->arena, literal *, s->tuple_size);
  for (int k = 0; k < s->tuple_size; k++) to->elements[k] = plain_literal(n, from->elements[k], s->elements[k]);
  return to;
}

static void clear_layouts(normalization *n, computation *c) {
  for (int k = 0; k < c->instructions.size; k++) {
    instruction *i = c->instructions.data[k];
    i->shape = plain_once(n, i->shape);
    if (i->literal) i->literal = plain_literal(n, i->literal, plain_once(n, i->literal->shape));
    if (i->attributes->operand_layout_count == 0) continue;
    const shape **layouts = arena_array(n->arena, const shape *, i->attributes->operand_layout_count);
    for (int j = 0; j < i->attributes->operand_layout_count; j++)
      layouts[j] = plain_once(n, i->attributes->operand_layouts[j]);
    i->attributes->operand_layouts = layouts;
  }
}

static heddle_status run(pass_context *context, void *unit) {
  module *m = unit;
  normalization n = {.context = context, .arena = m->arena, .scratch = context->scratch};
  const instruction_list *parameters = &m->entry->parameters;
  const shape **declared = arena_array(n.scratch, const shape *, parameters->size);
  for (int k = 0; k < parameters->size; k++)
    declared[k] = declared_shape(m->arena, parameters->data[k]->shape,
                                 m->entry_parameters_layout ? m->entry_parameters_layout->elements[k] : NULL);
  const shape *result = declared_shape(m->arena, m->entry->root->shape, m->entry_result_layout);
  TRY(replace_bitcasts(&n, m));
  for (int c = 0; c < m->computations.size; c++) clear_layouts(&n, m->computations.data[c]);
  normalize_entry(&n, m, declared, result);
  return opt_dead_code.run(context, m);
}

const pass opt_layout_normalization = {
    .name = "layout-normalization",
    .summary = "arrays inside a module have the default layout",
    .order_reason =
        "before anything is replaced: a bitcast means memory as its own operand's shape lays it out, and what stands "
        "for that operand later may lie otherwise; no pass behind it needs to know layouts",
    .use = PASS_NEEDED,
    .run = run,
};
