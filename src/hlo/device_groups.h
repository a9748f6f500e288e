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

// What the numbers in the groups and pairs of an instruction stand for, as listed above.
typedef enum device_groups_mode {
  DEVICE_GROUPS_CROSS_REPLICA,
  DEVICE_GROUPS_CROSS_PARTITION,
  DEVICE_GROUPS_CROSS_BOTH,
  DEVICE_GROUPS_FLATTENED,
} device_groups_mode;

device_groups_mode device_groups_mode_of(const instruction *i);

// How many numbers the mode has in a run of so many replicas and partitions.
int device_groups_number_count(device_groups_mode mode, int replicas, int partitions);

// The device that `number` stands for: among those of partition `copy` in the modes of replicas, among those of replica
// `copy` across partitions. Negative numbers stay.
int64_t device_groups_device(device_groups_mode mode, int partitions, int64_t number, int copy);

// HEDDLE_INVALID, with the location, unless the number is in 0 … count - 1.
heddle_status device_groups_check_number(const instruction *i, int64_t number, int count);

typedef VEC(int64_t) device_list;

// Device numbers, group after group, each filled up with -1 to *size. Empty: all devices in one group. HEDDLE_INVALID,
// with the location, for numbers that stand for no device or for one a second time.
heddle_status device_groups_of(arena *a, const instruction *i, int *size, device_list *out);

// Device numbers: source, target, … Errors as above.
heddle_status device_groups_pairs_of(arena *a, const instruction *i, device_list *out);

// The same of a send or recv, which may say in its frontend attributes who sends to whom: false if it does not. The
// numbers there are partitions, or replicas where there is one partition; those that stand for nobody are left out.
bool device_groups_transfer_of(arena *a, const instruction *i, device_list *out);

// That text of a send or recv, number by number: begin is false if there is none, next is false after the last pair.
// Numbers beyond DEVICE_GROUPS_MOST are read as some number beyond it.
typedef struct device_transfers {
  const char *at, *end;
} device_transfers;
bool device_transfers_begin(const instruction *i, device_transfers *t);
bool device_transfers_next(device_transfers *t, int64_t *source, int64_t *target);

#endif
