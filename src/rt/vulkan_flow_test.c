// Random programs with branches and loops on a Vulkan driver that is none (rt/vulkan_testing.h), held to what a reading
// of the same program does step by step, and with calls of the driver or allocations of the host that fail.
#include <errno.h>

#include "base/guard.h"
#include "rt/vulkan_testing.h"

enum { PARTS = 5, MOST_DEPTH = 2, MOST_TURNS = 20, MOST_STEPS = 7, PART_BYTES = 4 * COUNT, ALLOCATIONS = 4 };
enum { IN, OUT, ROOM, TURNS };  // allocations, and the slices of all of each

static const uint32_t module_words[] = {0x07230203, 0x00010300, 0, 10, 0, 2U << 16 | 17, 1};
static const program_image image = {PROGRAM_SPIRV, module_words, sizeof module_words};

// Row n is what a loop of n turns begins to count with.
static int32_t turn_numbers[MOST_TURNS + 1][COUNT];

typedef struct making {
  testing_program h;
  uint64_t seed;
  int parts[PARTS], counters[MOST_DEPTH + 1];
} making;

static int choose(making *m, int count) {
  m->seed = m->seed * 6364136223846793005u + 1442695040888963407u;
  return (int)((m->seed >> 33) % (uint64_t)count);
}

static int any_part(making *m) { return m->parts[choose(m, PARTS)]; }

// `bytes` somewhere in the parts, at a multiple of `unit`.
static int any_bytes(making *m, int unit, int bytes) {
  return testing_slice(&m->h, ROOM, unit * choose(m, (PARTS * PART_BYTES - bytes) / unit), bytes);
}

// --- making

static program_thunk *make_copy(making *m, int from, int to) {
  return testing_thunk(&m->h, THUNK_COPY, 1, &from, 1, &to);
}

static program_thunk *make_odd_copy(making *m) {
  const int bytes = 1 + choose(m, PART_BYTES);
  return make_copy(m, any_bytes(m, 1, bytes), any_bytes(m, 1, bytes));
}

// The host does it.
static program_thunk *make_fill(making *m) {
  const int to = any_part(m);
  program_thunk *t = testing_thunk(&m->h, THUNK_MEMSET, 0, NULL, 1, &to);
  t->pattern = 0;
  return t;
}

static program_sequence make_sequence(making *m, int depth, program_thunk *first, program_thunk *last);

// Reads and writes what its sequences do, and reads what controls it.
static program_thunk *make_nest(making *m, program_thunk_kind kind, program_control control, int count,
                                const program_sequence *sequences) {
  VEC(int) reads = {0}, writes = {0};
  if (control.slice >= 0) vec_push(m->h.arena, &reads, control.slice);
  for (int k = 0; k < count; k++) {
    for (int i = 0; i < sequences[k].count; i++) {
      const program_thunk *t = sequences[k].thunks[i];
      for (int r = 0; r < t->read_count; r++) vec_push(m->h.arena, &reads, t->reads[r]);
      for (int w = 0; w < t->write_count; w++) vec_push(m->h.arena, &writes, t->writes[w]);
    }
  }
  program_thunk *t = testing_thunk(&m->h, kind, reads.size, reads.data, writes.size, writes.data);
  t->control = control;
  testing_nest(&m->h, t, count, sequences);
  return t;
}

static program_thunk *make_branches(making *m, int depth) {
  const bool is_pred = choose(m, 2);
  const int count = is_pred ? 2 : 1 + choose(m, 3), unit = choose(m, 4) ? 4 : 1;
  const int control = is_pred ? any_bytes(m, 1, 1) : any_bytes(m, unit, 4);
  program_sequence branches[3];
  for (int k = 0; k < count; k++) branches[k] = make_sequence(m, depth + 1, NULL, NULL);
  return make_nest(m, THUNK_CONDITIONAL, (program_control){control, is_pred}, count, branches);
}

