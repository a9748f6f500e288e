// The conformance corpus on the interpreter behind pass pipeline and fusion: fused modules have the same results.
#include "eval/corpus_testing.h"

#include "opt/pass.h"
#include "plan/fuse.h"

// Cases with operations that no target compiles: sizes known only at run time, stochastic rounding.
enum { MAX_REFUSED = 2 };

static int refused;

static heddle_status fuse(arena *a, module **m) {
  const plan_target target = plan_target_cpu(1);
  TRY(opt_run_pipeline(*m, NULL, NULL));
  module *fused = module_clone(a, *m);
  heddle_status s = plan_fuse(fused, &target, NULL);
  if (heddle_status_code(s) == HEDDLE_UNIMPLEMENTED) {
    print_message("refused: %s", heddle_status_message(s));
    heddle_status_free(s);
    refused++;
    return status_ok();
  }
  TRY(s);
  *m = fused;
  return module_verify(fused);
}

int main(int argc, char **argv) {
  corpus_prepare = fuse;
  int failed = corpus_main(argc, argv);
  return failed || refused > MAX_REFUSED;
}
