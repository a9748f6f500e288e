// xla-lower-to-spirv: functions over pointers become a spirv.module whose entry Vulkan takes.
//
// Why not MLIR's conversions: they start from memrefs in the places that a descriptor has, each of one type, and hand
// results of structured control flow on in ways that their own serializer refuses. Here pointers are addresses, every
// value is a list of scalars (spirv_values.h), and what a loop or a branch carries is a variable of the function, which
// every driver turns into registers.
//
// The entry takes its buffers' addresses as push constants, of which every device has 128 bytes; more than 16 lie in
// memory behind the one address that is pushed (SPIRV_PUSHED_MOST, which the runtime knows, too: rt/vulkan_program.c).
//
// Invocations exchange values (gpu.shuffle) through memory of the workgroup. All of them have to get there together
// (split_exchanges.c), which is checked.
//
// A kernel becomes several modules where devices differ in what they have, the best first (spirv_form). In the form for
// subgroups an invocation's number is made of its subgroup's and its own there, as nothing else says which of the
// workgroup's invocations make a subgroup, and each exchange asks whether its partners are within one: the size is a
// constant that is known when a pipeline is made. Subgroups have to be full. Shuffles and no subgroup's arithmetic, as
// in which order that adds up is a device's own choice. Subgroups that a kernel was planned for (gpu.subgroup_id,
// gpu.lane_id) have the size that the target says: invocations whose numbers follow one another, which are one subgroup
// of the device, or several, or a part of one.
#include <mlir-c/Dialect/LLVM.h>

#include "lower/launch.h"
#include "lower/passes.h"
#include "lower/spirv_arith.h"
#include "lower/spirv_memory.h"
#include "lower/spirv_turns.h"
#include "lower/spirv_vectors.h"
#include "lower/uniform_values.h"

enum { MAX_GRID_X = 65535 };

static heddle_status translate_block(spirv_code *c, MlirBlock block);

static bool is_pointer(MlirType t) { return mlirTypeIsALLVMPointerType(t); }

// --- grid

static MlirValue built_in(spirv_code *c, const char *name, int dimension) {
  const MlirType i32 = spirv_build_int_type(&c->s, 32), three = mlirVectorTypeGet(1, &(int64_t){3}, i32);
  const MlirType pointer = spirv_build_pointer_type(&c->s, three, "Input");
  spirv_build_global(&c->s, name, pointer, name);
  MlirValue all = spirv_build_load(&c->s, three, spirv_build_address_of(&c->s, name, pointer));
  const MlirNamedAttribute index =
      ir_named_text(c->s.b.context, "indices", arena_printf(c->s.b.arena, "[%d : i32]", dimension));
  return ir_value_with(&c->s.b, "spirv.CompositeExtract", i32, 1, &all, 1, &index);
}

static int dimension_of(spirv_code *c, MlirOperation op) {
  static const char *const names[] = {"x", "y", "z"};
  int d = 0;
  while (d < 2 &&
         !mlirAttributeEqual(ir_get(op, "dimension"),
                             ir_attribute(c->s.b.context, arena_printf(c->s.b.arena, "#gpu<dim %s>", names[d]))))
    d++;
  return d;
}

// A grid that is too wide for a device is folded: rows of blocks are stacked in y, and what was y is z.
static MlirValue block_number(spirv_code *c, int dimension) {
  if (dimension > 0) return built_in(c, "WorkgroupId", dimension + 1);
  const MlirValue x = built_in(c, "WorkgroupId", 0), row = built_in(c, "WorkgroupId", 1);
  const MlirValue width = spirv_build_int(&c->s, mlirValueGetType(row), MAX_GRID_X);
  return spirv_build_binary(&c->s, "spirv.IAdd", spirv_build_binary(&c->s, "spirv.IMul", row, width), x);
}

static heddle_status put_index(spirv_code *c, MlirOperation op, MlirValue number) {
  const MlirType index = spirv_build_int_type(&c->s, c->s.index_bits);
  if (c->s.index_bits != 32) number = spirv_build_cast(&c->s, "spirv.UConvert", index, number);
  spirv_values_put(c, ir_result(op, 0), 1, &number);
  return status_ok();
}

static MlirValue subgroup_number(spirv_code *c, const char *name) {
  const MlirType i32 = spirv_build_int_type(&c->s, 32), pointer = spirv_build_pointer_type(&c->s, i32, "Input");
  spirv_build_ask(&c->s, SPIRV_SUBGROUPS);
  spirv_build_global(&c->s, name, pointer, name);
  return spirv_build_load(&c->s, i32, spirv_build_address_of(&c->s, name, pointer));
}

