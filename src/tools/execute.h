// Runs modules on a platform by name, with inputs and outputs as files, for several tools.
#ifndef HEDDLE_TOOLS_EXECUTE_H_
#define HEDDLE_TOOLS_EXECUTE_H_

#include <stdio.h>

#include "api/compile.h"
#include "api/run.h"
#include "eval/evaluate.h"
#include "tools/flags.h"

typedef enum platform {
  PLATFORM_INTERPRETER,
  PLATFORM_CPU,
  PLATFORM_SIMULATOR,  // kernels for a GPU, run by the kernel simulator
  PLATFORM_CUDA,       // compiled to PTX
  PLATFORM_VULKAN,
} platform;

// The value of the flag --`flag`; case does not matter. HEDDLE_INVALID for names that are none's.
heddle_status platform_from_name(const char *flag, const char *name, platform *out);

// Of a flag --device, null where there is none: HEDDLE_INVALID where the platform has no devices to choose from. The
// CPU, which has one, and Vulkan say themselves that they have not the one that is asked for.
heddle_status platform_check_device(const char *device, platform on);

// Makes the options those of a compilation for the platform, which is not the interpreter: for the GPU where kernels
// run on one, which must outlive the options.
void platform_compiles_for(platform on, const target_description *gpu, compile_options *options);

#define CHIP_FLAG(to) {"chip", FLAG_TEXT, (to), "SM", "the GPU that is compiled for, or simulated (sm_90)"}

// Whether the compiled program can run here: HEDDLE_DEVICE_FAILED where there is no device for it.
heddle_status platform_has_device(const compiled *program);

// A module of several replicas or partitions runs on as many devices. It takes one set of arguments for all of them or
// a set for each, device after device.
typedef struct argument_list {
  int count;
  literal **values;
  int leaf_count;
} argument_list;

// Runs once; compiles first where the platform compiles. Of several devices the result is a tuple of what each has.
heddle_status execute_module(arena *a, const module *m, platform on, const compile_options *options,
                             const argument_list *arguments, literal **result);
// The same in the interpreter; `options` may be null.
heddle_status execute_in_interpreter(arena *a, const module *m, const eval_options *options,
                                     const argument_list *arguments, literal **result);

typedef VEC(literal *) literal_list;

// The arrays of a value, in order; an array is its own only leaf. Tokens do not count.
void execute_leaves(arena *a, literal *value, literal_list *out);

// `TITLE 0: f32[2] {1, 2}`, one a line.
void execute_print_leaves(FILE *out, const char *title, const literal_list *leaves);

// The same of a result of execute_module, with the number of the device before the title where there are several.
void execute_print_results(FILE *out, arena *a, const char *title, int devices, literal *result);

// Gives array `number` (counted over all parameters' leaves) of shape `s`.
typedef heddle_status (*leaf_source)(void *context, arena *a, int number, const shape *s, literal **out);

// Arguments for all entry parameters, put together from their leaves: a set for each device if more than one set's
// leaves are `given`, else one set. Numbers of leaves run on over all sets.
heddle_status argument_list_make(arena *a, const module *m, int given, leaf_source source, void *context,
                                 argument_list *out);

// Random arguments, others for each device: floats in [-1, 1) (or over the whole exponent range if `large`), small
// integers, fair coins. Same seed, same values.
// For programs that mean something use fake_arguments.
heddle_status argument_list_random(arena *a, const module *m, unsigned seed, bool large, argument_list *out);
heddle_status execute_random_literal(arena *a, const shape *s, unsigned seed, literal **out);
// Into an array that is there; `state` is a SplitMix64's and goes on.
void execute_random_fill(literal *l, uint64_t *state, bool large);
heddle_status argument_list_zeros(arena *a, const module *m, argument_list *out);

// Compares leaf by leaf; the error says which result and repeats literal_compare's line.
heddle_status execute_compare(arena *a, literal *actual, literal *expected, double rtol, double atol);

// Where a compilation's dumps go, and the first error of writing them, which the owner of the struct frees.
typedef struct dump_target {
  const char *folder;
  heddle_status failed;
} dump_target;

// Writes what a compilation dumps into files `FOLDER/NAME.SUFFIX`; for compile_options.dump with a dump_target as
// argument.
void dump_target_write(void *target, const char *name, const char *suffix, str contents);

// "1.234 ms", "56.7 us".
const char *execute_seconds_text(arena *a, double seconds);
// One line a stage and their sum.
void execute_print_times(FILE *out, const compile_times *times);

#endif
