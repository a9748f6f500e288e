#include "target/llvm_metadata.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

// --- loops

// The translation lays blocks out in the order of the source, so a branch to an earlier or the same block closes a
// loop.
typedef struct block_list {
  LLVMBasicBlockRef *blocks;
  unsigned count;
} block_list;

static int block_number(const block_list *list, LLVMBasicBlockRef block) {
  for (unsigned i = 0; i < list->count; i++)
    if (list->blocks[i] == block) return (int)i;
  return -1;
}

static void list_blocks(arena *scratch, LLVMValueRef function, block_list *out) {
  out->count = LLVMCountBasicBlocks(function);
  out->blocks = arena_array(scratch, LLVMBasicBlockRef, out->count);
  LLVMGetBasicBlocks(function, out->blocks);
}

// The first block of the loop that the branch at the end of block i closes; -1 if it closes none.
static int loop_closed_by(const block_list *list, int i) {
  LLVMValueRef branch = LLVMGetBasicBlockTerminator(list->blocks[i]);
  if (!branch || LLVMGetInstructionOpcode(branch) != LLVMBr || LLVMGetNumSuccessors(branch) != 1) return -1;
  int target = block_number(list, LLVMGetSuccessor(branch, 0));
  return target <= i ? target : -1;
}

static bool has_vectors(LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
    if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind) return true;
  return false;
}

static bool loop_has_vectors(const block_list *list, int first, int last) {
  for (int i = first; i <= last; i++)
    if (has_vectors(list->blocks[i])) return true;
  return false;
}

// A name, with a number behind it if `type` is one.
static LLVMMetadataRef hint(LLVMContextRef c, const char *name, LLVMTypeRef type, int value) {
  LLVMMetadataRef parts[] = {LLVMMDStringInContext2(c, name, strlen(name)), NULL};
  if (!type) return LLVMMDNodeInContext2(c, parts, 1);
  parts[1] = LLVMValueAsMetadata(LLVMConstInt(type, (unsigned)value, false));
  return LLVMMDNodeInContext2(c, parts, 2);
}

static LLVMMetadataRef no_unrolling(LLVMContextRef c) { return hint(c, "llvm.loop.unroll.disable", NULL, 0); }

// A loop's node names itself first, so that equal hints of two loops stay two nodes. `second` may be null.
static void hint_loop(LLVMBasicBlockRef last, LLVMContextRef c, LLVMMetadataRef first, LLVMMetadataRef second) {
  LLVMMetadataRef self = LLVMTemporaryMDNode(c, NULL, 0);
  LLVMMetadataRef parts[] = {self, first, second};
  LLVMMetadataRef node = LLVMMDNodeInContext2(c, parts, second ? 3 : 2);
  LLVMMetadataReplaceAllUsesWith(self, node);
  LLVMSetMetadata(LLVMGetBasicBlockTerminator(last), LLVMGetMDKindIDInContext(c, "llvm.loop", 9),
                  LLVMMetadataAsValue(c, node));
}

static void hint_function(arena *scratch, LLVMContextRef c, LLVMValueRef function) {
  block_list list;
  list_blocks(scratch, function, &list);
  for (int i = 0; i < (int)list.count; i++) {
    const int first = loop_closed_by(&list, i);
    if (first >= 0 && loop_has_vectors(&list, first, i))
      hint_loop(list.blocks[i], c, hint(c, "llvm.loop.vectorize.enable", LLVMInt1TypeInContext(c), 0), no_unrolling(c));
  }
}

void llvm_hint_vector_loops(arena *scratch, LLVMModuleRef module) {
  LLVMContextRef c = LLVMGetModuleContext(module);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f)) hint_function(scratch, c, f);
}

// --- loops of a GPU's kernel

typedef struct loop_body {
  int cost;         // as target_code_limits counts it
  int loaded_bits;  // that an iteration reads, and that copies of it keep at the same time
} loop_body;

static unsigned bits_of(LLVMTypeRef type) {
  switch (LLVMGetTypeKind(type)) {
    case LLVMVectorTypeKind: return LLVMGetVectorSize(type) * bits_of(LLVMGetElementType(type));
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type);
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind: return 16;
    case LLVMFloatTypeKind: return 32;
    default: return 64;
  }
}

static bool is_free(LLVMOpcode opcode) {
  return opcode == LLVMPHI || opcode == LLVMBr || opcode == LLVMGetElementPtr || opcode == LLVMBitCast ||
         opcode == LLVMExtractElement || opcode == LLVMInsertElement || opcode == LLVMExtractValue ||
         opcode == LLVMZExt || opcode == LLVMTrunc;
}

