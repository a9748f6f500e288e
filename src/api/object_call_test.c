// Descriptions of library thunks, and what heddle_object_call says of those that are damaged or for others.
#include "api/object_call.h"

#include <stdlib.h>
#include <string.h>

#include "api/testing.h"
#include "heddle/runtime.h"
#include "import/import.h"

enum { N = 96 };

static const char source[] =
    "HloModule m\n"
    "ENTRY e {\n"
    "  x = f32[96,96] parameter(0)\n"
    "  w = f32[96,96] parameter(1)\n"
    "  y = f32[96,96] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
    "  ROOT s = f32[96,96] sort(y), dimensions={1}, is_stable=true, to_apply=less\n"
    "}\n"
    "less { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] multiply(a, b) z = f32[] constant(0)"
    " ROOT r = pred[] compare(c, z), direction=LT }\n";

typedef struct fixture {
  arena *arena;
  compiled compiled;
  object_call call;
  const program_thunk *thunk;
} fixture;

static const program_thunk *first_of(const program *p, program_thunk_kind kind) {
  for (int k = 0; k < p->entry.count; k++)
    if (p->entry.thunks[k]->kind == kind) return p->entry.thunks[k];
  fail_msg("there is no thunk of kind %d", (int)kind);
  return NULL;
}

static int set_up(void **state) {
  fixture *f = calloc(1, sizeof *f);
  module *m;
  f->arena = arena_create();
  testing_expect(import_module(f->arena, "m.hlo", str_from(source), NULL, &m), HEDDLE_OK, "");
  const compile_options options = {.threads = 2, .is_saved = true, .codegen = CODEGEN_LIBRARY};
  testing_expect(compile_module(f->arena, m, &options, &f->compiled), HEDDLE_OK, "");
  f->thunk = first_of(&f->compiled.program, THUNK_GEMM);
  testing_expect(object_call_make(f->arena, &f->compiled, &f->compiled.program, f->thunk, &f->call), HEDDLE_OK, "");
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  text_free(&f->call.description);
  compiled_release(&f->compiled);
  arena_destroy(f->arena);
  free(f);
  return 0;
}

static void fill(float *x) {
  for (int k = 0; k < N * N; k++) x[k] = (float)(k % 7 - 3);
}

static float product(const float *x, const float *w, int k) {
  float sum = 0;
  for (int i = 0; i < N; i++) sum += x[k / N * N + i] * w[i * N + k % N];
  return sum;
}

// The result's memory is given as an input, too: it takes that over.
static void a_product_lies_where_the_buffers_say(void **state) {
  const fixture *f = *state;
  // Aligned and not.
  static _Alignas(64) float memory[3][N * N + 1];
  for (int from = 0; from < 2; from++) {
    float *x = &memory[0][from], *w = &memory[1][from], *y = &memory[2][from];
    void *buffers[4];
    assert_int_equal(f->call.buffer_count, 4);
    fill(x);
    fill(w);
    for (int k = 0; k < 4; k++) {
      const int slice = f->call.buffers[k];
      buffers[k] = slice == f->thunk->operands[0].slice ? x : slice == f->thunk->operands[1].slice ? w : y;
    }
    testing_expect(heddle_object_call(f->call.description.data, f->call.description.size, buffers), HEDDLE_OK, "");
    for (int k = 0; k < N * N; k++) assert_true(y[k] == product(x, w, k));
  }
}

static void damage_is_found(void **state) {
  const fixture *f = *state;
  const size_t size = f->call.description.size;
  char *copy = malloc(size);
  void *buffers[4] = {0};
  for (size_t at = 0; at < size; at += 37) {
    memcpy(copy, f->call.description.data, size);
    copy[at] ^= 0x10;
    heddle_status s = heddle_object_call(copy, size, buffers);
    assert_int_not_equal(heddle_status_code(s), HEDDLE_OK);
    heddle_status_free(s);
  }
  memcpy(copy, f->call.description.data, size);
  testing_expect(heddle_object_call(copy, size - 1, buffers), HEDDLE_INVALID, "");
  testing_expect(heddle_object_call(copy, 0, buffers), HEDDLE_INVALID, "this is no saved program");
  testing_expect(heddle_object_call(copy, size, buffers), HEDDLE_INVALID, "found null for input 0");
  testing_expect(heddle_object_call(copy, size, NULL), HEDDLE_INVALID, "found null");
  testing_expect(heddle_object_call(NULL, size, buffers), HEDDLE_INVALID, "found null");
  copy[8] = 9;
  testing_expect(heddle_object_call(copy, size, buffers), HEDDLE_UNIMPLEMENTED, "has format 9");
  free(copy);
}

static void a_comparator_goes_with_its_sort(void **state) {
  const fixture *f = *state;
  object_call call = {0};
  const program_thunk *sort = first_of(&f->compiled.program, THUNK_SORT);
  testing_expect(object_call_make(f->arena, &f->compiled, &f->compiled.program, sort, &call), HEDDLE_OK, "");
  static _Alignas(64) float memory[4][N * N];
  void *buffers[4] = {memory[0], memory[1], memory[2], memory[3]};
  memset(memory, 0, sizeof memory);
  assert_true(call.buffer_count <= 4);
  // All elements are alike to the comparator.
  testing_expect(heddle_object_call(call.description.data, call.description.size, buffers), HEDDLE_OK, "");
  text_free(&call.description);
}

static void what_cannot_be_handed_over_is_named(void **state) {
  const fixture *f = *state;
  object_call call = {0};
  program_thunk transfer = *f->thunk;
  transfer.kind = THUNK_TRANSFER;
  testing_expect(object_call_make(f->arena, &f->compiled, &f->compiled.program, &transfer, &call), HEDDLE_UNIMPLEMENTED,
                 "belongs to the whole run");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_product_lies_where_the_buffers_say),
      cmocka_unit_test(damage_is_found),
      cmocka_unit_test(a_comparator_goes_with_its_sort),
      cmocka_unit_test(what_cannot_be_handed_over_is_named),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
