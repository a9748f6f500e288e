// Compiles kernels, several at a time: emit, lower, code generation.
//
// A kernel has an MLIR context for itself while it is compiled, so that kernels are compiled on several threads; what
// they share (the plan, the module) is read only.
#include "api/compile_kernels.h"

#include <pthread.h>

#include "base/guard.h"
#include "base/kernel_cache.h"
#include "base/lock.h"
#include "base/pool.h"
#include "emit/emit.h"
#include "emit/ir_builder.h"
#include "emit/kernel_text.h"
#include "link/elf_rename.h"
#include "lower/shared_addresses.h"
#include "target/code_generators.h"
#include "tile/kernel.h"
#include "tile/passes.h"
#include "tile/stage.h"

// --- one kernel

// What goes in, and what has to be given back however the compilation ends.
typedef struct kernel_job {
  const kernel_plan *kernel;
  const target_description *planned;  // that the kernel was planned for
  const target_description *machine;  // that code is generated for: the same, or this CPU
  const compile_options *options;
  compile_times *times;
  const kernel_plan *const *others;  // of one that takes sizes: the same with other stand-ins; null: it is made alone
  open_kernel_table table;           // then
  arena *arena, *scratch;            // of the image, and of all else
  lower_options lowering;
  kernel_image image;
  lower_session *session;
  MlirModule ir;
  kernel_cache_key key;
  bool has_cache, is_cached;  // code may be kept; was found
  bool is_given;              // the module was made elsewhere
} kernel_job;

static heddle_status take_session(void *state) {
  kernel_job *j = state;
  j->session = lower_session_take();
  return status_ok();
}

static heddle_status emit(void *state) {
  kernel_job *j = state;
  MlirContext context = lower_session_context(j->session);
  const compile_options *o = j->options;
  if (o->region && j->kernel->hero == HERO_TILES) {
    TRY(o->region(o->region_argument, context, j->scratch, j->kernel, &j->ir));
    j->is_given = !mlirModuleIsNull(j->ir);
    if (j->is_given) return status_ok();
  }
  return j->kernel->hero == HERO_TILES ? tile_kernel_emit(context, j->scratch, j->kernel, &j->ir)
                                       : emit_kernel(context, j->scratch, j->kernel, j->planned, &j->ir);
}

static heddle_status lower(void *state) {
  kernel_job *j = state;
  if (j->is_cached) return status_ok();
  const code_generator *generator = code_generator_find(j->machine->kind, j->options->simulate);
  j->lowering = (lower_options){.target = *j->machine, .exact = j->options->exact, .takes_sizes = j->others != NULL};
  if (j->options->scalar) j->lowering.target.vector_bits = 0;
  if (generator->prepare) generator->prepare(j->scratch, &j->lowering);
  const MlirOperation module = mlirModuleGetOperation(j->ir);
  const pass *const *passes = j->is_given ? tile_pipeline_from(tile_stage_of(j->scratch, module), j->machine)
                              : j->kernel->hero == HERO_TILES ? tile_pipeline(j->machine)
                                                              : lower_pipeline(j->machine);
  heddle_status s = lower_run_in(j->session, passes, module, &j->lowering, j->options->control);
  return status_is_ok(s) ? s : status_context(s, "while compiling kernel %s", j->kernel->name);
}

// --- of a kernel that takes sizes

// What is torn within MLIR is left alone: its context could not even be destroyed.
static void give_back(kernel_job *j, bool is_torn, bool is_sound) {
  if (!is_torn && j->ir.ptr) mlirModuleDestroy(j->ir);
  if (is_torn && j->session) lower_session_abandon(j->session);
  else if (j->session) lower_session_give(j->session, is_sound);
  j->session = NULL;
  j->ir.ptr = NULL;
}

// The same kernel with other stand-ins: its text as it was emitted, or what is read of it behind lowering.
typedef struct other_job {
  kernel_job job;
  text *emitted;  // null: it is lowered and read
  open_numbers_reading *reading;
} other_job;

