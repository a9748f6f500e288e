// Products whose operands are packed: what a register tile reads lies side by side.
//
// A block of the sums' terms is taken at a time, so that what the block needs of the columns' operand fits a core's
// cache. It is copied into panels, [column / width][terms][column % width], in the tile's own memory: a register tile
// then reads one vector after the other, whatever the operand's layout, type and strides are, and a panel that is
// partly there has vectors like others, whose last lanes hold anything and are thrown away. The rows' operand is read
// where it lies if that is by terms and needs no arithmetic; else a block of it is copied, too. A sum's terms are added
// one after the other, whatever the tiles are.
#include "tile/pack.h"

#include "base/int64.h"
#include "tile/markers.h"
#include "tile/nest.h"
#include "tile/pairs.h"
#include "tile/sizes.h"
#include "tile/structured.h"

enum { SUMS, PANELS, ROWS };  // what a nest carries

typedef struct packing {
  lower_context *context;
  const product_form *p;
  sizes_packing sizes;
  bool packs_rows;
  bool pairs;              // of bytes: two terms side by side, in 16 bits each (tile/pairs.c)
  MlirValue zero;          // with which a tile's sums begin; null: with what is there
  MlirValue panels, rows;  // of the block
} packing;

// --- parts of what is packed

static MlirAffineExpr constant(const nest *n, int64_t x) { return mlirAffineConstantExprGet(n->b.context, x); }

static void add_terms(const packing *w, const nest *n, nest_view *v, uint32_t kept) {
  for (int k = 0; k < w->p->loop_count; k++)
    if (w->p->is_reduction[k]) nest_view_add(v, n->within[k], kept >> k & 1U ? k : -1, n->size[k], 1);
}

// Lanes of a panel; of pairs, all or one of both terms.
static nest_view panel_view(const packing *w, const nest *n, uint32_t kept, int64_t columns, int64_t terms) {
  nest_view v = {0};
  const product_form *p = w->p;
  MlirAffineExpr width = constant(n, w->sizes.columns), two = constant(n, 2);
  nest_view_add(&v, mlirAffineFloorDivExprGet(n->within[p->column], width), -1, 1, 1);
  if (!w->pairs) add_terms(w, n, &v, kept);
  for (int k = 0; k < p->loop_count && w->pairs; k++)
    if (p->is_reduction[k])
      nest_view_add(&v, k == p->depth ? mlirAffineFloorDivExprGet(n->within[k], two) : n->within[k], -1, 1, 1);
  nest_view_add(&v, mlirAffineModExprGet(n->within[p->column], width), p->column, columns, 1);
  if (w->pairs) nest_view_add(&v, constant(n, 0), p->depth, terms, 1);
  return v;
}

static nest_view rows_view(const packing *w, const nest *n, uint32_t kept) {
  nest_view v = {0};
  const int row = w->p->row;
  nest_view_add(&v, n->within[row], kept >> row & 1U ? row : -1, n->size[row], 1);
  add_terms(w, n, &v, kept);
  return v;
}

// The map from loops, in their order here, to the dims that a view kept.
static MlirAffineMap map_of(MlirContext context, const nest_view *v, int loop_count, const int *loops) {
  int64_t dims[NEST_MOST_DIMS];
  for (int d = 0; d < v->kept; d++)
    for (int k = 0; k < loop_count; k++)
      if (loops[k] == v->kept_loops[d]) dims[d] = k;
  return structured_dims(context, loop_count, v->kept, dims);
}

// --- copies

typedef struct copying {
  packing *w;
  const product_side *side;
  int target;    // of what is carried
  int from, to;  // loops along which neighbours lie, before and after
} copying;

