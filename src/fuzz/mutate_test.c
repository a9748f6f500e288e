// Mutators make other programs, most of which are still programs, and the same ones for the same seed.
#include "fuzz/mutate.h"

#include <stdlib.h>

#include "api/save.h"
#include "base/arena_testing.h"
#include "base/file.h"
#include "base/status.h"
#include "hlo/text.h"
#include "proto/proto.h"
#include "rt/saved_program.h"
#include "vhlo/bytecode_reader.h"

enum { ROOM = 1 << 14, TRIES = 400 };

static const char source[] =
    "HloModule m\n\n"
    "ENTRY e {\n"
    "  x = f32[4,8] parameter(0)\n"
    "  y = f32[4,8] parameter(1)\n"
    "  s = f32[4,8] add(x, y)\n"
    "  ROOT t = f32[8,4] transpose(s), dimensions={1,0}\n"
    "}\n";

typedef size_t (*mutator)(uint8_t *data, size_t size, size_t max_size, uint64_t seed);
typedef bool (*reader)(arena *a, str bytes);

static bool is_read(heddle_status s) {
  const bool is_ok = status_is_ok(s);
  heddle_status_free(s);
  return is_ok;
}

static bool reads_hlo(arena *a, str bytes) {
  module *m;
  return is_read(hlo_parse(a, "mutant", bytes, &m));
}

static bool reads_proto(arena *a, str bytes) {
  module *m;
  return is_read(proto_read(a, "mutant", bytes, &m, NULL, NULL, NULL));
}

static bool reads_bytecode(arena *a, str bytes) {
  ir_module *m;
  return is_read(bytecode_read_limited(a, "mutant", bytes, ROOM, &m));
}

// Mutants of one change each: others than the original, within the room, the same again, and `least` of them read.
static void check_mutants(str original, mutator mutate, reader reads, int least) {
  static uint8_t mutant[ROOM], again[ROOM];
  int changed = 0, read = 0;
  for (uint64_t seed = 0; seed < TRIES; seed++) {
    arena *a = arena_create();
    memcpy(mutant, original.data, original.size);
    memcpy(again, original.data, original.size);
    const size_t size = mutate(mutant, original.size, ROOM, seed),
                 size_again = mutate(again, original.size, ROOM, seed);
    assert_true(size > 0 && size <= ROOM);
    assert_int_equal(size, size_again);
    assert_memory_equal(mutant, again, size);
    const bool is_changed = size != original.size || memcmp(mutant, original.data, size) != 0;
    changed += is_changed;
    read += is_changed && reads(a, (str){(const char *)mutant, size});
    arena_destroy(a);
  }
  if (changed < TRIES / 2 || read < least) fail_msg("%d of %d mutants differ, %d are read", changed, TRIES, read);
}

static void test_text(void **state) {
  (void)state;
  check_mutants(str_from(source), mutate_text, reads_hlo, TRIES / 16);
}

static void test_proto(void **state) {
  module *m;
  text bytes = {0};
  assert_true(is_read(hlo_parse(*state, "source", str_from(source), &m)));
  assert_true(is_read(proto_write(&bytes, m)));
  check_mutants(text_view(&bytes), mutate_proto, reads_proto, TRIES / 8);
  text_free(&bytes);
}

static void test_bytecode(void **state) {
  str bytes;
  assert_true(
      is_read(file_read(*state, HEDDLE_SOURCE_DIR "/test/import/inputs/vhlo_every_version.1.17.mlirbc", &bytes)));
  assert_true(bytes.size < ROOM);
  check_mutants(bytes, mutate_bytecode, reads_bytecode, TRIES / 16);
}

static bool reads_saved(arena *a, str bytes) {
  (void)a;
  saved_program *p;
  const bool is = is_read(saved_program_read(bytes, &(saved_program_options){.threads = 1}, &p));
  if (is) saved_program_close(p);
  return is;
}

// What is not refused has been checked; nothing runs it.
static void test_saved(void **state) {
  static const char program[] =
      "HloModule m\n\n"
      "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction=LT }\n"
      "ENTRY e {\n"
      "  x = f32[4,8] parameter(0)\n"
      "  c = f32[8,64] iota(), iota_dimension=0\n"
      "  s = f32[4,64] dot(x, c), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
      "  t = f32[4,64] sort(s), dimensions={1}, to_apply=less\n"
      "  ROOT r = (f32[4,64], f32[4,64]) tuple(t, s)\n"
      "}\n";
  module *m;
  compiled c;
  text bytes = {0};
  assert_true(is_read(hlo_parse(*state, "source", str_from(program), &m)));
  assert_true(is_read(compile_module(*state, m, &(compile_options){.is_saved = true}, &c)));
  assert_true(is_read(save_to_text(&c, &bytes)));
  assert_true(bytes.size < ROOM);
  check_mutants(text_view(&bytes), mutate_saved, reads_saved, TRIES / 16);
  compiled_release(&c);
  text_free(&bytes);
}

static void test_lines(void **state) {
  (void)state;
  static const char other[] = "  z = f32[4,8] negate(x)\n  w = f32[4,8] negate(y)\n";
  static uint8_t crossed[ROOM];
  int taken = 0;
  for (uint64_t seed = 0; seed < TRIES; seed++) {
    memcpy(crossed, source, sizeof source - 1);
    const size_t size =
        mutate_text_with(crossed, sizeof source - 1, (const uint8_t *)other, sizeof other - 1, ROOM, seed);
    assert_true(size > 0 && size < ROOM);
    crossed[size] = 0;
    taken += strstr((const char *)crossed, "negate") != NULL;
  }
  assert_true(taken > TRIES / 2);
}

// Whatever the bytes are, a mutator stays inside of them.
static void test_rubbish(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < TRIES; seed++) {
    const size_t size = 1 + seed % 40;
    uint8_t *bytes = malloc(size);
    for (size_t k = 0; k < size; k++) bytes[k] = (uint8_t)((seed + 1) * (k + 7) * 2654435761U >> 13);
    assert_true(mutate_text(bytes, size, size, seed) <= size);
    assert_true(mutate_proto(bytes, size, size, seed) <= size);
    assert_true(mutate_bytecode(bytes, size, size, seed) <= size);
    assert_true(mutate_saved(bytes, size, size, seed) <= size);
    free(bytes);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_text),  TESTING_IN_ARENA(test_proto), TESTING_IN_ARENA(test_bytecode),
      TESTING_IN_ARENA(test_saved), cmocka_unit_test(test_lines), cmocka_unit_test(test_rubbish),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
