// xla-inliner: replaces pure calls by the bodies of what they call, where that does not multiply code.
//
// Why: the partitioner puts code used at several places into functions; once loops and other functions are known, most
// of these have one caller left, and everything that follows (common subexpressions, vectorization) sees one function
// at a time only. Inlining every call makes code exponential in the depth of the calls, inlining none makes run time
// so, when the levels of a chain call each other more than once. The rules, in order:
//   `noinline` on the call: no. `no_compute` on the callee: yes. Two or more calls of the callee in this caller: no
//   (their arguments differ, else they would be one call by now; each would get a copy), unless the call says `inline`,
//   or on the CPU, where a call keeps a loop scalar, if the callee calls nothing and the copies are small together: an
//   array that is read in several places, each behind its own condition (the border of a stencil).
//   Together too many operations (max_inlined_operations of the target): no. CPU, or the call says `inline`: yes. GPU:
//   if the callee has no other caller, or if caller and callee both call one third function (whose calls may then
//   become one).
// Functions are visited callers first: a body moves up at most once, and what it calls is looked at where it has
// arrived. Visiting callees first would copy the bottom of a long chain once per level. Inside one function, callees
// too are taken in the order of the call graph: when one is looked at, all its calls that inlining brings here are
// here, and those with equal arguments are merged into one. Otherwise a chain that reuses its levels, f(n) = f(n-1) +
// f(n-2), would double with every level.
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Pass.h>

#include "base/map.h"
#include "emit/ir_builder.h"
#include "lower/hashed_cse.h"
#include "lower/passes.h"
#include "lower/vectorize_reductions.h"

// A module whose calls still move after so many rounds is left as it is.
#define MAX_ROUNDS 16

typedef struct function {
  MlirOperation op;  // null once its body has moved into its only caller
  int operation_count;
  int call_count;  // pure calls of it in the whole module
  int order;       // callers before callees, as far as there are no circles
  bool is_named;   // public, or named by something else than a pure call: must stay
  bool is_visited, is_done;
  ir_operations calls;  // in its body, when the round began
} function;

typedef VEC(function *) functions;

typedef struct call_graph {
  arena *arena;
  bool is_aggressive;
  const target_code_limits *limits;
  lower_session *session;
  str_map by_name;
  functions all, callees_first;
} call_graph;

static function *callee_of(call_graph *g, MlirOperation call) {
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(ir_get(call, "callee"));
  return str_map_get(&g->by_name, (str){name.data, name.length});
}

static MlirWalkResult count_one(MlirOperation op, void *argument) {
  (void)op;
  ++*(int *)argument;
  return MlirWalkResultAdvance;
}

static int count_operations(MlirOperation op) {
  int count = 0;
  mlirOperationWalk(op, count_one, &count, MlirWalkPreOrder);
  return count;
}

// --- the graph

static bool is_private(MlirOperation function_op) {
  MlirAttribute visibility = ir_get(function_op, "sym_visibility");
  if (mlirAttributeIsNull(visibility)) return false;
  return mlirStringRefEqual(mlirStringAttrGetValue(visibility), mlirStringRefCreateFromCString("private"));
}

static void mark_name(call_graph *g, MlirAttribute symbol) {
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(symbol);
  function *f = str_map_get(&g->by_name, (str){name.data, name.length});
  if (f) f->is_named = true;
}

// Loops name the reducers by which the vectorizer combines partial results.
static void mark_reducers(call_graph *g, MlirOperation module) {
  ir_operations loops = ir_collect(g->arena, module, "scf.for");
  for (int i = 0; i < loops.size; i++) {
    MlirAttribute marks = ir_get(loops.data[i], VECTORIZE_REDUCTIONS);
    for (intptr_t k = 0; !mlirAttributeIsNull(marks) && k < mlirArrayAttrGetNumElements(marks); k++) {
      MlirAttribute mark = mlirArrayAttrGetElement(marks, k);
      if (mlirAttributeIsAFlatSymbolRef(mark)) mark_name(g, mark);
    }
  }
}

