// Vectors of i2 and i4, long ones of bytes and four numbers of 16 bits become words.
//
// Nothing of ours makes such a vector on a GPU, but instcombine does: a scalar that is cut from an element of a vector
// of i32, or of bytes, is for it an element of the same bits as a vector of i4, and a load before that becomes a load
// of i4. NVPTX has no registers for these; what it makes of them goes through the thread's own memory. Vectors of more
// than four bytes it stores four bytes at a time, and four elements of bf16 it reads as two words; as vectors of words
// they are one access.
#include "target/llvm_packed_vectors.h"

#include <stdbool.h>

#include "base/vec.h"

enum { BYTE = 8, HALF = 16, WORD = 32, MOST_IN_ONE = 64 };

// --- which

// 0: of a type that does not matter here.
static unsigned element_bits(LLVMTypeRef vector) {
  LLVMTypeRef element = LLVMGetElementType(vector);
  switch (LLVMGetTypeKind(element)) {
    case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(element);
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind: return HALF;
    default: return 0;
  }
}

static bool is_packed(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind) return false;
  const unsigned bits = element_bits(type);
  return bits > 1 && bits < BYTE;
}

static bool is_four_halves(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind && LLVMGetVectorSize(type) == 4 && element_bits(type) == HALF;
}

static unsigned bits_of(LLVMTypeRef type) { return LLVMGetVectorSize(type) * element_bits(type); }

static bool is_whole_words(LLVMTypeRef type) {
  const unsigned bits = bits_of(type);
  return (bits & (bits - 1)) == 0 && bits >= BYTE;
}

// All that is done with the vector is reading elements at known places.
static bool is_read_by_elements(LLVMValueRef vector) {
  for (LLVMUseRef use = LLVMGetFirstUse(vector); use; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (!LLVMIsAExtractElementInst(user) || !LLVMIsAConstantInt(LLVMGetOperand(user, 1))) return false;
  }
  return true;
}

static bool can_open(LLVMValueRef i) {
  LLVMTypeRef type = LLVMTypeOf(i);
  if (LLVMIsALoadInst(i) && is_four_halves(type)) return is_read_by_elements(i);
  if (!is_packed(type) || !is_whole_words(type)) return false;
  return (LLVMIsALoadInst(i) || LLVMIsABitCastInst(i)) && is_read_by_elements(i);
}

// --- how

// One word, or a vector of them.
static LLVMTypeRef words_like(LLVMTypeRef type) {
  LLVMContextRef c = LLVMGetTypeContext(type);
  const unsigned bits = bits_of(type);
  return bits <= MOST_IN_ONE && !is_four_halves(type) ? LLVMIntTypeInContext(c, bits)
                                                      : LLVMVectorType(LLVMInt32TypeInContext(c), bits / WORD);
}

// What is known of an access holds for the one that is made in its place.
static void copy_facts(LLVMValueRef made, LLVMValueRef access) {
  LLVMSetAlignment(made, LLVMGetAlignment(access));
  size_t count = 0;
  LLVMValueMetadataEntry *entries = LLVMInstructionGetAllMetadataOtherThanDebugLoc(access, &count);
  LLVMContextRef c = LLVMGetTypeContext(LLVMTypeOf(access));
  for (unsigned k = 0; k < count; k++) {
    LLVMMetadataRef node = LLVMValueMetadataEntriesGetMetadata(entries, k);
    LLVMSetMetadata(made, LLVMValueMetadataEntriesGetKind(entries, k), LLVMMetadataAsValue(c, node));
  }
  LLVMDisposeValueMetadataEntries(entries);
}

static LLVMValueRef load_words(LLVMBuilderRef b, LLVMValueRef load, LLVMTypeRef words) {
  LLVMValueRef made = LLVMBuildLoad2(b, words, LLVMGetOperand(load, 0), "");
  copy_facts(made, load);
  return made;
}

