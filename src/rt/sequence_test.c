// Schedules: random programs give the same bytes on any number of threads as run one after another; what is
// independent runs at the same time, what is small wakes nobody; making one takes near-linear time.
#include "rt/testing.h"

#include "base/log.h"
#include "rt/cost.h"
#include "rt/sequence.h"

// Memory is lines of 16 numbers. A thunk of n lines mixes n lines into n others.
enum { LINES = 96, NUMBERS = 16, LINE_BYTES = 64 };

static void mix(void *const *buffers, int64_t begin, int64_t end) {
  const uint32_t *from = buffers[0];
  uint32_t *to = buffers[1];
  for (int64_t i = begin * NUMBERS; i < end * NUMBERS; i++) to[i] = to[i] * 3 + from[i] * 5 + 1;
}

// All of its lines as one tile, for ranges that overlap.
static void mix_one(void *const *buffers, int64_t begin, int64_t end) {
  if (end > begin) mix(buffers, 0, 1);
}
static void mix_three(void *const *buffers, int64_t begin, int64_t end) {
  if (end > begin) mix(buffers, 0, 3);
}
static void mix_seven(void *const *buffers, int64_t begin, int64_t end) {
  if (end > begin) mix(buffers, 0, 7);
}

typedef struct random_program {
  testing_program h;
  uint64_t seed;
  int memory;  // slice of all lines
  int by_tiles, by_size[3];
} random_program;

static int choose(random_program *r, int count) {
  r->seed = r->seed * 6364136223846793005u + 1442695040888963407u;
  return (int)((r->seed >> 33) % (unsigned)count);
}

static int random_lines(random_program *r, int lines) {
  return testing_slice(&r->h, r->memory, (int64_t)choose(r, LINES - lines + 1) * LINE_BYTES,
                       (int64_t)lines * LINE_BYTES);
}

static bool overlaps(const random_program *r, int x, int y) {
  const program_slice *l = &r->h.slices.data[x], *k = &r->h.slices.data[y];
  return l->offset < k->offset + k->bytes && k->offset < l->offset + l->bytes;
}

static program_thunk *random_kernel(random_program *r) {
  static const int sizes[] = {1, 3, 7};
  const int size = choose(r, 3), from = random_lines(r, sizes[size]);
  int to = random_lines(r, sizes[size]);
  const bool is_tiled = choose(r, 4) == 0;
  if (is_tiled && overlaps(r, from, to)) to = from;
  program_thunk *t = testing_step(&r->h, is_tiled ? r->by_tiles : r->by_size[size], from, to);
  testing_kernel_of(&r->h, t)->tiles = is_tiled ? sizes[size] : 1;
  testing_kernel_of(&r->h, t)->tile_bytes = (int64_t)choose(r, 2) * choose(r, 1000000);
  return t;
}

static program_sequence random_sequence(random_program *r, int count, int depth);

// What it reads and writes is what its thunks do.
static program_thunk *random_loop(random_program *r, int depth) {
  VEC(int) reads = {0}, writes = {0};
  program_sequence body = random_sequence(r, 1 + choose(r, 12), depth - 1);
  for (int i = 0; i < body.count; i++) {
    for (int k = 0; k < body.thunks[i]->read_count; k++) vec_push(r->h.arena, &reads, body.thunks[i]->reads[k]);
    for (int k = 0; k < body.thunks[i]->write_count; k++) vec_push(r->h.arena, &writes, body.thunks[i]->writes[k]);
  }
  program_thunk *t =
      testing_thunk(&r->h, choose(r, 2) ? THUNK_FOR : THUNK_CALL, reads.size, reads.data, writes.size, writes.data);
  t->trip_count = choose(r, 4);
  testing_nest(&r->h, t, 1, &body);
  return t;
}

static program_sequence random_sequence(random_program *r, int count, int depth) {
  program_thunk **thunks = arena_array(r->h.arena, program_thunk *, count);
  for (int i = 0; i < count; i++) thunks[i] = depth && choose(r, 8) == 0 ? random_loop(r, depth) : random_kernel(r);
  return testing_sequence(&r->h, count, thunks);
}

static random_program random_start(uint64_t seed) {
  random_program r = {.h = testing_start(), .seed = seed};
  r.memory = testing_memory(&r.h, PROGRAM_RESULT, 0, LINES * LINE_BYTES);
  r.by_tiles = testing_kernel(&r.h, mix, 2);
  r.by_size[0] = testing_kernel(&r.h, mix_one, 2);
  r.by_size[1] = testing_kernel(&r.h, mix_three, 2);
  r.by_size[2] = testing_kernel(&r.h, mix_seven, 2);
  return r;
}