static heddle_status make_other(void *argument) {
  other_job *o = argument;
  kernel_job *j = &o->job;
  j->session = lower_session_take();
  TRY(emit(j));
  if (o->emitted) {
    kernel_text_print(j->scratch, mlirModuleGetOperation(j->ir), o->emitted);
    return status_ok();
  }
  TRY(lower(j));
  open_numbers_prepare(j->scratch, mlirModuleGetOperation(j->ir));
  open_numbers_read(j->scratch, mlirModuleGetOperation(j->ir), o->reading);
  return status_ok();
}

static void end_other(void *argument, bool is_torn) { give_back(&((other_job *)argument)->job, is_torn, false); }

// In a context of its own.
static heddle_status compile_other(const kernel_job *j, const kernel_plan *kernel, text *emitted,
                                   open_numbers_reading *out) {
  other_job o = {.job = *j, .emitted = emitted, .reading = out};
  o.job.kernel = kernel;
  o.job.session = NULL;
  o.job.ir.ptr = NULL;
  heddle_status s = guard_clean_up(make_other, end_other, &o);
  give_back(&o.job, false, status_is_ok(s));
  return s;
}

// What decides its code and its table: what was emitted with every stand-in, and these.
static heddle_status print_others(const kernel_job *j, text *out) {
  const open_samples *samples = j->options->open->samples;
  const int count = open_samples_count(samples);
  text_printf(out, "%d %d\n", samples->degree, samples->symbol_count);
  for (int n = 0; n < count; n++)
    for (int k = 0; k < samples->symbol_count; k++)
      text_printf(out, "%lld\n", (long long)open_samples_stand_in(samples, n, k));
  for (int n = 1; n < count; n++) TRY(compile_other(j, j->others[n], out, NULL));
  return status_ok();
}

static heddle_status open_sizes(void *state) {
  kernel_job *j = state;
  if (!j->others || j->is_cached) return status_ok();
  const open_samples *samples = j->options->open->samples;
  open_numbers_reading readings[OPEN_SAMPLES_MOST] = {0};
  MlirOperation module = mlirModuleGetOperation(j->ir);
  open_numbers_prepare(j->scratch, module);
  MlirOperation clone = mlirOperationClone(module);
  open_numbers_read(j->scratch, clone, &readings[0]);
  mlirOperationDestroy(clone);
  for (int s = 1; s < open_samples_count(samples); s++) TRY(compile_other(j, j->others[s], NULL, &readings[s]));
  return open_kernel_open(j->arena, module, j->kernel, samples, readings, &j->table);
}

// --- kept between processes

// Who looks at passes or wants to see stages wants them to be gone through.
static bool may_cache(const compile_options *o) {
  const bool is_watched = pass_control_orders(o->control, &lower_operations) || (o->control && o->control->until);
  return kernel_cache_is_on() && !o->dump && !is_watched;
}

// What a kernel's function is called while it is kept, whatever its program calls it.
static const char kept_symbol[] = "kernel";

// Objects are linked one by one; other targets' code is joined, so that the kernel's name is all over it.
static bool has_own_symbols(const kernel_job *j) {
  return code_generator_find(j->machine->kind, j->options->simulate)->format == IMAGE_ELF;
}

// All that decides what code comes out: the module as it was emitted, the machine, and how lowering is told to work.
static heddle_status print_making(const kernel_job *j, text *out) {
  const target_description *m = j->machine;
  const launch_plan *launch = &j->kernel->launch;
  text_printf(out, "%d %s %s %s %s %d %d\n", (int)m->kind, m->name, m->chip, m->features,
              m->triple ? m->triple : "host", m->vector_bits, m->cores);
  text_printf(out, "%d %d %d %d\n", j->options->exact, j->options->scalar, j->options->simulate,
              j->kernel->hero == HERO_TILES);
  text_printf(out, "%lld %lld %lld\n", (long long)launch->threads, (long long)launch->blocks_x,
              (long long)launch->blocks_y);
  const MlirOperation ir = mlirModuleGetOperation(j->ir);
  if (has_own_symbols(j)) kernel_text_print(j->scratch, ir, out);
  else text_puts(out, ir_operation_text(j->scratch, ir));
  return j->others ? print_others(j, out) : status_ok();
}

