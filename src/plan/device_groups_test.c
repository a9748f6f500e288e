// Groups and pairs as device numbers, in every mode.
#include "plan/device_groups.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hlo/text.h"

static void expect(const char *module_attributes, const char *operation, const char *wanted) {
  arena *a = arena_create();
  text source = {0}, found = {0};
  text_printf(&source,
              "HloModule m%s\nsum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b)\n}\n"
              "ENTRY e {\n x = f32[4] parameter(0)\n ROOT r = f32[4] %s\n}\n",
              module_attributes, operation);
  module *m;
  heddle_status status = hlo_parse(a, "test.hlo", text_view(&source), &m);
  if (!status_is_ok(status)) fail_msg("%s", heddle_status_message(status));
  const instruction *i = m->entry->root;
  device_list devices;
  int size = 2;
  if (i->opcode == HLO_COLLECTIVE_PERMUTE) device_groups_pairs_of(a, i, &devices);
  else device_groups_of(a, i, &size, &devices);
  for (int k = 0; k < devices.size; k++)
    text_printf(&found, "%s%d", k == 0 ? "" : k % size ? "," : " ", (int)devices.data[k]);
  assert_string_equal(text_cstr(&found), wanted);
  text_free(&found);
  text_free(&source);
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_modes), cmocka_unit_test(test_pairs)};
  return cmocka_run_group_tests_name("plan/device_groups", tests, NULL, NULL);
}
