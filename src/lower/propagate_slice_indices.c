// xla-gpu-propagate-slice-indices: what is known about the entry's tensor arguments goes to the functions it calls.
//
// Why: only the entry's arguments say which buffer slice they are, how it is aligned, and that nothing writes it; loads
// happen in callees too. An argument passed straight through is the same buffer. A callee reached with different
// buffers for one argument keeps nothing: what holds for one of them must not be promised for the other.
#include <mlir-c/BuiltinAttributes.h>

#include "base/map.h"
#include "emit/ir_builder.h"
#include "lower/passes.h"

static const char *const names[] = {"xla.slice_index", "llvm.align", "llvm.dereferenceable", "xla.invariant"};
enum { NAME_COUNT = sizeof names / sizeof *names };

// What is known about one argument of a function.
typedef struct facts {
  MlirAttribute values[NAME_COUNT];
} facts;

typedef struct function {
  MlirOperation op;
  facts *arguments;
  int argument_count;
  int waiting;  // call operations that have not been looked at yet
  bool is_entry, is_reached;
  ir_operations calls;
} function;

typedef struct propagation {
  arena *arena;
  str_map by_name;
  VEC(function *) all;
} propagation;

static function *callee_of(propagation *p, MlirOperation call) {
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(ir_get(call, "callee"));
  return str_map_get(&p->by_name, (str){name.data, name.length});
}

static void add_function(propagation *p, MlirOperation op) {
  function *f = arena_new(p->arena, function);
  f->op = op;
  f->is_entry = !mlirAttributeIsNull(ir_get(op, "xla.entry"));
  MlirType type = mlirTypeAttrGetValue(ir_get(op, "function_type"));
  f->argument_count = (int)mlirFunctionTypeGetNumInputs(type);
  f->arguments = arena_array(p->arena, facts, f->argument_count);
  for (int i = 0; i < f->argument_count; i++) {
    for (int k = 0; k < NAME_COUNT; k++) f->arguments[i].values[k] = ir_argument_attribute(op, i, names[k]);
    f->is_entry |= !mlirAttributeIsNull(f->arguments[i].values[0]);
  }
  f->calls = ir_collect(p->arena, op, "xla_gpu.pure_call");
  ir_operations plain = ir_collect(p->arena, op, "func.call");
  for (int i = 0; i < plain.size; i++) vec_push(p->arena, &f->calls, plain.data[i]);
  str_map_put(p->arena, &p->by_name, ir_symbol(op), f);
  vec_push(p->arena, &p->all, f);
}

// The argument of `caller` that a value is; -1 if it is none.
static int argument_number(const function *caller, MlirValue v) {
  if (!mlirValueIsABlockArgument(v)) return -1;
  if (!mlirBlockEqual(mlirBlockArgumentGetOwner(v), ir_body(caller->op, 0))) return -1;
  return (int)mlirBlockArgumentGetArgNumber(v);
}

static void pass_on(const function *caller, MlirOperation call, function *callee) {
  for (int i = 0; i < callee->argument_count; i++) {
    int number = argument_number(caller, ir_operand(call, i));
    facts given = {0};
    if (number >= 0) given = caller->arguments[number];
    for (int k = 0; k < NAME_COUNT; k++) {
      MlirAttribute *known = &callee->arguments[i].values[k];
      if (!callee->is_reached) {
        *known = given.values[k];
      } else if (!mlirAttributeEqual(*known, given.values[k])) {
        *known = mlirAttributeGetNull();
      }
    }
  }
  callee->is_reached = true;
}

static void store(const function *f) {
  for (int i = 0; i < f->argument_count; i++) {
    for (int k = 0; k < NAME_COUNT; k++) {
      MlirAttribute value = f->arguments[i].values[k];
      if (!mlirAttributeIsNull(value)) ir_set_argument_attribute(f->op, i, names[k], value);
    }
  }
}

// Callers first: a function passes on what it knows once all its callers have spoken. Functions that call each other in
// a circle are never ready and learn nothing.
static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  propagation p = {.arena = c->scratch};
  ir_operations functions = ir_collect(c->scratch, module, "func.func");
  for (int i = 0; i < functions.size; i++) add_function(&p, functions.data[i]);
  for (int i = 0; i < p.all.size; i++) {
    for (int k = 0; k < p.all.data[i]->calls.size; k++) {
      function *callee = callee_of(&p, p.all.data[i]->calls.data[k]);
      if (callee) callee->waiting++;
    }
  }
  VEC(function *) ready = {0};
  for (int i = 0; i < p.all.size; i++) {
    if (p.all.data[i]->waiting == 0) vec_push(c->scratch, &ready, p.all.data[i]);
  }
  while (ready.size > 0) {
    function *f = vec_pop(&ready);
    if (!f->is_entry) store(f);
    for (int k = 0; k < f->calls.size; k++) {
      function *callee = callee_of(&p, f->calls.data[k]);
      if (!callee) continue;
      if (!callee->is_entry) pass_on(f, f->calls.data[k], callee);
      if (--callee->waiting == 0) vec_push(c->scratch, &ready, callee);
    }
  }
  return status_ok();
}

const pass lower_propagate_slice_indices = {
    .name = "xla-gpu-propagate-slice-indices",
    .summary = "buffer slices, alignment and invariance from the entry's arguments to callees'",
    .order_reason = "while the entry's arguments are still passed straight through to callees",
    .use = PASS_NEEDED,
    .run = run,
};
