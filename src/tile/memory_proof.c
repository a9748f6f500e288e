// One look at each operation: at what it makes, and at what it writes to.
#include "tile/memory_proof.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Support.h>

#include "tile/workgroups.h"

// Of a workgroup, on the stack of whoever runs it; of one vector, which registers and a few places on the stack hold.
enum { LOCAL_BYTES_MAX = 1 << 19, VECTOR_BYTES_MAX = 1 << 16, MOST_DIMS = 64 };

// What a region's buffers come to so far. One loop over workgroups after the other uses the same memory.
typedef struct need {
  int64_t outside, largest;  // of loops over workgroups, and in the one that needs most
  int64_t current;           // in the one whose operations are looked at
} need;

typedef struct proof {
  arena *arena;
  ir_operations globals, bindings;  // of the module
  need need;
} proof;

// --- sizes

static int64_t product_of_dims(MlirType t, int64_t size) {
  for (int d = 0; d < mlirShapedTypeGetRank(t) && size >= 0; d++)
    if (mlirShapedTypeIsDynamicDim(t, d) || __builtin_mul_overflow(size, mlirShapedTypeGetDimSize(t, d), &size))
      size = -1;
  return size;
}

static int64_t element_bits(MlirType t) {
  if (mlirTypeIsAComplex(t)) return 2 * element_bits(mlirComplexTypeGetElementType(t));
  if (mlirTypeIsAInteger(t) || mlirTypeIsAFloat(t) || mlirTypeIsAIndex(t)) return ir_bit_width(t);
  if (!mlirTypeIsAVector(t)) return -1;
  const int64_t bits = element_bits(mlirShapedTypeGetElementType(t));
  return bits < 0 ? -1 : product_of_dims(t, bits);
}

int64_t memory_proof_bytes(MlirType memory) {
  const int64_t bits = element_bits(mlirShapedTypeGetElementType(memory));
  return bits < 0 || bits > INT64_MAX - 7 ? -1 : product_of_dims(memory, (bits + 7) / 8);
}

// --- what operations are

static bool is_one_of(MlirOperation op, const char *const *names) {
  bool any = false;
  for (; !ir_is_null(op) && *names; names++) any |= ir_is(op, *names);
  return any;
}

static bool is_memory(MlirType t) { return mlirTypeIsAMemRef(t) || mlirTypeIsAUnrankedMemRef(t); }

static bool makes(MlirOperation op, bool is_such(MlirType)) {
  bool any = false;
  for (int k = 0; k < mlirOperationGetNumResults(op); k++) any |= is_such(ir_result_type(op, k));
  return any;
}

static bool is_tensor(MlirType t) { return mlirTypeIsATensor(t); }

// A pointer, or what may hold one: only LLVM's dialect has them.
static bool is_address(MlirType t) {
  if (mlirTypeIsAVector(t)) t = mlirShapedTypeGetElementType(t);
  const MlirStringRef dialect = mlirDialectGetNamespace(mlirTypeGetDialect(t));
  return str_is((str){dialect.data, dialect.length}, "llvm");
}

static bool is_no_register(MlirType t) {
  if (!mlirTypeIsAVector(t)) return false;
  const int64_t bits = element_bits(t);
  return bits < 0 || bits > INT64_C(8) * VECTOR_BYTES_MAX;
}

static bool is_buffer(MlirOperation op) { return ir_is(op, "memref.alloc") || ir_is(op, "memref.alloca"); }

static bool is_loop(MlirOperation op) { return ir_is(op, "scf.for") || ir_is(op, "scf.while"); }

ir_operations memory_proof_buffers(arena *a, MlirOperation function) {
  const ir_operations all = ir_collect(a, function, NULL);
  ir_operations out = {0};
  for (int k = 0; k < all.size; k++)
    if (is_buffer(all.data[k])) vec_push(a, &out, all.data[k]);
  return out;
}

MlirOperation memory_proof_workgroups(MlirOperation op) {
  MlirOperation outermost = {NULL};
  for (; !ir_is_null(op); op = mlirOperationGetParentOperation(op))
    if (ir_is(op, "scf.forall")) outermost = op;
  return outermost;
}

// --- where memory comes from

// Their results are their first operand's elements, all of them or some.
static const char *const views[] = {"memref.subview",           "memref.cast",
                                    "memref.collapse_shape",    "memref.expand_shape",
                                    "memref.transpose",         "memref.reinterpret_cast",
                                    "memref.memory_space_cast", NULL};

// Their results are of another type, or their elements in another order.
static const char *const arrays[] = {"memref.view", "memref.reshape", NULL};

// The memory that the view's offset counts in; the memory itself if it is no such view.
static MlirValue base_of(MlirValue memory) {
  for (MlirOperation op = ir_defining_op(memory); is_one_of(op, views); op = ir_defining_op(memory))
    memory = ir_operand(op, 0);
  return memory;
}

