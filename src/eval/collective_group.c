// Groups of processes. What the numbers in `replica_groups` are depends on the operation's mode:
//
//   cross replica                 replicas, within one partition
//   cross partition               partitions, within one replica
//   cross replica and partition   replicas, each with all partitions
//   flattened ids                 replica * partitions + partition
//
// An empty list stands for everyone.
#include "eval/collective.h"

typedef enum group_mode {
  MODE_CROSS_REPLICA,
  MODE_CROSS_PARTITION,
  MODE_CROSS_REPLICA_AND_PARTITION,
  MODE_FLATTENED,
} group_mode;

// With a channel, operations that reduce or gather go across replicas and partitions, the others across partitions.
static group_mode mode_of(const instruction *i) {
  const hlo_attributes *x = i->attributes;
  if (x->use_global_device_ids) return MODE_FLATTENED;
  if (x->channel_id <= 0) return MODE_CROSS_REPLICA;
  switch (i->opcode) {
    case HLO_ALL_GATHER:
    case HLO_ALL_GATHER_START:
    case HLO_ALL_REDUCE:
    case HLO_ALL_REDUCE_START:
    case HLO_REDUCE_SCATTER: return MODE_CROSS_REPLICA_AND_PARTITION;
    default: return MODE_CROSS_PARTITION;
  }
}

static int numbers_of(group_mode mode, const process_grid *g) {
  const int replicas = process_grid_replicas(g), partitions = process_grid_partitions(g);
  if (mode == MODE_FLATTENED) return replicas * partitions;
  return mode == MODE_CROSS_PARTITION ? partitions : replicas;
}

// The number that stands for this process.
static int number_of(group_mode mode, const process *p) {
  if (mode == MODE_FLATTENED) return p->id;
  return mode == MODE_CROSS_PARTITION ? p->partition : p->replica;
}

// The process a number stands for, seen from `p`.
static int process_of(group_mode mode, const process *p, int number, int partition) {
  const int partitions = process_grid_partitions(p->grid);
  switch (mode) {
    case MODE_CROSS_REPLICA: return number * partitions + p->partition;
    case MODE_CROSS_PARTITION: return p->replica * partitions + number;
    case MODE_CROSS_REPLICA_AND_PARTITION: return number * partitions + partition;
    default: return number;
  }
}

static heddle_status check_number(const instruction *i, int64_t number, int count) {
  if (number >= 0 && number < count) return status_ok();
  return status_at(HEDDLE_INVALID, i->where, "%s " STR_FMT " names process %lld of a run with %d",
                   hlo_op_text(i->opcode), STR_ARG(i->name), (long long)number, count);
}

// The group's numbers without the -1 that fills short rows.
static heddle_status read_group(const instruction *i, arena *scratch, int_list group, int count, int_list *out) {
  int64_t *numbers = arena_array(scratch, int64_t, group.size);
  *out = (int_list){numbers, 0};
  for (int k = 0; k < group.size; k++) {
    if (group.data[k] == -1) continue;
    TRY(check_number(i, group.data[k], count));
    if (int_list_has(*out, group.data[k]))
      return status_at(HEDDLE_INVALID, i->where, "%s " STR_FMT " names process %lld twice", hlo_op_text(i->opcode),
                       STR_ARG(i->name), (long long)group.data[k]);
    numbers[out->size++] = group.data[k];
  }
  return status_ok();
}

static heddle_status find_numbers(const instruction *i, arena *scratch, group_mode mode, const process *p,
                                  int_list *out) {
  const group_list *groups = &i->attributes->replica_groups;
  const int count = numbers_of(mode, p->grid);
  if (groups->size == 0 && groups->text.size) return interpreter_refuse(i, "groups by the axes of a mesh");
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
  const group_mode mode = mode_of(i);
  int_list numbers = {0};
  TRY(find_numbers(i, scratch, mode, p, &numbers));
  const int partitions = mode == MODE_CROSS_REPLICA_AND_PARTITION ? process_grid_partitions(p->grid) : 1;
  *out = (collective_group){.members = arena_array(scratch, int, (size_t)numbers.size *(size_t)partitions)};
  for (int partition = 0; partition < partitions; partition++)
    for (int k = 0; k < numbers.size; k++) {
      const int id = process_of(mode, p, (int)numbers.data[k], partition);
      if (id == p->id) out->self = out->size;
      out->members[out->size++] = id;
    }
  return status_ok();
}

heddle_status collective_pairs_of(interpreter *in, const instruction *i, arena *scratch, collective_group *out,
                                  int *source) {
  const process *p = in->process;
  const group_mode mode = mode_of(i);
  const group_list *pairs = &i->attributes->source_target_pairs;
  const int count = numbers_of(mode, p->grid), self = number_of(mode, p);
  bool *takes_part = arena_array(scratch, bool, count);
  int from = -1;
  for (int k = 0; k < pairs->size; k++) {
    const int_list pair = pairs->groups[k];
    if (pair.size != 2) return status_at(HEDDLE_INVALID, i->where, "found a pair of %d numbers", pair.size);
    for (int side = 0; side < 2; side++) {
      TRY(check_number(i, pair.data[side], count));
      takes_part[pair.data[side]] = true;
    }
    if (pair.data[1] == self) from = (int)pair.data[0];
  }
  *out = (collective_group){.members = arena_array(scratch, int, count)};
  *source = -1;
  if (!takes_part[self]) return status_ok();
  for (int k = 0; k < count; k++) {
    if (!takes_part[k]) continue;
    if (k == self) out->self = out->size;
    if (k == from) *source = out->size;
    out->members[out->size++] = process_of(mode, p, k, 0);
  }
  return status_ok();
}

// The next number of a text, or -1 at its end.
static int64_t next_number(const char **at, const char *end) {
  while (*at < end && (**at < '0' || **at > '9')) ++*at;
  if (*at == end) return -1;
  int64_t number = 0;
  for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
    if (number <= EVAL_MAX_PROCESSES) number = number * 10 + (**at - '0');
  return number;
}

// `{…, _xla_send_recv_source_target_pairs="{{0,1},{1,2}}", …}`: partitions, or replicas where there is one partition.
bool collective_transfer_of(interpreter *in, const instruction *i, int *source, int *target) {
  static const char name[] = "_xla_send_recv_source_target_pairs=";
  const str *raw = attributes_raw(i->attributes, "frontend_attributes");
  const char *at = raw ? memmem(raw->data, raw->size, name, sizeof name - 1) : NULL;
  *source = *target = -1;
  if (!at) return false;
  at += sizeof name - 1;
  const char *end = memmem(at, (size_t)(raw->data + raw->size - at), "}}", 2);
  const process *p = in->process;
  const group_mode mode = process_grid_partitions(p->grid) > 1 ? MODE_CROSS_PARTITION : MODE_CROSS_REPLICA;
  const int64_t self = number_of(mode, p), count = numbers_of(mode, p->grid);
  while (end) {
    const int64_t from = next_number(&at, end), to = next_number(&at, end);
    if (to < 0) break;
    if (from == self && to < count) *target = process_of(mode, p, (int)to, 0);
    if (to == self && from < count) *source = process_of(mode, p, (int)from, 0);
  }
  return true;
}
