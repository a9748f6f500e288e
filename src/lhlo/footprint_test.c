// What operations touch of arrays that lie elsewhere: all of them, or what slices take.
#include "lhlo/footprint.h"

#include "lhlo/testing.h"

// The bytes of `number` of the computation f that one run of it reads.
static int64_t read_of(const char *f, int number) {
  arena *a = arena_create();
  module *m = testing_parse(
      a, arena_printf(a,
                      "HloModule m\n"
                      "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }\n"
                      "ENTRY f { x = f32[8,16] parameter(0) i = s32[] parameter(1) z = f32[] parameter(2) %s }",
                      f));
  const int64_t bytes = footprint_of_parameter(a, m->entry, number);
  arena_destroy(a);
  return bytes;
}

static void test_parameters(void **state) {
  (void)state;
  const int64_t all = 8 * 16 * 4;
  assert_int_equal(read_of("ROOT r = f32[8,16] negate(x)", 0), all);
  assert_int_equal(read_of("ROOT r = f32[8] reduce(x, z), dimensions={1}, to_apply=add", 0), all);
  assert_int_equal(read_of("ROOT r = f32[2,16] slice(x), slice={[0:2],[0:16]}", 0), all / 4);
  assert_int_equal(read_of("ROOT r = f32[4,16] slice(x), slice={[0:8:2],[0:16]}", 0), all / 2);
  assert_int_equal(read_of("ROOT r = f32[2,4] dynamic-slice(x, i, i), dynamic_slice_sizes={2,4}", 0), 2 * 4 * 4);
  assert_int_equal(read_of("ROOT r = f32[2,4] dynamic-slice(x, i, i), dynamic_slice_sizes={2,4}", 1), 4);
  assert_int_equal(read_of("t = f32[16,8] transpose(x), dimensions={1,0} n = f32[16,8] negate(t)\n"
                           "ROOT r = f32[16,2] slice(n), slice={[0:16],[0:2]}",
                           0),
                   all / 4);
  assert_int_equal(read_of("p = s32[3,1] broadcast(i), dimensions={} ROOT r = f32[3,16] gather(x, p), offset_dims={1}, "
                           "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,16}",
                           0),
                   3 * 16 * 4);
}

// Parts add up, to no more than all of it.
static void test_parts(void **state) {
  (void)state;
  const int64_t all = 8 * 16 * 4;
  assert_int_equal(read_of("l = f32[2,16] slice(x), slice={[0:2],[0:16]} h = f32[2,16] slice(x), slice={[4:6],[0:16]}\n"
                           "ROOT r = f32[2,16] add(l, h)",
                           0),
                   all / 2);
  assert_int_equal(read_of("l = f32[6,16] slice(x), slice={[0:6],[0:16]} h = f32[6,16] slice(x), slice={[2:8],[0:16]}\n"
                           "ROOT r = f32[6,16] add(l, h)",
                           0),
                   all);
  // What a root updates in place is not read; what others read of it is.
  assert_int_equal(read_of("u = f32[1,16] broadcast(z), dimensions={}\n"
                           "ROOT r = f32[8,16] dynamic-update-slice(x, u, i, i)",
                           0),
                   0);
  assert_int_equal(read_of("u = f32[1,16] slice(x), slice={[3:4],[0:16]}\n"
                           "ROOT r = f32[8,16] dynamic-update-slice(x, u, i, i)",
                           0),
                   16 * 4);
}

static const char program[] =
    "HloModule m\n"
    "sliced { x = f32[64,256] parameter(0) i = s32[] parameter(1) z = s32[] constant(0)\n"
    "  s = f32[4,256] dynamic-slice(x, i, z), dynamic_slice_sizes={4,256} ROOT r = f32[4,256] negate(s) }\n"
    "written { x = f32[64,256] parameter(0) u = f32[4,256] parameter(1) i = s32[] parameter(2) z = s32[] constant(0)\n"
    "  ROOT r = f32[64,256] dynamic-update-slice(x, u, i, z) }\n"
    "ENTRY e { x = f32[64,256] parameter(0) i = s32[] parameter(1)\n"
    "  room = f32[64,256] custom-call(), custom_call_target=\"AllocateBuffer\"\n"
    "  part = f32[4,256] fusion(x, i), kind=kLoop, calls=sliced\n"
    "  ROOT all = f32[64,256] fusion(room, part, i), kind=kLoop, calls=written }\n";

// The slice is temporary, and the result's memory counts as far as it is written.
static void test_steps(void **state) {
  (void)state;
  arena *a = arena_create();
  const lhlo_program *p = testing_program(a, program);
  const int64_t part = 4 * 256 * 4;
  int fusions = 0, allocations = 0;
  for (int k = 0; k < p->entry.ops.size; k++) {
    const lhlo_op *op = p->entry.ops.data[k];
    allocations += footprint_is_allocation(op);
    if (footprint_is_allocation(op)) assert_int_equal(op->touched_bytes, 0);
    if (op->kind != LHLO_FUSION) continue;
    fusions++;
    assert_int_equal(op->live_bytes, part);
    assert_int_equal(op->resident_bytes, part + 4);  // and where the part begins
    assert_int_equal(op->touched_bytes, 2 * part + 4);
  }
  assert_int_equal(fusions, 2);
  assert_int_equal(allocations, 1);
  assert_int_equal(p->footprint_bytes, 2 * part + 4);
  assert_int_equal(p->step_bytes, 2 * part + 4);
  arena_destroy(a);
}

// What is read and written in one place counts once.
static void test_in_place(void **state) {
  (void)state;
  static const char source[] =
      "HloModule m, input_output_alias={ {}: (0, {}, may-alias) }\n"
      "f { x = f32[64,256] parameter(0) y = f32[64,256] parameter(1) ROOT r = f32[64,256] add(x, y) }\n"
      "ENTRY e { x = f32[64,256] parameter(0) y = f32[64,256] parameter(1)\n"
      "  ROOT r = f32[64,256] fusion(x, y), kind=kLoop, calls=f }\n";
  arena *a = arena_create();
  const lhlo_program *p = testing_program(a, source);
  const lhlo_op *op = p->entry.ops.data[p->entry.ops.size - 1];
  const int64_t all = 64 * 256 * 4;
  assert_int_equal(op->operands[0].allocation, op->results[0].allocation);
  assert_int_equal(op->resident_bytes, 2 * all);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_parameters), cmocka_unit_test(test_parts),
                                     cmocka_unit_test(test_steps), cmocka_unit_test(test_in_place)};
  return cmocka_run_group_tests_name("lhlo/footprint", tests, NULL, NULL);
}