// How many elements of its base a view reaches, from the base's beginning on; -1 if that is not known.
static int64_t reach(MlirType view) {
  int64_t strides[MOST_DIMS], offset, last;
  const int64_t rank = mlirShapedTypeGetRank(view);
  if (rank > MOST_DIMS || !mlirShapedTypeHasStaticShape(view) ||
      mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(view, strides, &offset)))
    return -1;
  last = offset;
  for (int d = 0; d < rank; d++) {
    int64_t along;
    if (mlirShapedTypeGetDimSize(view, d) == 0) return 0;
    if (mlirShapedTypeIsDynamicStrideOrOffset(strides[d]) || strides[d] < 0 ||
        __builtin_mul_overflow(strides[d], mlirShapedTypeGetDimSize(view, d) - 1, &along) ||
        __builtin_add_overflow(last, along, &last))
      return -1;
  }
  return mlirShapedTypeIsDynamicStrideOrOffset(offset) || offset < 0 || last == INT64_MAX ? -1 : last + 1;
}

// From the beginning of the bytes on, of memory that lies from so many bytes on; -1 if that is not known.
static int64_t reach_in_bytes(MlirOperation view) {
  int64_t shift = 0;
  const int64_t bytes = memory_proof_bytes(ir_result_type(view, 0));
  if (!ir_constant_value(ir_operand(view, 1), &shift)) shift = 0;
  if (bytes < 0 || shift < 0 || __builtin_add_overflow(shift, bytes, &shift)) return -1;
  return shift;
}

// Views that are cut out by numbers stay within what they are of. Where numbers are not known a part is taken at its
// word, as is an access, but not memory that becomes another array.
static const char *objection_to_view(MlirOperation op) {
  static const char *const checked[] = {"memref.subview", "memref.cast", NULL};
  static const char *const others[] = {"memref.reinterpret_cast", "memref.reshape", "memref.view", NULL};
  const bool is_other = is_one_of(op, others), is_of_bytes = ir_is(op, "memref.view");
  if (!is_other && !is_one_of(op, checked)) return NULL;
  const MlirType base = mlirValueGetType(base_of(ir_operand(op, 0))), view = ir_result_type(op, 0);
  int64_t reached = -1, size = -1;
  if (mlirTypeIsAMemRef(base) && mlirTypeIsAMemRef(view)) {
    reached = is_of_bytes ? reach_in_bytes(op) : reach(view);
    size = reach(base);
  }
  if (is_other && (reached < 0 || size < 0))
    return "a dispatch region takes memory for another array, of which it is not known that it is no larger";
  return reached >= 0 && size >= 0 && reached > size ? "a dispatch region names more memory than there is" : NULL;
}

// A variable keeps what is written to it; a constant is part of the code.
static bool is_constant(const proof *p, MlirOperation get) {
  const MlirStringRef name = mlirFlatSymbolRefAttrGetValue(ir_get(get, "name"));
  bool is = false;
  for (int k = 0; k < p->globals.size; k++) {
    const MlirOperation global = p->globals.data[k];
    const bool is_it = str_equal(ir_symbol(global), (str){name.data, name.length});
    MlirAttribute value = ir_get(global, "initial_value");
    is |= is_it && !mlirAttributeIsNull(ir_get(global, "constant")) && !mlirAttributeIsNull(value) &&
          mlirAttributeIsADenseElements(value);
  }
  return is;
}

// --- what is written

static bool may_write_binding(const proof *p, MlirOperation placeholder) {
  const MlirStringRef leaf = mlirSymbolRefAttrGetLeafReference(ir_get(placeholder, "binding"));
  bool may = true;  // of an interface that is not there
  for (int k = 0; k < p->bindings.size; k++)
    if (str_equal(ir_symbol(p->bindings.data[k]), (str){leaf.data, leaf.length})) {
      const MlirStringRef access = mlirStringAttrGetValue(ir_get(p->bindings.data[k], "access"));
      may = !str_is((str){access.data, access.length}, "Read");
    }
  return may;
}

static const char *objection_to_memory(const proof *p, MlirValue memory);

static const char *objection_to_yields(const proof *p, MlirOperation branch, int result) {
  const char *why = NULL;
  for (int k = 0; k < mlirOperationGetNumRegions(branch) && !why; k++)
    why = objection_to_memory(p, ir_operand(ir_terminator(ir_body(branch, k)), result));
  return why;
}

// Why this memory may not be written to, null if it may.
static const char *objection_to_memory(const proof *p, MlirValue memory) {
  const MlirValue base = base_of(memory);
  const MlirOperation op = ir_defining_op(base);
  const char *why = NULL;
  if (ir_is_null(op) || is_loop(op)) return NULL;  // what loops carry was written, or not, where it comes from
  if (ir_is(op, WORKGROUPS_PLACEHOLDER) && !may_write_binding(p, op))
    why = "a dispatch region writes to a binding whose access is \"Read\"";
  if (ir_is(op, "memref.get_global")) why = "a dispatch region writes to a constant";
  if (is_one_of(op, arrays)) why = objection_to_memory(p, ir_operand(op, 0));
  if (ir_is(op, "arith.select")) {
    why = objection_to_memory(p, ir_operand(op, 1));
    if (!why) why = objection_to_memory(p, ir_operand(op, 2));
  }
  if (ir_is(op, "scf.if")) why = objection_to_yields(p, op, (int)mlirOpResultGetResultNumber(base));
  return why;
}

