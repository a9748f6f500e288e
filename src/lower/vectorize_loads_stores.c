// xla-gpu-vectorize-loads-stores: a loop over 2, 4 or 8 neighbouring elements (up to max_access_lanes of the target)
// reads and writes them as one vector.
//
// Why: a GPU moves 16 bytes per thread and instruction as fast as 2, so element-wise accesses of narrow types waste
// most of the memory system; LLVM's own vectorizer gives up on them when address arithmetic hides that they are
// neighbours.
//
// A tensor.extract directly in scf.for %i = 0 to V step 1 becomes a vector.transfer_read before the loop and a
// vector.extract in it if its index is an apply_indexing of the form `aligned + i`, with everything but i defined
// outside the loop, and the tensor too. A tensor.insert into an iteration argument that nothing else uses becomes a
// vector.insert into a new, vector-valued iteration argument, and a vector.transfer_write after the loop. Tensors are
// values: a read that moves before the loop reads what it read before.
#include <mlir-c/BuiltinAttributes.h>

#include "dialect/xla_gpu.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"

#define MAX_DIMS 64

typedef struct vector_loop {
  arena *arena;
  MlirOperation op;
  MlirBlock body;
  MlirValue iv;
  int64_t size;
} vector_loop;

static bool is_vector_loop(arena *a, int max_lanes, MlirOperation op, vector_loop *out) {
  int64_t lower = 0, upper = 0, step = 0;
  if (!ir_constant_value(ir_operand(op, 0), &lower) || !ir_constant_value(ir_operand(op, 1), &upper) ||
      !ir_constant_value(ir_operand(op, 2), &step))
    return false;
  const bool is_power_of_two = (upper & (upper - 1)) == 0;
  bool fits = lower == 0 && step == 1 && upper >= 2 && upper <= max_lanes && is_power_of_two;
  *out = (vector_loop){a, op, ir_body(op, 0), mlirBlockGetArgument(ir_body(op, 0), 0), upper};
  return fits;
}

static bool is_inside(MlirBlock block, MlirOperation loop) {
  for (MlirOperation op = mlirBlockGetParentOperation(block); !ir_is_null(op);
       op = mlirOperationGetParentOperation(op)) {
    if (mlirOperationEqual(op, loop)) return true;
  }
  return false;
}

static bool is_defined_outside(const vector_loop *l, MlirValue v) {
  MlirBlock block =
      mlirValueIsABlockArgument(v) ? mlirBlockArgumentGetOwner(v) : mlirOperationGetBlock(ir_defining_op(v));
  return !is_inside(block, l->op);
}

// --- indices

// True if the map's result is (multiple of V) + (operand `iv`), where the other operands do not depend on it.
static bool is_contiguous(const vector_loop *l, const indexing_map *m, int iv) {
  if (m->is_empty || m->dim_count + m->range_count + m->rt_count > MAX_DIMS) return false;
  interval dims[MAX_DIMS], symbols[MAX_DIMS];
  int symbol_count = m->range_count + m->rt_count;
  for (int i = 0; i < m->dim_count; i++) dims[i] = m->dims[i].bounds;
  for (int i = 0; i < symbol_count; i++)
    symbols[i] = i < m->range_count ? m->ranges[i].bounds : m->rts[i - m->range_count].bounds;
  bool is_dim = iv < m->dim_count;
  interval *bounds = is_dim ? &dims[iv] : &symbols[iv - m->dim_count];
  *bounds = (interval){0, l->size - 1};
  const affine_expr *variable = is_dim ? affine_dim(l->arena, iv) : affine_symbol(l->arena, iv - m->dim_count);
  const affine_expr *rest = affine_simplify(l->arena, affine_sub(l->arena, m->results[0], variable), dims, symbols);
  if (is_dim ? affine_uses_dim(rest, iv) : affine_uses_symbol(rest, iv - m->dim_count)) return false;
  const affine_expr *offset = affine_simplify(l->arena, affine_mod(l->arena, rest, l->size), dims, symbols);
  int64_t value = 0;
  return affine_is_constant(offset, &value) && value == 0;
}

// An index as one expression of values that the loop does not change, and of its induction variable.
typedef struct open_index {
  int count;
  MlirValue values[MAX_DIMS];
  interval bounds[MAX_DIMS];
  const affine_expr *expr;
} open_index;

static bool is_application(MlirOperation op) { return !ir_is_null(op) && ir_is(op, "xla_gpu.apply_indexing"); }

