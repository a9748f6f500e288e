// Literals are row-major with one element per byte at least; kernels see memory as the shape's layout orders it, with
// s2, s4, u2 and u4 packed (the element with the lower index in the lower bits). The two conversions here are the only
// places that know both.
#include "api/run.h"

// Visits the elements of `s` in the order of memory: calls with the row-major number of each.
typedef struct physical_order {
  int rank;
  int64_t dims[SHAPE_MAX_RANK];     // minor to major
  int64_t strides[SHAPE_MAX_RANK];  // of the row-major numbering, in the same order
  int64_t index[SHAPE_MAX_RANK];
  int64_t element;  // row-major number of the current one
} physical_order;

static void physical_start(physical_order *p, const shape *s) {
  int64_t order[SHAPE_MAX_RANK], strides[SHAPE_MAX_RANK];
  *p = (physical_order){.rank = s->rank};
  shape_minor_to_major(s, order);
  shape_strides(s, strides);
  for (int i = 0; i < s->rank; i++) {
    p->dims[i] = s->dims[order[i]];
    p->strides[i] = strides[order[i]];
  }
}

static void physical_next(physical_order *p) {
  for (int i = 0; i < p->rank; i++) {
    p->element += p->strides[i];
    if (++p->index[i] < p->dims[i]) return;
    p->element -= p->strides[i] * p->dims[i];
    p->index[i] = 0;
  }
}

static bool is_packed(const shape *s) { return dtypes[s->dtype].bits < 8; }

static void copy_in(const literal *l, const shape *s, char *memory) {
  int64_t count = shape_element_count(s);
  size_t bytes = (size_t)dtypes[s->dtype].bytes;
  if (!is_packed(s) && shape_layout_is_default(s)) {
    memcpy(memory, l->data, (size_t)count * bytes);
    return;
  }
  int bits = dtypes[s->dtype].bits;
  int per_byte = is_packed(s) ? 8 / bits : 1;
  const char *data = l->data;
  if (is_packed(s)) memset(memory, 0, (size_t)plan_buffer_bytes(s));
  physical_order p;
  physical_start(&p, s);
  for (int64_t i = 0; i < count; i++, physical_next(&p)) {
    if (is_packed(s)) memory[i / per_byte] |= (char)((data[p.element] & ((1 << bits) - 1)) << (i % per_byte * bits));
    else memcpy(memory + (size_t)i * bytes, data + (size_t)p.element * bytes, bytes);
  }
}

static void copy_out(const char *memory, const shape *s, literal *l) {
  int64_t count = shape_element_count(s);
  size_t bytes = (size_t)dtypes[s->dtype].bytes;
  if (!is_packed(s) && shape_layout_is_default(s)) {
    memcpy(l->data, memory, (size_t)count * bytes);
    return;
  }
  int bits = dtypes[s->dtype].bits;
  int per_byte = is_packed(s) ? 8 / bits : 1;
  char *data = l->data;
  physical_order p;
  physical_start(&p, s);
  for (int64_t i = 0; i < count; i++, physical_next(&p)) {
    if (is_packed(s)) literal_set_int(l, p.element, (unsigned char)memory[i / per_byte] >> (i % per_byte * bits));
    else memcpy(data + (size_t)p.element * bytes, memory + (size_t)i * bytes, bytes);
  }
}

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

static heddle_status bind(arena *a, run *r, literal *const *arguments) {
  const program_plan *plan = r->program->plan;
  for (int i = 0; i < plan->parameter_count; i++) {
    TRY(check_argument(a, plan->parameters[i], arguments[i], i));
    TRY(take(r->program, plan->parameters[i], &r->parameters[i]));
    copy_in(arguments[i], plan->parameters[i], r->parameters[i]);
  }
  for (int i = 0; i < plan->result_count; i++) TRY(take(r->program, plan->results[i], &r->results[i]));
  return status_ok();
}

heddle_status run_bind(arena *a, compiled *c, int argument_count, literal *const *arguments, run *out) {
  const program_plan *plan = c->plan;
  *out = (run){.program = c,
               .parameters = arena_array(a, void *, plan->parameter_count),
               .results = arena_array(a, void *, plan->result_count)};
  if (argument_count != plan->parameter_count)
    return status_error(HEDDLE_INVALID, "found %d arguments, wanted %d", argument_count, plan->parameter_count);
  TRY(plan_check_work(plan));
  heddle_status s = bind(a, out, arguments);
  if (!status_is_ok(s)) run_release(out);
  return s;
}

heddle_status run_execute(run *r) { return executor_run(&r->program->executable, r->parameters, r->results); }

void run_fetch_into(const run *r, int number, void *memory) {
  const shape *s = r->program->plan->results[number];
  literal view = {.shape = s, .data = memory};
  copy_out(r->results[number], s, &view);
}

heddle_status run_fetch(arena *a, const run *r, literal **out) {
  const program_plan *plan = r->program->plan;
  literal **leaves = arena_array(a, literal *, plan->result_count);
  for (int i = 0; i < plan->result_count; i++) {
    TRY(literal_create(a, plan->results[i], &leaves[i]));
    copy_out(r->results[i], plan->results[i], leaves[i]);
  }
  if (!plan->result_is_tuple) {
    *out = leaves[0];
    return status_ok();
  }
  literal *tuple = arena_new(a, literal);
  *tuple = (literal){.shape = shape_tuple(a, plan->result_count, plan->results), .elements = leaves};
  *out = tuple;
  return status_ok();
}

void run_release(run *r) {
  const program_plan *plan = r->program->plan;
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
