// Products: sums over loops that the result does not have. They accumulate in the type of dtype_accumulator, from zero,
// as the emitters' do, and are converted behind.
#include <mlir-c/AffineExpr.h>
#include <mlir-c/Dialect/Linalg.h>

#include "emit/elemental.h"
#include "kernel/hero_tiles.h"
#include "kernel/online_softmax.h"
#include "tile/linalg.h"
#include "tile/packed_loads.h"
#include "tile/stream_softmax.h"
#include "tile/structured.h"

typedef struct product product;

// Whether the body's point adds a term to its sum: i1.
typedef MlirValue (*term_condition)(ir_builder *body, const instruction *i);

struct product {
  MlirValue operands[2];
  MlirAffineMap maps[3];  // lhs, rhs, result
  int loop_count;
  bool is_reduction[2 * SHAPE_MAX_RANK];
  term_condition adds;  // null: all do
};

static MlirValue zeros(linalg_emitter *e, const shape *s, dtype t) {
  MlirValue empty = structured_empty(&e->b, s->rank, s->dims, linalg_element_type(e->b.context, t));
  return structured_fill(&e->b, linalg_stored(&e->b, emit_zero(&e->b, t), t), empty);
}

static MlirValue converted(ir_builder *body, MlirValue stored, dtype from, dtype to) {
  return emit_convert(body, linalg_element(body, stored, from), packed_loads_held(from), to);
}

// Of a product that adds up nothing each element is computed from zero itself: an operation that reads its own output
// must not be fused as if it did not.
static MlirValue sum_before(ir_builder *body, const product *p, dtype t) {
  bool reduces = false;
  for (int k = 0; k < p->loop_count; k++) reduces |= p->is_reduction[k];
  return reduces ? linalg_element(body, mlirBlockGetArgument(body->block, 2), t) : emit_zero(body, t);
}

// Without a term the sum stays what it was. Of floats the term becomes zero, which is the same since sums that begin
// with zero are never -0, and leaves an addition that vectors know.
static MlirValue add_term(ir_builder *body, const instruction *i, const product *p, const MlirValue elements[2],
                          MlirValue before) {
  const dtype t = dtype_accumulator(i->shape->dtype);
  if (!p->adds) return emit_multiply_add(body, t, elements[0], elements[1], before);
  MlirValue adds = p->adds(body, i);
  if (!dtype_is_float(t))
    return ir_select(body, adds, emit_multiply_add(body, t, elements[0], elements[1], before), before);
  MlirValue term = ir_binary(body, "arith.mulf", elements[0], elements[1]);
  return ir_binary(body, "arith.addf", before, ir_select(body, adds, term, emit_zero(body, t)));
}

static MlirValue build_product(linalg_emitter *e, const instruction *i, const product *p) {
  const dtype t = dtype_accumulator(i->shape->dtype);
  MlirValue init = zeros(e, i->shape, t), elements[2];
  const structured_op op = {.input_count = 2,
                            .inputs = p->operands,
                            .output_count = 1,
                            .outputs = &init,
                            .maps = p->maps,
                            .loop_count = p->loop_count,
                            .is_reduction = p->is_reduction};
  ir_builder body;
  MlirOperation made = structured_begin(&e->b, &op, &body);
  for (int k = 0; k < 2; k++)
    elements[k] = converted(&body, mlirBlockGetArgument(body.block, k), i->operands[k]->shape->dtype, t);
  MlirValue before = sum_before(&body, p, t);
  MlirValue sum = linalg_stored(&body, add_term(&body, i, p, elements, before), t);
  structured_yield(&body, 1, &sum);
  return ir_result(made, 0);
}

// --- dot

// Loops: the result's dims, then the contracted ones.
static void dot_maps(const linalg_emitter *e, const instruction *i, product *p) {
  const hlo_attributes *a = i->attributes;
  const int rank = i->shape->rank, batch = a->lhs_batch_dims.size, depth = a->lhs_contracting_dims.size;
  int next = batch;
  p->loop_count = rank + depth;
  for (int k = 0; k < p->loop_count; k++) p->is_reduction[k] = k >= rank;
  for (int side = 0; side < 2; side++) {
    const int_list batched = side == 0 ? a->lhs_batch_dims : a->rhs_batch_dims,
                   contracted = side == 0 ? a->lhs_contracting_dims : a->rhs_contracting_dims;
    const int operand_rank = i->operands[side]->shape->rank;
    int64_t dims[SHAPE_MAX_RANK];
    for (int d = 0; d < operand_rank; d++) {
      const int in_batch = int_list_find(batched, d), in_depth = int_list_find(contracted, d);
      dims[d] = in_batch >= 0 ? in_batch : in_depth >= 0 ? rank + in_depth : next++;
    }
    p->operands[side] = linalg_operand(e, i, side);
    p->maps[side] = structured_dims(e->b.context, p->loop_count, operand_rank, dims);
  }
  int64_t own[SHAPE_MAX_RANK];
  for (int d = 0; d < rank; d++) own[d] = d;
  p->maps[2] = structured_dims(e->b.context, p->loop_count, rank, own);
}

