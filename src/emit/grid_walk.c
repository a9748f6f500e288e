// The entry function is decoded once into a tree of steps whose values have numbers; a thread is a walk over the tree.
// Tensors have no values here, only the output that they stand for, which follows from where they come from.
#include "emit/grid_walk.h"

#include "base/int64.h"
#include "dialect/xla_gpu.h"
#include "emit/emit.h"
#include "emit/ir_builder.h"

typedef struct step step;
typedef struct walker walker;
typedef VEC(step *) steps;
typedef heddle_status (*step_fn)(walker *w, const step *s);

struct step {
  step_fn run;
  int operand_count, result_count;
  const int *operands, *results;  // numbers of values
  int64_t constant;               // a constant's value, or a comparison's predicate
  const indexing_map *map;        // of a loop or an application
  int number;                     // of the launch id, the function or the output
  int first_index, index_count;   // among the operands; of a call's or store's indices
  int lanes;                      // of a store
  int region_count;
  steps *regions;
  const int *const *arguments;  // by region: numbers of the block's arguments
  int64_t *cases;               // of a switch
};

typedef struct value {
  bool is_known;
  int64_t of;
} value;

struct walker {
  arena *arena;
  const kernel_plan *kernel;
  const partition *functions;
  grid_visit_fn visit;
  void *context;
  ptr_map numbers;  // MlirValue -> its number plus one
  int value_count;
  value *values;
  int64_t ids[3];  // thread, block x, block y
  int64_t taken;   // steps
};

// --- values

static int number_of(walker *w, MlirValue v) {
  const intptr_t known = (intptr_t)ptr_map_get(&w->numbers, v.ptr);
  if (known) return (int)known - 1;
  ptr_map_put(w->arena, &w->numbers, v.ptr, (void *)(intptr_t)(w->value_count + 1));
  return w->value_count++;
}

static value get(const walker *w, const step *s, int operand) { return w->values[s->operands[operand]]; }

static void set(walker *w, const step *s, int result, value v) { w->values[s->results[result]] = v; }

static void forget_results(walker *w, const step *s) {
  for (int r = 0; r < s->result_count; r++) set(w, s, r, (value){0});
}

// False if one of the operands is not known.
static bool get_all(const walker *w, const step *s, int first, int count, int64_t *out) {
  bool are_known = true;
  for (int i = 0; i < count; i++) {
    const value v = get(w, s, first + i);
    out[i] = v.of;
    are_known &= v.is_known;
  }
  return are_known;
}

// --- steps without regions

static heddle_status run_unknown(walker *w, const step *s) {
  forget_results(w, s);
  return status_ok();
}

static heddle_status run_constant(walker *w, const step *s) {
  set(w, s, 0, (value){true, s->constant});
  return status_ok();
}

static heddle_status run_id(walker *w, const step *s) {
  set(w, s, 0, (value){true, w->ids[s->number]});
  return status_ok();
}

enum { MAX_VARIABLES = 64 };

static heddle_status run_apply(walker *w, const step *s) {
  int64_t variables[MAX_VARIABLES], results[MAX_VARIABLES];
  if (!get_all(w, s, 0, s->operand_count, variables)) return run_unknown(w, s);
  indexing_map_evaluate(s->map, variables, variables + s->map->dim_count, results);
  for (int r = 0; r < s->result_count; r++) set(w, s, r, (value){true, results[r]});
  return status_ok();
}

static heddle_status run_copy(walker *w, const step *s) {
  set(w, s, 0, get(w, s, 0));
  return status_ok();
}

#define BINARY(name, expression)                              \
  static heddle_status run_##name(walker *w, const step *s) { \
    int64_t v[2];                                             \
    if (!get_all(w, s, 0, 2, v)) return run_unknown(w, s);    \
    const int64_t x = v[0], y = v[1];                         \
    set(w, s, 0, (value){true, (int64_t)(expression)});       \
    return status_ok();                                       \
  }
BINARY(add, x + y)
BINARY(sub, x - y)
BINARY(mul, x *y)
BINARY(div, y ? x / y : 0)
BINARY(rem, y ? x % y : 0)
BINARY(min, x < y ? x : y)
BINARY(max, x < y ? y : x)
BINARY(and, x &y)
BINARY(or, x | y)
BINARY(xor, x ^ y)

// Indices are never negative, so both signs of a comparison mean the same.
static heddle_status run_compare(walker *w, const step *s) {
  int64_t v[2];
  if (!get_all(w, s, 0, 2, v)) return run_unknown(w, s);
  const int64_t x = v[0], y = v[1];
  const bool holds[] = {x == y, x != y, x<y, x <= y, x> y, x >= y, x<y, x <= y, x> y, x >= y};
  set(w, s, 0, (value){true, holds[s->constant]});
  return status_ok();
}

