// The pipeline, top to bottom: passes → fusion → schedule and buffers (LHLO) → emit → lower → translate, optimize,
// generate → link.
//
// A kernel has an MLIR context for itself while it is compiled, so that kernels are compiled on several threads; what
// they share (the plan, the module) is read only.
#include "api/compile.h"

#include "base/call.h"
#include "base/guard.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/pool.h"
#include "emit/emit.h"
#include "emit/ir_builder.h"
#include "fuse/fuse.h"
#include "lhlo/build.h"
#include "lhlo/loop_alternation.h"
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

// --- the front half

static heddle_status fuse(module *m, const target_description *target, const compile_options *o, text *reasons,
                          compile_times *times) {
  double start = log_seconds();
  if (o->keep_fusions) kept_fusions_mark(m, o->keep_fusions);
  TRY(o->hlo_passes ? opt_run(m, o->hlo_passes, o->control) : opt_run_pipeline(m, o->control));
  add_time(times, "opt", log_seconds() - start);
  TRY(call_check());
  start = log_seconds();
  if (o->keep_fusions) kept_fusions_settle(m, target, o->keep_fusions);
  TRY(plan_fuse(m, target, reasons));
  add_time(times, "fuse", log_seconds() - start);
  return status_ok();
}

heddle_status compile_plan(arena *a, const module *m, const target_description *target, const compile_options *options,
                           compile_times *times, text *reasons, lhlo_program **out) {
  module *copy = module_clone(a, m);
  TRY(fuse(copy, target, options, reasons, times));
  TRY(call_check());
  double start = log_seconds();
  const module *alternating;
  TRY(loop_alternation_run(a, copy, target, &alternating));
  TRY(lhlo_build(a, alternating, target, out));
  add_time(times, "plan", log_seconds() - start);
  return status_ok();
}

static heddle_status dump_plan(const compile_options *o, const lhlo_program *plan, const text *reasons) {
  if (!o->dump) return status_ok();
  text t = {0};
  heddle_status s = lhlo_print(&t, plan);
  arena *scratch = arena_create();
  const char *name = arena_printf(scratch, STR_FMT, STR_ARG(plan->module->name));
  dump(o, name, "lhlo", text_view(&t));
  text_free(&t);
  text_append(&t, text_view(reasons));
  for (int i = 0; i < plan->kernel_count; i++) kernel_plan_print(&t, &plan->target, plan->kernels[i]);
  dump(o, name, "plan", text_view(&t));
  arena_destroy(scratch);
  text_free(&t);
  return s;
}

// --- one kernel

// One kernel to IR in the LLVM dialect. The caller destroys the module.
static heddle_status lower_kernel(arena *scratch, lower_session *session, const kernel_plan *kernel,
                                  const target_description *target, const lower_options *lowering,
                                  const compile_options *o, compile_times *times, MlirModule *out) {
  double start = log_seconds();
  TRY(emit_kernel(lower_session_context(session), scratch, kernel, target, out));
  add_time(times, "emit", log_seconds() - start);
  dump_ir(scratch, o, kernel->name, "emitted.mlir", *out);
  start = log_seconds();
  heddle_status s =
      lower_run_in(session, lower_pipeline(lowering->target.kind), mlirModuleGetOperation(*out), lowering, o->control);
  add_time(times, "lower", log_seconds() - start);
  if (status_is_ok(s)) {
    dump_ir(scratch, o, kernel->name, "lowered.mlir", *out);
    return s;
  }
  mlirModuleDestroy(*out);
  out->ptr = NULL;
  return status_context(s, "while compiling kernel %s", kernel->name);
}

static bool has_scalar_loops(MlirModule m) {
  return !mlirAttributeIsNull(ir_get(mlirModuleGetOperation(m), "xla.scalar_loops"));
}

// One kernel's compilation: what goes in, and what has to be given back however it ends.
typedef struct kernel_job {
  const kernel_plan *kernel;
  const target_description *target;
  const target_description *machine;  // that code is generated for: its target, or this CPU
  const compile_options *options;
  compile_times *times;
  arena *arena, *scratch;  // of the object, and of all else
  object_code object;
  lower_session *session;
  MlirModule ir;
} kernel_job;

static heddle_status emit_object(kernel_job *j) {
  text llvm_ir = {0}, assembly = {0};
  const compile_options *o = j->options;
  object_options options = {.optimize_loops = o->scalar || has_scalar_loops(j->ir),
                            .llvm_ir = o->dump ? &llvm_ir : NULL,
                            .assembly = o->dump ? &assembly : NULL};
  heddle_status s = cpu_emit_object(j->arena, mlirModuleGetOperation(j->ir), j->machine, &options, &j->object);
  dump(o, j->kernel->name, "ll", text_view(&llvm_ir));
  dump(o, j->kernel->name, "s", text_view(&assembly));
  text_free(&llvm_ir);
  text_free(&assembly);
  add_time(j->times, "translate", j->object.translate_seconds);
  add_time(j->times, "optimize", j->object.optimize_seconds);
  add_time(j->times, "codegen", j->object.codegen_seconds);
  return s;
}

