// Products whose operands are packed: what a register tile reads lies side by side.
//
// A block of the sums' terms is taken at a time, so that what the block needs of the columns' operand fits a core's
// cache. It is copied into panels, [column / width][terms][column % width], in the tile's own memory: a register tile
// then reads one vector after the other, whatever the operand's layout, type and strides are, and a panel that is
// partly there has vectors like others, whose last lanes are thrown away. The rows' operand is read where it lies if
// that is by terms and needs no arithmetic; else a block of it is copied, too, into panels of its own where neighbours
// are rows. A sum's terms are added one after the other, whatever the tiles are. Where an instruction adds up several
// terms at once, these lie side by side, [column / width][terms / group][column % width][terms % group].
#include "tile/pack.h"

#include "base/int64.h"
#include "tile/borders.h"
#include "tile/markers.h"
#include "tile/nest.h"
#include "tile/panels.h"
#include "tile/sizes.h"
#include "tile/structured.h"
#include "tile/term_groups.h"

enum { SUMS, PANELS, ROWS, CORRECTIONS };  // what a nest carries
enum { FIRST_BIT = -128 };                 // of a byte

typedef struct packing {
  lower_context *context;
  const product_form *p;
  sizes_packing sizes;
  bool packs_rows;
  bool has_row_panels;  // neighbours are rows before: then they are afterwards, in panels like the columns'
  bool has_panels;      // the columns' operand lies in panels: nothing of it is copied
  bool is_panel;        // it is one, as it lies
  panels kept;
  term_group group;
  MlirValue zero;                       // with which a tile's sums begin; null: with what is there
  MlirValue panels, rows, corrections;  // of the block
  MlirValue first_bits;
} packing;

// --- which

// Measured: how many rows repay packing the columns' factors in each run, where an instruction adds up several terms,
// and where factors that lie by terms would be widened for each row.
enum { FEWEST_GROUPED_ROWS = 3, FEWEST_WIDENED_ROWS = 6 };

bool pack_takes_few_rows(const lower_context *c, const product_form *p) {
  if (p->row < 0 || p->shares_columns) return false;
  const int64_t rows = product_form_rows(p);
  if (rows < 2 || !sizes_may_pack(&c->options->target, p->type, p->trips[p->column], p->terms)) return false;
  const bool lies_by_terms = p->columns.minor == p->depth;
  if (lies_by_terms && p->rows.minor != p->depth) return true;
  if (lies_by_terms && p->columns.plain < 0 && rows >= FEWEST_WIDENED_ROWS) return true;
  return rows >= FEWEST_GROUPED_ROWS && !mlirTypeIsAFloat(p->type) &&
         term_groups_of(&c->options->target, c->options->exact, p).size > 1;
}

// --- parts of what is packed

static MlirAffineExpr constant(const nest *n, int64_t x) { return mlirAffineConstantExprGet(n->b.context, x); }

static void add_terms(const packing *w, const nest *n, nest_view *v, uint32_t kept) {
  for (int k = 0; k < w->p->loop_count; k++)
    if (w->p->is_reduction[k]) nest_view_add(v, n->within[k], kept >> k & 1U ? k : -1, n->size[k], 1);
}

static bool is_grouped(const packing *w) { return w->group.size > 1; }

static MlirType packed_type(const packing *w) { return is_grouped(w) ? w->group.type : w->p->type; }

// So many lanes of a panel, columns or rows; of groups so many terms.
static nest_view panel_view(const packing *w, const nest *n, int loop, uint32_t kept, int64_t lanes, int64_t terms) {
  nest_view v = {0};
  const product_form *p = w->p;
  MlirAffineExpr width = constant(n, loop == p->column ? w->sizes.columns : w->sizes.rows),
                 group = constant(n, w->group.size);
  nest_view_add(&v, mlirAffineFloorDivExprGet(n->within[loop], width), -1, 1, 1);
  if (!is_grouped(w)) add_terms(w, n, &v, kept);
  for (int k = 0; k < p->loop_count && is_grouped(w); k++)
    if (p->is_reduction[k])
      nest_view_add(&v, k == p->depth ? mlirAffineFloorDivExprGet(n->within[k], group) : n->within[k], -1, 1, 1);
  nest_view_add(&v, mlirAffineModExprGet(n->within[loop], width), loop, lanes, 1);
  if (is_grouped(w)) nest_view_add(&v, constant(n, 0), p->depth, terms, 1);
  return v;
}