static heddle_status copy_tile(nest *n, void *user) {
  const copying *c = user;
  const product_form *p = c->w->p;
  const uint32_t kept = 1U << c->from | 1U << c->to;
  const int loops[] = {c->from == c->to ? c->to : c->from, c->to}, loop_count = c->from == c->to ? 1 : 2;
  nest_view to =
      c->target == PANELS ? panel_view(c->w, n, kept, n->size[p->column], n->size[p->depth]) : rows_view(c->w, n, kept);
  MlirValue inputs[32], *arguments = arena_array(n->b.arena, MlirValue, p->output), part;
  MlirAffineMap maps[33];
  int count = 0, numbers[32];
  for (int k = 0; k < p->output; k++) {
    if (!(c->side->inputs >> k & 1U)) continue;
    const nest_view from = nest_view_of(n, p->maps[k], kept);
    inputs[count] = nest_take(n, &from, p->operands[k]);
    maps[count] = map_of(n->b.context, &from, loop_count, loops);
    numbers[count++] = k;
  }
  maps[count] = map_of(n->b.context, &to, loop_count, loops);
  part = nest_take(n, &to, n->carried[c->target]);
  const structured_op op = {.input_count = count,
                            .inputs = inputs,
                            .output_count = 1,
                            .outputs = &part,
                            .maps = maps,
                            .loop_count = loop_count};
  ir_builder body;
  MlirOperation made = structured_begin(&n->b, &op, &body);
  for (int k = 0; k < count; k++) arguments[numbers[k]] = mlirBlockGetArgument(body.block, k);
  MlirValue factor = product_form_factor(p, &body, c->side, arguments);
  if (c->w->pairs) factor = ir_cast(&body, "arith.trunci", mlirIntegerTypeGet(n->b.context, 16), factor);
  structured_yield(&body, 1, &factor);
  n->carried[c->target] = nest_put(n, &to, ir_result(made, 0), n->carried[c->target]);
  return markers_begin(made, MARKER_VECTORIZE);
}

// Copies the nest's tile of a side; neighbours along `to` are neighbours then. Where others were before, squares are
// turned in registers.
static heddle_status copy_side(packing *w, nest *n, const product_side *side, int target, int to) {
  const product_form *p = w->p;
  copying c = {w, side, target, to, to};
  const bool interleaves = w->pairs && target == PANELS;
  if (side->minor >= 0 && n->size[side->minor] > 1 && (side->loops >> side->minor & 1U)) c.from = side->minor;
  if (interleaves) {
    c.from = p->column;
    c.to = to = p->depth;
  }
  nest_level levels[TILING_MAX_LOOPS];
  int count = 0;
  for (int k = 0; k < p->loop_count; k++)
    if ((side->loops >> k & 1U) && k != c.from && k != c.to) levels[count++] = (nest_level){k, 1};
  levels[count++] = (nest_level){to, interleaves ? 2 : c.from == c.to ? w->sizes.columns : w->sizes.lanes};
  if (c.from != c.to) levels[count++] = (nest_level){c.from, interleaves ? w->sizes.columns : w->sizes.lanes};
  return nest_build(n, count, levels, copy_tile, &c);
}

// --- register tiles

// One term of the sums of a tile.
static heddle_status add_term(nest *n, void *user) {
  packing *w = user;
  const product_form *p = w->p;
  const int loops[] = {p->row, p->column, p->depth};
  const uint32_t kept = 1U << p->row | 1U << p->depth;
  nest terms = *n;
  if (w->pairs) terms.size[p->depth] = 2;  // the last one of an odd number has zeros beside it
  const nest_view columns = panel_view(w, &terms, 1U << p->depth, w->sizes.columns, 2),
                  rows = w->packs_rows ? rows_view(w, &terms, kept) : nest_view_of(n, p->maps[p->rows.plain], kept);
  MlirValue inputs[] = {nest_take(n, &rows, w->packs_rows ? w->rows : p->operands[p->rows.plain]),
                        nest_take(n, &columns, w->panels)};
  MlirAffineMap maps[] = {map_of(n->b.context, &rows, 3, loops), map_of(n->b.context, &columns, 3, loops),
                          structured_dims(n->b.context, 3, 2, (int64_t[]){0, 1})};
  const structured_op op = {.input_count = 2,
                            .inputs = inputs,
                            .output_count = 1,
                            .outputs = &n->carried[SUMS],
                            .maps = maps,
                            .loop_count = 3,
                            .is_reduction = (bool[]){false, false, true}};
  ir_builder body;
  MlirOperation made = structured_begin(&n->b, &op, &body);
  const bool is_float = mlirTypeIsAFloat(p->type);
  MlirValue factors[2];
  for (int k = 0; k < 2; k++) {
    factors[k] = mlirBlockGetArgument(body.block, k);
    if (w->pairs) factors[k] = ir_cast(&body, "arith.extsi", p->type, factors[k]);
  }
  if (w->pairs) ir_set(made, PAIRS, mlirUnitAttrGet(n->b.context));
  MlirValue product = ir_binary(&body, is_float ? "arith.mulf" : "arith.muli", factors[0], factors[1]);
  MlirValue sum =
      ir_binary(&body, is_float ? "arith.addf" : "arith.addi", mlirBlockGetArgument(body.block, 2), product);
  structured_yield(&body, 1, &sum);
  n->carried[SUMS] = ir_result(made, 0);
  return markers_begin(made, MARKER_VECTORIZE);
}

