// What memory the steps of a program need: of temporaries what lives, of everything else what a step touches.
//
// Parameters, results and constants lie where the caller or the file has them. What counts of them is what one step, an
// operation without operations of its own, reads or writes of them: the slice that a kernel takes, the matrix that a
// product sees. A copy and a table of copies hold one chunk of what they move. Temporaries count whole from the step
// that writes them first to the one that reads them last.
#ifndef HEDDLE_LHLO_FOOTPRINT_H_
#define HEDDLE_LHLO_FOOTPRINT_H_

#include "lhlo/lhlo.h"

// What a copy holds at a time of what it moves from one place to another: a line of a cache.
enum { FOOTPRINT_COPY_CHUNK = 64 };

// Whether the operation only says that memory is there whose contents do not matter: XLA's custom call AllocateBuffer.
bool footprint_is_allocation(const lhlo_op *op);

// Sets op->resident_bytes and op->touched_bytes; op->live_bytes is there. Values are those of the allocations.
void footprint_find(arena *scratch, const lhlo_allocation *allocations, lhlo_op *op);

// The same for all operations of the program.
void footprint_find_all(lhlo_program *p);

// The largest of all steps: p->footprint_bytes and p->step_bytes.
void footprint_sum_up(lhlo_program *p);

// What a step takes, by what it is of. Temporaries are those that live, or those that the step alone touches.
typedef struct footprint_parts {
  int64_t temporaries, parameters, results, constants;
} footprint_parts;

footprint_parts footprint_parts_of(const lhlo_allocation *allocations, const lhlo_op *op, bool of_touched);

// Bytes of parameter `number` that one run of the fused computation reads: all, or what slices take of it.
int64_t footprint_of_parameter(arena *scratch, const computation *fused, int number);

#endif
