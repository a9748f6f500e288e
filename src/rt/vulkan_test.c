// Programs on a Vulkan driver that is none (rt/vulkan_testing.h).
#include <sys/wait.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/host.h"
#include "rt/device_types.h"
#include "rt/vulkan_testing.h"

// --- programs

// The words in front of a module that asks for a capability.
static const uint32_t plain[] = {0x07230203, 0x00010300, 0, 10, 0, 2U << 16 | 17, 1};
static const uint32_t atomic[] = {0x07230203, 0x00010300, 0, 10, 0, 2U << 16 | 17, 1, 2U << 16 | 17, 12};
static const uint32_t unknown[] = {0x07230203, 0x00010300, 0, 10, 0, 2U << 16 | 17, 4711};
// Behind a matrix, whose number is 0.
static const uint32_t behind[] = {0x07230203, 0x00010300,    0,   10, 0, 2U << 16 | 17, 1, 2U << 16 | 17,
                                  0,          2U << 16 | 17, 4711};
static const uint32_t no_module[] = {1, 2, 3, 4, 5, 6};

static program_image image;

// result = parameter + 2, by two kernels through a temporary.
static program_sequence build(testing_program *h, const uint32_t *words, size_t bytes) {
  fake = (typeof(fake)){0};
  image = (program_image){PROGRAM_SPIRV, words, bytes};
  h->program.device = TARGET_VULKAN;
  h->program.images = &image;
  h->program.image_count = 1;
  const int in = testing_memory(h, PROGRAM_PARAMETER, 0, 4 * COUNT),
            out = testing_memory(h, PROGRAM_RESULT, 0, 4 * COUNT),
            between = testing_memory(h, PROGRAM_TEMPORARY, 0, 4 * COUNT);
  const int kernel = testing_kernel(h, NULL, 2);
  program_thunk *first = testing_step(h, kernel, in, between), *second = testing_step(h, kernel, between, out);
  for (int k = 0; k < h->kernels.size; k++) {
    h->kernels.data[k].grid[0] = h->kernels.data[k].grid[1] = h->kernels.data[k].grid[2] = 1;
    h->kernels.data[k].block[0] = 64;
  }
  return testing_sequence(h, 2, (program_thunk *[]){first, second});
}

static program_thunk *build_copy(testing_program *h, int from, int to) {
  return testing_thunk(h, THUNK_COPY, 1, &from, 1, &to);
}

static program_thunk *build_choice(testing_program *h, int by, bool is_pred, int count,
                                   const program_sequence *branches, int touched_slice) {
  program_thunk *t = testing_thunk(h, THUNK_CONDITIONAL, 2, (int[]){by, touched_slice}, 1, &touched_slice);
  t->control = (program_control){by, is_pred};
  testing_nest(h, t, count, branches);
  return t;
}

// result = what branch numbers[0] says, x being parameter + 1: 0: x + 1, 1: x, another one: the second half of x, one
// byte further on, if byte 6 of the numbers is not 0, else x + 2.
static program_sequence build_branches(testing_program *h, const int32_t *numbers) {
  build(h, plain, sizeof plain);
  enum { HALF = 2 * COUNT };
  const int in = 0, out = 1, room = 2, constant = testing_constant(h, numbers, 8);
  h->program.temporary_bytes = h->allocations.data[2].bytes = h->slices.data[room].bytes = 8 * COUNT;
  const int x = testing_slice(h, room, 0, 4 * COUNT), control = testing_slice(h, constant, 0, 4),
            truth = testing_slice(h, constant, 6, 1), y = testing_slice(h, room, 512, 4 * COUNT - 112),
            part = testing_slice(h, room, HALF, HALF - 1), moved = testing_slice(h, room, 1, HALF - 1);
  program_thunk *add = testing_step(h, 0, x, x), *again = testing_step(h, 0, x, x), *move = build_copy(h, part, moved);
  const program_sequence inner[] = {testing_sequence(h, 1, &move),
                                    testing_sequence(h, 2, (program_thunk *[]){add, again})};
  program_thunk *nested = build_choice(h, truth, true, 2, inner, x),
                *group = testing_thunk(h, THUNK_CALL, 1, &x, 1, &x),
                *there = build_copy(h, testing_slice(h, x, 0, 4 * COUNT - 112), y);
  const program_sequence body = testing_sequence(h, 1, &nested);
  testing_nest(h, group, 1, &body);
  const program_sequence branches[] = {testing_sequence(h, 1, &add), testing_sequence(h, 1, &there),
                                       testing_sequence(h, 1, &group)};
  program_thunk *choice = build_choice(h, control, false, 3, branches, x);
  choice->write_count = 2;
  choice->writes = testing_numbers(h, 2, (int[]){x, y});
  return testing_sequence(h, 3, (program_thunk *[]){testing_step(h, 0, in, x), choice, build_copy(h, x, out)});
}

