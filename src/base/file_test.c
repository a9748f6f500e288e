// Whole files in and out, in a folder of their own.
#include "base/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/testing.h"

typedef struct folder {
  arena *arena;
  char path[32];
} folder;

static int make_folder(void **state) {
  static folder f;
  strcpy(f.path, "/tmp/heddle-XXXXXX");
  if (!mkdtemp(f.path)) return -1;
  f.arena = arena_create();
  *state = &f;
  return 0;
}

static int remove_folder(void **state) {
  folder *f = *state;
  int result = system(arena_printf(f->arena, "rm -r %s", f->path));
  arena_destroy(f->arena);
  return result;
}

static void succeed(heddle_status status) {
  assert_string_equal(heddle_status_message(status), "");
  heddle_status_free(status);
}

static void assert_fails(heddle_status status, const char *path, const char *why) {
  assert_int_equal(heddle_status_code(status), HEDDLE_INVALID);
  assert_non_null(strstr(heddle_status_message(status), path));
  assert_non_null(strstr(heddle_status_message(status), why));
  heddle_status_free(status);
}

static void test_round_trip(void **state) {
  folder *f = *state;
  const char *path = arena_printf(f->arena, "%s/bytes", f->path);
  enum { SIZE = 300000 };
  char *bytes = arena_alloc(f->arena, SIZE);
  for (int i = 0; i < SIZE; i++) bytes[i] = (char)(i * 7);
  const size_t sizes[] = {SIZE, 0, 1, 64 << 10, 128 << 10};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    succeed(file_write(path, (str){bytes, sizes[i]}));
    str back = {0};
    succeed(file_read(f->arena, path, &back));
    assert_int_equal(back.size, sizes[i]);
    assert_memory_equal(back.data, bytes, sizes[i]);
    assert_int_equal(back.data[back.size], 0);
  }
}

static void test_writing_leaves_no_temporaries(void **state) {
  folder *f = *state;
  succeed(file_write(arena_printf(f->arena, "%s/a", f->path), STR("1")));
  succeed(file_write(arena_printf(f->arena, "%s/a", f->path), STR("2")));
  DIR *listing = opendir(f->path);
  assert_non_null(listing);
  int entries = 0;
  while (readdir(listing)) entries++;
  closedir(listing);
  assert_int_equal(entries, 3);  // with . and ..
}

static void test_permissions_follow_the_mask(void **state) {
  folder *f = *state;
  const char *path = arena_printf(f->arena, "%s/a", f->path);
  mode_t mask = umask(027);
  succeed(file_write(path, STR("1")));
  umask(mask);
  struct stat info;
  assert_int_equal(stat(path, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0640);
}

static void test_errors_name_the_file(void **state) {
  folder *f = *state;
  str out = {0};
  const char *absent = arena_printf(f->arena, "%s/absent/x", f->path);
  assert_fails(file_read(f->arena, absent, &out), absent, "No such file");
  assert_fails(file_read(f->arena, f->path, &out), f->path, "Is a directory");
  assert_fails(file_write(absent, STR("1")), absent, "No such file");
  assert_fails(file_write(f->path, STR("1")), f->path, "Is a directory");
}

static void test_special_files(void **state) {
  folder *f = *state;
  succeed(file_write("/dev/null", STR("gone")));
  struct stat info;
  assert_int_equal(stat("/dev/null", &info), 0);
  assert_true(S_ISCHR(info.st_mode));  // not replaced by a file
  str out = {0};
  succeed(file_read(f->arena, "/dev/null", &out));
  assert_int_equal(out.size, 0);
  succeed(file_read(f->arena, "/proc/self/status", &out));  // stat says its size is 0
  assert_true(out.size > 0);
}

static void test_folders(void **state) {
  folder *f = *state;
  const char *deep = arena_printf(f->arena, "%s/a/b//c", f->path);
  succeed(file_make_folder(deep));
  succeed(file_make_folder(deep));
  struct stat info;
  assert_int_equal(stat(deep, &info), 0);
  assert_true(S_ISDIR(info.st_mode));
  const char *file = arena_printf(f->arena, "%s/file", f->path);
  succeed(file_write(file, STR("")));
  assert_fails(file_make_folder(file), file, "File exists");
  const char *below = arena_printf(f->arena, "%s/file/x", f->path);
  assert_fails(file_make_folder(below), below, "File exists");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_round_trip, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_writing_leaves_no_temporaries, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_permissions_follow_the_mask, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_errors_name_the_file, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_special_files, make_folder, remove_folder),
      cmocka_unit_test_setup_teardown(test_folders, make_folder, remove_folder),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
