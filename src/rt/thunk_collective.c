// Collectives: the devices of a group meet, each works out its own results from what all have brought, and they leave
// together, so that nobody's operands change while another reads them. A group of one meets nobody.
#include <string.h>

#include "lib/element.h"
#include "prog/library_fields.h"
#include "rt/collective.h"
#include "rt/device_group.h"
#include "rt/memory.h"
#include "rt/routine.h"
#include "rt/thunk_types.h"

enum { LINE = 64 };

// A device's place in its group; size 0: it is in none.
typedef struct membership {
  int number, size, self, source;
} membership;

typedef struct state {
  lib_call call;
  const collective_kind *kind;  // null: the thunk gives the device's number
  membership *devices;
  int largest;           // group
  combine_fn *combines;  // of each operand
  work_type *works;
  bool is_staged;  // results lie over operands: they are written elsewhere until all have left
} state;

static int64_t aligned(int64_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

static int device_count(const run_context *context) {
  return context->program->device_count > 1 ? context->program->device_count : 1;
}

// --- who meets whom

static heddle_status wrong(const program_thunk *t, const char *what) {
  return status_error(HEDDLE_INVALID, "%s: %s", program_thunk_target(t), what);
}

static heddle_status add_group(const program_thunk *t, int count, int number, const int64_t *members, int64_t size,
                               membership *devices) {
  int present = 0;
  for (int64_t k = 0; k < size; k++) {
    if (members[k] == -1) continue;
    if (members[k] < 0 || members[k] >= count) return wrong(t, "a group names a device that does not exist");
    membership *m = &devices[members[k]];
    if (m->size) return wrong(t, "a device is in two groups");
    *m = (membership){.number = number, .size = 1, .self = present++, .source = -1};
  }
  for (int64_t k = 0; k < size; k++)
    if (members[k] >= 0) devices[members[k]].size = present;
  return status_ok();
}

static heddle_status find_groups(const program_thunk *t, int count, membership *devices) {
  const program_ints *groups = &t->collective.groups;
  const int64_t size = t->collective.group_size;
  if (!groups->count) {
    for (int d = 0; d < count; d++) devices[d] = (membership){.size = count, .self = d, .source = -1};
    return status_ok();
  }
  if (size < 1 || groups->count % size) return wrong(t, "the groups are not of the size that is said");
  for (int64_t g = 0; g < groups->count / size; g++)
    TRY(add_group(t, count, (int)g, &groups->data[g * size], size, devices));
  return status_ok();
}

// All that send or receive meet, in ascending order.
static heddle_status find_pairs(const program_thunk *t, int count, membership *devices) {
  const int64_t *pairs = t->collective.pairs.data;
  const int numbers = t->collective.pairs.count;
  if (numbers % 2) return wrong(t, "half a pair");
  for (int k = 0; k < numbers; k++) {
    if (pairs[k] < 0 || pairs[k] >= count) return wrong(t, "a pair names a device that does not exist");
    devices[pairs[k]].size = 1;
  }
  int present = 0;
  for (int d = 0; d < count; d++)
    if (devices[d].size) devices[d] = (membership){.self = present++, .size = 1, .source = -1};
  for (int d = 0; d < count; d++)
    if (devices[d].size) devices[d].size = present;
  for (int k = 0; k < numbers; k += 2) devices[pairs[k + 1]].source = devices[pairs[k]].self;
  return status_ok();
}

static heddle_status find_members(const program_thunk *t, state *s, int count) {
  if (t->collective.target == PROGRAM_COLLECTIVE_PERMUTE) TRY(find_pairs(t, count, s->devices));
  else TRY(find_groups(t, count, s->devices));
  for (int d = 0; d < count; d++) {
    const int size = s->devices[d].size;
    if (size > s->largest) s->largest = size;
    if (size && !s->kind->fits(&s->call, (int)t->collective.dimension, size))
      return wrong(t, "the arrays do not fit the group");
  }
  return status_ok();
}

// --- prepare

static heddle_status find_reducers(arena *a, const program_thunk *t, state *s) {
  const char *reducer = lib_text(&s->call, "reducer");
  s->combines = arena_array(a, combine_fn, t->operand_count);
  s->works = arena_array(a, work_type, t->operand_count);
  if (!s->kind->has_reducer) return status_ok();
  for (int k = 0; k < t->operand_count; k++) {
    s->combines[k] = reducer ? combine_find(reducer, t->operands[k].type, &s->works[k]) : NULL;
    if (!s->combines[k])
      return status_error(HEDDLE_UNIMPLEMENTED, "%s: no reducer \"%s\" of %s", program_thunk_target(t),
                          reducer ? reducer : "", dtype_name(t->operands[k].type));
  }
  return status_ok();
}

static bool overlap(const program *p, int x, int y) {
  const program_slice *l = &p->slices[x], *r = &p->slices[y];
  return l->allocation == r->allocation && l->offset < r->offset + r->bytes && r->offset < l->offset + l->bytes;
}

static bool results_lie_over_operands(const program *p, const program_thunk *t) {
  for (int k = 0; k < t->result_count; k++)
    for (int j = 0; j < t->operand_count; j++)
      if (overlap(p, t->results[k].slice, t->operands[j].slice)) return true;
  return false;
}

static int64_t result_bytes(const lib_array *a) {
  return work_array_bytes(a->type, a->is_packed, lib_element_count(a));
}

static void reserve(thunk *t, const state *s) {
  int64_t bytes = aligned((s->call.operand_count + s->largest) * (int64_t)sizeof(void *));
  for (int k = 0; k < s->call.result_count && s->is_staged; k++) bytes += aligned(result_bytes(&s->call.results[k]));
  routine_reserve(t, &s->call, bytes);
}

static heddle_status prepare_number(const program_thunk *from, state *s, thunk *t) {
  if (from->result_count != 1 || from->results[0].type != DTYPE_U32) return wrong(from, "a result of u32 is wanted");
  if (from->collective.partition_count < 1) return wrong(from, "there are no partitions");
  routine_reserve(t, &s->call, 0);
  return status_ok();
}

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  state *s = arena_new(a, state);
  routine_call_make(a, from, context->threads, &s->call);
  t->state = s;
  s->kind = collective_find(from->collective.target);
  if (!s->kind) return prepare_number(from, s, t);
  t->has_effects = true;
  s->devices = arena_array(a, membership, device_count(context));
  TRY(find_members(from, s, device_count(context)));
  TRY(find_reducers(a, from, s));
  s->is_staged = results_lie_over_operands(context->program, from);
  reserve(t, s);
  return status_ok();
}

