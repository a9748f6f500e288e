// What passes say of their changes is true: of all modules of the tests and of the conformance corpus, those that a
// pass has left alone print as they did, and those that it has changed do not.
#include <ftw.h>

#include "base/testing.h"
#include "base/vec.h"
#include "hlo/text.h"
#include "opt/pass.h"

static struct {
  int modules, runs, changes, wrong;
} seen;

static text printed(const module *m) {
  text t = {0};
  hlo_print(&t, m, HLO_PRINT_FULL);
  return t;
}

// False where the pass refuses the module.
static bool check_pass(const char *path, const pass *p, module *m) {
  text before = printed(m);
  pass_context context = {.scratch = arena_create()};
  heddle_status s = p->run(&context, m);
  if (status_is_ok(s)) s = opt_sort(context.scratch, m);
  const bool is_done = status_is_ok(s);
  if (is_done) {
    text after = printed(m);
    const bool differs = !str_equal(text_view(&before), text_view(&after));
    if (differs != context.changed) {
      print_error("%s: %s says that it has changed %s\nbefore\n%s\nafter\n%s\n", path, p->name,
                  context.changed ? "something" : "nothing", text_cstr(&before), text_cstr(&after));
      seen.wrong++;
    }
    seen.runs++;
    seen.changes += differs;
    text_free(&after);
  }
  heddle_status_free(s);
  arena_destroy(context.scratch);
  text_free(&before);
  return is_done;
}

static int check_file(const char *path, const struct stat *about, int kind, struct FTW *where) {
  (void)about, (void)where;
  const size_t size = strlen(path);
  if (kind != FTW_F || size < 4 || strcmp(path + size - 4, ".hlo") != 0) return 0;
  arena *a = arena_create();
  module *m = NULL;
  heddle_status s = hlo_parse_file(a, path, &m);
  if (status_is_ok(s)) s = opt_sort(a, m);
  const bool is_read = status_is_ok(s);
  heddle_status_free(s);
  for (int i = 0; is_read && opt_passes[i]; i++)
    if (!check_pass(path, opt_passes[i], m)) break;
  seen.modules += is_read;
  arena_destroy(a);
  return 0;
}

static void check_folder(const char *folder) {
  seen.modules = seen.runs = seen.changes = seen.wrong = 0;
  nftw(folder, check_file, 16, 0);
  print_message("%d modules, %d runs of passes, %d changed something\n", seen.modules, seen.runs, seen.changes);
  assert_int_equal(seen.wrong, 0);
}

static void test_modules_of_tests(void **state) {
  (void)state;
  check_folder(HEDDLE_SOURCE_DIR "/test");
  assert_true(seen.modules > 100 && seen.changes > 200);
}

// Not part of the source tree: where it is missing there is nothing to walk.
static void test_corpus(void **state) {
  (void)state;
  check_folder(HEDDLE_SOURCE_DIR "/../shared/corpus");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modules_of_tests), cmocka_unit_test(test_corpus)};
  return cmocka_run_group_tests_name("opt/changes", tests, NULL, NULL);
}
