// NVIDIA GPUs: lowered MLIR to PTX text. Needs no CUDA: LLVM writes the PTX; the driver or ptxas assembles it.
#ifndef HEDDLE_TARGET_NVPTX_H_
#define HEDDLE_TARGET_NVPTX_H_

#include "target/code.h"

// Path of the CUDA toolkit's math library: $HEDDLE_LIBDEVICE, $CUDA_HOME, /usr/local/cuda*; null if there is none.
const char *nvptx_find_libdevice(arena *a);

// The description of a chip: "sm_75" … "sm_90a". HEDDLE_INVALID, which lists the chips, for a name that is none of
// theirs.
heddle_status nvptx_target(const char *chip, target_description *out);

// See code_generator. Math functions are libdevice's where it is found.
void nvptx_prepare(arena *a, lower_options *options);

// PTX with one entry; everything else in it has a name that begins with the entry's. HEDDLE_DEVICE_FAILED if libdevice
// cannot be read.
heddle_status nvptx_emit(arena *a, MlirOperation module, const target_description *target, const code_options *options,
                         kernel_image *out);

// The same up to LLVM's optimization: bitcode, with mathematical functions of our own.
heddle_status nvptx_emit_bitcode(arena *a, MlirOperation module, const target_description *target,
                                 const code_options *options, kernel_image *out);

// One PTX module with the entries of all; a program without kernels has one without entries, which assemblers take.
heddle_status nvptx_join(arena *a, const target_description *target, int count, const kernel_image *images,
                         kernel_image *out);

#endif
