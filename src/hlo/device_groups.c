// What the numbers in groups and pairs stand for, said once for the interpreter and for the compiler: the compiler
// wants all groups of all devices as device numbers, the interpreter asks for one process, with the pieces it is made
// of.
#include "hlo/device_groups.h"

#include <string.h>

static const char REPLICAS[] = "replica_count", PARTITIONS[] = "num_partitions";

static const module_attribute *attribute_of(const module *m, const char *name) {
  for (int k = 0; k < m->attributes.size; k++)
    if (str_is(m->attributes.data[k].name, name)) return &m->attributes.data[k];
  return NULL;
}

// What is no number from 1 on is 0; beyond the most devices, one more than they are.
static int number_in(str value) {
  int number = 0;
  for (size_t c = 0; c < value.size; c++) {
    if (value.data[c] < '0' || value.data[c] > '9') return 0;
    number = number * 10 + (value.data[c] - '0');
    if (number > DEVICE_GROUPS_MOST) number = DEVICE_GROUPS_MOST + 1;
  }
  return number;
}

static int number_of(const module *m, const char *name) {
  const module_attribute *x = attribute_of(m, name);
  const int number = x ? number_in(x->value) : 1;
  return number < 1 ? 1 : number;
}

int device_groups_replicas(const module *m) { return number_of(m, REPLICAS); }
int device_groups_partitions(const module *m) { return number_of(m, PARTITIONS); }

static heddle_status check_number(const module *m, const char *name) {
  const module_attribute *x = attribute_of(m, name);
  const int number = x ? number_in(x->value) : 1;
  if (number >= 1 && number <= DEVICE_GROUPS_MOST) return status_ok();
  return status_at(HEDDLE_INVALID, x->where, "found %s=" STR_FMT ", wanted 1 to %d", name, STR_ARG(x->value),
                   DEVICE_GROUPS_MOST);
}

heddle_status device_groups_count(const module *m, int *count) {
  const int replicas = device_groups_replicas(m), partitions = device_groups_partitions(m);
  *count = 1;
  TRY(check_number(m, REPLICAS));
  TRY(check_number(m, PARTITIONS));
  if (replicas > DEVICE_GROUPS_MOST / partitions)
    return status_at(HEDDLE_INVALID, attribute_of(m, REPLICAS)->where,
                     "found %d replicas of %d partitions, wanted 1 to %d devices", replicas, partitions,
                     DEVICE_GROUPS_MOST);
  *count = replicas * partitions;
  return status_ok();
}

// With a channel, operations that reduce or gather go across replicas and partitions, the others across partitions.
device_groups_mode device_groups_mode_of(const instruction *i) {
  static const bool takes_both[HLO_OPCODE_COUNT] = {
      [HLO_ALL_GATHER] = true,       [HLO_ALL_GATHER_START] = true, [HLO_ALL_REDUCE] = true,
      [HLO_ALL_REDUCE_START] = true, [HLO_REDUCE_SCATTER] = true,
  };
  const hlo_attributes *x = i->attributes;
  if (x->use_global_device_ids) return DEVICE_GROUPS_FLATTENED;
  if (x->channel_id <= 0) return DEVICE_GROUPS_CROSS_REPLICA;
  return takes_both[i->opcode] ? DEVICE_GROUPS_CROSS_BOTH : DEVICE_GROUPS_CROSS_PARTITION;
}

// What is the same for all members of a group: the partition, or the replica.
static int copies_of(device_groups_mode mode, const module *m) {
  if (mode == DEVICE_GROUPS_CROSS_REPLICA) return device_groups_partitions(m);
  return mode == DEVICE_GROUPS_CROSS_PARTITION ? device_groups_replicas(m) : 1;
}

int64_t device_groups_device(device_groups_mode mode, int partitions, int64_t number, int copy) {
  if (number < 0 || mode == DEVICE_GROUPS_FLATTENED) return number;
  return mode == DEVICE_GROUPS_CROSS_PARTITION ? copy * partitions + number : number * partitions + copy;
}

static int64_t device_of(device_groups_mode mode, const module *m, int64_t number, int copy) {
  return device_groups_device(mode, device_groups_partitions(m), number, copy);
}

int device_groups_number_count(device_groups_mode mode, int replicas, int partitions) {
  if (mode == DEVICE_GROUPS_FLATTENED) return replicas * partitions;
  return mode == DEVICE_GROUPS_CROSS_PARTITION ? partitions : replicas;
}

static int numbers_of(device_groups_mode mode, const module *m) {
  return device_groups_number_count(mode, device_groups_replicas(m), device_groups_partitions(m));
}

heddle_status device_groups_check_number(const instruction *i, int64_t number, int count) {
  if (number >= 0 && number < count) return status_ok();
  return status_at(HEDDLE_INVALID, i->where, "%s " STR_FMT " names process %lld of a run with %d",
                   hlo_op_text(i->opcode), STR_ARG(i->name), (long long)number, count);
}

// Each number once in all groups; -1 is nobody.
static heddle_status check_groups(const instruction *i, const group_list *groups, int count) {
  bool seen[DEVICE_GROUPS_MOST] = {0};
  for (int g = 0; g < groups->size; g++)
    for (int k = 0; k < groups->groups[g].size; k++) {
      const int64_t number = groups->groups[g].data[k];
      if (number == -1) continue;
      TRY(device_groups_check_number(i, number, count));
      if (seen[number])
        return status_at(HEDDLE_INVALID, i->where, "%s " STR_FMT " names process %lld twice", hlo_op_text(i->opcode),
                         STR_ARG(i->name), (long long)number);
      seen[number] = true;
    }
  return status_ok();
}

