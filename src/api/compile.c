// The pipeline, top to bottom, for every target: passes → fusion → order and memory (LHLO) → kernels (emit → lower →
// code) → program → link. What a target is, its description says (base/target.h), and what makes code for it, its row
// among the code generators (target/code_generators.h); nothing here asks which it is, but whether this process can run
// it.
#include "api/compile.h"

#include "api/compile_kernels.h"
#include "api/lhlo_limit.h"
#include "api/simulation.h"
#include "base/guard.h"
#include "base/lock.h"
#include "base/pool.h"
#include "fuse/fuse.h"
#include "kernel/grid_scatter.h"
#include "lhlo/build.h"
#include "lhlo/loop_alternation.h"
#include "lhlo/profile.h"
#include "rt/device_types.h"
#include "supertile/supertile.h"
#include "target/code_generators.h"

// One compilation under way.
typedef struct compilation {
  arena *arena;
  const compile_options *options;
  target_description target;
  module *module;                 // a clone, so that the caller's stays as it was parsed
  text *reasons;                  // a line for each decision; null: not wanted
  const tile_failures *failures;  // of attempts before
  lhlo_program *plan;
  int64_t limit;  // to memory, in bytes; 0: none
  packed_constants *packed;
  compiled *out;
} compilation;

// --- to LHLO

static heddle_status optimize(void *state) {
  const compilation *c = state;
  const compile_options *o = c->options;
  if (o->keep_fusions) kept_fusions_mark(c->module, o->keep_fusions);
  TRY(o->hlo_passes ? opt_run(c->module, o->hlo_passes, o->control) : opt_run_pipeline(c->module, o->control));
  tile_failures_mark(c->failures, c->module);
  if (c->reasons) tile_failures_print(c->failures, c->reasons);
  return status_ok();
}

static heddle_status fuse(void *state) {
  const compilation *c = state;
  if (c->options->keep_fusions) kept_fusions_settle(c->module, &c->target, c->options->keep_fusions);
  if (c->options->deterministic) grid_scatter_mark_deterministic(c->module);
  return fuse_run_packing(c->module, &c->target, c->failures ? &c->failures->names : NULL, c->packed, c->reasons);
}

static heddle_status assign(void *state) {
  compilation *c = state;
  const module *alternating;
  TRY(loop_alternation_run(c->arena, c->module, &c->target, &alternating));
  lhlo_program *plan;
  TRY(lhlo_build(c->arena, alternating, &c->target, &plan));
  plan->memory_limit = c->limit;
  if (c->options->injects_profile) lhlo_profile_inject(plan);
  c->plan = plan;
  return status_ok();
}

// Fusion, order and memory of a module that is tried out.
static heddle_status plan_trial(void *argument, arena *a, module *m, lhlo_program **out) {
  const compilation *c = argument;
  compilation trial = {.arena = a,
                       .options = c->options,
                       .target = c->target,
                       .packed = c->packed,
                       .module = m,
                       .failures = c->failures};
  TRY(fuse(&trial));
  TRY(assign(&trial));
  *out = trial.plan;
  return status_ok();
}

static heddle_status tile(void *state) {
  compilation *c = state;
  const compile_options *o = c->options;
  if (!memory_limit_is_set(&o->limit)) return status_ok();
  const supertile_options wanted = {.limit = o->limit,
                                    .exact = o->exact,
                                    .only_counts = !c->target.has_libraries,
                                    .plan = plan_trial,
                                    .argument = c,
                                    .report = o->tiling};
  supertile_peaks peaks;
  packed_constants_note(c->packed, c->module);
  TRY(supertile_run(c->module, &wanted, &peaks));
  const int64_t limit = peaks.limit[MEMORY_DRAM];
  c->limit = limit == INT64_MAX ? 0 : limit;
  return status_ok();
}

static heddle_status dump_plan(void *state) {
  const compilation *c = state;
  const compile_options *o = c->options;
  text t = {0};
  heddle_status s = lhlo_print(&t, c->plan);
  arena *scratch = arena_create();
  const char *name = arena_printf(scratch, STR_FMT, STR_ARG(c->plan->module->name));
  o->dump(o->dump_argument, name, "lhlo", text_view(&t));
  text_free(&t);
  text_append(&t, text_view(c->reasons));
  for (int i = 0; i < c->plan->kernel_count; i++) kernel_plan_print(&t, &c->plan->target, c->plan->kernels[i]);
  o->dump(o->dump_argument, name, "plan", text_view(&t));
  arena_destroy(scratch);
  text_free(&t);
  return s;
}

static const compile_step front[] = {
    {"opt", optimize, NULL}, {NULL, tile, NULL}, {"fuse", fuse, NULL}, {"plan", assign, dump_plan}, {0},
};

// --- to a program

static cpu_level level_of(const compile_options *o) { return o->cpu == CPU_LEVEL_NATIVE ? cpu_level_now() : o->cpu; }