// Functions that other operations than pure calls name keep their names.
static void mark_named(call_graph *g, MlirOperation module) {
  static const struct {
    const char *op, *attribute;
  } references[] = {{"func.call", "callee"},
                    {"xla_gpu.materialize", "callee"},
                    {"xla_gpu.shuffle_reduce", "combiner"},
                    {"xla_gpu.reduce", "combiner"}};
  for (size_t k = 0; k < sizeof references / sizeof *references; k++) {
    ir_operations ops = ir_collect(g->arena, module, references[k].op);
    for (int i = 0; i < ops.size; i++) mark_name(g, ir_get(ops.data[i], references[k].attribute));
  }
  mark_reducers(g, module);
}

// Depth first with a stack of our own: chains of functions are as long as the user's program.
static void order_from(call_graph *g, function *root) {
  functions stack = {0};
  vec_push(g->arena, &stack, root);
  while (stack.size > 0) {
    function *f = vec_last(&stack);
    if (f->is_done || f->is_visited) {
      (void)vec_pop(&stack);
      if (!f->is_done) vec_push(g->arena, &g->callees_first, f);
      f->is_done = true;
      continue;
    }
    f->is_visited = true;
    for (int i = 0; i < f->calls.size; i++) {
      function *callee = callee_of(g, f->calls.data[i]);
      if (callee && !callee->is_visited) vec_push(g->arena, &stack, callee);
    }
  }
}

static void build_graph(call_graph *g, MlirOperation module) {
  g->by_name = (str_map){0};
  g->all.size = g->callees_first.size = 0;
  ir_operations ops = ir_collect(g->arena, module, "func.func");
  for (int i = 0; i < ops.size; i++) {
    function *f = arena_new(g->arena, function);
    f->op = ops.data[i];
    f->calls = ir_collect(g->arena, f->op, "xla_gpu.pure_call");
    f->operation_count = count_operations(f->op);
    f->is_named = !is_private(f->op);
    str_map_put(g->arena, &g->by_name, ir_symbol(f->op), f);
    vec_push(g->arena, &g->all, f);
  }
  mark_named(g, module);
  for (int i = 0; i < g->all.size; i++) {
    for (int k = 0; k < g->all.data[i]->calls.size; k++) {
      function *callee = callee_of(g, g->all.data[i]->calls.data[k]);
      if (callee) callee->call_count++;
    }
  }
  for (int i = 0; i < g->all.size; i++) order_from(g, g->all.data[i]);
}

// --- one caller

// The calls of one callee in the function at hand.
typedef struct call_group {
  function *callee;
  ir_operations calls;
} call_group;

typedef struct caller {
  function *function;
  ptr_map groups;  // callee -> call_group *
  VEC(call_group *) all;
  VEC(call_group *) waiting;  // a heap: the group whose callee comes first is on top
  int order;                  // of the callee looked at last
  bool is_merged;             // nothing has changed since cse ran
} caller;

static void heap_push(arena *a, caller *c, call_group *group) {
  vec_push(a, &c->waiting, group);
  for (int i = c->waiting.size - 1; i > 0 && c->waiting.data[(i - 1) / 2]->callee->order > group->callee->order;) {
    int parent = (i - 1) / 2;
    c->waiting.data[i] = c->waiting.data[parent];
    c->waiting.data[parent] = group;
    i = parent;
  }
}

static call_group *heap_pop(caller *c) {
  call_group *top = c->waiting.data[0], *moved = vec_pop(&c->waiting);
  int size = c->waiting.size;
  for (int i = 0, child = 1; i < size; child = 2 * i + 1) {
    c->waiting.data[i] = moved;
    if (child >= size) break;
    if (child + 1 < size && c->waiting.data[child + 1]->callee->order < c->waiting.data[child]->callee->order) child++;
    if (c->waiting.data[child]->callee->order >= moved->callee->order) break;
    c->waiting.data[i] = c->waiting.data[child];
    c->waiting.data[child] = moved;
    i = child;
  }
  return top;
}

// Callees at or before the one looked at now call in a circle: their calls stay.
static void add_call(call_graph *g, caller *c, MlirOperation call) {
  function *callee = callee_of(g, call);
  if (!callee) return;
  call_group *group = ptr_map_get(&c->groups, callee);
  if (!group) {
    group = arena_new(g->arena, call_group);
    group->callee = callee;
    ptr_map_put(g->arena, &c->groups, callee, group);
    vec_push(g->arena, &c->all, group);
  }
  if (group->calls.size == 0 && callee->order > c->order) heap_push(g->arena, c, group);
  vec_push(g->arena, &group->calls, call);
}

