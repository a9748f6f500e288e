// Follows tensor values back to the memory they stand for, and makes the globals behind constants and shared memory.
//
// Tensors have value semantics up to lower-tensors, but by construction each is a chain of inserts over one function
// argument or allocation. The chain is followed here, so that an access is an offset of the argument itself and not of
// some loop-carried copy of the pointer: noalias and invariant are promises about arguments.
#include "lower/tensor_memory.h"

#include <mlir-c/Dialect/LLVM.h>

#include "lower/llvm_build.h"

enum { SHARED_SPACE = 3, MAX_CHAIN = 1 << 20 };

static bool is_tensor(MlirType t) { return mlirTypeIsARankedTensor(t); }

// --- beginning

static bool is_large(MlirType t) { return is_tensor(t) && ir_element_count(t) > INT32_MAX; }

static bool has_large_tensor(arena *a, MlirOperation module) {
  ir_operations ops = ir_collect(a, module, NULL);
  for (int i = 0; i < ops.size; i++)
    for (intptr_t r = 0; r < mlirOperationGetNumOperands(ops.data[i]); r++)
      if (is_large(mlirValueGetType(ir_operand(ops.data[i], (int)r)))) return true;
  return false;
}

void tensor_origins_begin(tensor_origins *o, lower_context *c, MlirOperation module) {
  bool large = has_large_tensor(c->scratch, module);
  *o = (tensor_origins){.context = c, .module = module, .index_bits = large ? 64 : c->options->target.index_bits};
  // lower-to-llvm gives `index` this width; by then no tensor is left to tell.
  if (large) ir_set(module, "xla.index_bits", mlirIntegerAttrGet(mlirIntegerTypeGet(c->context, 64), 64));
  ir_operations functions = ir_collect(c->scratch, module, "func.func");
  for (int i = 0; i < functions.size; i++) {
    MlirBlock body = ir_body(functions.data[i], 0);
    if (mlirBlockIsNull(body)) continue;
    for (intptr_t k = 0; k < mlirBlockGetNumArguments(body); k++) {
      MlirValue argument = mlirBlockGetArgument(body, k);
      MlirType type = mlirValueGetType(argument);
      if (!is_tensor(type)) continue;
      ptr_map_put(c->scratch, &o->argument_tensor, argument.ptr, (void *)type.ptr);
      mlirBlockArgumentSetType(argument, llvm_build_pointer_type(c->context, 0));
    }
  }
}

// --- following a value to its origin

static MlirValue step_argument(MlirValue v) {
  int number = (int)mlirBlockArgumentGetArgNumber(v);
  MlirBlock block = mlirBlockArgumentGetOwner(v);
  MlirOperation owner = mlirBlockGetParentOperation(block);
  if (ir_is(owner, "scf.for")) return ir_operand(owner, number + 2);
  if (ir_is(owner, "scf.while")) {
    MlirBlock before = ir_body(owner, 0);
    return mlirBlockEqual(block, before) ? ir_operand(owner, number) : ir_operand(ir_terminator(before), number + 1);
  }
  return v;
}

static MlirValue step_result(MlirValue v) {
  MlirOperation op = ir_defining_op(v);
  int number = (int)mlirOpResultGetResultNumber(v);
  if (ir_is(op, "tensor.insert") || ir_is(op, "vector.transfer_write")) return ir_operand(op, 1);
  if (ir_is(op, "xla_gpu.atomic_rmw")) return ir_operand(op, 0);
  if (ir_is(op, "xla_gpu.sync_threads")) return ir_operand(op, number);
  if (ir_is(op, "scf.for")) return ir_operand(op, number + 3);
  if (ir_is(op, "scf.if")) return ir_operand(ir_terminator(ir_body(op, 0)), number);
  if (ir_is(op, "scf.while")) return ir_operand(ir_terminator(ir_body(op, 0)), number + 1);
  return v;
}

// The origin itself steps to itself.
static MlirValue origin_of(MlirValue v) {
  for (int i = 0; i < MAX_CHAIN; i++) {
    MlirValue next = mlirValueIsABlockArgument(v) ? step_argument(v) : step_result(v);
    if (mlirValueEqual(next, v)) return v;
    v = next;
  }
  return v;
}

// --- constants

static uint8_t element_bits(MlirAttribute element) {
  if (mlirAttributeIsABool(element)) return mlirBoolAttrGetValue(element);
  return (uint8_t)mlirIntegerAttrGetValueInt(element);
}