static void run_in_turn(const random_program *r, const program_sequence *s, char *memory) {
  for (int i = 0; i < s->count; i++) {
    const program_thunk *t = s->thunks[i];
    if (t->kind == THUNK_KERNEL) {
      void *buffers[2];
      for (int k = 0; k < 2; k++) buffers[k] = memory + r->h.slices.data[t->launch.buffers[k]].offset;
      r->h.entries.data[t->launch.kernel](buffers, 0, testing_kernel_of(&r->h, t)->tiles);
    } else {
      for (int64_t turn = 0; turn < (t->kind == THUNK_FOR ? t->trip_count : 1); turn++)
        run_in_turn(r, &t->sequences[0], memory);
    }
  }
}

static void start_values(uint32_t *memory) {
  for (uint32_t i = 0; i < LINES * NUMBERS; i++) memory[i] = i * 2654435761u;
}

// Returns how many parallel steps the entry has.
static int check_random_program(uint64_t seed, int count) {
  random_program r = random_start(seed);
  const program_sequence entry = random_sequence(&r, count, 3);
  static uint32_t expected[LINES * NUMBERS], found[LINES * NUMBERS];
  start_values(expected);
  run_in_turn(&r, &entry, (char *)expected);
  int parallel_steps = 0;
  for (int threads = 1; threads <= 4; threads++) {
    executable *e;
    testing_check(testing_create(&r.h, entry, threads, &e));
    for (int step = 0; step < sequence_step_count(e->entry); step++)
      parallel_steps += sequence_step_size(e->entry, step) > 1;
    if (threads == 1) assert_int_equal(parallel_steps, 0);
    for (int run = 0; run < 3; run++) {
      start_values(found);
      testing_check(executable_run(e, NULL, (void *[]){found}));
      assert_memory_equal(found, expected, sizeof found);
    }
    executable_destroy(e);
  }
  testing_end(&r.h);
  return parallel_steps;
}

static void test_random_programs(void **state) {
  (void)state;
  int parallel_steps = 0;
  for (uint64_t seed = 0; seed < 40; seed++) parallel_steps += check_random_program(seed, 1 + (int)seed * 5);
  assert_true(parallel_steps > 100);
}

// Eight chains, one after another in the program, each thunk worth a thread.
static void test_chains_run_side_by_side(void **state) {
  (void)state;
  enum { CHAINS = 8, LENGTH = 10 };
  random_program r = random_start(1);
  program_thunk *thunks[CHAINS * LENGTH];
  for (int i = 0; i < CHAINS * LENGTH; i++) {
    const int line = testing_slice(&r.h, r.memory, i / LENGTH * LINE_BYTES, LINE_BYTES);
    thunks[i] = testing_step(&r.h, r.by_size[0], line, line);
    testing_kernel_of(&r.h, thunks[i])->tile_bytes = 1 << 20;
  }
  executable *e;
  testing_check(testing_create(&r.h, testing_sequence(&r.h, CHAINS * LENGTH, thunks), 2, &e));
  assert_int_equal(sequence_step_count(e->entry), LENGTH);
  assert_int_equal(sequence_step_size(e->entry, 0), CHAINS);
  assert_false(sequence_is_serial(e->entry));
  executable_destroy(e);
  // The same with less to do wakes nobody and keeps the program's order.
  for (int i = 0; i < CHAINS * LENGTH; i++) testing_kernel_of(&r.h, thunks[i])->tile_bytes = 128;
  testing_check(testing_create(&r.h, testing_sequence(&r.h, CHAINS * LENGTH, thunks), 2, &e));
  assert_int_equal(sequence_step_count(e->entry), CHAINS * LENGTH);
  assert_true(sequence_is_serial(e->entry));
  executable_destroy(e);
  testing_end(&r.h);
}

