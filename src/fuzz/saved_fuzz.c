// libFuzzer target: saved programs, whose checksums are not looked at; what is accepted is not run, since its code may
// be anything. A program for open sizes is made ready for one of them.
#include "fuzz/accepted.h"
#include "fuzz/target.h"
#include "prog/program_print.h"
#include "prog/program_sizes.h"
#include "rt/saved_program.h"

// Every open dim is as large as some code of its own is for.
enum { SIZE = 64 };

static void take_instance(const saved_program *p) {
  arena *a = arena_create();
  const program *shown = program_sizes_show(a, saved_program_plan(p));
  const int64_t **dims = arena_array(a, const int64_t *, shown->parameter_count);
  for (int k = 0; k < shown->parameter_count; k++) {
    const program_shape *s = &shown->parameters[k].shape;
    int64_t *own = arena_array(a, int64_t, s->rank);
    for (int d = 0; d < s->rank; d++) own[d] = s->dims[d] < 0 ? SIZE : s->dims[d];
    dims[k] = own;
  }
  open_instance *instance;
  if (accepted_may(open_instances_take(saved_program_instances(p), dims, &instance), "a size breaks", NULL))
    open_instances_give(saved_program_instances(p), instance);
  arena_destroy(a);
}

static bool check(str input, accepted_depth depth) {
  (void)depth;
  saved_program *p;
  const saved_program_options options = {.trusts_checksums = true, .threads = 1};
  const bool is_read = accepted_may(saved_program_read(input, &options, &p), "the loader breaks", NULL);
  if (!is_read) return false;
  text out = {0};
  program_print(&out, saved_program_plan(p));
  text_free(&out);
  if (saved_program_instances(p)) take_instance(p);
  saved_program_close(p);
  return true;
}

const fuzz_target fuzz_this = {check, mutate_saved, NULL};