// The dim that stands for the value; null if there are too many.
static const affine_expr *dim_for(const vector_loop *l, open_index *x, MlirValue v, interval bounds) {
  int d = 0;
  while (d < x->count && !mlirValueEqual(x->values[d], v)) d++;
  if (d == MAX_DIMS) return NULL;
  if (d == x->count) {
    x->values[x->count] = v;
    x->bounds[x->count++] = bounds;
  }
  x->bounds[d] = interval_intersect(x->bounds[d], bounds);
  return affine_dim(l->arena, d);
}

// What the application's result is made of, through applications within the loop; null if that is too much.
static const affine_expr *expression_of(const vector_loop *l, open_index *x, MlirOperation op, int result, int depth) {
  const indexing_map *m = xla_gpu_indexing_map(ir_get(op, "map"));
  const affine_expr *by[MAX_DIMS];
  const int count = (int)mlirOperationGetNumOperands(op);
  if (m->is_empty || m->constraint_count > 0 || m->rt_count > 0 || count > MAX_DIMS || depth > 8) return NULL;
  for (int i = 0; i < count; i++) {
    const MlirValue v = ir_operand(op, i);
    const interval bounds = i < m->dim_count ? m->dims[i].bounds : m->ranges[i - m->dim_count].bounds;
    const MlirOperation inner = mlirValueIsABlockArgument(v) ? (MlirOperation){0} : ir_defining_op(v);
    by[i] = is_application(inner) && !is_defined_outside(l, v)
                ? expression_of(l, x, inner, (int)mlirOpResultGetResultNumber(v), depth + 1)
                : dim_for(l, x, v, bounds);
    if (!by[i]) return NULL;
  }
  return affine_replace(l->arena, m->results[result], by, m->dim_count, by + m->dim_count, m->range_count);
}

// The application itself, or one that takes no other's results within the loop: equal parts of several indices are
// computed once, which hides how each of them moves.
static MlirOperation opened(const vector_loop *l, MlirOperation op) {
  open_index x = {.count = 0};
  bool is_open = true;
  for (int i = 0; i < (int)mlirOperationGetNumOperands(op); i++)
    is_open &= mlirValueEqual(ir_operand(op, i), l->iv) || is_defined_outside(l, ir_operand(op, i));
  if (is_open) return op;
  x.expr = expression_of(l, &x, op, 0, 0);
  if (!x.expr) return op;
  indexing_map *m = indexing_map_create(l->arena, x.count, 0, 0, 1, 0);
  for (int d = 0; d < x.count; d++) m->dims[d].bounds = x.bounds[d];
  m->results[0] = x.expr;
  ir_builder b = ir_builder_before(op, l->arena);
  const MlirAttribute map = xla_gpu_indexing_map_attribute(b.context, indexing_map_simplify(l->arena, m));
  MlirNamedAttribute attribute = ir_named(b.context, "map", map);
  return ir_defining_op(
      ir_value_with(&b, "xla_gpu.apply_indexing", mlirIndexTypeGet(b.context), x.count, x.values, 1, &attribute));
}

// The apply_indexing that computes an index that moves with the induction variable through one aligned vector; null
// operation if the index does anything else. *iv: the operand that is the induction variable.
static MlirOperation contiguous_index(const vector_loop *l, MlirValue index, int *iv) {
  MlirOperation op = ir_defining_op(index);
  MlirOperation none = {0};
  if (!is_application(op) || mlirOperationGetNumResults(op) != 1) return none;
  op = opened(l, op);
  int count = (int)mlirOperationGetNumOperands(op);
  *iv = -1;
  for (int i = 0; i < count; i++) {
    bool is_iv = mlirValueEqual(ir_operand(op, i), l->iv);
    if (is_iv && *iv >= 0) return none;
    if (!is_iv && !is_defined_outside(l, ir_operand(op, i))) return none;
    if (is_iv) *iv = i;
  }
  if (*iv < 0 || !is_contiguous(l, xla_gpu_indexing_map(ir_get(op, "map")), *iv)) return none;
  return op;
}

// The vector type for an access to the tensor, null if it has none.
static MlirType vector_type(const vector_loop *l, MlirType tensor) {
  MlirType none = {0};
  if (mlirShapedTypeGetRank(tensor) != 1 || !mlirShapedTypeHasStaticShape(tensor)) return none;
  MlirType element = mlirShapedTypeGetElementType(tensor);
  if (!mlirTypeIsAInteger(element) && !mlirTypeIsAFloat(element)) return none;
  if (mlirShapedTypeGetDimSize(tensor, 0) % l->size != 0) return none;
  return mlirVectorTypeGet(1, &l->size, element);
}

