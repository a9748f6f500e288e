// iree-codegen-verify-memory: the proof that a dispatch region needs no memory but its bindings' and its workgroups'.
//
// Whoever calls regions orders memory between them, and cannot know of more. So a region on buffers may name memory in
// these ways only: what a binding stands for (iree.placeholder), constants, a part or another view of memory that it
// may name, and buffers of known size, which together are no larger than what a workgroup has. Every operation that
// makes a memref is looked at; an unknown one is an error. What the buffers come to is written into the function's
// attribute iree.workgroup_memory. The proof is made again when the region becomes a kernel, whose buffers are on the
// stack.
#include "tile/local_memory.h"

#include <mlir-c/BuiltinAttributes.h>

#include "emit/ir_builder.h"
#include "tile/passes.h"

#define WORKGROUP_MEMORY "iree.workgroup_memory"

enum { LOCAL_BYTES_MAX = 1 << 19, LOCAL_ALIGNMENT = 64 };  // of a workgroup, on the stack of whoever runs it

// --- sizes

static int64_t element_bits(MlirType t) {
  if (mlirTypeIsAComplex(t)) return 2 * element_bits(mlirComplexTypeGetElementType(t));
  if (mlirTypeIsAInteger(t) || mlirTypeIsAFloat(t) || mlirTypeIsAIndex(t)) return ir_bit_width(t);
  if (!mlirTypeIsAVector(t)) return -1;
  int64_t bits = element_bits(mlirShapedTypeGetElementType(t));
  for (int d = 0; d < mlirShapedTypeGetRank(t); d++) bits *= mlirShapedTypeGetDimSize(t, d);
  return bits;
}

// Of a buffer of this type; -1 if they are not known.
static int64_t bytes_of(MlirType memory) {
  const int64_t bits = element_bits(mlirShapedTypeGetElementType(memory));
  int64_t bytes = bits < 0 ? -1 : (bits + 7) / 8;
  for (int d = 0; d < mlirShapedTypeGetRank(memory) && bytes >= 0; d++)
    if (mlirShapedTypeIsDynamicDim(memory, d) ||
        __builtin_mul_overflow(bytes, mlirShapedTypeGetDimSize(memory, d), &bytes))
      bytes = -1;
  return bytes;
}

// --- the proof

static bool is_one_of(MlirOperation op, const char *const *names) {
  bool any = false;
  for (; *names; names++) any |= ir_is(op, *names);
  return any;
}

static bool makes_memory(MlirOperation op) {
  bool any = false;
  for (int k = 0; k < mlirOperationGetNumResults(op); k++) {
    MlirType t = ir_result_type(op, k);
    any |= mlirTypeIsAMemRef(t) || mlirTypeIsAUnrankedMemRef(t);
  }
  return any;
}

// What a region's buffers come to so far. One loop over workgroups after the other uses the same memory.
typedef struct need {
  int64_t outside, largest;  // of loops over workgroups, and in the one that needs most
  int64_t current;           // in the one whose operations are looked at
} need;

// The loop over workgroups that the operation is in; null if it is in none.
static MlirOperation loop_around(MlirOperation op) {
  while (!ir_is_null(op) && !ir_is(op, "scf.forall")) op = mlirOperationGetParentOperation(op);
  return op;
}

// Why the region may not have the operation, null if it may.
static const char *objection(MlirOperation op, need *n) {
  static const char *const given[] = {"iree.placeholder", "memref.get_global", NULL};
  static const char *const buffers[] = {"memref.alloc", "memref.alloca", NULL};
  // Their results, and what they carry, are values that were looked at where they were made.
  static const char *const views[] = {"memref.subview",
                                      "memref.cast",
                                      "memref.collapse_shape",
                                      "memref.expand_shape",
                                      "memref.transpose",
                                      "memref.reinterpret_cast",
                                      "memref.reshape",
                                      "memref.view",
                                      "memref.memory_space_cast",
                                      "arith.select",
                                      "scf.for",
                                      "scf.if",
                                      "scf.while",
                                      NULL};
  static const char *const calls[] = {"func.call", "func.call_indirect", "llvm.call", NULL};
  if (is_one_of(op, calls)) return "a dispatch region calls a function, of whose memory nothing is known";
  if (!makes_memory(op) || is_one_of(op, given) || is_one_of(op, views)) return NULL;
  if (!is_one_of(op, buffers)) return "a dispatch region uses memory that is neither a binding's nor a workgroup's";
  const int64_t own = bytes_of(ir_result_type(op, 0));
  if (own < 0) return "a dispatch region needs memory of its own, of a size that is not known";
  int64_t *bytes = ir_is_null(loop_around(op)) ? &n->outside : &n->current;
  *bytes = own > LOCAL_BYTES_MAX ? own : *bytes + own;
  if (n->current > n->largest) n->largest = n->current;
  return n->outside + n->largest > LOCAL_BYTES_MAX
             ? "a dispatch region needs memory of its own: more than its workgroups have"
             : NULL;
}

// *bytes is what the region's buffers come to.
static heddle_status prove(lower_context *c, MlirOperation function, int64_t *bytes) {
  const ir_operations all = ir_collect(c->scratch, function, NULL);
  need n = {0};
  *bytes = 0;
  for (int k = 0; k < all.size; k++) {
    // A loop comes behind all that is in it.
    if (ir_is(all.data[k], "scf.forall")) n.current = 0;
    const char *why = objection(all.data[k], &n);
    *bytes = n.outside + n.largest;
    if (why) return ir_refuse(all.data[k], HEDDLE_UNIMPLEMENTED, "%s", why);
  }
  return status_ok();
}

static bool is_region(MlirOperation function) {
  MlirBlock block = ir_body(function, 0);
  return !mlirBlockIsNull(block) && mlirBlockGetNumArguments(block) == 0;
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  TRY(lower_upstream(context, unit, "canonicalize"));  // sizes that are constants are part of types then
  const ir_operations functions = ir_collect(c->scratch, (MlirOperation){unit}, "func.func");
  for (int k = 0; k < functions.size; k++) {
    int64_t bytes;
    if (!is_region(functions.data[k])) continue;
    TRY(prove(c, functions.data[k], &bytes));
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
  MlirOperation around = loop_around(alloc);
  for (int k = 0; k < loops->size && loops->size > 1; k++)
    if (mlirOperationEqual(loops->data[k], around)) return k;
  return -1;
}

static void place_buffers(lower_context *c, MlirOperation function) {
  const ir_operations allocs = ir_collect(c->scratch, function, "memref.alloc"),
                      loops = ir_collect(c->scratch, function, "scf.forall");
  ir_builder start = ir_builder_before(mlirBlockGetFirstOperation(ir_body(function, 0)), c->scratch);
  int64_t shared = 0, *used = arena_array(c->scratch, int64_t, loops.size),
          *at = arena_array(c->scratch, int64_t, allocs.size);
  for (int k = 0; k < loops.size; k++) used[k] = 0;
  for (int k = 0; k < allocs.size; k++) {
    const int loop = loop_of(&loops, allocs.data[k]);
    at[k] = 0;
    if (loop < 0) continue;
    const int64_t bytes = bytes_of(ir_result_type(allocs.data[k], 0));
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
  TRY(prove(c, function, &bytes));
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
