// Two nests over the sums: one that looks for NaN, and one that makes them again.
#include "tile/borders.h"

#include "tile/markers.h"
#include "tile/panels.h"
#include "tile/structured.h"

enum { MOST_INPUTS = 32 };

typedef struct mending {
  const product_form *p;
  MlirValue sums;   // that are looked through
  MlirValue zero;   // that a sum begins with
  bool has_panels;  // of the columns' operand
  panels kept;
} mending;

static MlirAffineExpr first(const nest *n) { return mlirAffineConstantExprGet(n->b.context, 0); }

// Along all that a sum is of, column by column in vectors.
static int levels_of_sums(const product_form *p, int64_t lanes, nest_level *levels) {
  int count = 0;
  for (int k = 0; k < p->loop_count; k++)
    if (!p->is_reduction[k] && k != p->column) levels[count++] = (nest_level){k, 1};
  levels[count++] = (nest_level){p->column, lanes};
  return count;
}

static int levels_of_terms(const product_form *p, nest_level *levels) {
  int count = 0;
  for (int k = 0; k < p->loop_count; k++)
    if (p->is_reduction[k]) levels[count++] = (nest_level){k, 1};
  return count;
}

// --- is any NaN

static heddle_status note_nan(nest *n, void *user) {
  const mending *m = user;
  const product_form *p = m->p;
  nest_view lanes = {0};
  const nest_view place = nest_view_of(n, p->maps[p->output], 1U << p->column);
  nest_view_add(&lanes, first(n), p->column, n->size[p->column], 1);
  MlirValue sums = nest_take(n, &place, m->sums), flags = nest_take(n, &lanes, n->carried[0]);
  MlirAffineMap identity = structured_identity(n->b.context, 1), maps[] = {identity, identity};
  const structured_op op = {
      .input_count = 1, .inputs = &sums, .output_count = 1, .outputs = &flags, .maps = maps, .loop_count = 1};
  ir_builder body;
  MlirOperation made = structured_begin(&n->b, &op, &body);
  MlirValue x = mlirBlockGetArgument(body.block, 0), before = mlirBlockGetArgument(body.block, 1);
  MlirValue is_nan = ir_cast(&body, "arith.extui", mlirValueGetType(before), ir_cmpf(&body, "uno", x, x));
  structured_yield(&body, 1, (MlirValue[]){ir_binary(&body, "arith.ori", before, is_nan)});
  n->carried[0] = nest_put(n, &lanes, ir_result(made, 0), n->carried[0]);
  return markers_begin(made, MARKER_VECTORIZE);
}

// Whether a flag of any lane is set.
static heddle_status join(nest *n, MlirValue flags, MlirValue *any) {
  MlirContext context = n->b.context;
  MlirType type = ir_element_type(mlirValueGetType(flags));
  MlirValue joined = structured_fill(&n->b, ir_int(&n->b, type, 0), structured_empty(&n->b, 0, NULL, type));
  TRY(markers_begin(ir_defining_op(joined), MARKER_VECTORIZE));
  const MlirAffineMap maps[] = {structured_identity(context, 1), structured_dims(context, 1, 0, NULL)};
  const structured_op op = {.input_count = 1,
                            .inputs = &flags,
                            .output_count = 1,
                            .outputs = &joined,
                            .maps = maps,
                            .loop_count = 1,
                            .is_reduction = (bool[]){true}};
  ir_builder body;
  MlirOperation made = structured_begin(&n->b, &op, &body);
  MlirValue both =
      ir_binary(&body, "arith.ori", mlirBlockGetArgument(body.block, 1), mlirBlockGetArgument(body.block, 0));
  structured_yield(&body, 1, &both);
  MlirValue result = ir_result(made, 0);
  MlirValue flag = ir_value(&n->b, "tensor.extract", type, 1, &result);
  *any = ir_cmpi(&n->b, "ne", flag, ir_int(&n->b, type, 0));
  return markers_begin(made, MARKER_VECTORIZE);
}

static heddle_status find_nan(nest n, const mending *m, int64_t lanes, ir_builder *b, MlirValue *any) {
  MlirType type = mlirIntegerTypeGet(n.b.context, 32);
  nest_level levels[TILING_MAX_LOOPS];
  n.carried_count = 1;
  n.carried[0] = structured_fill(&n.b, ir_int(&n.b, type, 0), structured_empty(&n.b, 1, &lanes, type));
  TRY(markers_begin(ir_defining_op(n.carried[0]), MARKER_VECTORIZE));
  TRY(nest_build(&n, levels_of_sums(m->p, lanes, levels), levels, note_nan, (void *)m));
  TRY(join(&n, n.carried[0], any));
  *b = n.b;
  return status_ok();
}

