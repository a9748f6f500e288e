// Collectives with nobody to meet, and numbers of processes that are known.
#ifndef HEDDLE_OPT_COLLECTIVE_SIMPLIFIER_H_
#define HEDDLE_OPT_COLLECTIVE_SIMPLIFIER_H_

#include "hlo/module.h"

// A collective whose groups all have one member, each device in one, becomes its operands; in a program of one device
// (replica_count times num_partitions of the module, 1 where it does not say) replica-id and partition-id become 0, and
// a permutation its operand or zeros. Groups that name processes there are not stay: running them is an error. Nothing
// changes where programs run in parallel from within.
heddle_status collective_simplifier_run(module *m);

#endif
