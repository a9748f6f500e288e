// Decides along which contiguous dims a loop over an index space should go, so that it reads its operands in vectors.
#ifndef HEDDLE_KERNEL_CONTIGUOUS_DIMS_H_
#define HEDDLE_KERNEL_CONTIGUOUS_DIMS_H_

#include "kernel/kernel.h"

// The dim of `space` from which on a loop should run without a break (see kernel_block): the smallest for which the
// most accesses of the body are to neighbouring elements, or to one element for all of a row. 0 where a flat loop does
// as well. Only accesses of instructions with the space's dims are looked at.
int contiguous_dims_split(const target_description *target, const instruction_list *body, const shape *space);

#endif