// What is kept is not valid, for want of the symbol or of a table, where somebody else has written it alone; then there
// is no code.
static bool take_kept(kernel_job *j, str code) {
  if (j->others && !open_kernel_table_read(j->arena, &code, &j->table)) return false;
  if (has_own_symbols(j)) {
    heddle_status s = elf_rename(j->arena, code, kept_symbol, j->kernel->name, &code);
    const bool is_renamed = status_is_ok(s);
    heddle_status_free(s);
    if (!is_renamed) return false;
  }
  const code_generator *generator = code_generator_find(j->machine->kind, j->options->simulate);
  j->image = (kernel_image){.format = generator->format, .data = code.data, .size = code.size};
  return true;
}

static heddle_status keep(const kernel_job *j) {
  str code = {j->image.data, j->image.size};
  if (has_own_symbols(j)) TRY(elf_rename(j->scratch, code, j->kernel->name, kept_symbol, &code));
  text kept = {0};
  if (j->others) open_kernel_table_write(&j->table, &kept);
  text_append(&kept, code);
  kernel_cache_keep(&j->key, text_view(&kept));
  text_free(&kept);
  return status_ok();
}

static heddle_status look_up(void *state) {
  kernel_job *j = state;
  j->has_cache = may_cache(j->options);
  if (!j->has_cache) return status_ok();
  text making = {0};
  str code;
  heddle_status s = print_making(j, &making);
  if (status_is_ok(s)) j->key = kernel_cache_key_of(text_view(&making));
  text_free(&making);
  TRY(s);
  j->is_cached = kernel_cache_find(j->arena, &j->key, &code) && take_kept(j, code);
  return status_ok();
}

// --- to code

static void dump(const kernel_job *j, const char *suffix, str contents) {
  if (j->options->dump) j->options->dump(j->options->dump_argument, j->kernel->name, suffix, contents);
}

static heddle_status dump_ir(const kernel_job *j, const char *suffix) {
  dump(j, suffix, str_from(ir_operation_text(j->scratch, mlirModuleGetOperation(j->ir))));
  return status_ok();
}

static heddle_status dump_emitted(void *state) { return dump_ir(state, "emitted.mlir"); }
static heddle_status dump_lowered(void *state) { return dump_ir(state, "lowered.mlir"); }

static heddle_status generate(void *state) {
  kernel_job *j = state;
  if (j->is_cached) return status_ok();
  text llvm_ir = {0}, assembly = {0};
  const bool has_dump = j->options->dump,
             is_scalar = !mlirAttributeIsNull(ir_get(mlirModuleGetOperation(j->ir), "xla.scalar_loops"));
  const launch_plan *launch = &j->kernel->launch;
  const code_options options = {.entry = j->kernel->name,
                                .optimize_loops = j->options->scalar || is_scalar,
                                .has_shared_addresses = shared_addresses_are_made(mlirModuleGetOperation(j->ir)),
                                .threads = launch->threads,
                                .blocks_x = launch->blocks_x,
                                .blocks_y = launch->blocks_y,
                                .llvm_ir = has_dump ? &llvm_ir : NULL,
                                .assembly = has_dump ? &assembly : NULL};
  const code_generator *generator = code_generator_find(j->machine->kind, j->options->simulate);
  heddle_status s = generator->emit(j->arena, mlirModuleGetOperation(j->ir), j->machine, &options, &j->image);
  dump(j, "ll", text_view(&llvm_ir));
  dump(j, "s", text_view(&assembly));
  text_free(&llvm_ir);
  text_free(&assembly);
  compile_times_add(j->times, "translate", j->image.translate_seconds);
  compile_times_add(j->times, "optimize", j->image.optimize_seconds);
  compile_times_add(j->times, "codegen", j->image.codegen_seconds);
  return status_is_ok(s) && j->has_cache ? keep(j) : s;
}

