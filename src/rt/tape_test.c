// Loops on a tape leave the same bytes as their sequences, which run when somebody watches; and fail as these do.
#include "rt/testing.h"

#include <stdatomic.h>

#include "rt/nested.h"
#include "rt/tape.h"
#include "rt/thunk_types.h"

enum { LINES = 64, LINE_BYTES = 64 };

// Numbers that depend on the order in which kernels run.
static void mix(void *const *buffers, int64_t begin, int64_t end) {
  const uint32_t *from = buffers[0];
  uint32_t *to = buffers[1];
  for (int64_t tile = begin; tile < end; tile++)
    for (int k = 0; k < LINE_BYTES / 4; k++) to[k] = to[k] * 3 + from[k] * 5 + (uint32_t)tile + 1;
}

// Counts a number down to 0 and says whether it goes on.
static void count_down(void *const *buffers, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  int *left = buffers[0];
  *(unsigned char *)buffers[1] = (*left)-- > 0;
}

typedef struct loops {
  testing_program h;
  int memory, counter, goes_on;
  int mixing, counting;
  uint32_t seed;
} loops;

static int line(loops *l) {
  l->seed = l->seed * 1664525u + 1013904223u;
  return testing_slice(&l->h, l->memory, (int64_t)(l->seed >> 16) % LINES * LINE_BYTES, LINE_BYTES);
}

static loops start(uint32_t seed) {
  loops l = {.h = testing_start(), .seed = seed};
  l.memory = testing_memory(&l.h, PROGRAM_RESULT, 0, (int64_t)LINES * LINE_BYTES);
  l.counter = testing_memory(&l.h, PROGRAM_RESULT, 1, 4);
  l.goes_on = testing_memory(&l.h, PROGRAM_TEMPORARY, 0, 64);
  l.mixing = testing_kernel(&l.h, mix, 2);
  l.counting = testing_kernel(&l.h, count_down, 2);
  return l;
}

static program_thunk *step(loops *l, int number) {
  const int from = line(l), to = line(l);
  if (number % 3 == 2) return testing_thunk(&l->h, THUNK_COPY, 1, &from, 1, &to);
  program_thunk *t = testing_step(&l->h, l->mixing, from, to);
  testing_kernel_of(&l->h, t)->tiles = 1 + number % 4;
  // Some are worth a thread, which no tape calls itself.
  testing_kernel_of(&l->h, t)->tile_bytes = number % 16 == 7 ? 1 << 20 : 64;
  if (number % 16 == 7) testing_kernel_of(&l->h, t)->tiles = 1;
  return t;
}

static program_thunk *nest(loops *l, program_thunk_kind kind, int count, const program_sequence *sequences) {
  const int all[] = {l->memory, l->counter, l->goes_on};
  program_thunk *t = testing_thunk(&l->h, kind, 3, all, 3, all);
  testing_nest(&l->h, t, count, sequences);
  return t;
}

static program_thunk *counted(loops *l, program_sequence body, int64_t turns) {
  program_thunk *t = nest(l, THUNK_FOR, 1, &body);
  t->trip_count = turns;
  return t;
}

// So many steps, in loops that a condition turns, around loops that count, around calls.
static program_sequence make(loops *l, int steps) {
  program_thunk **inner = arena_array(l->h.arena, program_thunk *, steps);
  for (int k = 0; k < steps; k++) inner[k] = step(l, k);
  const program_sequence called = testing_sequence(&l->h, steps, inner);
  program_thunk *body[] = {nest(l, THUNK_CALL, 1, &called), step(l, 0)};
  program_thunk *around[] = {step(l, 1), counted(l, testing_sequence(&l->h, 2, body), 3),
                             counted(l, testing_sequence(&l->h, 2, body), 0)};
  program_thunk *condition = testing_step(&l->h, l->counting, l->counter, l->goes_on);
  const program_sequence sequences[] = {testing_sequence(&l->h, 1, &condition), testing_sequence(&l->h, 3, around)};
  program_thunk *loop = nest(l, THUNK_WHILE, 2, sequences);
  loop->control.slice = l->goes_on;
  return testing_sequence(&l->h, 1, &loop);
}

