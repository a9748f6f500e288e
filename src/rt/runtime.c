// The public calls that load saved programs (include/heddle/runtime.h).
#include <stdlib.h>

#include "base/guard.h"
#include "base/pool.h"
#include "base/sized_struct.h"
#include "rt/program_handle.h"
#include "rt/saved_program.h"

typedef struct loaded_program {
  heddle_program handle;  // the public one
  saved_program *saved;
  arena *arena;
} loaded_program;

static void destroy(heddle_program *program) {
  loaded_program *p = (loaded_program *)program;
  saved_program_close(p->saved);
  arena_destroy(p->arena);
  free(p);
}

static heddle_status run_open(heddle_program *program, const int64_t *const *input_dims,
                              const void *const *const *inputs, void *const *const *outputs,
                              int64_t *const *const *dims) {
  const loaded_program *p = (const loaded_program *)program;
  return open_instances_run(saved_program_instances(p->saved), program, input_dims, inputs, outputs, dims);
}

// Of a program for given sizes alone: what was made for these says.
static heddle_status result_dims(const heddle_program *program, const int64_t *const *input_dims, int number,
                                 int64_t *dims) {
  const loaded_program *p = (const loaded_program *)program;
  return open_instances_result_dims(saved_program_instances(p->saved), input_dims, number, dims);
}

static heddle_status fill(void *argument) {
  loaded_program *p = argument;
  p->arena = arena_create();
  program_handle_fill(p->arena, saved_program_invocable(p->saved), destroy, &p->handle);
  if (saved_program_instances(p->saved)) p->handle.run_open = run_open;
  if (saved_program_plan(p->saved)->sizes.is_for_given) p->handle.dims_open = result_dims;
  return status_ok();
}

// The host had no memory: the arena is the guard's.
static void forget_arena(void *argument, bool is_torn) {
  (void)is_torn;
  ((loaded_program *)argument)->arena = NULL;
}

// Takes ownership of the program.
static heddle_status make(saved_program *saved, heddle_program **out) {
  loaded_program *p = calloc(1, sizeof *p);
  heddle_status s = status_no_memory();
  if (p) {
    heddle_status_free(s);
    p->saved = saved;
    s = guard_run(fill, forget_arena, p);
    if (status_is_ok(s)) *out = &p->handle;
    else destroy(&p->handle);
  } else {
    saved_program_close(saved);
  }
  return s;
}

static heddle_status take_options(const heddle_load_options *given, heddle_program **out,
                                  saved_program_options *options) {
  heddle_load_options taken;
  if (!out) return status_error(HEDDLE_INVALID, "found null for the place of the program");
  *out = NULL;
  TRY(sized_struct_take("heddle_load_options", given, &taken, sizeof taken));
  if (taken.threads < 0 || taken.threads > POOL_THREADS_MAX)
    return status_error(HEDDLE_INVALID, "found %d threads, wanted 0 to %d", taken.threads, POOL_THREADS_MAX);
  *options = (saved_program_options){.trusts_checksums = taken.trusts_checksums,
                                     .threads = taken.threads,
                                     .level = taken.level,
                                     .device = taken.device};
  return status_ok();
}

heddle_status heddle_program_load(const char *path, const heddle_load_options *options, heddle_program **out) {
  saved_program_options taken;
  saved_program *saved;
  TRY(take_options(options, out, &taken));
  if (!path) return status_error(HEDDLE_INVALID, "heddle_program_load: found null for the path");
  TRY(saved_program_open(path, &taken, &saved));
  return make(saved, out);
}

heddle_status heddle_program_load_memory(const void *data, size_t size, const heddle_load_options *options,
                                         heddle_program **out) {
  saved_program_options taken;
  saved_program *saved;
  TRY(take_options(options, out, &taken));
  if (!data && size) return status_error(HEDDLE_INVALID, "heddle_program_load_memory: found null for %zu bytes", size);
  TRY(saved_program_read((str){data ? data : "", size}, &taken, &saved));
  return make(saved, out);
}