static void open_element(LLVMBuilderRef b, LLVMValueRef extract, LLVMValueRef words) {
  LLVMTypeRef element = LLVMTypeOf(extract);
  const unsigned long long lane = LLVMConstIntGetZExtValue(LLVMGetOperand(extract, 1));
  const unsigned bits = element_bits(LLVMTypeOf(LLVMGetOperand(extract, 0)));
  unsigned long long at = lane * bits;
  LLVMValueRef word = words;
  LLVMPositionBuilderBefore(b, extract);
  if (LLVMGetTypeKind(LLVMTypeOf(words)) == LLVMVectorTypeKind) {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(element));
    word = LLVMBuildExtractElement(b, words, LLVMConstInt(i32, at / WORD, false), "");
    at %= WORD;
  }
  if (at > 0) word = LLVMBuildLShr(b, word, LLVMConstInt(LLVMTypeOf(word), at, false), "");
  LLVMValueRef cut = LLVMBuildTrunc(b, word, LLVMIntTypeInContext(LLVMGetTypeContext(element), bits), "");
  LLVMReplaceAllUsesWith(extract, LLVMBuildBitCast(b, cut, element, ""));
  LLVMInstructionEraseFromParent(extract);
}

static void open_vector(LLVMBuilderRef b, LLVMValueRef vector) {
  LLVMTypeRef words = words_like(LLVMTypeOf(vector));
  LLVMPositionBuilderBefore(b, vector);
  LLVMValueRef made = LLVMIsALoadInst(vector) ? load_words(b, vector, words)
                                              : LLVMBuildBitCast(b, LLVMGetOperand(vector, 0), words, "");
  for (LLVMUseRef use; (use = LLVMGetFirstUse(vector));) open_element(b, LLVMGetUser(use), made);
  LLVMInstructionEraseFromParent(vector);
}

// --- vectors of bytes

static bool is_long_bytes(LLVMTypeRef type) {
  if (LLVMGetTypeKind(type) != LLVMVectorTypeKind || element_bits(type) != BYTE) return false;
  const unsigned bits = bits_of(type);
  return bits > WORD && bits % WORD == 0;
}

static bool is_long_access(LLVMValueRef i) {
  if (LLVMIsAStoreInst(i)) return is_long_bytes(LLVMTypeOf(LLVMGetOperand(i, 0)));
  return LLVMIsALoadInst(i) && is_long_bytes(LLVMTypeOf(i));
}

// By shifts: code generation would take casts for a store of bytes again.
static LLVMValueRef words_of(LLVMBuilderRef b, LLVMValueRef bytes, LLVMTypeRef words) {
  LLVMTypeRef i32 = LLVMGetElementType(words);
  LLVMValueRef result = LLVMGetPoison(words);
  for (unsigned w = 0; w < LLVMGetVectorSize(words); w++) {
    LLVMValueRef word = NULL;
    for (unsigned k = 0; k < WORD / BYTE; k++) {
      LLVMValueRef byte = LLVMBuildExtractElement(b, bytes, LLVMConstInt(i32, w * WORD / BYTE + k, false), "");
      byte = LLVMBuildZExt(b, byte, i32, "");
      if (k > 0) byte = LLVMBuildShl(b, byte, LLVMConstInt(i32, (unsigned long long)k * BYTE, false), "");
      word = word ? LLVMBuildOr(b, word, byte, "") : byte;
    }
    result = LLVMBuildInsertElement(b, result, word, LLVMConstInt(i32, w, false), "");
  }
  return result;
}

static void widen_access(LLVMBuilderRef b, LLVMValueRef access) {
  const bool is_store = LLVMIsAStoreInst(access);
  LLVMTypeRef type = LLVMTypeOf(is_store ? LLVMGetOperand(access, 0) : access);
  LLVMTypeRef words = LLVMVectorType(LLVMInt32TypeInContext(LLVMGetTypeContext(type)), bits_of(type) / WORD);
  LLVMPositionBuilderBefore(b, access);
  if (is_store) {
    LLVMValueRef value = words_of(b, LLVMGetOperand(access, 0), words);
    copy_facts(LLVMBuildStore(b, value, LLVMGetOperand(access, 1)), access);
  } else {
    LLVMReplaceAllUsesWith(access, LLVMBuildBitCast(b, load_words(b, access, words), type, ""));
  }
  LLVMInstructionEraseFromParent(access);
}

void llvm_open_packed_vectors(arena *scratch, LLVMModuleRef module) {
  VEC(LLVMValueRef) found = {0}, accesses = {0};
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
      for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        if (can_open(i)) vec_push(scratch, &found, i);
        else if (is_long_access(i)) vec_push(scratch, &accesses, i);
      }
  LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  for (int k = 0; k < accesses.size; k++) widen_access(b, accesses.data[k]);
  for (int k = 0; k < found.size; k++) open_vector(b, found.data[k]);
  LLVMDisposeBuilder(b);
}
