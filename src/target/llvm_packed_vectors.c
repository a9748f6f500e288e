// Vectors of i2 and i4 become words.
//
// Nothing of ours makes such a vector on a GPU, but instcombine does: a scalar that is cut from an element of a vector
// of i32, or of bytes, is for it an element of the same bits as a vector of i4, and a load before that becomes a load
// of i4. NVPTX has no registers for these; what it makes of them goes through the thread's own memory.
#include "target/llvm_packed_vectors.h"

#include <stdbool.h>

#include "base/vec.h"

enum { BYTE = 8, WORD = 32, MOST_IN_ONE = 64 };

// --- which

static bool is_packed(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return false;
  const LLVMTypeRef element = LLVMGetElementType(type);
  if (LLVMGetTypeKind(element) != LLVMIntegerTypeKind) return false;
  const unsigned bits = LLVMGetIntTypeWidth(element);
  return bits > 1 && bits < BYTE;
}

static unsigned bits_of(LLVMTypeRef type) {
  return LLVMGetVectorSize(type) * LLVMGetIntTypeWidth(LLVMGetElementType(type));
}

static bool is_whole_words(LLVMTypeRef type) {
  const unsigned bits = bits_of(type);
  return (bits & (bits - 1)) == 0 && bits >= BYTE;
}

// All that is done with the vector is reading elements at known places.
static bool is_read_by_elements(LLVMValueRef vector) {
  for (LLVMUseRef use = LLVMGetFirstUse(vector); use; use = LLVMGetNextUse(use)) {
    const LLVMValueRef user = LLVMGetUser(use);
    if (!LLVMIsAExtractElementInst(user) || !LLVMIsAConstantInt(LLVMGetOperand(user, 1))) return false;
  }
  return true;
}

static bool can_open(LLVMValueRef i) {
  const LLVMTypeRef type = LLVMTypeOf(i);
  if (!is_packed(type) || !is_whole_words(type)) return false;
  return (LLVMIsALoadInst(i) || LLVMIsABitCastInst(i)) && is_read_by_elements(i);
}

// --- how

// One word, or a vector of them.
static LLVMTypeRef words_like(LLVMTypeRef type) {
  const LLVMContextRef c = LLVMGetTypeContext(type);
  const unsigned bits = bits_of(type);
  return bits <= MOST_IN_ONE ? LLVMIntTypeInContext(c, bits) : LLVMVectorType(LLVMInt32TypeInContext(c), bits / WORD);
}

static LLVMValueRef load_words(LLVMBuilderRef b, LLVMValueRef load, LLVMTypeRef words) {
  const LLVMValueRef made = LLVMBuildLoad2(b, words, LLVMGetOperand(load, 0), "");
  LLVMSetAlignment(made, LLVMGetAlignment(load));
  size_t count = 0;
  LLVMValueMetadataEntry *entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(load, &count);
  const LLVMContextRef c = LLVMGetTypeContext(words);
  for (unsigned k = 0; k < count; k++) {
    const LLVMMetadataRef node = LLVMValueMetadataEntriesGetMetadata(entries, k);
    LLVMSetMetadata(made, LLVMValueMetadataEntriesGetKind(entries, k), LLVMMetadataAsValue(c, node));
  }
  LLVMDisposeValueMetadataEntries(entries);
  return made;
}

static void open_element(LLVMBuilderRef b, LLVMValueRef extract, LLVMValueRef words) {
  const LLVMTypeRef element = LLVMTypeOf(extract);
  const unsigned long long lane = LLVMConstIntGetZExtValue(LLVMGetOperand(extract, 1));
  unsigned long long at = lane * LLVMGetIntTypeWidth(element);
  LLVMValueRef word = words;
  LLVMPositionBuilderBefore(b, extract);
  if (LLVMGetTypeKind(LLVMTypeOf(words)) == LLVMVectorTypeKind) {
    const LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(element));
    word = LLVMBuildExtractElement(b, words, LLVMConstInt(i32, at / WORD, false), "");
    at %= WORD;
  }
  if (at > 0) word = LLVMBuildLShr(b, word, LLVMConstInt(LLVMTypeOf(word), at, false), "");
  LLVMReplaceAllUsesWith(extract, LLVMBuildTrunc(b, word, element, ""));
  LLVMInstructionEraseFromParent(extract);
}

static void open_vector(LLVMBuilderRef b, LLVMValueRef vector) {
  const LLVMTypeRef words = words_like(LLVMTypeOf(vector));
  LLVMPositionBuilderBefore(b, vector);
  const LLVMValueRef made = LLVMIsALoadInst(vector) ? load_words(b, vector, words)
                                                    : LLVMBuildBitCast(b, LLVMGetOperand(vector, 0), words, "");
  for (LLVMUseRef use; (use = LLVMGetFirstUse(vector));) open_element(b, LLVMGetUser(use), made);
  LLVMInstructionEraseFromParent(vector);
}

void llvm_open_packed_vectors(arena *scratch, LLVMModuleRef module) {
  VEC(LLVMValueRef) found = {0};
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
      for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (can_open(i)) vec_push(scratch, &found, i);
  LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  for (int k = 0; k < found.size; k++) open_vector(b, found.data[k]);
  LLVMDisposeBuilder(b);
}