static const compile_step kernel_stages[] = {
    {"context", take_session, NULL},
    {"emit", emit, dump_emitted},
    {NULL, look_up, NULL},
    {"lower", lower, NULL},
    {"sizes", open_sizes, dump_lowered},
    {NULL, generate, NULL},
    {0},
};

// The place is given within the guard, as it takes memory, too.
static heddle_status compile_kernel(void *argument) {
  kernel_job *j = argument;
  j->arena = arena_create();
  j->scratch = arena_create();
  heddle_status s = stages_run(kernel_stages, j->options->dump != NULL, NULL, j->times, j);
  return status_locate(s, j->kernel->computation->root->where);
}

static void end_kernel(void *argument, bool is_torn) {
  kernel_job *j = argument;
  give_back(j, is_torn, false);
  j->arena = j->scratch = NULL;  // the guard's
}

// Libraries' own locks are held in here: no fork meanwhile.
static heddle_status run_kernel_job(kernel_job *j) {
  lock_hold_forks();
  heddle_status s = guard_run(compile_kernel, end_kernel, j);
  give_back(j, false, status_is_ok(s));
  arena_destroy(j->scratch);
  lock_let_forks();
  return s;
}

// --- all kernels

typedef struct kernel_batch {
  compiled *program;
  arena *arena;  // of the program
  const compile_options *options;
  const target_description *machine, *host;
  const kernel_plan *const **others;  // by kernel that takes sizes, by sample; null: such kernels get no code
  open_kernel_table *tables;          // by kernel
  int count;
  arena **arenas;  // of each kernel's image until all are done
  kernel_image *images;
  compile_times *times;  // of each kernel
  heddle_status *statuses;
  pthread_mutex_t *telling;
  int *done;  // kernels, of which the progress was told
} kernel_batch;

static void tell_done(const kernel_batch *b) {
  if (!b->options->progress.fn) return;
  pthread_mutex_lock(b->telling);
  progress_tell(&b->options->progress, "kernels", ++*b->done, b->count);
  pthread_mutex_unlock(b->telling);
}

static void compile_range(void *argument, int64_t begin, int64_t end) {
  const kernel_batch *b = argument;
  for (int64_t i = begin; i < end; i++) {
    const program_kernels *kernels = &b->program->kernels;
    const bool is_comparator = i >= kernels->comparators;
    if (kernels->plans[i]->takes_sizes && !b->others) continue;
    kernel_job job = {.kernel = b->others && b->others[i] ? b->others[i][0] : kernels->plans[i],
                      .others = b->others ? b->others[i] : NULL,
                      .planned = is_comparator ? kernels->callers : &b->program->plan->target,
                      .machine = is_comparator ? b->host : b->machine,
                      .options = b->options,
                      .times = &b->times[i]};
    b->statuses[i] = run_kernel_job(&job);
    b->arenas[i] = job.arena;
    b->images[i] = job.image;
    b->tables[i] = job.table;
    tell_done(b);
  }
}

static heddle_status first_error(const kernel_batch *b) {
  heddle_status s = status_ok();
  // A region that somebody gave is wrong, and not the choice of tiles.
  tile_failures *failures = b->options->region ? NULL : b->program->failures;
  for (int i = 0; i < b->count; i++) {
    if (failures && !status_is_ok(b->statuses[i]))
      (void)tile_failures_note(failures, b->program->kernels.plans[i], b->statuses[i]);
    if (!status_is_ok(s)) heddle_status_free(b->statuses[i]);
    else s = b->statuses[i];
  }
  return s;
}

// Moves the images to the program's arena.
static heddle_status gather_images(void *argument) {
  const kernel_batch *b = argument;
  compiled *c = b->program;
  for (int i = 0; i < b->count; i++) {
    for (int k = 0; k < b->times[i].count; k++)
      compile_times_add(&c->times, b->times[i].stages[k].name, b->times[i].stages[k].seconds);
    c->images[i] = b->images[i];
    c->images[i].data = str_copy(b->arena, (str){b->images[i].data, b->images[i].size}).data;
    b->tables[i] = open_kernel_table_copy(b->arena, &b->tables[i]);
    arena_destroy(b->arenas[i]);
    b->arenas[i] = NULL;
  }
  return status_ok();
}

