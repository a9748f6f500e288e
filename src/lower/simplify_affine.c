// xla-gpu-simplify-affine: index maps become plain integer arithmetic, with what their ranges allow.
//
// MLIR's lower-affine knows no ranges: its floordiv and mod compare signs and select, five operations where one
// unsigned division does. Here the map's own domain says which dividends are never negative. Sums are built with the
// terms that change in the innermost loop last, so that loop-invariant-code-motion can take the rest out; signed
// overflow is ruled out where ranges rule it out.
#include "dialect/xla_gpu.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"

typedef struct node {
  const affine_expr *e;
  int lhs, rhs;  // nodes, -1 for leaves
  interval range;
  int depth;  // of the innermost loop whose body defines a variable of it
  int uses;
  MlirValue value;  // null until built
} node;

typedef VEC(node) nodes;

typedef struct expansion {
  arena *arena;
  ir_builder *b;
  const indexing_map *map;
  const MlirValue *variables;  // dims, then symbols
  const int *depths;           // per variable
  nodes nodes;
} expansion;

// --- reading the expression

static int loop_depth(MlirValue v) {
  MlirBlock block =
      mlirValueIsABlockArgument(v) ? mlirBlockArgumentGetOwner(v) : mlirOperationGetBlock(ir_defining_op(v));
  int depth = 0;
  for (MlirOperation op = mlirBlockGetParentOperation(block); !ir_is_null(op) && !ir_is(op, "func.func");
       op = mlirOperationGetParentOperation(op))
    depth += ir_is(op, "scf.for") || ir_is(op, "xla_gpu.loop");
  return depth;
}

static void visit(void *context, const affine_expr *e, int index, int lhs, int rhs) {
  (void)index;
  expansion *x = context;
  node n = {.e = e, .lhs = lhs, .rhs = rhs, .range = indexing_map_expr_range(x->map, e)};
  if (e->kind == AFFINE_DIM) n.depth = x->depths[e->value];
  else if (e->kind == AFFINE_SYMBOL) n.depth = x->depths[x->map->dim_count + e->value];
  for (int k = 0; k < 2; k++) {
    int child = k ? rhs : lhs;
    if (child < 0) continue;
    node *c = &x->nodes.data[child];
    c->uses++;
    if (c->depth > n.depth) n.depth = c->depth;
  }
  vec_push(x->arena, &x->nodes, n);
}

// --- building

// 32 bits may be all that `index` has, so only ranges within them rule out overflow.
static MlirValue arithmetic(ir_builder *b, const char *name, MlirValue l, MlirValue r, interval result,
                            bool non_negative) {
  MlirType index = mlirIndexTypeGet(b->context);
  MlirValue operands[] = {l, r};
  if (!interval_covers((interval){INT32_MIN, INT32_MAX}, result)) return ir_value(b, name, index, 2, operands);
  const char *flags = non_negative && result.lower >= 0 ? "#arith.overflow<nsw, nuw>" : "#arith.overflow<nsw>";
  MlirNamedAttribute overflow = ir_named_text(b->context, "overflowFlags", flags);
  return ir_value_with(b, name, index, 2, operands, 1, &overflow);
}

static bool is_non_negative(const node *n) { return n->range.lower >= 0; }

static MlirValue build_mod(expansion *x, const node *l, const node *r) {
  ir_builder *b = x->b;
  if (is_non_negative(l)) return ir_binary(b, "arith.remui", l->value, r->value);
  MlirValue rest = ir_binary(b, "arith.remsi", l->value, r->value);
  MlirValue is_negative = ir_cmpi(b, "slt", rest, ir_index(b, 0));
  return ir_select(b, is_negative, ir_binary(b, "arith.addi", rest, r->value), rest);
}

static MlirValue build_node(expansion *x, node *n) {
  if (n->e->kind == AFFINE_CONSTANT) return ir_index(x->b, n->e->value);
  if (n->e->kind == AFFINE_DIM) return x->variables[n->e->value];
  if (n->e->kind == AFFINE_SYMBOL) return x->variables[x->map->dim_count + n->e->value];
  const node *l = &x->nodes.data[n->lhs], *r = &x->nodes.data[n->rhs];
  if (n->e->kind == AFFINE_MOD) return build_mod(x, l, r);
  if (n->e->kind == AFFINE_FLOORDIV)
    return ir_binary(x->b, is_non_negative(l) ? "arith.divui" : "arith.floordivsi", l->value, r->value);
  return arithmetic(x->b, "arith.muli", l->value, r->value, n->range, is_non_negative(l) && is_non_negative(r));
}

