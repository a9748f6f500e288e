// The flags are the same for both kinds of code, so that what has been found with one tool can be said to the next.
#include "tools/pass_flags.h"

#include "lower/pass.h"
#include "opt/pass.h"
#include "tile/passes.h"

heddle_status pass_flags_check_name(const char *flag, str name, unsigned kinds) {
  if (kinds & PASS_FLAGS_HLO && opt_pass_find(name)) return status_ok();
  if (kinds & PASS_FLAGS_MLIR && (lower_pass_find(name) || tile_pass_find(name))) return status_ok();
  return status_error(HEDDLE_INVALID, "--%s: found \"" STR_FMT "\", wanted a pass that %s lists", flag, STR_ARG(name),
                      !(kinds & PASS_FLAGS_MLIR)  ? "--list-passes"
                      : !(kinds & PASS_FLAGS_HLO) ? "--help"
                                                  : "hlo-opt --list-passes or emitters_opt --help");
}

heddle_status pass_flags_check(const pass_flags *f, unsigned kinds) {
  if (f->bisect < -1) return status_error(HEDDLE_INVALID, "--bisect: found %d, wanted at least -1", f->bisect);
  for (const char *next = f->print_after; next;) {
    const char *end = strchrnul(next, ',');
    TRY(pass_flags_check_name("print-after", (str){next, (size_t)(end - next)}, kinds));
    next = *end ? end + 1 : NULL;
  }
  return status_ok();
}

pass_control *pass_flags_open(pass_flags *f, bool time, bool compiles) {
  f->control = (pass_control){.bisect = f->bisect, .keeps_needed = compiles, .time = time};
  f->watcher = (pass_watcher){.after = f->print_after, .all = f->print_after_all, .changes = f->print_after_change};
  if (f->print_after || f->print_after_all || f->print_after_change) pass_control_add(&f->control, &f->watcher);
  return &f->control;
}
