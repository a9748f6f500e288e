#include "lower/spirv_turns.h"

#include <mlir-c/BuiltinAttributes.h>

enum { MOST_TURNS = 65535, MOST_COPIES = 64 };

typedef struct planning {
  arena *arena;
  const ir_operations *functions;
  ptr_map *steps;
  ptr_map calls;       // double by function: the turns of one execution, once they are known
  bool is_certain;     // loops that do not begin with a constant count as one step
  MlirOperation most;  // the loop that makes most turns of those that can make fewer; null: none
  double most_turns;
} planning;

// An upper bound, since what is no constant at the beginning is an index; exact if *is_exact. Loops whose end is no
// constant have one step here.
static int64_t steps_of(MlirOperation loop, bool *is_exact) {
  int64_t lower = 0, upper, step;
  *is_exact = false;
  if (!ir_constant_value(ir_operand(loop, 1), &upper) || !ir_constant_value(ir_operand(loop, 2), &step) || step < 1)
    return 1;
  *is_exact = ir_constant_value(ir_operand(loop, 0), &lower);
  if (!*is_exact) lower = 0;
  return lower < upper ? (upper - lower - 1) / step + 1 : 0;
}

static int chosen_steps(const ptr_map *steps, MlirOperation loop) {
  const void *found = ptr_map_get(steps, loop.ptr);
  return found ? (int)(intptr_t)found : 1;
}

int spirv_turns_steps(const ptr_map *steps, MlirOperation loop, bool *has_turns) {
  bool is_exact;
  const int chosen = chosen_steps(steps, loop);
  const int64_t all = steps_of(loop, &is_exact);
  *has_turns = !(chosen > 1 && is_exact && chosen == all);
  return chosen;
}

static double turns_of_block(planning *p, MlirBlock block, double executions);

// Invocations that meet within a loop do so in each of its turns.
static bool has_meeting(MlirOperation op) {
  if (ir_is(op, "gpu.barrier") || ir_is(op, "gpu.shuffle")) return true;
  for (int k = 0; k < (int)mlirOperationGetNumRegions(op); k++) {
    const MlirBlock body = ir_body(op, k);
    if (mlirBlockIsNull(body)) continue;
    for (MlirOperation in = mlirBlockGetFirstOperation(body); !ir_is_null(in); in = mlirOperationGetNextInBlock(in))
      if (has_meeting(in)) return true;
  }
  return false;
}

// The device counts the turn that finds the end, too.
static double turns_of_loop(planning *p, MlirOperation loop, double executions) {
  bool is_exact, has_turns;
  const int64_t all = steps_of(loop, &is_exact), steps = spirv_turns_steps(p->steps, loop, &has_turns);
  const int64_t counted = is_exact || !p->is_certain ? all : 1;
  const int64_t whole = (counted + steps - 1) / steps + 1;
  const double turns = has_turns ? (double)whole : 0;
  if (executions * turns > p->most_turns && steps < all && !has_meeting(loop)) {
    p->most = loop;
    p->most_turns = executions * turns;
  }
  return turns + (double)counted * turns_of_block(p, ir_body(loop, 0), executions * (double)counted);
}

// A function is looked into once, for its first call.
static double turns_of_function(planning *p, MlirOperation function, double executions) {
  const double *known = ptr_map_get(&p->calls, function.ptr);
  if (known) return *known;
  double *turns = arena_new(p->arena, double);
  *turns = turns_of_block(p, ir_body(function, 0), executions);
  ptr_map_put(p->arena, &p->calls, function.ptr, turns);
  return *turns;
}

static double turns_of_call(planning *p, MlirOperation call, double executions) {
  const MlirStringRef name = mlirFlatSymbolRefAttrGetValue(ir_get(call, "callee"));
  for (int i = 0; i < p->functions->size; i++) {
    const MlirOperation function = p->functions->data[i];
    if (!mlirBlockIsNull(ir_body(function, 0)) && str_equal(ir_symbol(function), (str){name.data, name.length}))
      return turns_of_function(p, function, executions);
  }
  return 0;
}

static double turns_of(planning *p, MlirOperation op, double executions) {
  if (ir_is(op, "scf.for")) return turns_of_loop(p, op, executions);
  if (ir_is(op, "func.call")) return turns_of_call(p, op, executions);
  double sum = 0;
  for (int k = 0; k < (int)mlirOperationGetNumRegions(op); k++)
    if (!mlirBlockIsNull(ir_body(op, k))) sum += turns_of_block(p, ir_body(op, k), executions);
  return sum;
}

// Of one execution.
static double turns_of_block(planning *p, MlirBlock block, double executions) {
  double sum = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !ir_is_null(op); op = mlirOperationGetNextInBlock(op))
    sum += turns_of(p, op, executions);
  return sum;
}

static double all_turns(planning *p, MlirOperation entry, bool is_certain) {
  p->is_certain = is_certain;
  p->most = (MlirOperation){NULL};
  p->most_turns = 0;
  p->calls = (ptr_map){0};
  return turns_of_block(p, ir_body(entry, 0), 1);
}

heddle_status spirv_turns_plan(arena *a, const ir_operations *functions, MlirOperation entry, ptr_map *steps) {
  planning p = {.arena = a, .functions = functions, .steps = steps};
  int64_t copies = 1;
  while (all_turns(&p, entry, false) > MOST_TURNS && !ir_is_null(p.most)) {
    bool is_exact;
    const int64_t now = chosen_steps(steps, p.most), all = steps_of(p.most, &is_exact),
                  more = 2 * now < all ? 2 * now : all;
    copies = copies / now * more;
    if (copies > MOST_COPIES) break;
    ptr_map_put(a, steps, p.most.ptr, (void *)(intptr_t)more);  // NOLINT(performance-no-int-to-ptr): maps hold numbers
  }
  const double turns = all_turns(&p, entry, true);
  return turns > MOST_TURNS
             ? status_error(HEDDLE_UNIMPLEMENTED,
                            "each invocation of the kernel makes %.0f turns of loops, of which there are devices that "
                            "make no more than %d",
                            turns, MOST_TURNS)
             : status_ok();
}