bool memory_proof_only_reads(MlirOperation op, int operand) {
  static const char *const readers[] = {"memref.load",       "vector.load",   "vector.transfer_read",
                                        "vector.maskedload", "vector.gather", "memref.dim",
                                        "memref.dealloc",    "memref.view",   "memref.reshape",
                                        "arith.select",      "scf.yield",     "scf.for",
                                        "scf.while",         "scf.condition", NULL};
  MlirAttribute segments = ir_get(op, "operandSegmentSizes");
  const MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  const bool is_structured = name.length > 7 && memcmp(name.data, "linalg.", 7) == 0;
  if (is_structured && !mlirAttributeIsNull(segments)) return operand < mlirDenseI32ArrayGetElement(segments, 0);
  return is_one_of(op, readers) || is_one_of(op, views) || (ir_is(op, "memref.copy") && operand == 0);
}

static const char *objection_to_writes(const proof *p, MlirOperation op) {
  const char *why = NULL;
  for (int k = 0; k < mlirOperationGetNumOperands(op) && !why; k++)
    if (is_memory(mlirValueGetType(ir_operand(op, k))) && !memory_proof_only_reads(op, k))
      why = objection_to_memory(p, ir_operand(op, k));
  return why;
}

// --- the proof

static const char *objection_to_buffer(MlirOperation op, need *n) {
  const int64_t own = memory_proof_bytes(ir_result_type(op, 0));
  if (own < 0) return "a dispatch region needs memory of its own, of a size that is not known";
  int64_t *bytes = ir_is_null(memory_proof_workgroups(op)) ? &n->outside : &n->current;
  *bytes = own > LOCAL_BYTES_MAX ? own : *bytes + own;
  if (n->current > n->largest) n->largest = n->current;
  return n->outside + n->largest > LOCAL_BYTES_MAX
             ? "a dispatch region needs memory of its own: more than its workgroups have"
             : NULL;
}

// A loop may have memory go round, but none that its turns make.
static const char *objection_to_loop(arena *a, MlirOperation loop) {
  return memory_proof_buffers(a, loop).size > 0
             ? "a dispatch region's loop carries memory from turn to turn, and makes some in each"
             : NULL;
}

// Why the region may not have the operation, null if it may.
static const char *objection(proof *p, MlirOperation op) {
  static const char *const others[] = {"arith.select", "scf.if", NULL};
  static const char *const calls[] = {"func.call",       "func.call_indirect", "llvm.call",
                                      "llvm.inline_asm", "xla_gpu.pure_call",  NULL};
  if (is_one_of(op, calls)) return "a dispatch region calls a function, of whose memory nothing is known";
  if (makes(op, is_address)) return "a dispatch region names memory by an address, of which nothing is known";
  if (makes(op, is_tensor)) return "a dispatch region on buffers has a tensor, which is nowhere in memory";
  if (makes(op, is_no_register)) return "a dispatch region has a vector that is too large for registers";
  const char *why = objection_to_writes(p, op);
  if (why || !makes(op, is_memory) || ir_is(op, WORKGROUPS_PLACEHOLDER) || is_one_of(op, others)) return why;
  if (is_one_of(op, views) || is_one_of(op, arrays)) return objection_to_view(op);
  if (is_buffer(op)) return objection_to_buffer(op, &p->need);
  if (is_loop(op)) return objection_to_loop(p->arena, op);
  if (ir_is(op, "memref.get_global") && is_constant(p, op)) return NULL;
  return "a dispatch region uses memory that is neither a binding's nor a workgroup's";
}

heddle_status memory_proof_make(arena *a, MlirOperation function, int64_t *bytes) {
  const ir_operations all = ir_collect(a, function, NULL);
  MlirOperation module = function;
  while (!ir_is(module, "builtin.module")) module = mlirOperationGetParentOperation(module);
  proof p = {.arena = a,
             .globals = ir_collect(a, module, "memref.global"),
             .bindings = ir_collect(a, module, "hal.interface.binding")};
  *bytes = 0;
  const MlirBlock body = ir_body(function, 0);
  if (!mlirBlockIsNull(body) && !mlirBlockIsNull(mlirBlockGetNextInRegion(body)))
    return ir_refuse(function, HEDDLE_UNIMPLEMENTED,
                     "a dispatch region has branches between blocks, wanted one block and loops within");
  for (int k = 0; k < all.size; k++) {
    if (mlirOperationEqual(all.data[k], function)) continue;
    // A loop comes behind all that is in it.
    if (mlirOperationEqual(memory_proof_workgroups(all.data[k]), all.data[k])) p.need.current = 0;
    const char *why = objection(&p, all.data[k]);
    *bytes = p.need.outside + p.need.largest;
    if (why) return ir_refuse(all.data[k], HEDDLE_UNIMPLEMENTED, "%s", why);
  }
  return status_ok();
}