// The condition makes all of a part, the first byte of which says whether the loop goes on; the body may write there,
// too. Either of them counts.
static program_thunk *make_loop(making *m, int depth) {
  const int place = choose(m, PARTS), counter = m->counters[depth], turns = choose(m, MOST_TURNS + 1);
  const int begin = testing_slice(&m->h, TURNS, turns * PART_BYTES, PART_BYTES);
  program_thunk *test = testing_step(&m->h, 0, counter, m->parts[place]),
                *count = testing_step(&m->h, 0, counter, counter);
  const bool condition_counts = choose(m, 2);
  const program_sequence parts[] = {
      testing_sequence(&m->h, 1 + condition_counts, (program_thunk *[]){test, count}),
      make_sequence(m, depth + 1, NULL, condition_counts ? NULL : count),
  };
  const int flag = testing_slice(&m->h, ROOM, place * PART_BYTES, 1);
  program_thunk *loop = make_nest(m, THUNK_WHILE, (program_control){flag, true}, 2, parts);
  const program_sequence both = testing_sequence(&m->h, 2, (program_thunk *[]){make_copy(m, begin, counter), loop});
  return make_nest(m, THUNK_CALL, (program_control){-1, false}, 1, &both);
}

static program_thunk *make_call(making *m, int depth) {
  const program_sequence called = make_sequence(m, depth + 1, NULL, NULL);
  return make_nest(m, THUNK_CALL, (program_control){-1, false}, 1, &called);
}

static program_thunk *make_any(making *m, int depth) {
  enum { SIMPLE = 8, ALL = 13 };
  switch (choose(m, depth < MOST_DEPTH ? ALL : SIMPLE)) {
    case 0: return make_copy(m, any_part(m), any_part(m));
    case 1:
    case 2: return make_odd_copy(m);
    case 3: return choose(m, 4) ? make_odd_copy(m) : make_fill(m);
    case 8:
    case 9: return make_branches(m, depth);
    case 10:
    case 11: return make_loop(m, depth);
    case 12: return make_call(m, depth);
    default: return testing_step(&m->h, 0, any_part(m), any_part(m));
  }
}

// `first` and `last` may be null.
static program_sequence make_sequence(making *m, int depth, program_thunk *first, program_thunk *last) {
  program_thunk *thunks[MOST_STEPS + 2];
  int count = 0;
  if (first) thunks[count++] = first;
  for (int k = choose(m, MOST_STEPS - 2 * depth); k > 0; k--) thunks[count++] = make_any(m, depth);
  if (last) thunks[count++] = last;
  return testing_sequence(&m->h, count, thunks);
}

static program_sequence make_program(making *m) {
  testing_program *h = &m->h;
  h->program.device = TARGET_VULKAN;
  h->program.images = &image;
  h->program.image_count = 1;
  testing_memory(h, PROGRAM_PARAMETER, 0, PARTS * PART_BYTES);
  testing_memory(h, PROGRAM_RESULT, 0, PARTS * PART_BYTES);
  testing_memory(h, PROGRAM_TEMPORARY, 0, (PARTS + MOST_DEPTH + 1) * PART_BYTES);
  testing_constant(h, turn_numbers, sizeof turn_numbers);
  testing_kernel(h, NULL, 2);
  vec_last(&h->kernels).block[0] = 64;
  for (int k = 0; k < 3; k++) vec_last(&h->kernels).grid[k] = 1;
  for (int k = 0; k < PARTS; k++) m->parts[k] = testing_slice(h, ROOM, k * PART_BYTES, PART_BYTES);
  for (int k = 0; k <= MOST_DEPTH; k++) m->counters[k] = testing_slice(h, ROOM, (PARTS + k) * PART_BYTES, PART_BYTES);
  const int all = testing_slice(h, ROOM, 0, PARTS * PART_BYTES);
  return make_sequence(m, 0, make_copy(m, IN, all), make_copy(m, all, OUT));
}

// --- reading

static char *bytes_of(const testing_program *h, char *const *memory, int slice) {
  return memory[h->slices.data[slice].allocation] + h->slices.data[slice].offset;
}

static void follow(const testing_program *h, char *const *memory, const program_sequence *s);

