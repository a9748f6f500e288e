// custom-call: one table from target names to what runs them. A target that is not in it is refused by its name.
#include "eval/custom_call.h"

#include "eval/custom_call_meaning.h"

// The operands as they are: calls that speak about placement, and so about nothing on one device.
static heddle_status identity(interpreter *in, const instruction *i, value *const *operands, value **out) {
  if (i->operand_count == 1 && shape_compatible(i->operands[0]->shape, i->shape)) {
    *out = value_retain(operands[0]);
    return status_ok();
  }
  bool fits = shape_is_tuple(i->shape) && (i->shape->tuple_size == i->operand_count || i->shape->tuple_size == 0);
  for (int k = 0; fits && k < i->shape->tuple_size; k++)
    fits = shape_compatible(i->operands[k]->shape, i->shape->elements[k]);
  if (!fits) return interpreter_refuse(i, "the result's shape is not the operand's");
  return value_create_tuple(&in->pool, i->shape, operands, i->where, out);
}

// A buffer nobody has written yet: zeros, so that runs repeat.
static heddle_status buffer(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)operands;
  if (!shape_is_array(i->shape)) return interpreter_refuse(i, "a result that is no array");
  TRY(value_create(&in->pool, i->shape, i->where, out));
  memset((*out)->data, 0, (size_t)shape_byte_size(i->shape));
  return status_ok();
}

static const char host_callback[] = "it calls back into the Python program that made the module";
static const char library_of_another_platform[] = "it calls a library of another platform";

// Exactly one of run, refusal and opcode (as which the call is evaluated) says what to do.
typedef struct custom_call_target {
  const char *name;  // with * at the end: all targets that begin so
  eval_op run;
  const char *refusal;
  hlo_opcode opcode;
  bool looks_at_sizes;
} custom_call_target;

static const custom_call_target targets[] = {
    {"AllocateBuffer", .run = buffer},
    {"ApproxTopK", .run = custom_call_approximate_top_k},
    {"AssumeGatherIndicesInBound", .run = identity, .looks_at_sizes = true},
    {"CreateBuffer", .run = buffer},
    {"InspectSharding", .run = identity, .looks_at_sizes = true},
    {"LayoutConstraint", .run = identity, .looks_at_sizes = true},
    {"MoveToDevice", .run = identity, .looks_at_sizes = true},
    {"MoveToHost", .run = identity, .looks_at_sizes = true},
    {"PadToStatic", .run = custom_call_pad_to_static, .looks_at_sizes = true},
    {"PartialReduce", .run = custom_call_approximate_top_k},
    {"Pin", .run = identity, .looks_at_sizes = true},
    {"PinToDevice", .run = identity, .looks_at_sizes = true},
    {"PinToDeviceSram", .run = identity, .looks_at_sizes = true},
    {"ProductOfElementaryHouseholderReflectors", .run = custom_call_library},
    {"Qr", .run = custom_call_library},
    {"SPMDFullToShardShape", .run = custom_call_move_tile},
    {"SPMDShardToFullShape", .run = custom_call_move_tile},
    {"ShardBarrierFrom", .run = identity, .looks_at_sizes = true},
    {"ShardBarrierTo", .run = identity, .looks_at_sizes = true},
    {"Sharding", .run = identity, .looks_at_sizes = true},
    {"SliceToDynamic", .run = custom_call_slice_to_dynamic, .looks_at_sizes = true},
    {"TopK", .run = custom_call_top_k},
    {"Unpin", .run = identity, .looks_at_sizes = true},
    {"X64Combine", .run = custom_call_library},
    {"X64SplitHigh", .run = custom_call_library},
    {"X64SplitLow", .run = custom_call_library},
    {"annotate_device_placement", .run = identity, .looks_at_sizes = true},
    {"blas_*", .run = custom_call_library},
    {"check.eq", .run = custom_call_library, .looks_at_sizes = true},
    {"check.expect_almost_eq", .run = custom_call_library, .looks_at_sizes = true},
    {"check.expect_almost_eq_const", .run = custom_call_library, .looks_at_sizes = true},
    {"check.expect_close", .run = custom_call_library, .looks_at_sizes = true},
    {"check.expect_close_const", .run = custom_call_library, .looks_at_sizes = true},
    {"check.expect_eq", .run = custom_call_library, .looks_at_sizes = true},
    {"check.expect_eq_const", .run = custom_call_library, .looks_at_sizes = true},
    {"check.expect_serialized_eq", .run = custom_call_check_probed, .looks_at_sizes = true},
    {"heddle.cumulative", .run = custom_call_library},
    {"heddle.open_size", .run = custom_call_library},
    {"heddle.*", .run = custom_call_own},
    {"interpreter.probe", .run = custom_call_probe, .looks_at_sizes = true},
    {"interpreter.run_parallel", .run = custom_call_run_parallel},
    {"lapack_*", .run = custom_call_library},
    {"mhlo.acos", .opcode = HLO_ACOS},
    {"mhlo.acosh", .opcode = HLO_ACOSH},
    {"mhlo.asin", .opcode = HLO_ASIN},
    {"mhlo.asinh", .opcode = HLO_ASINH},
    {"mhlo.atan", .opcode = HLO_ATAN},
    {"mhlo.atanh", .opcode = HLO_ATANH},
    {"mhlo.cosh", .opcode = HLO_COSH},
    {"mhlo.erf", .opcode = HLO_ERF},
    {"mhlo.sinh", .opcode = HLO_SINH},
    {"mhlo.tan", .opcode = HLO_TAN},
    {"mhlo.topk", .run = custom_call_mhlo_top_k},
    {"shape_assertion", .run = custom_call_library, .looks_at_sizes = true},
    {"tridiagonal_solve_perturbed_ffi", .run = custom_call_library},
    {"xla.sdy.*", .run = identity, .looks_at_sizes = true},
    {"xla_buffer_python_cpu_callback", .refusal = host_callback},
    {"xla_ffi_*", .refusal = host_callback},
    {"xla_python_*", .refusal = host_callback},
    {"__*", .refusal = library_of_another_platform},
};

