// Packing: nothing overlaps, little is lost, the same every time.
#include "lhlo/buffer_pack.h"

#include <stdbool.h>

#include "base/testing.h"

static uint32_t next_random(uint32_t *state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static pack_block *random_blocks(arena *a, int count, uint32_t seed) {
  pack_block *blocks = arena_array(a, pack_block, count);
  for (int k = 0; k < count; k++) {
    int first = (int)(next_random(&seed) % (uint32_t)(2 * count));
    blocks[k] = (pack_block){.bytes = 64 * (1 + (int64_t)(next_random(&seed) % 40)),
                             .first = first,
                             .last = first + (int)(next_random(&seed) % 12)};
  }
  return blocks;
}

static bool overlap(const pack_block *l, const pack_block *r) {
  if (l->room != r->room || l->last < r->first || r->last < l->first) return false;
  return l->offset < r->offset + r->bytes && r->offset < l->offset + l->bytes;
}

static void check_apart(int count, const pack_block *blocks) {
  for (int k = 0; k < count; k++)
    for (int j = 0; j < k; j++) assert_false(overlap(&blocks[k], &blocks[j]));
}

static void test_blocks_that_live_together_lie_apart(void **state) {
  (void)state;
  for (uint32_t seed = 1; seed <= 20; seed++) {
    arena *a = arena_create();
    int count = 10 + (int)seed * 15;
    pack_block *blocks = random_blocks(a, count, seed);
    pack_result r = buffer_pack(a, count, blocks, 0, NULL);
    check_apart(count, blocks);
    assert_true(r.bytes >= r.most_live);
    assert_true(r.bytes <= r.most_live * 5 / 4);
    arena_destroy(a);
  }
}

static void test_many_blocks_are_packed_too(void **state) {
  (void)state;
  arena *a = arena_create();
  enum { COUNT = 7000 };
  pack_block *blocks = random_blocks(a, COUNT, 5);
  pack_result r = buffer_pack(a, COUNT, blocks, 0, NULL);
  check_apart(COUNT, blocks);
  assert_true(r.bytes <= r.most_live * 2);
  arena_destroy(a);
}

static void test_rooms_are_used_until_they_are_taken(void **state) {
  (void)state;
  arena *a = arena_create();
  pack_block blocks[] = {{.bytes = 256, .first = 0, .last = 3},
                         {.bytes = 256, .first = 2, .last = 5},
                         {.bytes = 128, .first = 1, .last = 4},
                         {.bytes = 256, .first = 4, .last = 9}};
  const pack_room rooms[] = {{.bytes = 384, .last = 5}};
  pack_result r = buffer_pack(a, 4, blocks, 1, rooms);
  check_apart(4, blocks);
  assert_int_equal(blocks[3].room, -1);  // lives longer than the room is free
  for (int k = 0; k < 4; k++)
    if (blocks[k].room == 0) assert_true(blocks[k].last <= 5 && blocks[k].offset + blocks[k].bytes <= 384);
  assert_true(r.bytes < 256 + 256 + 128);
  arena_destroy(a);
}

static void test_nothing_takes_nothing(void **state) {
  (void)state;
  arena *a = arena_create();
  pack_result r = buffer_pack(a, 0, NULL, 0, NULL);
  assert_int_equal(r.bytes, 0);
  assert_int_equal(r.most_live, 0);
  arena_destroy(a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks_that_live_together_lie_apart),
      cmocka_unit_test(test_many_blocks_are_packed_too),
      cmocka_unit_test(test_rooms_are_used_until_they_are_taken),
      cmocka_unit_test(test_nothing_takes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
