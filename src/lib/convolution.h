// Convolutions of every form HLO has: any element type, any order of dims, strides, padding (negative too), dilation of
// input and window, reversal, groups of features or of the batch, with a bias and an activation.
//
// The same input gives the same bits for every number of threads.
#ifndef HEDDLE_LIB_CONVOLUTION_H_
#define HEDDLE_LIB_CONVOLUTION_H_

#include "base/arena.h"
#include "lib/call.h"

// A convolution of given shapes and types, made once. Read only from then on.
typedef struct convolution_plan convolution_plan;

// From the shapes, types and attributes of a call (prog/library.h, program_convolution), for runs on `call->threads`
// threads. Where a run says where the kernel begins, whoever calls adds that to its address, and the plan is for all it
// may say. HEDDLE_INVALID when they do not fit together. Lives in the arena, but must be released.
heddle_status convolution_plan_make(arena *a, const lib_call *call, convolution_plan **plan);
void convolution_plan_release(convolution_plan *plan);

// What computes it: the name of the library's implementation, or "tiles".
const char *convolution_plan_way(const convolution_plan *plan);

// Bytes of scratch memory that a call wants.
int64_t convolution_plan_scratch(const convolution_plan *plan);

// Bytes of memory, aligned to 64, in which the plan keeps a kernel that never changes, in the form its multiplications
// want; 0: nothing would be gained.
int64_t convolution_plan_packed_bytes(const convolution_plan *plan);
// From then on the plan takes the kernel from `memory`, which the caller owns. `call` has the kernel's data and scratch
// memory.
heddle_status convolution_plan_pack(convolution_plan *plan, const lib_call *call, void *memory);

// `call` is of the shapes that the plan was made for, with data and scratch memory.
heddle_status convolution_plan_execute(const convolution_plan *plan, const lib_call *call);

// Elements of the array that the kernel is a part of.
int64_t convolution_kernel_elements(const lib_call *call);

// Multiplications it takes.
double convolution_plan_work(const convolution_plan *plan);

#endif
