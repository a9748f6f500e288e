// Finds how many devices run a module together where its header does not say or says too few.
#ifndef HEDDLE_HLO_DEVICE_COUNTS_H_
#define HEDDLE_HLO_DEVICE_COUNTS_H_

#include "hlo/module.h"

// Sets replica_count and num_partitions of the module's header to `replicas` and `partitions`; for a
// count of 0 what the header says stays, and where it says nothing the groups and pairs of collectives and the
// grids of SPMDFullToShardShape and its reverse decide. Numbers in groups beyond a count that was said are
// device_groups_of's to refuse.
void device_counts_adopt(module *m, int replicas, int partitions);

#endif
