// The conformance corpus on the interpreter behind the pass pipeline, those on request included: what passes make of a
// module has the same results.
#include "eval/corpus_testing.h"

#include "opt/pass.h"

static heddle_status run_passes(arena *a, module **m) {
  (void)a;
  return opt_run(*m, opt_passes, NULL);
}

int main(int argc, char **argv) {
  corpus_prepare = run_passes;
  return corpus_main(argc, argv);
}
