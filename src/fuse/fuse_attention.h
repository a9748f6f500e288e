// Makes one fusion of a product with a softmax and of all that its weights are computed from: attention.
#ifndef HEDDLE_FUSE_FUSE_ATTENTION_H_
#define HEDDLE_FUSE_FUSE_ATTENTION_H_

#include "base/target.h"
#include "hlo/module.h"

// For each product of the computation whose weights are a softmax of products (kernel/online_softmax.h), or can be made
// one (fuse/softmax_quotient.h): a fusion of these, kept as it is, where that is a kernel of the target. Others may
// read the quotients, which are then a second result. `reasons`, if not null, receives a line for each, and for each
// that looks like one and is none. True if there is one.
bool fuse_attention_run(computation *c, const target_description *target, text *reasons);

#endif
