// Canonicalization of apply_indexing, loop and atomic_rmw.
//
// apply_indexing: symbols become dims; constant and repeated operands fold into the map; a producing apply_indexing is
// composed in (if it has other users, only when the map does not grow or becomes a plain sum of products); the map is
// simplified, loses unused variables, and results that are constants or plain variables are replaced by these. loop:
// constant dims and producers of dims fold into the map, which is then simplified. Each call does all of it once;
// MLIR's driver calls again until nothing changes.
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>

#include "base/vec.h"
#include "dialect/hooks.h"
#include "dialect/xla_gpu.h"

// A composed expression may use its producer's several times; beyond this size sharing values is better.
#define MAX_NODES 200

typedef struct folding {
  arena *arena;
  indexing_map map;  // symbols of producers and, for apply_indexing, its own have become dims
  VEC(indexing_variable) dims;
  VEC(MlirValue) values;  // one per dim
  int own_dims;           // the first ones; the rest came from producers
  bool *folded;           // per own dim: nothing refers to it any more
  bool shares;            // composed a producer that has other users
} folding;

static MlirStringRef ref(const char *s) { return mlirStringRefCreateFromCString(s); }

static bool is_named(MlirOperation op, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(op)), ref(name));
}

static bool constant_index(MlirValue v, int64_t *out) {
  if (!mlirValueIsAOpResult(v) || !is_named(mlirOpResultGetOwner(v), "arith.constant")) return false;
  MlirAttribute value = mlirOperationGetAttributeByName(mlirOpResultGetOwner(v), ref("value"));
  if (!mlirAttributeIsAInteger(value)) return false;
  *out = mlirIntegerAttrGetValueInt(value);
  return true;
}

static const indexing_map *map_of(MlirOperation op) {
  return xla_gpu_indexing_map(mlirOperationGetAttributeByName(op, ref("map")));
}

// Number of nodes, counting shared ones as often as they are used: the printer and the simplifier see trees.
static uint64_t size_of(const indexing_map *m) {
  uint64_t nodes = 0;
  for (int i = 0; i < m->result_count; i++) nodes += m->results[i]->weight;
  for (int i = 0; i < m->constraint_count; i++) nodes += m->constraints[i].expr->weight;
  return nodes;
}

// The number of the dim that has this value, a new one if there is none yet.
static int dim_of(folding *f, MlirValue value, indexing_variable variable) {
  for (int i = 0; i < f->values.size; i++) {
    if (mlirValueEqual(f->values.data[i], value) && !(i < f->own_dims && f->folded[i])) {
      f->dims.data[i].bounds = interval_intersect(f->dims.data[i].bounds, variable.bounds);
      return i;
    }
  }
  vec_push(f->arena, &f->dims, variable);
  vec_push(f->arena, &f->values, value);
  return f->dims.size - 1;
}

// What a value's producer computes, over dims of f. Null if its producer is no apply_indexing or should stay shared.
static const affine_expr *producer_expression(folding *f, MlirValue value, bool may_share) {
  if (!mlirValueIsAOpResult(value)) return 0;
  MlirOperation producer = mlirOpResultGetOwner(value);
  if (!is_named(producer, "xla_gpu.apply_indexing")) return 0;
  bool has_one_use = mlirOpOperandIsNull(mlirOpOperandGetNextUse(mlirValueGetFirstUse(value)));
  if (!has_one_use && !may_share) return 0;
  const indexing_map *p = map_of(producer);
  if (p->is_empty) return 0;
  f->shares |= !has_one_use;
  int symbols = p->range_count + p->rt_count;
  const affine_expr **replacements = arena_array(f->arena, const affine_expr *, p->dim_count + symbols);
  for (int i = 0; i < p->dim_count + symbols; i++) {
    const indexing_variable *variable = i < p->dim_count ? &p->dims[i]
                                        : i < p->dim_count + p->range_count
                                            ? &p->ranges[i - p->dim_count]
                                            : &p->rts[i - p->dim_count - p->range_count];
    replacements[i] = affine_dim(f->arena, dim_of(f, mlirOperationGetOperand(producer, i), *variable));
  }
  const affine_expr *result = p->results[mlirOpResultGetResultNumber(value)];
  return affine_replace(f->arena, result, replacements, p->dim_count, replacements + p->dim_count, symbols);
}

static void add_constraint(folding *f, const affine_expr *expr, interval bounds) {
  indexing_map *m = &f->map;
  indexing_constraint *all = arena_array(f->arena, indexing_constraint, m->constraint_count + 1);
  for (int i = 0; i < m->constraint_count; i++) all[i] = m->constraints[i];
  all[m->constraint_count++] = (indexing_constraint){expr, bounds};
  m->constraints = all;
}