static nest_view column_view(const packing *w, const nest *n, uint32_t kept, int64_t columns, int64_t terms) {
  if (w->is_panel) return nest_view_of(n, w->p->maps[w->p->columns.plain], kept | 1U << w->p->column);
  if (w->has_panels) return panels_view(&w->kept, w->p, n, kept, columns);
  return panel_view(w, n, w->p->column, kept, columns, terms);
}

static nest_view rows_view(const packing *w, const nest *n, uint32_t kept) {
  nest_view v = {0};
  const int row = w->p->row;
  if (w->has_row_panels) return panel_view(w, n, row, kept, n->size[row], n->size[w->p->depth]);
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

// As an element of a group.
static MlirValue packed_factor(const packing *w, ir_builder *body, int target, MlirValue factor) {
  MlirType type = w->group.type;
  if (mlirTypeIsAFloat(type)) return ir_cast(body, "arith.truncf", type, factor);
  MlirValue packed = ir_cast(body, "arith.trunci", type, factor);
  return target == ROWS && w->group.flips_rows ? ir_binary(body, "arith.xori", packed, ir_int(body, type, FIRST_BIT))
                                               : packed;
}

static heddle_status copy_tile(nest *n, void *user) {
  const copying *c = user;
  const product_form *p = c->w->p;
  const uint32_t kept = 1U << c->from | 1U << c->to;
  const int loops[] = {c->from == c->to ? c->to : c->from, c->to}, loop_count = c->from == c->to ? 1 : 2;
  nest_view to = c->target == PANELS ? column_view(c->w, n, kept, n->size[p->column], n->size[p->depth])
                                     : rows_view(c->w, n, kept);
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
  if (is_grouped(c->w)) factor = packed_factor(c->w, &body, c->target, factor);
  structured_yield(&body, 1, &factor);
  n->carried[c->target] = nest_put(n, &to, ir_result(made, 0), n->carried[c->target]);
  return markers_begin(made, MARKER_VECTORIZE);
}

// Groups of the columns' operand whose terms are neighbours are words that squares of are turned in registers: the
// number of the operand if it is one of bytes, else -1.
static int turned_input(const packing *w, const nest *n, const product_side *side) {
  const product_form *p = w->p;
  if (!is_grouped(w) || mlirTypeIsAFloat(p->type) || side->minor != p->depth || !side->is_narrow) return -1;
  if (n->size[p->depth] < w->group.size * w->sizes.lanes || n->size[p->column] < w->sizes.lanes) return -1;
  for (int k = 0; k < p->output; k++)
    if (side->inputs == 1U << k && ir_bit_width(ir_element_type(mlirValueGetType(p->operands[k]))) == 8) return k;
  return -1;
}

static nest_view turned_view(const packing *w, const nest *n) {
  const product_form *p = w->p;
  MlirAffineExpr width = constant(n, w->sizes.columns);
  nest_view v = {0};
  nest_view_add(&v, mlirAffineFloorDivExprGet(n->within[p->column], width), -1, 1, 1);
  for (int k = 0; k < p->loop_count; k++) {
    if (!p->is_reduction[k]) continue;
    if (k != p->depth) nest_view_add(&v, n->within[k], -1, 1, 1);
    else nest_view_add(&v, mlirAffineFloorDivExprGet(n->within[k], constant(n, w->group.size)), k, w->sizes.lanes, 1);
  }
  nest_view_add(&v, mlirAffineModExprGet(n->within[p->column], width), p->column, w->sizes.lanes, 1);
  nest_view_add(&v, constant(n, 0), p->depth, w->group.size, 1);
  return v;
}

// [column][terms] to [group][column][term].
static heddle_status turn_tile(nest *n, packing *w, int input) {
  const product_form *p = w->p;
  MlirContext context = n->b.context;
  const nest_view from = nest_view_of(n, p->maps[input], 1U << p->column | 1U << p->depth), to = turned_view(w, n);
  MlirAffineExpr group = mlirAffineDimExprGet(context, 0), term = mlirAffineDimExprGet(context, 2);
  MlirAffineExpr read[] = {
      mlirAffineDimExprGet(context, 1),
      mlirAffineAddExprGet(mlirAffineMulExprGet(group, constant(n, w->group.size)), term),
  };
  const MlirAffineMap maps[] = {mlirAffineMapGet(context, 3, 0, 2, read), structured_identity(context, 3)};
  MlirValue bytes = nest_take(n, &from, p->operands[input]), part = nest_take(n, &to, n->carried[PANELS]),
            *arguments = arena_array(n->b.arena, MlirValue, p->output);
  const structured_op op = {
      .input_count = 1, .inputs = &bytes, .output_count = 1, .outputs = &part, .maps = maps, .loop_count = 3};
  ir_builder body;
  MlirOperation made = structured_begin(&n->b, &op, &body);
  arguments[input] = mlirBlockGetArgument(body.block, 0);
  MlirValue factor = packed_factor(w, &body, PANELS, product_form_factor(p, &body, &p->columns, arguments));
  structured_yield(&body, 1, &factor);
  ir_set(made, TERM_TURN, mlirUnitAttrGet(context));
  n->carried[PANELS] = nest_put(n, &to, ir_result(made, 0), n->carried[PANELS]);
  return markers_begin(made, MARKER_VECTORIZE);
}

// A square, or what is left beside squares, group by group.
static heddle_status copy_square(nest *n, void *user) {
  copying *c = user;
  const packing *w = c->w;
  const product_form *p = w->p;
  const int input = turned_input(w, n, c->side);
  const nest_level levels[] = {{p->depth, w->group.size}, {p->column, w->sizes.lanes}};
  return input >= 0 ? turn_tile(n, c->w, input) : nest_build(n, 2, levels, copy_tile, user);
}

// Copies the nest's tile of a side; neighbours along `to` are neighbours then. Where others were before, squares are
// turned in registers.
static heddle_status copy_side(packing *w, nest *n, const product_side *side, int target, int to) {
  const product_form *p = w->p;
  const bool is_panel = target == PANELS || w->has_row_panels, interleaves = is_grouped(w) && target == PANELS;
  const int64_t width = target == PANELS ? w->sizes.columns : w->sizes.rows;
  const int64_t run = w->sizes.columns * ir_bit_width(p->type) / ir_bit_width(packed_type(w));
  if (is_panel) to = interleaves ? p->depth : target == PANELS ? p->column : p->row;
  copying c = {w, side, target, to, to};
  if (interleaves) c.from = p->column;
  else if (side->minor >= 0 && n->size[side->minor] > 1 && (side->loops >> side->minor & 1U)) c.from = side->minor;
  nest_level levels[TILING_MAX_LOOPS];
  int count = 0;
  for (int k = 0; k < p->loop_count; k++)
    if ((side->loops >> k & 1U) && k != c.from && k != c.to) levels[count++] = (nest_level){k, 1};
  if (interleaves && turned_input(w, n, side) >= 0) {
    levels[count++] = (nest_level){p->depth, w->group.size * w->sizes.lanes};
    levels[count++] = (nest_level){p->column, w->sizes.lanes};
    return nest_build(n, count, levels, copy_square, &c);
  }
  const int64_t step = interleaves ? w->group.size : c.from != c.to ? w->sizes.lanes : is_panel ? width : run;
  levels[count++] = (nest_level){to, step};
  if (c.from != c.to) levels[count++] = (nest_level){c.from, interleaves ? w->sizes.columns : w->sizes.lanes};
  return nest_build(n, count, levels, copy_tile, &c);
}

// --- register tiles

// Which factors of a group of bytes are unsigned.
static bool unsigned_rows(const packing *w) {
  return w->group.size == 4 && w->p->rows.is_unsigned != w->group.flips_rows;
}
static bool unsigned_columns(const packing *w) { return w->group.size == 4 && w->p->columns.is_unsigned; }

// sums + rows · columns, where the nest has a term, or a group of them.
static MlirOperation build_products(nest *n, const packing *w, const MlirValue inputs[2], const MlirAffineMap maps[2],
                                    bool unsigned_rows, MlirValue *sums) {
  const product_form *p = w->p;
  MlirAffineMap all[] = {maps[0], maps[1], structured_dims(n->b.context, 3, 2, (int64_t[]){0, 1})};
  const structured_op op = {.input_count = 2,
                            .inputs = inputs,
                            .output_count = 1,
                            .outputs = sums,
                            .maps = all,
                            .loop_count = 3,
                            .is_reduction = (bool[]){false, false, true}};
  ir_builder body;
  MlirOperation made = structured_begin(&n->b, &op, &body);
  const bool is_float = mlirTypeIsAFloat(p->type), is_unsigned[] = {unsigned_rows, unsigned_columns(w)};
  MlirValue factors[2];
  for (int k = 0; k < 2; k++) {
    const char *extend = is_float ? "arith.extf" : is_unsigned[k] ? "arith.extui" : "arith.extsi";
    factors[k] = mlirBlockGetArgument(body.block, k);
    if (is_grouped(w)) factors[k] = ir_cast(&body, extend, p->type, factors[k]);
  }
  if (is_grouped(w)) ir_set(made, TERM_GROUP, mlirUnitAttrGet(n->b.context));
  MlirValue product = ir_binary(&body, is_float ? "arith.mulf" : "arith.muli", factors[0], factors[1]);
  MlirValue sum =
      ir_binary(&body, is_float ? "arith.addf" : "arith.addi", mlirBlockGetArgument(body.block, 2), product);
  structured_yield(&body, 1, &sum);
  *sums = ir_result(made, 0);
  return made;
}

// One term of the sums of a tile, or a group of them; where the last one is not whole there are zeros.
static heddle_status add_term(nest *n, void *user) {
  packing *w = user;
  const product_form *p = w->p;
  const int loops[] = {p->row, p->column, p->depth};
  const uint32_t kept = 1U << p->row | 1U << p->depth;
  nest terms = *n;
  if (is_grouped(w)) terms.size[p->depth] = w->group.size;
  const nest_view columns = column_view(w, &terms, 1U << p->depth, w->sizes.columns, w->group.size),
                  rows = w->packs_rows ? rows_view(w, &terms, kept) : nest_view_of(n, p->maps[p->rows.plain], kept);
  MlirValue inputs[] = {nest_take(n, &rows, w->packs_rows ? w->rows : p->operands[p->rows.plain]),
                        nest_take(n, &columns, w->panels)};
  const MlirAffineMap maps[] = {map_of(n->b.context, &rows, 3, loops), map_of(n->b.context, &columns, 3, loops)};
  return markers_begin(build_products(n, w, inputs, maps, unsigned_rows(w), &n->carried[SUMS]), MARKER_VECTORIZE);
}

static MlirValue zero_of(ir_builder *b, MlirType type) {
  return mlirTypeIsAFloat(type) ? ir_float(b, type, 0) : ir_int(b, type, 0);
}

static heddle_status fill_tile(nest *n, MlirValue value) {
  n->carried[SUMS] = structured_fill(&n->b, value, n->carried[SUMS]);
  return markers_begin(ir_defining_op(n->carried[SUMS]), MARKER_VECTORIZE);
}

// What flipped rows have too much is taken from the sums, or from the zeros that they begin with.
static heddle_status correct_tile(packing *w, nest *tile, bool begins) {
  const product_form *p = w->p;
  MlirAffineExpr width = constant(tile, w->sizes.columns);
  MlirContext context = tile->b.context;
  nest_view v = {0};
  nest_view_add(&v, mlirAffineFloorDivExprGet(tile->within[p->column], width), -1, 1, 1);
  nest_view_add(&v, constant(tile, 0), p->column, w->sizes.columns, 1);
  MlirValue corrections = nest_take(tile, &v, w->corrections);
  const MlirAffineMap maps[] = {structured_dims(context, 2, 1, (int64_t[]){1}), structured_identity(context, 2)};
  const structured_op op = {.input_count = 1,
                            .inputs = &corrections,
                            .output_count = 1,
                            .outputs = &tile->carried[SUMS],
                            .maps = maps,
                            .loop_count = 2};
  ir_builder body;
  MlirOperation made = structured_begin(&tile->b, &op, &body);
  MlirValue sum = begins ? ir_int(&body, p->type, 0) : mlirBlockGetArgument(body.block, 1);
  sum = ir_binary(&body, "arith.subi", sum, mlirBlockGetArgument(body.block, 0));
  structured_yield(&body, 1, &sum);
  tile->carried[SUMS] = ir_result(made, 0);
  return markers_begin(made, MARKER_VECTORIZE);
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
  if (w->group.flips_rows) TRY(correct_tile(w, &tile, begins));
  else if (begins) TRY(fill_tile(&tile, w->zero));
  nest_level levels[TILING_MAX_LOOPS];
  int count = 0;
  for (int k = 0; k < p->loop_count; k++)
    if (p->is_reduction[k]) levels[count++] = (nest_level){k, k == p->depth ? w->group.size : 1};
  TRY(nest_build(&tile, count, levels, add_term, w));
  MlirValue sums = is_partial ? nest_take(n, &part, tile.carried[SUMS]) : tile.carried[SUMS];
  n->carried[SUMS] = nest_put(n, &place, sums, n->carried[SUMS]);
  return status_ok();
}

// --- blocks

// --- groups that have fewer terms

// The nest at the last group of the terms.
static nest at_last_group(const packing *w, const nest *n) {
  const int depth = w->p->depth;
  const int64_t size = w->group.size;
  nest last = *n;
  last.within[depth] = mlirAffineAddExprGet(n->within[depth], constant(n, n->size[depth] / size * size));
  last.size[depth] = size;
  return last;
}

static heddle_status zero_view(nest *n, const packing *w, const nest_view *v, int target) {
  MlirValue zeros = structured_fill(&n->b, zero_of(&n->b, packed_type(w)), nest_take(n, v, n->carried[target]));
  n->carried[target] = nest_put(n, v, zeros, n->carried[target]);
  return markers_begin(ir_defining_op(zeros), MARKER_VECTORIZE);
}

static heddle_status zero_rows(nest *n, void *user) {
  const packing *w = user;
  const nest last = at_last_group(w, n);
  const nest_view v = rows_view(w, &last, 1U << w->p->row | 1U << w->p->depth);
  return zero_view(n, w, &v, ROWS);
}

static heddle_status zero_columns(nest *n, void *user) {
  const packing *w = user;
  const nest last = at_last_group(w, n);
  const nest_view v = column_view(w, &last, 1U << w->p->column, w->sizes.columns, w->group.size);
  return zero_view(n, w, &v, PANELS);
}

// A group that has fewer terms is zeros before these are copied: on both sides, as what memory holds may be NaN.
static heddle_status zero_last_groups(packing *w, nest *n, int target) {
  const product_form *p = w->p;
  nest_level levels[TILING_MAX_LOOPS];
  int count = 0;
  if (n->size[p->depth] % w->group.size == 0) return status_ok();
  for (int k = 0; k < p->loop_count; k++)
    if (p->is_reduction[k] && k != p->depth) levels[count++] = (nest_level){k, 1};
  levels[count++] = target == ROWS ? (nest_level){p->row, w->has_row_panels ? w->sizes.rows : w->sizes.lanes}
                                   : (nest_level){p->column, w->sizes.columns};
  return nest_build(n, count, levels, target == ROWS ? zero_rows : zero_columns, w);
}

// --- what flipped rows have too much

static heddle_status add_correction(nest *n, void *user) {
  packing *w = user;
  const product_form *p = w->p;
  const int loops[] = {p->row, p->column, p->depth};
  nest terms = *n;
  terms.size[p->depth] = w->group.size;
  const nest_view columns = column_view(w, &terms, 1U << p->depth, w->sizes.columns, w->group.size);
  MlirValue inputs[] = {w->first_bits, nest_take(n, &columns, w->panels)};
  const MlirAffineMap maps[] = {structured_dims(n->b.context, 3, 2, (int64_t[]){0, 2}),
                                map_of(n->b.context, &columns, 3, loops)};
  return markers_begin(build_products(n, w, inputs, maps, unsigned_rows(w), &n->carried[SUMS]), MARKER_VECTORIZE);
}

static heddle_status correction_of_panel(nest *n, void *user) {
  packing *w = user;
  const product_form *p = w->p;
  nest_view v = {0};
  nest_view_add(&v, mlirAffineFloorDivExprGet(n->within[p->column], constant(n, w->sizes.columns)), p->row, 1, 1);
  nest_view_add(&v, constant(n, 0), p->column, w->sizes.columns, 1);
  nest sums = *n;
  nest_level levels[TILING_MAX_LOOPS];
  int count = 0;
  w->panels = n->carried[PANELS];
  sums.carried_count = 1;
  sums.carried[SUMS] = nest_take(n, &v, n->carried[CORRECTIONS]);
  TRY(fill_tile(&sums, zero_of(&sums.b, p->type)));
  for (int k = 0; k < p->loop_count; k++)
    if (p->is_reduction[k]) levels[count++] = (nest_level){k, k == p->depth ? w->group.size : 1};
  TRY(nest_build(&sums, count, levels, add_correction, w));
  n->carried[CORRECTIONS] = nest_put(n, &v, sums.carried[SUMS], n->carried[CORRECTIONS]);
  return status_ok();
}

// Of all columns of a block: rows of nothing but first bits, times the columns.
static heddle_status build_corrections(packing *w, nest *n) {
  const nest_level panels = {w->p->column, w->sizes.columns};
  return w->group.flips_rows ? nest_build(n, 1, &panels, correction_of_panel, w) : status_ok();
}

// --- rows within a block

static heddle_status row_block(nest *n, void *user) {
  packing *w = user;
  const product_form *p = w->p;
  nest_enter(n);
  if (w->packs_rows) {
    int last = -1;
    for (int k = 0; k < p->loop_count; k++)
      if (p->is_reduction[k] && (last < 0 || n->size[k] > 1)) last = k;
    TRY(zero_last_groups(w, n, ROWS));
    TRY(copy_side(w, n, &p->rows, ROWS, last));
    w->rows = n->carried[ROWS];
  }
  w->panels = n->carried[PANELS];
  if (w->group.flips_rows) w->corrections = n->carried[CORRECTIONS];
  nest tiles = *n;
  tiles.carried_count = 1;
  const nest_level levels[] = {{p->row, w->sizes.rows}, {p->column, w->sizes.columns}};
  TRY(nest_build(&tiles, 2, levels, register_tile, w));
  n->carried[SUMS] = tiles.carried[SUMS];
  n->b = tiles.b;
  return status_ok();
}

static bool copies_columns(const packing *w) { return !w->has_panels && !w->is_panel; }

static heddle_status block(nest *n, void *user) {
  packing *w = user;
  const product_form *p = w->p;
  nest_enter(n);
  if (copies_columns(w)) {
    TRY(zero_last_groups(w, n, PANELS));
    TRY(copy_side(w, n, &p->columns, PANELS, p->column));
  }
  TRY(build_corrections(w, n));
  nest_level levels[TILING_MAX_LOOPS];
  int count = 0;
  for (int k = 0; k < p->loop_count; k++)
    if (product_form_is_outer_row(p, k)) levels[count++] = (nest_level){k, 1};
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
    if (blocks > 1 && k == p->depth) steps[k] = int64_ceil_div(steps[k], w->group.size) * w->group.size;
    left /= steps[k];
  }
  for (int k = 0; k < p->loop_count; k++) {
    if (p->is_reduction[k]) levels[count++] = (nest_level){k, steps[k]};
    else if (k != p->row && k != p->column && p->trips[k] > 1 && !product_form_is_outer_row(p, k))
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
  const bool is_panel = target == PANELS || w->has_row_panels;
  const int64_t width = target == ROWS ? w->sizes.rows : w->sizes.columns;
  const int64_t lanes = target == ROWS ? int64_min(p->trips[p->row], w->sizes.row_block) : p->trips[p->column];
  int64_t dims[NEST_MOST_DIMS];
  int rank = 0;
  dims[rank++] = is_panel || target == CORRECTIONS ? int64_ceil_div(lanes, width) : lanes;
  if (target == CORRECTIONS) return structured_empty(&n->b, 2, (int64_t[]){dims[0], width}, p->type);
  for (int k = 0; k < level_count; k++)
    if (p->is_reduction[levels[k].loop]) {
      const int64_t size = levels[k].loop == p->depth ? w->group.size : 1;
      const int64_t groups = int64_ceil_div(levels[k].step, size);
      dims[rank++] = is_panel ? groups : groups * size;
    }
  if (is_panel) dims[rank++] = width;
  if (target == PANELS && is_grouped(w)) dims[rank++] = w->group.size;
  return structured_empty(&n->b, rank, dims, packed_type(w));
}

static heddle_status zero_lanes(nest *n, void *user) {
  const packing *w = user;
  nest last = *n;
  last.within[w->p->column] = constant(n, w->p->trips[w->p->column] / w->sizes.columns * w->sizes.columns);
  const nest_view v = column_view(w, &last, 1U << w->p->column, w->sizes.columns, w->group.size);
  return zero_view(n, w, &v, PANELS);
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
    terms[count++] = (nest_level){levels[k].loop, levels[k].loop == p->depth ? w->group.size : 1};
  }
  TRY(nest_build(&all, count, terms, zero_lanes, w));
  n->carried[PANELS] = all.carried[PANELS];
  return status_ok();
}

