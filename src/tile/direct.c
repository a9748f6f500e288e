// Products whose operands are read where they lie: what is read is used only once or a few times, so copying it would
// take longer than computing.
//
// There are three ways, by how the columns' factors lie. Where both sides differ from column to column (a convolution
// of each channel by itself), sums stay in registers while terms are added vector by vector. Where columns are
// neighbours, some rows of the operand are added to all columns' sums at a time: it is read from front to back, and the
// sums lie in the nearest cache. Where terms are neighbours, a few columns have a vector of partial sums each, whose
// lanes are added up in pairs at the end; a sum's terms are grouped by the sizes of vectors, never by the threads.
#include "tile/direct.h"

#include "tile/borders.h"
#include "tile/markers.h"
#include "tile/nest.h"
#include "tile/pack.h"
#include "tile/panels.h"
#include "tile/sizes.h"
#include "tile/structured.h"

typedef struct direct {
  const product_form *p;
  sizes_direct sizes;
  bool has_fma;
  MlirValue zero;  // with which the sums of lanes begin in registers; null: with what is there
} direct;

static bool is_neighbours(const product_side *side, int loop) { return side->minor == loop; }

// --- structured operations on parts

typedef struct parts {
  int loop_count, input_count;
  int loops[3];
  MlirValue inputs[32];
  MlirAffineMap maps[33];
  int numbers[32];  // which operand of the product the input is a part of
} parts;

static MlirAffineMap map_of(MlirContext context, const parts *t, const nest_view *v) {
  int64_t dims[NEST_MOST_DIMS];
  for (int d = 0; d < v->kept; d++)
    for (int k = 0; k < t->loop_count; k++)
      if (t->loops[k] == v->kept_loops[d]) dims[d] = k;
  return structured_dims(context, t->loop_count, v->kept, dims);
}

// What the nest's tile reads of each input of the product; along the loops of `t` there are dims.
static void take_inputs(nest *n, const product_form *p, parts *t) {
  uint32_t kept = 0;
  for (int k = 0; k < t->loop_count; k++) kept |= 1U << t->loops[k];
  for (int k = 0; k < p->output; k++) {
    if (!((p->rows.inputs | p->columns.inputs) >> k & 1U)) continue;
    const nest_view v = nest_view_of(n, p->maps[k], kept);
    t->inputs[t->input_count] = nest_take(n, &v, p->operands[k]);
    t->maps[t->input_count] = map_of(n->b.context, t, &v);
    t->numbers[t->input_count++] = k;
  }
}

// sums + x * y for each point, where the tile is; sums is replaced. `adds_up`: the last loop is a reduction of them.
static heddle_status build_sums(nest *n, const direct *w, const parts *t, bool adds_up, MlirValue *sums) {
  const product_form *p = w->p;
  const bool reductions[] = {false, adds_up && t->loop_count == 2, adds_up && t->loop_count == 3};
  MlirValue *arguments = arena_array(n->b.arena, MlirValue, p->output);
  const structured_op op = {.input_count = t->input_count,
                            .inputs = t->inputs,
                            .output_count = 1,
                            .outputs = sums,
                            .maps = t->maps,
                            .loop_count = t->loop_count,
                            .is_reduction = reductions};
  ir_builder body;
  MlirOperation made = structured_begin(&n->b, &op, &body);
  for (int k = 0; k < t->input_count; k++) arguments[t->numbers[k]] = mlirBlockGetArgument(body.block, k);
  MlirValue operands[] = {product_form_factor(p, &body, &p->rows, arguments),
                          product_form_factor(p, &body, &p->columns, arguments),
                          mlirBlockGetArgument(body.block, t->input_count)};
  const bool is_float = mlirTypeIsAFloat(p->type);
  MlirValue sum;
  if (is_float && w->has_fma && !adds_up) {
    sum = ir_value(&body, "math.fma", p->type, 3, operands);
  } else {
    MlirValue product = ir_binary(&body, is_float ? "arith.mulf" : "arith.muli", operands[0], operands[1]);
    sum = ir_binary(&body, is_float ? "arith.addf" : "arith.addi", operands[2], product);
  }
  structured_yield(&body, 1, &sum);
  *sums = ir_result(made, 0);
  return markers_begin(made, MARKER_VECTORIZE);
}

static void add_loop(parts *t, int loop) {
  if (loop >= 0) t->loops[t->loop_count++] = loop;
}

static int levels_of_terms(const product_form *p, int except, nest_level *levels) {
  int count = 0;
  for (int k = 0; k < p->loop_count; k++)
    if (p->is_reduction[k] && k != except) levels[count++] = (nest_level){k, 1};
  return count;
}

// --- lanes of both sides

