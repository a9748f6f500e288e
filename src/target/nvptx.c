// LLVM dialect with NVVM -> PTX.
//
// libdevice is bitcode: it is linked in whole, everything but the kernels becomes internal, and the standard O2 list
// drops what is not called and folds __nvvm_reflect.
#include "target/nvptx.h"

#include <glob.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "target/llvm_codegen.h"

static const char *newest_match(arena *a, const char *pattern) {
  glob_t found;
  const char *path = NULL;
  if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0) {
    const char *last = found.gl_pathv[found.gl_pathc - 1];
    path = arena_strdup(a, last, strlen(last));
  }
  globfree(&found);
  return path;
}

const char *nvptx_find_libdevice(arena *a) {
  const char *given = getenv("HEDDLE_LIBDEVICE"), *home = getenv("CUDA_HOME");
  if (given) return access(given, R_OK) == 0 ? given : NULL;
  const char *path = home ? newest_match(a, arena_printf(a, "%s/nvvm/libdevice/libdevice.10.bc", home)) : NULL;
  return path ? path : newest_match(a, "/usr/local/cuda*/nvvm/libdevice/libdevice.10.bc");
}

// What LLVM 19 generates code for and ptxas still assembles, each with the lowest PTX ISA version that knows it. Newer
// chips run sm_90's PTX forward.
static const struct chip {
  const char *name;
  int number;
  const char *ptx_version;
} chips[] = {
    {"sm_75", 75, "+ptx63"}, {"sm_80", 80, "+ptx70"}, {"sm_86", 86, "+ptx71"},  {"sm_87", 87, "+ptx74"},
    {"sm_89", 89, "+ptx78"}, {"sm_90", 90, "+ptx78"}, {"sm_90a", 90, "+ptx80"},
};

static const struct chip *find_chip(const char *name) {
  for (size_t i = 0; i < sizeof chips / sizeof *chips; i++)
    if (strcmp(chips[i].name, name) == 0) return &chips[i];
  return NULL;
}

heddle_status nvptx_check_chip(const char *name) {
  if (find_chip(name)) return status_ok();
  return status_error(HEDDLE_INVALID, "found chip %s, wanted sm_75, sm_80, sm_86, sm_87, sm_89, sm_90 or sm_90a", name);
}

lower_options nvptx_lower_options(const char *chip, bool has_libdevice, bool exact) {
  const struct chip *known = find_chip(chip);
  return (lower_options){
      .target = LOWER_NVPTX,
      .exact = exact,
      .has_bf16 = known && known->number >= 80,
      .has_f16 = true,
      .has_fma = true,
      .max_unroll = 4,
      .use_libdevice = has_libdevice,
      .chip = chip,
  };
}

static heddle_status link_libdevice(arena *a, LLVMModuleRef module, const char *path) {
  str bitcode;
  TRY(file_read(a, path, &bitcode));
  LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode.data, bitcode.size, path);
  LLVMModuleRef library = NULL;
  bool failed = LLVMParseBitcodeInContext2(LLVMGetModuleContext(module), buffer, &library);
  LLVMDisposeMemoryBuffer(buffer);
  if (failed) return status_error(HEDDLE_DEVICE_FAILED, "%s: not LLVM bitcode", path);
  // The library's triple is generic; the linker would warn about the difference.
  LLVMSetTarget(library, LLVMGetTarget(module));
  LLVMSetDataLayout(library, LLVMGetDataLayoutStr(module));
  if (LLVMLinkModules2(module, library)) return status_error(HEDDLE_DEVICE_FAILED, "%s: cannot be linked", path);
  return status_ok();
}

// Kernels carry the PTX calling convention or nvvm annotations; MLIR marks them in !nvvm.annotations.
static bool is_kernel(LLVMModuleRef module, LLVMValueRef function) {
  unsigned count = LLVMGetNamedMetadataNumOperands(module, "nvvm.annotations");
  LLVMValueRef *rows = calloc(count ? count : 1, sizeof *rows);
  if (!rows) return true;
  LLVMGetNamedMetadataOperands(module, "nvvm.annotations", rows);
  bool found = false;
  for (unsigned i = 0; i < count && !found; i++) {
    if (LLVMGetMDNodeNumOperands(rows[i]) < 1) continue;
    LLVMValueRef *operands = calloc((size_t)LLVMGetMDNodeNumOperands(rows[i]), sizeof *operands);
    if (!operands) break;
    LLVMGetMDNodeOperands(rows[i], operands);
    found = operands[0] == function;
    free(operands);
  }
  free(rows);
  return found;
}

static void internalize(LLVMModuleRef module) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
    if (!LLVMIsDeclaration(f) && !is_kernel(module, f)) LLVMSetLinkage(f, LLVMInternalLinkage);
}

static heddle_status generate(arena *a, LLVMModuleRef module, LLVMTargetMachineRef tm, const nvptx_options *options,
                              text *ptx) {
  if (options->libdevice) {
    TRY(link_libdevice(a, module, options->libdevice));
    internalize(module);
  }
  llvm_bound_thread_numbers(module, &options->launch);
  TRY(llvm_run_passes(module, tm, "default<O2>"));
  if (options->llvm_ir) llvm_print(module, options->llvm_ir);
  LLVMMemoryBufferRef buffer;
  TRY(llvm_emit(module, tm, LLVMAssemblyFile, &buffer));
  text_append(ptx, (str){LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer)});
  LLVMDisposeMemoryBuffer(buffer);
  return status_ok();
}

heddle_status nvptx_emit(arena *a, MlirOperation module, const nvptx_options *options, text *ptx) {
  TRY(nvptx_check_chip(options->chip));
  const struct chip *chip = find_chip(options->chip);
  LLVMTargetMachineRef tm = NULL;
  TRY(llvm_target_machine("nvptx64-nvidia-cuda", chip->name, chip->ptx_version, &tm));
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef llvm = NULL;
  heddle_status s = llvm_translate(module, context, tm, &llvm);
  if (status_is_ok(s)) s = generate(a, llvm, tm, options, ptx);
  if (llvm) LLVMDisposeModule(llvm);
  LLVMContextDispose(context);
  LLVMDisposeTargetMachine(tm);
  return s;
}