// Threads that steps run on tell of them themselves.
static void watch(void *user, const profile_event *event) {
  (void)event;
  atomic_fetch_add((atomic_int *)user, 1);
}

static void run(executable *e, uint32_t *memory, int *counter) {
  for (uint32_t k = 0; k < LINES * LINE_BYTES / 4; k++) memory[k] = k * 2654435761u;
  *counter = 4;
  testing_check(executable_run(e, NULL, (void *[]){memory, counter}));
  assert_int_equal(*counter, -1);
}

static void test_same_bytes(void **state) {
  (void)state;
  static uint32_t expected[LINES * LINE_BYTES / 4], found[LINES * LINE_BYTES / 4];
  for (int steps = 1; steps < 400; steps = steps * 3 + 1) {
    loops l = start((uint32_t)steps);
    const program_sequence entry = make(&l, steps);
    for (int threads = 1; threads <= 2; threads++) {
      executable *e;
      int counter;
      atomic_int seen = 0;
      testing_check(testing_create(&l.h, entry, threads, &e));
      run(e, found, &counter);
      executable_set_profiler(e, watch, &seen);
      run(e, expected, &counter);
      assert_true(atomic_load(&seen) > steps);
      assert_memory_equal(found, expected, sizeof found);
      executable_destroy(e);
    }
    testing_end(&l.h);
  }
}

// Many addresses lie in the frame's memory, few on the stack; where nothing is gained there is none.
static void test_tables(void **state) {
  (void)state;
  for (int steps = 1; steps < 400; steps = steps * 3 + 1) {
    loops l = start(1);
    executable *e;
    testing_check(testing_create(&l.h, make(&l, steps), 1, &e));
    arena *a = arena_create();
    const thunk *loop = sequence_step_thunk(e->entry, 0, 0);
    const tape *t = tape_make(a, &e->context, loop);
    assert_non_null(t);
    assert_true((tape_scratch_bytes(t) > 0) == (steps > 96));
    assert_true(sequence_scratch_bytes(e->entry) >= tape_scratch_bytes(t));
    arena_destroy(a);
    executable_destroy(e);
    testing_end(&l.h);
  }
}

// The error names the loops that it came through, inner ones too.
static void test_failure(void **state) {
  (void)state;
  loops l = start(1);
  const program_array to = testing_array(&l.h, DTYPE_S32, 0, NULL, l.counter);
  program_thunk *feed = testing_library(&l.h, THUNK_TRANSFER, 0, NULL, 1, &to);
  testing_text(&l.h, feed, "target", "infeed");  // nobody feeds
  program_thunk *both[] = {step(&l, 0), feed};
  program_thunk *inner = counted(&l, testing_sequence(&l.h, 2, both), 2);
  inner->name = "inner";
  program_thunk *outer = counted(&l, testing_sequence(&l.h, 1, &inner), 2);
  outer->name = "outer";
  executable *e;
  testing_check(testing_create(&l.h, testing_sequence(&l.h, 1, &outer), 1, &e));
  static uint32_t memory[LINES * LINE_BYTES / 4];
  int counter = 0;
  atomic_int seen = 0;
  for (int watched = 0; watched < 2; watched++) {
    heddle_status s = executable_run(e, NULL, (void *[]){memory, &counter});
    assert_non_null(strstr(heddle_status_message(s), "while running for inner"));
    testing_check_error(s, HEDDLE_INVALID, "while running for outer");
    executable_set_profiler(e, watch, &seen);
  }
  executable_destroy(e);
  testing_end(&l.h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_bytes),
      cmocka_unit_test(test_tables),
      cmocka_unit_test(test_failure),
  };
  return cmocka_run_group_tests_name("rt/tape", tests, NULL, NULL);
}
