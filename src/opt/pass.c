// Tells the pass driver (base/pass.h) what it has to know of HLO modules: how to sort, verify and print them.
#include "opt/pass.h"

#include "hlo/text.h"

const pass *opt_pass_find(str name) { return pass_find(opt_passes, name); }

heddle_status opt_sort(arena *scratch, module *m) {
  computation **order;
  int count = 0;
  TRY(module_call_order(scratch, m, &order, &count));
  memcpy(m->computations.data, order, (size_t)count * sizeof *order);
  for (int c = 0; c < count; c++) TRY(computation_sort(scratch, m->computations.data[c]));
  return status_ok();
}

static heddle_status settle(pass_context *context, void *unit) { return opt_sort(context->scratch, unit); }

static heddle_status verify(void *unit) { return module_verify(unit); }

static void print(const void *unit, text *out) { hlo_print(out, unit, HLO_PRINT_SHORT); }

const pass_unit_kind opt_modules = {.noun = "HLO pass",
                                    .title = {"// ----- after ", " -----\n"},
                                    .print = print,
                                    .verify = verify,
                                    .settle = settle,
                                    .tells = true};

heddle_status opt_run(module *m, const pass *const *passes, pass_control *control) {
  return pass_run(&opt_modules, m, passes, NULL, control);
}
