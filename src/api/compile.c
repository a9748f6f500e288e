// The pipeline, top to bottom: plan → emit → lower → translate, optimize, generate → link.
//
// Each kernel has an MLIR context of its own, so that kernels could be compiled on several threads; what they share
// (the plan, the module) is read only.
#include "api/compile.h"

#include "base/log.h"
#include "base/pool.h"
#include "emit/emit.h"
#include "emit/ir_builder.h"
#include "target/nvptx.h"

static void add_time(compile_times *times, const char *name, double seconds) {
  for (int i = 0; i < times->count; i++) {
    if (strcmp(times->stages[i].name, name) != 0) continue;
    times->stages[i].seconds += seconds;
    return;
  }
  if (times->count < COMPILE_STAGES_MAX) times->stages[times->count++] = (struct compile_stage){name, seconds};
}

static void dump(const compile_options *o, const char *name, const char *suffix, str contents) {
  if (o->dump) o->dump(o->dump_argument, name, suffix, contents);
}

static void dump_ir(arena *scratch, const compile_options *o, const char *name, const char *suffix, MlirModule m) {
  if (o->dump) dump(o, name, suffix, str_from(ir_operation_text(scratch, mlirModuleGetOperation(m))));
}

static void dump_plan(const compile_options *o, const program_plan *plan) {
  if (!o->dump) return;
  text t = {0};
  plan_print(&t, plan);
  arena *scratch = arena_create();
  dump(o, arena_strdup(scratch, plan->module->name.data, plan->module->name.size), "plan", text_view(&t));
  arena_destroy(scratch);
  text_free(&t);
}

// One kernel to IR in the LLVM dialect. The caller destroys the module.
static heddle_status lower_kernel(arena *scratch, MlirContext context, const kernel_plan *kernel,
                                  const plan_target *target, const lower_options *lowering, const compile_options *o,
                                  compile_times *times, MlirModule *out) {
  double start = log_seconds();
  TRY(emit_kernel(context, scratch, kernel, target, out));
  add_time(times, "emit", log_seconds() - start);
  dump_ir(scratch, o, kernel->name, "emitted.mlir", *out);
  start = log_seconds();
  heddle_status s = lower_run(lower_pipeline(lowering->target), mlirModuleGetOperation(*out), lowering, o->observer);
  add_time(times, "lower", log_seconds() - start);
  if (status_is_ok(s)) {
    dump_ir(scratch, o, kernel->name, "lowered.mlir", *out);
    return s;
  }
  mlirModuleDestroy(*out);
  return status_context(s, "while compiling kernel %s", kernel->name);
}

static bool has_scalar_loops(MlirModule m) {
  return !mlirAttributeIsNull(ir_get(mlirModuleGetOperation(m), "xla.scalar_loops"));
}

static heddle_status compile_kernel(arena *a, arena *scratch, const kernel_plan *kernel, const program_plan *plan,
                                    const cpu_machine *machine, const compile_options *o, compile_times *times,
                                    object_code *out) {
  double start = log_seconds();
  MlirContext context = ir_context_create();
  add_time(times, "context", log_seconds() - start);
  lower_options lowering = cpu_lower_options(machine, o->exact);
  if (o->scalar) lowering.vector_bits = 0;
  MlirModule ir = {NULL};
  heddle_status s = lower_kernel(scratch, context, kernel, &plan->target, &lowering, o, times, &ir);
  if (status_is_ok(s)) {
    text llvm_ir = {0}, assembly = {0};
    object_options options = {.optimize_loops = o->scalar || has_scalar_loops(ir),
                              .llvm_ir = o->dump ? &llvm_ir : NULL,
                              .assembly = o->dump ? &assembly : NULL};
    s = cpu_emit_object(a, mlirModuleGetOperation(ir), machine, &options, out);
    dump(o, kernel->name, "ll", text_view(&llvm_ir));
    dump(o, kernel->name, "s", text_view(&assembly));
    text_free(&llvm_ir);
    text_free(&assembly);
    add_time(times, "translate", out->translate_seconds);
    add_time(times, "optimize", out->optimize_seconds);
    add_time(times, "codegen", out->codegen_seconds);
    mlirModuleDestroy(ir);
  }
  mlirContextDestroy(context);
  return s;
}

static int find_slice(program *p, const plan_buffer *buffer) {
  program_slice_kind kind = buffer->kind == PLAN_PARAMETER ? PROGRAM_PARAMETER : PROGRAM_RESULT;
  for (int i = 0; i < p->slice_count; i++)
    if (p->slices[i].kind == kind && p->slices[i].number == buffer->number) return i;
  return -1;
}