static heddle_status run_once(testing_program *h, program_sequence entry, int32_t *found) {
  int32_t given[COUNT];
  for (int i = 0; i < COUNT; i++) given[i] = 7 * i;
  executable *e;
  TRY(testing_create(h, entry, 1, &e));
  heddle_status s = executable_run(e, (void *[]){given}, (void *[]){found});
  // What was recorded is submitted as it is.
  if (status_is_ok(s)) s = executable_run(e, (void *[]){given}, (void *[]){found});
  executable_destroy(e);
  return s;
}

static void test_run(void **state) {
  (void)state;
  testing_program h = testing_start();
  int32_t found[COUNT];
  testing_check(run_once(&h, build(&h, plain, sizeof plain), found));
  for (int i = 0; i < COUNT; i++) assert_int_equal(found[i], 7 * i + 2);
  assert_int_equal(fake.dispatches, 2);
  assert_int_equal(fake.submissions, 2);
  assert_int_equal(fake.live, 0);
  testing_end(&h);
}

// Kernels wait for each other where they touch the same bytes, and only there.
static void test_barriers(void **state) {
  (void)state;
  for (int is_chain = 0; is_chain < 2; is_chain++) {
    testing_program h = testing_start();
    build(&h, plain, sizeof plain);
    const int kernel = 0, in = 0, out = 1, room = 2;
    h.program.temporary_bytes = h.allocations.data[2].bytes = h.slices.data[room].bytes = 12 * COUNT;
    const int x = testing_slice(&h, room, 0, 4 * COUNT), y = testing_slice(&h, room, 512, 4 * COUNT);
    program_thunk *steps[] = {testing_step(&h, kernel, in, x), testing_step(&h, kernel, is_chain ? x : in, y),
                              testing_step(&h, kernel, y, out)};
    int32_t found[COUNT];
    testing_check(run_once(&h, testing_sequence(&h, 3, steps), found));
    // One behind the host, one before it.
    assert_int_equal(fake.barriers, 2 + (is_chain ? 2 : 1));
    for (int i = 0; i < COUNT; i++) assert_int_equal(found[i], 7 * i + (is_chain ? 3 : 2));
    assert_int_equal(fake.live, 0);
    testing_end(&h);
  }
}

// Numbers of a program for open sizes are there as constants are.
static void test_numbers(void **state) {
  (void)state;
  testing_program h = testing_start();
  build(&h, plain, sizeof plain);
  int64_t numbers[COUNT / 2];
  int32_t found[COUNT];
  for (int i = 0; i < COUNT / 2; i++) numbers[i] = i;
  const int table = testing_memory(&h, PROGRAM_NUMBERS, 0, sizeof numbers), out = 1;
  vec_last(&h.allocations).data = numbers;
  program_thunk *step = testing_step(&h, 0, table, out);
  testing_check(run_once(&h, testing_sequence(&h, 1, &step), found));
  for (int i = 0; i < COUNT; i++) assert_int_equal(found[i], ((const int32_t *)(const void *)numbers)[i] + 1);
  assert_int_equal(fake.live, 0);
  testing_end(&h);
}

// Commands that could not be recorded are recorded anew, with another table of addresses.
static void test_recording_again(void **state) {
  (void)state;
  enum { BUFFERS = 17, FRAME_CALLS = 6, TABLE_CALLS = 5 };  // made before the commands begin
  testing_program h = testing_start();
  build(&h, plain, sizeof plain);
  program_thunk *step = testing_step(&h, 0, 0, 1);
  int buffers[BUFFERS] = {0};
  for (int i = 1; i < BUFFERS; i++) buffers[i] = 1;
  testing_kernel_of(&h, step)->buffer_count = step->launch.buffer_count = BUFFERS;
  step->launch.buffers = testing_numbers(&h, BUFFERS, buffers);
  executable *e;
  testing_check(testing_create(&h, testing_sequence(&h, 1, &step), 1, &e));
  int32_t given[COUNT] = {0}, found[COUNT];
  fake.result = VK_ERROR_OUT_OF_HOST_MEMORY;
  for (int turn = 0; turn < 2; turn++) {
    fake.failing = fake.calls + (turn == 0 ? FRAME_CALLS : 0) + TABLE_CALLS + 1;
    testing_check_error(executable_run(e, (void *[]){given}, (void *[]){found}), HEDDLE_OUT_OF_MEMORY,
                        "vkBeginCommandBuffer");
  }
  executable_destroy(e);
  assert_int_equal(fake.live, 0);
  testing_end(&h);
}

