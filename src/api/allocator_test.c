// All memory of a program's life comes from the caller's allocator and goes back there, and refusals are errors.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/testing.h"
#include "heddle/allocator.h"
#include "heddle/heddle.h"

typedef struct counts {
  atomic_llong live, taken, blocks;
  atomic_bool refuses;
} counts;

static void *take(void *user, size_t bytes, size_t alignment) {
  counts *c = user;
  void *memory;
  assert_true(alignment >= 16 && (alignment & (alignment - 1)) == 0);
  if (c->refuses || posix_memalign(&memory, alignment, bytes) != 0) return NULL;
  memset(memory, 0xa5, bytes);
  c->live += (long long)bytes;
  c->taken += (long long)bytes;
  c->blocks++;
  return memory;
}

static void give(void *user, void *memory, size_t bytes, size_t alignment) {
  counts *c = user;
  (void)alignment;
  c->live -= (long long)bytes;
  c->blocks--;
  free(memory);
}

static const char source[] =
    "HloModule m\n"
    "less { l = f32[] parameter(0) r = f32[] parameter(1) ROOT c = pred[] compare(l, r), direction=LT }\n"
    "ENTRY e { x = f32[300000] parameter(0) s = f32[300000] sort(x), dimensions={0}, to_apply=less "
    "ROOT y = f32[300000] tanh(s) }";

static void test_allocator(void **state) {
  (void)state;
  static counts c;
  assert_int_equal(heddle_status_code(heddle_set_allocator(&(heddle_allocator){
                       HEDDLE_SIZED(heddle_allocator), .allocate = take, .release = give, .user = &c})),
                   HEDDLE_OK);
  heddle_program *p;
  heddle_status s = heddle_compile(source, strlen(source), NULL, NULL, &p);
  if (heddle_status_code(s) != HEDDLE_OK) fail_msg("%s", heddle_status_message(s));
  static float x[300000], y[300001];
  for (int i = 0; i < 300000; i++) x[i] = (float)(i * 7919LL % 300000);
  const long long before = c.taken;
  for (int shift = 0; shift < 2; shift++)  // used where it is, and copied
    assert_int_equal(heddle_status_code(heddle_program_run(p, (const void *[]){x}, (void *[]){y + shift})), HEDDLE_OK);
  assert_true(y[1] == 0 && y[300000] == 1);
  assert_true(c.taken - before >= 3 * 1200000);  // what the sort leaves, and both arrays
  c.refuses = true;
  heddle_program *q;
  s = heddle_compile(source, strlen(source), NULL, NULL, &q);
  assert_int_equal(heddle_status_code(s), HEDDLE_OUT_OF_MEMORY);
  heddle_status_free(s);
  c.refuses = false;
  heddle_program_free(p);
  // What stays is kept for the next program, and is small.
  if (c.live > 1 << 20) fail_msg("%lld bytes in %lld blocks are left", (long long)c.live, (long long)c.blocks);
  s = heddle_set_allocator(
      &(heddle_allocator){HEDDLE_SIZED(heddle_allocator), .allocate = take, .release = give, .user = &c});
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  heddle_status_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_allocator)};
  return cmocka_run_group_tests_name("api/allocator", tests, NULL, NULL);
}
