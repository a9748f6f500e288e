// Nothing is asked of the compiler: the program says what it takes and gives.
#include "rt/invocation.h"

#include <string.h>

#include "base/host.h"
#include "prog/program_layout.h"
#include "rt/memory.h"

static heddle_status take(const invocable *c, const program_value *v, const char *what, int number, void **out) {
  const int64_t bytes = program_shape_packed_bytes(&v->shape);
  *out = buffer_take(c->buffers, (size_t)bytes);
  if (*out) return status_ok();
  return status_at(HEDDLE_OUT_OF_MEMORY, c->program->where, "no memory for the %lld bytes of %s %d of the program",
                   (long long)bytes, what, number);
}

static void copy(const invocable *c, void *to, const void *from, const program_shape *s) {
  memory_copy(to, from, program_shape_packed_bytes(s), c->executable->context.threads);
}

static heddle_status fill(invocation *i, int device, const void *const *arguments) {
  const program *p = i->of->program;
  for (int k = 0; k < p->parameter_count; k++) {
    TRY(take(i->of, &p->parameters[k], "parameter", k, &i->parameters[device][k]));
    const program_shape *s = &p->parameters[k].shape;
    if (program_shape_is_plain(s)) copy(i->of, i->parameters[device][k], arguments[k], s);
    else program_layout_pack(arguments[k], s, i->parameters[device][k]);
  }
  return status_ok();
}

static heddle_status fill_all(invocation *i, const void *const *const *arguments) {
  const program *p = i->of->program;
  for (int d = 0; d < p->device_count; d++) {
    if (d && i->shares_parameters) i->parameters[d] = i->parameters[0];
    else TRY(fill(i, d, arguments[d]));
    for (int k = 0; k < p->result_count; k++) TRY(take(i->of, &p->results[k], "result", k, &i->results[d][k]));
  }
  return status_ok();
}

heddle_status invocation_bind(arena *a, const invocable *of, const void *const *const *arguments,
                              bool shares_parameters, invocation *out) {
  const program *p = of->program;
  const int devices = p->device_count;
  *out = (invocation){.of = of,
                      .parameters = arena_array(a, void **, devices),
                      .results = arena_array(a, void **, devices),
                      .shares_parameters = shares_parameters};
  for (int d = 0; d < devices; d++) {
    out->parameters[d] = arena_array(a, void *, p->parameter_count);
    out->results[d] = arena_array(a, void *, p->result_count);
  }
  heddle_status s = fill_all(out, arguments);
  if (!status_is_ok(s)) invocation_release(out);
  return s;
}

heddle_status invocation_execute(const invocation *i) {
  if (i->of->program->device_count == 1) return executable_run(i->of->executable, i->parameters[0], i->results[0]);
  return executable_run_devices(i->of->executable, (void *const *const *)i->parameters,
                                (void *const *const *)i->results);
}

heddle_status invocation_sizes(const invocation *i, int device, int number, int64_t *dims) {
  const program *p = i->of->program;
  const program_shape *s = &p->results[number].shape;
  for (int d = 0; d < s->rank; d++) dims[d] = s->dims[d];
  for (int k = 0; k < p->dynamic_count; k++) {
    const program_dynamic_size *x = &p->dynamic[k];
    if (x->result != number) continue;
    int32_t size;
    memcpy(&size, i->results[device][x->size], sizeof size);
    if (size < 0 || size > s->dims[x->dimension])
      return status_error(HEDDLE_INVALID, "dimension %d of result %d has size %d, beyond its bound %lld", x->dimension,
                          number, size, (long long)s->dims[x->dimension]);
    dims[x->dimension] = size;
  }
  return status_ok();
}

heddle_status invocation_fetch(const invocation *i, int device, int number, void *memory, int64_t *dims) {
  const program_shape *s = &i->of->program->results[number].shape;
  TRY(invocation_sizes(i, device, number, dims));
  host_expect(memory, (size_t)program_shape_bytes(s));
  if (program_shape_is_plain(s)) copy(i->of, memory, i->results[device][number], s);
  else program_layout_unpack(i->results[device][number], s, memory);
  program_layout_cut(memory, (size_t)dtypes[s->type].bytes, s->rank, s->dims, dims);
  return status_ok();
}

static void give_all(const invocable *c, int count, void **buffers) {
  if (!buffers) return;  // the host had no memory for the list
  for (int k = 0; k < count; k++) buffer_give(c->buffers, buffers[k]);
  memset(buffers, 0, sizeof *buffers * (size_t)count);
}

void invocation_release(invocation *i) {
  if (!i->of) return;  // the host had no memory to begin with
  const program *p = i->of->program;
  for (int d = 0; d < p->device_count; d++) {
    if (!d || !i->shares_parameters) give_all(i->of, p->parameter_count, i->parameters[d]);
    give_all(i->of, p->result_count, i->results[d]);
  }
}