static heddle_status run_select(walker *w, const step *s) {
  const value condition = get(w, s, 0);
  if (!condition.is_known) return run_unknown(w, s);
  set(w, s, 0, get(w, s, condition.of ? 1 : 2));
  return status_ok();
}

// --- events

static heddle_status run_event(walker *w, const step *s, grid_event_kind kind) {
  int64_t indices[MAX_VARIABLES];
  const bool are_known = get_all(w, s, s->first_index, s->index_count, indices);
  forget_results(w, s);
  grid_event event = {kind, s->number, s->index_count, are_known ? indices : NULL};
  for (int lane = 0; lane < s->lanes; lane++) {
    TRY(w->visit(w->context, &event));
    if (s->index_count > 0) indices[s->index_count - 1]++;
  }
  return status_ok();
}

static heddle_status run_call(walker *w, const step *s) { return run_event(w, s, GRID_CALL); }
static heddle_status run_store(walker *w, const step *s) { return run_event(w, s, GRID_STORE); }

// --- steps with regions

static heddle_status run_steps(walker *w, const steps *list) {
  w->taken += list->size;
  if (w->taken > GRID_WALK_MAX_STEPS)
    return status_error(HEDDLE_UNIMPLEMENTED, "kernel @%s takes too many steps to be walked", w->kernel->name);
  for (int i = 0; i < list->size; i++) TRY(list->data[i]->run(w, list->data[i]));
  return status_ok();
}

static heddle_status run_all_regions(walker *w, const step *s) {
  forget_results(w, s);
  for (int r = 0; r < s->region_count; r++) TRY(run_steps(w, &s->regions[r]));
  return status_ok();
}

static heddle_status run_if(walker *w, const step *s) {
  const value condition = get(w, s, 0);
  if (!condition.is_known) return run_all_regions(w, s);
  forget_results(w, s);
  return run_steps(w, &s->regions[condition.of ? 0 : 1]);
}

// Region 0 is the default.
static heddle_status run_switch(walker *w, const step *s) {
  const value chosen = get(w, s, 0);
  if (!chosen.is_known) return run_all_regions(w, s);
  forget_results(w, s);
  int region = 0;
  for (int r = 1; r < s->region_count; r++)
    if (s->cases[r - 1] == chosen.of) region = r;
  return run_steps(w, &s->regions[region]);
}

static heddle_status run_for(walker *w, const step *s) {
  int64_t bounds[3];
  const bool are_known = get_all(w, s, 0, 3, bounds) && bounds[2] > 0;
  forget_results(w, s);
  w->values[s->arguments[0][0]] = (value){0};
  if (!are_known) return run_steps(w, &s->regions[0]);
  for (int64_t i = bounds[0]; i < bounds[1]; i += bounds[2]) {
    w->values[s->arguments[0][0]] = (value){true, i};
    TRY(run_steps(w, &s->regions[0]));
  }
  return status_ok();
}

static heddle_status run_point(walker *w, const step *s, const int64_t *dims, const int64_t *ranges) {
  const indexing_map *m = s->map;
  int64_t results[MAX_VARIABLES];
  if (!indexing_map_contains(m, dims, ranges)) return status_ok();
  indexing_map_evaluate(m, dims, ranges, results);
  for (int r = 0; r < m->range_count; r++) w->values[s->arguments[0][r]] = (value){true, ranges[r]};
  for (int r = 0; r < m->result_count; r++) w->values[s->arguments[0][m->range_count + r]] = (value){true, results[r]};
  return run_steps(w, &s->regions[0]);
}

static heddle_status run_loop(walker *w, const step *s) {
  const indexing_map *m = s->map;
  int64_t dims[MAX_VARIABLES], ranges[MAX_VARIABLES];
  forget_results(w, s);
  if (m->is_empty) return status_ok();
  if (!get_all(w, s, 0, m->dim_count, dims)) {
    for (int r = 0; r < m->range_count + m->result_count; r++) w->values[s->arguments[0][r]] = (value){0};
    return run_steps(w, &s->regions[0]);
  }
  for (int r = 0; r < m->range_count; r++) ranges[r] = m->ranges[r].bounds.lower;
  for (int r = 0; r >= 0;) {
    TRY(run_point(w, s, dims, ranges));
    for (r = m->range_count - 1; r >= 0 && ranges[r]++ == m->ranges[r].bounds.upper; r--)
      ranges[r] = m->ranges[r].bounds.lower;
  }
  return status_ok();
}

// --- decoding