static void substitute(folding *f, const affine_expr *const *dims, const affine_expr *const *symbols,
                       int symbol_count) {
  indexing_map *m = &f->map;
  const affine_expr **results = arena_array(f->arena, const affine_expr *, m->result_count);
  for (int i = 0; i < m->result_count; i++)
    results[i] = affine_replace(f->arena, m->results[i], dims, f->own_dims, symbols, symbol_count);
  m->results = results;
  indexing_constraint *constraints = arena_array(f->arena, indexing_constraint, m->constraint_count);
  for (int i = 0; i < m->constraint_count; i++) {
    const affine_expr *e = m->constraints[i].expr;
    constraints[i] = (indexing_constraint){affine_replace(f->arena, e, dims, f->own_dims, symbols, symbol_count),
                                           m->constraints[i].bounds};
  }
  m->constraints = constraints;
}

// Folds constants, repeated operands and producers of the own dims into the map. `keep_bounds`: a dim's bounds are
// checks (loop) and become constraints of what replaces the dim; otherwise they are promises (apply_indexing) and are
// dropped.
static void fold_dims(folding *f, bool keep_bounds, bool may_share) {
  const affine_expr **replacements = arena_array(f->arena, const affine_expr *, f->own_dims);
  for (int i = 0; i < f->own_dims; i++) {
    int64_t value = 0;
    if (constant_index(f->values.data[i], &value)) {
      replacements[i] = affine_constant(f->arena, value);
      f->map.is_empty |= keep_bounds && !interval_contains(f->dims.data[i].bounds, value);
    } else {
      replacements[i] = producer_expression(f, f->values.data[i], may_share);
    }
    for (int j = 0; j < i && !replacements[i]; j++) {
      if (f->folded[j] || !mlirValueEqual(f->values.data[i], f->values.data[j])) continue;
      f->dims.data[j].bounds = interval_intersect(f->dims.data[j].bounds, f->dims.data[i].bounds);
      replacements[i] = affine_dim(f->arena, j);
    }
    f->folded[i] = replacements[i] != 0;
  }
  substitute(f, replacements, 0, 0);
  for (int i = 0; keep_bounds && i < f->own_dims; i++) {
    int64_t ignored = 0;
    if (f->folded[i] && !affine_is_constant(replacements[i], &ignored) && replacements[i]->kind != AFFINE_DIM)
      add_constraint(f, replacements[i], f->dims.data[i].bounds);
  }
}

// The map over the dims that are still referred to, unless `keep_unfolded`, which keeps unused ones too.
static void drop_dims(folding *f, bool keep_unfolded) {
  indexing_map *m = &f->map;
  int count = f->dims.size, kept = 0;
  bool *used = arena_array(f->arena, bool, count);
  for (int d = 0; d < count; d++) {
    used[d] = keep_unfolded && !(d < f->own_dims && f->folded[d]);
    for (int i = 0; i < m->result_count && !used[d]; i++) used[d] = affine_uses_dim(m->results[i], d);
    for (int i = 0; i < m->constraint_count && !used[d]; i++) used[d] = affine_uses_dim(m->constraints[i].expr, d);
  }
  const affine_expr **renumbered = arena_array(f->arena, const affine_expr *, count);
  for (int d = 0; d < count; d++) {
    if (!used[d]) continue;
    renumbered[d] = affine_dim(f->arena, kept);
    f->dims.data[kept] = f->dims.data[d];
    f->values.data[kept++] = f->values.data[d];
  }
  f->own_dims = count;
  substitute(f, renumbered, 0, 0);
  f->dims.size = f->values.size = f->own_dims = kept;
  m->dims = f->dims.data;
  m->dim_count = kept;
}

static folding folding_of(arena *a, const indexing_map *map, MlirOperation op) {
  folding f = {.arena = a, .map = *map};
  for (int i = 0; i < map->dim_count; i++) {
    MlirValue value = mlirOperationGetOperand(op, i);
    vec_push(a, &f.dims, map->dims[i]);
    vec_push(a, &f.values, value);
  }
  f.own_dims = map->dim_count;
  f.folded = arena_array(a, bool, map->dim_count + map->range_count + map->rt_count);
  return f;
}

// --- apply_indexing

// Turns ranges and runtime variables into dims: nothing distinguishes them once they are operands.
static void symbols_to_dims(folding *f, MlirOperation op) {
  indexing_map *m = &f->map;
  int symbols = m->range_count + m->rt_count;
  const affine_expr **replacements = arena_array(f->arena, const affine_expr *, symbols);
  for (int i = 0; i < symbols; i++) {
    MlirValue value = mlirOperationGetOperand(op, m->dim_count + i);
    replacements[i] = affine_dim(f->arena, f->dims.size);
    vec_push(f->arena, &f->dims, i < m->range_count ? m->ranges[i] : m->rts[i - m->range_count]);
    vec_push(f->arena, &f->values, value);
  }
  substitute(f, arena_array(f->arena, const affine_expr *, f->own_dims), replacements, symbols);
  m->range_count = m->rt_count = 0;
  f->own_dims = f->dims.size;
}

