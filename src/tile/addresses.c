// iree-codegen-addresses: accesses to memory become loads and stores of the LLVM dialect, whose addresses share what is
// equal in them (lower/shared_addresses.h). As MLIR converts them, each has all of its address for itself.
#include "base/map.h"
#include "emit/ir_builder.h"
#include "lower/llvm_build.h"
#include "lower/shared_addresses.h"
#include "tile/passes.h"
#include "tile/views.h"

typedef struct addresses {
  arena *arena;
  shared_addresses *shared;
  ptr_map pointers;  // by memory that is no part of other memory
} addresses;

// --- where memory begins

static bool is_of_memory(MlirOperation op) {
  return mlirOperationGetNumOperands(op) > 0 && mlirTypeIsAMemRef(mlirValueGetType(ir_operand(op, 0)));
}

// Views whose first element is their source's, counted from the same place.
static bool keeps_offset(MlirOperation op) {
  if (ir_is(op, "memref.extract_strided_metadata") || ir_is(op, "builtin.unrealized_conversion_cast"))
    return is_of_memory(op);
  return views_is_one(op) && !ir_is(op, "memref.subview");
}

static bool add_offsets(addresses *a, shared_addresses_sum *s, MlirOperation view) {
  const bool is_cast = ir_is(view, "memref.reinterpret_cast");  // which counts from where all memory begins
  MlirType source = mlirValueGetType(ir_operand(view, 0));
  const int rank = (int)mlirShapedTypeGetRank(source);
  int64_t own, *strides = arena_array(a->arena, int64_t, rank + 1);
  if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(source, strides, &own))) return false;
  MlirAttribute offsets = ir_get(view, "static_offsets");
  for (int d = 0, at = 1; d < mlirDenseArrayGetNumElements(offsets); d++) {
    const int64_t fixed = mlirDenseI64ArrayGetElement(offsets, d), stride = is_cast ? 1 : strides[d];
    if (mlirShapedTypeIsDynamicStrideOrOffset(stride)) return false;
    if (mlirShapedTypeIsDynamicStrideOrOffset(fixed))
      shared_addresses_add(a->shared, s, ir_operand(view, at++), stride);
    else shared_addresses_add_number(s, fixed, stride);
  }
  return true;
}

static bool offset_of(MlirType memory, int64_t *strides, int64_t *out) {
  return mlirLogicalResultIsSuccess(mlirMemRefTypeGetStridesAndOffset(memory, strides, out)) &&
         !mlirShapedTypeIsDynamicStrideOrOffset(*out);
}

// What a memory is a part of, with the number of its first element there added.
static bool find_start(addresses *a, MlirValue memory, shared_addresses_sum *s, MlirValue *out) {
  bool is_known = false;
  for (;;) {
    MlirOperation op = ir_defining_op(memory);
    MlirType type = mlirValueGetType(memory);
    int64_t offset;
    if (ir_is_null(op)) return false;
    if (!is_known && offset_of(type, arena_array(a->arena, int64_t, mlirShapedTypeGetRank(type) + 1), &offset)) {
      shared_addresses_add_number(s, offset, 1);
      is_known = true;
    }
    const bool moves = ir_is(op, "memref.subview") || ir_is(op, "memref.reinterpret_cast");
    if (!moves && !keeps_offset(op)) break;
    if (moves && !is_known && !add_offsets(a, s, op)) return false;
    is_known |= ir_is(op, "memref.reinterpret_cast");
    memory = ir_operand(op, 0);
  }
  *out = memory;
  return is_known;
}

static MlirValue pointer_of(addresses *a, MlirValue memory) {
  MlirValue known = {ptr_map_get(&a->pointers, memory.ptr)};
  if (known.ptr) return known;
  ir_builder b = ir_builder_after(ir_defining_op(memory), a->arena);
  const int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(memory));
  MlirValue descriptor =
      ir_cast(&b, "builtin.unrealized_conversion_cast", llvm_build_descriptor_type(&b, rank), memory);
  MlirValue made = llvm_build_descriptor_pointer(&b, descriptor);
  ptr_map_put(a->arena, &a->pointers, memory.ptr, (void *)made.ptr);
  return made;
}

// --- accesses