// The entry's argument that a tensor stands for; -1 for memory of the block's own.
static int argument_of(MlirValue v) {
  for (;;) {
    if (mlirValueIsABlockArgument(v)) {
      const MlirBlock block = mlirBlockArgumentGetOwner(v);
      const MlirOperation owner = mlirBlockGetParentOperation(block);
      const int number = (int)mlirBlockArgumentGetArgNumber(v);
      const int carried = (int)mlirOperationGetNumResults(owner), arguments = (int)mlirBlockGetNumArguments(block);
      if (ir_is(owner, "func.func")) return number;
      v = ir_operand(owner, (int)mlirOperationGetNumOperands(owner) - (arguments - number));
      if (arguments - number > carried) return -1;
      continue;
    }
    const MlirOperation op = ir_defining_op(v);
    const int number = (int)mlirOpResultGetResultNumber(v), operands = (int)mlirOperationGetNumOperands(op);
    if (ir_is(op, "tensor.insert") || ir_is(op, "vector.transfer_write") || ir_is(op, "xla_gpu.predicated_insert"))
      v = ir_operand(op, 1);
    else if (ir_is(op, "xla_gpu.atomic_rmw")) v = ir_operand(op, 0);
    else if (ir_is(op, "xla_gpu.sync_threads")) v = ir_operand(op, number);
    else if (ir_is(op, "scf.if") || ir_is(op, "scf.index_switch"))
      v = ir_operand(ir_terminator(ir_body(op, 0)), number);
    else if (ir_is(op, "scf.for") || ir_is(op, "scf.while") || ir_is(op, "xla_gpu.loop"))
      v = ir_operand(op, operands - (int)mlirOperationGetNumResults(op) + number);
    else return -1;
  }
}

static void decode_constant(walker *w, MlirOperation op, step *s) {
  (void)w;
  if (!ir_constant_value(ir_result(op, 0), &s->constant)) s->run = run_unknown;
}

static void decode_id(walker *w, MlirOperation op, step *s) {
  const bool is_block = ir_is(op, "gpu.block_id");
  const char *dimension = ir_operation_text(w->arena, op);
  s->number = is_block ? (strstr(dimension, "block_id  y") ? 2 : 1) : 0;
}

static void decode_map(walker *w, MlirOperation op, step *s) {
  (void)w;
  s->map = xla_gpu_indexing_map(ir_get(op, "map"));
}

static void decode_compare(walker *w, MlirOperation op, step *s) {
  (void)w;
  s->constant = mlirIntegerAttrGetValueInt(ir_get(op, "predicate"));
}

static void decode_switch(walker *w, MlirOperation op, step *s) {
  const MlirAttribute cases = ir_get(op, "cases");
  s->cases = arena_array(w->arena, int64_t, s->region_count);
  for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(cases); i++)
    s->cases[i] = mlirDenseI64ArrayGetElement(cases, i);
}

// Only calls of the partition's functions are events, whose indices follow the computation's parameters.
static void decode_call(walker *w, MlirOperation op, step *s) {
  const MlirStringRef callee = mlirFlatSymbolRefAttrGetValue(ir_get(op, "callee"));
  s->run = run_unknown;
  for (int f = 0; f < w->functions->function_count; f++) {
    const partition_function *function = w->functions->functions[f];
    if (!str_is((str){callee.data, callee.length}, function->name)) continue;
    s->run = run_call;
    s->number = f;
    s->first_index = function->computation == w->kernel->computation ? w->kernel->input_count
                                                                     : function->computation->parameters.size;
    s->index_count = function->index_space ? function->index_space->rank : 0;
    s->lanes = 1;
  }
}

static void decode_store_of(walker *w, MlirOperation op, step *s, int tensor, int lanes) {
  const MlirValue to = ir_operand(op, tensor);
  const int output = argument_of(to) - w->kernel->input_count;
  s->run = output >= 0 ? run_store : run_unknown;
  s->number = output;
  s->first_index = tensor + 1;
  s->index_count = (int)mlirShapedTypeGetRank(mlirValueGetType(to));
  s->lanes = lanes;
}

static void decode_store(walker *w, MlirOperation op, step *s) { decode_store_of(w, op, s, 1, 1); }
static void decode_atomic(walker *w, MlirOperation op, step *s) { decode_store_of(w, op, s, 0, 1); }

static void decode_write(walker *w, MlirOperation op, step *s) {
  const MlirType vector = mlirValueGetType(ir_operand(op, 0));
  decode_store_of(w, op, s, 1, (int)mlirShapedTypeGetDimSize(vector, 0));
}