// The product that linalg has a name for: [m,k] by [k,n], of types that its own region converts as HLO does.
static bool is_matmul(const instruction *i) {
  const hlo_attributes *a = i->attributes;
  const dtype t = dtype_accumulator(i->shape->dtype);
  bool is_named = a->lhs_batch_dims.size == 0 && a->lhs_contracting_dims.size == 1 && i->shape->rank == 2 &&
                  i->operands[0]->shape->rank == 2 && a->lhs_contracting_dims.data[0] == 1 &&
                  a->rhs_contracting_dims.data[0] == 0;
  for (int k = 0; k < 2; k++) {
    const dtype x = i->operands[k]->shape->dtype;
    is_named &= dtypes[x].class == dtypes[t].class && dtypes[x].bits <= dtypes[t].bits && !emit_is_encoded(x);
  }
  return is_named && (dtypes[t].class == CLASS_FLOAT || dtypes[t].class == CLASS_SIGNED);
}

static MlirValue build_matmul(linalg_emitter *e, const instruction *i) {
  ir_builder *b = &e->b;
  MlirValue operands[] = {linalg_operand(e, i, 0), linalg_operand(e, i, 1),
                          zeros(e, i->shape, dtype_accumulator(i->shape->dtype))};
  MlirType type = mlirValueGetType(operands[2]);
  MlirNamedAttribute sizes = ir_named_text(b->context, "operandSegmentSizes", "array<i32: 2, 1>");
  MlirRegion region = mlirRegionCreate();
  MlirOperation made = ir_build(b, (ir_op_state){.name = "linalg.matmul",
                                                 .operand_count = 3,
                                                 .operands = operands,
                                                 .result_count = 1,
                                                 .results = &type,
                                                 .attribute_count = 1,
                                                 .attributes = &sizes,
                                                 .region_count = 1,
                                                 .regions = &region});
  mlirLinalgFillBuiltinNamedOpRegion(made);
  return ir_result(made, 0);
}

heddle_status linalg_dot(linalg_emitter *e, const instruction *i, MlirValue *out) {
  if (i->operand_count != 2) return linalg_refuse(e, i, "sparse operands");
  product p = {0};
  dot_maps(e, i, &p);
  MlirValue sums = is_matmul(i) ? build_matmul(e, i) : build_product(e, i, &p);
  online_softmax softmax;
  if (online_softmax_of(i, &softmax))
    ir_set(ir_defining_op(sums), TILE_ONLINE_SOFTMAX,
           mlirIntegerAttrGet(mlirIntegerTypeGet(e->b.context, 64), softmax.side));
  *out = linalg_converted(e, sums, i->shape, dtype_accumulator(i->shape->dtype), i->shape->dtype);
  return status_ok();
}

// --- convolution

static MlirAffineExpr dim(const linalg_emitter *e, int64_t d) { return mlirAffineDimExprGet(e->b.context, d); }

// scale * d
static MlirAffineExpr scaled(const linalg_emitter *e, MlirAffineExpr x, int64_t scale) {
  return scale == 1 ? x : mlirAffineMulExprGet(x, mlirAffineConstantExprGet(e->b.context, scale));
}

// Which group of equal size a position is in.
static MlirAffineExpr group_of(const linalg_emitter *e, MlirAffineExpr x, int64_t size) {
  return mlirAffineFloorDivExprGet(x, mlirAffineConstantExprGet(e->b.context, size));
}

static MlirValue padded_input(linalg_emitter *e, const instruction *i) {
  const hlo_attributes *a = i->attributes;
  const shape *s = i->operands[0]->shape;
  if (!hero_tiles_pads(&a->window)) return linalg_operand(e, i, 0);
  MlirValue zero = linalg_stored(&e->b, emit_zero(&e->b, packed_loads_held(s->dtype)), s->dtype);
  return linalg_windowed(e, linalg_operand(e, i, 0), s, &a->window, a->dim_labels.input_spatial, zero);
}