// Whatever call fails says so, and nothing is lost.
static void check_failing_calls(bool has_fences, bool is_apart, bool has_predicates) {
  static const struct {
    VkResult result;
    heddle_code code;
  } cases[] = {{VK_ERROR_OUT_OF_DEVICE_MEMORY, HEDDLE_OUT_OF_MEMORY},
               {VK_ERROR_OUT_OF_HOST_MEMORY, HEDDLE_OUT_OF_MEMORY},
               {VK_ERROR_DEVICE_LOST, HEDDLE_DEVICE_FAILED},
               {VK_ERROR_UNKNOWN, HEDDLE_DEVICE_FAILED}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    bool goes_on = true;
    for (int n = 1; goes_on; n++) {
      testing_program h = testing_start();
      int32_t found[COUNT];
      static const int32_t numbers[2] = {0};
      const program_sequence entry = has_predicates ? build_branches(&h, numbers) : build(&h, plain, sizeof plain);
      fake.has_predicates = has_predicates;
      fake.failing = n;
      fake.result = cases[c].result;
      fake.has_no_timelines = has_fences;
      fake.is_apart = is_apart;
      heddle_status s = run_once(&h, entry, found);
      goes_on = fake.calls >= n;
      // Who could not wait waits again.
      const bool is_mended = fake.is_waiting && cases[c].result != VK_ERROR_DEVICE_LOST;
      if (goes_on && !is_mended) testing_check_error(s, cases[c].code, "vk");
      else testing_check(s);
      assert_int_equal(fake.live, 0);
      assert_true(n < 300);
      testing_end(&h);
    }
  }
}

static void test_failing_calls(void **state) {
  (void)state;
  check_failing_calls(false, false, false);
  check_failing_calls(false, true, true);
  check_failing_calls(false, false, true);
}

static void test_failing_calls_with_fences(void **state) {
  (void)state;
  check_failing_calls(true, false, false);
  check_failing_calls(true, true, true);
}

// Where a driver does not say for a while whether it has ended, nothing is given back before it says so. Where it never
// does, the device is given up.
static void test_waiting_in_vain(void **state) {
  (void)state;
  enum { CALLS = 20, FOR_A_WHILE = 12, FOR_EVER = 1000 };
  for (int way = 0; way < 4; way++) {
    testing_program h = testing_start();
    const program_sequence entry = build(&h, plain, sizeof plain);
    const bool is_for_ever = way % 2;
    fake.has_no_timelines = way / 2;
    fake.keeps = is_for_ever;
    int32_t given[COUNT] = {0}, found[COUNT];
    executable *e, *other;
    testing_check(testing_create(&h, entry, 1, &e));
    testing_check(executable_run(e, (void *[]){given}, (void *[]){found}));
    fake.result = VK_ERROR_OUT_OF_HOST_MEMORY;
    fake.failing = fake.calls + (fake.has_no_timelines ? 3 : 2);  // behind those that submit
    fake.failures = is_for_ever ? FOR_EVER : FOR_A_WHILE;
    testing_check_error(executable_run(e, (void *[]){given}, (void *[]){found}), HEDDLE_OUT_OF_MEMORY, "vkWait");
    assert_true(fake.is_waiting);
    if (is_for_ever) {
      testing_check_error(testing_create(&h, entry, 1, &other), HEDDLE_DEVICE_FAILED, "fake did not say whether");
    } else {
      fake.failing = 0;
      testing_check(executable_run(e, (void *[]){given}, (void *[]){found}));
    }
    executable_destroy(e);
    if (is_for_ever) assert_int_equal(fake_pending(), 1);
    else assert_int_equal(fake.live, 0);
    testing_end(&h);
  }
}