static const struct {
  const char *name;
  step_fn run;
  void (*decode)(walker *w, MlirOperation op, step *s);
} forms[] = {
    {"arith.constant", run_constant, decode_constant},
    {"gpu.thread_id", run_id, decode_id},
    {"gpu.block_id", run_id, decode_id},
    {"xla_gpu.apply_indexing", run_apply, decode_map},
    {"xla_gpu.loop", run_loop, decode_map},
    {"xla_gpu.pure_call", run_unknown, decode_call},
    {"xla_gpu.atomic_rmw", run_unknown, decode_atomic},
    {"xla_gpu.predicated_insert", run_unknown, decode_store},
    {"tensor.insert", run_unknown, decode_store},
    {"vector.transfer_write", run_unknown, decode_write},
    {"scf.if", run_if, NULL},
    {"scf.for", run_for, NULL},
    {"scf.while", run_all_regions, NULL},
    {"scf.index_switch", run_switch, decode_switch},
    {"arith.addi", run_add, NULL},
    {"arith.subi", run_sub, NULL},
    {"arith.muli", run_mul, NULL},
    {"arith.divui", run_div, NULL},
    {"arith.divsi", run_div, NULL},
    {"arith.remui", run_rem, NULL},
    {"arith.remsi", run_rem, NULL},
    {"arith.minui", run_min, NULL},
    {"arith.minsi", run_min, NULL},
    {"arith.maxui", run_max, NULL},
    {"arith.maxsi", run_max, NULL},
    {"arith.andi", run_and, NULL},
    {"arith.ori", run_or, NULL},
    {"arith.xori", run_xor, NULL},
    {"arith.cmpi", run_compare, decode_compare},
    {"arith.select", run_select, NULL},
    {"arith.index_cast", run_copy, NULL},
    {"arith.index_castui", run_copy, NULL},
};

static steps decode_block(walker *w, MlirBlock block);

static void decode_regions(walker *w, MlirOperation op, step *s) {
  s->region_count = (int)mlirOperationGetNumRegions(op);
  s->regions = arena_array(w->arena, steps, s->region_count);
  const int **arguments = arena_array(w->arena, const int *, s->region_count);
  for (int r = 0; r < s->region_count; r++) {
    const MlirBlock block = ir_body(op, r);
    if (mlirBlockIsNull(block)) continue;
    const int count = (int)mlirBlockGetNumArguments(block);
    int *numbers = arena_array(w->arena, int, count);
    for (int i = 0; i < count; i++) numbers[i] = number_of(w, mlirBlockGetArgument(block, i));
    arguments[r] = numbers;
    s->regions[r] = decode_block(w, block);
  }
  s->arguments = arguments;
}

static step *decode(walker *w, MlirOperation op) {
  step *s = arena_new(w->arena, step);
  s->run = run_unknown;
  s->operand_count = (int)mlirOperationGetNumOperands(op);
  s->result_count = (int)mlirOperationGetNumResults(op);
  int *operands = arena_array(w->arena, int, s->operand_count), *results = arena_array(w->arena, int, s->result_count);
  for (int i = 0; i < s->operand_count; i++) operands[i] = number_of(w, ir_operand(op, i));
  for (int i = 0; i < s->result_count; i++) results[i] = number_of(w, ir_result(op, i));
  s->operands = operands;
  s->results = results;
  for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
    if (!ir_is(op, forms[f].name)) continue;
    s->run = forms[f].run;
    decode_regions(w, op, s);
    if (forms[f].decode) forms[f].decode(w, op, s);
  }
  return s;
}

static steps decode_block(walker *w, MlirBlock block) {
  steps list = {0};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !ir_is_null(op); op = mlirOperationGetNextInBlock(op))
    vec_push(w->arena, &list, decode(w, op));
  return list;
}

// --- the grid

static heddle_status walk_threads(walker *w, const steps *entry) {
  const launch_plan *l = &w->kernel->launch;
  for (w->ids[2] = 0; w->ids[2] < int64_max(l->blocks_y, 1); w->ids[2]++)
    for (w->ids[1] = 0; w->ids[1] < l->blocks_x; w->ids[1]++)
      for (w->ids[0] = 0; w->ids[0] < l->threads; w->ids[0]++) TRY(run_steps(w, entry));
  return status_ok();
}

static heddle_status walk_module(walker *w, MlirModule m) {
  const MlirOperation entry = ir_find_function(mlirModuleGetOperation(m), w->kernel->name);
  const steps list = decode_block(w, ir_body(entry, 0));
  w->values = arena_array(w->arena, value, w->value_count);
  return walk_threads(w, &list);
}

heddle_status grid_walk(arena *a, const kernel_plan *kernel, const partition *functions,
                        const target_description *target, grid_visit_fn visit, void *context) {
  walker w = {.arena = a, .kernel = kernel, .functions = functions, .visit = visit, .context = context};
  MlirContext mlir = ir_context_create();
  MlirModule m;
  heddle_status status = emit_kernel(mlir, a, kernel, target, &m);
  if (status_is_ok(status)) {
    status = walk_module(&w, m);
    mlirModuleDestroy(m);
  }
  mlirContextDestroy(mlir);
  return status;
}
