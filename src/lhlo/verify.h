// Checks that a program's operations read and write the memory that they should.
#ifndef HEDDLE_LHLO_VERIFY_H_
#define HEDDLE_LHLO_VERIFY_H_

#include "lhlo/lhlo.h"

// Of a program that lhlo_build made: follows the values through memory, operation by operation, and asks of every read
// that the slice holds the value that the module says, whatever branch was taken and however often loops ran; of every
// write that it touches nothing the same operation reads, but where the kernel takes memory over. HEDDLE_INTERNAL with
// the operation's location.
heddle_status lhlo_verify(const lhlo_program *p);

#endif
