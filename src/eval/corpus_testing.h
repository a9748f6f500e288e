// The conformance corpus on the interpreter, for tests: every case made of operations it has must match the expected
// values. A case may be refused only when its module holds an operation whose slot in eval_ops is empty. Skipped where
// the corpus, which is not part of the source tree, is missing.
#ifndef HEDDLE_EVAL_CORPUS_TESTING_H_
#define HEDDLE_EVAL_CORPUS_TESTING_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/testing.h"
#include "eval/evaluate.h"
#include "hlo/npy.h"
#include "hlo/text.h"

#define CORPUS HEDDLE_SOURCE_DIR "/../shared/corpus"

static const char *wanted_name = "";
// Done to each module before it runs, in place or by another in its place; may be null.
static heddle_status (*corpus_prepare)(arena *a, module **m);

typedef struct corpus_case {
  const char *folder;  // of the case
  double rtol, atol;
} corpus_case;

typedef struct tally {
  int passed, refused, failed;
  int lacking[HLO_OPCODE_COUNT];  // cases refused, by the operation that the interpreter lacks
} tally;

// First operation of the module that the interpreter lacks; HLO_OPCODE_COUNT if it has all.
static hlo_opcode corpus_lacking_op(const module *m) {
  for (int c = 0; c < m->computations.size; c++) {
    const computation *body = m->computations.data[c];
    for (int k = 0; k < body->instructions.size; k++)
      if (!eval_supports(body->instructions.data[k]->opcode)) return body->instructions.data[k]->opcode;
  }
  return HLO_OPCODE_COUNT;
}

// Compares the leaves of a result with out0.npy, out1.npy, … from *next on.
static heddle_status corpus_compare_leaves(arena *a, const corpus_case *c, const literal *result, int *next) {
  if (shape_is_tuple(result->shape)) {
    for (int k = 0; k < result->shape->tuple_size; k++) TRY(corpus_compare_leaves(a, c, result->elements[k], next));
    return status_ok();
  }
  if (!shape_is_array(result->shape)) return status_ok();
  literal *expected;
  const int number = (*next)++;
  TRY(npy_read(a, arena_printf(a, "%s/out%d.npy", c->folder, number), result->shape, &expected));
  return status_context(literal_compare(result, expected, c->rtol, c->atol), "output %d", number);
}

static heddle_status corpus_run_module(arena *a, const corpus_case *c, const module *m) {
  const instruction_list parameters = m->entry->parameters;
  literal **arguments = arena_array(a, literal *, parameters.size);
  for (int k = 0; k < parameters.size; k++)
    TRY(npy_read(a, arena_printf(a, "%s/in%d.npy", c->folder, k), parameters.data[k]->shape, &arguments[k]));
  literal *result;
  TRY(eval_module(a, m, parameters.size, arguments, &result));
  int next = 0;
  return corpus_compare_leaves(a, c, result, &next);
}

static void corpus_run_case(const corpus_case *c, const char *file, tally *t) {
  arena *a = arena_create();
  module *m = NULL;
  heddle_status status = hlo_parse_file(a, arena_printf(a, "%s/%s", c->folder, file), &m);
  if (status_is_ok(status) && corpus_prepare) status = corpus_prepare(a, &m);
  if (status_is_ok(status)) status = corpus_run_module(a, c, m);
  const hlo_opcode lacking = m ? corpus_lacking_op(m) : HLO_OPCODE_COUNT;
  if (status_is_ok(status)) {
    t->passed++;
  } else if (heddle_status_code(status) == HEDDLE_UNIMPLEMENTED && lacking != HLO_OPCODE_COUNT) {
    t->refused++;
    t->lacking[lacking]++;
  } else {
    t->failed++;
    print_message("%s/%s: %s\n", c->folder, file, heddle_status_message(status));
  }
  heddle_status_free(status);
  arena_destroy(a);
}

// The manifest's columns: name, class, rtol, atol, inputs, outputs, formats, tags.
static void corpus_run_row(arena *a, const char *folder, char *row, const char *format, const char *file, tally *t) {
  char *columns[8] = {0}, *rest = row;
  for (int k = 0; k < 8 && rest; k++) columns[k] = strsep(&rest, "\t");
  if (row[0] == '#' || !columns[6] || !strstr(columns[0], wanted_name)) return;
  bool has_format = false;
  for (char *formats = columns[6], *one; (one = strsep(&formats, ",")) != NULL;)
    has_format = has_format || strcmp(one, format) == 0;
  if (!has_format) return;
  const corpus_case c = {arena_printf(a, "%s/%s", folder, columns[0]), atof(columns[2]), atof(columns[3])};
  corpus_run_case(&c, file, t);
}

static void corpus_run_folder(const char *name, const char *format, const char *file) {
  arena *a = arena_create();
  const char *folder = arena_printf(a, "%s/%s", CORPUS, name);
  if (access(folder, R_OK) != 0) {
    print_message("skipped: no corpus at %s\n", folder);
    arena_destroy(a);
    skip();
  }
  str manifest;
  heddle_status status = file_read(a, arena_printf(a, "%s/manifest.tsv", folder), &manifest);
  assert_true(status_is_ok(status));
  tally t = {0};
  char *rows = arena_strdup(a, manifest.data, manifest.size);
  for (char *row; (row = strsep(&rows, "\n")) != NULL;) corpus_run_row(a, folder, row, format, file, &t);
  print_message("%s %s: %d passed, %d refused, %d failed\n", name, file, t.passed, t.refused, t.failed);
  for (int op = 0; op < HLO_OPCODE_COUNT; op++)
    if (t.lacking[op]) print_message("  %d refused for %s\n", t.lacking[op], hlo_op_text((hlo_opcode)op));
  arena_destroy(a);
  assert_int_equal(t.failed, 0);
  assert_true(t.passed > 0 || wanted_name[0]);
}

static void corpus_test_hlo(void **state) {
  (void)state;
  corpus_run_folder("hlo", "hlo", "module.hlo");
}

static void corpus_test_jax(void **state) {
  (void)state;
  corpus_run_folder("jax", "hlo", "module.hlo");
}

static void corpus_test_jax_optimized(void **state) {
  (void)state;
  corpus_run_folder("jax", "optimized", "optimized.hlo");
}

// With a word on the command line, only cases whose name contains it run.
static int corpus_main(int argc, char **argv) {
  if (argc > 1) wanted_name = argv[1];
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(corpus_test_hlo),
      cmocka_unit_test(corpus_test_jax),
      cmocka_unit_test(corpus_test_jax_optimized),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
