// Arguments in, results out: between literals, which are trees of row-major arrays, and the program's leaves.
#include "api/run.h"

#include <string.h>

#include "api/memory.h"

static heddle_status take(compiled *c, const shape *s, void **out) {
  int64_t bytes = plan_buffer_bytes(s);
  *out = buffer_take(c->buffers, (size_t)bytes);
  if (*out) return status_ok();
  return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a buffer of %lld bytes", (long long)bytes);
}

static heddle_status check_argument(arena *a, const shape *wanted, const literal *given, int number) {
  if (given->shape->dtype == wanted->dtype && shape_same_dims(given->shape, wanted)) return status_ok();
  return status_error(HEDDLE_INVALID, "argument %d: found %s, wanted %s", number, shape_text(a, given->shape),
                      shape_text(a, wanted));
}

typedef VEC(literal *) leaf_list;

// Tokens are no arrays and have no leaf. Tuples nest at most SHAPE_MAX_NESTING deep.
static void add_leaves(arena *a, literal *value, leaf_list *out) {
  if (shape_is_array(value->shape)) vec_push(a, out, value);
  for (int i = 0; i < value->shape->tuple_size; i++) add_leaves(a, value->elements[i], out);
}

static heddle_status fill(arena *a, run *r, const leaf_list *leaves) {
  const lhlo_program *plan = r->program->plan;
  for (int i = 0; i < plan->parameter_count; i++) {
    TRY(check_argument(a, plan->parameters[i], leaves->data[i], i));
    TRY(take(r->program, plan->parameters[i], &r->parameters[i]));
    memory_from_literal(leaves->data[i], plan->parameters[i], r->parameters[i]);
  }
  for (int i = 0; i < plan->result_count; i++) TRY(take(r->program, plan->results[i], &r->results[i]));
  return status_ok();
}

heddle_status run_bind(arena *a, compiled *c, int argument_count, literal *const *arguments, run *out) {
  const lhlo_program *plan = c->plan;
  *out = (run){.program = c,
               .parameters = arena_array(a, void *, plan->parameter_count),
               .results = arena_array(a, void *, plan->result_count)};
  leaf_list leaves = {0};
  for (int i = 0; i < argument_count; i++) add_leaves(a, arguments[i], &leaves);
  if (leaves.size != plan->parameter_count)
    return status_error(HEDDLE_INVALID, "found %d arguments, wanted %d", leaves.size, plan->parameter_count);
  heddle_status s = fill(a, out, &leaves);
  if (!status_is_ok(s)) run_release(out);
  return s;
}

heddle_status run_execute(run *r) { return executable_run(r->program->executable, r->parameters, r->results); }

void run_fetch_into(const run *r, int number, void *memory) {
  const shape *s = r->program->plan->results[number];
  literal view = {.shape = s, .data = memory};
  memory_to_literal(r->results[number], s, &view);
}

// A value of shape `s` whose leaves are the results from *next on.
static heddle_status fetch(arena *a, const run *r, const shape *s, int *next, literal **out) {
  if (shape_is_array(s)) {
    TRY(literal_create(a, s, out));
    memory_to_literal(r->results[*next], r->program->plan->results[*next], *out);
    ++*next;
    return status_ok();
  }
  literal *tuple = arena_new(a, literal);
  *tuple = (literal){.shape = s, .elements = arena_array(a, literal *, s->tuple_size)};
  for (int i = 0; i < s->tuple_size; i++) TRY(fetch(a, r, s->elements[i], next, &tuple->elements[i]));
  *out = tuple;
  return status_ok();
}

heddle_status run_fetch(arena *a, const run *r, literal **out) {
  const compiled *c = r->program;
  const shape *s = c->source ? c->source->entry->root->shape
                             : shape_tuple(a, c->plan->result_count, (const shape *const *)c->plan->results);
  int next = 0;
  return fetch(a, r, s, &next, out);
}

void run_release(run *r) {
  const lhlo_program *plan = r->program->plan;
  for (int i = 0; i < plan->parameter_count; i++) buffer_give(r->program->buffers, r->parameters[i]);
  for (int i = 0; i < plan->result_count; i++) buffer_give(r->program->buffers, r->results[i]);
  memset(r->parameters, 0, sizeof *r->parameters * (size_t)plan->parameter_count);
  memset(r->results, 0, sizeof *r->results * (size_t)plan->result_count);
}

heddle_status run_once(arena *a, compiled *c, int argument_count, literal *const *arguments, literal **out) {
  run r;
  TRY(run_bind(a, c, argument_count, arguments, &r));
  heddle_status s = run_execute(&r);
  if (status_is_ok(s)) s = run_fetch(a, &r, out);
  run_release(&r);
  return s;
}
