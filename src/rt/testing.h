// Programs written by hand, for the tests of this room.
#ifndef HEDDLE_RT_TESTING_H_
#define HEDDLE_RT_TESTING_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/testing.h"
#include "base/vec.h"
#include "prog/library_fields.h"
#include "rt/executable.h"

typedef struct testing_program {
  arena *arena;
  program program;
  VEC(program_value) parameters, results;
  VEC(program_allocation) allocations;
  VEC(program_slice) slices;
  VEC(program_kernel) kernels;
  VEC(kernel_fn) entries;
  const char *device;  // that it runs on; null: whichever there is
} testing_program;

static inline testing_program testing_start(void) {
  return (testing_program){.arena = arena_create(), .program = {.name = "by hand", .device_count = 1}};
}

// An allocation and a slice of all of it; returns the slice's number.
static inline int testing_memory(testing_program *h, program_allocation_kind kind, int number, int64_t bytes) {
  int64_t *dims = arena_array(h->arena, int64_t, 2);
  dims[0] = bytes;
  const program_value value = {"", {DTYPE_S8, 1, dims, &dims[1]}, -1};
  vec_push(h->arena, &h->allocations, ((program_allocation){.kind = kind, .number = number, .bytes = bytes}));
  if (kind == PROGRAM_TEMPORARY) h->program.temporary_bytes = bytes;
  if (kind == PROGRAM_PARAMETER) vec_push(h->arena, &h->parameters, value);
  if (kind == PROGRAM_RESULT) vec_push(h->arena, &h->results, value);
  vec_push(h->arena, &h->slices, ((program_slice){h->allocations.size - 1, 0, bytes}));
  return h->slices.size - 1;
}

static inline int testing_constant(testing_program *h, const void *data, int64_t bytes) {
  const int slice = testing_memory(h, PROGRAM_CONSTANT, 0, bytes);
  vec_last(&h->allocations).data = data;
  return slice;
}

static inline int testing_slice(testing_program *h, int of, int64_t offset, int64_t bytes) {
  vec_push(h->arena, &h->slices, ((program_slice){h->slices.data[of].allocation, offset, bytes}));
  return h->slices.size - 1;
}

static inline int testing_kernel(testing_program *h, kernel_fn fn, int buffers) {
  vec_push(h->arena, &h->kernels, ((program_kernel){.entry = "kernel", .buffer_count = buffers, .tiles = 1}));
  vec_push(h->arena, &h->entries, fn);
  return h->kernels.size - 1;
}

static inline const int *testing_numbers(testing_program *h, int count, const int *numbers) {
  int *copy = arena_array(h->arena, int, count);
  for (int i = 0; i < count; i++) copy[i] = numbers[i];
  return copy;
}

// A thunk that reads and writes these slices; `reads` and `writes` may be null if there are none.
static inline program_thunk *testing_thunk(testing_program *h, program_thunk_kind kind, int read_count,
                                           const int *reads, int write_count, const int *writes) {
  program_thunk *t = arena_new(h->arena, program_thunk);
  *t = (program_thunk){.kind = kind, .name = "t"};
  program_fields_clear(t);
  t->read_count = read_count;
  t->reads = testing_numbers(h, read_count, reads);
  t->write_count = write_count;
  t->writes = testing_numbers(h, write_count, writes);
  return t;
}

// A kernel of one tile with the buffers `from` and `to`, which shares nothing with other steps.
static inline program_thunk *testing_step(testing_program *h, int kernel, int from, int to) {
  program_thunk *t = testing_thunk(h, THUNK_KERNEL, 1, &from, 1, &to);
  vec_push(h->arena, &h->kernels, h->kernels.data[kernel]);
  vec_push(h->arena, &h->entries, h->entries.data[kernel]);
  t->launch = (program_launch){h->kernels.size - 1, 2, testing_numbers(h, 2, (int[]){from, to})};
  return t;
}

static inline program_kernel *testing_kernel_of(const testing_program *h, const program_thunk *t) {
  return &h->kernels.data[t->launch.kernel];
}

