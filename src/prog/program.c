// Names of what programs are made of, and sizes of shapes.
#include "prog/program.h"

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

const char *program_image_format_name(program_image_format format) {
  static const char *const names[PROGRAM_IMAGE_FORMAT_COUNT] = {[PROGRAM_ELF] = "elf",
                                                                [PROGRAM_PTX] = "ptx",
                                                                [PROGRAM_MLIR] = "mlir",
                                                                [PROGRAM_LLVM] = "llvm",
                                                                [PROGRAM_SPIRV] = "spirv"};
  return names[format];
}

const char *program_allocation_kind_name(program_allocation_kind kind) {
  static const char *const names[PROGRAM_ALLOCATION_KIND_COUNT] = {[PROGRAM_PARAMETER] = "parameter",
                                                                   [PROGRAM_RESULT] = "result",
                                                                   [PROGRAM_CONSTANT] = "constant",
                                                                   [PROGRAM_TEMPORARY] = "temporary",
                                                                   [PROGRAM_NUMBERS] = "numbers"};
  return names[kind];
}

const char *program_derived_kind_name(program_derived_kind kind) {
  static const char *const names[PROGRAM_DERIVED_KIND_COUNT] = {[PROGRAM_QUOTIENT] = "quotient",
                                                                [PROGRAM_REMAINDER] = "remainder",
                                                                [PROGRAM_MODULO] = "modulo",
                                                                [PROGRAM_LARGER] = "larger",
                                                                [PROGRAM_SMALLER] = "smaller"};
  return names[kind];
}

int64_t program_shape_elements(const program_shape *s) {
  int64_t count = 1;
  for (int d = 0; d < s->rank; d++)
    if (s->dims[d] == 0) return 0;
  for (int d = 0; d < s->rank; d++)
    if (__builtin_mul_overflow(count, s->dims[d], &count)) return INT64_MAX;
  return count;
}

int64_t program_shape_bytes(const program_shape *s) {
  int64_t bytes;
  return __builtin_mul_overflow(program_shape_elements(s), dtypes[s->type].bytes, &bytes) ? INT64_MAX : bytes;
}

int64_t program_shape_packed_bytes(const program_shape *s) {
  const int bits = dtypes[s->type].bits;
  if (bits >= 8) return program_shape_bytes(s);
  const int64_t count = program_shape_elements(s), each = 8 / bits;
  return count / each + (count % each != 0);
}

bool program_shape_is_plain(const program_shape *s) {
  for (int d = 0; d < s->rank; d++)
    if (s->minor_to_major[d] != s->rank - 1 - d) return false;
  return dtypes[s->type].bits >= 8;
}
