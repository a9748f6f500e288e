// LLVM dialect with NVVM -> PTX.
//
// libdevice is bitcode: it is linked in whole, everything but the kernels becomes internal, and LLVM's O2 list
// drops what is not called and folds __nvvm_reflect.
#include "target/nvptx.h"

#include <glob.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Linker.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "target/llvm_alias_scopes.h"
#include "target/llvm_codegen.h"
#include "target/llvm_metadata.h"
#include "target/llvm_packed_vectors.h"

static const char triple[] = "nvptx64-nvidia-cuda";

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

// Kernels of one program share a PTX module: what is private to one gets a name that no other has.
static void rename_private(arena *a, LLVMValueRef value, const char *entry) {
  const LLVMLinkage linkage = LLVMGetLinkage(value);
  if (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage) return;
  size_t size;
  const char *name = LLVMGetValueName2(value, &size);
  const char *renamed = arena_printf(a, "%s$%.*s", entry, (int)size, name);
  LLVMSetValueName2(value, renamed, strlen(renamed));
}

static void rename_all_private(arena *a, LLVMModuleRef module, const char *entry) {
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) rename_private(a, f, entry);
  for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) rename_private(a, g, entry);
}

// LLVM's O2 list without its vectorizers, which have nothing to do here, and without vector-combine, which takes loads
// of vectors apart when their elements are used one by one: four accesses for one, and what is known of them lost.
#define COMBINE "instcombine<no-verify-fixpoint>"  // else one round that is not enough ends the process
static const char passes[] =
    "function(nvvm-reflect,simplifycfg,sroa<modify-cfg>,early-cse),ipsccp,globalopt,function(" COMBINE
    ",simplifycfg),cgscc(inline,function(sroa<modify-cfg>,early-cse<memssa>,"
    "speculative-execution<only-if-divergent-target>,jump-threading,simplifycfg," COMBINE
    ",reassociate,loop-mssa(loop-instsimplify,loop-simplifycfg,licm,loop-rotate,licm,simple-loop-unswitch),"
    "simplifycfg," COMBINE
    ",loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),sroa<modify-cfg>,gvn,sccp,bdce," COMBINE
    ",jump-threading,adce,dse,loop-mssa(licm),simplifycfg," COMBINE ")),globaldce,function(loop-unroll<O2>," COMBINE
    ",loop-mssa(licm),simplifycfg,early-cse),globaldce,constmerge";

// The module as code generation takes it.
static heddle_status optimize(arena *a, LLVMModuleRef module, LLVMTargetMachineRef tm, const code_options *options,
                              kernel_image *out) {
  llvm_scope_accesses(a, module);
  llvm_bound_thread_numbers(module, &(launch_bounds){options->threads, options->blocks_x, options->blocks_y});
  const double start = log_seconds();
  TRY(llvm_run_passes(module, tm, passes));
  llvm_open_packed_vectors(a, module);
  out->optimize_seconds = log_seconds() - start;
  rename_all_private(a, module, options->entry);
  if (options->llvm_ir) llvm_print(module, options->llvm_ir);
  return status_ok();
}

static void keep_image(arena *a, LLVMMemoryBufferRef buffer, kernel_image *out) {
  const str bytes = str_copy(a, (str){LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer)});
  LLVMDisposeMemoryBuffer(buffer);
  out->data = bytes.data;
  out->size = bytes.size;
}

static heddle_status generate_ptx(arena *a, LLVMModuleRef module, LLVMTargetMachineRef tm, const code_options *options,
                                  kernel_image *out) {
  const char *libdevice = nvptx_find_libdevice(a);
  if (libdevice) {
    TRY(link_libdevice(a, module, libdevice));
    internalize(module);
  }
  TRY(optimize(a, module, tm, options, out));
  const double start = log_seconds();
  LLVMMemoryBufferRef buffer;
  TRY(llvm_emit(module, tm, LLVMAssemblyFile, &buffer));
  keep_image(a, buffer, out);
  out->codegen_seconds = log_seconds() - start;
  return status_ok();
}