// What is planned for any CPU, but for the products that tiles make, is generated for this one.
static heddle_status choose_machine(const compilation *c) {
  compiled *out = c->out;
  const cpu_level level = level_of(c->options);
  if (c->target.is_host && c->options->triple) {
    TRY(cpu_target_cross(c->arena, c->options->triple, out->threads, &out->machine));
    out->level = out->machine.chip;
    return status_ok();
  }
  out->machine = c->target.is_host ? cpu_target_level(c->arena, out->threads, level) : c->target;
  out->level = c->target.is_host ? cpu_levels[level].name : out->machine.chip;
  return status_ok();
}

static heddle_status generate(void *state) {
  const compilation *c = state;
  compiled *out = c->out;
  TRY(program_collect_kernels(c->arena, out->plan, c->options->kernel_name, &out->kernels));
  TRY(choose_machine(c));
  return compile_kernels(c->arena, c->options, &out->machine, out);
}

// The images as the device takes them: one for all, or each its own.
static heddle_status join_images(compilation *c) {
  compiled *out = c->out;
  const code_generator *generator = code_generator_find(c->target.kind, c->options->simulate);
  if (!generator->join) return status_ok();
  kernel_image *joined = arena_new(c->arena, kernel_image);
  TRY(generator->join(c->arena, &c->target, out->kernels.count, out->images, joined));
  out->images = joined;
  out->image_count = 1;
  const compile_options *o = c->options;
  if (o->dump)
    o->dump(o->dump_argument, arena_printf(c->arena, STR_FMT, STR_ARG(out->plan->module->name)), generator->suffix,
            (str){joined->data, joined->size});
  return status_ok();
}

static heddle_status make_program(compilation *c) {
  TRY(join_images(c));
  const compiled *out = c->out;
  TRY(program_build(c->arena, out->plan, out->source, &out->kernels, out->image_count, out->images, &c->out->program));
  c->out->program.streams = c->options->streams;
  return status_ok();
}

// Native code becomes this process's; what the simulator executes is its own.
static heddle_status link_kernels(arena *a, compiled *c, const compile_options *o, int64_t shared_limit) {
  const int count = c->program.kernel_count;
  kernel_fn *entries = arena_array(a, kernel_fn, count);
  str *objects = arena_array(a, str, count);
  link_entry *wanted = arena_array(a, link_entry, count);
  void **addresses = arena_array(a, void *, count);
  int native = 0;
  for (int i = 0; i < count; i++) {
    if (c->images[i].format != IMAGE_ELF) continue;
    objects[native] = (str){c->images[i].data, c->images[i].size};
    wanted[native] = (link_entry){native, c->program.kernels[i].entry};
    native++;
  }
  TRY(link_objects(native, objects, native, wanted, addresses, &c->linked));
  for (int i = count - 1; i >= 0; i--)
    if (c->images[i].format == IMAGE_ELF) entries[i] = (kernel_fn)addresses[--native];
  c->entries = entries;
  if (c->is_open) return status_ok();
  const executable_options options = {.threads = c->threads, .device = o->device};
  TRY(executable_create(&c->program, entries, &options, &c->executable));
  return o->simulate ? simulation_link(&c->program, shared_limit, &c->simulator, c->executable) : status_ok();
}

static heddle_status link_guarded(void *argument) {
  const compilation *c = argument;
  return link_kernels(c->arena, c->out, c->options, c->target.shared_bytes);
}

static void end_linking(void *argument, bool is_torn) {
  (void)argument;
  (void)is_torn;
  lock_let_forks();
}

// Into this process, if it can run the program.
static heddle_status link_program(compilation *c) {
  const bool is_here = c->target.is_host || c->options->simulate || (c->options->runs && device_types[c->target.kind]);
  if (c->options->is_saved || !is_here) return status_ok();
  lock_hold_forks();
  heddle_status s = guard_clean_up(link_guarded, end_linking, c);
  lock_let_forks();
  TRY(s);
  c->out->buffers = buffer_cache_create();
  return c->out->buffers ? status_ok() : status_error(HEDDLE_OUT_OF_MEMORY, "no memory for the buffer cache");
}

// A program that was given as LHLO takes what it takes.
static heddle_status keep_limit(const compilation *c) {
  if (c->out->source || !memory_limit_is_set(&c->options->limit)) return status_ok();
  lhlo_program *counted = arena_new(c->arena, lhlo_program);
  *counted = *c->out->plan;
  c->out->plan = counted;
  return lhlo_limit_keep(&c->options->limit, counted, &c->out->program);
}

static heddle_status finish(void *state) {
  compilation *c = state;
  TRY(make_program(c));
  TRY(keep_limit(c));
  return link_program(c);
}

static const compile_step back[] = {
    {NULL, generate, NULL},
    {"link", finish, NULL},
    {0},
};

// --- the ways in

static int thread_count(const compile_options *o) { return o->threads > 0 ? o->threads : pool_default_threads(); }

