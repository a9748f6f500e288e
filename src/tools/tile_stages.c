// A stage is the road's passes up to one of them; `dispatch` is what stands before all.
#include "tools/tile_stages.h"

#include "emit/ir_builder.h"
#include "tile/dispatch.h"
#include "tile/kernel.h"
#include "tile/passes.h"

static const struct {
  const char *name;
  const pass *last;  // null: none has run
} stages[] = {
    {"dispatch", NULL},
    {"linalg", &tile_fuse_tensors},
    {"tiled", &tile_tile_and_fuse},
    {"bufferized", &tile_verify_memory},
    {"vectorized", &tile_vectorize},  // on CPUs
    {"promoted", &tile_promote},      // on grids
    {"subgroups", &tile_subgroups},   // on grids
    {"distributed", &tile_deal},      // on grids
};

enum { STAGE_COUNT = sizeof stages / sizeof *stages };

static int find(const char *stage) {
  int k = 0;
  while (k < STAGE_COUNT && strcmp(stage, stages[k].name) != 0) k++;
  return k;
}

bool tile_stages_has(const char *stage) { return find(stage) < STAGE_COUNT; }

static heddle_status run_until(lower_session *session, const pass *last, MlirModule module,
                               const lower_options *options) {
  pass_control control = PASS_CONTROL_DEFAULT;
  control.until = last->name;
  return lower_run_in(session, tile_pipeline(&options->target), mlirModuleGetOperation(module), options, &control);
}

static heddle_status print_kernel(lower_session *session, arena *a, const kernel_plan *k, const pass *last,
                                  const lower_options *options, text *out) {
  MlirContext context = lower_session_context(session);
  MlirModule module;
  TRY(last ? tile_kernel_emit(context, a, k, &module)
           : dispatch_create(context, a, k, target_kind_name(options->target.kind), &module));
  heddle_status s = last ? run_until(session, last, module, options) : status_ok();
  if (status_is_ok(s)) text_puts(out, ir_operation_text(a, mlirModuleGetOperation(module)));
  mlirModuleDestroy(module);
  return s;
}

heddle_status tile_stages_print(const lhlo_program *plan, const char *stage, const lower_options *options, text *out) {
  const pass *last = stages[find(stage)].last;
  for (int n = 0; n < plan->kernel_count; n++) {
    const kernel_plan *k = plan->kernels[n];
    if (n > 0) text_puts(out, "\n// -----\n\n");
    if (k->hero != HERO_TILES) {
      text_printf(out, "// kernel @%s is made by the emitter of the hero %s\n", k->name, kernel_hero_name(k->hero));
      continue;
    }
    arena *scratch = arena_create();
    lower_session *session = lower_session_take();
    heddle_status s = print_kernel(session, scratch, k, last, options, out);
    lower_session_give(session, status_is_ok(s));
    arena_destroy(scratch);
    TRY(s);
    text_putc(out, '\n');
  }
  return status_ok();
}