static heddle_status generate_bitcode(arena *a, LLVMModuleRef module, LLVMTargetMachineRef tm,
                                      const code_options *options, kernel_image *out) {
  TRY(optimize(a, module, tm, options, out));
  // Code generation begins with it: neighbouring accesses of a thread are one.
  TRY(llvm_run_passes(module, tm, "function(load-store-vectorizer)"));
  keep_image(a, LLVMWriteBitcodeToMemoryBuffer(module), out);
  return status_ok();
}

void nvptx_prepare(arena *a, lower_options *options) { options->use_libdevice = nvptx_find_libdevice(a) != NULL; }

typedef heddle_status (*generate_fn)(arena *a, LLVMModuleRef module, LLVMTargetMachineRef tm,
                                     const code_options *options, kernel_image *out);

static heddle_status emit(arena *a, MlirOperation module, const target_description *target, const code_options *options,
                          generate_fn generate, kernel_image *out) {
  LLVMTargetMachineRef tm = NULL;
  TRY(llvm_target_machine(triple, target->chip, target->features, &tm));
  double start = log_seconds();
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef llvm = NULL;
  heddle_status s = llvm_translate(module, context, tm, &llvm);
  out->translate_seconds = log_seconds() - start;
  // Before libdevice is linked in: its loops are its own.
  if (status_is_ok(s)) llvm_hint_grid_loops(a, llvm, target);
  if (status_is_ok(s)) s = generate(a, llvm, tm, options, out);
  if (llvm) LLVMDisposeModule(llvm);
  LLVMContextDispose(context);
  LLVMDisposeTargetMachine(tm);
  return s;
}

heddle_status nvptx_emit(arena *a, MlirOperation module, const target_description *target, const code_options *options,
                         kernel_image *out) {
  *out = (kernel_image){.format = IMAGE_PTX};
  return emit(a, module, target, options, generate_ptx, out);
}

heddle_status nvptx_emit_bitcode(arena *a, MlirOperation module, const target_description *target,
                                 const code_options *options, kernel_image *out) {
  *out = (kernel_image){.format = IMAGE_LLVM};
  return emit(a, module, target, options, generate_bitcode, out);
}

// --- one module for all kernels

// Bytes up to the end of `.address_size 64`: comments, `.version` and `.target`, which all kernels of a program share.
static size_t header_size(str ptx) {
  static const char last[] = ".address_size";
  const char *found = memmem(ptx.data, ptx.size, last, strlen(last));
  const char *end = found ? memchr(found, '\n', ptx.size - (size_t)(found - ptx.data)) : NULL;
  return end ? (size_t)(end - ptx.data) + 1 : 0;
}

// What stands before the first entry is LLVM's to say, also where there is none.
static heddle_status emit_empty(arena *a, const target_description *target, kernel_image *out) {
  LLVMTargetMachineRef tm = NULL;
  TRY(llvm_target_machine(triple, target->chip, target->features, &tm));
  LLVMContextRef context = LLVMContextCreate();
  LLVMModuleRef module = LLVMModuleCreateWithNameInContext("empty", context);
  LLVMMemoryBufferRef buffer;
  heddle_status s = llvm_emit(module, tm, LLVMAssemblyFile, &buffer);
  if (status_is_ok(s)) keep_image(a, buffer, out);
  LLVMDisposeModule(module);
  LLVMContextDispose(context);
  LLVMDisposeTargetMachine(tm);
  return s;
}

heddle_status nvptx_join(arena *a, const target_description *target, int count, const kernel_image *images,
                         kernel_image *out) {
  text joined = {0};
  *out = (kernel_image){.format = IMAGE_PTX};
  if (count == 0) return emit_empty(a, target, out);
  for (int k = 0; k < count; k++) {
    const str ptx = {images[k].data, images[k].size};
    const size_t header = header_size(ptx);
    if (k == 0) text_append(&joined, (str){ptx.data, header});
    text_append(&joined, (str){ptx.data + header, ptx.size - header});
  }
  const str copy = str_copy(a, text_view(&joined));
  out->data = copy.data;
  out->size = copy.size;
  text_free(&joined);
  return status_ok();
}
