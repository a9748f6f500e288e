// Executes infeed, outfeed, send and recv: arrays enter a running program and leave it, by the feeds of the run or by
// messages between devices.
//
// A message is a copy of what was sent, so that nobody waits for the receiver. A recv takes its place in the channel's
// queue at once, but waits only in its done, so that a program may send to itself. Who is named by nobody receives
// zeros. A recv tells its done, which may be far away, by its context.
#include <stdlib.h>
#include <string.h>

#include "prog/library_fields.h"
#include "rt/device_group.h"
#include "rt/memory.h"
#include "rt/thunk_types.h"

typedef struct transfer_kind {
  heddle_status (*execute)(const thunk *t, const run_frame *f);
  int operand_count, result_count;  // arrays; -1: any number
} transfer_kind;

// --- feeds

static heddle_status feed_arrays(const thunk *t, const run_frame *f, feed_fn feed, int count,
                                 const program_array *arrays) {
  void **data = (void **)(void *)(f->scratch + t->scratch_offset);
  for (int k = 0; k < count; k++) data[k] = thunk_slice(f, arrays[k].slice);
  return feed(f->context->feeds.user, f->device, count, arrays, data);
}

static heddle_status infeed(const thunk *t, const run_frame *f) {
  const feed_fn feed = f->context->feeds.infeed;
  if (!feed) return status_error(HEDDLE_INVALID, "an infeed finds nothing: the run was given none");
  return feed_arrays(t, f, feed, t->from->result_count, t->from->results);
}

static heddle_status outfeed(const thunk *t, const run_frame *f) {
  const feed_fn feed = f->context->feeds.outfeed;
  return feed ? feed_arrays(t, f, feed, t->from->operand_count, t->from->operands) : status_ok();
}

// --- messages

typedef struct message {
  const program_array *array;  // what was sent
  _Alignas(16) char data[];
} message;

static int64_t array_bytes(const run_frame *f, const program_array *a) {
  return f->context->program->slices[a->slice].bytes;
}

static void *array_data(const run_frame *f, const program_array *a) { return thunk_slice(f, a->slice); }

// The device on the other side of the last pair that names this one; -1 for nobody.
static int other_of(const program_transfer *x, int device, bool is_source) {
  int other = -1;
  for (int k = 0; k + 1 < x->pairs.count; k += 2)
    if (x->pairs.data[k + !is_source] == device) other = (int)x->pairs.data[k + is_source];
  return other;
}

static heddle_status post(const program_transfer *x, const run_frame *f, const program_array *from, int receiver) {
  const int64_t bytes = array_bytes(f, from);
  message *m = malloc(sizeof *m + (size_t)bytes);
  if (!m) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a message of %lld bytes", (long long)bytes);
  m->array = from;
  if (bytes) memcpy(m->data, array_data(f, from), (size_t)bytes);
  heddle_status status = device_group_send(f->devices, x->channel, receiver, m);
  if (!status_is_ok(status)) free(m);
  return status;
}

static heddle_status send(const thunk *t, const run_frame *f) {
  const program_transfer *x = &t->from->transfer;
  const program_array *from = &t->from->operands[0], *to = t->from->results;
  const int target = other_of(x, f->device, true);
  if (!x->is_paired || target >= 0) TRY(post(x, f, from, target));
  memory_copy(array_data(f, &to[0]), array_data(f, from), array_bytes(f, from), f->threads);
  memory_fill(array_data(f, &to[1]), 0, array_bytes(f, &to[1]), 1);
  return status_ok();
}

// The context: the place in the channel's queue, and whether that is the queue of this device alone.
static const uint32_t SENT_BY_NOBODY = UINT32_MAX, SENT_TO_ONE = (uint32_t)1 << 31;

