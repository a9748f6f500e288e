#include "plan/device_groups.h"

typedef enum group_mode { CROSS_REPLICA, CROSS_PARTITION, CROSS_BOTH, FLATTENED } group_mode;

// More devices than this are taken for a mistake.
enum { MAX_DEVICES = 1024 };

static int number_of(const module *m, const char *name) {
  for (int k = 0; k < m->attributes.size; k++) {
    if (!str_is(m->attributes.data[k].name, name)) continue;
    const str value = m->attributes.data[k].value;
    int number = 0;
    for (size_t c = 0; c < value.size && number < MAX_DEVICES; c++)
      if (value.data[c] >= '0' && value.data[c] <= '9') number = number * 10 + (value.data[c] - '0');
    return number < 1 ? 1 : number;
  }
  return 1;
}

int device_groups_replicas(const module *m) { return number_of(m, "replica_count"); }
int device_groups_partitions(const module *m) { return number_of(m, "num_partitions"); }

// With a channel, operations that reduce or gather go across replicas and partitions, the others across partitions.
static group_mode mode_of(const instruction *i) {
  static const bool takes_both[HLO_OPCODE_COUNT] = {
      [HLO_ALL_GATHER] = true,       [HLO_ALL_GATHER_START] = true, [HLO_ALL_REDUCE] = true,
      [HLO_ALL_REDUCE_START] = true, [HLO_REDUCE_SCATTER] = true,
  };
  const hlo_attributes *x = i->attributes;
  if (x->use_global_device_ids) return FLATTENED;
  if (x->channel_id <= 0) return CROSS_REPLICA;
  return takes_both[i->opcode] ? CROSS_BOTH : CROSS_PARTITION;
}

// What is the same for all members of a group: the partition, or the replica.
static int copies_of(group_mode mode, const module *m) {
  if (mode == CROSS_REPLICA) return device_groups_partitions(m);
  return mode == CROSS_PARTITION ? device_groups_replicas(m) : 1;
}

static int64_t device_of(group_mode mode, const module *m, int64_t number, int copy) {
  if (number < 0 || mode == FLATTENED) return number;
  const int partitions = device_groups_partitions(m);
  return mode == CROSS_PARTITION ? copy * partitions + number : number * partitions + copy;
}

// All that the mode's numbers can be, where no group is written.
static int_list everyone(arena *a, group_mode mode, const module *m) {
  const int count = mode == CROSS_PARTITION ? device_groups_partitions(m) : device_groups_replicas(m);
  int64_t *numbers = arena_array(a, int64_t, count);
  for (int k = 0; k < count; k++) numbers[k] = k;
  return (int_list){numbers, count};
}

static void add_group(arena *a, group_mode mode, const module *m, int_list group, int copy, device_list *out) {
  const int copies = mode == CROSS_BOTH ? device_groups_partitions(m) : 1;
  for (int c = 0; c < copies; c++)
    for (int k = 0; k < group.size; k++)
      vec_push(a, out, device_of(mode, m, group.data[k], mode == CROSS_BOTH ? c : copy));
}

void device_groups_of(arena *a, const instruction *i, int *size, device_list *out) {
  const module *m = i->parent->module;
  const group_mode mode = mode_of(i);
  const group_list *groups = &i->attributes->replica_groups;
  const bool is_everyone = groups->size == 0 || (groups->size == 1 && groups->groups[0].size == 0);
  *size = 0;
  *out = (device_list){0};
  if (is_everyone && (mode == FLATTENED || mode == CROSS_BOTH)) return;
  const int_list all = everyone(a, mode, m);
  const int count = is_everyone ? 1 : groups->size, times = mode == CROSS_BOTH ? device_groups_partitions(m) : 1;
  for (int g = 0; g < count; g++) {
    const int members = times * (is_everyone ? all : groups->groups[g]).size;
    if (members > *size) *size = members;
  }
  for (int copy = 0; copy < copies_of(mode, m); copy++)
    for (int g = 0; g < count; g++) {
      const int before = out->size;
      add_group(a, mode, m, is_everyone ? all : groups->groups[g], copy, out);
      while (out->size - before < *size) vec_push(a, out, -1);
    }
}

void device_groups_pairs_of(arena *a, const instruction *i, device_list *out) {
  const module *m = i->parent->module;
  const group_mode mode = mode_of(i);
  const group_list *pairs = &i->attributes->source_target_pairs;
  *out = (device_list){0};
  for (int copy = 0; copy < copies_of(mode, m); copy++)
    for (int p = 0; p < pairs->size; p++)
      for (int k = 0; k < pairs->groups[p].size; k++)
        vec_push(a, out, device_of(mode, m, pairs->groups[p].data[k], copy));
}
