// Which devices a collective joins: what the numbers of its groups and pairs stand for depends on its mode.
//
//   cross replica                 replicas, within one partition
//   cross partition               partitions, within one replica
//   cross replica and partition   replicas, each with all partitions
//   flattened ids                 devices: replica * partitions + partition
#ifndef HEDDLE_PLAN_DEVICE_GROUPS_H_
#define HEDDLE_PLAN_DEVICE_GROUPS_H_

#include "hlo/module.h"

// replica_count and num_partitions of the module; 1 where nothing is said.
int device_groups_replicas(const module *m);
int device_groups_partitions(const module *m);

typedef VEC(int64_t) device_list;

// Device numbers, group after group, each filled up with -1 to *size. Empty: all devices in one group.
void device_groups_of(arena *a, const instruction *i, int *size, device_list *out);

// Device numbers: source, target, …
void device_groups_pairs_of(arena *a, const instruction *i, device_list *out);

#endif
