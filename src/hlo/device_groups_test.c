// Groups and pairs as device numbers, in every mode.
#include "hlo/device_groups.h"

#include "base/testing.h"
#include "hlo/text.h"

static heddle_status find(arena *a, const char *module_attributes, const char *operation, int *size, device_list *out) {
  text source = {0};
  text_printf(&source,
              "HloModule m%s\nsum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"
              "ENTRY e {\n x = f32[4] parameter(0)\n ROOT r = f32[4] %s\n}\n",
              module_attributes, operation);
  module *m;
  heddle_status status = hlo_parse(a, "test.hlo", text_view(&source), &m);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  text_free(&source);
  const instruction *i = m->entry->root;
  return i->opcode == HLO_COLLECTIVE_PERMUTE ? device_groups_pairs_of(a, i, out) : device_groups_of(a, i, size, out);
}

static void expect(const char *module_attributes, const char *operation, const char *wanted) {
  arena *a = arena_create();
  text found = {0};
  device_list devices;
  int size = 2;
  heddle_status s = find(a, module_attributes, operation, &size, &devices);
  if (!status_is_ok(s)) fail_msg("%s", heddle_status_message(s));
  for (int k = 0; k < devices.size; k++)
    text_printf(&found, "%s%d", k == 0 ? "" : k % size ? "," : " ", (int)devices.data[k]);
  assert_string_equal(text_cstr(&found), wanted);
  text_free(&found);
  arena_destroy(a);
}

static void refuse(const char *module_attributes, const char *operation, const char *words) {
  arena *a = arena_create();
  device_list devices;
  int size;
  heddle_status s = find(a, module_attributes, operation, &size, &devices);
  assert_false(status_is_ok(s));
  if (!strstr(heddle_status_message(s), words)) fail_msg("'%s' has no '%s'", heddle_status_message(s), words);
  if (strstr(words, "process")) assert_int_equal(status_where(s).line, 9);
  heddle_status_free(s);
  arena_destroy(a);
}

#define GRID ", replica_count=2, num_partitions=3"

static void test_modes(void **state) {
  (void)state;
  expect("", "all-reduce(x), to_apply=sum", "0");
  expect(GRID, "all-reduce(x), to_apply=sum", "0,3 1,4 2,5");
  expect(GRID, "all-reduce(x), to_apply=sum, replica_groups={{1,0}}", "3,0 4,1 5,2");
  expect(GRID, "all-reduce(x), to_apply=sum, channel_id=1", "");
  expect(GRID, "all-reduce(x), to_apply=sum, channel_id=1, replica_groups={{0},{1}}", "0,1,2 3,4,5");
  expect(GRID, "all-reduce(x), to_apply=sum, channel_id=1, replica_groups={{5,0},{1}}, use_global_device_ids=true",
         "5,0 1,-1");
  expect(GRID, "all-to-all(x), dimensions={0}, channel_id=1, replica_groups={{0,2}}", "0,2 3,5");
  expect(", num_partitions=12", "collective-broadcast(x), channel_id=1, replica_groups={{11,0}}", "11,0");
}

static void test_pairs(void **state) {
  (void)state;
  expect(GRID, "collective-permute(x), source_target_pairs={{0,1},{1,0}}", "0,3 3,0 1,4 4,1 2,5 5,2");
  expect(GRID, "collective-permute(x), channel_id=1, source_target_pairs={{0,2}}", "0,2 3,5");
}

// Numbers are those of the mode: replicas, partitions or devices.
static void test_refusals(void **state) {
  (void)state;
  refuse("", "all-reduce(x), to_apply=sum, replica_groups={{0,1}}", "all-reduce r names process 1 of a run with 1");
  refuse(GRID, "all-reduce(x), to_apply=sum, replica_groups={{0,2}}", "names process 2 of a run with 2");
  refuse(GRID, "all-to-all(x), dimensions={0}, channel_id=1, replica_groups={{0,3}}", "process 3 of a run with 3");
  refuse(GRID, "all-reduce(x), to_apply=sum, channel_id=1, use_global_device_ids=true, replica_groups={{6}}",
         "names process 6 of a run with 6");
  refuse(GRID, "all-reduce(x), to_apply=sum, replica_groups={{0,-2}}", "names process -2");
  refuse(GRID, "all-reduce(x), to_apply=sum, replica_groups={{0},{1,0}}", "names process 0 twice");
  refuse(GRID, "collective-permute(x), source_target_pairs={{0,2}}", "names process 2 of a run with 2");
  refuse(", replica_count=40, num_partitions=30", "all-reduce(x), to_apply=sum", "wanted 1 to 1024 devices");
  refuse(", replica_count=12345", "all-reduce(x), to_apply=sum", ":1:14: error: found replica_count=12345, wanted");
  refuse(", replica_count=99999999999999999999", "all-reduce(x), to_apply=sum", "count=99999999999999999999, wanted");
  refuse(", num_partitions=-3", "all-reduce(x), to_apply=sum", "found num_partitions=-3, wanted 1 to 1024");
  refuse(", num_partitions=0", "all-reduce(x), to_apply=sum", "found num_partitions=0, wanted 1 to 1024");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modes), cmocka_unit_test(test_pairs),
                                     cmocka_unit_test(test_refusals)};
  return cmocka_run_group_tests_name("hlo/device_groups", tests, NULL, NULL);
}