// The op's map with everything folded in that may be; false if it got too large or its domain is empty.
static bool fold_apply_indexing(folding *f, MlirOperation op, bool may_share) {
  symbols_to_dims(f, op);
  fold_dims(f, false, may_share);
  if (size_of(&f->map) > MAX_NODES) return false;
  f->map.dims = f->dims.data;
  f->map.dim_count = f->dims.size;
  const indexing_map *simple = indexing_map_simplify(f->arena, &f->map);
  if (simple->is_empty) return false;
  f->map.results = simple->results;
  drop_dims(f, false);
  return true;
}

static MlirOperation insert(MlirRewriterBase rewriter, MlirOperation before, const char *name, int operand_count,
                            const MlirValue *operands, int result_count, const char *attribute, MlirAttribute value) {
  MlirContext context = mlirOperationGetContext(before);
  MlirType index = mlirIndexTypeGet(context);
  MlirOperationState state = mlirOperationStateGet(ref(name), mlirOperationGetLocation(before));
  mlirOperationStateAddOperands(&state, operand_count, operands);
  for (int i = 0; i < result_count; i++) mlirOperationStateAddResults(&state, 1, &index);
  MlirNamedAttribute named = mlirNamedAttributeGet(mlirIdentifierGet(context, ref(attribute)), value);
  mlirOperationStateAddAttributes(&state, 1, &named);
  mlirRewriterBaseSetInsertionPointBefore(rewriter, before);
  return mlirRewriterBaseInsert(rewriter, mlirOperationCreate(&state));
}

static bool is_unchanged(folding *f, MlirOperation op, MlirAttribute map) {
  if (!mlirAttributeEqual(map, mlirOperationGetAttributeByName(op, ref("map")))) return false;
  for (int i = 0; i < f->values.size; i++)
    if (!mlirValueEqual(f->values.data[i], mlirOperationGetOperand(op, i))) return false;
  return true;
}

static MlirValue constant_before(MlirRewriterBase rewriter, MlirOperation op, int64_t value) {
  MlirAttribute attribute = mlirIntegerAttrGet(mlirIndexTypeGet(mlirOperationGetContext(op)), value);
  return mlirOperationGetResult(insert(rewriter, op, "arith.constant", 0, 0, 1, "value", attribute), 0);
}

// Replaces op by what the folded map says: values for trivial results, one new operation for the others.
static bool replace_apply_indexing(MlirRewriterBase rewriter, MlirOperation op, folding *f) {
  indexing_map *m = &f->map;
  int count = m->result_count, kept = 0;
  const affine_expr **results = arena_array(f->arena, const affine_expr *, count);
  MlirValue *values = arena_array(f->arena, MlirValue, count);
  for (int i = 0; i < count; i++) {
    const affine_expr *e = m->results[i];
    bool is_unused = mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, i)));
    if (e->kind == AFFINE_DIM) values[i] = f->values.data[e->value];  // before drop_dims renumbers them
    if (e->kind != AFFINE_CONSTANT && e->kind != AFFINE_DIM && (!is_unused || count == 1)) results[kept++] = e;
  }
  MlirOperation replacement = {0};
  if (kept > 0) {
    folding rest = *f;
    rest.map.results = results;
    rest.map.result_count = kept;
    if (kept < count) drop_dims(&rest, false);
    MlirAttribute map = xla_gpu_indexing_map_attribute(mlirOperationGetContext(op), &rest.map);
    if (kept == count && is_unchanged(&rest, op, map)) return false;
    replacement = insert(rewriter, op, "xla_gpu.apply_indexing", rest.values.size, rest.values.data, kept, "map", map);
  }
  for (int i = 0, next = 0; i < count; i++) {
    const affine_expr *e = m->results[i];
    bool is_unused = mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, i)));
    if (e->kind == AFFINE_DIM) continue;
    bool is_constant = e->kind == AFFINE_CONSTANT;
    values[i] = is_constant || (is_unused && count > 1) ? constant_before(rewriter, op, is_constant ? e->value : 0)
                                                        : mlirOperationGetResult(replacement, next++);
  }
  mlirRewriterBaseReplaceOpWithValues(rewriter, op, count, values);
  return true;
}

