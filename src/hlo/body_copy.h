// Copies a computation's instructions with other instructions in the place of its parameters.
#ifndef HEDDLE_HLO_BODY_COPY_H_
#define HEDDLE_HLO_BODY_COPY_H_

#include "hlo/module.h"

// Appends copies of the instructions of `from` to `into`, in post order. `copies` maps instructions of `from` to what
// stands in their place in `into`; those in it are not copied, all others are added to it. Parameters that are not in
// it are left out and must have no users outside of it. Names are kept if `into` is new, else made.
heddle_status body_copy(arena *scratch, const computation *from, computation *into, bool is_new, ptr_map *copies);

// One instruction, whose operands have copies.
void body_copy_one(arena *scratch, const instruction *i, computation *into, bool is_new, ptr_map *copies);

// Whether all users of the computation's only parameter are get-tuple-elements of it.
bool body_copy_takes_elements(const computation *c);
// For each of `count` leaves, all get-tuple-elements of the only parameter stand for elements[k] in `copies`; null
// elements are left alone.
void body_copy_put_elements(arena *scratch, const computation *c, instruction *const *elements, ptr_map *copies);

#endif
