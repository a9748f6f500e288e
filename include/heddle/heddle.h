// Heddle for C programs: a program in any format in, a compiled one out, arrays through it.
//
// clang-format off
//   heddle_program *program;
//   heddle_status s = heddle_compile(text, strlen(text), "model.hlo", NULL, &program);
//   if (heddle_status_code(s) != HEDDLE_OK) {
//     fputs(heddle_status_message(s), stderr);
//     heddle_status_free(s);
//     return 1;
//   }
//   const void *inputs[] = {x};
//   void *outputs[] = {y};
//   s = heddle_program_run(program, inputs, outputs);
//   ...
//   heddle_program_free(program);
// clang-format on
//
// No call ends the process. A process may fork at any time, from any thread but within a custom call: all calls and all
// programs work in the child as in the parent. Devices are not forked: while a process has a program on one, its
// children are told HEDDLE_DEVICE_FAILED by all that would use one.
#ifndef HEDDLE_HEDDLE_H_
#define HEDDLE_HEDDLE_H_

#include "heddle/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- programs

// Where a compilation is. More fields may stand behind these: struct_size says how many bytes there are.
typedef struct heddle_progress {
  size_t struct_size;
  // What begins: "import", "opt" (passes over HLO), "fuse", "plan" (order and memory), "kernels" (code, by far the
  // longest), "link"; "done" ends a compilation that has succeeded. Later versions may name more.
  const char *stage;
  int done, total;  // kernels of the stage "kernels", which is told again after each of them; else 0
} heddle_progress;

// Called from any of the compilation's threads, one call at a time. It may cancel the compilation; other calls of
// Heddle are not for it.
typedef void (*heddle_progress_fn)(void *user, const heddle_progress *progress);

typedef struct heddle_compile_options {
  HEDDLE_STRUCT_SIZE(heddle_compile_options);
  bool exact;   // keep every rounding the HLO asks for; default: bf16 and f16 chains compute in f32
  int threads;  // 0 = all cores; at most 1024
  // The shapes the program is compiled for: all its parameters' or none; what it declares otherwise must agree. Without
  // them a program that declares sizes as `?` is compiled once for all sizes, which its runs then give
  // (heddle_run_options.input_dims); HEDDLE_UNIMPLEMENTED where it cannot be (doc/dynamic-shapes.md). Only
  // element_type, rank and dims are read; an element_type of null stands for what is declared. Not needed after the
  // call.
  const heddle_array *parameters;
  int parameter_count;
  heddle_cancellation *cancellation;  // of the compilation, not of the program's runs; may be null
  heddle_progress_fn progress;        // may be null
  void *progress_user;
  // What the program may take while it runs, as --memory-limit has it: "65536", "64MiB", "25%", "l2=512KiB,dram=64MiB";
  // null: no limit. HEDDLE_OUT_OF_MEMORY names the operation that cannot be made to fit. Sizes declared as `?` need
  // `parameters` or `specializes` then. Not needed after the call.
  const char *memory_limit;
  // Sizes declared as `?` that `parameters` does not say are compiled for when runs come with them, and the last
  // sixteen are kept: for programs that cannot be compiled for all sizes at once.
  bool specializes;
  // What is compiled for, and runs the program: "cpu" (null: the same) or "vulkan", in capitals or not. The calls that
  // run it and the caller's arrays are the same for all; arrays are copied to a device and back.
  // heddle_platform_devices says what there is. A program that is saved has its platform: null then stands for that
  // one. HEDDLE_INVALID for a name that is none, and for a saved program of another; HEDDLE_DEVICE_FAILED where there
  // is no such device. Sizes declared as `?` need `parameters` or `specializes` on a device. Not needed after the call.
  const char *platform;
  // The device of the platform that runs the program: its number in heddle_platform_devices, or a part of its name;
  // null: the platform chooses. HEDDLE_DEVICE_FAILED where it has none of that name. Not needed after the call.
  const char *device;
  // On how many streams, or queues, of a device thunks run that nothing ties together, up to 16: 0: as many as the
  // device has, 1: all run in order, on the CPU, too. A saved program has its own.
  int streams;
  // Who makes code where several could, as --codegen has it: "library" (a call where a library has one), "emitters" (a
  // kernel by an emitter), "tiles" (a kernel through tiles where there is a way, doc/tiles.md); null: whoever is
  // expected to be fastest. HEDDLE_INVALID for another name. A saved program has its own. Not needed after the call.
  const char *codegen;
} heddle_compile_options;

#define HEDDLE_COMPILE_OPTIONS_INIT HEDDLE_INIT(heddle_compile_options)

// Compiles HLO text, an HLO proto (binary or text), StableHLO or MHLO text, StableHLO bytecode or LHLO (which of them
// is told by looking) for the machine this runs on, or for a device of it (heddle_compile_options.platform). A saved
// program (heddle/runtime.h) is loaded. `name` stands for the program in messages (null: "program"). `options` may be
// null. The program is the caller's to free; *out is null after an error.
HEDDLE_API heddle_status heddle_compile(const char *text, size_t size, const char *name,
                                        const heddle_compile_options *options, heddle_program **out);
// The same of a file, a pipe, which is read to its end, or "-", standard input. HEDDLE_INVALID, too, for what cannot be
// read.
HEDDLE_API heddle_status heddle_compile_file(const char *path, const heddle_compile_options *options,
                                             heddle_program **out);

// What the compiler makes of the program on its way, as text: "hlo" (the program as it was read), "fused" (behind
// passes and fusion), "plan" (decisions and their reasons, kernels), "lhlo" (order and memory), "program" (what runs),
// and of all kernels, one after the other, "mlir" (as emitted), "lowered" (MLIR's LLVM dialect), "llvm", "asm". Those
// of kernels and the plan are made when they are asked for, in the time of a compilation. *out is the caller's to free
// with heddle_text_free. HEDDLE_INVALID for a stage that is not one, or that the program has not gone through: one
// written as LHLO has no "hlo", and one for Vulkan no "llvm" and "asm" ("lowered" is of the SPIR-V dialect there).
HEDDLE_API heddle_status heddle_program_text(const heddle_program *program, const char *stage, char **out);

#ifdef __cplusplus
}
#endif
#endif
