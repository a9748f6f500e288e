// xla-gpu-lower-tensors: tensors become pointers, element accesses become loads and stores.
//
// Upstream would go through memrefs; that needs bufferization and an ABI of descriptors. Here every tensor is a chain
// of inserts over one argument, so extract is a load, insert is a store in place, and the chain itself vanishes:
// arguments and loop-carried tensors turn into pointers, the entry function loses its results. How elements lie in
// memory is in tensor_access.h, what stands behind a tensor in tensor_memory.h, atomics in tensor_atomics.h.
#include "lower/passes.h"
#include "lower/tensor_atomics.h"
#include "lower/tensor_memory.h"

static bool is_tensor(MlirType t) { return mlirTypeIsARankedTensor(t); }

// --- accesses

// The one index of an access to a flat tensor; a tensor without dimensions has its element at 0.
static MlirValue index_operand(ir_builder *b, MlirOperation op, int position, int count) {
  return count > 0 ? ir_operand(op, position) : ir_index(b, 0);
}

static heddle_status lower_extract(tensor_origins *o, MlirOperation op) {
  ir_builder b = ir_builder_before(op, o->context->scratch);
  tensor_memory m;
  TRY(tensor_origins_memory(o, &b, ir_operand(op, 0), ir_result_type(op, 0), &m));
  MlirValue index = index_operand(&b, op, 1, (int)mlirOperationGetNumOperands(op) - 1);
  MlirValue loaded = tensor_access_load(&b, &m, index);
  ir_replace(op, &loaded);
  return status_ok();
}

static heddle_status lower_insert(tensor_origins *o, MlirOperation op) {
  ir_builder b = ir_builder_before(op, o->context->scratch);
  MlirValue value = ir_operand(op, 0), destination = ir_operand(op, 1);
  tensor_memory m;
  TRY(tensor_origins_memory(o, &b, destination, mlirValueGetType(value), &m));
  tensor_access_store(&b, &m, value, index_operand(&b, op, 2, (int)mlirOperationGetNumOperands(op) - 2));
  ir_replace(op, &destination);
  return status_ok();
}

static bool all_in_bounds(MlirOperation op) {
  MlirAttribute flags = ir_get(op, "in_bounds");
  if (mlirAttributeIsNull(flags)) return false;
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(flags); i++)
    if (!mlirBoolAttrGetValue(mlirArrayAttrGetElement(flags, i))) return false;
  return true;
}

// Both transfers have one index behind the tensor; what follows is told apart by number: padding (reads), then the
// mask. The operation itself cannot be printed any more, its tensor may have become a pointer.
static heddle_status check_transfer(tensor_origins *o, MlirOperation op, MlirType vector, bool has_mask) {
  if (has_mask || all_in_bounds(op)) return status_ok();
  return status_error(HEDDLE_UNIMPLEMENTED, "transfer of %s that may leave its tensor",
                      ir_type_text(o->context->scratch, vector));
}

static heddle_status lower_read(tensor_origins *o, MlirOperation op) {
  ir_builder b = ir_builder_before(op, o->context->scratch);
  bool has_mask = mlirOperationGetNumOperands(op) == 4;
  MlirType vector = ir_result_type(op, 0);
  TRY(check_transfer(o, op, vector, has_mask));
  tensor_memory m;
  TRY(tensor_origins_memory(o, &b, ir_operand(op, 0), ir_element_type(vector), &m));
  MlirValue mask = has_mask ? ir_operand(op, 3) : (MlirValue){0}, loaded;
  TRY(tensor_access_load_vector(&b, &m, vector, ir_operand(op, 1), mask, ir_operand(op, 2), &loaded));
  ir_replace(op, &loaded);
  return status_ok();
}

