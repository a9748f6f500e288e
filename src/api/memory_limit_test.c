// What a refused program is said to need at the least is what it needs: with a limit of so many bytes it is planned,
// with one byte less it is refused. Over the programs of tests.
#include <ftw.h>
#include <stdlib.h>

#include "api/compile.h"
#include "base/testing.h"
#include "hlo/text.h"

static struct {
  int programs, exact, wrong;
} seen;

static heddle_status plan_with(const module *m, memory_level level, int64_t bytes) {
  arena *a = arena_create();
  compile_options options = {.exact = true, .threads = 1};
  compile_times times = {0};
  lhlo_program *plan;
  options.limit.levels[level].bytes = bytes;
  heddle_status s = compile_plan(a, m, &options, &times, NULL, &plan);
  const lhlo_program *p = plan;
  if (status_is_ok(s)) assert_true((level == MEMORY_DRAM ? p->footprint_bytes : p->step_bytes) <= bytes);
  arena_destroy(a);
  return s;
}

// Bytes that the error says are needed; 0: it does not say so exactly.
static int64_t needed_of(heddle_status s) {
  static const char words[] = " needs at least ";
  const char *at = strstr(status_brief(s), words);
  return at ? strtoll(at + sizeof words - 1, NULL, 10) : 0;
}

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

static int check_file(const char *path, const struct stat *about, int kind, struct FTW *where) {
  (void)about, (void)where;
  const size_t size = strlen(path);
  if (kind != FTW_F || size < 4 || strcmp(path + size - 4, ".hlo") != 0) return 0;
  arena *a = arena_create();
  module *m;
  heddle_status s = hlo_parse_file(a, path, &m);
  if (status_is_ok(s)) {
    seen.programs++;
    check_level(path, m, MEMORY_DRAM);
    if (seen.programs % 4 == 0) check_level(path, m, MEMORY_L2);  // takes longer
  }
  heddle_status_free(s);
  arena_destroy(a);
  return 0;
}

static void test_programs(void **state) {
  (void)state;
  nftw(HEDDLE_SOURCE_DIR "/test/supertile", check_file, 16, 0);
  nftw(HEDDLE_SOURCE_DIR "/test/fuse", check_file, 16, 0);
  nftw(HEDDLE_SOURCE_DIR "/examples", check_file, 16, 0);
  print_message("%d programs, %d limits known to the byte\n", seen.programs, seen.exact);
  assert_int_equal(seen.wrong, 0);
  assert_true(seen.exact > 25);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_programs)};
  return cmocka_run_group_tests_name("api/memory_limit", tests, NULL, NULL);
}
