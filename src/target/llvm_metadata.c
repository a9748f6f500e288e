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

static LLVMMetadataRef hint(LLVMContextRef c, const char *name, int value) {
  LLVMMetadataRef parts[] = {LLVMMDStringInContext2(c, name, strlen(name)), NULL};
  if (value < 0) return LLVMMDNodeInContext2(c, parts, 1);
  parts[1] = LLVMValueAsMetadata(LLVMConstInt(LLVMInt1TypeInContext(c), (unsigned)value, false));
  return LLVMMDNodeInContext2(c, parts, 2);
}

// A loop's node names itself first, so that equal hints of two loops stay two nodes.
static void hint_loop(LLVMContextRef c, LLVMValueRef branch) {
  LLVMMetadataRef self = LLVMTemporaryMDNode(c, NULL, 0);
  LLVMMetadataRef parts[] = {self, hint(c, "llvm.loop.vectorize.enable", 0), hint(c, "llvm.loop.unroll.disable", -1)};
  LLVMMetadataRef node = LLVMMDNodeInContext2(c, parts, 3);
  LLVMMetadataReplaceAllUsesWith(self, node);
  LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c, "llvm.loop", 9), LLVMMetadataAsValue(c, node));
}

static void hint_function(arena *scratch, LLVMContextRef c, LLVMValueRef function) {
  block_list list = {.count = LLVMCountBasicBlocks(function)};
  list.blocks = arena_array(scratch, LLVMBasicBlockRef, list.count);
  LLVMGetBasicBlocks(function, list.blocks);
  for (unsigned i = 0; i < list.count; i++) {
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(list.blocks[i]);
    if (!branch || LLVMGetInstructionOpcode(branch) != LLVMBr || LLVMGetNumSuccessors(branch) != 1) continue;
    int target = block_number(&list, LLVMGetSuccessor(branch, 0));
    if (target >= 0 && target <= (int)i && loop_has_vectors(&list, target, (int)i)) hint_loop(c, branch);
  }
}

void llvm_hint_vector_loops(arena *scratch, LLVMModuleRef module) {
  LLVMContextRef c = LLVMGetModuleContext(module);
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f)) hint_function(scratch, c, f);
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