static heddle_status lower_write(tensor_origins *o, MlirOperation op) {
  ir_builder b = ir_builder_before(op, o->context->scratch);
  bool has_mask = mlirOperationGetNumOperands(op) == 4;
  MlirValue vector = ir_operand(op, 0), destination = ir_operand(op, 1);
  TRY(check_transfer(o, op, mlirValueGetType(vector), has_mask));
  tensor_memory m;
  TRY(tensor_origins_memory(o, &b, destination, ir_element_type(mlirValueGetType(vector)), &m));
  MlirValue mask = has_mask ? ir_operand(op, 3) : (MlirValue){0};
  if (!mlirAttributeIsNull(ir_get(op, "xla.nontemporal")))
    m.stream_alignment = o->context->options->target.stream_alignment;
  TRY(tensor_access_store_vector(&b, &m, vector, ir_operand(op, 2), mask));
  ir_replace(op, &destination);
  return status_ok();
}

static heddle_status lower_atomic(tensor_origins *o, MlirOperation op) {
  ir_builder b = ir_builder_before(op, o->context->scratch);
  MlirValue destination = ir_operand(op, 0);
  MlirType element = mlirValueGetType(mlirBlockGetArgument(ir_body(op, 0), 0));
  tensor_memory m;
  TRY(tensor_origins_memory(o, &b, destination, element, &m));
  MlirValue index = index_operand(&b, op, 1, (int)mlirOperationGetNumOperands(op) - 1);
  TRY(tensor_atomics_build(&b, op, &m, index, &o->context->options->target));
  ir_replace(op, &destination);
  return status_ok();
}

static heddle_status lower_sync(tensor_origins *o, MlirOperation op) {
  ir_builder b = ir_builder_before(op, o->context->scratch);
  ir_build(&b, (ir_op_state){.name = "gpu.barrier"});
  int count = (int)mlirOperationGetNumResults(op);
  MlirValue *operands = arena_array(o->context->scratch, MlirValue, count);
  for (int i = 0; i < count; i++) operands[i] = ir_operand(op, i);
  ir_replace(op, operands);
  return status_ok();
}

// Synchronisation comes last: until it is gone, accesses behind it find their memory through it.
static const struct {
  const char *name;
  heddle_status (*lower)(tensor_origins *o, MlirOperation op);
} accesses[] = {
    {"xla_gpu.atomic_rmw", lower_atomic}, {"tensor.extract", lower_extract},      {"tensor.insert", lower_insert},
    {"vector.transfer_read", lower_read}, {"vector.transfer_write", lower_write}, {"xla_gpu.sync_threads", lower_sync},
};

// --- what is left of the tensors

static bool has_uses(MlirValue v) { return !mlirOpOperandIsNull(mlirValueGetFirstUse(v)); }

// A constant or an allocation that is passed on (to a loop or a call) as a whole.
static heddle_status lower_whole(tensor_origins *o, MlirOperation op) {
  MlirValue tensor = ir_result(op, 0);
  if (has_uses(tensor)) {
    ir_builder b = ir_builder_before(op, o->context->scratch);
    tensor_memory m;
    TRY(tensor_origins_memory(o, &b, tensor, ir_element_type(mlirValueGetType(tensor)), &m));
    ir_replace(op, &m.pointer);
  } else {
    ir_erase(op);
  }
  return status_ok();
}

static bool is_whole(MlirOperation op) {
  return (ir_is(op, "arith.constant") || ir_is(op, "xla_gpu.allocate_shared")) && is_tensor(ir_result_type(op, 0));
}

static heddle_status retype(tensor_origins *o, MlirValue v, bool argument) {
  if (!is_tensor(mlirValueGetType(v))) return status_ok();
  MlirType pointer;
  TRY(tensor_origins_pointer_type(o, v, &pointer));
  if (argument) mlirBlockArgumentSetType(v, pointer);
  else mlirValueSetType(v, pointer);
  return status_ok();
}