static MlirValue zero_of(ir_builder *b, MlirType type) {
  return mlirTypeIsAFloat(type) ? ir_float(b, type, 0) : ir_int(b, type, 0);
}

static heddle_status fill_tile(nest *n, MlirValue value) {
  n->carried[SUMS] = structured_fill(&n->b, value, n->carried[SUMS]);
  return markers_begin(ir_defining_op(n->carried[SUMS]), MARKER_VECTORIZE);
}

static heddle_status register_tile(nest *n, void *user) {
  packing *w = user;
  const product_form *p = w->p;
  const nest_view place = nest_view_of(n, p->maps[p->output], 1U << p->row | 1U << p->column);
  const bool is_partial = n->size[p->column] < w->sizes.columns, begins = !mlirValueIsNull(w->zero);
  MlirAffineExpr first = mlirAffineConstantExprGet(n->b.context, 0);
  nest_view part = {0};
  nest_view_add(&part, first, p->row, n->size[p->row], 1);
  nest_view_add(&part, first, p->column, n->size[p->column], 1);
  nest tile = *n;
  if (!is_partial || !begins) tile.carried[SUMS] = nest_take(n, &place, n->carried[SUMS]);
  if (is_partial) {
    MlirValue begun = tile.carried[SUMS];
    tile.carried[SUMS] = structured_empty(&tile.b, 2, (int64_t[]){n->size[p->row], w->sizes.columns}, p->type);
    if (!begins) {
      TRY(fill_tile(&tile, zero_of(&tile.b, p->type)));
      tile.carried[SUMS] = nest_put(&tile, &part, begun, tile.carried[SUMS]);
    }
  }
  if (begins) TRY(fill_tile(&tile, w->zero));
  nest_level levels[TILING_MAX_LOOPS];
  int count = 0;
  for (int k = 0; k < p->loop_count; k++)
    if (p->is_reduction[k]) levels[count++] = (nest_level){k, w->pairs && k == p->depth ? 2 : 1};
  TRY(nest_build(&tile, count, levels, add_term, w));
  MlirValue sums = is_partial ? nest_take(n, &part, tile.carried[SUMS]) : tile.carried[SUMS];
  n->carried[SUMS] = nest_put(n, &place, sums, n->carried[SUMS]);
  return status_ok();
}

// --- blocks

static heddle_status zero_term(nest *n, void *user) {
  packing *w = user;
  const product_form *p = w->p;
  nest behind = *n;
  behind.within[p->depth] = mlirAffineAddExprGet(n->within[p->depth], constant(n, n->size[p->depth]));
  behind.size[p->depth] = 1;
  const nest_view v = rows_view(w, &behind, 1U << p->row | 1U << p->depth);
  MlirType type = mlirIntegerTypeGet(n->b.context, 16);
  MlirValue zeros = structured_fill(&n->b, ir_int(&n->b, type, 0), nest_take(n, &v, n->carried[ROWS]));
  n->carried[ROWS] = nest_put(n, &v, zeros, n->carried[ROWS]);
  return markers_begin(ir_defining_op(zeros), MARKER_VECTORIZE);
}