// Constants LLVM has no element type for, as an array of their stored type.
static MlirAttribute small_integers_as_bytes(arena *a, MlirAttribute value, MlirType element, int64_t count) {
  int per_byte = tensor_access_per_byte(element), bits = ir_bit_width(element);
  int64_t slots = tensor_access_slots(element, count);
  int8_t *bytes = arena_array(a, int8_t, slots);
  uint64_t position[1];
  for (int64_t i = 0; i < count; i++) {
    position[0] = (uint64_t)i;
    bool rank0 = mlirShapedTypeGetRank(mlirAttributeGetType(value)) == 0;
    MlirAttribute one = mlirElementsAttrGetValue(value, rank0 ? 0 : 1, position);
    unsigned mask = (1u << bits) - 1;
    unsigned shifted = (element_bits(one) & mask) << (i % per_byte * bits);
    bytes[i / per_byte] = (int8_t)((uint8_t)bytes[i / per_byte] | shifted);
  }
  MlirType i8 = mlirIntegerTypeGet(mlirAttributeGetContext(value), 8);
  MlirType type = mlirRankedTensorTypeGet(1, &slots, i8, mlirAttributeGetNull());
  return mlirDenseElementsAttrInt8Get(type, slots, bytes);
}

static MlirAttribute reinterpreted(arena *a, MlirAttribute value, MlirType element, int64_t count) {
  MlirType stored = tensor_access_stored_type(element);
  int64_t slots = tensor_access_slots(element, count);
  MlirType type = mlirRankedTensorTypeGet(1, &slots, stored, mlirAttributeGetNull());
  size_t bytes = (size_t)(mlirTypeIsAComplex(element) ? 2 : 1) * (size_t)tensor_access_bytes(stored);
  const char *raw = mlirDenseElementsAttrGetRawData(value);
  if (!mlirDenseElementsAttrIsSplat(value)) return mlirDenseElementsAttrRawBufferGet(type, bytes * (size_t)count, raw);
  char *all = arena_alloc(a, bytes * (size_t)count);
  for (int64_t i = 0; i < count; i++) memcpy(all + (size_t)i * bytes, raw, bytes);
  return mlirDenseElementsAttrRawBufferGet(type, bytes * (size_t)count, all);
}

static MlirAttribute stored_constant(arena *a, MlirAttribute value, MlirType tensor) {
  MlirType element = ir_element_type(tensor);
  int64_t count = ir_element_count(tensor);
  if (mlirTypeIsAInteger(element) && ir_bit_width(element) < 8)
    return small_integers_as_bytes(a, value, element, count);
  if (mlirTypeEqual(element, tensor_access_stored_type(element)) && mlirShapedTypeGetRank(tensor) == 1) return value;
  return reinterpreted(a, value, element, count);
}

static const char *constant_name(tensor_origins *o, MlirOperation op, MlirType tensor) {
  arena *a = o->context->scratch;
  MlirAttribute value = ir_get(op, "value");
  const char *known = ptr_map_get(&o->constant_global, value.ptr);
  if (known) return known;
  const char *name = arena_printf(a, "global_cst_%d", o->constant_count++);
  ptr_map_put(a, &o->constant_global, value.ptr, (void *)name);
  MlirType element = ir_element_type(tensor);
  int64_t slots = tensor_access_slots(element, ir_element_count(tensor));
  llvm_build_global_variable(
      o->module,
      (llvm_build_global){.name = name,
                          .type = mlirLLVMArrayTypeGet(tensor_access_stored_type(element), (unsigned)slots),
                          .value = stored_constant(a, value, tensor),
                          .alignment = o->context->options->target.constant_alignment,
                          .constant = true},
      a);
  return name;
}

static const char *shared_name(tensor_origins *o, MlirOperation op, MlirType tensor) {
  arena *a = o->context->scratch;
  const char *known = ptr_map_get(&o->shared_global, op.ptr);
  if (known) return known;
  const char *name = arena_printf(a, "shared_%d", o->shared_count++);
  ptr_map_put(a, &o->shared_global, op.ptr, (void *)name);
  MlirType element = ir_element_type(tensor);
  int64_t slots = tensor_access_slots(element, ir_element_count(tensor));
  llvm_build_global_variable(
      o->module,
      (llvm_build_global){.name = name,
                          .type = mlirLLVMArrayTypeGet(tensor_access_stored_type(element), (unsigned)slots),
                          .address_space = SHARED_SPACE,
                          .alignment = o->context->options->target.shared_alignment},
      a);
  return name;
}

