// The passes of LLVM's code generation that find nothing in a kernel: of LLVM 19's 130 about fifty are for what kernels
// never hold (exceptions, collected garbage, coroutines' and debuggers' data, other systems' calling conventions, tiles
// of AMX, instrumentation and hardening that nobody asked for). Each is made, scheduled and walked through by every
// kernel all the same. What only a region's text asks for stays: masked sums, integers beyond 128 bits. Objects are the
// same bytes without them, of the kernels of bench/compile_time.py's programs each; a kernel that is nearly empty is
// generated in nine tenths of the time.
#include "target/cpu_codegen.h"

#include <stdlib.h>

#include "base/str.h"

// By LLVM's names, in the order of strcmp.
static const char *const unneeded[] = {
    "Analyze Machine Code For Garbage Collection",
    "Argument Stack Rebase",
    "Contiguously Lay Out Funclets",
    "Exception handling preparation",
    "Expand indirectbr instructions",
    "Expand memcmp() to load/stores",
    "Fixup Statepoint Caller Saved",
    "Implement the 'patchable-function' attribute",
    "Insert KCFI indirect call checks",
    "Insert XRay ops",
    "Insert fentry calls",
    "Insert stack protectors",
    "Instrument function entry/exit with calls to e.g. mcount() (post inlining)",
    "Live DEBUG_VALUE analysis",
    "Local Dynamic TLS Access Clean-up",
    "Lower AMX intrinsics",
    "Lower AMX type for load/store",
    "Lower Garbage Collection Instructions",
    "Machine Sanitizer Binary Metadata",
    "Merge contiguous icmps into a memcmp",
    "Partially inline calls to library functions",
    "Prepare callbr",
    "Pseudo Probe Inserter",
    "Register Allocation Pass Scoring",
    "Remove Redundant DEBUG_VALUE analysis",
    "Replace intrinsics with calls to vector library",
    "Safe Stack instrumentation pass",
    "Shadow Stack GC Lowering",
    "Stack Frame Layout Analysis",
    "StackMap Liveness Analysis",
    "TLS Variable Hoist",
    "Tile Register Configure",
    "Tile Register Pre-configure",
    "X86 Atom pad short functions",
    "X86 Discriminate Memory Operands",
    "X86 Indirect Branch Tracking",
    "X86 Indirect Thunks",
    "X86 Insert Cache Prefetches",
    "X86 Load Value Injection (LVI) Load Hardening",
    "X86 Load Value Injection (LVI) Ret-Hardening",
    "X86 Lower Tile Copy",
    "X86 PIC Global Base Reg Initialization",
    "X86 Return Thunks",
    "X86 Speculative Execution Side Effect Suppression",
    "X86 Windows Fixup Buffer Security Check",
    "X86 insert wait instruction",
    "X86 speculative load hardening",
};

static int compare(const void *key, const void *entry) {
  const str *pass = key;
  const char *name = *(const char *const *)entry;
  const int order = strncmp(pass->data, name, pass->size);
  return order == 0 && name[pass->size] ? -1 : order;
}

static bool is_unneeded(const char *pass, size_t size) {
  const str key = {pass, size};
  return bsearch(&key, unneeded, sizeof unneeded / sizeof *unneeded, sizeof *unneeded, compare);
}

// And the two that look at loops' addresses, a sixth of what code generation of a tile of products takes.
static bool is_unneeded_or_for_strength(const char *pass, size_t size) {
  const str name = {pass, size};
  return is_unneeded(pass, size) || str_is(name, "Loop Strength Reduction") ||
         str_is(name, "Canonicalize Freeze Instructions in Loops");
}

heddle_status cpu_codegen_create(LLVMTargetMachineRef tm, LLVMCodeGenFileType type, bool reduces_strength,
                                 codegen **out) {
  *out = codegen_create(tm, type, reduces_strength ? is_unneeded : is_unneeded_or_for_strength);
  return *out ? status_ok() : status_error(HEDDLE_INTERNAL, "LLVM code generation: no output of this kind");
}