static inline program_sequence testing_sequence(testing_program *h, int count, program_thunk *const *thunks) {
  const program_thunk **copy = arena_array(h->arena, const program_thunk *, count);
  for (int i = 0; i < count; i++) copy[i] = thunks[i];
  return (program_sequence){count, copy};
}

static inline void testing_nest(testing_program *h, program_thunk *t, int count, const program_sequence *sequences) {
  program_sequence *copy = arena_array(h->arena, program_sequence, count);
  for (int i = 0; i < count; i++) copy[i] = sequences[i];
  t->sequence_count = count;
  t->sequences = copy;
}

static inline heddle_status testing_create(testing_program *h, program_sequence entry, int threads, executable **out) {
  program *p = &h->program;
  p->entry = entry;
  p->parameter_count = h->parameters.size;
  p->parameters = h->parameters.data;
  p->result_count = p->given_result_count = h->results.size;
  p->results = h->results.data;
  p->allocation_count = h->allocations.size;
  p->allocations = h->allocations.data;
  p->slice_count = h->slices.size;
  p->slices = h->slices.data;
  p->kernel_count = h->kernels.size;
  p->kernels = h->kernels.data;
  return executable_create(p, h->entries.data, &(executable_options){.threads = threads, .device = h->device}, out);
}

// An array over a whole slice; dims are copied.
static inline program_array testing_array(testing_program *h, dtype t, int rank, const int64_t *dims, int slice) {
  int64_t *copy = arena_array(h->arena, int64_t, rank);
  for (int d = 0; d < rank; d++) copy[d] = dims[d];
  return (program_array){t, rank, copy, slice};
}

// A library thunk that reads its operands and writes its results.
static inline program_thunk *testing_library(testing_program *h, program_thunk_kind kind, int operand_count,
                                             const program_array *operands, int result_count,
                                             const program_array *results) {
  program_array *arrays = arena_array(h->arena, program_array, operand_count + result_count);
  int *slices = arena_array(h->arena, int, operand_count + result_count);
  for (int k = 0; k < operand_count; k++) arrays[k] = operands[k];
  for (int k = 0; k < result_count; k++) arrays[operand_count + k] = results[k];
  for (int k = 0; k < operand_count + result_count; k++) slices[k] = arrays[k].slice;
  program_thunk *t = testing_thunk(h, kind, operand_count, slices, result_count, slices + operand_count);
  t->operand_count = operand_count;
  t->operands = arrays;
  t->result_count = result_count;
  t->results = arrays + operand_count;
  return t;
}

static inline void testing_check(heddle_status s) {
  if (!status_is_ok(s)) fail_msg("%s", heddle_status_message(s));
}

static inline void testing_attribute(testing_program *h, program_thunk *t, named_attribute attribute) {
  testing_check(program_field_set(h->arena, t, &attribute));
}

static inline void testing_ints(testing_program *h, program_thunk *t, const char *name, int count,
                                const int64_t *ints) {
  testing_attribute(h, t, (named_attribute){.name = name, .kind = NAMED_INTS, .count = count, .ints = ints});
}

static inline void testing_int(testing_program *h, program_thunk *t, const char *name, int64_t value) {
  testing_ints(h, t, name, 1, &value);
}

static inline void testing_text(testing_program *h, program_thunk *t, const char *name, const char *value) {
  testing_attribute(h, t, (named_attribute){.name = name, .kind = NAMED_TEXT, .text = value});
}

// Fails unless the status is an error whose message holds `words`.
static inline void testing_check_error(heddle_status s, heddle_code code, const char *words) {
  assert_int_equal(heddle_status_code(s), code);
  if (!strstr(heddle_status_message(s), words)) fail_msg("%s: %s", words, heddle_status_message(s));
  heddle_status_free(s);
}

// Creates, runs once and destroys.
static inline void testing_run(testing_program *h, program_sequence entry, int threads, void *const *parameters,
                               void *const *results) {
  executable *e;
  testing_check(testing_create(h, entry, threads, &e));
  testing_check(executable_run(e, parameters, results));
  executable_destroy(e);
}

static inline void testing_end(testing_program *h) { arena_destroy(h->arena); }

#endif
