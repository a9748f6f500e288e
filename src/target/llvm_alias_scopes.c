// One alias scope for each buffer that a kernel writes.
//
// The arguments' noalias says the same, but only as long as an access can be traced to its argument: behind a choice
// between two pointers, and once kernels' arguments have become addresses in global memory, passes no longer see it.
// What an access carries itself stays with it.
#include "target/llvm_alias_scopes.h"

#include <llvm-c/DebugInfo.h>
#include <stdbool.h>
#include <string.h>

typedef struct scoped_function {
  arena *arena;
  LLVMContextRef context;
  LLVMValueRef function;
  unsigned count;           // arguments
  bool *is_written;         // by argument
  LLVMMetadataRef *scopes;  // by argument; null where it is not written
} scoped_function;

static bool has_attribute(LLVMValueRef function, unsigned argument, const char *name) {
  const unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  return LLVMGetEnumAttributeAtIndex(function, argument + 1, kind) != NULL;
}

static bool is_noalias(LLVMValueRef function) {
  unsigned pointers = 0;
  for (unsigned i = 0; i < LLVMCountParams(function); i++) {
    if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(function, i))) != LLVMPointerTypeKind) continue;
    if (!has_attribute(function, i, "noalias")) return false;
    pointers++;
  }
  return pointers > 0;
}

// The address that an instruction accesses; null if it accesses none.
static LLVMValueRef address_of(LLVMValueRef i) {
  switch (LLVMGetInstructionOpcode(i)) {
    case LLVMLoad:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return LLVMGetOperand(i, 0);
    case LLVMStore: return LLVMGetOperand(i, 1);
    default: return NULL;
  }
}

// The argument that an address is computed from; -1 if it is none.
static int argument_of(const scoped_function *f, LLVMValueRef address) {
  while (LLVMIsAInstruction(address)) {
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(address);
    if (opcode != LLVMGetElementPtr && opcode != LLVMAddrSpaceCast) return -1;
    address = LLVMGetOperand(address, 0);
  }
  for (unsigned n = 0; n < f->count; n++)
    if (LLVMGetParam(f->function, n) == address) return (int)n;
  return -1;
}

typedef void (*access_fn)(scoped_function *f, LLVMValueRef access, int argument);

static void each_access(scoped_function *f, access_fn visit) {
  for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->function); b; b = LLVMGetNextBasicBlock(b)) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
      LLVMValueRef address = address_of(i);
      const int argument = address ? argument_of(f, address) : -1;
      if (argument >= 0) visit(f, i, argument);
    }
  }
}

static void find_written(scoped_function *f, LLVMValueRef access, int argument) {
  if (LLVMGetInstructionOpcode(access) != LLVMLoad) f->is_written[argument] = true;
}

// A node that names itself first, so that it is equal to no other one.
static LLVMMetadataRef distinct_node(LLVMContextRef c, LLVMMetadataRef second, const char *name) {
  LLVMMetadataRef parts[3] = {NULL, second, NULL};
  const unsigned count = second ? 3 : 2;
  parts[count - 1] = LLVMMDStringInContext2(c, name, strlen(name));
  LLVMMetadataRef self = LLVMTemporaryMDNode(c, NULL, 0);
  parts[0] = self;
  LLVMMetadataRef node = LLVMMDNodeInContext2(c, parts, count);
  LLVMMetadataReplaceAllUsesWith(self, node);
  return node;
}

static void make_scopes(scoped_function *f) {
  size_t size;
  LLVMMetadataRef domain = distinct_node(f->context, NULL, LLVMGetValueName2(f->function, &size));
  for (unsigned n = 0; n < f->count; n++)
    if (f->is_written[n])
      f->scopes[n] = distinct_node(f->context, domain, arena_printf(f->arena, "buffer of argument %u", n));
}

static void set_scopes(scoped_function *f, LLVMValueRef access, const char *kind, unsigned count,
                       LLVMMetadataRef *scopes) {
  if (count == 0) return;
  LLVMMetadataRef list = LLVMMDNodeInContext2(f->context, scopes, count);
  const unsigned id = LLVMGetMDKindIDInContext(f->context, kind, (unsigned)strlen(kind));
  LLVMSetMetadata(access, id, LLVMMetadataAsValue(f->context, list));
}

static void scope_access(scoped_function *f, LLVMValueRef access, int argument) {
  LLVMMetadataRef *others = arena_array(f->arena, LLVMMetadataRef, f->count);
  unsigned count = 0;
  for (unsigned n = 0; n < f->count; n++)
    if (f->scopes[n] && (int)n != argument) others[count++] = f->scopes[n];
  set_scopes(f, access, "alias.scope", f->scopes[argument] ? 1 : 0, &f->scopes[argument]);
  set_scopes(f, access, "noalias", count, others);
}

void llvm_scope_accesses(arena *scratch, LLVMModuleRef module) {
  for (LLVMValueRef function = LLVMGetFirstFunction(module); function; function = LLVMGetNextFunction(function)) {
    if (LLVMIsDeclaration(function) || !is_noalias(function)) continue;
    scoped_function f = {.arena = scratch,
                         .context = LLVMGetModuleContext(module),
                         .function = function,
                         .count = LLVMCountParams(function)};
    f.is_written = arena_array(scratch, bool, f.count);
    f.scopes = arena_array(scratch, LLVMMetadataRef, f.count);
    each_access(&f, find_written);
    make_scopes(&f);
    each_access(&f, scope_access);
  }
}
