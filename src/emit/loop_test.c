// The loop's map reaches every element of the first output exactly once, in the order in which they lie in memory.
#include "emit/loop.h"

#include "base/testing.h"
#include "hlo/text.h"

typedef struct walk {
  const indexing_map *map;
  const int64_t *strides;  // in memory, by dim
  int rank;
  int64_t next;  // the position expected now
  bool in_order;
} walk;

static void visit(walk *w, const int64_t *dims, int64_t symbol) {
  if (!indexing_map_contains(w->map, dims, &symbol)) return;
  int64_t indices[SHAPE_MAX_RANK], position = 0;
  indexing_map_evaluate(w->map, dims, &symbol, indices);
  for (int d = 0; d < w->rank; d++) position += indices[d] * w->strides[d];
  w->in_order &= position == w->next;
  w->next++;
}

static void visit_all(walk *w, const launch_plan *l, bool is_gpu) {
  if (!is_gpu) {
    for (int64_t tile = 0; tile < l->tiles; tile++) {
      for (int64_t i = 0; i < l->tile; i++) visit(w, &tile, i);
    }
    return;
  }
  for (int64_t block = 0; block < l->blocks_x * l->blocks_y; block++) {
    for (int64_t thread = 0; thread < l->threads; thread++) {
      for (int64_t v = 0; v < l->unroll; v++) {
        visit(w, (int64_t[]){thread, block % l->blocks_x, block / l->blocks_x}, v);
      }
    }
  }
}

static void check(const char *shape_source, bool is_gpu, launch_cost cost, int64_t max_grid_x) {
  arena *a = arena_create();
  const shape *s = 0;
  assert_true(status_is_ok(shape_parse(a, str_from(shape_source), &s)));
  target_description target = is_gpu ? target_gpu() : target_cpu(2);
  target.max_grid_x = max_grid_x;
  launch_plan l = launch_decide(&target, shape_element_count(s), &cost);
  int64_t order[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK], stride = 1;
  shape_minor_to_major(s, order);
  for (int d = 0; d < s->rank; d++) {
    strides[order[d]] = stride;
    stride *= s->dims[order[d]];
  }
  walk w = {.map = emit_loop_map(a, &target, &l, s), .strides = strides, .rank = s->rank, .in_order = true};
  visit_all(&w, &l, is_gpu);
  assert_true(w.in_order);
  assert_int_equal(w.next, shape_element_count(s));
  arena_destroy(a);
}

static const char *const shapes[] = {
    "f32[]",
    "f32[1]",
    "f32[64]",
    "f32[101]",
    "f32[3,5,7]",
    "f32[6,64]{0,1}",
    "f32[4,5,6]{0,2,1}",
    "f32[1,128,1,33]",
    "f32[2000]",
    "f32[17,3,19,2]{1,3,0,2}",
};

static void test_tiles_cover_every_element(void **state) {
  (void)state;
  launch_cost cheap = {.bytes = 8, .operations = 1, .smallest_output_bits = 32};
  launch_cost dear = {.bytes = 8, .operations = 100000, .smallest_output_bits = 32};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    check(shapes[i], false, cheap, 1);
    check(shapes[i], false, dear, 1);
  }
}

static void test_threads_cover_every_element(void **state) {
  (void)state;
  launch_cost words = {.bytes = 8, .operations = 1, .smallest_output_bits = 32};
  launch_cost nibbles = {.bytes = 1, .operations = 1, .smallest_output_bits = 4};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    check(shapes[i], true, words, INT32_MAX);
    check(shapes[i], true, words, 3);  // grids of two dimensions
    check(shapes[i], true, nibbles, INT32_MAX);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tiles_cover_every_element),
      cmocka_unit_test(test_threads_cover_every_element),
  };
  return cmocka_run_group_tests(tests, 0, 0);
}
