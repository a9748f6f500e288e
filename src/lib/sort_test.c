// Sorting against insertion by what the program's order says, for every type, order and dim; top-k against sorting.
#include <math.h>
#include <stdlib.h>

#include "base/testing.h"
#include "lib/element.h"
#include "lib/radix.h"
#include "lib/sort.h"
#include "lib/sort_key.h"
#include "lib/top_k.h"

static uint64_t next_random(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return *seed >> 33 ^ *seed << 20;
}

// Bits with many equal elements, both zeros, infinities and NaN among them.
static uint64_t random_bits(dtype t, uint64_t *seed) {
  const uint64_t r = next_random(seed);
  const int bits = dtypes[t].bits;
  if (t == DTYPE_PRED) return r & 1;
  if (bits <= 8) return r & (((uint64_t)1 << bits) - 1);
  const uint64_t top = (uint64_t)1 << (bits - 1);
  if (dtypes[t].class == CLASS_FLOAT) {
    const int mantissa = bits == 64 ? 52 : bits == 32 ? 23 : float_formats[dtypes[t].narrow].mantissa_bits;
    const uint64_t infinity = (top - 1) >> mantissa << mantissa;
    const uint64_t special[] = {0, top, infinity, infinity | top, infinity + 1, (infinity + 3) | top};
    if (r % 4 == 0) return special[r / 4 % 6];
  }
  if (r % 4 == 1) return r / 4 % 5;
  return (r | next_random(seed) << 40) & (top | (top - 1));
}

static double real_value(dtype t, uint64_t bits) {
  if (dtypes[t].is_narrow_float) return float_decode(dtypes[t].narrow, (uint32_t)bits);
  double wide;
  float narrow;
  const uint32_t low = (uint32_t)bits;
  memcpy(&wide, &bits, 8);
  memcpy(&narrow, &low, 4);
  return t == DTYPE_F64 ? wide : (double)narrow;
}

// -1, 0, 1: as the order says; 2: neither.
static int compare(dtype t, sort_order order, uint64_t x, uint64_t y) {
  const int bits = dtypes[t].bits;
  if (dtypes[t].class == CLASS_FLOAT) {
    const uint64_t top = (uint64_t)1 << (bits - 1);
    if (order == SORT_TOTAL) {
      if (t == DTYPE_F8E8M0FNU) return (x > y) - (x < y);
      const bool has_unsigned_nan = dtypes[t].is_narrow_float && float_formats[dtypes[t].narrow].specials == FLOAT_FNUZ;
      if (has_unsigned_nan && (x == top || y == top)) return (x == top) - (y == top);
      const int64_t l = x & top ? -1 - (int64_t)(x & (top - 1)) : (int64_t)x;
      const int64_t r = y & top ? -1 - (int64_t)(y & (top - 1)) : (int64_t)y;
      return (l > r) - (l < r);
    }
    const double l = real_value(t, x), r = real_value(t, y);
    if (isnan(l) || isnan(r)) return order == SORT_LESS ? 2 : (isnan(l) != 0) - (isnan(r) != 0);
    return (l > r) - (l < r);
  }
  if (dtypes[t].class == CLASS_SIGNED) {
    const int64_t l = (int64_t)(x << (64 - bits)), r = (int64_t)(y << (64 - bits));
    return (l > r) - (l < r);
  }
  return (x > y) - (x < y);
}

typedef struct key_list {
  int count;
  int64_t operands[3], descending[3], orders[3];
} key_list;

typedef struct sort_case {
  int rank;
  int64_t dims[3];
  int64_t dimension;
  int count;
  dtype types[3];
  key_list keys;
  bool is_packed;
  int threads;
} sort_case;

static bool is_before(const sort_case *c, const lib_array *operands, int64_t x, int64_t y) {
  for (int k = 0; k < c->keys.count; k++) {
    const lib_array *a = &operands[c->keys.operands[k]];
    int found = compare(a->type, (sort_order)c->keys.orders[k], element_load(a, x), element_load(a, y));
    if (found == 2) return false;
    if (c->keys.descending[k]) found = -found;
    if (found) return found < 0;
  }
  return false;
}

// Bottom-up merging of element numbers, the left one first: what is promised also where the order is none.
static void expect_order(const sort_case *c, const lib_array *operands, int64_t base, int64_t stride, int64_t *order,
                         int64_t *spare) {
  const int64_t size = c->dims[c->dimension];
  for (int64_t i = 0; i < size; i++) order[i] = base + i * stride;
  for (int64_t width = 1; width < size; width *= 2) {
    for (int64_t low = 0; low < size; low += 2 * width) {
      const int64_t middle = low + width < size ? low + width : size;
      const int64_t high = low + 2 * width < size ? low + 2 * width : size;
      int64_t l = low, r = middle;
      for (int64_t at = low; at < high; at++) {
        const bool takes_right = l == middle || (r < high && is_before(c, operands, order[r], order[l]));
        spare[at] = takes_right ? order[r++] : order[l++];
      }
    }
    memcpy(order, spare, (size_t)size * sizeof *order);
  }
}

