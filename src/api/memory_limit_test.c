// What a refused program is said to need at the least is what it needs: with a limit of so many bytes it is planned,
// with one byte less it is refused. No plan takes less than what is said to be taken by every tiling. Over the programs
// of tests.
#include <stdlib.h>

#include "api/compile.h"
#include "base/testing.h"
#include "hlo/text.h"

static struct {
  int exact, wrong, bounded;
} seen;

// The number behind the words; 0: they are not there.
static int64_t number_behind(const char *words, const char *text) {
  const char *at = strstr(text, words);
  return at ? strtoll(at + strlen(words), NULL, 10) : 0;
}

static heddle_status plan_with(const module *m, memory_level level, int64_t bytes) {
  arena *a = arena_create();
  text tiling = {0};
  compile_options options = {.exact = true, .threads = 1, .tiling = &tiling};
  compile_times times = {0};
  lhlo_program *plan;
  options.limit.levels[level].bytes = bytes;
  heddle_status s = compile_plan(a, m, &options, &times, NULL, &plan);
  const lhlo_program *p = plan;
  if (status_is_ok(s)) {
    const int64_t taken = level == MEMORY_DRAM ? p->footprint_bytes : p->step_bytes;
    const int64_t bound = number_behind("; no tiling takes less than ", text_cstr(&tiling));
    assert_true(taken <= bytes && taken >= bound);
    seen.bounded += bound > 0;
  }
  text_free(&tiling);
  arena_destroy(a);
  return s;
}

// Bytes that the error says are needed; 0: it does not say so exactly.
static int64_t needed_of(heddle_status s) { return number_behind(" needs at least ", status_brief(s)); }

static void check_level(const char *path, const module *m, memory_level level) {
  heddle_status s = plan_with(m, level, 1);
  const int64_t needed = heddle_status_code(s) == HEDDLE_OUT_OF_MEMORY ? needed_of(s) : 0;
  heddle_status_free(s);
  if (needed <= 1) return;
  heddle_status enough = plan_with(m, level, needed), less = plan_with(m, level, needed - 1);
  seen.exact++;
  if (!status_is_ok(enough) || heddle_status_code(less) != HEDDLE_OUT_OF_MEMORY) {
    print_error("%s: %s: %lld bytes are said to be needed: %s; one less: %s\n", path, memory_level_name(level),
                (long long)needed, status_is_ok(enough) ? "fits" : status_brief(enough),
                status_is_ok(less) ? "fits" : status_brief(less));
    seen.wrong++;
  }
  heddle_status_free(enough);
  heddle_status_free(less);
}

typedef struct limited_program {
  const char *name;
  memory_level level;
} limited_program;

static const limited_program programs[] = {{"batches", MEMORY_DRAM}, {"estimates", MEMORY_DRAM},
                                           {"levels", MEMORY_DRAM},  {"refused", MEMORY_DRAM},
                                           {"refused", MEMORY_L2},   {"sums", MEMORY_L2}};

static void test_programs(void **state) {
  (void)state;
  for (size_t k = 0; k < sizeof programs / sizeof *programs; k++) {
    arena *a = arena_create();
    const char *path = arena_printf(a, HEDDLE_SOURCE_DIR "/test/supertile/%s.hlo", programs[k].name);
    module *m;
    assert_true(status_is_ok(hlo_parse_file(a, path, &m)));
    check_level(path, m, programs[k].level);
    arena_destroy(a);
  }
  print_message("%d limits known to the byte\n", seen.exact);
  assert_int_equal(seen.wrong, 0);
  assert_true(seen.bounded >= 4);
  assert_int_equal(seen.exact, sizeof programs / sizeof *programs);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs)};
  return cmocka_run_group_tests_name("api/memory_limit", tests, NULL, NULL);
}
