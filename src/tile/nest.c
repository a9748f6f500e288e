// Loops, parts of tensors, and where they begin.
#include "tile/nest.h"

#include "tile/structured.h"

static MlirAffineExpr constant(const nest *n, int64_t x) { return mlirAffineConstantExprGet(n->b.context, x); }

void nest_init(nest *n, const ir_builder *b, int loop_count, const int64_t *trips) {
  *n = (nest){.b = *b, .loop_count = loop_count};
  for (int k = 0; k < loop_count; k++) {
    n->at[k] = n->within[k] = constant(n, 0);
    n->size[k] = trips[k];
  }
}

void nest_enter(nest *n) {
  for (int k = 0; k < n->loop_count; k++) n->within[k] = constant(n, 0);
}

// --- loops

// The nest at a tile of the level's size that begins `by` further on.
static nest at_tile(const nest *n, int loop, MlirAffineExpr by, int64_t size) {
  nest inner = *n;
  inner.at[loop] = mlirAffineAddExprGet(n->at[loop], by);
  inner.within[loop] = mlirAffineAddExprGet(n->within[loop], by);
  inner.size[loop] = size;
  return inner;
}

static heddle_status build_loop(nest *n, int count, const nest_level *levels, int64_t end, nest_body body, void *user) {
  const nest_level l = levels[0];
  MlirOperation loop =
      ir_for(&n->b, ir_index(&n->b, 0), ir_index(&n->b, end), ir_index(&n->b, l.step), n->carried_count, n->carried);
  MlirBlock block = ir_body(loop, 0);
  nest inner = at_tile(n, l.loop, mlirAffineDimExprGet(n->b.context, n->value_count), l.step);
  inner.values[inner.value_count++] = mlirBlockGetArgument(block, 0);
  for (int k = 0; k < n->carried_count; k++) inner.carried[k] = mlirBlockGetArgument(block, 1 + k);
  inner.b = ir_builder_at_end(n->b.context, block, n->b.arena);
  inner.b.location = n->b.location;
  TRY(nest_build(&inner, count - 1, levels + 1, body, user));
  ir_yield(&inner.b, n->carried_count, inner.carried);
  for (int k = 0; k < n->carried_count; k++) n->carried[k] = ir_result(loop, k);
  return status_ok();
}

static heddle_status build_tile(nest *n, int count, const nest_level *levels, int64_t begin, int64_t size,
                                nest_body body, void *user) {
  nest inner = at_tile(n, levels[0].loop, constant(n, begin), size);
  TRY(nest_build(&inner, count - 1, levels + 1, body, user));
  for (int k = 0; k < n->carried_count; k++) n->carried[k] = inner.carried[k];
  return status_ok();
}

heddle_status nest_build(nest *n, int level_count, const nest_level *levels, nest_body body, void *user) {
  if (level_count == 0) return body(n, user);
  const int64_t size = n->size[levels[0].loop], step = levels[0].step, whole = size / step * step;
  if (n->value_count == NEST_MOST_VALUES) return status_error(HEDDLE_UNIMPLEMENTED, "found too many loops in a nest");
  if (whole > step) TRY(build_loop(n, level_count, levels, whole, body, user));
  else if (whole > 0) TRY(build_tile(n, level_count, levels, 0, whole, body, user));
  return whole < size ? build_tile(n, level_count, levels, whole, size - whole, body, user) : status_ok();
}

// --- expressions

bool nest_is_linear(MlirAffineExpr e) {
  if (mlirAffineExprIsADim(e) || mlirAffineExprIsAConstant(e)) return true;
  if (mlirAffineExprIsAAdd(e))
    return nest_is_linear(mlirAffineBinaryOpExprGetLHS(e)) && nest_is_linear(mlirAffineBinaryOpExprGetRHS(e));
  return mlirAffineExprIsAMul(e) && nest_is_linear(mlirAffineBinaryOpExprGetLHS(e)) &&
         mlirAffineExprIsAConstant(mlirAffineBinaryOpExprGetRHS(e));
}

