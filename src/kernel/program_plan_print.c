// The plan as text, one fact a line.
#include "kernel/program_plan.h"

#include <inttypes.h>

static void print_shape_line(text *out, const char *what, int number, const shape *s) {
  text_printf(out, "  %s %d: ", what, number);
  shape_print(out, s, true);
  text_putc(out, '\n');
}

static void print_launch(text *out, const target_description *target, const launch_plan *l) {
  if (target->kind == TARGET_NVPTX) {
    text_printf(out, "    launch elements=%" PRId64 " threads=%" PRId64 " blocks=%" PRId64 "x%" PRId64 " unroll=%d\n",
                l->elements, l->threads, l->blocks_x, l->blocks_y, l->unroll);
  } else {
    text_printf(out, "    launch elements=%" PRId64 " tile=%" PRId64 " tiles=%" PRId64 " bytes=%" PRId64 "\n",
                l->elements, l->tile, l->tiles, l->tile_bytes);
  }
}

void kernel_plan_print(text *out, const target_description *target, const kernel_plan *k) {
  text_printf(out, "  kernel @%s of " STR_FMT ", %s: %s\n", k->name, STR_ARG(k->computation->name), hero_name(k->hero),
              k->reason);
  for (int i = 0; i < k->input_count; i++) {
    text_printf(out, "    reads parameter %d as " STR_FMT ", slice %d\n", k->slices[k->inputs[i].slice].number,
                STR_ARG(k->inputs[i].parameter->name), k->inputs[i].slice);
  }
  for (int i = 0; i < k->output_count; i++) {
    const kernel_output *o = &k->outputs[i];
    const plan_buffer *b = &k->slices[o->slice];
    text_printf(out, "    writes %s %d = " STR_FMT, b->kind == PLAN_PARAMETER ? "over parameter" : "result", b->number,
                STR_ARG(o->root->name));
    if (shape_is_tuple(o->root->shape)) text_printf(out, "#%d", o->element);
    text_printf(out, ", slice %d\n", o->slice);
  }
  print_launch(out, target, &k->launch);
}

void plan_print(text *out, const program_plan *plan) {
  text_printf(out, "plan " STR_FMT " for %s\n", STR_ARG(plan->module->name),
              plan->target.kind == TARGET_NVPTX ? "gpu" : "cpu");
  for (int i = 0; i < plan->parameter_count; i++) print_shape_line(out, "parameter", i, plan->parameters[i]);
  for (int i = 0; i < plan->result_count; i++) print_shape_line(out, "result", i, plan->results[i]);
  for (int i = 0; i < plan->kernel_count; i++) kernel_plan_print(out, &plan->target, plan->kernels[i]);
}