// Whether the value is an argument of a loop or computed inside of one.
static bool varies(MlirValue v) {
  bool is_argument = mlirValueIsABlockArgument(v);
  MlirOperation op = is_argument ? mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(v)) : mlirOpResultGetOwner(v);
  while (op.ptr && !is_named(op, "scf.for") && !is_named(op, "scf.while")) op = mlirOperationGetParentOperation(op);
  return op.ptr;
}

// Whether a composition pays although a producer stays for its other users: if the map did not grow, or became a plain
// sum of products, cheap to repeat and telling how the index moves; in a loop, of what varies: the rest is hoisted.
static bool pays(const folding *f, const indexing_map *old) {
  bool *varying = arena_array(f->arena, bool, f->values.size), any = false, is_linear = true;
  for (int d = 0; d < f->values.size; d++) any |= varying[d] = varies(f->values.data[d]);
  for (int d = 0; d < f->values.size && !any; d++) varying[d] = true;
  for (int i = 0; i < f->map.result_count; i++) is_linear &= affine_is_linear_in(f->map.results[i], varying);
  return is_linear || size_of(&f->map) <= size_of(old);
}

bool xla_gpu_canonicalize_apply_indexing(MlirRewriterBase rewriter, MlirOperation op) {
  const indexing_map *map = map_of(op);
  if (map->is_empty) return false;
  arena *a = arena_create();
  folding f = folding_of(a, map, op);
  bool can_fold = fold_apply_indexing(&f, op, true);
  if (!can_fold || (f.shares && !pays(&f, map))) {
    f = folding_of(a, map, op);
    can_fold = fold_apply_indexing(&f, op, false);
  }
  bool changed = can_fold && replace_apply_indexing(rewriter, op, &f);
  arena_destroy(a);
  return changed;
}

// --- loop

// The loop never runs: its results are its inits.
static void replace_by_inits(MlirRewriterBase rewriter, MlirOperation op, int dim_count, arena *a) {
  int count = (int)mlirOperationGetNumResults(op);
  MlirValue *inits = arena_array(a, MlirValue, count);
  for (int i = 0; i < count; i++) inits[i] = mlirOperationGetOperand(op, dim_count + i);
  mlirRewriterBaseReplaceOpWithValues(rewriter, op, count, inits);
}

static void update_loop(MlirRewriterBase rewriter, MlirOperation op, folding *f, MlirAttribute map, int old_dims) {
  int inits = (int)mlirOperationGetNumResults(op);
  for (int i = 0; i < inits; i++) {
    MlirValue init = mlirOperationGetOperand(op, old_dims + i);
    vec_push(f->arena, &f->values, init);
  }
  int32_t segments[2] = {f->map.dim_count, inits};
  mlirRewriterBaseStartOpModification(rewriter, op);
  mlirOperationSetOperands(op, f->values.size, f->values.data);
  mlirOperationSetAttributeByName(op, ref("map"), map);
  MlirAttribute sizes = mlirDenseI32ArrayGet(mlirOperationGetContext(op), 2, segments);
  mlirOperationSetAttributeByName(op, ref("operandSegmentSizes"), sizes);
  mlirRewriterBaseFinalizeOpModification(rewriter, op);
}

bool xla_gpu_canonicalize_loop(MlirRewriterBase rewriter, MlirOperation op) {
  const indexing_map *map = map_of(op);
  arena *a = arena_create();
  folding f = folding_of(a, map, op);
  fold_dims(&f, true, true);
  bool changed = false;
  if (size_of(&f.map) <= MAX_NODES) {
    f.map.dims = f.dims.data;
    f.map.dim_count = f.dims.size;
    const indexing_map *simple = map->is_empty || f.map.is_empty ? &f.map : indexing_map_simplify(a, &f.map);
    if (map->is_empty || simple->is_empty) {
      replace_by_inits(rewriter, op, map->dim_count, a);
      arena_destroy(a);
      return true;
    }
    f.map = *simple;
    for (int i = 0; i < f.dims.size; i++) f.dims.data[i] = simple->dims[i];
    drop_dims(&f, true);
    MlirAttribute made = xla_gpu_indexing_map_attribute(mlirOperationGetContext(op), &f.map);
    changed = f.map.dim_count != map->dim_count || !is_unchanged(&f, op, made);
    if (changed) update_loop(rewriter, op, &f, made, map->dim_count);
  }
  arena_destroy(a);
  return changed;
}

// --- atomic_rmw

bool xla_gpu_canonicalize_atomic_rmw(MlirRewriterBase rewriter, MlirOperation op) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirValue yielded = mlirOperationGetOperand(mlirBlockGetTerminator(body), 0);
  if (!mlirValueEqual(yielded, mlirBlockGetArgument(body, 0))) return false;
  MlirValue input = mlirOperationGetOperand(op, 0);
  mlirRewriterBaseReplaceOpWithValues(rewriter, op, 1, &input);
  return true;
}
