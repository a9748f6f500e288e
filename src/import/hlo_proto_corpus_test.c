// Every module of the corpus survives being written as a message and read back.
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "hlo/text.h"
#include "import/hlo_proto.h"

enum { SHOWN_FAILURES = 20 };

typedef struct tally {
  int passed, failed;
} tally;

// What a message says in one way only: names are unique in the module, so some are new and all are made by position; a
// backend configuration in quotes that needs none loses them.
static void make_plain(arena *a, module *m) {
  for (int c = 0; c < m->computations.size; c++)
    for (int i = 0; i < m->computations.data[c]->instructions.size; i++) {
      instruction *at = m->computations.data[c]->instructions.data[i];
      at->name = str_from(arena_printf(a, "i%d.%d", c, i));
      at->attributes->backend_config_is_json = false;
    }
}

static heddle_status read_back(arena *a, const char *path, str bytes, bool is_text, module **out) {
  if (hlo_proto_is(bytes) != !is_text || hlo_proto_is_text(bytes) != is_text)
    return status_error(HEDDLE_INVALID, "the bytes do not look like a message");
  return is_text ? hlo_proto_read_text(a, path, bytes, out, NULL, NULL, NULL)
                 : hlo_proto_read(a, path, bytes, out, NULL, NULL, NULL);
}

// Reads what `m` was written as. The module's own attributes do not count: most are none of a message's.
static heddle_status check_form(arena *a, const char *path, module *m, bool is_text) {
  text bytes = {0};
  module *back;
  heddle_status status = is_text ? hlo_proto_write_text(&bytes, m) : hlo_proto_write(&bytes, m);
  if (status_is_ok(status)) status = read_back(a, path, text_view(&bytes), is_text, &back);
  text_free(&bytes);
  TRY(status_context(status, "as %s", is_text ? "text" : "bytes"));
  m->attributes.size = back->attributes.size = 0;
  make_plain(a, m);
  make_plain(a, back);
  return module_compare(m, back);
}

static heddle_status check_module(arena *a, const char *path) {
  module *m;
  TRY(hlo_parse_file(a, path, &m));
  TRY(check_form(a, path, module_clone(a, m), false));
  return check_form(a, path, m, true);
}

static void check_file(const char *path, tally *t) {
  arena *a = arena_create();
  heddle_status status = check_module(a, path);
  bool is_ok = status_is_ok(status);
  if (!is_ok && t->failed < SHOWN_FAILURES) print_error("%s: %s", path, heddle_status_message(status));
  t->passed += is_ok;
  t->failed += !is_ok;
  heddle_status_free(status);
  arena_destroy(a);
}

static bool ends_with(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n >= m && strcmp(s + n - m, end) == 0;
}

static void check_folder(arena *a, const char *folder, int depth, tally *t) {
  DIR *d = opendir(folder);
  if (!d) return;
  for (const struct dirent *entry; (entry = readdir(d));) {
    if (entry->d_name[0] == '.') continue;
    const char *path = arena_printf(a, "%s/%s", folder, entry->d_name);
    if (ends_with(path, ".hlo")) check_file(path, t);
    else if (depth > 0) check_folder(a, path, depth - 1, t);
  }
  closedir(d);
}

static void test_examples(void **state) {
  tally t = {0};
  check_folder(*state, HEDDLE_SOURCE_DIR "/examples", 0, &t);
  assert_int_equal(t.failed, 0);
  assert_true(t.passed > 0);
}

static void test_corpus(void **state) {
  const char *corpus = HEDDLE_SOURCE_DIR "/../shared/corpus";
  tally t = {0};
  if (access(corpus, R_OK) != 0) {
    print_message("skipped: there is no %s\n", corpus);
    skip();
  }
  check_folder(*state, corpus, 2, &t);
  print_message("%d texts of the corpus passed, %d failed\n", t.passed, t.failed);
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
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_examples),
      cmocka_unit_test(test_corpus),
  };
  return cmocka_run_group_tests(tests, make_arena, drop_arena);
}
