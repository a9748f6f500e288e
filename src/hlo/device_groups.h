// Which devices a collective joins: what the numbers of its groups and pairs stand for depends on its mode.
//
//   cross replica                 replicas, within one partition
//   cross partition               partitions, within one replica
//   cross replica and partition   replicas, each with all partitions
//   flattened ids                 devices: replica * partitions + partition
#ifndef HEDDLE_HLO_DEVICE_GROUPS_H_
#define HEDDLE_HLO_DEVICE_GROUPS_H_

#include "hlo/module.h"

// Devices that run one program together at most.
enum { DEVICE_GROUPS_MOST = 1024 };

// replica_count and num_partitions of the module; 1 where nothing is said.
int device_groups_replicas(const module *m);
int device_groups_partitions(const module *m);

// Replicas times partitions: the devices that run the module together. HEDDLE_INVALID for more than DEVICE_GROUPS_MOST.
heddle_status device_groups_count(const module *m, int *count);

typedef VEC(int64_t) device_list;

// Device numbers, group after group, each filled up with -1 to *size. Empty: all devices in one group. HEDDLE_INVALID,
// with the place, for numbers that stand for no device or for one a second time; HEDDLE_UNIMPLEMENTED for groups by the
// axes of a mesh.
heddle_status device_groups_of(arena *a, const instruction *i, int *size, device_list *out);

// Device numbers: source, target, … Errors as above.
heddle_status device_groups_pairs_of(arena *a, const instruction *i, device_list *out);

// The same of a send or recv, which may say in its frontend attributes who sends to whom: false if it does not. The
// numbers there are partitions, or replicas where there is one partition; those that stand for nobody are left out.
bool device_groups_transfer_of(arena *a, const instruction *i, device_list *out);

#endif