static bool is_stored_as_is(MlirType t) {
  if (mlirTypeIsAF32(t) || mlirTypeIsAF64(t)) return true;
  if (!mlirTypeIsAInteger(t) || !mlirIntegerTypeIsSignless(t)) return false;
  const int bits = ir_bit_width(t);
  return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

// An access to single elements or to a row of them, none of which is kept out of caches.
static bool is_plain(MlirOperation access, MlirType value, MlirType memory) {
  MlirAttribute streams = ir_get(access, "nontemporal");
  if (!mlirAttributeIsNull(streams) && !(mlirAttributeIsABool(streams) && !mlirBoolAttrGetValue(streams))) return false;
  const MlirType element = ir_element_type(memory);
  if (!is_stored_as_is(element) || !mlirTypeEqual(ir_element_type(value), element)) return false;
  return !ir_is_vector(value) || (mlirShapedTypeGetRank(value) == 1 && !mlirVectorTypeIsScalable(value));
}

// The sum of the indices, which stand behind the memory among the operands.
static bool add_indices(addresses *a, shared_addresses_sum *s, MlirOperation access, int first, bool is_row) {
  MlirType memory = mlirValueGetType(ir_operand(access, first));
  const int rank = (int)mlirShapedTypeGetRank(memory);
  int64_t own, *strides = arena_array(a->arena, int64_t, rank + 1);
  if (mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(memory, strides, &own))) return false;
  if (is_row && (rank == 0 || strides[rank - 1] != 1)) return false;
  for (int d = 0; d < rank; d++) {
    if (mlirShapedTypeIsDynamicStrideOrOffset(strides[d])) return false;
    shared_addresses_add(a->shared, s, ir_operand(access, first + 1 + d), strides[d]);
  }
  return true;
}

// The address of an access of that value, whose memory is operand number `first`; null if it stays as it is.
static MlirValue address_of(addresses *a, MlirOperation access, int first, MlirValue value) {
  const MlirValue none = {NULL}, memory = ir_operand(access, first);
  const MlirType type = mlirValueGetType(memory), accessed = mlirValueGetType(value);
  shared_addresses_sum *s = shared_addresses_begin_sum(a->shared);
  MlirValue start;
  if (!is_plain(access, accessed, type)) return none;
  if (!add_indices(a, s, access, first, ir_is_vector(accessed)) || !find_start(a, memory, s, &start)) return none;
  return shared_addresses_build(a->shared, pointer_of(a, start), ir_defining_op(start), ir_element_type(type), s,
                                access);
}

static int alignment_of(MlirValue value) { return ir_bit_width(ir_element_type(mlirValueGetType(value))) / 8; }

static void convert_load(addresses *a, MlirOperation load) {
  MlirValue value = ir_result(load, 0), address = address_of(a, load, 0, value);
  if (!address.ptr) return;
  ir_builder b = ir_builder_before(load, a->arena);
  MlirValue loaded = llvm_build_load(&b, mlirValueGetType(value), address, alignment_of(value), false);
  ir_replace(load, &loaded);
}

static void convert_store(addresses *a, MlirOperation store) {
  MlirValue value = ir_operand(store, 0), address = address_of(a, store, 1, value);
  if (!address.ptr) return;
  ir_builder b = ir_builder_before(store, a->arena);
  llvm_build_store(&b, value, address, alignment_of(value));
  ir_erase(store);
}

static heddle_status run(pass_context *context, void *unit) {
  lower_context *c = lower_context_of(context);
  const MlirOperation module = {unit};
  addresses a = {.arena = c->scratch, .shared = shared_addresses_begin(c->scratch, module)};
  const ir_operations all = ir_collect(c->scratch, module, NULL);
  for (int k = 0; k < all.size; k++) {
    if (ir_is(all.data[k], "vector.load") || ir_is(all.data[k], "memref.load")) convert_load(&a, all.data[k]);
    else if (ir_is(all.data[k], "vector.store") || ir_is(all.data[k], "memref.store")) convert_store(&a, all.data[k]);
  }
  return status_ok();
}

const pass tile_addresses = {
    .name = "iree-codegen-addresses",
    .summary = "accesses to memory to loads and stores, with the parts of addresses that they share",
    .order_reason = "once each access is of a number or a row, of types that memory has",
    .use = PASS_IMPROVES,
    .run = run,
};
