// Scores of a softmax that stand beside those of the keys, and whose weights nobody reads (attention sinks), become
// terms of its maximum and its sum, where a product reads the weights that are left and tiles may take both for
// attention.
//
//   slice(softmax(concatenate(scores, sink)))                        as it is written
//   exp(scores - m) / (sum of exp(scores - m) + exp(sink - m)),      what it becomes,
//   m = maximum(maximum of scores, sink)
//
// The sum has the sink's term last, wherever it stood.
#ifndef HEDDLE_FUSE_SOFTMAX_SINK_H_
#define HEDDLE_FUSE_SOFTMAX_SINK_H_

#include "base/target.h"
#include "hlo/module.h"

// Whether anything was changed: what is no longer used stays, and new instructions stand at the end.
bool softmax_sink_run(computation *c, const target_description *target);

#endif