// --- execute

// The kinds that reduce take one operand after another, each in its own work type.
static heddle_status work_out(const state *s, collective *c) {
  if (!s->kind->has_reducer) return s->kind->fn(c);
  const lib_call *all = c->call;
  for (int k = 0; k < all->operand_count; k++) {
    lib_call one = *all;
    one.operand_count = one.result_count = 1;
    one.operands = &all->operands[k];
    one.results = &all->results[k];
    c->call = &one;
    c->first = k;
    c->combine = s->combines[k];
    c->work = s->works[k];
    heddle_status status = s->kind->fn(c);
    c->call = all;
    TRY(status);
  }
  return status_ok();
}

static heddle_status meet_and_work(const thunk *t, const run_frame *f, collective *c, void **own, void ***brought) {
  const state *s = t->state;
  const membership *m = &s->devices[f->device];
  if (m->size) brought[0] = own;  // with nobody in any group there is no room for it
  c->brought = (void *const *const *)brought;
  if (m->size < 2) return m->size ? work_out(s, c) : collective_zeros(c);
  device_meeting *meeting;
  TRY(device_group_meet(f->devices, t, m->number, m->size, m->self, own, &meeting));
  for (int k = 0; k < m->size; k++) brought[k] = device_meeting_brought(meeting, k);
  TRY(work_out(s, c));
  return device_group_leave(f->devices, meeting);
}

// Results go to `staging` instead, behind each other, or back from there.
static void stage(const lib_call *call, lib_array *results, char *staging) {
  for (int k = 0; k < call->result_count; k++) {
    results[k].data = staging;
    staging += aligned(result_bytes(&results[k]));
  }
}

static void unstage(const thunk *t, const run_frame *f, const lib_call *call) {
  for (int k = 0; k < call->result_count; k++)
    memory_copy(thunk_slice(f, t->from->results[k].slice), call->results[k].data, result_bytes(&call->results[k]),
                f->threads);
}

static heddle_status give_number(const thunk *t, const run_frame *f, const lib_call *call) {
  const int64_t partitions = t->from->collective.partition_count;
  const bool is_replica = t->from->collective.target == PROGRAM_REPLICA_ID;
  const int64_t number = is_replica ? f->device / partitions : f->device % partitions;
  element_store(&call->results[0], 0, (uint64_t)number);
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  const state *s = t->state;
  const lib_call call = routine_call_in_scratch(&s->call, t, f);
  if (!s->kind) return give_number(t, f, &call);
  const membership *m = &s->devices[f->device];
  if (!m->size && s->kind->needs_group)
    return status_error(HEDDLE_INVALID, "device %d is in no group of %s", f->device, program_thunk_target(t->from));
  void **own = call.scratch;
  void ***brought = (void ***)(void *)(own + call.operand_count);
  for (int k = 0; k < call.operand_count; k++) own[k] = call.operands[k].data;
  char *staging = (char *)call.scratch + aligned((call.operand_count + s->largest) * (int64_t)sizeof(void *));
  if (s->is_staged) stage(&call, (lib_array *)(uintptr_t)call.results, staging);
  collective c = {.call = &call, .size = m->size, .self = m->self, .source = m->source};
  c.dimension = (int)t->from->collective.dimension;
  TRY(meet_and_work(t, f, &c, own, brought));
  if (s->is_staged) unstage(t, f, &call);
  return status_ok();
}

const thunk_type thunk_collective = {prepare, execute, NULL};
