// Names of what programs are made of.
#include "prog/program.h"

const char *program_device_name(program_device_kind kind) {
  static const char *const names[PROGRAM_DEVICE_KIND_COUNT] = {[PROGRAM_CPU] = "cpu", [PROGRAM_GPU] = "gpu"};
  return names[kind];
}

const char *program_thunk_kind_name(program_thunk_kind kind) {
  static const char *const names[PROGRAM_THUNK_KIND_COUNT] = {
      [THUNK_KERNEL] = "kernel",
      [THUNK_SEQUENCE] = "sequence",
      [THUNK_CONDITIONAL] = "conditional",
      [THUNK_WHILE] = "while",
      [THUNK_FOR] = "for",
      [THUNK_CALL] = "call",
      [THUNK_COPY] = "copy",
      [THUNK_MEMSET] = "memset",
      [THUNK_CUSTOM_CALL] = "custom-call",
      [THUNK_GEMM] = "gemm",
      [THUNK_CONVOLUTION] = "convolution",
      [THUNK_FFT] = "fft",
      [THUNK_SORT] = "sort",
      [THUNK_TOP_K] = "top-k",
      [THUNK_CONCATENATE] = "concatenate",
      [THUNK_RANDOM] = "random",
      [THUNK_COLLECTIVE] = "collective",
      [THUNK_TRANSFER] = "transfer",
  };
  return names[kind];
}