static void check_lines(const sort_case *c, const lib_array *operands, const lib_array *results) {
  int64_t stride = 1, size = c->dims[c->dimension];
  for (int d = (int)c->dimension + 1; d < c->rank; d++) stride *= c->dims[d];
  int64_t *order = calloc((size_t)size * 2 + 2, sizeof *order);
  const int64_t total = lib_element_count(operands);
  for (int64_t line = 0; size && line < total / size; line++) {
    const int64_t base = line / stride * size * stride + line % stride;
    expect_order(c, operands, base, stride, order, order + size);
    for (int k = 0; k < c->count; k++)
      for (int64_t i = 0; i < size; i++) {
        if (operands[k].type == DTYPE_C128) {
          assert_memory_equal((char *)results[k].data + (base + i * stride) * 16,
                              (char *)operands[k].data + order[i] * 16, 16);
          continue;
        }
        if (element_load(&results[k], base + i * stride) != element_load(&operands[k], order[i]))
          fail_msg("%s, order %d, descending %d, size %d, element %d", dtype_name(c->types[0]), (int)c->keys.orders[0],
                   (int)c->keys.descending[0], (int)size, (int)i);
      }
  }
  free(order);
}

static void run_case(const sort_case *c, sort_compare_fn fn, uint64_t seed) {
  lib_array operands[3], results[3];
  for (int k = 0; k < c->count; k++) {
    operands[k] = results[k] = (lib_array){c->types[k], c->rank, c->dims, NULL, c->is_packed};
    const int64_t total = lib_element_count(&operands[k]);
    operands[k].data = calloc((size_t)total * 16 + 16, 1);
    results[k].data = calloc((size_t)total * 16 + 16, 1);
    const bool is_c128 = c->types[k] == DTYPE_C128;
    const lib_array words = {DTYPE_U64, 1, NULL, operands[k].data, false};
    for (int64_t i = 0; i < (is_c128 ? 2 * total : total); i++)
      element_store(is_c128 ? &words : &operands[k], i, random_bits(is_c128 ? DTYPE_U64 : c->types[k], &seed));
  }
  const named_attribute attributes[] = {
      {.name = "dimension", .kind = NAMED_INTS, .count = 1, .ints = &c->dimension},
      {.name = "keys", .kind = NAMED_INTS, .count = c->keys.count, .ints = c->keys.operands},
      {.name = "descending", .kind = NAMED_INTS, .count = c->keys.count, .ints = c->keys.descending},
      {.name = "order", .kind = NAMED_INTS, .count = c->keys.count, .ints = c->keys.orders}};
  lib_call call = {.operand_count = c->count,
                   .operands = operands,
                   .result_count = c->count,
                   .results = results,
                   .attribute_count = fn ? 1 : 4,
                   .attributes = attributes,
                   .threads = c->threads};
  heddle_status s = sort_call_check(&call, fn != NULL);
  if (!status_is_ok(s)) fail_msg("%s", heddle_status_message(s));
  const size_t scratch = (size_t)sort_call_scratch(&call, fn != NULL);
  if (posix_memalign(&call.scratch, 64, scratch + 64)) fail();
  sort_call_execute(&call, fn);
  check_lines(c, operands, results);
  free(call.scratch);
  for (int k = 0; k < c->count; k++) {
    free(operands[k].data);
    free(results[k].data);
  }
}

static void test_every_type_and_order(void **state) {
  (void)state;
  for (dtype t = DTYPE_PRED; t <= DTYPE_F64; t++)
    for (int order = 0; order < SORT_ORDER_COUNT; order++)
      for (int descending = 0; descending < 2; descending++)
        for (int way = 0; way < 6; way++) {
          sort_case c = {.rank = 1, .dims = {1 + way * 37}, .count = 1, .types = {t}, .threads = 1};
          if (way == 3)
            c = (sort_case){.rank = 2, .dims = {5, 50}, .dimension = 1, .count = 2, .types = {t, DTYPE_S32}};
          if (way == 4) c = (sort_case){.rank = 3, .dims = {3, 40, 7}, .dimension = 1, .count = 2, .types = {t, t}};
          if (way == 5) c.dims[0] = 1100;  // counted, not merged
          c.threads = 1 + way % 2 * 2;
          c.is_packed = way % 3 != 0;
          c.keys = (key_list){1, {0}, {descending}, {order}};
          run_case(&c, NULL, (uint64_t)t * 31 + (uint64_t)way);
        }
}