static heddle_status recv(const thunk *t, const run_frame *f) {
  const program_transfer *x = &t->from->transfer;
  const program_array *to = t->from->results;
  uint32_t context = SENT_BY_NOBODY;
  if (!x->is_paired || other_of(x, f->device, false) >= 0) {
    int64_t position;
    TRY(device_group_reserve(f->devices, x->channel, x->is_paired ? f->device : -1, &position));
    context = (uint32_t)position | (x->is_paired ? SENT_TO_ONE : 0);
  }
  memory_fill(array_data(f, &to[0]), 0, array_bytes(f, &to[0]), f->threads);
  memcpy(array_data(f, &to[1]), &context, sizeof context);
  return status_ok();
}

static bool same_shape(const program_array *l, const program_array *r) {
  if (l->type != r->type || l->rank != r->rank) return false;
  for (int d = 0; d < l->rank; d++)
    if (l->dims[d] != r->dims[d]) return false;
  return true;
}

static heddle_status recv_done(const thunk *t, const run_frame *f) {
  const program_array *to = &t->from->results[0];
  uint32_t context;
  void *received;
  memcpy(&context, array_data(f, &t->from->operands[1]), sizeof context);
  if (context == SENT_BY_NOBODY) {
    memory_fill(array_data(f, to), 0, array_bytes(f, to), f->threads);
    return status_ok();
  }
  const int receiver = context & SENT_TO_ONE ? f->device : -1;
  TRY(device_group_receive(f->devices, t->from->transfer.channel, receiver, context & ~SENT_TO_ONE, &received));
  const message *m = received;
  heddle_status status = status_ok();
  if (same_shape(m->array, to)) memory_copy(array_data(f, to), m->data, array_bytes(f, to), f->threads);
  else status = status_error(HEDDLE_INVALID, "what was sent has another shape than what is received");
  free(received);
  return status;
}

static heddle_status nothing(const thunk *t, const run_frame *f) {
  (void)t, (void)f;
  return status_ok();
}

// --- all

static const transfer_kind kinds[PROGRAM_TRANSFER_KIND_COUNT] = {
    [PROGRAM_INFEED] = {infeed, 0, -1}, [PROGRAM_OUTFEED] = {outfeed, -1, 0},    [PROGRAM_RECV] = {recv, 0, 2},
    [PROGRAM_SEND] = {send, 1, 2},      [PROGRAM_RECV_DONE] = {recv_done, 2, 1}, [PROGRAM_SEND_DONE] = {nothing, -1, 0},
};

static bool is_context(const program_array *a) { return a->type == DTYPE_U32 && a->rank == 0; }

static heddle_status check_arrays(const transfer_kind *kind, const program_thunk *from) {
  bool fits = kind->operand_count < 0 || from->operand_count == kind->operand_count;
  fits = fits && (kind->result_count < 0 || from->result_count == kind->result_count);
  if (fits && kind->result_count == 2) fits = is_context(&from->results[1]);
  if (fits && kind->execute == send) fits = same_shape(&from->operands[0], &from->results[0]);
  if (fits && kind->execute == recv_done) fits = is_context(&from->operands[1]);
  if (fits) return status_ok();
  return status_error(HEDDLE_INVALID, "%s: its arrays are not those that it has", program_thunk_target(from));
}

static heddle_status prepare(arena *a, const run_context *context, const program_thunk *from, thunk *t) {
  (void)a, (void)context;
  TRY(check_arrays(&kinds[from->transfer.target], from));
  const int count = from->operand_count + from->result_count;
  t->has_effects = true;
  t->is_serial = true;
  t->scratch_bytes = (count * (int64_t)sizeof(void *) + 64) / 64 * 64;  // never none
  return status_ok();
}

static heddle_status execute(const thunk *t, const run_frame *f) {
  return kinds[t->from->transfer.target].execute(t, f);
}

bool thunk_transfer_needs_group(const program_thunk *t) {
  return t->kind == THUNK_TRANSFER && t->transfer.target != PROGRAM_INFEED && t->transfer.target != PROGRAM_OUTFEED;
}

const thunk_type thunk_transfer = {prepare, execute, NULL};