// Where the host does not see the device's memory, what comes, what goes and what the host does in between is copied:
// kernels, a fill by the host of half of what a kernel has made, and a branch that the host chooses by a number of a
// kernel's.
static void test_memory_apart(void **state) {
  (void)state;
  for (int way = 0; way < 6; way++) {
    testing_program h = testing_start();
    build(&h, plain, sizeof plain);
    fake.is_apart = way / 2 != 2;
    fake.has_no_timelines = way % 2;
    assert_int_equal(way / 2 ? setenv("HEDDLE_VULKAN_MEMORY", way / 2 == 1 ? "" : "shared", 1) : 0, 0);
    static const int32_t one[COUNT] = {1};
    const int in = 0, out = 1, room = 2, constant = testing_constant(&h, one, sizeof one);
    h.program.temporary_bytes = h.allocations.data[2].bytes = h.slices.data[room].bytes = 16 * COUNT;
    const int x = testing_slice(&h, room, 0, 4 * COUNT), half = testing_slice(&h, room, 0, 2 * COUNT),
              y = testing_slice(&h, room, 512, 4 * COUNT), control = testing_slice(&h, room, 1024, 4 * COUNT),
              flag = testing_slice(&h, room, 1024, 4);
    program_thunk *fill = testing_thunk(&h, THUNK_MEMSET, 0, NULL, 1, &half), *choice,
                  *inner = testing_step(&h, 0, x, y), *other = testing_step(&h, 0, in, y);
    fill->pattern = 0;
    // The flag is 2.
    choice = testing_thunk(&h, THUNK_CONDITIONAL, 3, (int[]){flag, x, in}, 1, &y);
    choice->control = (program_control){flag, false};
    const program_sequence branches[] = {testing_sequence(&h, 1, &other), testing_sequence(&h, 1, &other),
                                         testing_sequence(&h, 1, &inner)};
    testing_nest(&h, choice, 3, branches);
    program_thunk *steps[] = {testing_step(&h, 0, in, x), testing_step(&h, 0, constant, control), fill, choice,
                              testing_step(&h, 0, y, out)};
    int32_t found[COUNT];
    testing_check(run_once(&h, testing_sequence(&h, 5, steps), found));
    for (int i = 0; i < COUNT; i++) assert_int_equal(found[i], (i < COUNT / 2 ? 0 : 7 * i + 1) + 2);
    assert_int_equal(fake.copies > 0, fake.is_apart);
    assert_int_equal(fake.live, 0);
    testing_end(&h);
  }
  testing_program h = testing_start();
  const program_sequence entry = build(&h, plain, sizeof plain);
  int32_t found[COUNT];
  assert_int_equal(setenv("HEDDLE_VULKAN_MEMORY", "near", 1), 0);
  testing_check_error(run_once(&h, entry, found), HEDDLE_INVALID, "found near, wanted shared or apart");
  assert_int_equal(fake.live, 0);
  assert_int_equal(unsetenv("HEDDLE_VULKAN_MEMORY"), 0);
  testing_end(&h);
}

// A device by its number, by a part of its name, and both at a time, which are two.
static void test_devices(void **state) {
  (void)state;
  testing_program h = testing_start();
  const program_sequence entry = build(&h, plain, sizeof plain);
  static const char *const names[] = {"0", "AK", NULL};
  executable *e[3];
  int32_t given[COUNT] = {0}, found[COUNT];
  for (int k = 0; k < 3; k++) {
    h.device = names[k];
    testing_check(testing_create(&h, entry, 1, &e[k]));
    testing_check(executable_run(e[k], (void *[]){given}, (void *[]){found}));
  }
  for (int k = 0; k < 3; k++) executable_destroy(e[k]);
  assert_int_equal(fake.live, 0);
  h.device = "1";
  testing_check_error(testing_create(&h, entry, 1, &e[0]), HEDDLE_DEVICE_FAILED, "no Vulkan device called 1 that");
  h.device = "true";
  testing_check_error(testing_create(&h, entry, 1, &e[0]), HEDDLE_DEVICE_FAILED, "no Vulkan device called true that");
  assert_int_equal(fake.live, 0);
  testing_end(&h);
}

// Branches, within each other too, are chosen by the device where it can, in one submission; else by the host.
static void test_branches(void **state) {
  (void)state;
  for (int way = 0; way < 80; way++) {
    testing_program h = testing_start();
    const int32_t numbers[2] = {way / 8 % 5 - 1, way / 4 % 2 ? 1 << 20 : 0xff << 8};
    const program_sequence entry = build_branches(&h, numbers);
    fake.has_predicates = way % 2;
    fake.has_no_timelines = way / 2 % 2;
    fake.is_apart = way / 40;
    int32_t found[COUNT], expected[COUNT];
    for (int i = 0; i < COUNT; i++) expected[i] = 7 * i + 1 + (numbers[0] == 0);
    if (numbers[0] < 0 || numbers[0] > 1) {
      for (int i = 0; i < COUNT && !(numbers[1] >> 16); i++) expected[i] += 2;
      if (numbers[1] >> 16) memmove((char *)expected + 1, (char *)expected + 2 * COUNT, 2 * COUNT - 1);
    }
    testing_check(run_once(&h, entry, found));
    assert_memory_equal(found, expected, sizeof found);
    if (fake.has_predicates && !fake.is_apart) assert_int_equal(fake.submissions, 2);
    else assert_true(fake.submissions > 2);
    assert_int_equal(fake.live, 0);
    testing_end(&h);
  }
}