static heddle_status check_count(const module *m) {
  int devices;
  return device_groups_count(m, &devices);
}

// All that the mode's numbers can be, where no group is written.
static int_list everyone(arena *a, int count) {
  int64_t *numbers = arena_array(a, int64_t, count);
  for (int k = 0; k < count; k++) numbers[k] = k;
  return (int_list){numbers, count};
}

static void add_group(arena *a, device_groups_mode mode, const module *m, int_list group, int copy, device_list *out) {
  const int copies = mode == DEVICE_GROUPS_CROSS_BOTH ? device_groups_partitions(m) : 1;
  for (int c = 0; c < copies; c++)
    for (int k = 0; k < group.size; k++)
      vec_push(a, out, device_of(mode, m, group.data[k], mode == DEVICE_GROUPS_CROSS_BOTH ? c : copy));
}

heddle_status device_groups_of(arena *a, const instruction *i, int *size, device_list *out) {
  const module *m = i->parent->module;
  const device_groups_mode mode = device_groups_mode_of(i);
  group_list groups = i->attributes->replica_groups;
  *size = 0;
  *out = (device_list){0};
  TRY(check_count(m));
  TRY(check_groups(i, &groups, numbers_of(mode, m)));
  if (groups.size == 0 || (groups.size == 1 && groups.groups[0].size == 0)) {
    if (mode == DEVICE_GROUPS_FLATTENED || mode == DEVICE_GROUPS_CROSS_BOTH) return status_ok();
    groups = (group_list){.size = 1, .groups = arena_new(a, int_list)};
    groups.groups[0] = everyone(a, numbers_of(mode, m));
  }
  const int times = mode == DEVICE_GROUPS_CROSS_BOTH ? device_groups_partitions(m) : 1;
  for (int g = 0; g < groups.size; g++)
    if (times * groups.groups[g].size > *size) *size = times * groups.groups[g].size;
  for (int copy = 0; copy < copies_of(mode, m); copy++)
    for (int g = 0; g < groups.size; g++) {
      const int before = out->size;
      add_group(a, mode, m, groups.groups[g], copy, out);
      while (out->size - before < *size) vec_push(a, out, -1);
    }
  return status_ok();
}

heddle_status device_groups_pairs_of(arena *a, const instruction *i, device_list *out) {
  const module *m = i->parent->module;
  const device_groups_mode mode = device_groups_mode_of(i);
  const group_list *pairs = &i->attributes->source_target_pairs;
  *out = (device_list){0};
  TRY(check_count(m));
  for (int p = 0; p < pairs->size; p++) {
    const int_list pair = pairs->groups[p];
    if (pair.size != 2) return status_at(HEDDLE_INVALID, i->where, "found a pair of %d numbers", pair.size);
    for (int k = 0; k < 2; k++) TRY(device_groups_check_number(i, pair.data[k], numbers_of(mode, m)));
  }
  for (int copy = 0; copy < copies_of(mode, m); copy++)
    for (int p = 0; p < pairs->size; p++)
      for (int k = 0; k < 2; k++) vec_push(a, out, device_of(mode, m, pairs->groups[p].data[k], copy));
  return status_ok();
}

// The next number of a text, or -1 at its end.
static int64_t next_number(const char **at, const char *end) {
  while (*at < end && (**at < '0' || **at > '9')) ++*at;
  if (*at == end) return -1;
  int64_t number = 0;
  for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
    if (number <= DEVICE_GROUPS_MOST) number = number * 10 + (**at - '0');
  return number;
}

// `{…, _xla_send_recv_source_target_pairs="{{0,1},{1,2}}", …}`
bool device_transfers_begin(const instruction *i, device_transfers *t) {
  static const char name[] = "_xla_send_recv_source_target_pairs=";
  const str *raw = attributes_raw(i->attributes, "frontend_attributes");
  const char *at = raw ? memmem(raw->data, raw->size, name, sizeof name - 1) : NULL;
  if (!at) return false;
  at += sizeof name - 1;
  const char *end = memmem(at, (size_t)(raw->data + raw->size - at), "}}", 2);
  *t = (device_transfers){at, end ? end : at};
  return true;
}

bool device_transfers_next(device_transfers *t, int64_t *source, int64_t *target) {
  *source = next_number(&t->at, t->end);
  *target = next_number(&t->at, t->end);
  return *target >= 0;
}

bool device_groups_transfer_of(arena *a, const instruction *i, device_list *out) {
  const module *m = i->parent->module;
  const bool has_partitions = device_groups_partitions(m) > 1;
  const device_groups_mode mode = has_partitions ? DEVICE_GROUPS_CROSS_PARTITION : DEVICE_GROUPS_CROSS_REPLICA;
  const int count = numbers_of(mode, m);
  device_transfers pairs;
  *out = (device_list){0};
  if (!device_transfers_begin(i, &pairs)) return false;
  for (int64_t from, to; device_transfers_next(&pairs, &from, &to);)
    for (int copy = 0; copy < copies_of(mode, m) && from < count && to < count; copy++) {
      vec_push(a, out, device_of(mode, m, from, copy));
      vec_push(a, out, device_of(mode, m, to, copy));
    }
  return true;
}