// The terms of a sum, outermost loop first, in the order written within one loop. Inner sums that are used elsewhere
// too are terms of their own.
typedef VEC(int) terms;

static void collect_terms(expansion *x, int root, terms *out) {
  terms stack = {0};
  vec_push(x->arena, &stack, root);
  while (stack.size > 0) {
    int top = vec_pop(&stack);
    node *n = &x->nodes.data[top];
    if (n->e->kind == AFFINE_ADD && mlirValueIsNull(n->value) && (top == root || n->uses == 1)) {
      vec_push(x->arena, &stack, n->rhs);
      vec_push(x->arena, &stack, n->lhs);
      continue;
    }
    int place = out->size;
    vec_push(x->arena, out, top);
    for (; place > 0 && x->nodes.data[out->data[place - 1]].depth > n->depth; place--) {
      out->data[place] = out->data[place - 1];
      out->data[place - 1] = top;
    }
  }
}

static MlirValue build_sum(expansion *x, int root) {
  terms sum = {0};
  collect_terms(x, root, &sum);
  node *first = &x->nodes.data[sum.data[0]];
  MlirValue value = first->value;
  interval range = first->range;
  bool non_negative = is_non_negative(first);
  for (int i = 1; i < sum.size; i++) {
    node *term = &x->nodes.data[sum.data[i]];
    range = interval_add(range, term->range);
    non_negative = non_negative && is_non_negative(term);
    value = arithmetic(x->b, "arith.addi", value, term->value, range, non_negative);
  }
  return value;
}

// An inner sum with one use is built by the sum it is part of.
static bool belongs_to_sum(const expansion *x, int child, const bool *summed) {
  return x->nodes.data[child].e->kind == AFFINE_ADD && x->nodes.data[child].uses == 1 && summed[child];
}

static MlirValue expand(expansion *x, const affine_expr *e) {
  x->nodes = (nodes){0};
  affine_walk(&e, 1, visit, x);
  int count = x->nodes.size;
  bool *summed = arena_array(x->arena, bool, count);  // a child of a sum
  for (int i = 0; i < count; i++)
    if (x->nodes.data[i].e->kind == AFFINE_ADD) summed[x->nodes.data[i].lhs] = summed[x->nodes.data[i].rhs] = true;
  for (int i = 0; i < count; i++) {
    if (belongs_to_sum(x, i, summed)) continue;
    node *n = &x->nodes.data[i];
    n->value = n->e->kind == AFFINE_ADD ? build_sum(x, i) : build_node(x, n);
  }
  return x->nodes.data[count - 1].value;
}

static void expand_operation(lower_context *c, MlirOperation op) {
  const indexing_map *map = xla_gpu_indexing_map(ir_get(op, "map"));
  ir_builder b = ir_builder_before(op, c->scratch);
  int variable_count = (int)mlirOperationGetNumOperands(op);
  MlirValue *variables = arena_array(c->scratch, MlirValue, variable_count);
  int *depths = arena_array(c->scratch, int, variable_count);
  for (int i = 0; i < variable_count; i++) {
    variables[i] = ir_operand(op, i);
    depths[i] = loop_depth(variables[i]);
  }
  expansion x = {.arena = c->scratch, .b = &b, .map = map, .variables = variables, .depths = depths};
  MlirValue *results = arena_array(c->scratch, MlirValue, map->result_count);
  for (int i = 0; i < map->result_count; i++) results[i] = expand(&x, map->results[i]);
  ir_replace(op, results);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  ir_operations ops = ir_collect(c->scratch, module, "xla_gpu.apply_indexing");
  for (int i = 0; i < ops.size; i++) expand_operation(c, ops.data[i]);
  return status_ok();
}

const pass lower_simplify_affine = {
    .name = "xla-gpu-simplify-affine",
    .summary = "index maps -> integer arithmetic, unsigned where ranges allow",
    .order_reason = "behind all passes that read or compose maps; licm follows, as it adds loop-variant terms last",
    .use = PASS_NEEDED,
    .run = run,
};