// A loop that goes on while a byte that its condition makes is not 0, of a number that the condition counts up: the
// device makes several turns at a time, none too many, and asks once before each. In the body the state goes there and
// back, and the byte is overwritten, as it is of use to nobody once it has been looked at.
static void test_loops(void **state) {
  (void)state;
  enum { MOST = 40, AT_A_TIME = 8 };
  for (int way = 0; way < 8 * MOST; way++) {
    testing_program h = testing_start();
    build(&h, plain, sizeof plain);
    fake.has_predicates = way % 2;
    fake.is_apart = way / 2 % 2;
    const int turns = way / 8, in = 0, out = 1, room = 2;
    h.program.temporary_bytes = h.allocations.data[2].bytes = h.slices.data[room].bytes = 16 * COUNT;
    const int x = testing_slice(&h, room, 0, 4 * COUNT), y = testing_slice(&h, room, 512, 4 * COUNT),
              z = testing_slice(&h, room, 1024, 4 * COUNT), flag = testing_slice(&h, room, 1024, 1);
    // What the flag is made of has the last turn's number before it.
    program_thunk *test = testing_step(&h, 0, y, z), *count = testing_step(&h, 0, y, y),
                  *add = testing_step(&h, 0, x, x);
    int32_t numbers[COUNT] = {255 - turns, way / 4 % 2};
    const int constant = testing_constant(&h, numbers, sizeof numbers);
    const int odd_from = testing_slice(&h, room, 4, 7), odd_to = testing_slice(&h, room, 1500, 7),
              other = testing_slice(&h, constant, 4, 1);
    program_thunk *keep = build_copy(&h, odd_from, odd_to), *again = build_copy(&h, odd_to, odd_from),
                  *overwrite = build_copy(&h, other, flag);
    const program_sequence parts[] = {testing_sequence(&h, 2, (program_thunk *[]){test, count}),
                                      testing_sequence(&h, 4, (program_thunk *[]){keep, add, again, overwrite})};
    program_thunk *loop = testing_thunk(&h, THUNK_WHILE, 4, (int[]){x, y, z, flag}, 3, (int[]){x, y, z});
    loop->control = (program_control){flag, true};
    testing_nest(&h, loop, 2, parts);
    program_thunk *steps[] = {testing_step(&h, 0, in, x), build_copy(&h, constant, y), loop, build_copy(&h, x, out)};
    int32_t found[COUNT];
    testing_check(run_once(&h, testing_sequence(&h, 4, steps), found));
    // Bytes 4 to 10, elements 1 and most of 2, stay as they were.
    for (int i = 0; i < COUNT; i++)
      if (i != 1 && i != 2) assert_int_equal(found[i], 7 * i + 1 + turns);
    assert_int_equal(found[1], 8);
    const int submissions = turns == 0 ? 1 : (turns + AT_A_TIME - 1) / AT_A_TIME;
    if (fake.has_predicates && !fake.is_apart) assert_int_equal(fake.submissions, 2 * (2 + submissions));
    assert_int_equal(fake.live, 0);
    testing_end(&h);
  }
}

// Two chains on two queues, which one kernel joins: result = parameter + 4 by the longer one.
static void test_queues(void **state) {
  (void)state;
  for (int streams = 0; streams <= 3; streams++) {
    testing_program h = testing_start();
    build(&h, plain, sizeof plain);
    fake.queue_count = 2;
    h.program.streams = streams;
    const int in = 0, out = 1, room = 2;
    h.program.temporary_bytes = h.allocations.data[2].bytes = h.slices.data[room].bytes = 16 * COUNT;
    int part[4];
    for (int k = 0; k < 4; k++) part[k] = testing_slice(&h, room, 4 * COUNT * k, 4 * COUNT);
    program_thunk *join = testing_step(&h, 0, part[3], out);
    join->read_count = 2;
    join->reads = testing_numbers(&h, 2, (int[]){part[0], part[3]});
    program_thunk *steps[] = {testing_step(&h, 0, in, part[0]),      testing_step(&h, 0, in, part[1]),
                              testing_step(&h, 0, part[1], part[2]), testing_step(&h, 0, part[0], part[0]),
                              testing_step(&h, 0, part[2], part[3]), join};
    int32_t found[COUNT];
    testing_check(run_once(&h, testing_sequence(&h, 6, steps), found));
    for (int i = 0; i < COUNT; i++) assert_int_equal(found[i], 7 * i + 4);
    if (streams == 1) assert_int_equal(fake.queue_submissions[1], 0);
    else assert_true(fake.queue_submissions[0] > 0 && fake.queue_submissions[1] > 0);
    assert_int_equal(fake.live, 0);
    testing_end(&h);
  }
}

