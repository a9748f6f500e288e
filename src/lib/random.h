// Counter-based random bits: ThreeFry-2x32 and Philox-4x32, as rng-bit-generator promises them (prog/library.h,
// program_random).
//
// The state is a key in its first 64-bit word and a counter in the rest; the new state has the counter moved on by the
// number of blocks used. Results of less than 32 bits are the low bits of 32-bit words; floats get their bits as they
// are.
#ifndef HEDDLE_LIB_RANDOM_H_
#define HEDDLE_LIB_RANDOM_H_

#include "lib/call.h"

enum { RANDOM_BITS_THREE_FRY = 1, RANDOM_BITS_PHILOX = 2 };

// HEDDLE_INVALID for states and results of other shapes than the algorithm wants.
heddle_status random_bits_check(const lib_call *call);
void random_bits_execute(const lib_call *call);  // a call that has passed

#endif
