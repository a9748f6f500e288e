// Which pass follows which, and why.
#include "lower/passes.h"

// Small functions and simple index arithmetic first: everything after inlining works on larger pieces.
#define OPTIMIZE &lower_canonicalize, &lower_cse, &lower_erase_dead_functions, &lower_cse

static const lower_pass *const optimize[] = {OPTIMIZE, 0};

static const lower_pass *const gpu[] = {OPTIMIZE, &lower_inliner, 0};
static const lower_pass *const cpu[] = {OPTIMIZE, &lower_inliner, 0};

const lower_pass *const *lower_pipeline(lower_target target) { return target == LOWER_CPU ? cpu : gpu; }

const char *const lower_groups[] = {"xla-gpu-test-optimize", 0};

const lower_pass *const *lower_group(lower_target target, str name) {
  (void)target;
  return str_is(name, "xla-gpu-test-optimize") ? optimize : 0;
}