// Any program of kernels, through memory that they share, on any number of streams and queues.
static void test_random_programs(void **state) {
  (void)state;
  enum { PARTS = 6, STEPS = 40 };
  uint64_t seed = 1;
  for (int turn = 0; turn < 100; turn++) {
    testing_program h = testing_start();
    build(&h, plain, sizeof plain);
    fake.queue_count = 1 + turn % 2;
    h.program.streams = turn % 5;
    const int in = 0, out = 1, room = 2;
    h.program.temporary_bytes = h.allocations.data[2].bytes = h.slices.data[room].bytes = 4 * COUNT * PARTS;
    int part[PARTS], value[PARTS + 1] = {0};
    program_thunk *steps[PARTS + STEPS + 1];
    for (int k = 0; k < PARTS; k++) {
      part[k] = testing_slice(&h, room, 4 * COUNT * k, 4 * COUNT);
      steps[k] = testing_step(&h, 0, in, part[k]);
      value[k] = 1;
    }
    for (int k = 0; k < STEPS; k++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      const int from = (int)(seed >> 40) % PARTS, to = (int)(seed >> 50) % PARTS;
      steps[PARTS + k] = testing_step(&h, 0, part[from], part[to]);
      value[to] = value[from] + 1;
    }
    steps[PARTS + STEPS] = testing_step(&h, 0, part[0], out);
    int32_t found[COUNT];
    testing_check(run_once(&h, testing_sequence(&h, PARTS + STEPS + 1, steps), found));
    for (int i = 0; i < COUNT; i++) assert_int_equal(found[i], 7 * i + value[0] + 1);
    assert_int_equal(fake.live, 0);
    testing_end(&h);
  }
}

// Pipelines are kept for the next process, on the same device; without a folder, or where files or the driver's calls
// fail, they are made anew.
static void test_pipelines_are_kept(void **state) {
  (void)state;
  char folder[] = "vulkan_test.XXXXXX", command[64];
  assert_non_null(mkdtemp(folder));
  assert_int_equal(setenv("HEDDLE_CACHE", folder, 1), 0);
  static const struct {
    uint32_t vendor;
    int failing;  // call, from that one on which makes the cache
    size_t bytes;
    const char *command;  // behind the run
  } turns[] = {{0, 0, 0, NULL},
               {0, 0, CACHE_BYTES, NULL},
               {0, 0, CACHE_BYTES, "for f in %s/*; do echo more >> $f; done"},
               {0, 0, 0, "rm -r %s"},
               {5, 0, 0, NULL},  // what was kept is said to be another device's
               {0, 0, 0, NULL},
               {0, 1, CACHE_BYTES, "rm -r %s"},
               {0, 1, 0, NULL},
               {0, 9, 0, NULL},  // behind the kernels it asks how much there is
               {0, 10, 0, NULL},
               {0, 0, 0, NULL}};
  enum { BEFORE = 9 };
  for (size_t k = 0; k < sizeof turns / sizeof *turns; k++) {
    testing_program h = testing_start();
    int32_t found[COUNT];
    const program_sequence entry = build(&h, plain, sizeof plain);
    fake.vendor = turns[k].vendor;
    fake.result = VK_ERROR_OUT_OF_HOST_MEMORY;
    if (turns[k].failing) fake.failing = BEFORE + turns[k].failing;
    testing_check(run_once(&h, entry, found));
    assert_int_equal(fake.cache_bytes, turns[k].bytes);
    assert_int_equal(fake.live, 0);
    testing_end(&h);
    if (!turns[k].command) continue;
    snprintf(command, sizeof command, turns[k].command, folder);
    assert_int_equal(system(command), 0);
  }
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
  assert_int_equal(unsetenv("HEDDLE_CACHE"), 0);
}

static void test_missing_functions(void **state) {
  (void)state;
  const int count = (int)(sizeof functions / sizeof *functions) - 3;  // some need not be there
  for (int n = 1; n <= count; n++) {
    testing_program h = testing_start();
    int32_t found[COUNT];
    const program_sequence entry = build(&h, plain, sizeof plain);
    fake.missing = n;
    testing_check_error(run_once(&h, entry, found), HEDDLE_DEVICE_FAILED, "the Vulkan driver lacks vk");
    testing_end(&h);
  }
}

static void test_modules(void **state) {
  (void)state;
  static const struct {
    const uint32_t *words;
    size_t bytes;
    heddle_code code;
    const char *text;
  } cases[] = {{atomic, sizeof atomic, HEDDLE_UNIMPLEMENTED, "needs atomic operations on 64 bits, which fake has not"},
               {unknown, sizeof unknown, HEDDLE_UNIMPLEMENTED, "a capability that is not known"},
               {behind, sizeof behind, HEDDLE_UNIMPLEMENTED, "a capability that is not known"},
               {no_module, sizeof no_module, HEDDLE_INVALID, "is no SPIR-V"},
               {plain, sizeof plain - 1, HEDDLE_INVALID, "is no SPIR-V"},
               {plain, 8, HEDDLE_INVALID, "is no SPIR-V"},
               {NULL, 0, HEDDLE_INVALID, "is no SPIR-V"}};
  for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
    testing_program h = testing_start();
    int32_t found[COUNT];
    testing_check_error(run_once(&h, build(&h, cases[c].words, cases[c].bytes), found), cases[c].code, cases[c].text);
    assert_int_equal(fake.live, 0);
    testing_end(&h);
  }
}