static MlirValue lane(spirv_code *c) { return subgroup_number(c, "SubgroupLocalInvocationId"); }

// Grids have threads in x alone.
static MlirValue own_number(spirv_code *c, int dimension) {
  if (c->s.form != SPIRV_BY_SUBGROUPS || dimension > 0) return built_in(c, "LocalInvocationId", dimension);
  const MlirValue first =
      spirv_build_binary(&c->s, "spirv.IMul", subgroup_number(c, "SubgroupId"), spirv_build_subgroup_size(&c->s));
  return spirv_build_binary(&c->s, "spirv.IAdd", first, lane(c));
}

static heddle_status thread_id(spirv_code *c, MlirOperation op) {
  return put_index(c, op, own_number(c, dimension_of(c, op)));
}

static heddle_status planned_subgroup(spirv_code *c, MlirOperation op, const char *operation) {
  const MlirValue size =
      spirv_build_int(&c->s, spirv_build_int_type(&c->s, 32), c->context->options->target.subgroup_size);
  return put_index(c, op, spirv_build_binary(&c->s, operation, own_number(c, 0), size));
}

static heddle_status subgroup_id(spirv_code *c, MlirOperation op) { return planned_subgroup(c, op, "spirv.UDiv"); }

static heddle_status lane_id(spirv_code *c, MlirOperation op) { return planned_subgroup(c, op, "spirv.UMod"); }

static heddle_status block_id(spirv_code *c, MlirOperation op) {
  return put_index(c, op, block_number(c, dimension_of(c, op)));
}

static heddle_status barrier(spirv_code *c, MlirOperation op) {
  (void)op;
  spirv_build_barrier(&c->s);
  return status_ok();
}

// --- exchanges

static bool mode_is(spirv_code *c, MlirOperation op, const char *mode) {
  return mlirAttributeEqual(ir_get(op, "mode"),
                            ir_attribute(c->s.b.context, arena_printf(c->s.b.arena, "#gpu<shuffle_mode %s>", mode)));
}

// One of the numbers below `count`: of the invocation whose value is wanted. Down past the last one is one's own.
static MlirValue partner_of(spirv_code *c, bool is_xor, MlirValue self, MlirValue offset, MlirValue count) {
  if (is_xor) return spirv_build_binary(&c->s, "spirv.BitwiseXor", self, offset);
  const MlirValue there = spirv_build_binary(&c->s, "spirv.IAdd", self, offset);
  return spirv_build_select(&c->s, spirv_build_compare(&c->s, "spirv.ULessThan", there, count), there, self);
}

static MlirValue exchange_in_memory(spirv_code *c, bool is_xor, MlirValue value, MlirValue offset) {
  const MlirType i32 = spirv_build_int_type(&c->s, 32);
  const int64_t threads = c->launch.threads[0];
  const spirv_array *between = spirv_memory_workgroup(c, "exchanged", i32, threads);
  const MlirValue self = own_number(c, 0);
  const MlirValue partner = partner_of(c, is_xor, self, offset, spirv_build_int(&c->s, i32, threads));
  spirv_build_store(&c->s, spirv_memory_element(c, between, self), value);
  spirv_build_barrier(&c->s);
  const MlirValue taken = spirv_build_load(&c->s, i32, spirv_memory_element(c, between, partner));
  spirv_build_barrier(&c->s);
  return taken;
}

// Groups of twice the offset exchange among themselves; they are powers of two, as subgroups are.
static MlirValue exchange_in_subgroup(spirv_code *c, bool is_xor, MlirValue value, MlirValue offset) {
  const MlirType i32 = spirv_build_int_type(&c->s, 32);
  const MlirValue size = spirv_build_subgroup_size(&c->s), self = lane(c);
  const MlirValue taken = spirv_build_variable(&c->s, i32, mlirAttributeGetNull());
  const MlirValue group = spirv_build_binary(&c->s, "spirv.IAdd", offset, offset);
  const spirv_selection is_within =
      spirv_build_selection(&c->s, spirv_build_compare(&c->s, "spirv.ULessThanEqual", group, size));
  spirv_build_store(&c->s, taken, spirv_build_shuffle(&c->s, value, partner_of(c, is_xor, self, offset, size)));
  spirv_build_otherwise(&c->s, &is_within);
  spirv_build_store(&c->s, taken, exchange_in_memory(c, is_xor, value, offset));
  spirv_build_end_selection(&c->s, &is_within);
  return spirv_build_load(&c->s, i32, taken);
}