// Beside the last term of an odd number lies a zero; what a panel has there does not matter then.
static heddle_status pad_rows(packing *w, nest *n) {
  const product_form *p = w->p;
  nest_level levels[TILING_MAX_LOOPS];
  int count = 0;
  if (!w->pairs || n->size[p->depth] % 2 == 0) return status_ok();
  for (int k = 0; k < p->loop_count; k++)
    if (p->is_reduction[k] && k != p->depth) levels[count++] = (nest_level){k, 1};
  levels[count++] = (nest_level){p->row, w->sizes.lanes};
  return nest_build(n, count, levels, zero_term, w);
}

static heddle_status row_block(nest *n, void *user) {
  packing *w = user;
  const product_form *p = w->p;
  nest_enter(n);
  if (w->packs_rows) {
    int last = -1;
    for (int k = 0; k < p->loop_count; k++)
      if (p->is_reduction[k] && (last < 0 || n->size[k] > 1)) last = k;
    TRY(copy_side(w, n, &p->rows, ROWS, last));
    TRY(pad_rows(w, n));
    w->rows = n->carried[ROWS];
  }
  w->panels = n->carried[PANELS];
  nest tiles = *n;
  tiles.carried_count = 1;
  const nest_level levels[] = {{p->row, w->sizes.rows}, {p->column, w->sizes.columns}};
  TRY(nest_build(&tiles, 2, levels, register_tile, w));
  n->carried[SUMS] = tiles.carried[SUMS];
  n->b = tiles.b;
  return status_ok();
}

// Loops around the rows that read the same panels.
static bool is_outer_row(const product_form *p, int k) {
  return !p->is_reduction[k] && k != p->row && k != p->column && p->trips[k] > 1 && !(p->columns.loops >> k & 1U);
}

static heddle_status block(nest *n, void *user) {
  packing *w = user;
  const product_form *p = w->p;
  nest_enter(n);
  TRY(copy_side(w, n, &p->columns, PANELS, p->column));
  nest_level levels[TILING_MAX_LOOPS];
  int count = 0;
  for (int k = 0; k < p->loop_count; k++)
    if (is_outer_row(p, k)) levels[count++] = (nest_level){k, 1};
  levels[count++] = (nest_level){p->row, w->packs_rows ? w->sizes.row_block : n->size[p->row]};
  return nest_build(n, count, levels, row_block, w);
}

// How much of each reduction a block has: all of the inner ones, as long as it fits.
static int block_levels(const packing *w, nest_level *levels) {
  const product_form *p = w->p;
  int64_t steps[TILING_MAX_LOOPS] = {0}, left = w->sizes.terms;
  int count = 0;
  for (int k = p->loop_count - 1; k >= 0; k--) {
    if (!p->is_reduction[k]) continue;
    const int64_t most = left < 1 ? 1 : left, blocks = (p->trips[k] + most - 1) / most;
    steps[k] = (p->trips[k] + blocks - 1) / blocks;
    left /= steps[k];
  }
  for (int k = 0; k < p->loop_count; k++) {
    if (p->is_reduction[k]) levels[count++] = (nest_level){k, steps[k]};
    else if (k != p->row && k != p->column && p->trips[k] > 1 && !is_outer_row(p, k))
      levels[count++] = (nest_level){k, 1};
  }
  return count;
}

static int64_t blocks_of(const packing *w, int level_count, const nest_level *levels) {
  int64_t blocks = 1;
  for (int k = 0; k < level_count; k++) {
    const nest_level l = levels[k];
    if (w->p->is_reduction[l.loop]) blocks *= int64_ceil_div(w->p->trips[l.loop], int64_max(1, l.step));
  }
  return blocks;
}