// Of a kernel's forms the first is taken that the device has all for. Workgroups are of 64.
static void test_forms(void **state) {
  (void)state;
  static const uint32_t subgroups[] = {0x07230203, 0x00010300, 0, 10, 0, 2U << 16 | 17, 61, 2U << 16 | 17, 65};
  const size_t numbers_only = sizeof subgroups - 2 * sizeof *subgroups;  // asks for subgroups, and for no exchanges
  static const struct {
    uint32_t size, told;
    bool is_partial;
    const char *without;
  } cases[] = {{0, 0, false, ""},
               {4, 4, false, ""},
               {32, 32, false, ""},
               {64, 64, false, ""},
               {128, 0, false, ""},
               {1, 0, false, ""},
               {32, 0, false, "subgroups"},
               {32, 0, true, ""},
               {32, 32, false, "int8,storage8"},
               {32, 0, false, "int8,subgroups,float64"}};
  for (size_t n = 0; n < 2 * sizeof cases / sizeof *cases; n++) {
    const size_t c = n / 2;
    testing_program h = testing_start();
    int32_t found[COUNT];
    const program_sequence entry = build(&h, subgroups, n % 2 ? numbers_only : sizeof subgroups);
    const program_image forms[] = {image, {PROGRAM_SPIRV, plain, sizeof plain}};
    h.program.images = forms;
    h.program.image_count = 2;
    for (int k = 0; k < h.kernels.size; k++) h.kernels.data[k].forms = 1;
    fake.subgroup_size = cases[c].size;
    fake.has_partial_subgroups = cases[c].is_partial;
    assert_int_equal(setenv("HEDDLE_VULKAN_WITHOUT", cases[c].without, 1), 0);
    testing_check(run_once(&h, entry, found));
    assert_int_equal(fake.told_size, cases[c].told);
    for (int k = 0; k < h.kernels.size; k++) h.kernels.data[k].forms = 2;
    testing_check_error(run_once(&h, entry, found), HEDDLE_INVALID, "has 2 forms that are not there");
    assert_int_equal(fake.live, 0);
    testing_end(&h);
  }
  testing_program h = testing_start();
  int32_t found[COUNT];
  assert_int_equal(setenv("HEDDLE_VULKAN_WITHOUT", "int8,int4", 1), 0);
  testing_check_error(run_once(&h, build(&h, plain, sizeof plain), found), HEDDLE_INVALID,
                      "found int4, wanted float64");
  assert_int_equal(unsetenv("HEDDLE_VULKAN_WITHOUT"), 0);
  assert_int_equal(fake.live, 0);
  testing_end(&h);
}

static void test_many_devices(void **state) {
  (void)state;
  testing_program h = testing_start();
  int32_t found[COUNT];
  const program_sequence entry = build(&h, plain, sizeof plain);
  fake.device_count = 40;
  testing_check(run_once(&h, entry, found));
  text devices = {0};
  testing_check(device_types[TARGET_VULKAN]->list(&devices));
  assert_non_null(strstr(text_cstr(&devices), "vulkan 39: fake"));
  text_free(&devices);
  assert_int_equal(fake.live, 0);
  testing_end(&h);
}

// More than the driver gives at once, and grids and blocks that it does not take.
static void test_limits(void **state) {
  (void)state;
  testing_program h = testing_start();
  int32_t found[COUNT];
  program_sequence entry = build(&h, plain, sizeof plain);
  h.kernels.data[1].block[0] = 256;
  testing_check_error(run_once(&h, entry, found), HEDDLE_UNIMPLEMENTED, "256 threads");
  h.kernels.data[1].block[0] = 64;
  h.kernels.data[1].grid[1] = 70000;
  testing_check_error(run_once(&h, entry, found), HEDDLE_UNIMPLEMENTED, "more than fake takes");
  h.kernels.data[1].grid[1] = 1;
  h.kernels.data[1].grid[2] = 2;
  testing_check_error(run_once(&h, entry, found), HEDDLE_UNIMPLEMENTED, "a grid of 1 x 1 x 2, more than fake takes");
  h.kernels.data[1].grid[2] = 1;
  h.kernels.data[1].grid[0] = INT64_MAX;
  testing_check_error(run_once(&h, entry, found), HEDDLE_UNIMPLEMENTED, "more than fake takes");
  h.kernels.data[1].grid[0] = 1;
  fake.has_other_memory = true;
  testing_check_error(run_once(&h, entry, found), HEDDLE_DEVICE_FAILED, "buffers cannot lie in the memory");
  fake.has_other_memory = false;
  h.allocations.data[2].bytes = 2 << 20;
  h.program.temporary_bytes = 2 << 20;
  testing_check_error(run_once(&h, entry, found), HEDDLE_OUT_OF_MEMORY, "more than fake takes at once");
  assert_int_equal(fake.live, 0);
  testing_end(&h);
}