static heddle_status exchange(spirv_code *c, MlirOperation op) {
  const spirv_value *value, *offset;
  TRY(spirv_values_operand(c, op, 0, &value));
  TRY(spirv_values_operand(c, op, 1, &offset));
  if (!ir_is_null(uniform_values_divergence(op)))
    return status_error(HEDDLE_UNIMPLEMENTED, "an exchange that some invocations of a workgroup do not get to");
  const bool is_xor = mode_is(c, op, "xor");
  if (!is_xor && !mode_is(c, op, "down"))
    return status_error(HEDDLE_UNIMPLEMENTED, "no exchange between invocations for %s",
                        ir_operation_text(c->s.b.arena, op));
  const MlirValue taken = c->s.form == SPIRV_BY_SUBGROUPS
                              ? exchange_in_subgroup(c, is_xor, value->parts[0], offset->parts[0])
                              : exchange_in_memory(c, is_xor, value->parts[0], offset->parts[0]);
  spirv_values_put(c, ir_result(op, 0), 1, &taken);
  const MlirValue is_valid = spirv_build_bool(&c->s, true);
  spirv_values_put(c, ir_result(op, 1), 1, &is_valid);
  return status_ok();
}

// --- what loops and branches carry

// Pointers do not change on the way: what is carried is what came in.
static void forward(spirv_code *c, MlirValue from, MlirValue to) {
  const void *known = ptr_map_get(&c->values, from.ptr);
  if (known) ptr_map_put(c->s.b.arena, &c->values, to.ptr, (void *)known);
}

static void forward_pointer(spirv_code *c, MlirValue from, MlirValue to) {
  if (is_pointer(mlirValueGetType(to))) forward(c, from, to);
}

static heddle_status write_variables(spirv_code *c, const spirv_value *variables, MlirValue from) {
  const spirv_value *value;
  if (is_pointer(mlirValueGetType(from))) return status_ok();
  TRY(spirv_values_find(c, from, &value));
  for (int i = 0; i < value->count; i++) spirv_build_store(&c->s, variables->parts[i], value->parts[i]);
  return status_ok();
}

static heddle_status read_variables(spirv_code *c, const spirv_value *variables, MlirValue to) {
  spirv_types types = {0};
  TRY(spirv_values_types(c, mlirValueGetType(to), &types));
  MlirValue *parts = arena_array(c->s.b.arena, MlirValue, types.size);
  for (int i = 0; i < types.size; i++) parts[i] = spirv_build_load(&c->s, types.data[i], variables->parts[i]);
  spirv_values_put(c, to, types.size, parts);
  return status_ok();
}

// Variables for values of these types, in the arena; those of pointers stay empty.
static heddle_status variables_for(spirv_code *c, int count, const MlirValue *values, spirv_value **out) {
  *out = arena_array(c->s.b.arena, spirv_value, count);
  for (int i = 0; i < count; i++)
    if (!is_pointer(mlirValueGetType(values[i])))
      TRY(spirv_values_variables(c, mlirValueGetType(values[i]), &(*out)[i]));
  return status_ok();
}

// What is handed on was read before: no variable is overwritten that another one is still to take from.
static heddle_status write_all(spirv_code *c, spirv_value *variables, MlirOperation terminator, int first) {
  for (int i = first; i < (int)mlirOperationGetNumOperands(terminator); i++)
    TRY(write_variables(c, &variables[i - first], ir_operand(terminator, i)));
  return status_ok();
}

static MlirValue *results_of(arena *a, MlirOperation op) {
  const int count = (int)mlirOperationGetNumResults(op);
  MlirValue *results = arena_array(a, MlirValue, count);
  for (int i = 0; i < count; i++) results[i] = ir_result(op, i);
  return results;
}

static heddle_status read_results(spirv_code *c, MlirOperation op, const spirv_value *variables) {
  for (int i = 0; i < (int)mlirOperationGetNumResults(op); i++)
    if (!is_pointer(ir_result_type(op, i))) TRY(read_variables(c, &variables[i], ir_result(op, i)));
  return status_ok();
}

// --- branches

