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

heddle_status nvptx_target(const char *chip, target_description *out) {
  if (target_find(str_from(chip), out) && out->kind == TARGET_NVPTX) return status_ok();
  text names = {0};
  target_description known;
  const char *name;
  for (int k = 0; (name = target_name(k)); k++) {
    if (!target_find(str_from(name), &known) || known.kind != TARGET_NVPTX) continue;
    if (names.size) text_printf(&names, target_name(k + 1) ? ", " : " or ");
    text_printf(&names, "%s", name);
  }
  heddle_status s = status_error(HEDDLE_INVALID, "found chip %s, wanted %s", chip, names.data);
  text_free(&names);
  return s;
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

heddle_status nvptx_emit(arena *a, MlirOperation module, const target_description *target, const nvptx_options *options,
                         text *ptx) {
  LLVMTargetMachineRef tm = NULL;
  TRY(llvm_target_machine("nvptx64-nvidia-cuda", target->chip, target->features, &tm));
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef llvm = NULL;
  heddle_status s = llvm_translate(module, context, tm, &llvm);
  if (status_is_ok(s)) s = generate(a, llvm, tm, options, ptx);
  if (llvm) LLVMDisposeModule(llvm);
  LLVMContextDispose(context);
  LLVMDisposeTargetMachine(tm);
  return s;
}
