// Softmaxes that are written with logarithms of sums become quotients by the sums, where a product reads their weights
// and tiles may take both for attention.
//
//   exp(scores - (log(sum of exp(scores - maximum)) + maximum))    as logsumexp gives it
//   exp((scores - maximum) - log(sum of exp(scores - maximum)))    as log_softmax gives it
//   exp(scores - maximum) / sum of exp(scores - maximum)           what both become
//
// The three differ by the rounding of the logarithm and of what it is added to. Where logsumexp guards itself against a
// maximum that is not finite, the guard goes: all that it changes are rows without a finite sum, whose weights, or what
// is multiplied with them, are NaN with it and without.
#ifndef HEDDLE_FUSE_LOG_SOFTMAX_H_
#define HEDDLE_FUSE_LOG_SOFTMAX_H_

#include "base/target.h"
#include "hlo/module.h"

// Whether anything was changed: what is no longer used stays, and new instructions stand at the end.
bool log_softmax_run(computation *c, const target_description *target);

// Whether weights are, moved or converted, read by one product and by nobody else.
bool log_softmax_is_for_product(const instruction *weights);

#endif
