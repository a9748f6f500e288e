// A mark on an instruction that says in which order its elements may or must be combined: a frontend attribute,
// heddle_order="…", so that it stays with the instruction through fusion and LHLO's text.
#ifndef HEDDLE_KERNEL_ORDER_MARK_H_
#define HEDDLE_KERNEL_ORDER_MARK_H_

#include "hlo/module.h"

void order_mark_set(instruction *i, const char *order);
bool order_mark_is(const instruction *i, const char *order);

#endif
