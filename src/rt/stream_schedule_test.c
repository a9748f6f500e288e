// Schedules of streams against what they promise: whoever touches the same bytes runs as listed, on any number of
// streams, and who does not runs side by side.
#include "rt/stream_schedule.h"

#include "rt/conflicts.h"
#include "rt/schedule_print.h"
#include "rt/testing.h"

enum { LINES = 12, LINE_BYTES = 64 };

static uint64_t seed;

static int draw(int below) {
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (int)((seed >> 33) % (uint64_t)below);
}

// Kernels and, some of them, sorts, which read two stretches of lines each and write one.
static program_sequence random_sequence(testing_program *h, int count) {
  const int room = testing_memory(h, PROGRAM_TEMPORARY, 0, (int64_t)LINES * LINE_BYTES);
  program_thunk **thunks = arena_array(h->arena, program_thunk *, count);
  for (int i = 0; i < count; i++) {
    int slices[3];
    for (int k = 0; k < 3; k++) {
      const int first = draw(LINES), lines = 1 + draw(first == LINES - 1 ? 1 : 2);
      slices[k] = testing_slice(h, room, (int64_t)first * LINE_BYTES, (int64_t)lines * LINE_BYTES);
    }
    thunks[i] = testing_thunk(h, draw(8) ? THUNK_KERNEL : THUNK_SORT, 1 + draw(2), slices, 1, slices + 2);
  }
  h->program.slices = h->slices.data;
  return testing_sequence(h, count, thunks);
}

// What a batch comes behind: itself, what it waits for, and what came before on its stream. The host comes behind what
// it has waited for, and all that is listed later comes behind the host.
static bool *find_order(arena *a, const stream_schedule *s) {
  bool *before = arena_array(a, bool, s->batch_count * s->batch_count);
  int host = -1;
  for (int i = 0; i < s->batch_count; i++) {
    const stream_batch *b = &s->batches[i];
    bool *row = &before[i * s->batch_count];
    int behind[PROGRAM_MOST_STREAMS + 2], count = 0;
    for (int k = 0; k < b->wait_count; k++) behind[count++] = b->waits[k];
    if (host >= 0) behind[count++] = host;
    for (int k = i - 1, found = 0; k >= 0 && !found && b->stream != STREAM_HOST; k--)
      if ((found = s->batches[k].stream == b->stream)) behind[count++] = k;
    for (int k = 0; k < count; k++)
      for (int j = 0; j < i; j++) row[j] = row[j] || before[behind[k] * s->batch_count + j];
    row[i] = true;
    if (b->stream == STREAM_HOST) host = i;
  }
  return before;
}

static void check(testing_program *h, const program_sequence *of, const stream_schedule *s, int streams) {
  int *batch = arena_array(h->arena, int, of->count), seen = 0;
  const bool *before = find_order(h->arena, s);
  for (int i = 0; i < s->batch_count; i++) {
    const stream_batch *b = &s->batches[i];
    assert_in_range(b->stream + 1, 0, streams);
    for (int k = 0; k < b->wait_count; k++) {
      assert_in_range(b->waits[k], 0, i - 1);
      assert_int_not_equal(s->batches[b->waits[k]].stream, b->stream);
      assert_int_not_equal(s->batches[b->waits[k]].stream, STREAM_HOST);
    }
    for (int k = 0; k < b->count; k++) {
      assert_int_equal(of->thunks[b->thunks[k]]->kind == THUNK_KERNEL, b->stream != STREAM_HOST);
      if (k) assert_true(b->thunks[k] > b->thunks[k - 1]);
      batch[b->thunks[k]] = i;
      seen++;
    }
  }
  assert_int_equal(seen, of->count);
  for (int i = 0; i < of->count; i++)
    for (int k = 0; k < i; k++) {
      const touched later = touched_by(of->thunks[i]), earlier = touched_by(of->thunks[k]);
      if (conflicts_between(&h->program, &later, &earlier))
        assert_true(batch[i] == batch[k] || before[batch[i] * s->batch_count + batch[k]]);
    }
}

static void test_random_sequences(void **state) {
  (void)state;
  for (int turn = 0; turn < 400; turn++) {
    testing_program h = testing_start();
    seed = (uint64_t)turn;
    // Some are longer than the window within which launches are compared.
    const program_sequence of = random_sequence(&h, turn % 40 == 0 ? 700 : 1 + draw(60));
    for (int streams = 1; streams <= PROGRAM_MOST_STREAMS; streams += 1 + draw(6)) {
      stream_schedule made;
      stream_schedule_make(h.arena, &h.program, &of, &(device_abilities){streams, false}, &made);
      check(&h, &of, &made, streams);
    }
    testing_end(&h);
  }
}

// Two chains that meet: each has a stream, and who joins them waits for one.
static void test_chains(void **state) {
  (void)state;
  testing_program h = testing_start();
  int line[6];
  const int room = testing_memory(&h, PROGRAM_TEMPORARY, 0, 6 * LINE_BYTES), kernel = testing_kernel(&h, NULL, 2);
  for (int k = 0; k < 6; k++) line[k] = testing_slice(&h, room, (int64_t)k * LINE_BYTES, LINE_BYTES);
  program_thunk *steps[] = {testing_step(&h, kernel, line[0], line[1]),
                            testing_step(&h, kernel, line[2], line[3]),
                            testing_step(&h, kernel, line[1], line[1]),
                            testing_step(&h, kernel, line[3], line[3]),
                            testing_thunk(&h, THUNK_KERNEL, 2, (int[]){line[1], line[3]}, 1, &line[4]),
                            testing_thunk(&h, THUNK_SORT, 1, &line[4], 1, &line[5])};
  const char *names[] = {"a", "b", "c", "d", "join", "last"};
  for (int k = 0; k < 6; k++) steps[k]->name = names[k];
  h.program.device = TARGET_VULKAN;
  h.program.entry = testing_sequence(&h, 6, steps);
  h.program.allocations = h.allocations.data;
  h.program.allocation_count = h.allocations.size;
  h.program.slices = h.slices.data;
  h.program.slice_count = h.slices.size;
  h.program.kernels = h.kernels.data;
  h.program.kernel_count = h.kernels.size;
  steps[4]->launch = (program_launch){0, 2, testing_numbers(&h, 2, (int[]){line[1], line[4]})};
  static const char *const expected[] = {
      "schedule of by hand for 2 streams of vulkan\n"
      "  0 stream 0: kernel a, kernel c\n"
      "  1 stream 1: kernel b, kernel d\n"
      "  2 stream 0 behind 1: kernel join\n"
      "  3 host behind 2: sort last\n",
      "schedule of by hand for 1 streams of vulkan\n"
      "  0 stream 0: kernel a, kernel b, kernel c, kernel d, kernel join\n"
      "  1 host behind 0: sort last\n"};
  for (int asked = 0; asked < 2; asked++) {
    text t = {0};
    h.program.streams = asked;
    testing_check(schedule_print(&t, &h.program, 1));
    assert_string_equal(text_cstr(&t), expected[asked]);
    text_free(&t);
  }
  testing_end(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_random_sequences),
      cmocka_unit_test(test_chains),
  };
  return cmocka_run_group_tests_name("rt/stream_schedule", tests, NULL, NULL);
}
