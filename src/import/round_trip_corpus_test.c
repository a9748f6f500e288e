// Through StableHLO text and back, for the conformance corpus (../shared/corpus beside the source tree, where it
// exists): what is read from MLIR text prints to a text that reads the same, in both forms, and HLO comes back
// from StableHLO as a module that verifies.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "hlo/text.h"
#include "import/hlo_to_stablehlo.h"
#include "import/ir_compare.h"
#include "import/mlir_print.h"
#include "import/mlir_text.h"
#include "import/stablehlo_to_hlo.h"

enum { SHOWN_FAILURES = 10 };

typedef heddle_status (*check_fn)(arena *a, const char *path);

typedef struct survey {
  const char *extension;
  check_fn check;
  int passed, failed;
} survey;

static heddle_status read_text(arena *a, str source, int *count, ir_module ***modules) {
  return mlir_text_read(a, "printed", source, count, modules);
}

static heddle_status check_print(arena *a, const ir_module *m, bool generic) {
  text out = {0};
  ir_module **again;
  int count;
  mlir_print_module(&out, m, &(mlir_print_options){.generic = generic});
  heddle_status status = read_text(a, text_view(&out), &count, &again);
  if (status_is_ok(status)) status = ir_compare(m, again[0], NULL);
  text_free(&out);
  return status;
}

static heddle_status check_mlir(arena *a, const char *path) {
  str source;
  ir_module **modules;
  int count;
  TRY(file_read(a, path, &source));
  TRY(mlir_text_read(a, path, source, &count, &modules));
  for (int k = 0; k < 2 * count; k++) TRY(check_print(a, modules[k / 2], k % 2 != 0));
  return status_ok();
}

// Opcodes that StableHLO has no operation for are no failures of the way there.
static heddle_status check_hlo(arena *a, const char *path) {
  module *m, *back;
  ir_module *converted, **modules;
  int count;
  text out = {0};
  TRY(hlo_parse_file(a, path, &m));
  heddle_status status = hlo_to_stablehlo(a, m, &converted);
  if (heddle_status_code(status) == HEDDLE_UNIMPLEMENTED) {
    heddle_status_free(status);
    return status_ok();
  }
  TRY(status);
  mlir_print_module(&out, converted, NULL);
  status = read_text(a, text_view(&out), &count, &modules);
  if (status_is_ok(status))
    status = stablehlo_to_hlo(a, modules[0], ir_module_function(modules[0], STR("main")), NULL, &back);
  if (status_is_ok(status)) status = module_verify(back);
  text_free(&out);
  return status;
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && strcmp(s + n - m, end) == 0;
}

static void check_file(const char *path, survey *s) {
  arena *a = arena_create();
  heddle_status status = s->check(a, path);
  bool is_ok = status_is_ok(status);
  if (!is_ok && s->failed < SHOWN_FAILURES) print_error("%s: %s", path, heddle_status_message(status));
  s->passed += is_ok;
  s->failed += !is_ok;
  heddle_status_free(status);
  arena_destroy(a);
}

static void check_folder(arena *a, const char *folder, int depth, survey *s) {
  DIR *d = opendir(folder);
  if (!d) return;
  for (const struct dirent *entry; (entry = readdir(d));) {
    if (entry->d_name[0] == '.') continue;
    const char *path = arena_printf(a, "%s/%s", folder, entry->d_name);
    if (ends_with(path, s->extension)) check_file(path, s);
    else if (depth > 0) check_folder(a, path, depth - 1, s);
  }
  closedir(d);
}

static void run_survey(survey *s) {
  const char *corpus = HEDDLE_SOURCE_DIR "/../shared/corpus";
  if (access(corpus, R_OK) != 0) {
    print_message("skipped: there is no %s\n", corpus);
    skip();
  }
  arena *a = arena_create();
  check_folder(a, corpus, 2, s);
  arena_destroy(a);
  print_message("%d files *%s went through, %d failed\n", s->passed, s->extension, s->failed);
  assert_int_equal(s->failed, 0);
  assert_true(s->passed > 0);
}

static void test_mlir(void **state) {
  (void)state;
  survey s = {.extension = ".mlir", .check = check_mlir};
  run_survey(&s);
}

static void test_hlo(void **state) {
  (void)state;
  survey s = {.extension = ".hlo", .check = check_hlo};
  run_survey(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mlir), cmocka_unit_test(test_hlo)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
