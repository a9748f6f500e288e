// What a matrix product takes by each way to make it, from the figures of its target.
#ifndef HEDDLE_KERNEL_PRODUCT_COST_H_
#define HEDDLE_KERNEL_PRODUCT_COST_H_

#include "base/target.h"
#include "hlo/module.h"

typedef enum product_way { PRODUCT_BY_LIBRARY, PRODUCT_BY_TILES, PRODUCT_BY_EMITTER } product_way;

// Whether it is a product whose time is known: a dot, or a convolution whose features are the minor dim of image and
// result, each of which is made from all of the image's; of floats without borders. Or one of single elements, whose
// features come first.
bool product_cost_is_product(const instruction *i);

// Multiply-adds of a product.
double product_cost_multiplications(const instruction *product);

// Nanoseconds that the product takes on one core: the operation alone, with a library's call but without the start of a
// kernel. HUGE_VAL where there is no such way.
double product_cost_time(const target_description *t, const instruction *product, product_way way);

#endif