static int branch_of(const testing_program *h, char *const *memory, const program_thunk *t) {
  const char *control = bytes_of(h, memory, t->control.slice);
  int32_t branch;
  if (t->control.is_pred) return !*control;
  memcpy(&branch, control, sizeof branch);
  return branch < 0 || branch >= t->sequence_count ? t->sequence_count - 1 : branch;
}

static void follow_kernel(char *to, const char *from) {
  for (int i = 0; i < COUNT; i++) {
    int32_t x;
    memcpy(&x, from + 4 * i, sizeof x);
    x = (int32_t)((uint32_t)x + 1);
    memcpy(to + 4 * i, &x, sizeof x);
  }
}

// What has no sequences writes one slice.
static void follow_leaf(const testing_program *h, char *const *memory, const program_thunk *t) {
  char *to = bytes_of(h, memory, t->writes[0]);
  const size_t bytes = (size_t)h->slices.data[t->writes[0]].bytes;
  if (t->kind == THUNK_MEMSET) memset(to, 0, bytes);
  else if (t->kind == THUNK_COPY) memmove(to, bytes_of(h, memory, t->reads[0]), bytes);
  else follow_kernel(to, bytes_of(h, memory, t->reads[0]));
}

static void follow_thunk(const testing_program *h, char *const *memory, const program_thunk *t) {
  switch (t->kind) {
    case THUNK_CONDITIONAL: follow(h, memory, &t->sequences[branch_of(h, memory, t)]); break;
    case THUNK_WHILE:
      for (;;) {
        follow(h, memory, &t->sequences[0]);
        if (!*bytes_of(h, memory, t->control.slice)) break;
        follow(h, memory, &t->sequences[1]);
      }
      break;
    case THUNK_CALL: follow(h, memory, &t->sequences[0]); break;
    default: follow_leaf(h, memory, t);
  }
}

static void follow(const testing_program *h, char *const *memory, const program_sequence *s) {
  for (int i = 0; i < s->count; i++) follow_thunk(h, memory, s->thunks[i]);
}

// --- the test

static int32_t given[PARTS * COUNT], found[PARTS * COUNT], expected[PARTS * COUNT];
static char room[(PARTS + MOST_DEPTH + 1) * PART_BYTES];

// The next program, its arguments and what it has to give.
static program_sequence make_next(making *m, int n) {
  fake = (typeof(fake)){.has_predicates = n % 4 > 0,
                        .is_apart = n % 5 == 0,
                        .has_no_timelines = n % 3 == 0,
                        .queue_count = 1 + n % 2,
                        .subgroup_size = n % 7 ? 0 : 8};
  m->h = testing_start();
  const program_sequence entry = make_program(m);
  m->h.program.streams = n % 4;
  for (int i = 0; i < PARTS * COUNT; i++) given[i] = choose(m, 4) ? choose(m, 3) : choose(m, 1 << 30);
  char *const memory[ALLOCATIONS] = {(char *)given, (char *)expected, room, (char *)turn_numbers};
  follow(&m->h, memory, &entry);
  return entry;
}

static heddle_status run(executable *e) {
  memset(found, -1, sizeof found);
  return executable_run(e, (void *[]){given}, (void *[]){found});
}

static void test_any_flow(void **state) {
  (void)state;
  enum { PROGRAMS = 2000 };
  making m = {.seed = 1};
  for (int n = 0; n < PROGRAMS; n++) {
    const program_sequence entry = make_next(&m, n);
    executable *e;
    testing_check(testing_create(&m.h, entry, 1, &e));
    for (int turn = 0; turn < 2; turn++) {
      testing_check(run(e));
      if (memcmp(found, expected, sizeof found) != 0) fail_msg("program %d, run %d", n, turn);
    }
    executable_destroy(e);
    assert_int_equal(fake.live, 0);
    testing_end(&m.h);
  }
}

