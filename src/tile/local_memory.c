// iree-codegen-verify-memory: the proof that a dispatch region needs no memory but its bindings' and its workgroups'.
//
// What the buffers come to is written into the function's attribute iree.workgroup_memory (memory_proof.h). The proof
// is made again when the region becomes a kernel, whose buffers are on the stack, in one place where the function
// begins.
#include "tile/local_memory.h"

#include <mlir-c/BuiltinAttributes.h>

#include "emit/ir_builder.h"
#include "lower/passes.h"
#include "tile/memory_proof.h"
#include "tile/passes.h"

#define WORKGROUP_MEMORY "iree.workgroup_memory"

enum { LOCAL_ALIGNMENT = 64 };

static bool is_region(MlirOperation function) {
  MlirBlock block = ir_body(function, 0);
  return !mlirBlockIsNull(block) && mlirBlockGetNumArguments(block) == 0;
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  TRY(lower_canonicalize.run(context, unit));  // sizes that are constants are part of types then
  const ir_operations functions = ir_collect(c->scratch, (MlirOperation){unit}, "func.func");
  for (int k = 0; k < functions.size; k++) {
    int64_t bytes;
    if (!is_region(functions.data[k])) continue;
    TRY(memory_proof_make(c->scratch, functions.data[k], &bytes));
    ir_set(functions.data[k], WORKGROUP_MEMORY, mlirIntegerAttrGet(mlirIntegerTypeGet(c->context, 64), bytes));
  }
  return status_ok();
}

// --- where it is

// A CPU's memories are one.
static void forget_spaces(arena *a, MlirOperation function) {
  const ir_operations all = ir_collect(a, function, NULL);
  for (int k = 0; k < all.size; k++)
    for (int r = 0; r < mlirOperationGetNumResults(all.data[k]); r++) {
      MlirType t = ir_result_type(all.data[k], r);
      if (!mlirTypeIsAMemRef(t) || mlirAttributeIsNull(mlirMemRefTypeGetMemorySpace(t))) continue;
      mlirValueSetType(ir_result(all.data[k], r),
                       mlirMemRefTypeGet(ir_element_type(t), mlirShapedTypeGetRank(t), ir_dims(a, t),
                                         mlirMemRefTypeGetLayout(t), mlirAttributeGetNull()));
    }
}

// Of buffers that are on the stack.
static void erase_deallocations(arena *a, MlirOperation function) {
  const ir_operations all = ir_collect(a, function, "memref.dealloc");
  for (int k = 0; k < all.size; k++) ir_erase(all.data[k]);
}

static MlirValue make_buffer(ir_builder *b, MlirType type) {
  MlirNamedAttribute attributes[] = {
      ir_named_text(b->context, "operandSegmentSizes", "array<i32: 0, 0>"),
      ir_named(b->context, "alignment", mlirIntegerAttrGet(mlirIntegerTypeGet(b->context, 64), LOCAL_ALIGNMENT)),
  };
  return ir_value_with(b, "memref.alloca", type, 0, NULL, 2, attributes);
}

// The number of the loop over workgroups that the buffer is in; -1 if it shares its place with none.
static int loop_of(const ir_operations *loops, MlirOperation alloc) {
  MlirOperation around = memory_proof_workgroups(alloc);
  for (int k = 0; k < loops->size && loops->size > 1; k++)
    if (mlirOperationEqual(loops->data[k], around)) return k;
  return -1;
}

static ir_operations outermost_loops(arena *a, MlirOperation function) {
  const ir_operations all = ir_collect(a, function, "scf.forall");
  ir_operations out = {0};
  for (int k = 0; k < all.size; k++)
    if (mlirOperationEqual(memory_proof_workgroups(all.data[k]), all.data[k])) vec_push(a, &out, all.data[k]);
  return out;
}

static void place_buffers(lower_context *c, MlirOperation function) {
  const ir_operations allocs = memory_proof_buffers(c->scratch, function),
                      loops = outermost_loops(c->scratch, function);
  ir_builder start = ir_builder_before(mlirBlockGetFirstOperation(ir_body(function, 0)), c->scratch);
  int64_t shared = 0, *used = arena_array(c->scratch, int64_t, loops.size),
          *at = arena_array(c->scratch, int64_t, allocs.size);
  for (int k = 0; k < loops.size; k++) used[k] = 0;
  for (int k = 0; k < allocs.size; k++) {
    const int loop = loop_of(&loops, allocs.data[k]);
    at[k] = 0;
    if (loop < 0) continue;
    const int64_t bytes = memory_proof_bytes(ir_result_type(allocs.data[k], 0));
    at[k] = used[loop];
    used[loop] += (bytes + LOCAL_ALIGNMENT - 1) / LOCAL_ALIGNMENT * LOCAL_ALIGNMENT;
    if (used[loop] > shared) shared = used[loop];
  }
  MlirType byte = mlirIntegerTypeGet(c->context, 8);
  MlirValue memory = {0};
  if (shared > 0) memory = make_buffer(&start, mlirMemRefTypeContiguousGet(byte, 1, &shared, mlirAttributeGetNull()));
  for (int k = 0; k < allocs.size; k++) {
    MlirType type = ir_result_type(allocs.data[k], 0);
    const bool shares = loop_of(&loops, allocs.data[k]) >= 0;
    MlirValue operands[] = {memory, shares ? ir_index(&start, at[k]) : memory};
    MlirValue local = shares ? ir_value(&start, "memref.view", type, 2, operands) : make_buffer(&start, type);
    ir_replace(allocs.data[k], &local);
  }
}

heddle_status local_memory_place(lower_context *c, MlirOperation function) {
  int64_t bytes;
  TRY(memory_proof_make(c->scratch, function, &bytes));
  ir_unset(function, WORKGROUP_MEMORY);
  forget_spaces(c->scratch, function);
  erase_deallocations(c->scratch, function);
  place_buffers(c, function);
  return status_ok();
}

const pass tile_verify_memory = {
    .name = "iree-codegen-verify-memory",
    .summary = "proves that a region needs no memory but its bindings' and what a workgroup has",
    .order_reason = "behind the last pass that makes buffers",
    .use = PASS_NEEDED,
    .run = run,
};
