// What stands behind the public handle of a program, compiled or loaded; for the files of the public calls alone.
#ifndef HEDDLE_RT_PROGRAM_HANDLE_H_
#define HEDDLE_RT_PROGRAM_HANDLE_H_

#include "heddle/runtime.h"
#include "rt/invocation.h"
#include "rt/profile.h"

// A run of a program whose sizes are open, at the sizes that its inputs have.
typedef heddle_status (*program_handle_run_fn)(heddle_program *p, const int64_t *const *input_dims,
                                               const void *const *const *inputs, void *const *const *outputs,
                                               int64_t *const *const *dims);

// The dims of a result where the inputs have these.
typedef heddle_status (*program_handle_dims_fn)(const heddle_program *p, const int64_t *const *input_dims, int number,
                                                int64_t *dims);

struct heddle_program {
  invocable callable;
  bool is_direct;                      // arguments and results lie as the caller's arrays do
  int *heirs;                          // of each parameter: the result that takes over its memory, or -1
  int64_t *bytes;                      // of the parameters' arrays, then of the results'; null: of open sizes
  void (*destroy)(heddle_program *p);  // with all that it holds
  const program *shown;                // what callers see of its parameters and results: open sizes are -1
  program_handle_run_fn run_open;      // null if no size is open
  program_handle_dims_fn dims_open;    // of results, where the program's polynomials do not say them; else null
  profile *profile;                    // that watches its runs; null: nobody does
  struct open_watch *watch;            // of a program for open sizes (open_instances.h); null: nobody watches
};

// Fills the handle in; `heirs` lives in the arena.
void program_handle_fill(arena *a, const invocable *callable, void (*destroy)(heddle_program *p), heddle_program *out);

// A run at the sizes that the program says, as heddle_program_run_with (rt/program_call.c); `dims` may be null.
heddle_status program_call_given(heddle_program *p, const void *const *const *inputs, void *const *const *outputs,
                                 int64_t *const *const *dims);

#endif