// Room for the largest block.
static MlirValue room(const packing *w, nest *n, int level_count, const nest_level *levels, int target) {
  const product_form *p = w->p;
  const int64_t width = w->sizes.columns, rows = p->trips[p->row];
  int64_t dims[NEST_MOST_DIMS];
  int rank = 0;
  dims[rank++] = target == PANELS            ? (p->trips[p->column] + width - 1) / width
                 : rows < w->sizes.row_block ? rows
                                             : w->sizes.row_block;
  for (int k = 0; k < level_count; k++)
    if (p->is_reduction[levels[k].loop]) {
      const bool is_paired = w->pairs && levels[k].loop == p->depth;
      const int64_t pairs = (levels[k].step + 1) / 2;
      dims[rank++] = !is_paired ? levels[k].step : target == PANELS ? pairs : 2 * pairs;
    }
  if (target == PANELS) dims[rank++] = width;
  if (target == PANELS && w->pairs) dims[rank++] = 2;
  return structured_empty(&n->b, rank, dims, w->pairs ? mlirIntegerTypeGet(n->b.context, 16) : p->type);
}

static heddle_status zero_lanes(nest *n, void *user) {
  packing *w = user;
  const product_form *p = w->p;
  nest_view v = {0};
  nest_view_add(&v, constant(n, p->trips[p->column] / w->sizes.columns), -1, 1, 1);
  add_terms(w, n, &v, 0);
  nest_view_add(&v, constant(n, 0), p->column, w->sizes.columns, 1);
  MlirValue zeros = structured_fill(&n->b, zero_of(&n->b, p->type), nest_take(n, &v, n->carried[PANELS]));
  n->carried[PANELS] = nest_put(n, &v, zeros, n->carried[PANELS]);
  return markers_begin(ir_defining_op(zeros), MARKER_VECTORIZE);
}

// The last panel's lanes that are no columns are zeros: arithmetic on subnormal numbers, which memory may hold, takes
// a hundred times as long on some processors.
static heddle_status clear_lanes(packing *w, nest *n, int level_count, const nest_level *levels) {
  const product_form *p = w->p;
  nest all = *n;
  nest_level terms[TILING_MAX_LOOPS];
  int count = 0;
  if (!mlirTypeIsAFloat(p->type) || p->trips[p->column] % w->sizes.columns == 0) return status_ok();
  for (int k = 0; k < level_count; k++) {
    if (!p->is_reduction[levels[k].loop]) continue;
    all.size[levels[k].loop] = levels[k].step;
    terms[count++] = (nest_level){levels[k].loop, 1};
  }
  TRY(nest_build(&all, count, terms, zero_lanes, w));
  n->carried[PANELS] = all.carried[PANELS];
  return status_ok();
}

heddle_status pack_product(lower_context *c, product_form *p, int share) {
  packing w = {.context = c, .p = p};
  int last = -1;
  for (int k = 0; k < p->loop_count; k++)
    if (p->is_reduction[k] && p->trips[k] > 1) last = k;
  w.pairs = ir_bit_width(p->type) == 32 && p->rows.is_narrow && p->columns.is_narrow;
  w.packs_rows = p->rows.plain < 0 || p->rows.minor != last;
  w.sizes = sizes_of_packing(&c->options->target, p->type, p->trips[p->row], p->trips[p->column], p->terms,
                             w.packs_rows, share);
  ir_builder b = ir_builder_before(p->op, c->scratch);
  b.location = mlirOperationGetLocation(p->op);
  product_form_squeeze(p, &b);
  nest n;
  nest_init(&n, &b, p->loop_count, p->trips);
  nest_level levels[TILING_MAX_LOOPS];
  const int count = block_levels(&w, levels);
  n.carried_count = w.packs_rows ? 3 : 2;
  n.carried[SUMS] = p->operands[p->output];
  // One block has all terms: then sums begin in registers.
  MlirOperation before = ir_defining_op(n.carried[SUMS]);
  if (blocks_of(&w, count, levels) == 1 && !ir_is_null(before) && ir_is(before, "linalg.fill")) {
    w.zero = ir_operand(before, 0);
    n.carried[SUMS] = ir_operand(before, 1);
  }
  n.carried[PANELS] = room(&w, &n, count, levels, PANELS);
  if (w.packs_rows) n.carried[ROWS] = room(&w, &n, count, levels, ROWS);
  TRY(clear_lanes(&w, &n, count, levels));
  TRY(nest_build(&n, count, levels, block, &w));
  product_form_replace(p, &n.b, n.carried[SUMS]);
  return status_ok();
}