static heddle_status branch(spirv_code *c, MlirOperation op) {
  const spirv_value *condition;
  spirv_value *variables;
  TRY(spirv_values_operand(c, op, 0, &condition));
  TRY(variables_for(c, (int)mlirOperationGetNumResults(op), results_of(c->s.b.arena, op), &variables));
  const spirv_selection made = spirv_build_selection(&c->s, condition->parts[0]);
  for (int k = 0; k < 2; k++) {
    const MlirBlock body = ir_body(op, k);
    if (k == 1) spirv_build_otherwise(&c->s, &made);
    if (mlirBlockIsNull(body)) continue;
    TRY(translate_block(c, body));
    TRY(write_all(c, variables, ir_terminator(body), 0));
  }
  spirv_build_end_selection(&c->s, &made);
  return read_results(c, op, variables);
}

// One case after the other; region 0 is what is left.
static heddle_status choose(spirv_code *c, MlirOperation op) {
  const spirv_value *number;
  spirv_value *variables;
  TRY(spirv_values_operand(c, op, 0, &number));
  TRY(variables_for(c, (int)mlirOperationGetNumResults(op), results_of(c->s.b.arena, op), &variables));
  const MlirAttribute cases = ir_get(op, "cases");
  const int count = (int)mlirDenseArrayGetNumElements(cases);
  spirv_selection *open = arena_array(c->s.b.arena, spirv_selection, count);
  for (int k = 0; k <= count; k++) {
    if (k < count) {
      const MlirValue wanted =
          spirv_build_int(&c->s, mlirValueGetType(number->parts[0]), mlirDenseI64ArrayGetElement(cases, k));
      open[k] = spirv_build_selection(&c->s, spirv_build_compare(&c->s, "spirv.IEqual", number->parts[0], wanted));
    }
    const MlirBlock body = ir_body(op, k < count ? k + 1 : 0);
    TRY(translate_block(c, body));
    TRY(write_all(c, variables, ir_terminator(body), 0));
    if (k < count) spirv_build_otherwise(&c->s, &open[k]);
  }
  for (int k = count - 1; k >= 0; k--) spirv_build_end_selection(&c->s, &open[k]);
  return read_results(c, op, variables);
}

// --- loops

typedef struct counted {
  const spirv_value *lower, *upper, *step;
  MlirValue variable;
} counted;

static heddle_status begin_counting(spirv_code *c, MlirOperation op, counted *out) {
  TRY(spirv_values_operand(c, op, 0, &out->lower));
  TRY(spirv_values_operand(c, op, 1, &out->upper));
  TRY(spirv_values_operand(c, op, 2, &out->step));
  out->variable = spirv_build_variable(&c->s, mlirValueGetType(out->lower->parts[0]), mlirAttributeGetNull());
  spirv_build_store(&c->s, out->variable, out->lower->parts[0]);
  return status_ok();
}

// The step that the loop's variable is at.
static heddle_status count_step(spirv_code *c, MlirOperation op, const counted *n, spirv_value *variables,
                                MlirValue at) {
  const MlirBlock body = ir_body(op, 0);
  spirv_values_put(c, mlirBlockGetArgument(body, 0), 1, &at);
  for (int i = 0; i < (int)mlirOperationGetNumResults(op); i++) {
    const MlirValue argument = mlirBlockGetArgument(body, i + 1);
    if (is_pointer(mlirValueGetType(argument))) forward(c, ir_operand(op, 3 + i), argument);
    else TRY(read_variables(c, &variables[i], argument));
  }
  TRY(translate_block(c, body));
  TRY(write_all(c, variables, ir_terminator(body), 0));
  spirv_build_store(&c->s, n->variable, spirv_build_binary(&c->s, "spirv.IAdd", at, n->step->parts[0]));
  return status_ok();
}

static MlirValue count_on(spirv_code *c, const counted *n, MlirValue *is_there) {
  const MlirValue at = spirv_build_load(&c->s, mlirValueGetType(n->lower->parts[0]), n->variable);
  if (is_there) *is_there = spirv_build_compare(&c->s, "spirv.SLessThan", at, n->upper->parts[0]);
  return at;
}

// The steps of a turn behind the first one.
static heddle_status count_more(spirv_code *c, MlirOperation op, const counted *n, spirv_value *variables, int steps) {
  for (int k = 1; k < steps; k++) {
    MlirValue is_there;
    const MlirValue at = count_on(c, n, &is_there);
    const spirv_selection made = spirv_build_selection(&c->s, is_there);
    TRY(count_step(c, op, n, variables, at));
    spirv_build_otherwise(&c->s, &made);
    spirv_build_end_selection(&c->s, &made);
  }
  return status_ok();
}

