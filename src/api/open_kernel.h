// The code of kernels that take open sizes when they run.
//
// Such a kernel is made with several sets of numbers that stand in for the sizes, none of them divisible by anything
// that tiles or vectors could be made of. Made so, the code must be the same but for numbers, each of which must be one
// polynomial of the symbols at all of them: then the kernel reads these numbers from a table, and is right at all
// sizes.
#ifndef HEDDLE_API_OPEN_KERNEL_H_
#define HEDDLE_API_OPEN_KERNEL_H_

#include "api/open_samples.h"
#include "api/program_build.h"
#include "kernel/kernel.h"
#include "lower/open_numbers.h"

// What a kernel reads: number k is the polynomial terms[k * PROGRAM_MOST_TERMS …].
typedef struct open_kernel_table {
  int count;
  const int64_t *terms;
} open_kernel_table;

// With its numbers, which then lie in `a`.
open_kernel_table open_kernel_table_copy(arena *a, const open_kernel_table *from);

// The table as bytes, appended to `out`; and read again from the beginning of `bytes`, which is what is behind it then.
// False if no table lies there.
void open_kernel_table_write(const open_kernel_table *table, text *out);
bool open_kernel_table_read(arena *a, str *bytes, open_kernel_table *out);

// Makes the numbers in which the readings (one for each sample, the first one of `module` itself, or of a clone) differ
// elements of the table. HEDDLE_UNIMPLEMENTED where they differ in more than numbers, or in one that is no such
// polynomial; `where` is of the kernel.
heddle_status open_kernel_open(arena *a, MlirOperation module, const kernel_plan *kernel, const open_samples *samples,
                               const open_numbers_reading *readings, open_kernel_table *out);

// The tables of so many kernels for the stand-ins of a sample.
const program_table *open_kernel_tables(arena *a, const open_kernel_table *tables, int count,
                                        const open_samples *samples, int sample);

#endif