static heddle_status add_lanes(nest *n, void *user) {
  const direct *w = user;
  parts t = {0};
  add_loop(&t, w->p->row);
  add_loop(&t, w->p->column);
  take_inputs(n, w->p, &t);
  t.maps[t.input_count] = structured_identity(n->b.context, t.loop_count);
  return build_sums(n, w, &t, false, &n->carried[0]);
}

static heddle_status lanes_tile(nest *n, void *user) {
  const direct *w = user;
  const product_form *p = w->p;
  const uint32_t kept = 1U << p->column | (p->row >= 0 ? 1U << p->row : 0);
  const nest_view place = nest_view_of(n, p->maps[p->output], kept);
  nest tile = *n;
  nest_level levels[TILING_MAX_LOOPS];
  tile.carried[0] = nest_take(n, &place, n->carried[0]);
  if (!mlirValueIsNull(w->zero)) {
    tile.carried[0] = structured_fill(&tile.b, w->zero, tile.carried[0]);
    TRY(markers_begin(ir_defining_op(tile.carried[0]), MARKER_VECTORIZE));
  }
  TRY(nest_build(&tile, levels_of_terms(p, -1, levels), levels, add_lanes, user));
  n->carried[0] = nest_put(n, &place, tile.carried[0], n->carried[0]);
  return status_ok();
}

// --- neighbouring columns

static heddle_status add_rows(nest *n, void *user) {
  const direct *w = user;
  const product_form *p = w->p;
  const uint32_t kept = 1U << p->column | (p->row >= 0 ? 1U << p->row : 0);
  const nest_view place = nest_view_of(n, p->maps[p->output], kept);
  parts t = {0};
  add_loop(&t, p->row);
  add_loop(&t, p->column);
  add_loop(&t, p->depth);
  take_inputs(n, p, &t);
  t.maps[t.input_count] = map_of(n->b.context, &t, &place);
  MlirValue sums = nest_take(n, &place, n->carried[0]);
  TRY(build_sums(n, w, &t, true, &sums));
  n->carried[0] = nest_put(n, &place, sums, n->carried[0]);
  return status_ok();
}

// --- neighbouring terms

// partial[column][lane] + x * y
static heddle_status add_partial(nest *n, void *user) {
  const direct *w = user;
  const product_form *p = w->p;
  parts t = {0};
  nest_view place = {0};
  MlirAffineExpr first = mlirAffineConstantExprGet(n->b.context, 0);
  add_loop(&t, p->column);
  add_loop(&t, p->depth);
  take_inputs(n, p, &t);
  nest_view_add(&place, first, p->column, n->size[p->column], 1);
  nest_view_add(&place, first, p->depth, n->size[p->depth], 1);
  t.maps[t.input_count] = structured_identity(n->b.context, 2);
  MlirValue sums = n->size[p->depth] < w->sizes.terms ? nest_take(n, &place, n->carried[0]) : n->carried[0];
  TRY(build_sums(n, w, &t, false, &sums));
  n->carried[0] = n->size[p->depth] < w->sizes.terms ? nest_put(n, &place, sums, n->carried[0]) : sums;
  return status_ok();
}

static heddle_status add(nest *n, const product_form *p, MlirValue x, MlirAffineMap map, MlirValue *sums) {
  const int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(*sums));
  MlirAffineMap maps[] = {map, structured_identity(n->b.context, rank)};
  const structured_op op = {
      .input_count = 1, .inputs = &x, .output_count = 1, .outputs = sums, .maps = maps, .loop_count = rank};
  ir_builder body;
  MlirOperation made = structured_begin(&n->b, &op, &body);
  MlirValue sum = ir_binary(&body, mlirTypeIsAFloat(p->type) ? "arith.addf" : "arith.addi",
                            mlirBlockGetArgument(body.block, 1), mlirBlockGetArgument(body.block, 0));
  structured_yield(&body, 1, &sum);
  *sums = ir_result(made, 0);
  return markers_begin(made, MARKER_VECTORIZE);
}

// The second half of the lanes is added to the first until one is left.
static heddle_status add_halves(nest *n, const product_form *p, int64_t columns, int64_t lanes, MlirValue *partial) {
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    MlirValue parts_of[2];
    for (int k = 0; k < 2; k++) {
      nest_view v = {0};
      nest_view_add(&v, mlirAffineConstantExprGet(n->b.context, 0), 0, columns, 1);
      nest_view_add(&v, mlirAffineConstantExprGet(n->b.context, k * half), 1, half, 1);
      parts_of[k] = nest_take(n, &v, *partial);
    }
    TRY(add(n, p, parts_of[1], structured_identity(n->b.context, 2), &parts_of[0]));
    *partial = parts_of[0];
  }
  return status_ok();
}