// A row of a group of terms that are the bit that flipping turns.
static heddle_status make_first_bits(packing *w, nest *n) {
  MlirValue bits = ir_int(&n->b, w->group.type, FIRST_BIT);
  w->first_bits =
      structured_fill(&n->b, bits, structured_empty(&n->b, 2, (int64_t[]){1, w->group.size}, w->group.type));
  return markers_begin(ir_defining_op(w->first_bits), MARKER_VECTORIZE);
}

// Rows of columns that are as long as a panel's are a panel.
static bool lies_as_panel(const packing *w) {
  const product_form *p = w->p;
  return !is_grouped(w) && !w->has_panels && p->columns.plain >= 0 && p->columns.minor == p->column &&
         p->trips[p->column] == w->sizes.columns;
}

heddle_status pack_product(lower_context *c, product_form *p, int share) {
  packing w = {.context = c, .p = p, .group = term_groups_of(&c->options->target, c->options->exact, p)};
  int last = -1;
  for (int k = 0; k < p->loop_count; k++)
    if (p->is_reduction[k] && p->trips[k] > 1) last = k;
  w.packs_rows = is_grouped(&w) || p->rows.plain < 0 || p->rows.minor != last;
  w.has_row_panels = w.packs_rows && !is_grouped(&w) && p->rows.minor == p->row;
  w.sizes = sizes_of_packing(&c->options->target, p->type, packed_type(&w), p->trips[p->row], p->trips[p->column],
                             p->terms, w.packs_rows, share);
  w.has_panels = !is_grouped(&w) && panels_read(p, &w.kept);
  w.is_panel = lies_as_panel(&w);
  ir_builder b = ir_builder_before(p->op, c->scratch);
  b.location = mlirOperationGetLocation(p->op);
  product_form_squeeze(p, &b);
  nest n;
  nest_init(&n, &b, p->loop_count, p->trips);
  if (w.has_panels) {
    w.sizes.columns = w.kept.width;
    panels_enter(&w.kept, &n);
  }
  nest_level levels[TILING_MAX_LOOPS];
  const int count = block_levels(&w, levels);
  n.carried_count = w.group.flips_rows ? 4 : w.packs_rows ? 3 : 2;
  n.carried[SUMS] = p->operands[p->output];
  // One block has all terms: then sums begin in registers.
  MlirOperation before = ir_defining_op(n.carried[SUMS]);
  if (blocks_of(&w, count, levels) == 1 && !ir_is_null(before) && ir_is(before, "linalg.fill")) {
    w.zero = ir_operand(before, 0);
    n.carried[SUMS] = ir_operand(before, 1);
  }
  for (int target = PANELS; target < n.carried_count; target++)
    n.carried[target] = target == PANELS && w.is_panel     ? p->operands[p->columns.plain]
                        : target == PANELS && w.has_panels ? w.kept.source
                                                           : room(&w, &n, count, levels, target);
  if (w.group.flips_rows) TRY(make_first_bits(&w, &n));
  if (copies_columns(&w)) TRY(clear_lanes(&w, &n, count, levels));
  TRY(nest_build(&n, count, levels, block, &w));
  TRY(borders_mend(p, &n.b, w.sizes.lanes, &n.carried[SUMS]));
  product_form_replace(p, &n.b, n.carried[SUMS]);
  return status_ok();
}