// Where any of the driver's calls fails, once or a few times, a run gives what it should or says which it was, and the
// next one, for which all is well, gives what it should. A device that is lost stays lost.
static void test_any_failure(void **state) {
  (void)state;
  enum { PROGRAMS = 4000, MOST_CALLS = 120, FOR_EVER = 1 << 20 };
  static const VkResult results[] = {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_OUT_OF_HOST_MEMORY, VK_ERROR_DEVICE_LOST,
                                     VK_ERROR_UNKNOWN};
  making m = {.seed = 2};
  int failures = 0;
  for (int n = 0; n < PROGRAMS; n++) {
    const program_sequence entry = make_next(&m, n);
    executable *e = NULL;
    fake.result = results[choose(&m, 4)];
    fake.failing = 1 + choose(&m, MOST_CALLS);
    fake.failures = fake.result == VK_ERROR_DEVICE_LOST ? FOR_EVER : 1 + choose(&m, 3);
    heddle_status s = testing_create(&m.h, entry, 1, &e);
    for (int turn = 0; turn < 2 && status_is_ok(s); turn++) {
      s = run(e);
      if (status_is_ok(s) && memcmp(found, expected, sizeof found) != 0) fail_msg("program %d, run %d", n, turn);
    }
    const bool has_failed = !status_is_ok(s);
    failures += has_failed;
    if (has_failed)
      testing_check_error(s, fake.result < VK_ERROR_OUT_OF_DEVICE_MEMORY ? HEDDLE_DEVICE_FAILED : HEDDLE_OUT_OF_MEMORY,
                          "vk");
    if (has_failed && e && fake.failures == FOR_EVER) testing_check_error(run(e), HEDDLE_DEVICE_FAILED, "vk");
    fake.failing = 0;
    if (has_failed && e) testing_check(run(e));
    if (has_failed && e && memcmp(found, expected, sizeof found) != 0) fail_msg("program %d, behind a failure", n);
    executable_destroy(e);
    assert_int_equal(fake.live, 0);
    testing_end(&m.h);
  }
  assert_true(failures > PROGRAMS / 2);
}

// --- without memory

// Which allocation of this thread fails; 0: none.
static _Thread_local int allocations_left;

static bool is_refused(void) {
  if (allocations_left == 0) return false;
  allocations_left--;
  return allocations_left == 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size) { return is_refused() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return is_refused() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *old, size_t size) { return is_refused() ? NULL : __real_realloc(old, size); }
int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
  return is_refused() ? ENOMEM : __real_posix_memalign(out, alignment, size);
}
char *__wrap_strdup(const char *text) { return is_refused() ? NULL : __real_strdup(text); }

typedef struct attempt {
  testing_program *h;
  program_sequence entry;
  executable *e;
} attempt;

static heddle_status create_guarded(void *argument) {
  attempt *a = argument;
  return testing_create(a->h, a->entry, 1, &a->e);
}

static heddle_status run_guarded(void *argument) { return run(((attempt *)argument)->e); }

// Whichever allocation fails, nothing is lost, and the next run gives what it should.
static void test_any_lack(void **state) {
  (void)state;
  enum { PROGRAMS = 2000, MOST_ALLOCATIONS = 100 };
  making m = {.seed = 3};
  int lacks = 0;
  for (int n = 0; n < PROGRAMS; n++) {
    attempt a = {.entry = make_next(&m, n)};
    a.h = &m.h;
    allocations_left = 1 + choose(&m, MOST_ALLOCATIONS);
    heddle_status s = guard_run(create_guarded, NULL, &a);
    const bool is_made = status_is_ok(s);
    if (is_made) s = guard_run(run_guarded, NULL, &a);
    allocations_left = 0;
    lacks += !status_is_ok(s);
    if (!status_is_ok(s)) testing_check_error(s, HEDDLE_OUT_OF_MEMORY, "");
    if (is_made) {
      testing_check(run(a.e));
      if (memcmp(found, expected, sizeof found) != 0) fail_msg("program %d", n);
      executable_destroy(a.e);
    }
    assert_int_equal(fake.live, 0);
    testing_end(&m.h);
  }
  assert_true(lacks > PROGRAMS / 2);
}

int main(void) {
  vulkan_driver_replace(fake_GetInstanceProcAddr);
  for (int n = 0; n <= MOST_TURNS; n++)
    for (int i = 0; i < COUNT; i++) turn_numbers[n][i] = 255 - n;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_any_flow), cmocka_unit_test(test_any_failure),
                                     cmocka_unit_test(test_any_lack)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
