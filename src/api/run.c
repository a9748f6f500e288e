// Arguments in, results out: between literals, which are trees of row-major arrays, and the program's leaves.
#include "api/run.h"

#include <string.h>

#include "api/memory.h"

static heddle_status take(compiled *c, const shape *s, const char *what, int number, void **out) {
  int64_t bytes = plan_buffer_bytes(s);
  *out = buffer_take(c->buffers, (size_t)bytes);
  if (*out) return status_ok();
  return status_at(HEDDLE_OUT_OF_MEMORY, c->plan->module->entry->where,
                   "no memory for the %lld bytes of %s %d of the program", (long long)bytes, what, number);
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

// The leaves of the device begin at `first`.
static heddle_status fill(arena *a, run *r, int device, const leaf_list *all, int first) {
  const lhlo_program *plan = r->program->plan;
  for (int i = 0; i < plan->parameter_count && all->data; i++) {
    const literal *leaf = all->data[first + i];
    TRY(check_argument(a, plan->parameters[i], leaf, i));
    TRY(take(r->program, plan->parameters[i], "parameter", i, &r->parameters[device][i]));
    memory_from_literal(leaf, plan->parameters[i], r->parameters[device][i]);
  }
  return status_ok();
}

static heddle_status fill_all(arena *a, run *r, const leaf_list *leaves) {
  const lhlo_program *plan = r->program->plan;
  for (int d = 0; d < plan->device_count; d++) {
    if (d && r->shares_parameters) r->parameters[d] = r->parameters[0];
    else TRY(fill(a, r, d, leaves, d * plan->parameter_count));
    for (int i = 0; i < plan->result_count; i++)
      TRY(take(r->program, plan->results[i], "result", i, &r->results[d][i]));
  }
  return status_ok();
}

heddle_status run_bind(arena *a, compiled *c, int argument_count, literal *const *arguments, run *out) {
  const lhlo_program *plan = c->plan;
  const int devices = plan->device_count;
  *out =
      (run){.program = c, .parameters = arena_array(a, void **, devices), .results = arena_array(a, void **, devices)};
  for (int d = 0; d < devices; d++) {
    out->parameters[d] = arena_array(a, void *, plan->parameter_count);
    out->results[d] = arena_array(a, void *, plan->result_count);
  }
  leaf_list leaves = {0};
  for (int i = 0; i < argument_count; i++) add_leaves(a, arguments[i], &leaves);
  out->shares_parameters = leaves.size == plan->parameter_count;
  if (!out->shares_parameters && leaves.size != devices * plan->parameter_count)
    return status_error(HEDDLE_INVALID, "found %d arguments, wanted %d%s", leaves.size, plan->parameter_count,
                        devices > 1 ? " for each device or for all" : "");
  heddle_status s = fill_all(a, out, &leaves);
  if (!status_is_ok(s)) run_release(out);
  return s;
}

heddle_status run_execute(run *r) {
  if (r->program->plan->device_count == 1)
    return executable_run(r->program->executable, r->parameters[0], r->results[0]);
  return executable_run_devices(r->program->executable, (void *const *const *)r->parameters,
                                (void *const *const *)r->results);
}

// The sizes that a result has, whatever its bounds are.
static heddle_status find_sizes(const run *r, int device, int number, int64_t *dims) {
  const lhlo_program *plan = r->program->plan;
  const shape *s = plan->results[number];
  for (int d = 0; d < s->rank; d++) dims[d] = s->dims[d];
  for (int k = 0; k < plan->dynamic.count; k++) {
    const dynamic_size *x = &plan->dynamic.sizes[k];
    if (x->result != number) continue;
    int32_t size;
    memcpy(&size, r->results[device][x->size], sizeof size);
    if (size < 0 || size > s->dims[x->dimension])
      return status_error(HEDDLE_INVALID, "dimension %d of result %d has size %d, beyond its bound %lld", x->dimension,
                          number, size, (long long)s->dims[x->dimension]);
    dims[x->dimension] = size;
  }
  return status_ok();
}

heddle_status run_fetch_into(const run *r, int device, int number, void *memory, int64_t *dims) {
  const shape *s = r->program->plan->results[number];
  literal view = {.shape = s, .data = memory};
  TRY(find_sizes(r, device, number, dims));
  memory_to_literal(r->results[device][number], s, &view);
  memory_cut(memory, (size_t)dtypes[s->dtype].bytes, s->rank, s->dims, dims);
  return status_ok();
}

static heddle_status fetch_array(arena *a, const run *r, int device, const shape *s, int number, literal **out) {
  int64_t dims[SHAPE_MAX_RANK];
  const shape *found = r->program->plan->results[number];
  TRY(literal_create(a, s, out));
  TRY(run_fetch_into(r, device, number, (*out)->data, dims));
  bool is_whole = shape_is_static(s);
  for (int d = 0; d < found->rank; d++) is_whole = is_whole && dims[d] == found->dims[d];
  if (!is_whole) (*out)->shape = shape_array(a, s->dtype, s->rank, dims);
  return status_ok();
}

// A value of shape `s` whose leaves are the results from *next on. Sizes at the end of the outermost tuple, with which
// a program comes out of the passes, are left out.
static heddle_status fetch(arena *a, const run *r, int device, const shape *s, int *next, literal **out) {
  if (shape_is_array(s)) return fetch_array(a, r, device, s, (*next)++, out);
  const int given = r->program->plan->dynamic.given_count;
  literal **elements = arena_array(a, literal *, s->tuple_size);
  int count = 0;
  for (int i = 0; i < s->tuple_size && (*next < given || !shape_is_array(s->elements[i])); i++)
    TRY(fetch(a, r, device, s->elements[i], next, &elements[count++]));
  *out = arena_new(a, literal);
  if (r->program->plan->dynamic.count) *out = literal_tuple(a, count, elements);
  else **out = (literal){.shape = s, .elements = elements};
  return status_ok();
}

heddle_status run_fetch(arena *a, const run *r, literal **out) {
  const compiled *c = r->program;
  const int devices = c->plan->device_count;
  const shape *s = c->source ? c->source->entry->root->shape
                             : shape_tuple(a, c->plan->result_count, (const shape *const *)c->plan->results);
  literal **results = arena_array(a, literal *, devices);
  for (int d = 0; d < devices; d++) {
    int next = 0;
    TRY(fetch(a, r, d, s, &next, &results[d]));
  }
  *out = devices == 1 ? results[0] : literal_tuple(a, devices, results);
  return status_ok();
}

static void give_all(compiled *c, int count, void **buffers) {
  if (!buffers) return;  // the host had no memory for the list
  for (int i = 0; i < count; i++) buffer_give(c->buffers, buffers[i]);
  memset(buffers, 0, sizeof *buffers * (size_t)count);
}

void run_release(run *r) {
  const lhlo_program *plan = r->program->plan;
  for (int d = 0; d < plan->device_count; d++) {
    if (!d || !r->shares_parameters) give_all(r->program, plan->parameter_count, r->parameters[d]);
    give_all(r->program, plan->result_count, r->results[d]);
  }
}

heddle_status run_once(arena *a, compiled *c, int argument_count, literal *const *arguments, literal **out) {
  run r;
  TRY(run_bind(a, c, argument_count, arguments, &r));
  heddle_status s = run_execute(&r);
  if (status_is_ok(s)) s = run_fetch(a, &r, out);
  run_release(&r);
  return s;
}