static void test_several_keys(void **state) {
  (void)state;
  static const dtype types[][3] = {{DTYPE_S8, DTYPE_F32, DTYPE_C128},
                                   {DTYPE_F32, DTYPE_U8, DTYPE_U64},
                                   {DTYPE_U2, DTYPE_F64, DTYPE_S4},
                                   {DTYPE_PRED, DTYPE_S64, DTYPE_BF16}};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (int order = 0; order < SORT_ORDER_COUNT; order++)
      for (int64_t size = 0; size <= 1600; size = size * 6 + 1) {
        sort_case c = {.rank = 2, .dims = {size, 3}, .count = 3, .threads = 2, .is_packed = true};
        memcpy(c.types, types[t], sizeof c.types);
        c.keys = (key_list){2, {0, 1}, {1, 0}, {order, order}};
        run_case(&c, NULL, 99 + t);
        c.keys = (key_list){2, {1, 0}, {0, 1}, {SORT_NUMERIC, order}};
        run_case(&c, NULL, 199 + t);
      }
}

// Lines shorter than two runs, and a little longer: alone, with places, by two keys of which the second was there
// first.
static void test_short_lines(void **state) {
  (void)state;
  static const dtype types[] = {DTYPE_S32, DTYPE_F32, DTYPE_U64, DTYPE_S16};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (int64_t size = 0; size <= 40; size++) {
      sort_case c = {
          .rank = 2, .dims = {40, size}, .dimension = 1, .count = 1, .types = {types[t], types[t]}, .threads = 1};
      c.keys = (key_list){1, {0}, {size % 2}, {SORT_TOTAL}};
      run_case(&c, NULL, t + (uint64_t)size);
      c.count = 2;
      run_case(&c, NULL, 7 + t + (uint64_t)size);
      c.keys = (key_list){2, {1, 0}, {0, 1}, {SORT_TOTAL, SORT_TOTAL}};
      c.threads = 3;
      run_case(&c, NULL, 17 + t + (uint64_t)size);
    }
}

// One line that several threads share.
static void test_long_lines(void **state) {
  (void)state;
  static const dtype types[] = {DTYPE_F32, DTYPE_U32, DTYPE_F64, DTYPE_S8, DTYPE_BF16};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (int count = 1; count <= 2; count++) {
      sort_case c = {.rank = 1, .dims = {90001}, .count = count, .types = {types[t], DTYPE_S32}, .threads = 3};
      c.keys = (key_list){1, {0}, {t % 2}, {types[t] == DTYPE_F32 && count == 1 ? SORT_TOTAL : SORT_NUMERIC}};
      run_case(&c, NULL, 5 + t);
    }
}

// Two s16 keys by hand: the second one descending.
static void less_of_two(void *const *buffers, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  const int16_t *x0 = buffers[0], *y0 = buffers[1], *x1 = buffers[2], *y1 = buffers[3];
  *(unsigned char *)buffers[4] = *x0 != *y0 ? *x0 < *y0 : *x1 > *y1;
}

// Packed elements reach the comparator in bytes of their own; an order that is none.
static void less_of_four_bits(void *const *buffers, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  *(unsigned char *)buffers[2] = *(unsigned char *)buffers[0] < *(unsigned char *)buffers[1];
}

static void test_comparators(void **state) {
  (void)state;
  for (int64_t size = 0; size < 500; size = size * 3 + 1) {
    sort_case c = {.rank = 2, .dims = {size, 4}, .count = 2, .types = {DTYPE_S16, DTYPE_S16}, .threads = 2};
    c.keys = (key_list){2, {0, 1}, {0, 1}, {0, 0}};
    run_case(&c, less_of_two, (uint64_t)size);
    sort_case packed = {.rank = 1, .dims = {size}, .count = 1, .types = {DTYPE_U4}, .threads = 2, .is_packed = true};
    packed.keys = (key_list){1, {0}, {0}, {0}};
    run_case(&packed, less_of_four_bits, (uint64_t)size);
  }
}

static void test_refusals(void **state) {
  (void)state;
  static const int64_t dims[] = {4, 5}, zero = 0, one = 1, two = 2, three = 3;
  const lib_array arrays[] = {{DTYPE_F32, 2, dims, NULL, true}, {DTYPE_C64, 2, dims, NULL, true}};
  named_attribute attributes[] = {{.name = "dimension", .kind = NAMED_INTS, .count = 1, .ints = &one},
                                  {.name = "keys", .kind = NAMED_INTS, .count = 1, .ints = &zero},
                                  {.name = "descending", .kind = NAMED_INTS, .count = 1, .ints = &zero},
                                  {.name = "order", .kind = NAMED_INTS, .count = 1, .ints = &zero}};
  const lib_call call = {.operand_count = 2,
                         .operands = arrays,
                         .result_count = 2,
                         .results = arrays,
                         .attribute_count = 4,
                         .attributes = attributes,
                         .threads = 1};
  assert_true(status_is_ok(sort_call_check(&call, false)));
  const struct {
    int attribute;
    const int64_t *value;
    heddle_code code;
  } cases[] = {{0, &two, HEDDLE_INVALID},
               {1, &two, HEDDLE_INVALID},
               {3, &three, HEDDLE_INVALID},
               {1, &one, HEDDLE_UNIMPLEMENTED}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    const int64_t *before = attributes[cases[k].attribute].ints;
    attributes[cases[k].attribute].ints = cases[k].value;
    heddle_status s = sort_call_check(&call, false);
    assert_int_equal(heddle_status_code(s), cases[k].code);
    heddle_status_free(s);
    attributes[cases[k].attribute].ints = before;
  }
}

