// Which kernels a program is made of, which buffers each touches and how it is launched.
//
// One kernel computes some of the program's result leaves from the program's parameters. Fusions and calls are inlined
// first, so a kernel is a computation plus the instructions in it whose values are stored.
#ifndef HEDDLE_PLAN_FUSION_H_
#define HEDDLE_PLAN_FUSION_H_

#include "hlo/module.h"
#include "plan/launch.h"

typedef enum plan_buffer_kind { PLAN_PARAMETER, PLAN_RESULT } plan_buffer_kind;

// One buffer of the program, as a kernel sees it.
typedef struct plan_buffer {
  plan_buffer_kind kind;
  int number;          // of the entry parameter or of the result leaf
  const shape *shape;  // array
} plan_buffer;

typedef struct kernel_input {
  const instruction *parameter;  // of the kernel's computation
  int slice;                     // index into the kernel's slices
} kernel_input;

typedef struct kernel_output {
  const instruction *root;  // whose value is stored
  int element;              // which of its values (variadic reduce), else 0
  const shape *shape;       // of that value
  int slice;
} kernel_output;

typedef struct kernel_plan {
  const char *name;  // of the entry function: "main", "main_1", …
  const computation *computation;
  int input_count;  // parameters that the outputs depend on, by number
  kernel_input *inputs;
  int output_count;  // at least one; all have the same element count, so one index space serves them
  kernel_output *outputs;
  int slice_count;  // distinct buffers, reads first: buffers[i] of the kernel's ABI is slices[i]
  plan_buffer *slices;
  launch_plan launch;
  double work;  // scalar operations of the whole kernel, estimated (work_estimate.h)
} kernel_plan;

typedef struct program_plan {
  const module *module;  // with everything inlined; the plan's instructions point into it
  plan_target target;
  int parameter_count;
  const shape *const *parameters;
  int result_count;  // leaves of the entry's result; 1 if it is no tuple
  const shape *const *results;
  bool result_is_tuple;
  int kernel_count;  // none for results of size zero
  const kernel_plan *const *kernels;
} program_plan;

// Plans the whole program. The module is not changed (a clone is). What has no elemental form (sort, while, custom
// calls, internal tuples, nested tuples, dynamic shapes, …) is HEDDLE_UNIMPLEMENTED with op, name and place.
heddle_status plan_kernels(arena *a, const module *m, plan_target target, program_plan **out);

// Calls the kernels NAME, NAME_1, …; characters that no C identifier has become underscores.
void plan_name_kernels(arena *a, program_plan *plan, const char *name);

// HEDDLE_UNIMPLEMENTED if a kernel would compute its values again without end. To be asked before running a plan;
// emitting one is possible all the same.
heddle_status plan_check_work(const program_plan *plan);

// One fact a line.
void plan_print(text *out, const program_plan *plan);

// Bytes of a packed buffer as kernels see it: sub-byte integers share bytes, pred takes one.
int64_t plan_buffer_bytes(const shape *s);

#endif
