// The mark is one of the instruction's frontend attributes.
#include "kernel/order_mark.h"

#include "hlo/frontend_attributes.h"

#define NAME "heddle_order"

bool order_mark_is(const instruction *i, const char *order) { return frontend_attributes_have(i, NAME, order); }

void order_mark_set(instruction *i, const char *order) { frontend_attributes_put(i, NAME, order); }
