// The custom call by which a program for open sizes reads one as a value (lib/open_size.h). It has no effect, whatever
// may be said of custom calls, and always gives the same.
#ifndef HEDDLE_HLO_OPEN_SIZE_H_
#define HEDDLE_HLO_OPEN_SIZE_H_

#include "hlo/builder.h"

bool open_size_is(const instruction *i);
// Makes a custom call without operands, of shape s32[], the one of this size (at most INT32_MAX).
void open_size_set(instruction *i, int64_t size);
instruction *open_size_add(const builder *b, int64_t size);

// Whether a dim of the operand is of open size, which a program can read: no larger than INT32_MAX.
bool open_size_has(const instruction *operand, int64_t dimension);

// Whether an index that is only known when the program runs picks from an open dim: the size that it has to stay below
// is then no number that code could have, so that opt/open_index_expander.c limits the index (or whoever makes it knows
// that it is below), and emitters do not.
bool open_size_limits_index(const instruction *i, int dimension);

#endif
