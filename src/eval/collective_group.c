// Finds the group of one process. What the numbers in groups and pairs stand for is said in hlo/device_groups.h; the
// grid of processes is the run's, whatever the module declares.
#include "eval/collective.h"

#include "hlo/device_groups.h"

static int numbers_of(device_groups_mode mode, const process_grid *g) {
  return device_groups_number_count(mode, process_grid_replicas(g), process_grid_partitions(g));
}

// The number that stands for this process.
static int number_of(device_groups_mode mode, const process *p) {
  if (mode == DEVICE_GROUPS_FLATTENED) return p->id;
  return mode == DEVICE_GROUPS_CROSS_PARTITION ? p->partition : p->replica;
}

// The process a number stands for, seen from `p`; `partition` counts where a number stands for all of a replica's.
static int process_of(device_groups_mode mode, const process *p, int64_t number, int partition) {
  if (mode == DEVICE_GROUPS_CROSS_REPLICA) partition = p->partition;
  const int copy = mode == DEVICE_GROUPS_CROSS_PARTITION ? p->replica : partition;
  return (int)device_groups_device(mode, process_grid_partitions(p->grid), number, copy);
}

// The group's numbers without the -1 that fills short rows.
static heddle_status read_group(const instruction *i, arena *scratch, int_list group, int count, int_list *out) {
  int64_t *numbers = arena_array(scratch, int64_t, group.size);
  *out = (int_list){numbers, 0};
  for (int k = 0; k < group.size; k++) {
    if (group.data[k] == -1) continue;
    TRY(device_groups_check_number(i, group.data[k], count));
    if (int_list_has(*out, group.data[k]))
      return status_at(HEDDLE_INVALID, i->where, "%s " STR_FMT " names process %lld twice", hlo_op_text(i->opcode),
                       STR_ARG(i->name), (long long)group.data[k]);
    numbers[out->size++] = group.data[k];
  }
  return status_ok();
}

static heddle_status find_numbers(const instruction *i, arena *scratch, device_groups_mode mode, const process *p,
                                  int_list *out) {
  const group_list *groups = &i->attributes->replica_groups;
  const int count = numbers_of(mode, p->grid);
  *out = (int_list){0};
  for (int k = 0; k < groups->size; k++) {
    int_list group;
    TRY(read_group(i, scratch, groups->groups[k], count, &group));
    if (int_list_has(group, number_of(mode, p))) *out = group;
  }
  if (groups->size > 1 || (groups->size == 1 && groups->groups[0].size)) return status_ok();
  int64_t *all = arena_array(scratch, int64_t, count);
  for (int k = 0; k < count; k++) all[k] = k;
  *out = (int_list){all, count};
  return status_ok();
}

heddle_status collective_group_of(interpreter *in, const instruction *i, arena *scratch, collective_group *out) {
  const process *p = in->process;
  const device_groups_mode mode = device_groups_mode_of(i);
  int_list numbers = {0};
  TRY(find_numbers(i, scratch, mode, p, &numbers));
  const int partitions = mode == DEVICE_GROUPS_CROSS_BOTH ? process_grid_partitions(p->grid) : 1;
  *out = (collective_group){.members = arena_array(scratch, int, (size_t)numbers.size *(size_t)partitions)};
  for (int partition = 0; partition < partitions; partition++)
    for (int k = 0; k < numbers.size; k++) {
      const int id = process_of(mode, p, numbers.data[k], partition);
      if (id == p->id) out->self = out->size;
      out->members[out->size++] = id;
    }
  return status_ok();
}

heddle_status collective_pairs_of(interpreter *in, const instruction *i, arena *scratch, collective_group *out,
                                  collective_arrivals *arrivals) {
  const process *p = in->process;
  const device_groups_mode mode = device_groups_mode_of(i);
  const group_list *pairs = &i->attributes->source_target_pairs;
  const int count = numbers_of(mode, p->grid), self = number_of(mode, p);
  bool *takes_part = arena_array(scratch, bool, count);
  int *place = arena_array(scratch, int, count);
  for (int k = 0; k < pairs->size; k++) {
    const int_list pair = pairs->groups[k];
    if (pair.size != 2) return status_at(HEDDLE_INVALID, i->where, "found a pair of %d numbers", pair.size);
    for (int side = 0; side < 2; side++) {
      TRY(device_groups_check_number(i, pair.data[side], count));
      takes_part[pair.data[side]] = true;
    }
  }
  *out = (collective_group){.members = arena_array(scratch, int, count)};
  *arrivals = (collective_arrivals){0};
  if (!takes_part[self]) return status_ok();
  for (int k = 0; k < count; k++) {
    if (!takes_part[k]) continue;
    if (k == self) out->self = out->size;
    place[k] = out->size;
    out->members[out->size++] = process_of(mode, p, k, 0);
  }
  for (int k = 0; k < pairs->size; k++)
    if (pairs->groups[k].data[1] == self)
      vec_push(scratch, arrivals, ((collective_arrival){k, place[pairs->groups[k].data[0]]}));
  return status_ok();
}

// The numbers are partitions, or replicas where there is one partition.
bool collective_transfer_of(interpreter *in, const instruction *i, int *source, int *target) {
  device_transfers pairs;
  *source = *target = -1;
  if (!device_transfers_begin(i, &pairs)) return false;
  const process *p = in->process;
  const bool has_partitions = process_grid_partitions(p->grid) > 1;
  const device_groups_mode mode = has_partitions ? DEVICE_GROUPS_CROSS_PARTITION : DEVICE_GROUPS_CROSS_REPLICA;
  const int64_t self = number_of(mode, p), count = numbers_of(mode, p->grid);
  for (int64_t from, to; device_transfers_next(&pairs, &from, &to);) {
    if (from == self && to < count) *target = process_of(mode, p, to, 0);
    if (to == self && from < count) *source = process_of(mode, p, from, 0);
  }
  return true;
}