// --- without memory

// Which allocation fails; 0: none.
static int allocations_left;

static void *take_memory(void *user, size_t bytes, size_t alignment) {
  (void)user;
  void *memory;
  const bool fails = allocations_left == 1;
  if (allocations_left > 0) allocations_left--;
  if (fails) return NULL;
  return posix_memalign(&memory, alignment, bytes) == 0 ? memory : NULL;
}

static void give_memory(void *user, void *memory, size_t bytes, size_t alignment) {
  (void)user;
  (void)bytes;
  (void)alignment;
  free(memory);
}

typedef struct guarded_run {
  testing_program *program;
  program_sequence entry;
  int32_t found[COUNT];
} guarded_run;

static heddle_status run_guarded(void *argument) {
  guarded_run *r = argument;
  return run_once(r->program, r->entry, r->found);
}

// Whichever allocation fails, the device goes back and can be opened again.
static void test_no_memory(void **state) {
  (void)state;
  char folder[] = "vulkan_test.XXXXXX", command[64];
  assert_non_null(mkdtemp(folder));
  assert_int_equal(setenv("HEDDLE_CACHE", folder, 1), 0);
  for (int way = 0; way < 2; way++) {
    bool goes_on = true;
    for (int n = 1; goes_on; n++) {
      testing_program h = testing_start();
      guarded_run r = {.program = &h, .entry = build(&h, plain, sizeof plain)};
      fake.has_no_int64 = way == 1;
      allocations_left = n;
      heddle_status s = guard_run(run_guarded, NULL, &r);
      goes_on = allocations_left == 0;
      allocations_left = 0;
      const heddle_code wanted = way == 1 ? HEDDLE_DEVICE_FAILED : HEDDLE_OK;
      if (goes_on && heddle_status_code(s) != wanted) assert_int_equal(heddle_status_code(s), HEDDLE_OUT_OF_MEMORY);
      if (!goes_on) assert_int_equal(heddle_status_code(s), wanted);
      heddle_status_free(s);
      assert_int_equal(fake.live, 0);
      testing_end(&h);
    }
  }
  snprintf(command, sizeof command, "rm -r %s", folder);
  assert_int_equal(system(command), 0);
  assert_int_equal(unsetenv("HEDDLE_CACHE"), 0);
}

// A child has no device, says so before it touches the memory of its parent's, and frees what it has of it on its own.
static void test_fork(void **state) {
  (void)state;
  testing_program h = testing_start();
  const program_sequence entry = build(&h, plain, sizeof plain);
  int32_t given[COUNT] = {0}, found[COUNT];
  executable *e, *other;
  testing_check(testing_create(&h, entry, 1, &e));
  testing_check(executable_run(e, (void *[]){given}, (void *[]){found}));
  const pid_t child = fork();
  if (child == 0) {
    const int calls = fake.calls, live = fake.live;
    const char words[] = "is open in the process that forked this one";
    testing_check_error(executable_run(e, (void *[]){given}, (void *[]){found}), HEDDLE_DEVICE_FAILED, words);
    testing_check_error(testing_create(&h, entry, 1, &other), HEDDLE_DEVICE_FAILED, words);
    text devices = {0};
    testing_check_error(device_types[TARGET_VULKAN]->list(&devices), HEDDLE_DEVICE_FAILED, words);
    executable_destroy(e);
    _exit(fake.calls == calls && fake.live == live ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  testing_check(executable_run(e, (void *[]){given}, (void *[]){found}));
  executable_destroy(e);
  assert_int_equal(fake.live, 0);
  testing_end(&h);
}

int main(void) {
  assert_true(host_choose(&(host_source){take_memory, give_memory, NULL}));
  vulkan_driver_replace(fake_GetInstanceProcAddr);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_run),
      cmocka_unit_test(test_barriers),
      cmocka_unit_test(test_failing_calls),
      cmocka_unit_test(test_missing_functions),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_recording_again),
      cmocka_unit_test(test_modules),
      cmocka_unit_test(test_forms),
      cmocka_unit_test(test_many_devices),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_no_memory),
      cmocka_unit_test(test_fork),
      cmocka_unit_test(test_failing_calls_with_fences),
      cmocka_unit_test(test_waiting_in_vain),
      cmocka_unit_test(test_devices),
      cmocka_unit_test(test_queues),
      cmocka_unit_test(test_branches),
      cmocka_unit_test(test_loops),
      cmocka_unit_test(test_memory_apart),
      cmocka_unit_test(test_pipelines_are_kept),
      cmocka_unit_test(test_random_programs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
