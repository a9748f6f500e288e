#include "rt/executable.h"

#include <stdlib.h>

#include "rt/frame.h"
#include "rt/memory.h"
#include "rt/program_check.h"
#include "rt/sequence.h"

heddle_status executable_create(const program *p, const kernel_fn *entries, int threads, executable **out) {
  *out = NULL;
  TRY(program_check(p));
  executable *e = calloc(1, sizeof *e);
  if (!e) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for an executable");
  e->program = p;
  e->threads = threads < 1 ? 1 : threads;
  e->arena = arena_create();
  e->entries = arena_array(e->arena, kernel_fn, p->kernel_count);
  for (int i = 0; i < p->kernel_count; i++) e->entries[i] = entries[i];
  heddle_status s = sequence_create(e->arena, e, &p->entry, &e->entry);
  if (!status_is_ok(s)) {
    executable_destroy(e);
    return s;
  }
  *out = e;
  return status_ok();
}

void executable_destroy(executable *e) {
  if (!e) return;
  frame_release_all(e);
  sequence_release(e->entry);
  arena_destroy(e->arena);
  free(e);
}

void executable_set_profiler(executable *e, profile_fn fn, void *user) {
  e->profile = fn;
  e->profile_user = user;
}

static heddle_status set_memory(const program *p, frame_memory *m, void *const *parameters, void *const *results) {
  for (int i = 0; i < p->allocation_count; i++) {
    const program_allocation *a = &p->allocations[i];
    if (a->kind != PROGRAM_PARAMETER && a->kind != PROGRAM_RESULT) continue;
    const bool is_parameter = a->kind == PROGRAM_PARAMETER;
    m->allocations[i] = (is_parameter ? parameters : results)[a->number];
    if (!m->allocations[i] && a->bytes)
      return status_error(HEDDLE_INVALID, "no memory was given for %s %d of %lld bytes",
                          is_parameter ? "parameter" : "result", a->number, (long long)a->bytes);
  }
  return status_ok();
}

static void copy_donated(const program *p, const frame_memory *m, void *const *parameters) {
  for (int i = 0; i < p->allocation_count; i++) {
    const program_allocation *a = &p->allocations[i];
    if (a->kind == PROGRAM_RESULT && a->donated_parameter >= 0)
      memory_copy(m->allocations[i], parameters[a->donated_parameter], a->bytes, m->frame.threads);
  }
}

heddle_status executable_run(executable *e, void *const *parameters, void *const *results) {
  const program *p = e->program;
  frame_memory *m = frame_take(e);
  if (!m)
    return status_error(HEDDLE_OUT_OF_MEMORY, "no memory to run a program of %lld temporary bytes",
                        (long long)p->temporary_bytes);
  heddle_status s = set_memory(p, m, parameters, results);
  if (status_is_ok(s)) {
    copy_donated(p, m, parameters);
    s = sequence_execute(e->entry, &m->frame);
  }
  frame_give(e, m);
  return s;
}