target_description compile_target(const compile_options *o) {
  target_description t = o->target ? *o->target : o->simulate ? target_gpu() : target_cpu(thread_count(o));
  // Vectors of another machine are as long as those of V2.
  if (!o->target && !o->simulate) t.products = cpu_target_products(o->triple ? CPU_LEVEL_V2 : level_of(o));
  // The simulator's device is the host: its libraries do what no kernel can.
  if (o->simulate) t.has_libraries = t.prefers_kernels = true;
  if (t.has_grid && !memory_limit_is_set(&o->limit)) t.streams = o->streams;
  target_choose_codegen(&t, o->codegen);
  return t;
}

// Kernels of tiles may have no code.
static heddle_status plan_once(arena *a, const module *m, const compile_options *options, const tile_failures *failures,
                               compile_times *times, text *reasons, lhlo_program **out) {
  compile_options asked = *options;
  asked.codegen = tile_failures_codegen(failures, options->codegen);
  packed_constants packed = {.arena = a};
  compilation c = {.arena = a,
                   .options = options,
                   .target = compile_target(&asked),
                   .module = module_clone_around_values(a, m),
                   .packed = &packed,
                   .reasons = reasons,
                   .failures = failures};
  heddle_status s = stages_run(front, options->dump && reasons, &options->progress, times, &c);
  *out = c.plan;
  return s;
}

// Makes code of the plan's kernels of tiles, to learn which of them have none.
static heddle_status try_tiles(arena *a, const lhlo_program *plan, const compile_options *given,
                               tile_failures *failures) {
  compiled trial = {.plan = plan, .threads = thread_count(given), .failures = failures};
  program_kernels *kernels = &trial.kernels;
  kernels->plans = arena_array(a, const kernel_plan *, plan->kernel_count);
  for (int k = 0; k < plan->kernel_count; k++)
    if (plan->kernels[k]->hero == HERO_TILES) kernels->plans[kernels->count++] = plan->kernels[k];
  kernels->comparators = kernels->count;
  if (kernels->count == 0) return status_ok();
  compile_options options = *given;
  options.dump = NULL;
  options.control = NULL;
  options.progress = (compile_progress){0};
  const compilation c = {.arena = a, .options = &options, .target = plan->target, .out = &trial};
  TRY(choose_machine(&c));
  return compile_kernels(a, &options, &trial.machine, &trial);
}

heddle_status compile_plan(arena *a, const module *m, const compile_options *options, compile_times *times,
                           text *reasons, lhlo_program **out) {
  tile_failures failures = {.arena = a};
  const size_t told = reasons ? reasons->size : 0;
  for (;;) {
    TRY(plan_once(a, m, options, &failures, times, reasons, out));
    const int known = failures.list.size;
    arena *scratch = arena_create();
    heddle_status s = try_tiles(scratch, *out, options, &failures);
    arena_destroy(scratch);
    if (failures.list.size == known) return s;
    heddle_status_free(s);
    if (reasons) reasons->size = told;
  }
}

// `source` is the module of which the plan was made; null for a program that was given as LHLO.
static heddle_status compile_back(arena *a, const module *source, const lhlo_program *plan,
                                  const compile_options *options, tile_failures *failures, compiled *out) {
  *out = (compiled){.source = source, .plan = plan, .threads = thread_count(options), .failures = failures};
  out->is_open = plan->module->open_from > 0;
  compilation c = {.arena = a, .options = options, .target = plan->target, .out = out};
  heddle_status s = stages_run(back, options->dump != NULL, &options->progress, &out->times, &c);
  out->failures = NULL;
  if (!status_is_ok(s)) compiled_release(out);
  return s;
}

heddle_status compile_lhlo(arena *a, const lhlo_program *plan, const compile_options *options, compiled *out) {
  return compile_back(a, NULL, plan, options, NULL, out);
}

static heddle_status compile_once(arena *a, const module *m, const compile_options *options, tile_failures *failures,
                                  compile_times *times, compiled *out) {
  text reasons = {0};
  lhlo_program *plan = NULL;
  heddle_status s = plan_once(a, m, options, failures, times, options->dump ? &reasons : NULL, &plan);
  text_free(&reasons);
  TRY(s);
  return compile_back(a, m, plan, options, failures, out);
}

heddle_status compile_module(arena *a, const module *m, const compile_options *options, compiled *out) {
  tile_failures failures = {.arena = a};
  compile_times times = {0};
  int known;
  heddle_status s = status_ok();
  *out = (compiled){0};
  do {
    known = failures.list.size;
    heddle_status_free(s);
    s = compile_once(a, m, options, &failures, &times, out);
  } while (failures.list.size > known);
  TRY(s);
  for (int k = 0; k < out->times.count; k++)
    compile_times_add(&times, out->times.stages[k].name, out->times.stages[k].seconds);
  out->times = times;
  return status_ok();
}

void compiled_release(compiled *c) {
  for (int k = 0; k < c->special_count; k++) compiled_release(&c->specials[k]);
  lock_hold_forks();
  executable_destroy(c->executable);
  link_release(c->linked);
  lock_let_forks();
  simulator_destroy(c->simulator);
  buffer_cache_destroy(c->buffers);
  c->executable = NULL;
  c->linked = NULL;
  c->simulator = NULL;
  c->buffers = NULL;
  c->special_count = 0;
}
