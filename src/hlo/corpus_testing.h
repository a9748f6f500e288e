// Files of the conformance corpus (../shared/corpus beside the source tree, where it exists) and of examples/, each put
// to a check; for tests that go through all of them.
#ifndef HEDDLE_HLO_CORPUS_TESTING_H_
#define HEDDLE_HLO_CORPUS_TESTING_H_

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "base/status.h"
#include "base/str.h"
#include "base/testing.h"

enum { CORPUS_SHOWN_FAILURES = 10 };

// What the files of a test have in common.
static struct corpus_files {
  const char *ending;                                  // ".hlo"
  heddle_status (*check)(arena *a, const char *path);  // one file
  int passed, failed;
} corpus_files;

static void corpus_check_file(const char *path) {
  arena *a = arena_create();
  heddle_status status = corpus_files.check(a, path);
  bool is_ok = status_is_ok(status);
  if (!is_ok && corpus_files.failed < CORPUS_SHOWN_FAILURES) print_error("%s: %s", path, heddle_status_message(status));
  corpus_files.passed += is_ok;
  corpus_files.failed += !is_ok;
  heddle_status_free(status);
  arena_destroy(a);
}

static bool corpus_is_wanted(const char *path) {
  size_t n = strlen(path), m = strlen(corpus_files.ending);
  return n >= m && strcmp(path + n - m, corpus_files.ending) == 0;
}

// The folder's files and those of the folders below it.
static void corpus_check_folder(arena *a, const char *folder, int depth) {
  DIR *d = opendir(folder);
  if (!d) return;
  for (const struct dirent *entry; (entry = readdir(d));) {
    if (entry->d_name[0] == '.') continue;
    const char *path = arena_printf(a, "%s/%s", folder, entry->d_name);
    if (corpus_is_wanted(path)) corpus_check_file(path);
    else if (depth > 0) corpus_check_folder(a, path, depth - 1);
  }
  closedir(d);
}

static void corpus_check_all(const char *folder, int depth) {
  arena *a = arena_create();
  corpus_files.passed = corpus_files.failed = 0;
  corpus_check_folder(a, folder, depth);
  arena_destroy(a);
  print_message("%s: %d files passed, %d failed\n", folder, corpus_files.passed, corpus_files.failed);
  assert_int_equal(corpus_files.failed, 0);
  assert_true(corpus_files.passed > 0);
}

static void corpus_test_examples(void **state) {
  (void)state;
  corpus_check_all(HEDDLE_SOURCE_DIR "/examples", 0);
}

static void corpus_test_corpus(void **state) {
  (void)state;
  const char *corpus = HEDDLE_SOURCE_DIR "/../shared/corpus";
  if (access(corpus, R_OK) != 0) {
    print_message("skipped: there is no %s\n", corpus);
    skip();
  }
  corpus_check_all(corpus, 2);
}

// The whole test program: each file whose name ends so must pass the check.
static int corpus_run(const char *ending, heddle_status (*check)(arena *a, const char *path)) {
  corpus_files.ending = ending;
  corpus_files.check = check;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(corpus_test_examples),
      cmocka_unit_test(corpus_test_corpus),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