static heddle_status compile_steps(kernel_job *j) {
  TRY(call_check());
  TRY(guard_check_room());
  j->arena = arena_create();
  j->scratch = arena_create();
  double start = log_seconds();
  j->session = lower_session_take();
  add_time(j->times, "context", log_seconds() - start);
  lower_options lowering = {.target = *j->machine, .exact = j->options->exact};
  if (j->options->scalar) lowering.target.vector_bits = 0;
  TRY(lower_kernel(j->scratch, j->session, j->kernel, j->target, &lowering, j->options, j->times, &j->ir));
  return emit_object(j);
}

// The place is given within the guard, as it takes memory, too.
static heddle_status compile_kernel(void *argument) {
  kernel_job *j = argument;
  return status_locate(compile_steps(j), j->kernel->computation->root->where);
}

// What is torn within MLIR is left alone: its context could not even be destroyed.
static void end_kernel(void *argument, bool is_torn) {
  kernel_job *j = argument;
  if (!is_torn && j->ir.ptr) mlirModuleDestroy(j->ir);
  if (is_torn && j->session) lower_session_abandon(j->session);
  else if (j->session) lower_session_give(j->session, false);
  j->session = NULL;
  j->ir.ptr = NULL;
  j->arena = j->scratch = NULL;  // the guard's
}

// Libraries' own locks are held in here: no fork meanwhile.
static heddle_status run_kernel_job(kernel_job *j) {
  lock_hold_forks();
  heddle_status s = guard_run(compile_kernel, end_kernel, j);
  if (j->ir.ptr) mlirModuleDestroy(j->ir);
  if (j->session) lower_session_give(j->session, status_is_ok(s));
  arena_destroy(j->scratch);
  lock_let_forks();
  return s;
}

// --- all kernels

typedef struct kernel_batch {
  compiled *program;
  arena *arena;  // of the program
  const compile_options *options;
  const target_description *machine;  // that code is generated for
  int count;
  arena **arenas;  // of each kernel's object until all are done
  object_code *objects;
  compile_times *times;  // of each kernel
  heddle_status *statuses;
} kernel_batch;

static void compile_range(void *argument, int64_t begin, int64_t end) {
  const kernel_batch *b = argument;
  for (int64_t i = begin; i < end; i++) {
    kernel_job job = {.kernel = b->program->kernels.plans[i],
                      .target = &b->program->plan->target,
                      .machine = b->machine,
                      .options = b->options,
                      .times = &b->times[i]};
    b->statuses[i] = run_kernel_job(&job);
    b->arenas[i] = job.arena;
    b->objects[i] = job.object;
  }
}

static heddle_status first_error(const kernel_batch *b) {
  heddle_status s = status_ok();
  for (int i = 0; i < b->count; i++) {
    if (!status_is_ok(s)) heddle_status_free(b->statuses[i]);
    else s = b->statuses[i];
  }
  return s;
}

// Moves the objects to the program's arena.
static heddle_status gather_objects(void *argument) {
  const kernel_batch *b = argument;
  compiled *c = b->program;
  for (int i = 0; i < b->count; i++) {
    for (int k = 0; k < b->times[i].count; k++)
      add_time(&c->times, b->times[i].stages[k].name, b->times[i].stages[k].seconds);
    c->objects[i] = b->objects[i];
    c->objects[i].data = str_copy(b->arena, (str){b->objects[i].data, b->objects[i].size}).data;
    arena_destroy(b->arenas[i]);
    b->arenas[i] = NULL;
  }
  return status_ok();
}

static void drop_objects(void *argument, bool is_torn) {
  (void)is_torn;
  const kernel_batch *b = argument;
  for (int i = 0; i < b->count; i++) arena_destroy(b->arenas[i]);
}

// Who watches passes, and dumps, want the kernels one after the other.
static heddle_status compile_kernels(arena *a, const compile_options *o, compiled *c) {
  const target_description machine = cpu_target_host(a, c->threads);
  int count = c->kernels.count;
  c->objects = arena_array(a, object_code, count);
  arena *scratch = arena_create();
  kernel_batch b = {.program = c,
                    .arena = a,
                    .count = count,
                    .options = o,
                    .machine = &machine,
                    .arenas = arena_array(scratch, arena *, count),
                    .objects = arena_array(scratch, object_code, count),
                    .times = arena_array(scratch, compile_times, count),
                    .statuses = arena_array(scratch, heddle_status, count)};
  const bool is_ordered = o->dump || pass_control_orders(o->control, &lower_operations);
  pool_run(is_ordered ? 1 : c->threads, count, compile_range, &b);
  heddle_status s = first_error(&b);
  if (status_is_ok(s)) s = guard_clean_up(gather_objects, drop_objects, &b);
  drop_objects(&b, false);
  arena_destroy(scratch);
  return s;
}

