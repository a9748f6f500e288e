// What the plan says of products that look like attention and are none.
#ifndef HEDDLE_FUSE_ATTENTION_LACK_H_
#define HEDDLE_FUSE_ATTENTION_LACK_H_

#include "hlo/module.h"

// Whether one of the product's operands is made of exponentials of what another product gives, as weights are: ones
// that something is subtracted in, or that are summed, looked for in a few steps. Neither activations nor gates are.
bool attention_lack_is_likely(const instruction *product);

// Why the product's weights are no softmax that kernel/online_softmax.h finds; static text.
const char *attention_lack_form(const instruction *product);

#endif
