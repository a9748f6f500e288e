// The mark is one of the instruction's frontend attributes.
#include "kernel/untiled.h"

#include "hlo/frontend_attributes.h"

#define NAME "heddle_tiles"
#define VALUE "none"

void untiled_mark(instruction *i) { frontend_attributes_put(i, NAME, VALUE); }

bool untiled_is(const instruction *i) { return frontend_attributes_have(i, NAME, VALUE); }
