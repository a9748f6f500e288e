// iree-codegen-memory-to-pointers: what is left of memory in a workitem's code becomes pointers and numbers of
// elements.
//
// Bindings become the function's arguments, a workgroup's buffers variables of the module in the memory that a
// workgroup shares, a workitem's own are on its stack. All memory is an array of elements in a row by now: a view of it
// is an offset, and strides that its type has, so that an access is one element's number. Devices take neither
// descriptors nor the fields of structs, of which MLIR's own lowering makes them.
#include "tile/own_interface.h"
#include "tile/passes.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "base/int64.h"
#include "emit/ir_builder.h"
#include "lower/llvm_build.h"
#include "lower/tensor_access.h"
#include "tile/points.h"
#include "tile/views.h"
#include "tile/workgroups.h"

enum { SHARED_SPACE = 3 };

// A variable that workgroups' buffers are in, those that are never needed at the same time.
typedef struct shared_array {
  const char *name;
  MlirType element;
  int64_t count;
  VEC(MlirOperation) allocs;
} shared_array;

typedef struct pointers {
  lower_context *context;
  MlirOperation module, function;
  workgroups_bindings bindings;
  VEC(shared_array) arrays;
  ptr_map memories;  // by value that views begin with: tensor_memory
  int index_bits;
} pointers;

static void remember(pointers *p, MlirValue memory, MlirValue pointer, int alignment, int space) {
  const MlirType type = mlirValueGetType(memory);
  tensor_memory *m = arena_new(p->context->scratch, tensor_memory);
  *m = (tensor_memory){.pointer = pointer,
                       .element = ir_element_type(type),
                       .element_count = ir_element_count(type),
                       .alignment = alignment,
                       .address_space = space,
                       .index_bits = p->index_bits};
  ptr_map_put(p->context->scratch, &p->memories, memory.ptr, m);
}

// --- memory

static heddle_status find_bindings(pointers *p) {
  const ir_operations all = ir_collect(p->context->scratch, p->function, WORKGROUPS_PLACEHOLDER);
  for (int k = 0; k < all.size; k++) {
    const workgroups_binding *binding;
    TRY(workgroups_binding_of(all.data[k], &p->bindings, &binding));
    remember(p, ir_result(all.data[k], 0), binding->pointer, (int)p->context->options->target.buffer_alignment, 0);
  }
  return status_ok();
}

// A buffer of a block is in use from where it stands to the block's end: not at the same time as those of blocks that
// are apart from it, or end before it. `first` stands in front of `second`.
static bool may_meet(MlirOperation first, MlirOperation second) {
  return !ir_is_null(ir_in_block(second, mlirOperationGetBlock(first)));
}

// Whether a workgroup that has the second buffer may have come by the first one: not in another branch.
static bool may_follow(MlirOperation first, MlirOperation second) {
  MlirOperation at = second, beside = ir_in_block(first, mlirOperationGetBlock(at));
  while (ir_is_null(beside)) {
    at = mlirOperationGetParentOperation(at);
    beside = ir_in_block(first, mlirOperationGetBlock(at));
  }
  return !mlirOperationEqual(beside, at);
}

// Workitems that still read what was in the array are waited for.
static void wait_for_readers(pointers *p, const shared_array *s, MlirOperation alloc) {
  bool any = false;
  for (int n = 0; n < s->allocs.size; n++) any |= may_follow(s->allocs.data[n], alloc);
  ir_builder b = ir_builder_before(alloc, p->context->scratch);
  if (any) ir_build(&b, (ir_op_state){.name = "gpu.barrier"});
}

static shared_array *array_for(pointers *p, MlirOperation alloc) {
  arena *a = p->context->scratch;
  const MlirType element = ir_element_type(ir_result_type(alloc, 0));
  for (int k = 0; k < p->arrays.size; k++) {
    shared_array *s = &p->arrays.data[k];
    bool fits = mlirTypeEqual(s->element, element);
    for (int n = 0; n < s->allocs.size && fits; n++) fits = !may_meet(s->allocs.data[n], alloc);
    if (fits) return s;
  }
  const str function = ir_symbol(p->function);
  const shared_array made = {.name = arena_printf(a, STR_FMT "_shared_%d", STR_ARG(function), p->arrays.size),
                             .element = element};
  vec_push(a, &p->arrays, made);
  return &p->arrays.data[p->arrays.size - 1];
}