// The plan as the runtime sees it: slices and kernels without shapes.
static void build_program(arena *a, const program_plan *plan, const object_code *objects, program *p) {
  p->slice_count = plan->parameter_count + plan->result_count;
  p->slices = arena_array(a, program_slice, p->slice_count);
  for (int i = 0; i < plan->parameter_count; i++)
    p->slices[i] = (program_slice){PROGRAM_PARAMETER, i, plan_buffer_bytes(plan->parameters[i])};
  for (int i = 0; i < plan->result_count; i++)
    p->slices[plan->parameter_count + i] = (program_slice){PROGRAM_RESULT, i, plan_buffer_bytes(plan->results[i])};
  p->kernel_count = plan->kernel_count;
  p->kernels = arena_array(a, program_kernel, p->kernel_count);
  for (int i = 0; i < p->kernel_count; i++) {
    const kernel_plan *k = plan->kernels[i];
    int *slices = arena_array(a, int, k->slice_count);
    for (int s = 0; s < k->slice_count; s++) slices[s] = find_slice(p, &k->slices[s]);
    p->kernels[i] = (program_kernel){.name = k->name,
                                     .object = objects[i].data,
                                     .object_size = objects[i].size,
                                     .slice_count = k->slice_count,
                                     .slices = slices,
                                     .tile_count = k->launch.tiles,
                                     .tile_bytes = k->launch.tile_bytes};
  }
}

static heddle_status link_program(arena *a, compiled *c) {
  TRY(cpu_jit_create(&c->jit));
  c->executable.program = &c->program;
  c->executable.entries = arena_array(a, kernel_fn, c->program.kernel_count);
  for (int i = 0; i < c->program.kernel_count; i++) {
    TRY(cpu_jit_add(c->jit, &c->objects[i]));
    void *entry;
    TRY(cpu_jit_lookup(c->jit, c->program.kernels[i].name, &entry));
    c->executable.entries[i] = (kernel_fn)entry;
  }
  return status_ok();
}

static heddle_status compile_all(arena *a, arena *scratch, const module *m, const compile_options *o, compiled *c) {
  double start = log_seconds();
  cpu_machine machine;
  TRY(cpu_machine_host(a, &machine));
  program_plan *plan;
  TRY(plan_kernels(a, m, plan_target_cpu(c->executable.threads), &plan));
  if (o->kernel_name) plan_name_kernels(a, plan, o->kernel_name);
  c->plan = plan;
  dump_plan(o, plan);
  add_time(&c->times, "plan", log_seconds() - start);
  c->objects = arena_array(a, object_code, plan->kernel_count);
  for (int i = 0; i < plan->kernel_count; i++) {
    arena_reset(scratch);
    TRY(compile_kernel(a, scratch, plan->kernels[i], plan, &machine, o, &c->times, &c->objects[i]));
  }
  build_program(a, plan, c->objects, &c->program);
  start = log_seconds();
  TRY(link_program(a, c));
  add_time(&c->times, "link", log_seconds() - start);
  c->buffers = buffer_cache_create();
  return c->buffers ? status_ok() : status_error(HEDDLE_OUT_OF_MEMORY, "no memory for the buffer cache");
}

heddle_status compile_cpu(arena *a, const module *m, const compile_options *options, compiled *out) {
  *out = (compiled){.source = m};
  out->executable.threads = options->threads > 0 ? options->threads : pool_default_threads();
  arena *scratch = arena_create();
  heddle_status s = compile_all(a, scratch, m, options, out);
  arena_destroy(scratch);
  if (!status_is_ok(s)) compiled_release(out);
  return s;
}

void compiled_release(compiled *c) {
  cpu_jit_destroy(c->jit);
  buffer_cache_destroy(c->buffers);
  c->jit = NULL;
  c->buffers = NULL;
}

static heddle_status kernel_to_ptx(arena *a, arena *scratch, const kernel_plan *kernel, const program_plan *plan,
                                   const compile_options *o, const char *libdevice, str *out) {
  MlirContext context = ir_context_create();
  lower_options lowering = nvptx_lower_options(o->chip, libdevice != NULL, o->exact);
  compile_times times = {0};
  MlirModule ir = {NULL};
  heddle_status s = lower_kernel(scratch, context, kernel, &plan->target, &lowering, o, &times, &ir);
  if (status_is_ok(s)) {
    text ptx = {0}, llvm_ir = {0};
    const launch_plan *launch = &kernel->launch;
    nvptx_options options = {.chip = o->chip,
                             .libdevice = libdevice,
                             .launch = {launch->threads, launch->blocks_x, launch->blocks_y},
                             .llvm_ir = o->dump ? &llvm_ir : NULL};
    s = nvptx_emit(scratch, mlirModuleGetOperation(ir), &options, &ptx);
    *out = str_copy(a, text_view(&ptx));
    dump(o, kernel->name, "ll", text_view(&llvm_ir));
    dump(o, kernel->name, "ptx", *out);
    text_free(&llvm_ir);
    text_free(&ptx);
    mlirModuleDestroy(ir);
  }
  mlirContextDestroy(context);
  return s;
}

heddle_status compile_ptx(arena *a, const module *m, const compile_options *options, int *count, str **ptx) {
  program_plan *plan;
  TRY(plan_kernels(a, m, plan_target_gpu(), &plan));
  if (options->kernel_name) plan_name_kernels(a, plan, options->kernel_name);
  dump_plan(options, plan);
  *count = plan->kernel_count;
  *ptx = arena_array(a, str, plan->kernel_count);
  arena *scratch = arena_create();
  const char *libdevice = nvptx_find_libdevice(a);
  heddle_status s = status_ok();
  for (int i = 0; i < plan->kernel_count && status_is_ok(s); i++) {
    arena_reset(scratch);
    s = kernel_to_ptx(a, scratch, plan->kernels[i], plan, options, libdevice, &(*ptx)[i]);
  }
  arena_destroy(scratch);
  return s;
}