// Many thunks that all read the same and are read by all later ones; then a chain; each with all of memory.
static void test_large_sequences(void **state) {
  (void)state;
  enum { COUNT = 20000 };
  for (int way = 0; way < 3; way++) {
    random_program r = random_start(way);
    const int wide = testing_memory(&r.h, PROGRAM_TEMPORARY, 0, (int64_t)COUNT * LINE_BYTES);
    program_thunk **thunks = arena_array(r.h.arena, program_thunk *, COUNT);
    for (int i = 0; i < COUNT; i++) {
      const int line = testing_slice(&r.h, wide, (int64_t)i * LINE_BYTES, LINE_BYTES);
      thunks[i] = testing_step(&r.h, r.by_size[0], way == 0 ? r.memory : line, line);
      if (way) thunks[i]->reads = testing_numbers(&r.h, 1, (int[]){way == 1 ? wide : choose(&r, i + 1) + wide});
      testing_kernel_of(&r.h, thunks[i])->tile_bytes = 100000;
    }
    const double begin = log_seconds();
    executable *e;
    testing_check(testing_create(&r.h, testing_sequence(&r.h, COUNT, thunks), 2, &e));
    assert_true(log_seconds() - begin < 10);  // comparing all pairs would take minutes under the sanitizers
    executable_destroy(e);
    testing_end(&r.h);
  }
}

static void fail_often(void *const *buffers, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  *(int *)buffers[1] += 1;
}

// Failures inside a parallel step: all that was started ends, one error comes back.
static void test_failure_in_a_parallel_step(void **state) {
  (void)state;
  enum { COUNT = 12 };
  testing_program h = testing_start();
  const int out = testing_memory(&h, PROGRAM_RESULT, 0, 4 * COUNT), kernel = testing_kernel(&h, fail_often, 2);
  program_thunk *thunks[COUNT];
  for (int i = 0; i < COUNT; i++) {
    const int at = testing_slice(&h, out, 4 * i, 4);
    const program_array to = testing_array(&h, DTYPE_S32, 0, NULL, at);
    program_thunk *inner =
        i % 2 ? testing_library(&h, THUNK_TRANSFER, 0, NULL, 1, &to) : testing_step(&h, kernel, at, at);
    if (i % 2) testing_text(&h, inner, "target", "infeed");  // nobody feeds
    else testing_kernel_of(&h, inner)->tile_bytes = 10 << 20;
    thunks[i] = inner;
  }
  executable *e;
  testing_check(testing_create(&h, testing_sequence(&h, COUNT, thunks), 3, &e));
  int found[COUNT] = {0};
  testing_check_error(executable_run(e, NULL, (void *[]){found}), HEDDLE_INVALID, "given none");
  executable_destroy(e);
  testing_end(&h);
}

// Thunks with effects keep their order though their slices are apart.
static int next_number;

static heddle_status number(void *user, int device, int count, const program_array *arrays, void *const *data) {
  (void)user, (void)device, (void)count, (void)arrays;
  *(int *)data[0] = next_number++;
  return status_ok();
}

static void test_effects_keep_their_order(void **state) {
  (void)state;
  enum { COUNT = 40 };
  testing_program h = testing_start();
  const int out = testing_memory(&h, PROGRAM_RESULT, 0, 4 * COUNT), kernel = testing_kernel(&h, fail_often, 2);
  const int room = testing_memory(&h, PROGRAM_TEMPORARY, 0, 64 * COUNT);
  program_thunk *thunks[2 * COUNT];
  for (int i = 0; i < COUNT; i++) {
    const int at = testing_slice(&h, out, 4 * i, 4), spare = testing_slice(&h, room, 64 * i, 64);
    const program_array to = testing_array(&h, DTYPE_S32, 0, NULL, at);
    program_thunk *call = testing_thunk(&h, THUNK_CALL, 0, NULL, 1, &at),
                  *feed = testing_library(&h, THUNK_TRANSFER, 0, NULL, 1, &to);
    testing_text(&h, feed, "target", "infeed");
    program_sequence body = testing_sequence(&h, 1, &feed);
    testing_nest(&h, call, 1, &body);
    thunks[2 * i] = i % 2 ? feed : call;
    thunks[2 * i + 1] = testing_step(&h, kernel, spare, spare);
    testing_kernel_of(&h, thunks[2 * i + 1])->tile_bytes = 1 << 20;
  }
  executable *e;
  testing_check(testing_create(&h, testing_sequence(&h, 2 * COUNT, thunks), 3, &e));
  executable_set_feeds(e, (executable_feeds){.infeed = number});
  int found[COUNT];
  next_number = 0;
  testing_check(executable_run(e, NULL, (void *[]){found}));
  for (int i = 0; i < COUNT; i++) assert_int_equal(found[i], i);
  executable_destroy(e);
  testing_end(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_programs),          cmocka_unit_test(test_chains_run_side_by_side),
      cmocka_unit_test(test_large_sequences),          cmocka_unit_test(test_failure_in_a_parallel_step),
      cmocka_unit_test(test_effects_keep_their_order),
  };
  return cmocka_run_group_tests_name("rt/sequence", tests, NULL, NULL);
}
