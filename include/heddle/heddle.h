// Heddle for C programs: a program in any format in, a compiled one out, arrays through it.
//
//   heddle_program *program;
//   heddle_status s = heddle_compile(text, strlen(text), "model.hlo", NULL, &program);
//   if (heddle_status_code(s) != HEDDLE_OK) { fputs(heddle_status_message(s), stderr); heddle_status_free(s); return 1;
//   } const void *inputs[] = {x}; void *outputs[] = {y}; s = heddle_program_run(program, inputs, outputs);
//   ...
//   heddle_program_free(program);
#ifndef HEDDLE_HEDDLE_H_
#define HEDDLE_HEDDLE_H_

#include <stddef.h>
#include <stdint.h>

#include "heddle/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct heddle_program heddle_program;

typedef struct heddle_compile_options {
  bool exact;   // keep every rounding the HLO asks for; default: bf16 and f16 chains compute in f32
  int threads;  // 0 = all cores
} heddle_compile_options;

// An argument or a result: a dense array in row-major order. Sub-byte integers take a byte each.
typedef struct heddle_array {
  const char *element_type;  // as HLO spells it: "f32", "bf16", "pred", …
  int rank;
  const int64_t *dims;
  size_t bytes;  // of the whole array
} heddle_array;

// Compiles HLO text, an HLO proto (binary or text), StableHLO text or bytecode (which of them is told by looking) for
// the machine this runs on. `name` stands for the program in messages. `options` may be null. The program is the
// caller's to free.
heddle_status heddle_compile(const char *text, size_t size, const char *name, const heddle_compile_options *options,
                             heddle_program **out);
void heddle_program_free(heddle_program *program);  // null is allowed

int heddle_program_parameter_count(const heddle_program *program);
int heddle_program_result_count(const heddle_program *program);  // leaves of a result tuple
// number < the count above; strings and dims live as long as the program.
heddle_array heddle_program_parameter(const heddle_program *program, int number);
heddle_array heddle_program_result(const heddle_program *program, int number);

// Reads inputs[i] and writes outputs[i], which hold as many bytes as the program says; arrays aligned to 64 bytes are
// used where they are, others are copied. Calls on one program may overlap in several threads.
heddle_status heddle_program_run(heddle_program *program, const void *const *inputs, void *const *outputs);

// The same for a program whose results have sizes that only a run tells: what heddle_program_result says of such a
// dimension is its bound, outputs[i] holds as much, and dims[i][k] gets the size of dimension k of result i. What is in
// outputs[i] is dense.
heddle_status heddle_program_run_dynamic(heddle_program *program, const void *const *inputs, void *const *outputs,
                                         int64_t *const *dims);

// How many devices run the program together: its replicas times its partitions, 1 for most programs. They are virtual:
// each has threads and memory of its own in this process.
int heddle_program_device_count(const heddle_program *program);

// The same for all devices of a program: inputs[d][i] and outputs[d][i] are those of device d, which is partition
// d % P of replica d / P in a program of P partitions. Devices may read the same inputs.
heddle_status heddle_program_run_devices(heddle_program *program, const void *const *const *inputs,
                                         void *const *const *outputs);

#ifdef __cplusplus
}
#endif
#endif
