// Counts of devices: those that are said stay, the others follow from the numbers in groups, pairs and shapes.
#include "hlo/device_counts.h"
#include "base/testing.h"
#include "hlo/device_groups.h"
#include "hlo/text.h"

static const char body[] =
    "HloModule m%s\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }\n"
    "ENTRY e { x = f32[4] parameter(0) ROOT r = %s }\n";

static void expect(const char *header, const char *operation, int replicas, int partitions, int wanted_replicas,
                   int wanted_partitions) {
  arena *a = arena_create();
  module *m;
  const char *source = arena_printf(a, body, header, operation);
  heddle_status status = hlo_parse(a, "test", str_from(source), &m);
  if (!status_is_ok(status)) fail_msg("%s\n%s", source, heddle_status_message(status));
  device_counts_adopt(m, replicas, partitions);
  assert_int_equal(device_groups_replicas(m), wanted_replicas);
  assert_int_equal(device_groups_partitions(m), wanted_partitions);
  arena_destroy(a);
}

// Behind an operation's text.
#define PAIRS                                                                                             \
  " t = token[] after-all() s = (f32[4], u32[], token[]) send(x, t), channel_id=1, frontend_attributes={" \
  "_xla_send_recv_source_target_pairs=\"{{0,1},{2,3}}\"}"
#define SUM "f32[4] all-reduce(x), to_apply=add, "

static void test_groups_decide(void **state) {
  (void)state;
  expect("", "f32[4] negate(x)", 0, 0, 1, 1);
  expect("", SUM "replica_groups={{0,1},{2,3}}", 0, 0, 4, 1);
  expect("", SUM "replica_groups=[2,4]<=[8]", 0, 0, 8, 1);
  expect("", SUM "replica_groups={{0,5}}, channel_id=1, use_global_device_ids=true", 0, 0, 1, 6);
  expect("", SUM "replica_groups={}", 0, 0, 1, 1);
  expect("", "f32[4] collective-permute(x), source_target_pairs={{0,6},{1,0}}", 0, 0, 7, 1);
  expect("", "f32[4] collective-permute(x), source_target_pairs={{0,6},{1,0}}, channel_id=3", 0, 0, 1, 7);
  expect("", "f32[12] all-gather(x), dimensions={0}, replica_groups={}", 0, 0, 3, 1);
  expect("", "f32[2] reduce-scatter(x), dimensions={0}, replica_groups={}, to_apply=add", 0, 0, 2, 1);
  expect("", "(f32[12], f32[12]) all-gather(x, x), dimensions={0}", 0, 0, 3, 1);
  expect("", "(f32[4], f32[12]) all-gather-start(x), dimensions={0}, replica_groups={}", 0, 0, 3, 1);
  expect("", "(f32[4], f32[4]) all-to-all(x, x), replica_groups={}", 0, 0, 2, 1);
  // Replicas, each with all partitions: a list of two replicas that scatters to four has two partitions of each.
  expect("", "f32[1] reduce-scatter(x), dimensions={0}, replica_groups={{0,1}}, channel_id=1, to_apply=add", 0, 0, 2,
         2);
  expect("", "f32[32] all-gather(x), dimensions={0}, replica_groups={{0,1}}, channel_id=1", 0, 0, 2, 4);
  // A shape says how many all are; who sends names at least so many.
  expect("", "f32[8] all-gather(x), dimensions={0}, control-predecessors={s}" PAIRS, 0, 0, 2, 1);
  expect("", "f32[4] add(x, x), control-predecessors={s}" PAIRS, 0, 0, 4, 1);
  // Numbers that are no devices are for those to refuse who use them.
  expect("", SUM "replica_groups={{0,99999999}}", 0, 0, 1, 1);
}

#define WHOLE "f32[8] custom-call(x), custom_call_target=\"SPMDShardToFullShape\", sharding="

static void test_divided_arrays_decide(void **state) {
  (void)state;
  expect("", WHOLE "{devices=[2]<=[2]}", 0, 0, 1, 2);
  expect("", WHOLE "{devices=[2,3]<=[6] last_tile_dim_replicate}", 0, 0, 1, 6);
  expect(", num_partitions=3", WHOLE "{devices=[2]<=[2]}", 0, 0, 1, 3);
  expect("", WHOLE "{replicated}", 0, 0, 1, 1);
  // What it says wrongly is the call's to say when it runs.
  expect("", WHOLE "{devices=[2]<=[3]}", 0, 0, 1, 1);
  expect("", "f32[4] custom-call(x), custom_call_target=\"SPMDShardToFullShape\", sharding={devices=[2]<=[2]}", 0, 0, 1,
         1);
}

static void test_what_is_said_stays(void **state) {
  (void)state;
  expect(", replica_count=2", SUM "replica_groups={{0,3}}", 0, 0, 2, 1);
  expect(", replica_count=2", SUM "replica_groups={{0,7}}, channel_id=1, use_global_device_ids=true", 0, 0, 2, 4);
  expect(", num_partitions=4", SUM "replica_groups={{0,7}}, channel_id=1, use_global_device_ids=true", 0, 0, 2, 4);
  expect(", replica_count=2", SUM "replica_groups={{0,1}}", 4, 0, 4, 1);
  expect("", SUM "replica_groups={{0,1}}", 1, 3, 1, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_groups_decide),
      cmocka_unit_test(test_divided_arrays_decide),
      cmocka_unit_test(test_what_is_said_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
