// The one list of HLO passes; its order is the pipeline.
//
// Calls go first: what follows sees one computation. Dead code goes last, since every pass may leave some.
#include "opt/pass.h"

#include "hlo/text.h"
#include "opt/call_inliner.h"
#include "opt/dead_code.h"

static heddle_status inline_all(module *m) { return call_inliner_run(m, NULL); }

const opt_pass opt_passes[] = {
    {"call-inliner", "calls and fusions become the bodies they call", inline_all},
    {"dead-code", "what no result depends on goes, and so do computations nobody calls", dead_code_run},
    {0},
};

const opt_pass *opt_pass_find(str name) {
  for (const opt_pass *p = opt_passes; p->name; p++)
    if (str_is(name, p->name)) return p;
  return NULL;
}

heddle_status opt_run(module *m, const opt_pass *const *passes, int count, opt_observer observer, void *argument) {
  for (int i = 0; i < count; i++) {
    heddle_status s = passes[i]->run(m);
    if (status_is_ok(s)) s = module_verify(m);
    if (!status_is_ok(s)) return status_context(s, "in HLO pass %s", passes[i]->name);
    if (observer) observer(argument, passes[i], m);
  }
  return status_ok();
}

heddle_status opt_run_pipeline(module *m, opt_observer observer, void *argument) {
  const opt_pass *passes[sizeof opt_passes / sizeof *opt_passes];
  int count = 0;
  for (const opt_pass *p = opt_passes; p->name; p++) passes[count++] = p;
  return opt_run(m, passes, count, observer, argument);
}
