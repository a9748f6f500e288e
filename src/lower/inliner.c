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
// Functions are visited callees first, so a body that moves up has already taken in what it calls; a round that changes
// something is followed by another one, since a call that was one of two may have become the only one.
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Pass.h>

#include "base/map.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"

#define MAX_OPERATIONS 4000
#define MAX_ROUNDS 16

typedef struct function {
  MlirOperation op;
  int operation_count;
  int caller_count;  // functions that call it
  bool is_visited, is_done;
  ir_operations calls;  // when the round began
} function;

typedef struct call_graph {
  arena *arena;
  bool is_aggressive;
  MlirPassManager cse;
  str_map by_name;
  VEC(function *) all;
  VEC(function *) callees_first;
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

static void count_callers(call_graph *g, function *caller) {
  ptr_map seen = {0};
  for (int i = 0; i < caller->calls.size; i++) {
    function *callee = callee_of(g, caller->calls.data[i]);
    if (!callee || ptr_map_has(&seen, callee)) continue;
    ptr_map_put(g->arena, &seen, callee, callee);
    callee->caller_count++;
  }
}

// Depth first with a stack of our own: chains of functions are as long as the user's program.
static void order_from(call_graph *g, function *root) {
  VEC(function *) stack = {0};
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
  ir_operations functions = ir_collect(g->arena, module, "func.func");
  for (int i = 0; i < functions.size; i++) {
    function *f = arena_new(g->arena, function);
    f->op = functions.data[i];
    f->calls = ir_collect(g->arena, f->op, "xla_gpu.pure_call");
    f->operation_count = count_operations(f->op);
    str_map_put(g->arena, &g->by_name, ir_symbol(f->op), f);
    vec_push(g->arena, &g->all, f);
  }
  for (int i = 0; i < g->all.size; i++) count_callers(g, g->all.data[i]);
  for (int i = 0; i < g->all.size; i++) order_from(g, g->all.data[i]);
}

// --- the rules

static bool calls(call_graph *g, const function *caller, const function *callee) {
  for (int i = 0; i < caller->calls.size; i++) {
    if (callee_of(g, caller->calls.data[i]) == callee) return true;
  }
  return false;
}

static bool share_a_callee(call_graph *g, const function *caller, const function *callee) {
  ptr_map called = {0};
  for (int i = 0; i < caller->calls.size; i++) {
    function *third = callee_of(g, caller->calls.data[i]);
    if (third) ptr_map_put(g->arena, &called, third, third);
  }
  for (int i = 0; i < callee->calls.size; i++) {
    function *third = callee_of(g, callee->calls.data[i]);
    if (third && ptr_map_has(&called, third)) return true;
  }
  return false;
}

static bool has_one_block(MlirOperation function_op) {
  MlirBlock first = ir_body(function_op, 0);
  return !mlirBlockIsNull(first) && mlirBlockIsNull(mlirBlockGetNextInRegion(first));
}

static bool should_inline(call_graph *g, MlirOperation call, const function *caller, const function *callee,
                          int calls_of_callee) {
  if (!callee || callee == caller || !has_one_block(callee->op) || calls(g, callee, callee)) return false;
  if (!mlirAttributeIsNull(ir_get(call, "noinline"))) return false;
  if (!mlirAttributeIsNull(ir_get(callee->op, "no_compute"))) return true;
  if (calls_of_callee > 1) return false;
  if (callee->operation_count + caller->operation_count > MAX_OPERATIONS) return false;
  if (g->is_aggressive) return true;
  return callee->caller_count == 1 || share_a_callee(g, caller, callee);
}

// --- the rewriting

static void inline_call(call_graph *g, MlirOperation call, const function *callee) {
  MlirOperation copy = mlirOperationClone(callee->op);
  int count = (int)mlirOperationGetNumOperands(call);
  MlirValue *arguments = arena_array(g->arena, MlirValue, count);
  for (int i = 0; i < count; i++) arguments[i] = ir_operand(call, i);
  ir_values results = ir_inline_block(g->arena, ir_body(copy, 0), call, arguments);
  ir_replace(call, results.data);
  mlirOperationDestroy(copy);
}

static bool inline_into(call_graph *g, function *caller) {
  ptr_map counts = {0};
  for (int i = 0; i < caller->calls.size; i++) {
    function *callee = callee_of(g, caller->calls.data[i]);
    if (!callee) continue;
    intptr_t count = (intptr_t)ptr_map_get(&counts, callee) + 1;
    ptr_map_put(g->arena, &counts, callee, (void *)count);
  }
  bool changed = false;
  for (int i = 0; i < caller->calls.size; i++) {
    function *callee = callee_of(g, caller->calls.data[i]);
    int calls_of_callee = callee ? (int)(intptr_t)ptr_map_get(&counts, callee) : 0;
    if (!should_inline(g, caller->calls.data[i], caller, callee, calls_of_callee)) continue;
    inline_call(g, caller->calls.data[i], callee);
    caller->operation_count += callee->operation_count;
    changed = true;
  }
  if (!changed) return false;
  // Merging what the bodies have in common keeps chains that reuse their levels (f(n) = f(n-1) + f(n-2)) from doubling.
  mlirPassManagerRunOnOp(g->cse, caller->op);
  caller->operation_count = count_operations(caller->op);
  caller->calls = ir_collect(g->arena, caller->op, "xla_gpu.pure_call");
  return true;
}

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
    for (int i = 0; i < g.callees_first.size; i++) changed |= inline_into(&g, g.callees_first.data[i]);
  }
  mlirPassManagerDestroy(g.cse);
  MlirPassManager dce = lower_upstream_manager(c->context, "builtin.module", "symbol-dce");
  mlirPassManagerRunOnOp(dce, module);
  mlirPassManagerDestroy(dce);
  return ir_diagnostics(c->context, HEDDLE_INTERNAL, "common subexpression elimination");
}

const lower_pass lower_inliner = {"xla-inliner", "inlines pure calls where that does not multiply code", run, 0};
