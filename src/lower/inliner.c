// xla-inliner: replaces pure calls by the bodies of what they call, where that does not multiply code.
//
// Why: the partitioner puts code used at several places into functions; once loops and other functions are known, most
// of these have one caller left, and everything that follows (common subexpressions, vectorization) sees one function
// at a time only. Inlining every call makes code exponential in the depth of the calls, inlining none makes run time
// so, when the levels of a chain call each other more than once. The rules, in order:
//   `noinline` on the call: no. `no_compute` on the callee: yes. Two or more calls of the callee in this caller: no
//   (their arguments differ, else they would be one call by now; each would get a copy). Together above 4000
//   operations: no. CPU: yes. GPU: if the callee has no other caller, or if caller and callee both call one third
//   function (whose calls may then become one).
// Functions are visited callers first: a body moves up at most once, and what it calls is looked at where it has
// arrived. Visiting callees first would copy the bottom of a long chain once per level. Calls that meet in one function
// with equal arguments are merged (by MLIR's cse) as soon as one of them would be refused for not being the only one.
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Pass.h>

#include "base/map.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"

#define MAX_OPERATIONS 4000
#define MAX_ROUNDS 16

typedef struct function {
  MlirOperation op;  // null once its body has moved into its only caller
  int operation_count;
  int call_count;  // pure calls of it in the whole module
  bool is_named;   // public, or named by something else than a pure call: must stay
  bool is_visited, is_done;
  ir_operations calls;  // in its body, when the round began
} function;

typedef VEC(function *) functions;

typedef struct call_graph {
  arena *arena;
  bool is_aggressive;
  MlirPassManager cse;
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
    for (int i = 0; i < ops.size; i++) {
      MlirStringRef name = mlirFlatSymbolRefAttrGetValue(ir_get(ops.data[i], references[k].attribute));
      function *f = str_map_get(&g->by_name, (str){name.data, name.length});
      if (f) f->is_named = true;
    }
  }
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

typedef struct caller {
  function *function;
  ptr_map counts;     // callee -> its calls in this function
  functions callees;  // those it ever called
  ir_operations waiting;
  bool has_repeated;  // some callee is called more than once
} caller;

static int calls_of(const caller *c, const function *callee) { return (int)(intptr_t)ptr_map_get(&c->counts, callee); }

static void add_calls(call_graph *g, caller *c, function *callee, int change) {
  intptr_t count = calls_of(c, callee) + change;
  if (!ptr_map_has(&c->counts, callee)) vec_push(g->arena, &c->callees, callee);
  ptr_map_put(g->arena, &c->counts, callee, (void *)count);
  callee->call_count += change;
}

static bool shares_a_callee(call_graph *g, const caller *c, const function *callee) {
  for (int i = 0; i < callee->calls.size; i++) {
    const function *third = callee_of(g, callee->calls.data[i]);
    if (third && calls_of(c, third) > 0) return true;
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

static bool should_inline(call_graph *g, const caller *c, MlirOperation call, const function *callee) {
  if (callee == c->function || ir_is_null(callee->op) || !has_one_block(callee->op) || calls_itself(g, callee))
    return false;
  if (!mlirAttributeIsNull(ir_get(call, "noinline"))) return false;
  if (!mlirAttributeIsNull(ir_get(callee->op, "no_compute"))) return true;
  if (calls_of(c, callee) > 1) return false;
  if (callee->operation_count + c->function->operation_count > MAX_OPERATIONS) return false;
  if (g->is_aggressive) return true;
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

  add_calls(g, c, callee, -1);
  for (int i = 0; i < calls.size; i++) {
    function *next = callee_of(g, calls.data[i]);
    if (!next) continue;
    add_calls(g, c, next, 1);
    if (is_last) next->call_count--;  // it has moved, not multiplied
    vec_push(g->arena, &c->waiting, calls.data[i]);
  }
  c->function->operation_count += callee->operation_count;
  if (is_last) callee->op = (MlirOperation){0};
}

// Looks at the calls of one function as they are now; true if something was inlined.
static bool inline_waiting(call_graph *g, caller *c) {
  bool changed = false;
  for (int i = 0; i < c->waiting.size; i++) {
    MlirOperation call = c->waiting.data[i];
    function *callee = callee_of(g, call);
    if (!callee) continue;
    c->has_repeated |= calls_of(c, callee) > 1;
    if (!should_inline(g, c, call, callee)) continue;
    inline_call(g, c, call, callee);
    changed = true;
  }
  return changed;
}

// Merges equal calls. True if there are fewer calls than before, so that a refused one may now be the only one.
static bool merge_calls(call_graph *g, caller *c) {
  int before = 0, after = 0;
  for (int i = 0; i < c->callees.size; i++) {
    int count = calls_of(c, c->callees.data[i]);
    before += count;
    add_calls(g, c, c->callees.data[i], -count);
  }
  mlirPassManagerRunOnOp(g->cse, c->function->op);
  c->waiting = ir_collect(g->arena, c->function->op, "xla_gpu.pure_call");
  for (int i = 0; i < c->waiting.size; i++) {
    function *callee = callee_of(g, c->waiting.data[i]);
    if (!callee) continue;
    add_calls(g, c, callee, 1);
    after++;
  }
  c->function->operation_count = count_operations(c->function->op);
  c->has_repeated = false;
  return after < before;
}

static bool inline_into(call_graph *g, function *f) {
  if (ir_is_null(f->op) || (f->call_count == 0 && !f->is_named)) return false;
  caller c = {.function = f};
  for (int i = 0; i < f->calls.size; i++) {
    function *callee = callee_of(g, f->calls.data[i]);
    if (!callee) continue;
    add_calls(g, &c, callee, 1);
    callee->call_count--;  // build_graph has counted it
    vec_push(g->arena, &c.waiting, f->calls.data[i]);
  }
  bool changed = false;
  do {
    changed |= inline_waiting(g, &c);
  } while (c.has_repeated && merge_calls(g, &c));
  f->calls = ir_collect(g->arena, f->op, "xla_gpu.pure_call");
  return changed;
}

// --- the pass

static bool is_cpu(lower_context *c, MlirOperation module) {
  MlirAttribute target = ir_get(module, "xla.target");
  if (mlirAttributeIsNull(target) || !mlirAttributeIsAString(target)) return c->options->target == LOWER_CPU;
  return mlirStringRefEqual(mlirStringAttrGetValue(target), mlirStringRefCreateFromCString("cpu"));
}

static heddle_status run(lower_context *c, MlirOperation module) {
  call_graph g = {.arena = c->scratch, .is_aggressive = is_cpu(c, module)};
  g.cse = lower_upstream_manager(c->context, "func.func", "cse");
  bool changed = true;
  for (int round = 0; changed && round < MAX_ROUNDS; round++) {
    changed = false;
    build_graph(&g, module);
    for (int i = g.callees_first.size - 1; i >= 0; i--) changed |= inline_into(&g, g.callees_first.data[i]);
  }
  mlirPassManagerDestroy(g.cse);
  MlirPassManager dce = lower_upstream_manager(c->context, "builtin.module", "symbol-dce");
  mlirPassManagerRunOnOp(dce, module);
  mlirPassManagerDestroy(dce);
  return ir_diagnostics(c->context, HEDDLE_INTERNAL, "merging equal calls");
}

const lower_pass lower_inliner = {
    .name = "xla-inliner",
    .summary = "inlines pure calls where that does not multiply code",
    .run = run,
};