static heddle_status make_shared(pointers *p) {
  arena *a = p->context->scratch;
  const ir_operations allocs = ir_collect(a, p->function, "memref.alloc");
  const target_description *target = &p->context->options->target;
  int *number = arena_array(a, int, allocs.size);
  int64_t bytes = 0;
  for (int k = 0; k < allocs.size; k++) {
    shared_array *s = array_for(p, allocs.data[k]);
    wait_for_readers(p, s, allocs.data[k]);
    s->count = int64_max(s->count, ir_element_count(ir_result_type(allocs.data[k], 0)));
    number[k] = (int)(s - p->arrays.data);
    vec_push(a, &s->allocs, allocs.data[k]);
  }
  for (int k = 0; k < p->arrays.size; k++) {
    const shared_array *s = &p->arrays.data[k];
    const MlirType stored = tensor_access_stored_type(s->element);
    const int64_t slots = tensor_access_slots(s->element, s->count) * (mlirTypeIsAComplex(s->element) ? 2 : 1);
    bytes += int64_ceil_div(slots * tensor_access_bytes(stored), target->shared_alignment) * target->shared_alignment;
    if (bytes > int64_min(target->shared_bytes, target->grid.static_shared_bytes))
      return ir_refuse(s->allocs.data[0], HEDDLE_UNIMPLEMENTED, "workgroups need more memory than the device has");
    llvm_build_global_variable(p->module,
                               (llvm_build_global){.name = s->name,
                                                   .type = mlirLLVMArrayTypeGet(stored, (unsigned)slots),
                                                   .address_space = SHARED_SPACE,
                                                   .alignment = target->shared_alignment},
                               a);
  }
  ir_builder b = ir_builder_before(mlirBlockGetFirstOperation(ir_body(p->function, 0)), a);
  for (int k = 0; k < allocs.size; k++)
    remember(p, ir_result(allocs.data[k], 0), llvm_build_address_of(&b, p->arrays.data[number[k]].name, SHARED_SPACE),
             target->shared_alignment, SHARED_SPACE);
  return status_ok();
}

static void make_private(pointers *p) {
  const ir_operations all = ir_collect(p->context->scratch, p->function, "memref.alloca");
  for (int k = 0; k < all.size; k++) {
    ir_builder b = ir_builder_before(all.data[k], p->context->scratch);
    const MlirType type = ir_result_type(all.data[k], 0), stored = tensor_access_stored_type(ir_element_type(type));
    const int64_t slots = ir_element_count(type) * (mlirTypeIsAComplex(ir_element_type(type)) ? 2 : 1);
    MlirValue one = ir_int(&b, mlirIntegerTypeGet(b.context, 32), 1);
    const int alignment = tensor_access_bytes(stored);
    const MlirNamedAttribute attributes[] = {
        ir_named(b.context, "elem_type", mlirTypeAttrGet(mlirLLVMArrayTypeGet(stored, (unsigned)slots))),
        ir_named(b.context, "alignment", mlirIntegerAttrGet(mlirIntegerTypeGet(b.context, 64), alignment))};
    remember(p, ir_result(all.data[k], 0),
             ir_value_with(&b, "llvm.alloca", llvm_build_pointer_type(b.context, 0), 1, &one, 2, attributes), alignment,
             0);
  }
}

// --- accesses

// The dims of a view's source that its type kept have its strides; so an offset is all that a view adds.
static heddle_status add_offset(pointers *p, ir_builder *b, MlirOperation view, MlirValue *sum) {
  const MlirType source = mlirValueGetType(ir_operand(view, 0));
  const int rank = (int)mlirShapedTypeGetRank(source);
  int64_t *strides = arena_array(p->context->scratch, int64_t, rank), own;
  if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(source, strides, &own)))
    return ir_refuse(view, HEDDLE_UNIMPLEMENTED, "found memory without strides");
  const MlirAttribute offsets = ir_get(view, "static_offsets");
  for (int d = 0, dynamic = 0; d < rank; d++) {
    const int64_t fixed = mlirDenseI64ArrayGetElement(offsets, d);
    const MlirValue at =
        mlirShapedTypeIsDynamicStrideOrOffset(fixed) ? ir_operand(view, 1 + dynamic++) : ir_index(b, fixed);
    const MlirValue by = ir_binary(b, "arith.muli", at, ir_index(b, strides[d]));
    *sum = sum->ptr ? ir_binary(b, "arith.addi", *sum, by) : by;
  }
  return status_ok();
}

