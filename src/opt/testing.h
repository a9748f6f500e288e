// For the tests of passes: runs a module before and after some of them on the same arguments.
#ifndef HEDDLE_OPT_TESTING_H_
#define HEDDLE_OPT_TESTING_H_

#include "eval/testing.h"
#include "opt/pass.h"

// Quarters in [-4, 4), whose sums and short products are exact; integers in [0, 8), bits of any kind for u32 and u64.
static inline literal *testing_argument(arena *a, const shape *s, uint64_t *seed) {
  literal *l;
  testing_require(literal_create(a, s, &l), "argument");
  for (int64_t k = 0; k < shape_element_count(s); k++) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    const uint64_t bits = *seed >> 17;
    if (s->dtype == DTYPE_U32 || s->dtype == DTYPE_U64) literal_set_int(l, k, (int64_t)(bits * 0x9e3779b97f4a7c15u));
    else if (dtype_is_float(s->dtype)) literal_set_double(l, k, (double)(bits % 32) / 4 - 4);
    else literal_set_int(l, k, (int64_t)(bits % 8));
  }
  return l;
}

static inline module *testing_passed(arena *a, const char *source, const char *passes) {
  module *m;
  testing_require(hlo_parse(a, "test", str_from(source), &m), source);
  const pass *list[64];
  int count = 0;
  for (const char *next = passes; *next;) {
    const char *end = strchrnul(next, ',');
    list[count] = opt_pass_find((str){next, (size_t)(end - next)});
    assert_non_null(list[count++]);
    next = *end ? end + 1 : end;
  }
  list[count] = NULL;
  testing_require(opt_run(m, list, NULL), source);
  return m;
}

// The results are the same bits, and no operation `gone` is left.
static inline void testing_expect_same(const char *source, const char *passes, hlo_opcode gone) {
  arena *a = arena_create();
  module *before, *after = testing_passed(a, source, passes);
  testing_require(hlo_parse(a, "test", str_from(source), &before), source);
  uint64_t seed = 1;
  literal *arguments[8], *wanted, *found;
  for (int k = 0; k < before->entry->parameters.size; k++)
    arguments[k] = testing_argument(a, before->entry->parameters.data[k]->shape, &seed);
  testing_require(eval_module(a, before, before->entry->parameters.size, arguments, &wanted), source);
  testing_require(eval_module(a, after, before->entry->parameters.size, arguments, &found), source);
  if (!testing_same(found, wanted)) {
    text t = {0};
    hlo_print(&t, after, HLO_PRINT_SHORT);
    text_puts(&t, "found  ");
    literal_print(&t, found);
    text_puts(&t, "\nwanted ");
    literal_print(&t, wanted);
    print_error("%s\n%s\n", source, text_cstr(&t));
    text_free(&t);
    fail();
  }
  for (int c = 0; c < after->computations.size; c++)
    for (int k = 0; k < after->computations.data[c]->instructions.size; k++)
      assert_int_not_equal(after->computations.data[c]->instructions.data[k]->opcode, gone);
  arena_destroy(a);
}

#endif