static heddle_status loop(spirv_code *c, MlirOperation op) {
  const int count = (int)mlirOperationGetNumResults(op);
  counted n;
  spirv_value *variables;
  bool has_turns;
  const int steps = spirv_turns_steps(&c->steps, op, &has_turns);
  TRY(begin_counting(c, op, &n));
  TRY(variables_for(c, count, results_of(c->s.b.arena, op), &variables));
  for (int i = 0; i < count; i++) TRY(write_variables(c, &variables[i], ir_operand(op, 3 + i)));
  if (has_turns) {
    MlirValue is_there;
    const spirv_loop made = spirv_build_loop(&c->s);
    const MlirValue at = count_on(c, &n, &is_there);
    spirv_build_turn(&c->s, &made, is_there);
    TRY(count_step(c, op, &n, variables, at));
    TRY(count_more(c, op, &n, variables, steps));
    spirv_build_end_loop(&c->s, &made);
  } else {
    for (int k = 0; k < steps; k++) TRY(count_step(c, op, &n, variables, count_on(c, &n, NULL)));
  }
  for (int i = 0; i < count; i++) forward_pointer(c, ir_operand(op, 3 + i), ir_result(op, i));
  return read_results(c, op, variables);
}

static heddle_status read_arguments(spirv_code *c, MlirBlock block, const spirv_value *variables) {
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) {
    const MlirValue argument = mlirBlockGetArgument(block, i);
    if (!is_pointer(mlirValueGetType(argument))) TRY(read_variables(c, &variables[i], argument));
  }
  return status_ok();
}

// A loop whose first region says whether there is another turn. What that hands on are the second one's arguments and
// the results.
typedef struct repetition {
  MlirBlock before, after;
  MlirOperation condition;
  spirv_value *in, *out;  // variables: of the first region's arguments, and of the second one's
} repetition;

static heddle_status begin_repeating(spirv_code *c, MlirOperation op, repetition *r) {
  *r = (repetition){.before = ir_body(op, 0), .after = ir_body(op, 1)};
  r->condition = ir_terminator(r->before);
  const int taken = (int)mlirOperationGetNumOperands(op);
  MlirValue *operands = arena_array(c->s.b.arena, MlirValue, taken);
  for (int i = 0; i < taken; i++) {
    operands[i] = ir_operand(op, i);
    forward_pointer(c, operands[i], mlirBlockGetArgument(r->before, i));
  }
  TRY(variables_for(c, taken, operands, &r->in));
  TRY(variables_for(c, (int)mlirOperationGetNumResults(op), results_of(c->s.b.arena, op), &r->out));
  for (int i = 0; i < taken; i++) TRY(write_variables(c, &r->in[i], operands[i]));
  return status_ok();
}

static heddle_status repeat_turn(spirv_code *c, const repetition *r) {
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(r->after); i++)
    forward_pointer(c, ir_operand(r->condition, (int)i + 1), mlirBlockGetArgument(r->after, i));
  TRY(read_arguments(c, r->after, r->out));
  TRY(translate_block(c, r->after));
  return write_all(c, r->in, ir_terminator(r->after), 0);
}

static heddle_status repeat(spirv_code *c, MlirOperation op) {
  repetition r;
  const spirv_value *again;
  TRY(begin_repeating(c, op, &r));
  const spirv_loop made = spirv_build_loop(&c->s);
  TRY(read_arguments(c, r.before, r.in));
  TRY(translate_block(c, r.before));
  TRY(write_all(c, r.out, r.condition, 1));
  TRY(spirv_values_operand(c, r.condition, 0, &again));
  spirv_build_turn(&c->s, &made, again->parts[0]);
  TRY(repeat_turn(c, &r));
  spirv_build_end_loop(&c->s, &made);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    forward_pointer(c, ir_operand(r.condition, (int)i + 1), ir_result(op, (int)i));
  return read_results(c, op, r.out);
}

// --- calls: results go through variables of the module

static const char *result_name(spirv_code *c, const char *function, int number) {
  return arena_printf(c->s.b.arena, "%s_result_%d", function, number);
}

static MlirValue result_variable(spirv_code *c, const char *function, int number, MlirType type) {
  const char *name = result_name(c, function, number);
  const MlirType pointer = spirv_build_pointer_type(&c->s, type, "Private");
  spirv_build_global(&c->s, name, pointer, NULL);
  return spirv_build_address_of(&c->s, name, pointer);
}

static const char *symbol_text(spirv_code *c, MlirStringRef name) {
  return arena_strdup(c->s.b.arena, name.data, name.length);
}