static heddle_status retype_operation(tensor_origins *o, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) TRY(retype(o, ir_result(op, (int)i), false));
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = ir_body(op, (int)r);
    if (mlirBlockIsNull(block)) continue;
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(block); i++) TRY(retype(o, mlirBlockGetArgument(block, i), true));
  }
  return status_ok();
}

// --- functions

static void drop_returned_tensors(tensor_origins *o, MlirOperation function, MlirType type) {
  MlirBlock body = ir_body(function, 0);
  MlirOperation old = ir_terminator(body);
  ir_values kept = {0};
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); i++)
    if (!is_tensor(mlirFunctionTypeGetResult(type, i))) vec_push(o->context->scratch, &kept, ir_operand(old, (int)i));
  ir_builder b = ir_builder_before(old, o->context->scratch);
  ir_return(&b, kept.size, kept.data);
  ir_erase(old);
  ir_unset(function, "res_attrs");
}

static heddle_status lower_signature(tensor_origins *o, MlirOperation function) {
  arena *a = o->context->scratch;
  MlirType type = mlirTypeAttrGetValue(ir_get(function, "function_type"));
  MlirType pointer = ir_type(o->context->context, "!llvm.ptr");
  VEC(MlirType) inputs = {0}, results = {0};
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumInputs(type); i++) {
    MlirType input = mlirFunctionTypeGetInput(type, i);
    vec_push(a, &inputs, is_tensor(input) ? pointer : input);
  }
  for (intptr_t i = 0; i < mlirFunctionTypeGetNumResults(type); i++)
    if (!is_tensor(mlirFunctionTypeGetResult(type, i))) vec_push(a, &results, mlirFunctionTypeGetResult(type, i));
  bool has_body = !mlirBlockIsNull(ir_body(function, 0));
  if (results.size < mlirFunctionTypeGetNumResults(type) && has_body) drop_returned_tensors(o, function, type);
  MlirType lowered = mlirFunctionTypeGet(o->context->context, inputs.size, inputs.data, results.size, results.data);
  ir_set(function, "function_type", mlirTypeAttrGet(lowered));
  return status_ok();
}

static heddle_status check_calls(lower_context *c, MlirOperation module) {
  ir_operations calls = ir_collect(c->scratch, module, "func.call");
  for (int i = 0; i < calls.size; i++)
    for (intptr_t r = 0; r < mlirOperationGetNumResults(calls.data[i]); r++)
      if (is_tensor(ir_result_type(calls.data[i], (int)r)))
        return status_error(HEDDLE_INTERNAL, "a call returns a tensor: %s",
                            ir_operation_text(c->scratch, calls.data[i]));
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  TRY(check_calls(c, module));
  tensor_origins origins;
  tensor_origins_begin(&origins, c, module);
  for (size_t k = 0; k < sizeof accesses / sizeof *accesses; k++) {
    ir_operations found = ir_collect(c->scratch, module, accesses[k].name);
    for (int i = 0; i < found.size; i++) TRY(accesses[k].lower(&origins, found.data[i]));
  }
  ir_operations functions = ir_collect(c->scratch, module, "func.func");
  for (int i = 0; i < functions.size; i++) TRY(lower_signature(&origins, functions.data[i]));
  // Loops first: their arguments are followed to constants and allocations that are replaced afterwards.
  ir_operations ops = ir_collect(c->scratch, module, NULL);
  for (int i = 0; i < ops.size; i++)
    if (!is_whole(ops.data[i])) TRY(retype_operation(&origins, ops.data[i]));
  for (int i = 0; i < ops.size; i++)
    if (mlirOperationGetNumResults(ops.data[i]) == 1 && is_whole(ops.data[i])) TRY(lower_whole(&origins, ops.data[i]));
  return status_ok();
}

const pass lower_tensors = {
    .name = "xla-gpu-lower-tensors",
    .summary = "tensor accesses -> loads and stores, tensor arguments -> pointers",
    .order_reason = "behind everything that takes tensors for values: here they become memory",
    .use = PASS_NEEDED,
    .run = run,
};
