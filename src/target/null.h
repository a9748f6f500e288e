// The target that generates nothing: an image is the lowered module as text. It is there to be cloned
// (doc/adding-a-target.md).
#ifndef HEDDLE_TARGET_NULL_H_
#define HEDDLE_TARGET_NULL_H_

#include "target/code.h"

// See code_generator.
heddle_status null_emit(arena *a, MlirOperation module, const target_description *target, const code_options *options,
                        kernel_image *out);

#endif