static bool shares_a_callee(call_graph *g, const caller *c, const function *callee) {
  for (int i = 0; i < callee->calls.size; i++) {
    const call_group *group = ptr_map_get(&c->groups, callee_of(g, callee->calls.data[i]));
    if (group && group->calls.size > 0) return true;
  }
  return false;
}

static bool calls_itself(call_graph *g, const function *f) {
  for (int i = 0; i < f->calls.size; i++) {
    if (callee_of(g, f->calls.data[i]) == f) return true;
  }
  return false;
}

static bool has_one_block(MlirOperation function_op) {
  MlirBlock first = ir_body(function_op, 0);
  return !mlirBlockIsNull(first) && mlirBlockIsNull(mlirBlockGetNextInRegion(first));
}

static bool is_copied(const call_graph *g, const call_group *group) {
  const function *callee = group->callee;
  return g->is_aggressive && callee->calls.size == 0 &&
         callee->operation_count * group->calls.size <= g->limits->max_copied_operations;
}

static bool should_inline(call_graph *g, const caller *c, const call_group *group, MlirOperation call) {
  const function *callee = group->callee;
  if (callee == c->function || ir_is_null(callee->op) || !has_one_block(callee->op) || calls_itself(g, callee))
    return false;
  if (!mlirAttributeIsNull(ir_get(call, "noinline"))) return false;
  if (!mlirAttributeIsNull(ir_get(callee->op, "no_compute"))) return true;
  const bool is_wanted = !mlirAttributeIsNull(ir_get(call, "inline"));
  if (group->calls.size > 1 && !is_wanted && !is_copied(g, group)) return false;
  if (callee->operation_count + c->function->operation_count > g->limits->max_inlined_operations) return false;
  if (g->is_aggressive || is_wanted) return true;
  return callee->call_count == 1 || shares_a_callee(g, c, callee);
}

// Puts the callee's body in the call's place: the body itself if this is its last call, else a copy.
static void inline_call(call_graph *g, caller *c, MlirOperation call, function *callee) {
  bool is_last = callee->call_count == 1 && !callee->is_named;
  MlirOperation shell = is_last ? callee->op : mlirOperationClone(callee->op);
  ir_operations calls = is_last ? callee->calls : ir_collect(g->arena, shell, "xla_gpu.pure_call");
  int count = (int)mlirOperationGetNumOperands(call);
  MlirValue *arguments = arena_array(g->arena, MlirValue, count);
  for (int i = 0; i < count; i++) arguments[i] = ir_operand(call, i);
  ir_values results = ir_inline_block(g->arena, ir_body(shell, 0), call, arguments);
  ir_replace(call, results.data);
  mlirOperationDestroy(shell);
  callee->call_count--;
  c->function->operation_count += callee->operation_count - 3;  // without the function, its return and the call
  if (is_last) callee->op = (MlirOperation){0};
  for (int i = 0; i < calls.size; i++) {
    function *next = callee_of(g, calls.data[i]);
    if (next && !is_last) next->call_count++;
    add_call(g, c, calls.data[i]);
  }
}

// --- calls that are the same

static bool same_call(MlirOperation x, MlirOperation y) {
  intptr_t count = mlirOperationGetNumOperands(x);
  if (!mlirBlockEqual(mlirOperationGetBlock(x), mlirOperationGetBlock(y))) return false;
  if (count != mlirOperationGetNumOperands(y)) return false;
  for (intptr_t i = 0; i < count; i++) {
    if (!mlirValueEqual(mlirOperationGetOperand(x, i), mlirOperationGetOperand(y, i))) return false;
  }
  return true;
}

static bool comes_before(MlirOperation x, MlirOperation y) {
  for (MlirOperation op = x; !ir_is_null(op); op = mlirOperationGetNextInBlock(op)) {
    if (mlirOperationEqual(op, y)) return true;
  }
  return false;
}