static heddle_status partial_sums(nest *n, void *user) {
  const direct *w = user;
  const product_form *p = w->p;
  const int64_t columns = n->size[p->column], lanes = w->sizes.terms;
  const nest_view place = nest_view_of(n, p->maps[p->output], 1U << p->column);
  nest tile = *n;
  MlirValue zero = ir_constant(
      &tile.b, p->type,
      mlirTypeIsAFloat(p->type) ? mlirFloatAttrDoubleGet(n->b.context, p->type, 0) : mlirIntegerAttrGet(p->type, 0));
  tile.carried[0] = structured_fill(&tile.b, zero, structured_empty(&tile.b, 2, (int64_t[]){columns, lanes}, p->type));
  TRY(markers_begin(ir_defining_op(tile.carried[0]), MARKER_VECTORIZE));
  nest_level levels[TILING_MAX_LOOPS];
  int count = levels_of_terms(p, p->depth, levels);
  levels[count++] = (nest_level){p->depth, lanes};
  TRY(nest_build(&tile, count, levels, add_partial, user));
  TRY(add_halves(n, p, columns, lanes, &tile.carried[0]));
  nest_view rest = {0};
  nest_view_add(&rest, mlirAffineConstantExprGet(n->b.context, 0), p->column, columns, 1);
  nest_view_add(&rest, mlirAffineConstantExprGet(n->b.context, 0), -1, 1, 1);
  MlirValue sums = nest_take(n, &place, n->carried[0]);
  TRY(add(n, p, nest_take(n, &rest, tile.carried[0]), structured_identity(n->b.context, 1), &sums));
  n->carried[0] = nest_put(n, &place, sums, n->carried[0]);
  return status_ok();
}

// --- which

bool direct_takes(const lower_context *c, const product_form *p) {
  const int64_t rows = product_form_rows(p), columns = p->trips[p->column];
  if (p->shares_columns)
    return is_neighbours(&p->columns, p->column) && is_neighbours(&p->rows, p->column) &&
           sizes_worth_reading(&c->options->target, p->type, 1, columns, p->terms, true);
  if ((p->row >= 0 && panels_width_of(p) > 0) || pack_takes_few_rows(c, p)) return false;
  if (!is_neighbours(&p->columns, p->column) && !is_neighbours(&p->columns, p->depth)) return false;
  return sizes_worth_reading(&c->options->target, p->type, rows, columns,
                             is_neighbours(&p->columns, p->depth) ? p->trips[p->depth] : p->terms,
                             is_neighbours(&p->columns, p->column));
}

heddle_status direct_product(lower_context *c, product_form *p) {
  direct w = {.p = p, .has_fma = c->options->target.has_fma};
  w.sizes = sizes_of_direct(&c->options->target, p->type);
  ir_builder b = ir_builder_before(p->op, c->scratch);
  b.location = mlirOperationGetLocation(p->op);
  product_form_squeeze(p, &b);
  nest n;
  nest_init(&n, &b, p->loop_count, p->trips);
  n.carried_count = 1;
  n.carried[0] = p->operands[p->output];
  const bool by_terms = !p->shares_columns && is_neighbours(&p->columns, p->depth);
  nest_level levels[2 * TILING_MAX_LOOPS];
  int count = 0;
  for (int k = 0; k < p->loop_count; k++)
    if (!p->is_reduction[k] && k != p->row && k != p->column && p->trips[k] > 1) levels[count++] = (nest_level){k, 1};
  if (p->shares_columns) {
    MlirOperation before = ir_defining_op(n.carried[0]);
    if (!ir_is_null(before) && ir_is(before, "linalg.fill")) {
      w.zero = ir_operand(before, 0);
      n.carried[0] = ir_operand(before, 1);
    }
    if (p->row >= 0) levels[count++] = (nest_level){p->row, w.sizes.rows};
    levels[count++] = (nest_level){p->column, w.sizes.columns};
    TRY(nest_build(&n, count, levels, lanes_tile, &w));
  } else if (by_terms) {
    levels[count++] = (nest_level){p->column, w.sizes.dots};
    if (p->row >= 0) levels[count++] = (nest_level){p->row, 1};
    TRY(nest_build(&n, count, levels, partial_sums, &w));
  } else {
    count += levels_of_terms(p, p->depth, levels + count);
    levels[count++] = (nest_level){p->depth, w.sizes.streams};
    const bool is_low = p->row < 0 || 2 * p->trips[p->row] <= w.sizes.rows;
    levels[count++] = (nest_level){p->column, is_low ? 2 * w.sizes.columns : w.sizes.columns};
    TRY(nest_build(&n, count, levels, add_rows, &w));
  }
  TRY(borders_mend(p, &n.b, w.sizes.columns, &n.carried[0]));
  product_form_replace(p, &n.b, n.carried[0]);
  return status_ok();
}