static heddle_status call(spirv_code *c, MlirOperation op) {
  arena *a = c->s.b.arena;
  const MlirAttribute callee = ir_get(op, "callee");
  const char *name = symbol_text(c, mlirFlatSymbolRefAttrGetValue(callee));
  VEC(MlirValue) arguments = {0};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    const spirv_value *value;
    TRY(spirv_values_operand(c, op, (int)i, &value));
    if (value->array) return status_error(HEDDLE_UNIMPLEMENTED, "a function of memory of the workgroup");
    for (int k = 0; k < value->count; k++) vec_push(a, &arguments, value->parts[k]);
  }
  const MlirNamedAttribute named = ir_named(c->s.b.context, "callee", callee);
  ir_build(&c->s.b, (ir_op_state){.name = "spirv.FunctionCall",
                                  .operand_count = arguments.size,
                                  .operands = arguments.data,
                                  .attribute_count = 1,
                                  .attributes = &named});
  int number = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    spirv_types types = {0};
    TRY(spirv_values_types(c, ir_result_type(op, (int)i), &types));
    MlirValue *parts = arena_array(a, MlirValue, types.size);
    for (int k = 0; k < types.size; k++)
      parts[k] = spirv_build_load(&c->s, types.data[k], result_variable(c, name, number++, types.data[k]));
    spirv_values_put(c, ir_result(op, (int)i), types.size, parts);
  }
  return status_ok();
}

static heddle_status give_back(spirv_code *c, MlirOperation terminator) {
  const str name = ir_symbol(c->function);
  const char *function = arena_strdup(c->s.b.arena, name.data, name.size);
  int number = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(terminator); i++) {
    const spirv_value *value;
    TRY(spirv_values_operand(c, terminator, (int)i, &value));
    for (int k = 0; k < value->count; k++, number++)
      spirv_build_store(&c->s, result_variable(c, function, number, mlirValueGetType(value->parts[k])),
                        value->parts[k]);
  }
  spirv_build_return(&c->s);
  return status_ok();
}

// --- operations

static heddle_status nothing(spirv_code *c, MlirOperation op) {
  (void)c;
  (void)op;
  return status_ok();
}

static const struct {
  const char *op;
  heddle_status (*translate)(spirv_code *c, MlirOperation op);
} rows[] = {
    {"gpu.thread_id", thread_id},
    {"gpu.block_id", block_id},
    {"gpu.barrier", barrier},
    {"gpu.shuffle", exchange},
    {"gpu.subgroup_id", subgroup_id},
    {"gpu.lane_id", lane_id},
    {"scf.if", branch},
    {"scf.for", loop},
    {"scf.while", repeat},
    {"scf.index_switch", choose},
    {"func.call", call},
    {"scf.yield", nothing},
    {"scf.condition", nothing},
    {"func.return", give_back},
};

static heddle_status translate(spirv_code *c, MlirOperation op) {
  bool known = false;
  c->s.b.location = mlirOperationGetLocation(op);
  TRY(spirv_arith_translate(c, op, &known));
  if (!known) TRY(spirv_vectors_translate(c, op, &known));
  if (!known) TRY(spirv_memory_translate(c, op, &known));
  if (known) return status_ok();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (ir_is(op, rows[i].op)) return rows[i].translate(c, op);
  return status_error(HEDDLE_UNIMPLEMENTED, "no lowering to SPIR-V for %s", ir_operation_text(c->s.b.arena, op));
}

static heddle_status translate_block(spirv_code *c, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !ir_is_null(op); op = mlirOperationGetNextInBlock(op))
    TRY(translate(c, op));
  return status_ok();
}

// --- functions

static const char *name_of(spirv_code *c, MlirOperation function) {
  const str name = ir_symbol(function);
  return arena_strdup(c->s.b.arena, name.data, name.size);
}

static heddle_status private_function(spirv_code *c, MlirOperation function) {
  const MlirBlock body = ir_body(function, 0);
  spirv_types types = {0};
  const int count = (int)mlirBlockGetNumArguments(body);
  int *first = arena_array(c->s.b.arena, int, count + 1);
  for (int i = 0; i < count; i++) {
    TRY(spirv_values_types(c, mlirValueGetType(mlirBlockGetArgument(body, i)), &types));
    first[i + 1] = types.size;
  }
  spirv_build_function(&c->s, name_of(c, function), types.size, types.data);
  for (int i = 0; i < count; i++) {
    const int parts = first[i + 1] - first[i];
    MlirValue *values = arena_array(c->s.b.arena, MlirValue, parts);
    for (int k = 0; k < parts; k++) values[k] = mlirBlockGetArgument(c->s.entry, first[i] + k);
    spirv_values_put(c, mlirBlockGetArgument(body, i), parts, values);
  }
  return translate_block(c, body);
}