// Keeps the earlier one of two calls with the very same operands in one block.
static void merge_identical(arena *a, caller *c, call_group *group) {
  ir_operations kept = {0};
  for (int i = 0; i < group->calls.size; i++) {
    MlirOperation call = group->calls.data[i];
    int same = 0;
    while (same < kept.size && !same_call(kept.data[same], call)) same++;
    if (same == kept.size) {
      vec_push(a, &kept, call);
      continue;
    }
    bool is_first = comes_before(call, kept.data[same]);
    MlirOperation stays = is_first ? call : kept.data[same], goes = is_first ? kept.data[same] : call;
    for (int r = 0; r < (int)mlirOperationGetNumResults(stays); r++)
      ir_replace_value(ir_result(goes, r), ir_result(stays, r));
    ir_erase(goes);
    kept.data[same] = stays;
    group->callee->call_count--;
    c->function->operation_count--;
  }
  group->calls = kept;
}

// Where the operands are equal but not the same, MLIR's cse has to find that out. It erases calls anywhere in the
// function, so all groups are made anew.
static void merge_equal(call_graph *g, caller *c) {
  for (int i = 0; i < c->all.size; i++) {
    c->all.data[i]->callee->call_count -= c->all.data[i]->calls.size;
    c->all.data[i]->calls = (ir_operations){0};
  }
  c->waiting.size = 0;
  hashed_cse_run(g->arena, g->session, c->function->op);
  ir_operations calls = ir_collect(g->arena, c->function->op, "xla_gpu.pure_call");
  for (int i = 0; i < calls.size; i++) {
    function *callee = callee_of(g, calls.data[i]);
    if (callee) callee->call_count++;
    add_call(g, c, calls.data[i]);
  }
  c->function->operation_count = count_operations(c->function->op);
  c->is_merged = true;
}

// True if something was inlined.
static bool inline_group(call_graph *g, caller *c, call_group *group) {
  c->order = group->callee->order;
  if (group->calls.size > 1) merge_identical(g->arena, c, group);
  if (group->calls.size > 1 && !c->is_merged) merge_equal(g, c);
  ir_operations calls = group->calls, left = {0};
  for (int i = 0; i < calls.size; i++) {
    if (should_inline(g, c, group, calls.data[i])) inline_call(g, c, calls.data[i], group->callee);
    else vec_push(g->arena, &left, calls.data[i]);
  }
  group->calls = left;
  if (left.size == calls.size) return false;
  c->is_merged = false;
  return true;
}

static bool inline_into(call_graph *g, function *f) {
  if (ir_is_null(f->op) || (f->call_count == 0 && !f->is_named)) return false;
  caller c = {.function = f, .order = f->order};
  for (int i = 0; i < f->calls.size; i++) add_call(g, &c, f->calls.data[i]);
  bool changed = false;
  while (c.waiting.size > 0) changed |= inline_group(g, &c, heap_pop(&c));
  f->calls = ir_collect(g->arena, f->op, "xla_gpu.pure_call");
  return changed;
}

// --- the pass

static bool has_no_grid(lower_context *c, MlirOperation module) {
  MlirAttribute target = ir_get(module, "xla.target");
  if (mlirAttributeIsNull(target) || !mlirAttributeIsAString(target)) return !c->options->target.has_grid;
  return !mlirStringRefEqual(mlirStringAttrGetValue(target), mlirStringRefCreateFromCString("nvptx"));
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  call_graph g = {.arena = c->scratch,
                  .session = c->session,
                  .is_aggressive = has_no_grid(c, module),
                  .limits = &c->options->target.code};
  bool changed = true;
  for (int round = 0; changed && round < MAX_ROUNDS; round++) {
    changed = false;
    build_graph(&g, module);
    int count = g.callees_first.size;
    for (int i = 0; i < count; i++) g.callees_first.data[i]->order = count - 1 - i;
    for (int i = count - 1; i >= 0; i--) changed |= inline_into(&g, g.callees_first.data[i]);
  }
  lower_session_run(c->session, "symbol-dce", module);
  return ir_diagnostics(c->context, HEDDLE_INTERNAL, "merging equal calls");
}

const pass lower_inliner = {
    .name = "xla-inliner",
    .summary = "inlines pure calls where that does not multiply code",
    .order_reason = "once functions are small; all passes behind it work on larger pieces",
    .use = PASS_IMPROVES,
    .run = run,
};
