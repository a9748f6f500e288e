// Makes the program, with its signature, memory, code and thunks, of LHLO and the kernels' code.
#ifndef HEDDLE_API_PROGRAM_BUILD_H_
#define HEDDLE_API_PROGRAM_BUILD_H_

#include "lhlo/lhlo.h"
#include "prog/program.h"
#include "target/code.h"

// Kernels to be compiled: those of the operations, then the comparators of sorts, which get names of their own.
typedef struct program_table {
  int count;
  const int64_t *numbers;
} program_table;

typedef struct program_kernels {
  int count;
  const kernel_plan **plans;
  int comparators;                    // the number of the first one; as many as `count` if there is none
  const target_description *callers;  // what comparators are planned for: libraries call them, on the host
  ptr_map numbers;                    // kernel_plan or comparator computation -> its number, plus one
  const program_table *tables;        // by kernel, of those that take sizes; null: there are none
} program_kernels;

// All kernels a program needs (those without a tile need no code), called NAME, NAME_1, … if `name` is not null
// (characters that no C identifier has become underscores). Fails where a comparator cannot be a kernel.
heddle_status program_collect_kernels(arena *a, const lhlo_program *p, const char *name, program_kernels *out);

// images[i] is the code of kernel i, or there is one that holds all. Everything lives in the arena; of what is given
// only the images' data must outlive the result. `source` is the module that `p` was made of, which knows its
// parameters' names and the structure of its result; null for a program that was written as LHLO. HEDDLE_UNIMPLEMENTED
// for library calls that programs have no words for.
heddle_status program_build(arena *a, const lhlo_program *p, const module *source, const program_kernels *kernels,
                            int image_count, const kernel_image *images, program *out);

#endif