// The first k of the whole line sorted by the total order. Elements have `kinds` different values, or with 0 any.
static void check_top_k_of(uint64_t kinds, dtype t, int64_t lines, int64_t size, int64_t k, int64_t largest,
                           int threads) {
  const int64_t dims[] = {lines, size}, top_dims[] = {lines, k};
  lib_array from = {t, 2, dims, calloc((size_t)(lines * size) * 8 + 8, 1), true};
  lib_array results[] = {{t, 2, top_dims, calloc((size_t)(lines * k) * 8 + 8, 1), true},
                         {DTYPE_S32, 2, top_dims, calloc((size_t)(lines * k) * 4 + 4, 1), true}};
  uint64_t seed = (uint64_t)(size * 7 + k);
  for (int64_t i = 0; i < lines * size; i++) {
    const uint64_t bits = random_bits(t, &seed);
    uint64_t kind = kinds ? bits % kinds + 1 : 0;
    element_store(&from, i, kinds ? random_bits(t, &kind) : bits);
  }
  const named_attribute attribute = {.name = "largest", .kind = NAMED_INTS, .count = 1, .ints = &largest};
  lib_call call = {.operand_count = 1,
                   .operands = &from,
                   .result_count = 2,
                   .results = results,
                   .attribute_count = 1,
                   .attributes = &attribute,
                   .threads = threads};
  assert_true(status_is_ok(top_k_check(&call)));
  if (posix_memalign(&call.scratch, 64, (size_t)top_k_scratch(&call) + 64)) fail();
  top_k_execute(&call);
  sort_case c = {.rank = 2, .dims = {lines, size}, .dimension = 1, .keys = {1, {0}, {largest}, {SORT_TOTAL}}};
  int64_t *order = calloc((size_t)size * 2 + 2, sizeof *order);
  for (int64_t line = 0; line < lines; line++) {
    expect_order(&c, &from, line * size, 1, order, order + size);
    for (int64_t j = 0; j < k; j++) {
      assert_int_equal(((int32_t *)results[1].data)[line * k + j], order[j] - line * size);
      assert_true(element_load(&results[0], line * k + j) == element_load(&from, order[j]));
    }
  }
  free(order);
  free(call.scratch);
  free(from.data);
  free(results[0].data);
  free(results[1].data);
}

static void check_top_k(dtype t, int64_t lines, int64_t size, int64_t k, int64_t largest, int threads) {
  check_top_k_of(0, t, lines, size, k, largest, threads);
}

static void test_top_k(void **state) {
  (void)state;
  for (dtype t = DTYPE_PRED; t <= DTYPE_F64; t++)
    for (int64_t largest = 0; largest < 2; largest++) {
      check_top_k(t, 3, 50, 50, largest, 2);
      check_top_k(t, 2, 400, 7, largest, 2);
      check_top_k(t, 2, 700, 150, largest, 1);
      check_top_k(t, 5, 1, 1, largest, 1);
      check_top_k(t, 40, 30, 6, largest, 2);
      check_top_k(t, 70, 8, 1, largest, 1);
      check_top_k(t, 2, 9, 0, largest, 1);
      check_top_k(t, 0, 9, 3, largest, 1);
      check_top_k(t, 4, 1000, 10, largest, 2);
      check_top_k(t, 4, 256, 16, largest, 1);
      check_top_k(t, 4, 287, 1, largest, 1);
      check_top_k_of(1, t, 2, 300, 12, largest, 1);
      check_top_k_of(2, t, 2, 300, 12, largest, 1);
      check_top_k_of(5, t, 3, 999, 16, largest, 1);
    }
  check_top_k(DTYPE_F32, 1, 100003, 50, 1, 3);
  check_top_k(DTYPE_F32, 2, 100003, 5000, 0, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_type_and_order),
      cmocka_unit_test(test_several_keys),
      cmocka_unit_test(test_short_lines),
      cmocka_unit_test(test_long_lines),
      cmocka_unit_test(test_comparators),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_top_k),
  };
  return cmocka_run_group_tests_name("lib/sort", tests, NULL, NULL);
}