// The kernel with the dims turned round whose windows are.
static MlirValue turned_kernel(linalg_emitter *e, const instruction *i) {
  const hlo_attributes *a = i->attributes;
  bool is_turned[SHAPE_MAX_RANK] = {false}, any = false;
  for (int k = 0; k < a->window.rank; k++) {
    is_turned[a->dim_labels.kernel_spatial[k]] = a->window.dims[k].reversal;
    any |= a->window.dims[k].reversal;
  }
  MlirValue kernel = linalg_operand(e, i, 1);
  return any ? linalg_turned(e, kernel, i->operands[1]->shape, is_turned) : kernel;
}

// Loops: the result's dims, then the window's, then the input features of a group.
static void convolution_maps(const linalg_emitter *e, const instruction *i, product *p) {
  const hlo_attributes *a = i->attributes;
  const convolution_dims *l = &a->dim_labels;
  const shape *in = i->operands[0]->shape, *kernel = i->operands[1]->shape;
  const int rank = i->shape->rank, spatial = a->window.rank;
  const int64_t features = i->shape->dims[l->output_feature], depth = kernel->dims[l->kernel_input_feature];
  const int64_t groups = a->feature_group_count, batches = a->batch_group_count;
  MlirAffineExpr input[SHAPE_MAX_RANK], weights[SHAPE_MAX_RANK],
      c = dim(e, rank + spatial), f = dim(e, l->output_feature), n = dim(e, l->output_batch);
  p->loop_count = rank + spatial + 1;
  for (int k = 0; k < p->loop_count; k++) p->is_reduction[k] = k >= rank;
  for (int k = 0; k < spatial; k++) {
    const window_dim *w = &a->window.dims[k];
    input[l->input_spatial[k]] = mlirAffineAddExprGet(scaled(e, dim(e, l->output_spatial[k]), w->stride),
                                                      scaled(e, dim(e, rank + k), w->window_dilation));
    weights[l->kernel_spatial[k]] = dim(e, rank + k);
  }
  if (groups > 1) {
    MlirAffineExpr first = scaled(e, group_of(e, f, features / groups), depth);
    c = depth == 1 ? first : mlirAffineAddExprGet(first, c);
  }
  if (batches > 1) {
    const int64_t each = in->dims[l->input_batch] / batches;
    n = mlirAffineAddExprGet(scaled(e, group_of(e, f, features / batches), each), n);
  }
  input[l->input_batch] = n;
  input[l->input_feature] = c;
  weights[l->kernel_input_feature] = dim(e, rank + spatial);
  weights[l->kernel_output_feature] = f;
  MlirContext context = e->b.context;
  p->maps[0] = mlirAffineMapGet(context, p->loop_count, 0, in->rank, input);
  p->maps[1] = mlirAffineMapGet(context, p->loop_count, 0, kernel->rank, weights);
  int64_t own[SHAPE_MAX_RANK];
  for (int d = 0; d < rank; d++) own[d] = d;
  p->maps[2] = structured_dims(context, p->loop_count, rank, own);
}

// A product with what is beside the image or between its elements is no term: zero there times an infinite weight were
// NaN.
static MlirValue meets_image(ir_builder *body, const instruction *i) {
  const hlo_attributes *a = i->attributes;
  const convolution_dims *l = &a->dim_labels;
  MlirValue all = {NULL};
  for (int k = 0; k < a->window.rank; k++) {
    const int output = (int)l->output_spatial[k];
    const MlirValue one =
        linalg_meets_element(body, &a->window.dims[k], i->operands[0]->shape->dims[l->input_spatial[k]],
                             i->shape->dims[output], output, i->shape->rank + k);
    all = linalg_and(body, all, one);
  }
  return mlirValueIsNull(all) ? ir_int(body, mlirIntegerTypeGet(body->context, 1), 1) : all;
}

// Integers' zeros are as good as nothing.
static bool has_borders(const instruction *i) {
  const dtype t = dtype_accumulator(i->shape->dtype);
  return (dtype_is_float(t) || dtype_is_complex(t)) && hero_tiles_pads(&i->attributes->window);
}

heddle_status linalg_convolution(linalg_emitter *e, const instruction *i, MlirValue *out) {
  product p = {0};
  convolution_maps(e, i, &p);
  p.operands[0] = padded_input(e, i);
  p.operands[1] = turned_kernel(e, i);
  if (has_borders(i)) p.adds = meets_image;
  MlirValue sums = build_product(e, i, &p);
  *out = linalg_converted(e, sums, i->shape, dtype_accumulator(i->shape->dtype), i->shape->dtype);
  return status_ok();
}