// LLVM's own functions are an instruction each, others long.
static bool is_long(LLVMValueRef i) {
  return LLVMGetInstructionOpcode(i) == LLVMCall && LLVMGetIntrinsicID(LLVMGetCalledValue(i)) == 0;
}

static void add_block(const target_code_limits *limits, LLVMBasicBlockRef block, loop_body *body) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
    if (is_long(i)) body->cost += limits->unrolled_math_cost;
    else if (!is_free(LLVMGetInstructionOpcode(i))) body->cost++;
    if (LLVMIsALoadInst(i)) body->loaded_bits += (int)bits_of(LLVMTypeOf(i));
  }
}

// Whether the loop counts by one: by more where copies of its body stand in it already.
static bool counts_by_one(LLVMBasicBlockRef first, LLVMBasicBlockRef last) {
  LLVMValueRef phi = LLVMGetFirstInstruction(first);
  if (!LLVMIsAPHINode(phi)) return false;
  for (unsigned k = 0; k < LLVMCountIncoming(phi); k++) {
    LLVMValueRef next = LLVMGetIncomingValue(phi, k);
    if (LLVMGetIncomingBlock(phi, k) != last || !LLVMIsABinaryOperator(next)) continue;
    LLVMValueRef step = LLVMGetOperand(next, 1);
    return LLVMGetInstructionOpcode(next) == LLVMAdd && LLVMIsAConstantInt(step) && LLVMConstIntGetZExtValue(step) == 1;
  }
  return false;
}

// How many iterations of the loop of blocks `first` to `last` stand side by side, 1 = it stays as it is.
static int unroll_count(const target_description *target, const block_list *list, int first, int last) {
  loop_body body = {0, 0};
  for (int i = first; i <= last; i++) {
    const int inner = loop_closed_by(list, i);
    if (inner >= 0 && (i < last || inner > first)) return 1;
    add_block(&target->code, list->blocks[i], &body);
  }
  if (body.loaded_bits == 0 || !counts_by_one(list->blocks[first], list->blocks[last])) return 1;
  const int words = (body.loaded_bits + 31) / 32;
  int count = target->max_unroll;
  while (count > 1 &&
         (count * body.cost > target->code.max_unrolled_cost || count * words > target->grid.max_live_registers))
    count /= 2;
  return count;
}

void llvm_hint_grid_loops(arena *scratch, LLVMModuleRef module, const target_description *target) {
  LLVMContextRef c = LLVMGetModuleContext(module);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    block_list list;
    if (LLVMIsDeclaration(f)) continue;
    list_blocks(scratch, f, &list);
    for (int i = 0; i < (int)list.count; i++) {
      const int first = loop_closed_by(&list, i);
      const int count = first >= 0 ? unroll_count(target, &list, first, i) : 0;
      if (count > 1)
        hint_loop(list.blocks[i], c, hint(c, "llvm.loop.unroll.count", LLVMInt32TypeInContext(c), count), NULL);
      else if (count == 1) hint_loop(list.blocks[i], c, no_unrolling(c), NULL);
    }
  }
}

// --- thread numbers

static void set_range(LLVMContextRef c, LLVMValueRef call, int64_t count) {
  LLVMTypeRef i32 = LLVMInt32TypeInContext(c);
  LLVMMetadataRef ends[] = {LLVMValueAsMetadata(LLVMConstInt(i32, 0, false)),
                            LLVMValueAsMetadata(LLVMConstInt(i32, (unsigned long long)count, false))};
  LLVMMetadataRef node = LLVMMDNodeInContext2(c, ends, 2);
  LLVMSetMetadata(call, LLVMGetMDKindIDInContext(c, "range", 5), LLVMMetadataAsValue(c, node));
}

void llvm_bound_thread_numbers(LLVMModuleRef module, const launch_bounds *bounds) {
  const struct {
    const char *name;
    int64_t count;
  } registers[] = {
      {"llvm.nvvm.read.ptx.sreg.tid.x", bounds->threads_x},
      {"llvm.nvvm.read.ptx.sreg.ctaid.x", bounds->blocks_x},
      {"llvm.nvvm.read.ptx.sreg.ctaid.y", bounds->blocks_y},
  };
  LLVMContextRef c = LLVMGetModuleContext(module);
  for (size_t r = 0; r < sizeof registers / sizeof *registers; r++) {
    LLVMValueRef function = LLVMGetNamedFunction(module, registers[r].name);
    if (!function || registers[r].count <= 0 || registers[r].count > INT32_MAX) continue;
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use))
      if (LLVMIsACallInst(LLVMGetUser(use))) set_range(c, LLVMGetUser(use), registers[r].count);
  }
}
