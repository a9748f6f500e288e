// Names of modules as names of functions in C.
#include "api/object_name.h"

#include "api/testing.h"

static void expect(const char *module, const char *name) {
  arena *a = arena_create();
  assert_string_equal(object_name_make(a, str_from(module)), name);
  testing_expect(object_name_check(object_name_make(a, str_from(module))), HEDDLE_OK, "");
  arena_destroy(a);
}

static void test_every_module_has_a_name(void **state) {
  (void)state;
  expect("jit_f.1", "jit_f_1");
  expect("8x8", "_8x8");
  expect("a \xc3\xa9\n\"b\\", "a_____b_");
  expect("", "program");
}

// A model that is called exp must not be what its own kernels call.
static void test_names_that_are_taken_change(void **state) {
  (void)state;
  expect("exp", "exp_");
  expect("tanhf", "tanhf_");
  expect("memmove", "memmove_");
  expect("main", "main_");
  expect("double", "double_");
  expect("class", "class_");
  expect("select", "select_");
  expect("int8_t", "int8_t_");
  expect("heddle_status", "heddle_status_");
  expect("exp.", "exp_");
}

static void test_long_names_are_cut(void **state) {
  (void)state;
  char name[1001];
  memset(name, 'm', 1000);
  name[1000] = 0;
  arena *a = arena_create();
  assert_true(strlen(object_name_make(a, str_from(name))) <= OBJECT_NAME_LONGEST);
  testing_expect(object_name_check(name), HEDDLE_INVALID, "at most 200 characters");
  arena_destroy(a);
}

static void test_given_names_are_looked_at(void **state) {
  (void)state;
  testing_expect(object_name_check("net_2"), HEDDLE_OK, "");
  testing_expect(object_name_check(""), HEDDLE_INVALID, "wanted a name that C takes");
  testing_expect(object_name_check("2d"), HEDDLE_INVALID, "wanted a name that C takes");
  testing_expect(object_name_check("a-b"), HEDDLE_INVALID, "wanted a name that C takes");
  testing_expect(object_name_check("f(void); int g"), HEDDLE_INVALID, "wanted a name that C takes");
  testing_expect(object_name_check("exp"), HEDDLE_INVALID, "has already");
  testing_expect(object_name_check("int"), HEDDLE_INVALID, "has already");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_module_has_a_name),
      cmocka_unit_test(test_names_that_are_taken_change),
      cmocka_unit_test(test_long_names_are_cut),
      cmocka_unit_test(test_given_names_are_looked_at),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