// The index of the vector's first element: the same map with the induction variable at 0.
static MlirValue first_index(ir_builder *b, MlirOperation index_op, int iv) {
  int count = (int)mlirOperationGetNumOperands(index_op);
  MlirValue *operands = arena_array(b->arena, MlirValue, count);
  for (int i = 0; i < count; i++) operands[i] = i == iv ? ir_index(b, 0) : ir_operand(index_op, i);
  MlirNamedAttribute map = ir_named(b->context, "map", ir_get(index_op, "map"));
  return ir_value_with(b, "xla_gpu.apply_indexing", mlirIndexTypeGet(b->context), count, operands, 1, &map);
}

static MlirValue zero(ir_builder *b, MlirType type) {
  return mlirTypeIsAFloat(ir_element_type(type)) ? ir_float(b, type, 0) : ir_int(b, type, 0);
}

// Attributes of a one-dimensional transfer within its tensor; the operand counts are (first, second, third, mask).
static void transfer_attributes(MlirContext c, int third, MlirNamedAttribute out[3]) {
  int32_t segments[4] = {1, 1, third, 0};
  MlirAttribute yes = mlirBoolAttrGet(c, 1);
  out[0] = ir_named(c, "in_bounds", mlirArrayAttrGet(c, 1, &yes));
  out[1] = ir_named_text(c, "permutation_map", "affine_map<(d0) -> (d0)>");
  out[2] = ir_named(c, "operandSegmentSizes", mlirDenseI32ArrayGet(c, 4, segments));
}

// vector.extract and vector.insert at a position known only when the loop runs.
static MlirNamedAttribute dynamic_position(MlirContext c) {
  return ir_named(c, "static_position", mlirDenseI64ArrayGet(c, 1, (int64_t[]){INT64_MIN}));
}

// --- loads

static void vectorize_extract(const vector_loop *l, MlirOperation extract) {
  MlirValue tensor = ir_operand(extract, 0);
  MlirType vector = vector_type(l, mlirValueGetType(tensor));
  int iv = 0;
  if (mlirTypeIsNull(vector) || !is_defined_outside(l, tensor)) return;
  MlirOperation index = contiguous_index(l, ir_operand(extract, 1), &iv);
  if (ir_is_null(index)) return;
  ir_builder b = ir_builder_before(l->op, l->arena);
  MlirValue first = first_index(&b, index, iv);
  MlirValue operands[] = {tensor, first, zero(&b, ir_element_type(vector))};
  MlirNamedAttribute attributes[3];
  transfer_attributes(b.context, 1, attributes);
  MlirValue read = ir_value_with(&b, "vector.transfer_read", vector, 3, operands, 3, attributes);
  ir_builder inner = ir_builder_before(extract, l->arena);
  MlirNamedAttribute position = dynamic_position(b.context);
  MlirValue element =
      ir_value_with(&inner, "vector.extract", ir_element_type(vector), 2, (MlirValue[]){read, l->iv}, 1, &position);
  ir_replace(extract, &element);
}

// --- stores

typedef struct store {
  MlirOperation insert, index;
  int iv;
  int carried;  // which iteration argument
  MlirType vector;
} store;

typedef VEC(store) stores;