static heddle_status read_addresses(spirv_code *c, MlirBlock body) {
  const int count = (int)mlirBlockGetNumArguments(body);
  const MlirValue table = count > SPIRV_PUSHED_MOST ? spirv_build_pushed(&c->s, 0) : (MlirValue){NULL};
  for (int i = 0; i < count; i++) {
    const MlirValue argument = mlirBlockGetArgument(body, i);
    if (!is_pointer(mlirValueGetType(argument)))
      return status_error(HEDDLE_INTERNAL, "the entry takes something that is no buffer");
    const MlirValue address = table.ptr ? spirv_memory_address_in(c, table, i) : spirv_build_pushed(&c->s, i);
    spirv_values_put(c, argument, 1, &address);
  }
  return status_ok();
}

static void execution_mode(spirv_code *c, const char *entry, const char *mode, int count, const int32_t *values) {
  const MlirContext m = c->s.b.context;
  MlirAttribute numbers[3];
  for (int i = 0; i < count; i++) numbers[i] = mlirIntegerAttrGet(mlirIntegerTypeGet(m, 32), values[i]);
  const MlirNamedAttribute attributes[] = {
      ir_named(m, "fn", mlirFlatSymbolRefAttrGet(m, mlirStringRefCreateFromCString(entry))),
      ir_named_text(m, "execution_mode", arena_printf(c->s.b.arena, "#spirv.execution_mode<%s>", mode)),
      ir_named(m, "values", mlirArrayAttrGet(m, count, numbers))};
  ir_builder b = ir_builder_at_end(m, ir_body(c->s.module, 0), c->s.b.arena);
  ir_build(&b, (ir_op_state){.name = "spirv.ExecutionMode", .attribute_count = 3, .attributes = attributes});
}

static void entry_point(spirv_code *c, const char *entry) {
  const MlirContext m = c->s.b.context;
  VEC(MlirAttribute) inputs = {0};
  const MlirBlock body = ir_body(c->s.module, 0);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !ir_is_null(op); op = mlirOperationGetNextInBlock(op)) {
    if (!ir_is(op, "spirv.GlobalVariable") || mlirAttributeIsNull(ir_get(op, "built_in"))) continue;
    vec_push(c->s.b.arena, &inputs, mlirFlatSymbolRefAttrGet(m, mlirStringAttrGetValue(ir_get(op, "sym_name"))));
  }
  const MlirNamedAttribute attributes[] = {
      ir_named_text(m, "execution_model", "#spirv.execution_model<GLCompute>"),
      ir_named(m, "fn", mlirFlatSymbolRefAttrGet(m, mlirStringRefCreateFromCString(entry))),
      ir_named(m, "interface", mlirArrayAttrGet(m, inputs.size, inputs.data))};
  ir_builder b = ir_builder_at_end(m, body, c->s.b.arena);
  ir_build(&b, (ir_op_state){.name = "spirv.EntryPoint", .attribute_count = 3, .attributes = attributes});
  execution_mode(c, entry, "LocalSize", 3, (int32_t[]){(int32_t)c->launch.threads[0], 1, 1});
  if (c->s.capabilities >> SPIRV_KEEPS_SPECIALS32 & 1)
    execution_mode(c, entry, "SignedZeroInfNanPreserve", 1, (int32_t[]){32});
  if (c->s.capabilities >> SPIRV_KEEPS_SPECIALS64 & 1)
    execution_mode(c, entry, "SignedZeroInfNanPreserve", 1, (int32_t[]){64});
}

// Blocks behind the grid's last have nothing to do where rows of blocks were stacked.
static heddle_status entry_body(spirv_code *c, MlirBlock body) {
  const int64_t blocks = c->launch.blocks[0];
  const bool is_folded = blocks > MAX_GRID_X && blocks % MAX_GRID_X != 0;
  spirv_selection made = {0};
  if (is_folded) {
    const MlirValue number = block_number(c, 0);
    const MlirValue count = spirv_build_int(&c->s, mlirValueGetType(number), blocks);
    made = spirv_build_selection(&c->s, spirv_build_compare(&c->s, "spirv.ULessThan", number, count));
  }
  const MlirOperation end = ir_terminator(body);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);
       op = mlirOperationGetNextInBlock(op))
    TRY(translate(c, op));
  if (is_folded) {
    spirv_build_otherwise(&c->s, &made);
    spirv_build_end_selection(&c->s, &made);
  }
  spirv_build_return(&c->s);
  return status_ok();
}

