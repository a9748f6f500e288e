// .npy files: what is written reads back; headers of other makers; malformed files.
#include "hlo/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/testing.h"

typedef struct fixture {
  arena *arena;
  char path[32];
} fixture;

static int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  f->arena = arena_create();
  strcpy(f->path, "npy_test.XXXXXX");
  int descriptor = mkstemp(f->path);
  if (descriptor >= 0) close(descriptor);
  *state = f;
  return descriptor < 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  unlink(f->path);
  arena_destroy(f->arena);
  free(f);
  return 0;
}

static void expect_ok(heddle_status status) {
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
}

static void test_every_type_reads_back(void **state) {
  fixture *f = *state;
  for (dtype t = DTYPE_PRED; t < DTYPE_TOKEN; t++) {
    for (int rank = 0; rank < 3; rank++) {
      const shape *s = shape_array(f->arena, t, rank, (const int64_t[]){3, 2});
      literal *l, *back;
      expect_ok(literal_create(f->arena, s, &l));
      for (int64_t i = 0; i < shape_element_count(s); i++) literal_set_int(l, i, i - 2);
      expect_ok(npy_write(f->path, l));
      expect_ok(npy_read(f->arena, f->path, s, &back));
      assert_true(literal_identical(l, back));
    }
  }
}

static void test_bytes_are_numpys(void **state) {
  fixture *f = *state;
  literal *l;
  expect_ok(literal_create(f->arena, shape_array(f->arena, DTYPE_S4, 1, (const int64_t[]){2}), &l));
  literal_set_int(l, 0, -1);
  expect_ok(npy_write(f->path, l));
  str file;
  expect_ok(file_read(f->arena, f->path, &file));
  assert_int_equal(file.size, 128 + 2);
  static const char start[] = "\x93NUMPY\x01\0v\0{'descr': '|u1', 'fortran_order': False, 'shape': (2,), } ";
  assert_memory_equal(file.data, start, sizeof start - 1);
  assert_int_equal(file.data[127], '\n');
  assert_int_equal(file.data[128], 15);  // the high bits of a sub-byte value are zero
}

static void write_file(fixture *f, int version, const char *header, const void *data, size_t size) {
  text t = {0};
  size_t length = strlen(header);
  text_append(&t, (str){"\x93NUMPY", 6});
  text_putc(&t, (char)version);
  text_putc(&t, 0);
  for (int i = 0; i < (version == 1 ? 2 : 4); i++) text_putc(&t, (char)(length >> (8 * i)));
  text_puts(&t, header);
  text_append(&t, (str){data, size});
  expect_ok(file_write(f->path, text_view(&t)));
  text_free(&t);
}

static void test_other_headers(void **state) {
  fixture *f = *state;
  static const int16_t data[] = {1, 2, 3, 4, 5, 6};
  static const char *const headers[] = {
      "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }\n",
      "{'descr':'<i2','fortran_order':False,'shape':(2,3)}",
      " {\"shape\": (2L, 3L), \"fortran_order\": False, \"descr\": \"=i2\"} \n",
      "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n",
  };
  for (int k = 0; k < 4; k++) {
    for (int version = 1; version <= 3; version++) {
      write_file(f, version, headers[k], data, sizeof data);
      literal *l;
      expect_ok(npy_read(f->arena, f->path, shape_array(f->arena, DTYPE_S16, 2, (const int64_t[]){2, 3}), &l));
      assert_int_equal(literal_get_int(l, 1), k == 3 ? 3 : 2);
      assert_int_equal(literal_get_int(l, 3), k == 3 ? 2 : 4);
    }
  }
}

static void test_stray_high_bits_do_not_count(void **state) {
  fixture *f = *state;
  static const uint8_t data[] = {0xf7, 0x28};
  static const struct {
    dtype type;
    int64_t first, second;
  } cases[] = {{DTYPE_S4, 7, -8}, {DTYPE_U4, 7, 8}, {DTYPE_S2, -1, 0}, {DTYPE_U2, 3, 0}, {DTYPE_F4E2M1FN, 6, 0}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    write_file(f, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }", data, 2);
    literal *l;
    expect_ok(npy_read(f->arena, f->path, shape_array(f->arena, cases[k].type, 1, (const int64_t[]){2}), &l));
    assert_int_equal(literal_get_int(l, 0), cases[k].first);
    assert_int_equal(literal_get_int(l, 1), cases[k].second);
    assert_true(((const uint8_t *)l->data)[0] == (uint8_t)cases[k].first || cases[k].type == DTYPE_F4E2M1FN);
  }
  write_file(f, 1, "{'descr': '|V1', 'fortran_order': False, 'shape': (2,), }", data, 2);
  literal *l;
  expect_ok(npy_read(f->arena, f->path, shape_array(f->arena, DTYPE_F8E5M2, 1, (const int64_t[]){2}), &l));
  assert_int_equal(((const uint8_t *)l->data)[0], 0xf7);
}

