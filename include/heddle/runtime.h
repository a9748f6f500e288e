// Heddle's runtime for C programs: a saved program in, arrays through it. No compiler is needed, and
// libheddle-runtime.so has none; libheddle.so has these calls, too, and what heddle/heddle.h compiles is called in the
// same way.
//
// clang-format off
//   heddle_program *program;
//   heddle_status s = heddle_program_load("model.heddle", NULL, &program);  // of `heddle compile MODEL -o model.heddle`
//   if (heddle_status_code(s) != HEDDLE_OK) {
//     fputs(heddle_status_message(s), stderr);
//     heddle_status_free(s);
//     return 1;
//   }
//   s = heddle_program_run(program, (const void *[]){x}, (void *[]){y});
//   ...
//   heddle_program_free(program);
// clang-format on
//
// No call ends the process. A process may fork at any time, from any thread but within a custom call: all calls and all
// programs work in the child as in the parent. Devices are not forked: while a process has a program on one, its
// children are told HEDDLE_DEVICE_FAILED by all that would use one.
#ifndef HEDDLE_RUNTIME_H_
#define HEDDLE_RUNTIME_H_

#include "heddle/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_program heddle_program;

// --- cancellation

// Ends calls early from another thread. One may be given to any number of calls, one after the other or at the same
// time; each ends as soon as it can, with HEDDLE_CANCELLED, and frees all it has taken. A compilation ends between two
// passes or kernels, a run between two operations (those of a loop's turns, too), a kernel after the tiles at hand;
// libraries' routines and custom calls are waited for. A call that has nothing left to do may still succeed.
typedef struct heddle_cancellation heddle_cancellation;

// HEDDLE_OUT_OF_MEMORY is the only error. The caller frees it when no call uses it any more.
HEDDLE_API heddle_status heddle_cancellation_create(heddle_cancellation **out);
HEDDLE_API void heddle_cancellation_free(heddle_cancellation *cancellation);  // null is allowed

// Ends all calls that have been given it, and those that will be, at once. From any thread and from signal handlers, at
// any time, any number of times. Null is allowed. Handlers of signals that may reach a thread which runs a program need
// a stack of their own (sigaltstack, SA_ONSTACK), whatever they do: kernels of oneDNN's products use the stack pointer
// for something else.
HEDDLE_API void heddle_cancel(heddle_cancellation *cancellation);
// Whether it was cancelled since it was made or renewed.
HEDDLE_API bool heddle_is_cancelled(const heddle_cancellation *cancellation);
// Calls from now on are not ended. Not while a call uses it: whether that one still ends is not determined.
HEDDLE_API void heddle_cancellation_renew(heddle_cancellation *cancellation);

// --- platforms

// What there is of the platform ("cpu", "vulkan", in capitals or not), a line for each device, as `heddle info
// --devices` lists them; "vulkan 0: NAME, Vulkan 1.3". Where there are several, the environment's
// HEDDLE_VULKAN_DEVICE says which one is used, by its number or a part of its name. *out is the caller's to free with
// heddle_text_free. HEDDLE_INVALID for a name that is none; HEDDLE_DEVICE_FAILED, with the reason, where there is no
// device. Thread-safe.
HEDDLE_API heddle_status heddle_platform_devices(const char *platform, char **out);

// --- programs

// An argument or a result: a dense array in row-major order. Sub-byte integers take a byte each.
typedef struct heddle_array {
  const char *element_type;  // as HLO spells it: "f32", "bf16", "pred", …
  int rank;
  const int64_t *dims;
  size_t bytes;  // of the whole array
} heddle_array;

typedef struct heddle_load_options {
  HEDDLE_STRUCT_SIZE(heddle_load_options);
  int threads;            // of a run; 0 = all cores; at most 1024
  bool trusts_checksums;  // do not look whether the file is damaged, for which all of it is read
  // The code to take where a file has several: "x86-64-v3", …; null: the one that uses most of what this machine has.
  const char *level;
  // The device of the program's platform that runs it: its number in heddle_platform_devices, or a part of its name;
  // null: the platform chooses. Not needed after the call.
  const char *device;
} heddle_load_options;