static const kernel_plan *named_as(arena *a, const kernel_plan *from, const kernel_plan *as) {
  kernel_plan *copy = arena_new(a, kernel_plan);
  *copy = *from;
  copy->name = as->name;
  return copy;
}

// The plans of kernels that take sizes, which are the same in all samples but for numbers. Other kernels are not: tiles
// fill their stand-ins.
static heddle_status gather_others(arena *a, const compile_options *o, const lhlo_program *plan,
                                   const program_kernels *kernels, const kernel_plan *const ***out) {
  const int samples = open_samples_count(o->open->samples);
  const kernel_plan ***others = arena_array(a, const kernel_plan **, kernels->count);
  for (int k = 0; k < plan->kernel_count; k++) {
    const int number = (int)(intptr_t)ptr_map_get(&kernels->numbers, plan->kernels[k]) - 1;
    if (!plan->kernels[k]->takes_sizes || number < 0) continue;
    others[number] = arena_array(a, const kernel_plan *, samples);
    for (int s = 0; s < samples; s++) {
      const lhlo_program *other = o->open->plans[s];
      if (other->kernel_count != plan->kernel_count || !other->kernels[k]->takes_sizes)
        return status_error(HEDDLE_UNIMPLEMENTED,
                            "which kernels the program has depends on a size that is only known when it runs");
      others[number][s] = named_as(a, other->kernels[k], kernels->plans[number]);
    }
  }
  *out = (const kernel_plan *const **)others;
  return status_ok();
}

static void drop_images(void *argument, bool is_torn) {
  (void)is_torn;
  const kernel_batch *b = argument;
  for (int i = 0; i < b->count; i++) arena_destroy(b->arenas[i]);
}

// The program is made with the tables of its own stand-ins.
static void name_tables(arena *a, const compile_options *o, const open_kernel_table *tables, compiled *c) {
  if (!o->open) return;
  c->tables = tables;
  c->kernels.tables = open_kernel_tables(a, tables, c->kernels.count, o->open->shown, 0);
}

// Who watches passes, and dumps, want the kernels one after the other.
heddle_status compile_kernels(arena *a, const compile_options *o, const target_description *machine, compiled *c) {
  int count = c->kernels.count;
  c->images = arena_array(a, kernel_image, count);
  c->image_count = count;
  arena *scratch = arena_create();
  const target_description host = machine->has_grid ? cpu_target_host(a, c->threads) : *machine;
  pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;
  int done = 0;
  kernel_batch b = {.program = c,
                    .arena = a,
                    .count = count,
                    .options = o,
                    .machine = machine,
                    .host = &host,
                    .arenas = arena_array(scratch, arena *, count),
                    .images = arena_array(scratch, kernel_image, count),
                    .times = arena_array(scratch, compile_times, count),
                    .statuses = arena_array(scratch, heddle_status, count),
                    .tables = arena_array(a, open_kernel_table, count),
                    .telling = &telling,
                    .done = &done};
  if (o->open) {
    heddle_status s = gather_others(scratch, o, c->plan, &c->kernels, &b.others);
    if (!status_is_ok(s)) arena_destroy(scratch);
    TRY(s);
  }
  progress_tell(&o->progress, "kernels", 0, count);
  const bool is_ordered = o->dump || pass_control_orders(o->control, &lower_operations);
  pool_run(is_ordered ? 1 : c->threads, count, compile_range, &b);
  heddle_status s = first_error(&b);
  if (status_is_ok(s)) s = guard_clean_up(gather_images, drop_images, &b);
  if (status_is_ok(s)) name_tables(a, o, b.tables, c);
  drop_images(&b, false);
  arena_destroy(scratch);
  pthread_mutex_destroy(&telling);
  return s;
}
