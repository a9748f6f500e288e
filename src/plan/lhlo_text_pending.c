// Stands in for LHLO's text; whoever adds lhlo_print.c and lhlo_parse.c deletes this file.
#include "plan/lhlo.h"

heddle_status lhlo_print(text *out, const lhlo_program *p) {
  (void)out;
  return status_error(HEDDLE_UNIMPLEMENTED, "LHLO of " STR_FMT " cannot be printed yet", STR_ARG(p->module->name));
}

heddle_status lhlo_parse(arena *a, str source, const char *file, const plan_target *target, lhlo_program **out) {
  (void)a, (void)source, (void)target, (void)out;
  return status_error(HEDDLE_UNIMPLEMENTED, "LHLO in %s cannot be read yet", file);
}