#define HEDDLE_LOAD_OPTIONS_INIT HEDDLE_INIT(heddle_load_options)

// Loads a saved program. The file is mapped, not read: constants are used where they lie, and shared by all processes
// that load it. It may be removed or replaced, but not changed in place, while the program lives. `options` may be
// null. The program is the caller's to free; *out is null after an error. HEDDLE_INVALID for a file that cannot be
// read, is no saved program, is damaged or contradicts itself; HEDDLE_UNIMPLEMENTED for one of another format, with the
// version that wrote it, and for code that needs what this machine has not, which is named; HEDDLE_DEVICE_FAILED names
// a library that the program needs and that is absent, or the platform that it was saved for and that has no device.
// Code in a file is executed: load only files that you would run.
HEDDLE_API heddle_status heddle_program_load(const char *path, const heddle_load_options *options,
                                             heddle_program **out);
// The same of a file's bytes, which are copied.
HEDDLE_API heddle_status heddle_program_load_memory(const void *data, size_t size, const heddle_load_options *options,
                                                    heddle_program **out);
HEDDLE_API void heddle_program_free(heddle_program *program);  // null is allowed

// Null is a program without parameters, results and devices.
HEDDLE_API int heddle_program_parameter_count(const heddle_program *program);
HEDDLE_API int heddle_program_result_count(const heddle_program *program);  // leaves of a result tuple
// Strings and dims live as long as the program. A number that is not below the count above gets the empty answer:
// element type "", rank 0, dims null, 0 bytes. Sizes that runs decide are -1, and the array has 0 bytes then.
HEDDLE_API heddle_array heddle_program_parameter(const heddle_program *program, int number);
HEDDLE_API heddle_array heddle_program_result(const heddle_program *program, int number);

HEDDLE_API const char *heddle_program_name(const heddle_program *program);  // of the module; "" for null
// What it runs on: "cpu", "vulkan"; "" for null.
HEDDLE_API const char *heddle_program_platform(const heddle_program *program);
// "x", "state{0,1}" of a tuple's part; "" where nothing is known, and for numbers that are not below the count.
HEDDLE_API const char *heddle_program_parameter_name(const heddle_program *program, int number);
// The result that takes over the parameter's memory, if the caller gives one address for both; -1: none.
HEDDLE_API int heddle_program_parameter_alias(const heddle_program *program, int number);

// Bytes that a program takes, of one device; -1 for what depends on sizes that its runs decide.
typedef struct heddle_memory {
  HEDDLE_STRUCT_SIZE(heddle_memory);
  int64_t parameter_bytes, result_bytes;  // the caller's arrays, as kernels see them (packed)
  int64_t temporary_bytes;                // taken for each run that overlaps no other, and kept for the next one
  int64_t peak_bytes;                     // of all three; a result that takes over a parameter's memory counts once
  int64_t constant_bytes;                 // kept as long as the program
  int64_t code_bytes;                     // of kernels
} heddle_memory;

#define HEDDLE_MEMORY_INIT HEDDLE_INIT(heddle_memory)

HEDDLE_API heddle_status heddle_program_memory(const heddle_program *program, heddle_memory *out);

// The size of each dimension of a result where inputs have the sizes input_dims[i][k], which have to fit the program's
// and each other. Of a program without open sizes `input_dims` may be null. HEDDLE_INVALID for sizes that do not fit.
HEDDLE_API heddle_status heddle_program_result_dims(const heddle_program *program, const int64_t *const *input_dims,
                                                    int number, int64_t *dims);

// A text that the library gave, as those calls say; null is allowed.
HEDDLE_API void heddle_text_free(char *text);

// --- runs