static bool has_one_use(MlirValue v) {
  MlirOpOperand use = mlirValueGetFirstUse(v);
  return !mlirOpOperandIsNull(use) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

static bool find_store(const vector_loop *l, MlirOperation insert, store *out) {
  MlirValue dest = ir_operand(insert, 1), result = ir_result(insert, 0);
  MlirOperation yield = ir_terminator(l->body);
  *out = (store){.insert = insert, .vector = vector_type(l, mlirValueGetType(dest))};
  // MLIR folds a vector read from one whole tensor and written over another into the first: no store would be left.
  if (mlirShapedTypeGetRank(mlirValueGetType(dest)) == 1 &&
      mlirShapedTypeGetDimSize(mlirValueGetType(dest), 0) == l->size)
    return false;
  if (mlirTypeIsNull(out->vector) || !has_one_use(dest) || !has_one_use(result)) return false;
  if (!mlirValueIsABlockArgument(dest) || !mlirBlockEqual(mlirBlockArgumentGetOwner(dest), l->body)) return false;
  MlirOpOperand use = mlirValueGetFirstUse(result);
  out->carried = (int)mlirBlockArgumentGetArgNumber(dest) - 1;
  if (!mlirOperationEqual(mlirOpOperandGetOwner(use), yield)) return false;
  if ((int)mlirOpOperandGetOperandNumber(use) != out->carried) return false;
  out->index = contiguous_index(l, ir_operand(insert, 2), &out->iv);
  return !ir_is_null(out->index);
}

// Where the insert was: the tensor passes through, the vector takes the value.
static void replace_insert(const vector_loop *l, const store *s, MlirValue vector, MlirOperation yield, int position) {
  ir_builder b = ir_builder_before(s->insert, l->arena);
  MlirNamedAttribute attribute = dynamic_position(b.context);
  MlirValue operands[] = {ir_operand(s->insert, 0), vector, l->iv};
  MlirValue inserted = ir_value_with(&b, "vector.insert", s->vector, 3, operands, 1, &attribute);
  MlirValue tensor = ir_operand(s->insert, 1);
  ir_replace(s->insert, &tensor);
  mlirOperationSetOperand(yield, position, inserted);
}

static MlirValue write_after(ir_builder *b, const store *s, MlirValue vector, MlirValue tensor) {
  MlirValue operands[] = {vector, tensor, first_index(b, s->index, s->iv)};
  MlirNamedAttribute attributes[3];
  transfer_attributes(b->context, 1, attributes);
  return ir_value_with(b, "vector.transfer_write", mlirValueGetType(tensor), 3, operands, 3, attributes);
}

// The loop again, with one more iteration argument per store.
static void vectorize_stores(vector_loop *l, const stores *found) {
  arena *a = l->arena;
  int old_count = (int)mlirOperationGetNumResults(l->op), count = old_count + found->size;
  MlirValue *inits = arena_array(a, MlirValue, count), *arguments = arena_array(a, MlirValue, old_count + 1);
  ir_builder b = ir_builder_before(l->op, a);
  for (int i = 0; i < count; i++)
    inits[i] = i < old_count ? ir_operand(l->op, i + 3) : zero(&b, found->data[i - old_count].vector);
  MlirOperation loop = ir_for(&b, ir_operand(l->op, 0), ir_operand(l->op, 1), ir_operand(l->op, 2), count, inits);
  MlirBlock body = ir_body(loop, 0);
  ir_builder inner = ir_builder_at_end(b.context, body, a);
  MlirOperation yield = ir_build(&inner, (ir_op_state){.name = "scf.yield", .operand_count = count, .operands = inits});
  for (int i = 0; i <= old_count; i++) arguments[i] = mlirBlockGetArgument(body, i);
  ir_values yielded = ir_inline_block(a, l->body, yield, arguments);
  for (int i = 0; i < old_count; i++) mlirOperationSetOperand(yield, i, yielded.data[i]);

  vector_loop made = {a, loop, body, arguments[0], l->size};
  MlirValue *results = arena_array(a, MlirValue, old_count);
  for (int i = 0; i < old_count; i++) results[i] = ir_result(loop, i);
  ir_builder after = ir_builder_before(l->op, a);
  for (int i = 0; i < found->size; i++) {
    const store *s = &found->data[i];
    replace_insert(&made, s, mlirBlockGetArgument(body, old_count + i + 1), yield, old_count + i);
    results[s->carried] = write_after(&after, s, ir_result(loop, old_count + i), inits[s->carried]);
  }
  ir_replace(l->op, results);
}

// --- the pass

static void vectorize(vector_loop *l) {
  VEC(MlirOperation) extracts = {0};
  stores found = {0};
  for (MlirOperation op = mlirBlockGetFirstOperation(l->body); !ir_is_null(op); op = mlirOperationGetNextInBlock(op)) {
    store s;
    if (ir_is(op, "tensor.extract") && mlirOperationGetNumOperands(op) == 2) vec_push(l->arena, &extracts, op);
    if (!ir_is(op, "tensor.insert") || mlirOperationGetNumOperands(op) != 3 || !find_store(l, op, &s)) continue;
    vec_push(l->arena, &found, s);
  }
  for (int i = 0; i < extracts.size; i++) vectorize_extract(l, extracts.data[i]);
  if (found.size > 0) vectorize_stores(l, &found);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  ir_operations loops = ir_collect(c->scratch, module, "scf.for");
  for (int i = 0; i < loops.size; i++) {
    vector_loop l;
    if (is_vector_loop(c->scratch, c->options->target.code.max_access_lanes, loops.data[i], &l)) vectorize(&l);
  }
  return status_ok();
}

const pass lower_vectorize_loads_stores = {
    .name = "xla-gpu-vectorize-loads-stores",
    .summary = "accesses of 2, 4 or 8 neighbouring elements -> vector transfers around the loop",
    .order_reason = "behind flattening and canonicalize, which composes a linear index into the one map that it reads",
    .use = PASS_IMPROVES,
    .run = run,
};
