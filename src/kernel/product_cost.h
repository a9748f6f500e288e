// What a matrix product takes by each way to make it, from the figures of its target.
#ifndef HEDDLE_KERNEL_PRODUCT_COST_H_
#define HEDDLE_KERNEL_PRODUCT_COST_H_

#include "base/target.h"
#include "hlo/module.h"

typedef enum product_way { PRODUCT_BY_LIBRARY, PRODUCT_BY_TILES, PRODUCT_BY_EMITTER } product_way;

// Multiply-adds of a dot.
double product_cost_multiplications(const instruction *dot);

// Nanoseconds that the dot takes on one core: the operation alone, with a library's call but without the start of a
// kernel. HUGE_VAL where there is no such way.
double product_cost_time(const target_description *t, const instruction *dot, product_way way);

#endif