// Reads inputs[i] and writes outputs[i], which hold as many bytes as the program says; arrays aligned to 64 bytes are
// used where they are; if one is not, all are copied, by all threads. Pages of large outputs that have never been
// written are asked for as huge ones (doc/c-api.md). Null stands for arrays of 0 bytes only and is HEDDLE_INVALID for
// others. Inputs may overlap each other, and outputs may lie over inputs: what is read is what the inputs held before
// the call, for which all arrays are copied, unless the program itself gives the input's memory to that result
// (input_output_alias) and both are the same address. Outputs that overlap each other are HEDDLE_INVALID.
// Calls on one program may overlap in several threads, each with outputs of its own.
HEDDLE_API heddle_status heddle_program_run(heddle_program *program, const void *const *inputs, void *const *outputs);

// The same for a program whose results have sizes that only a run tells: what heddle_program_result says of such a
// dimension is its bound, outputs[i] holds as much, and dims[i][k] gets the size of dimension k of result i. What is in
// outputs[i] is dense.
HEDDLE_API heddle_status heddle_program_run_dynamic(heddle_program *program, const void *const *inputs,
                                                    void *const *outputs, int64_t *const *dims);

// How many devices run the program together: its replicas times its partitions, 1 for most programs. Where its header
// does not count them, the groups and pairs of its collectives do. They are virtual:
// each has threads and memory of its own in this process.
HEDDLE_API int heddle_program_device_count(const heddle_program *program);

// The same for all devices of a program: inputs[d][i] and outputs[d][i] are those of device d, which is partition
// d % P of replica d / P in a program of P partitions. Devices may read the same inputs; the rules for overlapping
// memory and for null hold across all devices.
HEDDLE_API heddle_status heddle_program_run_devices(heddle_program *program, const void *const *const *inputs,
                                                    void *const *const *outputs);

// The general form of the three above, all of whose rules hold; options that are zero (or null) change nothing.
typedef struct heddle_run_options {
  HEDDLE_STRUCT_SIZE(heddle_run_options);
  heddle_cancellation *cancellation;  // outputs are undefined when it has ended the run; the program runs again
  int64_t *const *const *dims;        // dims[d][i][k] gets the size of dimension k of result i of device d
  // input_dims[i][k] is the size of dimension k of input i, on all devices: needed for a program with open sizes, all
  // of whose inputs are given theirs; others do not look at it.
  const int64_t *const *input_dims;
} heddle_run_options;

#define HEDDLE_RUN_OPTIONS_INIT HEDDLE_INIT(heddle_run_options)

HEDDLE_API heddle_status heddle_program_run_with(heddle_program *program, const heddle_run_options *options,
                                                 const void *const *const *inputs, void *const *const *outputs);

// --- objects

// For the code that `heddle compile --emit=object` writes, not to be called by hand: runs one library operation of such
// an object on the thread that calls. `description` is constant data of the object, a saved program of `size` bytes;
// `buffers` are the addresses of its inputs, then of its outputs, and all rules of heddle_program_run hold for them.
// The first call for a description checks it, prepares it and keeps it ready until the process ends; later ones take no
// lock. From any thread at any time. Errors are those of heddle_program_load and heddle_program_run: HEDDLE_INVALID for
// a damaged description, HEDDLE_UNIMPLEMENTED for one that another version has written, HEDDLE_DEVICE_FAILED for a
// library that is absent.
HEDDLE_API heddle_status heddle_object_call(const void *description, size_t size, void *const *buffers);

// The same for an operation whose sizes only calls know: sizes[i] is the one of input i, which has one dimension. Among
// the inputs are some that nobody reads, and whose addresses do not matter, of the program's open sizes.
HEDDLE_API heddle_status heddle_object_call_sizes(const void *description, size_t size, void *const *buffers,
                                                  const int64_t *sizes);

#ifdef __cplusplus
}
#endif
#endif
