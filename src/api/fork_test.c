// Children of fork run and compile, whatever their parents did before and were doing; and all that is large runs on the
// pool's threads, the libraries' work too.
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/pool.h"
#include "base/testing.h"
#include "heddle/heddle.h"

enum { THREADS = 4, CHILD_SECONDS = 60, N = 256 * 256 };

// Kernels, a matrix product, a convolution, a transform and a sort, all large enough for several threads.
static const char source[] =
    "HloModule m\n"
    "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT }\n"
    "ENTRY e { x = f32[256,256] parameter(0)\n"
    "d = f32[256,256] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "t = f32[256,256] tanh(d)\n"
    "i = f32[4,64,64,4] reshape(t)\n"
    "k = f32[256] slice(v), slice={[0:256]}\n"
    "v = f32[65536] reshape(x)\n"
    "w = f32[4,4,4,4] reshape(k)\n"
    "c = f32[4,64,64,4] convolution(i, w), window={size=4x4 pad=1_2x1_2}, dim_labels=b01f_01io->b01f\n"
    "r = f32[256,256] reshape(c)\n"
    "s = f32[256,256] sort(r), dimensions={1}, to_apply=less\n"
    "f = c64[256,129] fft(r), fft_type=RFFT, fft_length={256}\n"
    "a = f32[256,129] abs(f)\n"
    "ROOT o = (f32[256,256], f32[256,129]) tuple(s, a) }\n";

typedef struct outcome {
  float sorted[N], lines[256 * 129];
} outcome;

static _Alignas(64) float input[N];
static outcome wanted;

static bool compile(heddle_program **p) {
  heddle_status s =
      heddle_compile(source, sizeof source - 1, "test.hlo",
                     &(heddle_compile_options){HEDDLE_SIZED(heddle_compile_options), .threads = THREADS}, p);
  if (heddle_status_code(s) == HEDDLE_OK) return true;
  fputs(heddle_status_message(s), stderr);
  heddle_status_free(s);
  return false;
}

static bool runs_right(heddle_program *p) {
  outcome *found = malloc(sizeof *found);
  const void *inputs[] = {input};
  void *outputs[] = {found->sorted, found->lines};
  heddle_status s = heddle_program_run(p, inputs, outputs);
  const bool is_right = heddle_status_code(s) == HEDDLE_OK && memcmp(found, &wanted, sizeof wanted) == 0;
  heddle_status_free(s);
  free(found);
  return is_right;
}

static bool compiles_and_runs(heddle_program *unused) {
  (void)unused;
  heddle_program *p;
  if (!compile(&p)) return false;
  const bool is_right = runs_right(p) && runs_right(p);
  heddle_program_free(p);
  return is_right;
}

// What `does` says in a child; a child that is stuck is killed by its alarm.
static bool in_child(bool (*does)(heddle_program *p), heddle_program *p) {
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    alarm(CHILD_SECONDS);
    _exit(does(p) ? 0 : 1);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) fail_msg("the child ended by signal %d", WTERMSIG(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool runs_twice(heddle_program *p) { return runs_right(p) && runs_right(p); }

static bool has_grandchild(heddle_program *p) {
  return runs_right(p) && in_child(runs_twice, p) && runs_right(p) && in_child(compiles_and_runs, p);
}

static bool compile_only(heddle_program *unused) {
  (void)unused;
  heddle_program *p;
  if (!compile(&p)) return false;
  heddle_program_free(p);
  return true;
}

// --- while others are at work

typedef struct other {
  heddle_program *program;  // that it runs; null: it compiles
  atomic_bool ends, is_wrong;
  pthread_t thread;
} other;

static void *work(void *argument) {
  other *o = argument;
  while (!o->ends)
    if (!(o->program ? runs_right(o->program) : compiles_and_runs(NULL))) o->is_wrong = true;
  return NULL;
}

// The first test: nothing has been compiled or run here.
static void test_before_any_run(void **state) {
  (void)state;
  for (int i = 0; i < N; i++) input[i] = (float)((i * 37) % 101) / 128 - 0.375f;
  assert_true(in_child(compile_only, NULL));
}

// Results have the same bits in every process.
static void test_after_runs(void **state) {
  heddle_program *p = *state;
  assert_true(in_child(runs_twice, p));
  for (int round = 0; round < 3; round++) {
    assert_true(runs_right(p));
    assert_true(in_child(runs_twice, p));
    assert_true(in_child(compiles_and_runs, p));
  }
  assert_true(in_child(has_grandchild, p));
  assert_true(runs_right(p));
}

static void fork_beside(heddle_program *p, heddle_program *of_other, int forks) {
  other o = {.program = of_other};
  assert_int_equal(pthread_create(&o.thread, NULL, work, &o), 0);
  for (int k = 0; k < forks; k++) {
    assert_true(in_child(runs_twice, p));
    if (k % 4 == 0) assert_true(in_child(compiles_and_runs, p));
    assert_true(runs_right(p));
  }
  o.ends = true;
  assert_int_equal(pthread_join(o.thread, NULL), 0);
  assert_false(o.is_wrong);
}

static void test_beside_a_run(void **state) { fork_beside(*state, *state, 12); }

static void test_beside_a_compilation(void **state) { fork_beside(*state, NULL, 12); }

// A thread that comes and goes: its child has neither its parent's first thread nor any of the pool.
static void *fork_here(void *p) { return in_child(runs_twice, p) && runs_right(p) ? p : NULL; }

static void test_from_another_thread(void **state) {
  pthread_t thread;
  void *result;
  assert_int_equal(pthread_create(&thread, NULL, fork_here, *state), 0);
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_ptr_equal(result, *state);
}

static int set_up(void **state) {
  heddle_program *p;
  if (!compile(&p)) return 1;
  const void *inputs[] = {input};
  void *outputs[] = {wanted.sorted, wanted.lines};
  heddle_status s = heddle_program_run(p, inputs, outputs);
  *state = p;
  return heddle_status_code(s) != HEDDLE_OK;
}

static int tear_down(void **state) {
  heddle_program_free(*state);
  return 0;
}

#define WITH_PROGRAM(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

// Kernels, products, convolutions, transforms and sorts have run: behind them are no threads but the pool's.
static void test_one_pool(void **state) {
  assert_true(runs_right(*state));
  DIR *tasks = opendir("/proc/self/task");
  assert_non_null(tasks);
  int count = 0;
  for (const struct dirent *e; (e = readdir(tasks));) count += e->d_name[0] != '.';
  closedir(tasks);
  assert_int_equal(pool_started(), THREADS - 1);
  assert_int_equal(count, 1 + pool_started());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_before_any_run),   WITH_PROGRAM(test_after_runs),          WITH_PROGRAM(test_beside_a_run),
      WITH_PROGRAM(test_beside_a_compilation), WITH_PROGRAM(test_from_another_thread), WITH_PROGRAM(test_one_pool),
  };
  return cmocka_run_group_tests_name("api/fork", tests, NULL, NULL);
}