static heddle_status entry_function(spirv_code *c, MlirOperation function) {
  const char *name = name_of(c, function);
  const MlirOperation made = spirv_build_function(&c->s, name, 0, NULL);
  const char *abi = arena_printf(c->s.b.arena, "#spirv.entry_point_abi<workgroup_size = [%lld, 1, 1]>",
                                 (long long)c->launch.threads[0]);
  ir_set(made, "spirv.entry_point_abi", ir_attribute(c->s.b.context, abi));
  TRY(read_addresses(c, ir_body(function, 0)));
  TRY(entry_body(c, ir_body(function, 0)));
  entry_point(c, name);
  return status_ok();
}

static bool is_private(MlirOperation function) { return !mlirAttributeIsNull(ir_get(function, "sym_visibility")); }

static heddle_status translate_function(spirv_code *c, MlirOperation function) {
  TRY(launch_of(function, &c->launch));
  c->function = function;
  c->values = (ptr_map){0};
  c->arrays = (str_map){0};
  return is_private(function) ? private_function(c, function) : entry_function(c, function);
}

static int index_bits_of(lower_context *c, MlirOperation module) {
  const MlirAttribute recorded = ir_get(module, "xla.index_bits");
  return mlirAttributeIsNull(recorded) ? c->options->target.index_bits : (int)mlirIntegerAttrGetValueInt(recorded);
}

// Callees first: the entry comes last, when it is known what all of them ask for.
static heddle_status translate_functions(spirv_code *c, const ir_operations *functions) {
  for (int entry = 0; entry < 2; entry++)
    for (int i = 0; i < functions->size; i++)
      if (!mlirBlockIsNull(ir_body(functions->data[i], 0)) && is_private(functions->data[i]) == (entry == 0))
        TRY(translate_function(c, functions->data[i]));
  return status_ok();
}

static bool has_subgroups(spirv_code *c) {
  static const char *const names[] = {"gpu.shuffle", "gpu.subgroup_id", "gpu.lane_id"};
  bool any = false;
  for (size_t k = 0; k < sizeof names / sizeof *names; k++)
    any |= ir_collect(c->context->scratch, c->source, names[k]).size > 0;
  return any;
}

// A form that no device would be better off with is none: without subgroups, or without narrow integers. By words the
// workgroup's memory takes more bytes, and what is more than every device has is not launched anywhere.
static heddle_status translate_form(spirv_code *c, const ir_operations *functions, spirv_form form, int index_bits) {
  enum { NARROW = 1 << SPIRV_INT8 | 1 << SPIRV_INT16 | 1 << SPIRV_STORAGE8 | 1 << SPIRV_STORAGE16 };
  const bool was_narrow = c->s.capabilities & NARROW;
  if (form == SPIRV_BY_SUBGROUPS && !has_subgroups(c)) return status_ok();
  if (form == SPIRV_BY_WORDS && !was_narrow) return status_ok();
  c->workgroup_bytes = 0;
  spirv_build_begin(&c->s, c->context, c->source, form, index_bits);
  TRY(translate_functions(c, functions));
  spirv_build_end(&c->s);
  const bool is_too_large = c->workgroup_bytes > c->context->options->target.shared_bytes;
  if (form == SPIRV_BY_WORDS && is_too_large) ir_erase(c->s.module);
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  TRY(lower_upstream(context, unit, "arith-expand"));
  spirv_code code = {.context = c, .source = module};
  ir_operations functions = ir_collect(c->scratch, module, "func.func");
  ir_operations globals = ir_collect(c->scratch, module, "llvm.mlir.global");
  for (int i = 0; i < functions.size; i++)
    if (!mlirBlockIsNull(ir_body(functions.data[i], 0)) && !is_private(functions.data[i]))
      TRY(spirv_turns_plan(c->scratch, &functions, functions.data[i], &code.steps));
  for (int form = 0; form < SPIRV_FORM_COUNT; form++)
    TRY(translate_form(&code, &functions, form, index_bits_of(c, module)));
  for (int i = 0; i < functions.size; i++) ir_erase(functions.data[i]);
  for (int i = 0; i < globals.size; i++) ir_erase(globals.data[i]);
  return status_ok();
}

const pass lower_to_spirv = {
    .name = "xla-lower-to-spirv",
    .summary = "functions over pointers -> modules of the SPIR-V dialect",
    .order_reason = "behind all others, in place of the conversion to LLVM: SPIR-V keeps loops and branches",
    .use = PASS_NEEDED,
    .run = run,
};