static const custom_call_target *target_of(str name) {
  for (size_t k = 0; k < sizeof targets / sizeof *targets; k++) {
    const str row = str_from(targets[k].name);
    const bool is_prefix = row.data[row.size - 1] == '*';
    if (is_prefix ? name.size >= row.size - 1 && memcmp(name.data, row.data, row.size - 1) == 0 : str_equal(name, row))
      return &targets[k];
  }
  return NULL;
}

bool custom_call_looks_at_sizes(const instruction *i) {
  const custom_call_target *target = target_of(i->attributes->custom_call_target);
  return target && target->looks_at_sizes;
}

eval_custom_call_meaning eval_custom_call_means(str name, hlo_opcode *opcode) {
  const custom_call_target *target = target_of(name);
  if (!target) return EVAL_CUSTOM_CALL_OTHER;
  if (target->run == identity) return EVAL_CUSTOM_CALL_OPERANDS;
  if (target->run == buffer) return EVAL_CUSTOM_CALL_ZEROS;
  if (target->run || target->refusal) return EVAL_CUSTOM_CALL_OTHER;
  *opcode = target->opcode;
  return EVAL_CUSTOM_CALL_OPCODE;
}

static heddle_status run_as(interpreter *in, const instruction *i, hlo_opcode op, value *const *operands, value **out) {
  bool fits = i->operand_count == hlo_ops[op].arity && shape_is_array(i->shape) && eval_ops[op];
  for (int k = 0; fits && k < i->operand_count; k++) fits = shape_compatible(operands[k]->shape, i->shape);
  if (!fits) return interpreter_refuse(i, "operands that do not fit the result");
  instruction same = *i;
  same.opcode = op;
  return eval_ops[op](in, &same, operands, out);
}

heddle_status eval_custom_call(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const str name = i->attributes->custom_call_target;
  const custom_call_target *target = target_of(name);
  if (!target || target->refusal)
    return status_at(HEDDLE_UNIMPLEMENTED, i->where,
                     "the interpreter cannot do custom-call " STR_FMT ": the target \"" STR_FMT "\" %s",
                     STR_ARG(i->name), STR_ARG(name), target ? target->refusal : "is unknown");
  heddle_status status = target->run ? target->run(in, i, operands, out) : run_as(in, i, target->opcode, operands, out);
  return status_context(status, "while running the custom call of \"" STR_FMT "\"", STR_ARG(name));
}

heddle_status custom_call_wants_arrays(const instruction *i, int count) {
  if (i->operand_count != count)
    return status_at(HEDDLE_INVALID, i->where, "found %d operands, wanted %d", i->operand_count, count);
  for (int k = 0; k < count; k++)
    if (!shape_is_array(i->operands[k]->shape)) return status_at(HEDDLE_INVALID, i->where, "operand %d is no array", k);
  return status_ok();
}

heddle_status custom_call_results(interpreter *in, const instruction *i, int count, value **results, value **out) {
  if (!shape_is_tuple(i->shape)) {
    *out = value_retain(results[0]);
  } else {
    heddle_status status = value_create_tuple(&in->pool, i->shape, results, i->where, out);
    for (int k = 0; k < count; k++) value_release(results[k]);
    return status;
  }
  for (int k = 0; k < count; k++) value_release(results[k]);
  return status_ok();
}
