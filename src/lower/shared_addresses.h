// Addresses in a module before its control flow becomes branches, by what they have in common.
#ifndef HEDDLE_LOWER_SHARED_ADDRESSES_H_
#define HEDDLE_LOWER_SHARED_ADDRESSES_H_

#include "emit/ir_builder.h"

typedef struct shared_addresses shared_addresses;          // of one module
typedef struct shared_addresses_sum shared_addresses_sum;  // an index as multiples of values, and a constant

// Begins with a module, which is marked as one with such addresses. Both live in the arena; operations that are made
// afterwards are not known.
shared_addresses *shared_addresses_begin(arena *a, MlirOperation module);
// Whether it was begun with: strength reduction would find nothing in the module's loops.
bool shared_addresses_are_made(MlirOperation module);

// A sum of nothing, to which indices (of type index) and numbers are added, times a factor; in 64 bits, as they wrap.
shared_addresses_sum *shared_addresses_begin_sum(shared_addresses *a);
void shared_addresses_add(shared_addresses *a, shared_addresses_sum *s, MlirValue index, int64_t factor);
void shared_addresses_add_number(shared_addresses_sum *s, int64_t number, int64_t factor);

// start + sum * sizeof(element), for an access. The pointer `start` was there, or is made right behind the operation
// `origin` (null: it is an argument). Null, and nothing is built, where blocks with branches between them have what is
// added.
MlirValue shared_addresses_build(shared_addresses *a, MlirValue start, MlirOperation origin, MlirType element,
                                 shared_addresses_sum *s, MlirOperation access);

// Ends: pointers that a loop's turns move by more than instructions multiply are carried from turn to turn, if they are
// few.
void shared_addresses_end(shared_addresses *a);

#endif
