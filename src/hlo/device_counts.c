// Modules often name devices that their header does not count: tests, and dumps whose header was cut, have groups of
// eight devices and no replica_count. Their collectives say what the counts have to be at least, and so do the grids by
// which arrays are divided among partitions.
#include "hlo/device_counts.h"

#include "hlo/device_groups.h"
#include "hlo/tile_sharding.h"

// The devices that are needed: by the numbers of replicas, of partitions, and of both in one.
typedef struct device_need {
  int64_t replicas, partitions, devices;
  int64_t peers;           // who sends messages and receives them
  bool is_everyone_known;  // an array's shape says how many all devices are
} device_need;

static void raise_to(int64_t *count, int64_t number) {
  if (number <= DEVICE_GROUPS_MOST && *count < number) *count = number;
}

static int64_t highest_of(const group_list *groups) {
  int64_t highest = -1;
  for (int g = 0; g < groups->size; g++)
    for (int k = 0; k < groups->groups[g].size; k++)
      if (highest < groups->groups[g].data[k]) highest = groups->groups[g].data[k];
  return highest;
}

static int64_t highest_transfer(const instruction *i) {
  device_transfers t;
  int64_t highest = -1;
  if (!device_transfers_begin(i, &t)) return highest;
  for (int64_t from, to; device_transfers_next(&t, &from, &to);) {
    if (highest < from) highest = from;
    if (highest < to) highest = to;
  }
  return highest;
}

// The array that operand 0 becomes. A start has the operands first, as one or as a tuple.
static const shape *first_result(const instruction *i) {
  const shape *s = i->shape;
  if (i->opcode == HLO_ALL_GATHER_START) s = shape_is_tuple(s) && s->tuple_size > 1 ? s->elements[1] : s;
  return shape_is_tuple(s) && s->tuple_size > 0 ? s->elements[0] : s;
}

// The devices of a group, which are what a dim grows or shrinks by, or for how many there are operands; 1 if neither
// says so.
static int64_t group_size(const instruction *i) {
  static const bool changes_dim[HLO_OPCODE_COUNT] = {
      [HLO_ALL_GATHER] = true, [HLO_ALL_GATHER_START] = true, [HLO_REDUCE_SCATTER] = true};
  if (i->opcode == HLO_ALL_TO_ALL && i->attributes->dimensions.size == 0) return i->operand_count;
  if (!changes_dim[i->opcode] || i->attributes->dimensions.size == 0) return 1;
  const shape *before = i->operands[0]->shape, *after = first_result(i);
  const int64_t d = i->attributes->dimensions.data[0];
  if (!shape_is_array(before) || !shape_is_array(after) || d >= before->rank || d >= after->rank) return 1;
  const int64_t from = before->dims[d], to = after->dims[d];
  if (from <= 0 || to <= 0) return 1;
  return to > from ? to / from : from / to;
}

// Without groups, all devices form one. A group of replicas with all their partitions is as many times larger than its
// list as there are partitions.
static void add_group_size(const instruction *i, device_groups_mode mode, int64_t *count, device_need *need) {
  const group_list *groups = &i->attributes->replica_groups;
  const int64_t size = group_size(i);
  if (highest_of(groups) < 0) {
    raise_to(count, size);
    need->is_everyone_known |= size > 1;
  } else if (mode == DEVICE_GROUPS_CROSS_BOTH && groups->groups[0].size > 0 && size % groups->groups[0].size == 0) {
    raise_to(&need->partitions, size / groups->groups[0].size);
  }
}

static void add_need(const instruction *i, device_need *need) {
  if (i->opcode == HLO_SEND || i->opcode == HLO_RECV) {
    raise_to(&need->peers, highest_transfer(i) + 1);
    return;
  }
  if (tile_sharding_is_move(i)) raise_to(&need->partitions, tile_move_devices(i));
  if (!hlo_op_has(i->opcode, TRAIT_COLLECTIVE)) return;
  const hlo_attributes *x = i->attributes;
  const int64_t pairs = highest_of(&x->source_target_pairs), groups = highest_of(&x->replica_groups);
  int64_t *count = &need->replicas;
  const device_groups_mode mode = device_groups_mode_of(i);
  if (mode == DEVICE_GROUPS_CROSS_PARTITION) count = &need->partitions;
  if (mode == DEVICE_GROUPS_FLATTENED) count = &need->devices;
  raise_to(count, 1 + (pairs > groups ? pairs : groups));
  add_group_size(i, mode, count, need);
}

static void raise_unsaid(int64_t *count, int64_t said, int64_t number) {
  if (!said) raise_to(count, number);
}

static void set_count(module *m, const char *name, int64_t count) {
  const str value = str_from(arena_printf(m->arena, "%lld", (long long)count));
  for (int k = 0; k < m->attributes.size; k++)
    if (str_is(m->attributes.data[k].name, name)) {
      m->attributes.data[k].value = value;
      return;
    }
  const module_attribute added = {str_from(name), value};
  if (count != 1) vec_push(m->arena, &m->attributes, added);
}

void device_counts_adopt(module *m, int replicas, int partitions) {
  if (!replicas && device_groups_replicas(m) > 1) replicas = device_groups_replicas(m);
  if (!partitions && device_groups_partitions(m) > 1) partitions = device_groups_partitions(m);
  device_need need = {1, 1, 1, 1, false};
  for (int c = 0; c < m->computations.size; c++)
    for (int k = 0; k < m->computations.data[c]->instructions.size; k++)
      add_need(m->computations.data[c]->instructions.data[k], &need);
  // Messages to and from devices that there are not are left out (hlo/device_groups.h).
  if (!need.is_everyone_known) raise_to(partitions > 1 ? &need.partitions : &need.replicas, need.peers);
  if (replicas) need.replicas = replicas;
  if (partitions) need.partitions = partitions;
  // Numbers of both in one: more partitions, as there are under SPMD, unless their number is said.
  if (partitions) raise_unsaid(&need.replicas, replicas, (need.devices + partitions - 1) / partitions);
  else raise_unsaid(&need.partitions, 0, (need.devices + need.replicas - 1) / need.replicas);
  // What the header says stays as it is written, so that a wrong number is refused as such.
  if (need.replicas != device_groups_replicas(m)) set_count(m, "replica_count", need.replicas);
  if (need.partitions != device_groups_partitions(m)) set_count(m, "num_partitions", need.partitions);
}
