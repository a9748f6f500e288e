// Every bytecode of the conformance corpus (../shared/corpus beside the source tree, where it exists) reads, and comes
// back equal from print and text reader in both styles. Its text is of another export, in which JAX orders constants
// and the uses of small functions differently for every third program: the others must be equal to it.
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "base/arena_testing.h"
#include "base/file.h"
#include "mlir/ir_compare.h"
#include "mlir/print.h"
#include "mlir/text.h"
#include "vhlo/bytecode.h"
#include "vhlo/vhlo_operation.h"

enum { SHOWN_FAILURES = 10 };

typedef struct tally {
  int passed, failed, equal;
} tally;

static heddle_status check_style(arena *a, const ir_module *m, bool is_generic) {
  ir_module **again;
  int count;
  text printed = {0};
  mlir_print_module(&printed, m, &(mlir_print_options){.generic = is_generic});
  heddle_status status = mlir_text_read(a, "printed", text_view(&printed), &count, &again);
  if (status_is_ok(status)) status = ir_compare(m, again[0], vhlo_operation_is_default);
  text_free(&printed);
  return status;
}

static bool equals_text(arena *a, const ir_module *m, const char *path) {
  str source;
  ir_module **modules;
  int count;
  heddle_status status = file_read(a, path, &source);
  if (status_is_ok(status)) status = mlir_text_read(a, path, source, &count, &modules);
  if (status_is_ok(status)) status = ir_compare(m, modules[0], vhlo_operation_is_default);
  bool is_equal = status_is_ok(status);
  heddle_status_free(status);
  return is_equal;
}

static heddle_status check_case(arena *a, const char *folder, tally *t) {
  const char *path = arena_printf(a, "%s/module.mlirbc", folder);
  str bytes;
  ir_module *m;
  TRY(file_read(a, path, &bytes));
  TRY(bytecode_read(a, path, bytes, &m));
  TRY(check_style(a, m, true));
  TRY(check_style(a, m, false));
  t->equal += equals_text(a, m, arena_printf(a, "%s/module.mlir", folder));
  return status_ok();
}

static void check_folder(const char *folder, tally *t) {
  arena *a = arena_create();
  heddle_status status = check_case(a, folder, t);
  bool is_ok = status_is_ok(status);
  if (!is_ok && t->failed < SHOWN_FAILURES) print_error("%s: %s", folder, heddle_status_message(status));
  t->passed += is_ok;
  t->failed += !is_ok;
  heddle_status_free(status);
  arena_destroy(a);
}

static void test_corpus(void **state) {
  const char *corpus = HEDDLE_SOURCE_DIR "/../shared/corpus/jax";
  tally t = {0};
  DIR *d = opendir(corpus);
  if (!d) {
    print_message("skipped: there is no %s\n", corpus);
    skip();
    return;
  }
  for (const struct dirent *entry; (entry = readdir(d));) {
    arena_reset(*state);
    const char *folder = arena_printf(*state, "%s/%s", corpus, entry->d_name);
    if (access(arena_printf(*state, "%s/module.mlirbc", folder), R_OK) == 0) check_folder(folder, &t);
  }
  closedir(d);
  print_message("%d programs passed, %d failed, %d equal their text\n", t.passed, t.failed, t.equal);
  assert_int_equal(t.failed, 0);
  assert_true(t.passed > 0 && t.equal > t.passed / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_corpus)};
  return cmocka_run_group_tests(tests, arena_testing_set_up, arena_testing_tear_down);
}
