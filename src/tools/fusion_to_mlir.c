// fusion_to_mlir: reads HLO, prints what the emitter makes of it before any pass.
//
//   fusion_to_mlir FILE --target=cpu
//
// The file holds a module, or only a fused computation. Each kernel of the plan is a module of its own with its entry
// function, the first one called @main; `// -----` lines stand between them.
#include <stdio.h>

#include "emit/emit.h"
#include "emit/ir_builder.h"
#include "hlo/text.h"
#include "import/import.h"
#include "kernel/partition.h"
#include "kernel/written_kernels.h"
#include "tools/flags.h"

typedef struct options {
  const char *target;
  bool is_cpu;  // what `target` says
  bool plan, partition;
} options;

static heddle_status print_kernel(arena *a, MlirContext context, const kernel_plan *kernel,
                                  const target_description *target) {
  MlirModule module;
  TRY(emit_kernel(context, a, kernel, target, &module));
  printf("%s\n", ir_operation_text(a, mlirModuleGetOperation(module)));
  mlirModuleDestroy(module);
  return status_ok();
}

static heddle_status print_kernels(arena *a, const written_kernels *plan) {
  MlirContext context = ir_context_create();
  heddle_status status = status_ok();
  for (int i = 0; i < plan->kernel_count && status_is_ok(status); i++) {
    if (i > 0) printf("// -----\n");
    status = print_kernel(a, context, plan->kernels[i], &plan->target);
  }
  mlirContextDestroy(context);
  return status;
}

static heddle_status print_text(text *t) {
  fputs(text_cstr(t), stdout);
  text_free(t);
  return status_ok();
}

static heddle_status print_partitions(arena *a, const written_kernels *plan) {
  for (int i = 0; i < plan->kernel_count; i++) {
    partition *p = 0;
    TRY(partition_kernel(a, plan->kernels[i], &p));
    text out = {0};
    partition_print(&out, p);
    TRY(print_text(&out));
  }
  return status_ok();
}

static heddle_status run(arena *a, const char *file, void *argument) {
  const options *o = argument;
  module *m = 0;
  TRY(import_file(a, file, NULL, &m));
  written_kernels *plan = 0;
  TRY(written_kernels_plan(a, m, o->is_cpu ? target_cpu(2) : target_gpu(), &plan));
  if (o->plan) {
    text out = {0};
    written_kernels_print(&out, plan);
    return print_text(&out);
  }
  return o->partition ? print_partitions(a, plan) : print_kernels(a, plan);
}

static heddle_status check_flags(void *argument) {
  options *o = argument;
  o->is_cpu = strcmp(o->target, "cpu") == 0;
  if (o->is_cpu || strcmp(o->target, "gpu") == 0) return status_ok();
  return status_error(HEDDLE_INVALID, "found --target=%s, wanted gpu or cpu", o->target);
}

int main(int argc, char **argv) {
  options o = {.target = "gpu"};
  const flag flags[] = {
      {"target", FLAG_TEXT, &o.target, "gpu|cpu", "the form of the loops (default gpu)"},
      {"plan", FLAG_BOOL, &o.plan, 0, "print the plan instead: kernels, buffers, launch"},
      {"partition", FLAG_BOOL, &o.partition, 0, "print the partition instead: functions and their instructions"},
      {0},
  };
  const command_line line = {
      .usage = "fusion_to_mlir [flags] FILE",
      .summary =
          "Prints the MLIR that the emitters make of an HLO module or a lone fused computation, before any pass.",
      .flags = flags,
      .check = check_flags,
  };
  return command_line_main(&line, argc - 1, argv + 1, 0, run, &o);
}