// What numpy.save writes of ml_dtypes' arrays, and of small integers kept in signed bytes.
static void test_guises_of_types_that_numpy_lacks(void **state) {
  fixture *f = *state;
  static const uint8_t data[] = {1, 0x83, 0, 0};
  static const char *const guises[] = {"<f1", "|f1", "=f1", ">f1", "<V1", "|V1", "|u1", "<u1", ">u1"};
  char header[80];
  for (dtype t = DTYPE_F8E5M2; t <= DTYPE_F8E8M0FNU; t++) {
    for (size_t k = 0; k < sizeof guises / sizeof *guises; k++) {
      snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }", guises[k]);
      write_file(f, 1, header, data, 2);
      literal *l;
      expect_ok(npy_read(f->arena, f->path, shape_array(f->arena, t, 1, (const int64_t[]){2}), &l));
      assert_memory_equal(l->data, data, 2);
    }
  }
  write_file(f, 1, "{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }", (const int8_t[]){-3, 3}, 2);
  literal *l;
  expect_ok(npy_read(f->arena, f->path, shape_array(f->arena, DTYPE_S4, 1, (const int64_t[]){2}), &l));
  assert_int_equal(literal_get_int(l, 0), -3);
}

static void expect_refused(fixture *f, dtype t, const char *message) {
  literal *l;
  heddle_status status = npy_read(f->arena, f->path, shape_array(f->arena, t, 1, (const int64_t[]){2}), &l);
  assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  if (!strstr(heddle_status_message(status), message)) fail_msg("%s", heddle_status_message(status));
  heddle_status_free(status);
}

// Half a float is a float of NumPy's own, never another of its width.
static void test_other_types_of_the_same_width(void **state) {
  fixture *f = *state;
  static const char *const refused[][2] = {{"<f2", "bf16"}, {">V2", "bf16"}, {"<V2", "f16"}, {"|V1", "s8"},
                                           {"|V1", "pred"}, {"<f1", "u8"},   {"|i1", "u8"},  {"|i1", "f8e5m2"}};
  char header[80];
  for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }", refused[k][0]);
    write_file(f, 1, header, "\0\0\0\0", 4);
    expect_refused(f, dtype_from_name(str_from(refused[k][1])), refused[k][1]);
  }
}

static void test_malformed_files(void **state) {
  fixture *f = *state;
  static const char data[9] = {0};
  static const char good[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  static const struct {
    const char *header;
    size_t size;
    const char *message;
  } cases[] = {
      {good, 7, "found 7 bytes of elements, wanted 8"},
      {good, 9, "found 9 bytes of elements, wanted 8"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 8,
       "holds an array [3] of type '<f4', wanted f32[2]"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 4, "holds an array []"},
      {"{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", 8,
       "of type '<i4', wanted f32[2] (stored as '<f4')"},
      {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8, "of type '>f4'"},
      {"{'descr': '', 'fortran_order': False, 'shape': (2,), }", 8, "of type ''"},
      {"", 8, "malformed .npy header"},
      {"{", 8, "malformed .npy header"},
      {"{'descr': '<f4', 'shape': (2,), }", 8, "malformed .npy header"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)", 8, "malformed .npy header"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2", 8, "malformed .npy header"},
      {"{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,)}", 8, "malformed .npy header"},
      {"{'descr': '<f4, 'fortran_order': False, 'shape': (2,)}", 8, "malformed .npy header"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", 8, "malformed .npy header"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", 8, "malformed .npy header"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}", 8, "malformed .npy header"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'shape': (2,)}", 8, "malformed .npy header"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    write_file(f, 1, cases[k].header, data, cases[k].size);
    expect_refused(f, DTYPE_F32, cases[k].message);
  }
  write_file(f, 4, good, data, 8);
  expect_refused(f, DTYPE_F32, "found .npy version 4.0");
  expect_ok(file_write(f->path, STR("\x93NUMPY\x01")));
  expect_refused(f, DTYPE_F32, "is not a .npy file");
  expect_ok(file_write(f->path, (str){"\x93NUMPY\x01\0\xff\xff{", 11}));
  expect_refused(f, DTYPE_F32, "ends within its header");
  expect_ok(file_write(f->path, (str){"\x93NUMPY\x02\0\xff\xff", 10}));
  expect_refused(f, DTYPE_F32, "ends within its header");
  expect_refused(f, DTYPE_TUPLE, "holds an array");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_every_type_reads_back, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_bytes_are_numpys, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_other_headers, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_stray_high_bits_do_not_count, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_guises_of_types_that_numpy_lacks, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_other_types_of_the_same_width, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_malformed_files, set_up, tear_down),
  };
  return cmocka_run_group_tests_name("npy", tests, NULL, NULL);
}
