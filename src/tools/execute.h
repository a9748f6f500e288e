// Modules run on a platform by name, with inputs and outputs as files: what several tools share.
#ifndef HEDDLE_TOOLS_EXECUTE_H_
#define HEDDLE_TOOLS_EXECUTE_H_

#include <stdio.h>

#include "api/compile.h"
#include "api/run.h"
#include "tools/flags.h"

typedef enum platform { PLATFORM_INTERPRETER, PLATFORM_CPU } platform;

// Case does not matter. HEDDLE_UNIMPLEMENTED for platforms that are planned (CUDA, Vulkan), HEDDLE_INVALID for others.
heddle_status platform_from_name(const char *name, platform *out);

// Runs once; compiles first where the platform compiles.
heddle_status execute_module(arena *a, const module *m, platform on, const compile_options *options, int argument_count,
                             literal *const *arguments, literal **result);

typedef VEC(literal *) literal_list;

// The arrays of a value, in order; an array is its own only leaf. Tokens do not count.
void literal_leaves(arena *a, literal *value, literal_list *out);

// `TITLE 0: f32[2] {1, 2}`, one a line.
void print_leaves(FILE *out, const char *title, const literal_list *leaves);

// Gives array `number` (counted over all parameters' leaves) of shape `s`.
typedef heddle_status (*leaf_source)(void *context, arena *a, int number, const shape *s, literal **out);

// Arguments for all entry parameters, put together from their leaves; `count` (may be null) gets the number of leaves.
heddle_status make_arguments(arena *a, const module *m, leaf_source source, void *context, int *count, literal ***out);

// Random arguments: floats in [-1, 1) (or over the whole exponent range if `large`), small integers, fair coins. Same
// seed, same values.
heddle_status random_arguments(arena *a, const module *m, unsigned seed, bool large, literal ***out);
heddle_status random_literal(arena *a, const shape *s, unsigned seed, literal **out);
heddle_status zero_arguments(arena *a, const module *m, literal ***out);

// Compares leaf by leaf; the error says which result and repeats literal_compare's line.
heddle_status compare_results(arena *a, literal *actual, literal *expected, double rtol, double atol);

// Writes what a compilation dumps into files `FOLDER/NAME.SUFFIX`; for compile_options.dump with the folder as
// argument.
void dump_to_folder(void *folder, const char *name, const char *suffix, str contents);

// "1.234 ms", "56.7 us".
const char *seconds_text(arena *a, double seconds);
// One line a stage and their sum.
void print_compile_times(FILE *out, const compile_times *times);
double compile_seconds(const compile_times *times);  // the sum

#endif