static heddle_status link_program(arena *a, compiled *c) {
  TRY(guard_check_room());
  TRY(cpu_jit_create(&c->jit));
  kernel_fn *entries = arena_array(a, kernel_fn, c->program.kernel_count);
  for (int i = 0; i < c->program.kernel_count; i++) {
    TRY(cpu_jit_add(c->jit, &c->objects[i]));
    void *entry;
    TRY(cpu_jit_lookup(c->jit, c->program.kernels[i].entry, &entry));
    entries[i] = (kernel_fn)entry;
  }
  return executable_create(&c->program, entries, c->threads, &c->executable);
}

typedef struct linking {
  arena *arena;
  compiled *program;
} linking;

static heddle_status link_guarded(void *argument) {
  const linking *l = argument;
  return link_program(l->arena, l->program);
}

static void end_linking(void *argument, bool is_torn) {
  const linking *l = argument;
  if (is_torn) l->program->jit = NULL;
  lock_let_forks();
}

static heddle_status compile_back(arena *a, const compile_options *o, compiled *c) {
  TRY(program_collect_kernels(a, c->plan, o->kernel_name, &c->kernels));
  TRY(compile_kernels(a, o, c));
  double start = log_seconds();
  TRY(program_build(a, c->plan, c->source, &c->kernels, c->objects, &c->program));
  linking l = {a, c};
  lock_hold_forks();
  heddle_status s = guard_clean_up(link_guarded, end_linking, &l);
  lock_let_forks();
  TRY(s);
  add_time(&c->times, "link", log_seconds() - start);
  c->buffers = buffer_cache_create();
  return c->buffers ? status_ok() : status_error(HEDDLE_OUT_OF_MEMORY, "no memory for the buffer cache");
}

static int thread_count(const compile_options *o) { return o->threads > 0 ? o->threads : pool_default_threads(); }

static heddle_status compile_all(arena *a, const module *m, const compile_options *o, compiled *c) {
  text reasons = {0};
  lhlo_program *plan = NULL;
  const target_description target = target_cpu(c->threads);
  heddle_status s = compile_plan(a, m, &target, o, &c->times, o->dump ? &reasons : NULL, &plan);
  c->plan = plan;
  if (status_is_ok(s)) s = dump_plan(o, plan, &reasons);
  text_free(&reasons);
  return status_is_ok(s) ? compile_back(a, o, c) : s;
}

heddle_status compile_cpu(arena *a, const module *m, const compile_options *options, compiled *out) {
  *out = (compiled){.source = m, .threads = thread_count(options)};
  heddle_status s = compile_all(a, m, options, out);
  if (!status_is_ok(s)) compiled_release(out);
  return s;
}

heddle_status compile_lhlo(arena *a, const lhlo_program *plan, const compile_options *options, compiled *out) {
  *out = (compiled){.plan = plan, .threads = thread_count(options)};
  heddle_status s = compile_back(a, options, out);
  if (!status_is_ok(s)) compiled_release(out);
  return s;
}

void compiled_release(compiled *c) {
  lock_hold_forks();
  executable_destroy(c->executable);
  cpu_jit_destroy(c->jit);
  lock_let_forks();
  buffer_cache_destroy(c->buffers);
  c->executable = NULL;
  c->jit = NULL;
  c->buffers = NULL;
}

// --- PTX

static heddle_status kernel_to_ptx(arena *a, arena *scratch, const kernel_plan *kernel, const program_plan *plan,
                                   const compile_options *o, const char *libdevice, str *out) {
  lower_session *session = lower_session_take();
  lower_options lowering = {.target = plan->target, .exact = o->exact, .use_libdevice = libdevice != NULL};
  compile_times times = {0};
  MlirModule ir = {NULL};
  heddle_status s = lower_kernel(scratch, session, kernel, &plan->target, &lowering, o, &times, &ir);
  if (status_is_ok(s)) {
    text ptx = {0}, llvm_ir = {0};
    const launch_plan *launch = &kernel->launch;
    nvptx_options options = {.libdevice = libdevice,
                             .launch = {launch->threads, launch->blocks_x, launch->blocks_y},
                             .llvm_ir = o->dump ? &llvm_ir : NULL};
    s = nvptx_emit(scratch, mlirModuleGetOperation(ir), &plan->target, &options, &ptx);
    *out = str_copy(a, text_view(&ptx));
    dump(o, kernel->name, "ll", text_view(&llvm_ir));
    dump(o, kernel->name, "ptx", *out);
    text_free(&llvm_ir);
    text_free(&ptx);
    mlirModuleDestroy(ir);
  }
  lower_session_give(session, status_is_ok(s));
  return s;
}

heddle_status compile_ptx(arena *a, const module *m, const compile_options *options, int *count, str **ptx) {
  program_plan *plan;
  target_description target;
  TRY(nvptx_target(options->chip, &target));
  TRY(plan_kernels(a, m, target, &plan));
  if (options->kernel_name) plan_name_kernels(a, plan, options->kernel_name);
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
