// Calls stand one after the other; a loop's are those up to its end.
#include "rt/tape.h"

#include <string.h>

#include "base/call.h"
#include "base/vec.h"
#include "rt/cost.h"
#include "rt/nested.h"
#include "rt/thunk_types.h"

// Addresses that lie on the stack; what is copied here and not by several threads; lines of scratch memory.
enum { STACK_ADDRESSES = 192, COPIED_BYTES = 16 << 10, LINE = 64 };

typedef enum call_kind { CALL_KERNEL, CALL_COPY, CALL_LOOP, CALL_THUNK } call_kind;

typedef struct tape_call {
  call_kind kind;
  int address;          // of its first in the table
  int condition, next;  // CALL_LOOP: where its body begins, behind the condition; where what comes behind it begins
  kernel_fn entry;
  int64_t count;  // of tiles, bytes, turns
  const thunk *thunk;
  int64_t scratch;  // of the sequence that holds it, in the frame of the loop's sequences
} tape_call;

struct tape {
  VEC(tape_call) calls;
  VEC(int) slices;  // by address
};

// --- made once

typedef struct maker {
  arena *arena;
  const run_context *context;
  tape *tape;
  int gained;
} maker;

static void add(maker *m, tape_call c) {
  c.next = m->tape->calls.size + 1;
  vec_push(m->arena, &m->tape->calls, c);
}

static int add_address(maker *m, int slice) {
  vec_push(m->arena, &m->tape->slices, slice);
  return m->tape->slices.size - 1;
}

static bool add_sequence(maker *m, const sequence *s, int64_t scratch);

// Kernels with more tiles than other threads are woken for, and those of open sizes, are called as thunks.
static bool add_kernel(maker *m, const thunk *t) {
  const program_launch *launch = &t->from->launch;
  const program_kernel *k = &m->context->program->kernels[launch->kernel];
  if (t->cost >= COST_PARALLEL_SECONDS || k->rest > 0 || k->tiles <= 0) return false;
  const int first = m->tape->slices.size;
  for (int i = 0; i < k->buffer_count; i++) add_address(m, launch->buffers[i]);
  add(m, (tape_call){CALL_KERNEL, first, .entry = m->context->entries[launch->kernel], .count = k->tiles});
  m->gained++;
  return true;
}

static bool add_copy(maker *m, const thunk *t) {
  const int64_t bytes = m->context->program->slices[t->from->reads[0]].bytes;
  if (bytes == 0 || bytes > COPIED_BYTES) return false;
  const int first = add_address(m, t->from->reads[0]);
  add_address(m, t->from->writes[0]);
  add(m, (tape_call){CALL_COPY, first, .count = bytes});
  m->gained++;
  return true;
}

static bool add_loop(maker *m, const thunk *t, int64_t scratch) {
  const bool counts = t->type == &thunk_for;
  const int number = m->tape->calls.size;
  add(m, (tape_call){CALL_LOOP, -1, .count = counts ? t->from->trip_count : 0, .thunk = t});
  if (!counts) {
    m->tape->calls.data[number].address = add_address(m, t->from->control.slice);
    if (!add_sequence(m, nested_sequence(t, 0), scratch)) return false;
  }
  m->tape->calls.data[number].condition = m->tape->calls.size;
  if (!add_sequence(m, nested_sequence(t, counts ? 0 : 1), scratch)) return false;
  m->tape->calls.data[number].next = m->tape->calls.size;
  return true;
}

// False: it has to be called as a thunk.
static bool add_plain(maker *m, const thunk *t, int64_t scratch) {
  const int64_t inner = scratch + t->scratch_offset;
  if (t->type == &thunk_kernel) return add_kernel(m, t);
  if (t->type == &thunk_copy) return add_copy(m, t);
  if (t->type == &thunk_for || t->type == &thunk_while) return add_loop(m, t, inner);
  const bool is_body = t->type == &thunk_call || t->type == &thunk_sequence;
  return is_body && add_sequence(m, nested_sequence(t, 0), inner);
}

static bool add_sequence(maker *m, const sequence *s, int64_t scratch) {
  for (int i = 0; i < sequence_step_count(s); i++) {
    if (sequence_step_size(s, i) != 1) return false;
    const thunk *t = sequence_step_thunk(s, i, 0);
    const int calls = m->tape->calls.size, slices = m->tape->slices.size;
    if (add_plain(m, t, scratch)) continue;
    m->tape->calls.size = calls;
    m->tape->slices.size = slices;
    add(m, (tape_call){CALL_THUNK, .thunk = t, .scratch = scratch});
  }
  return true;
}

tape *tape_make(arena *a, const run_context *context, const thunk *loop) {
  if (context->device || !context->entries) return NULL;
  maker m = {a, context, arena_new(a, tape), 0};
  return add_loop(&m, loop, 0) && m.gained > 0 ? m.tape : NULL;
}

int64_t tape_scratch_bytes(const tape *t) {
  const int64_t bytes = (int64_t)t->slices.size * (int64_t)sizeof(void *);
  return t->slices.size <= STACK_ADDRESSES ? 0 : (bytes + LINE - 1) / LINE * LINE;
}

// --- run

typedef struct player {
  const tape_call *calls;
  void **addresses;
  run_frame frame;  // of the thunk at hand
  char *scratch;    // of the loop's sequences
} player;

static heddle_status play_loop(player *p, int number);

static heddle_status play_thunk(player *p, const tape_call *c) {
  p->frame.scratch = p->scratch ? p->scratch + c->scratch : NULL;
  return sequence_execute_thunk(c->thunk, &p->frame);
}

// Numbers and single elements are most of what is copied.
static void copy(void *to, const void *from, int64_t bytes) {
  switch (bytes) {
    case 4: memmove(to, from, 4); break;
    case 8: memmove(to, from, 8); break;
    default: memmove(to, from, (size_t)bytes); break;
  }
}

static heddle_status play(player *p, int begin, int end) {
  for (int k = begin; k < end; k = p->calls[k].next) {
    const tape_call *c = &p->calls[k];
    void **addresses = p->addresses + c->address;
    switch (c->kind) {
      case CALL_KERNEL: c->entry(addresses, 0, c->count); break;
      case CALL_COPY: copy(addresses[1], addresses[0], c->count); break;
      case CALL_LOOP: {
        heddle_status s = play_loop(p, k);
        if (!status_is_ok(s)) return sequence_failure(c->thunk, s);
        break;
      }
      case CALL_THUNK: TRY(play_thunk(p, c)); break;
    }
  }
  return status_ok();
}

static heddle_status play_loop(player *p, int number) {
  const tape_call *c = &p->calls[number];
  if (c->address < 0) {
    for (int64_t turn = 0; turn < c->count; turn++) {
      TRY(call_check());
      TRY(play(p, number + 1, c->next));
    }
    return status_ok();
  }
  for (;;) {
    TRY(call_check());
    TRY(play(p, number + 1, c->condition));
    if (!*(const unsigned char *)p->addresses[c->address]) return status_ok();
    TRY(play(p, c->condition, c->next));
  }
}

heddle_status tape_execute(const tape *t, char *scratch, const run_frame *inner) {
  void *few[STACK_ADDRESSES];
  player p = {.calls = t->calls.data, .addresses = few, .frame = *inner, .scratch = inner->scratch};
  if (t->slices.size > STACK_ADDRESSES) p.addresses = (void **)(void *)scratch;
  for (int k = 0; k < t->slices.size; k++) p.addresses[k] = thunk_slice(inner, t->slices.data[k]);
  return play_loop(&p, 0);
}
