// Evaluates the operations that are routines of lib: custom calls by their names, cholesky and triangular-solve.
// Results are zeros until the routine has written them; the routine runs on one thread.
#include "eval/library.h"

#include <stdio.h>

#include "eval/compute.h"
#include "eval/custom_call.h"
#include "hlo/call_attributes.h"

enum { ALIGNMENT = 64 };

lib_array library_array(const value *v) {
  return (lib_array){.type = v->shape->dtype, .rank = v->shape->rank, .dims = v->shape->dims, .data = v->data};
}

static heddle_status with_place(heddle_status status, source_location where) {
  if (status_is_ok(status) || status_where(status).line) return status;
  heddle_status placed = status_at(heddle_status_code(status), where, "%s", status_brief(status));
  heddle_status_free(status);
  return placed;
}

typedef struct routine_run {
  interpreter *in;
  const instruction *instruction;
  arena *arena;
  int result_count;
  value **results;
  lib_call call;
} routine_run;

static heddle_status describe_operands(routine_run *c, value *const *operands) {
  const instruction *i = c->instruction;
  lib_array *arrays = arena_array(c->arena, lib_array, i->operand_count);
  for (int k = 0; k < i->operand_count; k++) {
    if (!shape_is_array(operands[k]->shape)) return status_at(HEDDLE_INVALID, i->where, "operand %d is no array", k);
    arrays[k] = library_array(operands[k]);
  }
  c->call.operand_count = i->operand_count;
  c->call.operands = arrays;
  return status_ok();
}

static heddle_status create_results(routine_run *c) {
  const shape *s = c->instruction->shape;
  const int count = shape_is_tuple(s) ? s->tuple_size : shape_is_array(s) ? 1 : 0;
  lib_array *arrays = arena_array(c->arena, lib_array, count);
  c->results = arena_array(c->arena, value *, count);
  for (int k = 0; k < count; k++) {
    const shape *element = shape_is_tuple(s) ? s->elements[k] : s;
    if (!shape_is_array(element)) return status_at(HEDDLE_INVALID, c->instruction->where, "result %d is no array", k);
    TRY(value_create_zeros(&c->in->pool, element, c->instruction->where, &c->results[k]));
    c->result_count++;
    arrays[k] = library_array(c->results[k]);
  }
  c->call.result_count = count;
  c->call.results = arrays;
  return status_ok();
}

static heddle_status run(routine_run *c, const lib_routine *routine) {
  const int64_t bytes = (routine->scratch ? routine->scratch(&c->call) : 0) + ALIGNMENT;
  const shape room_shape = {.dtype = DTYPE_U8, .rank = 1, .dims = &bytes};
  value *room;
  TRY(value_create(&c->in->pool, &room_shape, c->instruction->where, &room));
  c->call.scratch = (void *)(((uintptr_t)room->data + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  heddle_status status = with_place(routine->call(&c->call), c->instruction->where);
  value_release(room);
  return status;
}

static heddle_status finish(routine_run *c, value **out) {
  const shape *s = c->instruction->shape;
  if (shape_is_tuple(s)) return value_create_tuple(&c->in->pool, s, c->results, c->instruction->where, out);
  if (c->result_count == 0) return value_create_empty(&c->in->pool, s, out);
  *out = value_retain(c->results[0]);
  return status_ok();
}

static heddle_status call_routine(routine_run *c, value *const *operands, value **out) {
  const lib_routine *routine = lib_find(c->call.target);
  if (!routine) return interpreter_refuse(c->instruction, "the routine is unknown");
  TRY(describe_operands(c, operands));
  heddle_status status = create_results(c);
  if (status_is_ok(status)) status = run(c, routine);
  if (status_is_ok(status)) status = finish(c, out);
  for (int k = 0; k < c->result_count; k++) value_release(c->results[k]);
  return status;
}

heddle_status library_run(interpreter *in, const instruction *i, str target, value *const *operands, value **out) {
  routine_run c = {.in = in, .instruction = i, .arena = arena_create()};
  c.call.threads = 1;
  c.call.target = arena_strdup(c.arena, target.data, target.size);
  c.call.attribute_count = call_attributes(c.arena, i->attributes->backend_config, &c.call.attributes);
  heddle_status status = call_routine(&c, operands, out);
  arena_destroy(c.arena);
  return status;
}

heddle_status custom_call_library(interpreter *in, const instruction *i, value *const *operands, value **out) {
  return library_run(in, i, i->attributes->custom_call_target, operands, out);
}

// An operation as the call that compiled programs make of it.
static heddle_status run_as_call(interpreter *in, const instruction *i, const char *target, const char *attributes,
                                 value *const *operands, value **out) {
  hlo_attributes own = *i->attributes;
  own.backend_config = str_from(attributes);
  instruction same = *i;
  same.attributes = &own;
  return library_run(in, &same, str_from(target), operands, out);
}

// What backward errors of a factorization amount to: its matrices' elements move.
static void disturb_matrices(interpreter *in, const value *from, int64_t block, double *room, value *to) {
  const dtype t = from->shape->dtype;
  const int64_t count = shape_element_count(from->shape);
  for (int64_t first = 0; first < count; first += block) {
    compute_load(t, from->data, first, block, room);
    noise_on_line(&in->noise, t, (double)block, block, room);
    compute_store(t, to->data, first, block, room);
  }
}

// The operand itself where there is no noise.
static heddle_status with_noise(interpreter *in, const instruction *i, value *v, value **out) {
  const shape *s = v->shape;
  *out = NULL;
  if (!in->noise.state || shape_element_count(s) == 0) {
    *out = value_retain(v);
    return status_ok();
  }
  const int64_t block = s->dims[s->rank - 2] * s->dims[s->rank - 1];
  const int64_t words = block * (compute_size(s->dtype) / 8);
  const shape room_shape = {.dtype = DTYPE_U64, .rank = 1, .dims = &words};
  value *room;
  TRY(value_create(&in->pool, s, i->where, out));
  heddle_status status = value_create(&in->pool, &room_shape, i->where, &room);
  if (!status_is_ok(status)) return status;
  disturb_matrices(in, v, block, room->data, *out);
  value_release(room);
  return status;
}

heddle_status eval_cholesky(interpreter *in, const instruction *i, value *const *operands, value **out) {
  value *matrix;
  const char *attributes = i->attributes->lower ? "{lower = true}" : "{lower = false}";
  heddle_status status = with_noise(in, i, operands[0], &matrix);
  if (status_is_ok(status)) status = run_as_call(in, i, "heddle.cholesky", attributes, &matrix, out);
  value_release(matrix);
  return status;
}

heddle_status eval_triangular_solve(interpreter *in, const instruction *i, value *const *operands, value **out) {
  const hlo_attributes *x = i->attributes;
  char attributes[128];
  snprintf(attributes, sizeof attributes, "{left_side = %d, lower = %d, unit_diagonal = %d, transpose_a = %d}",
           x->left_side, x->lower, x->unit_diagonal, (int)x->transpose_a);
  return run_as_call(in, i, "heddle.triangular_solve", attributes, operands, out);
}