// --- again

// The terms of some neighbouring columns at one position of the sum.
static heddle_status add_terms(nest *n, void *user) {
  const mending *m = user;
  const product_form *p = m->p;
  MlirValue inputs[MOST_INPUTS], arguments[MOST_INPUTS], at[TILING_MAX_LOOPS];
  MlirAffineMap maps[MOST_INPUTS + 1];
  int numbers[MOST_INPUTS], count = 0;
  for (int k = 0; k < p->output; k++) {
    if (!((p->rows.inputs | p->columns.inputs) >> k & 1U)) continue;
    const bool in_panels = m->has_panels && k == p->columns.plain;
    const nest_view v =
        in_panels ? panels_view(&m->kept, p, n, 0, n->size[p->column]) : nest_view_of(n, p->maps[k], 1U << p->column);
    inputs[count] = nest_take(n, &v, in_panels ? m->kept.source : p->operands[k]);
    maps[count] = structured_dims(n->b.context, 1, v.kept, (int64_t[]){0});
    numbers[count++] = k;
  }
  maps[count] = structured_identity(n->b.context, 1);
  for (int k = 0; k < p->loop_count; k++) at[k] = nest_value(n, n->at[k]);
  const structured_op op = {
      .input_count = count, .inputs = inputs, .output_count = 1, .outputs = n->carried, .maps = maps, .loop_count = 1};
  ir_builder body;
  MlirOperation made = structured_begin(&n->b, &op, &body);
  for (int k = 0; k < count; k++) arguments[numbers[k]] = mlirBlockGetArgument(body.block, k);
  at[p->column] = ir_binary(&body, "arith.addi", at[p->column], structured_index(&body, 0));
  MlirValue term = ir_binary(&body, "arith.mulf", product_form_factor(p, &body, &p->rows, arguments),
                             product_form_factor(p, &body, &p->columns, arguments));
  term = ir_select(&body, product_form_adds(p, &body, arguments, at), term, ir_float(&body, p->type, 0));
  MlirValue sum = ir_binary(&body, "arith.addf", mlirBlockGetArgument(body.block, count), term);
  structured_yield(&body, 1, &sum);
  n->carried[0] = ir_result(made, 0);
  return markers_begin(made, MARKER_VECTORIZE);
}

static heddle_status make_again(nest *n, void *user) {
  const mending *m = user;
  const product_form *p = m->p;
  const nest_view place = nest_view_of(n, p->maps[p->output], 1U << p->column);
  nest sums = *n;
  nest_level levels[TILING_MAX_LOOPS];
  sums.carried[0] = structured_fill(&sums.b, m->zero, nest_take(&sums, &place, n->carried[0]));
  TRY(markers_begin(ir_defining_op(sums.carried[0]), MARKER_VECTORIZE));
  TRY(nest_build(&sums, levels_of_terms(p, levels), levels, add_terms, user));
  n->carried[0] = nest_put(n, &place, sums.carried[0], n->carried[0]);
  return status_ok();
}

heddle_status borders_mend(const product_form *p, ir_builder *b, int64_t lanes, MlirValue *sums) {
  mending m = {.p = p, .sums = *sums, .zero = product_form_begin(p)};
  nest n;
  MlirValue any;
  nest_level levels[TILING_MAX_LOOPS];
  if (mlirValueIsNull(p->adds)) return status_ok();
  if (lanes > p->trips[p->column]) lanes = p->trips[p->column];
  nest_init(&n, b, p->loop_count, p->trips);
  m.has_panels = panels_read(p, &m.kept);
  if (m.has_panels) panels_enter(&m.kept, &n);
  TRY(find_nan(n, &m, lanes, b, &any));
  MlirType type = mlirValueGetType(*sums);
  MlirOperation branch = ir_if(b, any, 1, &type);
  n.b = ir_builder_at_end(b->context, ir_body(branch, 0), b->arena);
  n.b.location = b->location;
  n.carried_count = 1;
  n.carried[0] = *sums;
  TRY(nest_build(&n, levels_of_sums(p, lanes, levels), levels, make_again, &m));
  ir_yield(&n.b, 1, n.carried);
  ir_builder other = ir_builder_at_end(b->context, ir_body(branch, 1), b->arena);
  ir_yield(&other, 1, sums);
  *sums = ir_result(branch, 0);
  return status_ok();
}
