// Every MLIR text of the conformance corpus (../shared/corpus beside the source tree, where it exists) reads.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "import/mlir_text.h"

enum { SHOWN_FAILURES = 10 };

typedef struct tally {
  int passed, failed;
} tally;

static heddle_status check_text(arena *a, const char *path) {
  str source;
  ir_module **modules;
  int count;
  TRY(file_read(a, path, &source));
  TRY(mlir_text_read(a, path, source, &count, &modules));
  const ir_operation *top = modules[0]->operation;
  if (top->op != IR_OP_MODULE || !top->regions[0]->blocks.data[0]->operations.size)
    return status_error(HEDDLE_INTERNAL, "%s: a module without operations", path);
  return status_ok();
}

static void check_file(const char *path, tally *t) {
  arena *a = arena_create();
  heddle_status status = check_text(a, path);
  bool is_ok = status_is_ok(status);
  if (!is_ok && t->failed < SHOWN_FAILURES) print_error("%s", heddle_status_message(status));
  t->passed += is_ok;
  t->failed += !is_ok;
  heddle_status_free(status);
  arena_destroy(a);
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && strcmp(s + n - m, end) == 0;
}

// The folder's .mlir files and those of the folders below it.
static void check_folder(arena *a, const char *folder, int depth, tally *t) {
  DIR *d = opendir(folder);
  if (!d) return;
  for (const struct dirent *entry; (entry = readdir(d));) {
    if (entry->d_name[0] == '.') continue;
    const char *path = arena_printf(a, "%s/%s", folder, entry->d_name);
    if (ends_with(path, ".mlir")) check_file(path, t);
    else if (depth > 0) check_folder(a, path, depth - 1, t);
  }
  closedir(d);
}

static void test_corpus(void **state) {
  const char *corpus = HEDDLE_SOURCE_DIR "/../shared/corpus";
  arena *a = *state;
  tally t = {0};
  if (access(corpus, R_OK) != 0) {
    print_message("skipped: there is no %s\n", corpus);
    skip();
  }
  check_folder(a, corpus, 2, &t);
  print_message("%d texts of the corpus read, %d failed\n", t.passed, t.failed);
  assert_int_equal(t.failed, 0);
  assert_true(t.passed > 0);
}

static int make_arena(void **state) {
  *state = arena_create();
  return 0;
}

static int drop_arena(void **state) {
  arena_destroy(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_corpus)};
  return cmocka_run_group_tests(tests, make_arena, drop_arena);
}
