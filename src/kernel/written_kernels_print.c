// Prints the plan of a program as text, one fact a line.
#include "kernel/written_kernels.h"

static void print_shape_line(text *out, const char *what, int number, const shape *s) {
  text_printf(out, "  %s %d: ", what, number);
  shape_print(out, s, true);
  text_putc(out, '\n');
}

void written_kernels_print(text *out, const written_kernels *plan) {
  text_printf(out, "plan " STR_FMT " for %s\n", STR_ARG(plan->module->name), plan->target.has_grid ? "gpu" : "cpu");
  for (int i = 0; i < plan->parameter_count; i++) print_shape_line(out, "parameter", i, plan->parameters[i]);
  for (int i = 0; i < plan->result_count; i++) print_shape_line(out, "result", i, plan->results[i]);
  for (int i = 0; i < plan->kernel_count; i++) kernel_plan_print(out, &plan->target, plan->kernels[i]);
}