// On the CPU one thread runs a tile from its beginning to its end: what its threads share is a piece of its stack,
// taken when the function is entered.
static MlirValue stack_memory(tensor_origins *o, MlirOperation op, MlirType tensor) {
  arena *a = o->context->scratch;
  const void *known = ptr_map_get(&o->shared_global, op.ptr);
  if (known) return (MlirValue){known};
  MlirOperation function = op;
  while (!ir_is(function, "func.func")) function = mlirOperationGetParentOperation(function);
  MlirBlock body = ir_body(function, 0);
  ir_builder b = ir_builder_at_end(o->context->context, body, a);
  b.before = mlirBlockGetFirstOperation(body);
  MlirType element = ir_element_type(tensor), i64 = mlirIntegerTypeGet(b.context, 64);
  int64_t slots = tensor_access_slots(element, ir_element_count(tensor));
  MlirType array = mlirLLVMArrayTypeGet(tensor_access_stored_type(element), (unsigned)slots);
  MlirValue one = ir_int(&b, i64, 1);
  const int alignment = o->context->options->target.constant_alignment;
  MlirNamedAttribute attributes[] = {ir_named(b.context, "elem_type", mlirTypeAttrGet(array)),
                                     ir_named(b.context, "alignment", mlirIntegerAttrGet(i64, alignment))};
  MlirValue pointer = ir_value_with(&b, "llvm.alloca", llvm_build_pointer_type(b.context, 0), 1, &one, 2, attributes);
  ptr_map_put(a, &o->shared_global, op.ptr, (void *)pointer.ptr);
  return pointer;
}

// --- memory

static bool argument_is(MlirValue argument, const char *attribute, MlirAttribute *out) {
  MlirOperation function = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(argument));
  *out = ir_argument_attribute(function, (int)mlirBlockArgumentGetArgNumber(argument), attribute);
  return !mlirAttributeIsNull(*out);
}

static void argument_memory(MlirValue argument, tensor_memory *out) {
  MlirAttribute attribute;
  out->pointer = argument;
  out->invariant = argument_is(argument, "xla.invariant", &attribute);
  if (argument_is(argument, "llvm.align", &attribute)) out->alignment = (int)mlirIntegerAttrGetValueInt(attribute);
}

heddle_status tensor_origins_memory(tensor_origins *o, ir_builder *b, MlirValue tensor, MlirType element,
                                    tensor_memory *out) {
  const target_description *target = &o->context->options->target;
  bool gpu = target->has_grid;
  *out = (tensor_memory){.element = element,
                         .index_bits = o->index_bits,
                         .alignment = tensor_access_bytes(tensor_access_stored_type(element)),
                         .shared_by_threads = gpu};
  MlirValue origin = origin_of(tensor);
  const void *argument_type = ptr_map_get(&o->argument_tensor, origin.ptr);
  MlirOperation op = {0};
  MlirType type = {argument_type};
  if (argument_type) {
    argument_memory(origin, out);
  } else if (!mlirValueIsABlockArgument(origin)) {
    op = ir_defining_op(origin);
    type = mlirValueGetType(origin);
  }
  if (mlirTypeIsNull(type) || !is_tensor(type))
    return status_error(HEDDLE_INTERNAL, "a tensor that stands for no argument, constant or allocation");
  if (mlirShapedTypeGetRank(type) > 1)
    return status_error(HEDDLE_INTERNAL, "%s is not flat: flatten-tensors has to run first",
                        ir_type_text(b->arena, type));
  if (argument_type) return status_ok();
  if (ir_is(op, "arith.constant")) {
    out->pointer = llvm_build_address_of(b, constant_name(o, op, type), 0);
    out->invariant = true;
    out->alignment = target->constant_alignment;
  } else if (ir_is(op, "xla_gpu.allocate_shared") && gpu) {
    out->address_space = SHARED_SPACE;
    out->pointer = llvm_build_address_of(b, shared_name(o, op, type), out->address_space);
    out->alignment = target->shared_alignment;
  } else if (ir_is(op, "xla_gpu.allocate_shared")) {
    out->pointer = stack_memory(o, op, type);
    out->alignment = target->constant_alignment;
  } else {
    return status_error(HEDDLE_INTERNAL, "no memory known behind %s", ir_operation_text(b->arena, op));
  }
  return status_ok();
}

heddle_status tensor_origins_pointer_type(tensor_origins *o, MlirValue tensor, MlirType *out) {
  MlirValue origin = origin_of(tensor);
  bool shared = !mlirValueIsABlockArgument(origin) && ir_is(ir_defining_op(origin), "xla_gpu.allocate_shared");
  if (mlirValueIsABlockArgument(origin) && !ptr_map_has(&o->argument_tensor, origin.ptr))
    return status_error(HEDDLE_INTERNAL, "a tensor that stands for no argument, constant or allocation");
  bool gpu = o->context->options->target.has_grid;
  *out = llvm_build_pointer_type(o->context->context, shared && gpu ? SHARED_SPACE : 0);
  return status_ok();
}