// Where the memory begins that an access goes to, and the number of its element.
static heddle_status find_element(pointers *p, ir_builder *b, MlirOperation op, int operand, const tensor_memory **out,
                                  MlirValue *number) {
  MlirValue memory = ir_operand(op, operand);
  const MlirType type = mlirValueGetType(memory);
  const int rank = (int)mlirShapedTypeGetRank(type);
  int64_t *strides = arena_array(p->context->scratch, int64_t, rank), own;
  if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &own)))
    return ir_refuse(op, HEDDLE_UNIMPLEMENTED, "found memory without strides");
  // Where views begin comes first, since loops do not change it.
  MlirValue sum = {NULL};
  while (!ptr_map_has(&p->memories, memory.ptr)) {
    const MlirOperation view = ir_defining_op(memory);
    if (!ir_is_null(view) && ir_is(view, "memref.subview")) TRY(add_offset(p, b, view, &sum));
    else if (!views_is_one(view))
      return ir_refuse(op, HEDDLE_UNIMPLEMENTED, "found memory that is no array of the device");
    memory = ir_operand(view, 0);
  }
  for (int d = 0; d < rank; d++) {
    if (mlirShapedTypeIsDynamicStrideOrOffset(strides[d]))
      return ir_refuse(op, HEDDLE_UNIMPLEMENTED, "found memory with strides that are not known");
    const MlirValue by = ir_binary(b, "arith.muli", ir_operand(op, operand + 1 + d), ir_index(b, strides[d]));
    sum = sum.ptr ? ir_binary(b, "arith.addi", sum, by) : by;
  }
  *out = ptr_map_get(&p->memories, memory.ptr);
  *number = sum.ptr ? sum : ir_index(b, 0);
  return status_ok();
}

static heddle_status lower_load(pointers *p, MlirOperation op) {
  ir_builder b = ir_builder_before(op, p->context->scratch);
  const tensor_memory *m = NULL;
  MlirValue number = {NULL};
  TRY(find_element(p, &b, op, 0, &m, &number));
  const MlirValue loaded = tensor_access_load(&b, m, number);
  ir_replace(op, &loaded);
  return status_ok();
}

static heddle_status lower_store(pointers *p, MlirOperation op) {
  ir_builder b = ir_builder_before(op, p->context->scratch);
  const tensor_memory *m = NULL;
  MlirValue number = {NULL};
  TRY(find_element(p, &b, op, 1, &m, &number));
  tensor_access_store(&b, m, ir_operand(op, 0), number);
  ir_erase(op);
  return status_ok();
}

// --- functions

// What nobody reads any more, users first.
static heddle_status erase_memory(pointers *p) {
  static const char *const names[] = {"memref.alloca", "memref.alloc", WORKGROUPS_PLACEHOLDER};
  const ir_operations all = ir_collect(p->context->scratch, p->function, NULL);
  for (int k = all.size - 1; k >= 0; k--) {
    bool is_memory = views_is_one(all.data[k]);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++) is_memory |= ir_is(all.data[k], names[n]);
    if (!is_memory) continue;
    if (!mlirOpOperandIsNull(mlirValueGetFirstUse(ir_result(all.data[k], 0))))
      return ir_refuse(all.data[k], HEDDLE_UNIMPLEMENTED, "found memory that is used as a whole");
    ir_erase(all.data[k]);
  }
  return status_ok();
}

static bool has_large_memory(arena *a, MlirOperation function) {
  const ir_operations all = ir_collect(a, function, WORKGROUPS_PLACEHOLDER);
  bool any = false;
  for (int k = 0; k < all.size; k++) any |= ir_element_count(ir_result_type(all.data[k], 0)) > INT32_MAX;
  return any;
}

static heddle_status convert(pointers *p) {
  arena *a = p->context->scratch;
  workgroups_bind(p->context, p->function, &p->bindings);
  TRY(find_bindings(p));
  TRY(make_shared(p));
  make_private(p);
  const ir_operations loads = ir_collect(a, p->function, "memref.load"),
                      stores = ir_collect(a, p->function, "memref.store");
  for (int k = 0; k < loads.size; k++) TRY(lower_load(p, loads.data[k]));
  for (int k = 0; k < stores.size; k++) TRY(lower_store(p, stores.data[k]));
  TRY(erase_memory(p));
  ir_set(p->function, "xla.entry", mlirUnitAttrGet(p->context->context));
  workgroups_lift(p->module, p->function);
  return status_ok();
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  own_interface_make(c->scratch, module);
  const ir_operations functions = ir_collect(c->scratch, module, "func.func");
  for (int k = 0; k < functions.size; k++) {
    if (mlirBlockIsNull(ir_body(functions.data[k], 0))) continue;
    pointers p = {.context = c, .module = module, .function = functions.data[k]};
    const bool is_large = has_large_memory(c->scratch, p.function);
    p.index_bits = is_large ? 64 : c->options->target.index_bits;
    if (is_large) ir_set(module, "xla.index_bits", mlirIntegerAttrGet(mlirIntegerTypeGet(c->context, 64), 64));
    TRY(convert(&p));
  }
  workgroups_forget_interfaces(c->scratch, module);
  return status_ok();
}

const pass tile_pointers = {
    .name = "iree-codegen-memory-to-pointers",
    .summary = "bindings to arguments, buffers to variables, accesses to loads and stores of elements",
    .order_reason = "behind distribution, which says what is whose; before numbers and control flow are lowered",
    .use = PASS_NEEDED,
    .run = run,
};