int64_t nest_coefficient(MlirAffineExpr e, int loop) {
  if (mlirAffineExprIsADim(e)) return mlirAffineDimExprGetPosition(e) == loop;
  if (mlirAffineExprIsAConstant(e)) return 0;
  const int64_t left = nest_coefficient(mlirAffineBinaryOpExprGetLHS(e), loop);
  if (mlirAffineExprIsAAdd(e)) return left + nest_coefficient(mlirAffineBinaryOpExprGetRHS(e), loop);
  return left * mlirAffineConstantExprGetValue(mlirAffineBinaryOpExprGetRHS(e));
}

// --- parts of tensors

void nest_view_add(nest_view *v, MlirAffineExpr offset, int loop, int64_t size, int64_t stride) {
  v->offsets[v->rank] = offset;
  v->sizes[v->rank] = size;
  v->strides[v->rank++] = stride;
  if (loop < 0) return;
  v->kept_sizes[v->kept] = size;
  v->kept_loops[v->kept++] = loop;
}

nest_view nest_view_of(const nest *n, MlirAffineMap map, uint32_t kept) {
  MlirAffineExpr at[TILING_MAX_LOOPS];
  for (int k = 0; k < n->loop_count; k++) at[k] = n->at[k];
  MlirAffineMap position = mlirAffineMapGet(n->b.context, n->value_count, 0, n->loop_count, at);
  nest_view v = {0};
  for (int d = 0; d < mlirAffineMapGetNumResults(map); d++) {
    MlirAffineExpr e = mlirAffineMapGetResult(map, d);
    int loop = -1;
    for (int k = 0; k < n->loop_count; k++)
      if (kept >> k & 1U && nest_coefficient(e, k) != 0) loop = k;
    const int64_t size = loop < 0 ? 1 : n->size[loop], stride = loop < 0 || size == 1 ? 1 : nest_coefficient(e, loop);
    nest_view_add(&v, mlirAffineExprCompose(e, position), loop, size, stride);
  }
  return v;
}

MlirValue nest_value(nest *n, MlirAffineExpr e) {
  MlirAffineMap map = mlirAffineMapGet(n->b.context, n->value_count, 0, 1, &e);
  MlirNamedAttribute attribute = ir_named(n->b.context, "map", mlirAffineMapAttrGet(map));
  return ir_value_with(&n->b, "affine.apply", mlirIndexTypeGet(n->b.context), n->value_count, n->values, 1, &attribute);
}

// tensor.extract_slice, or tensor.insert_slice.
static MlirValue cut(nest *n, const char *name, const nest_view *v, int tensor_count, const MlirValue *tensors,
                     MlirType type) {
  MlirValue at[NEST_MOST_DIMS];
  int64_t offsets[NEST_MOST_DIMS];
  structured_part part = {.rank = v->rank, .offsets = offsets, .sizes = v->sizes, .strides = v->strides, .at = at};
  for (int d = 0; d < v->rank; d++) {
    const bool is_known = mlirAffineExprIsAConstant(v->offsets[d]);
    offsets[d] = is_known ? mlirAffineConstantExprGetValue(v->offsets[d]) : STRUCTURED_AT;
    if (!is_known) at[part.at_count++] = nest_value(n, v->offsets[d]);
  }
  return ir_result(structured_slice(&n->b, name, &part, tensor_count, tensors, type), 0);
}

MlirValue nest_take(nest *n, const nest_view *v, MlirValue whole) {
  MlirType type =
      mlirRankedTensorTypeGet(v->kept, v->kept_sizes, ir_element_type(mlirValueGetType(whole)), mlirAttributeGetNull());
  return cut(n, "tensor.extract_slice", v, 1, &whole, type);
}

MlirValue nest_put(nest *n, const nest_view *v, MlirValue part, MlirValue whole) {
  MlirValue tensors[] = {part, whole};
  return cut(n, "tensor.insert_slice", v, 2, tensors, mlirValueGetType(whole));
}
