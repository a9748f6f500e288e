// Loads, runs and compares modules, for all tools that do so.
#include "tools/execute.h"

#include <limits.h>
#include <strings.h>

#include "base/file.h"
#include "base/heap.h"
#include "hlo/device_groups.h"
#include "opt/dynamic_index_splitter.h"
#include "opt/form_normalization.h"
#include "opt/gpu_call_expander.h"
#include "opt/mixed_types_expander.h"
#include "opt/passes.h"
#include "tools/split_mix.h"

heddle_status platform_from_name(const char *flag, const char *name, platform *out) {
  static const struct {
    const char *name;
    platform value;
  } rows[] = {{"interpreter", PLATFORM_INTERPRETER},
              {"cpu", PLATFORM_CPU},
              {"host", PLATFORM_CPU},
              {"simulator", PLATFORM_SIMULATOR},
              {"cuda", PLATFORM_CUDA},
              {"gpu", PLATFORM_CUDA},
              {"vulkan", PLATFORM_VULKAN}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (strcasecmp(name, rows[i].name) != 0) continue;
    *out = rows[i].value;
    return status_ok();
  }
  return status_error(HEDDLE_INVALID, "--%s: found platform %s, wanted CPU, CUDA, Vulkan, Simulator or Interpreter",
                      flag, name);
}

heddle_status platform_check_device(const char *device, platform on) {
  static const char *const without[] = {[PLATFORM_INTERPRETER] = "the interpreter",
                                        [PLATFORM_SIMULATOR] = "the simulator",
                                        [PLATFORM_CUDA] = "CUDA, which nothing here runs,"};
  const char *name = (size_t)on < sizeof without / sizeof *without ? without[on] : NULL;
  if (!device || !name) return status_ok();
  return status_error(HEDDLE_INVALID, "--device: found %s, but %s has no devices to choose from", device, name);
}

void platform_compiles_for(platform on, const target_description *gpu, compile_options *options) {
  options->simulate = on == PLATFORM_SIMULATOR;
  options->runs = on == PLATFORM_VULKAN;
  if (on == PLATFORM_SIMULATOR || on == PLATFORM_CUDA) options->target = gpu;
  if (on == PLATFORM_VULKAN) options->target = target_vulkan();
}

heddle_status platform_has_device(const compiled *program) {
  if (program->executable) return status_ok();
  const target_description *target = &program->plan->target;
  return status_error(HEDDLE_DEVICE_FAILED, "there is no %s device: the program was compiled for %s and did not run",
                      target_kind_name(target->kind), target->name);
}

static heddle_status interpret_devices(arena *a, const module *m, const eval_options *options, int devices,
                                       const argument_list *arguments, literal **result) {
  const int each = m->entry->parameters.size;
  eval_process *processes = arena_array(a, eval_process, devices);
  for (int d = 0; d < devices; d++)
    processes[d] = (eval_process){.program = m->entry,
                                  .argument_count = each,
                                  .arguments = arguments->values + (arguments->count > each ? (ptrdiff_t)d * each : 0)};
  TRY(eval_parallel(a, options, device_groups_replicas(m), device_groups_partitions(m), processes));
  literal **results = arena_array(a, literal *, devices);
  for (int d = 0; d < devices; d++) results[d] = processes[d].result;
  *result = literal_tuple(a, devices, results);
  return status_ok();
}

// Forms that the interpreter leaves to passes, as it is to stay plain.
static heddle_status make_plain(arena *a, const module **m) {
  bool has_vectors = false;
  for (int c = 0; c < (*m)->computations.size; c++)
    for (int k = 0; k < (*m)->computations.data[c]->instructions.size; k++)
      has_vectors |= dynamic_index_is_vector((*m)->computations.data[c]->instructions.data[k]);
  if (!has_vectors && !mixed_types_expander_applies(*m) && !form_normalization_applies(*m)) return status_ok();
  module *copy = module_clone(a, *m);
  TRY(pass_apply(&opt_form_normalization, copy));
  TRY(pass_apply(&opt_dynamic_index_splitter, copy));
  TRY(pass_apply(&opt_mixed_types_expander, copy));
  *m = copy;
  return opt_sort(a, copy);
}

heddle_status execute_in_interpreter(arena *a, const module *m, const eval_options *options,
                                     const argument_list *arguments, literal **result) {
  int devices;
  if (gpu_call_expander_applies(m)) {
    module *expanded = module_clone(a, m);
    TRY(pass_apply(&opt_gpu_call_expander, expanded));
    TRY(opt_sort(a, expanded));
    m = expanded;
  }
  TRY(device_groups_count(m, &devices));
  TRY(make_plain(a, &m));
  if (devices > 1) return interpret_devices(a, m, options, devices, arguments, result);
  return eval_computation(a, m->entry, options, arguments->count, arguments->values, result);
}

heddle_status execute_module(arena *a, const module *m, platform on, const compile_options *options,
                             const argument_list *arguments, literal **result) {
  if (on == PLATFORM_INTERPRETER) return execute_in_interpreter(a, m, NULL, arguments, result);
  compiled program;
  const target_description gpu = target_gpu();
  compile_options wanted = *options;
  platform_compiles_for(on, &gpu, &wanted);
  TRY(compile_module(a, m, &wanted, &program));
  heddle_status s = platform_has_device(&program);
  if (status_is_ok(s)) s = run_once(a, &program, arguments->count, arguments->values, result);
  compiled_release(&program);
  return s;
}

void execute_leaves(arena *a, literal *value, literal_list *out) {
  if (shape_is_array(value->shape)) vec_push(a, out, value);
  // Tuples nest at most SHAPE_MAX_NESTING deep.
  for (int i = 0; i < value->shape->tuple_size; i++) execute_leaves(a, value->elements[i], out);
}

void execute_print_leaves(FILE *out, const char *title, const literal_list *leaves) {
  text t = {0};
  for (int i = 0; i < leaves->size; i++) {
    text_printf(&t, "%s %d: ", title, i);
    shape_print(&t, leaves->data[i]->shape, false);
    text_putc(&t, ' ');
    literal_print(&t, leaves->data[i]);
    text_putc(&t, '\n');
  }
  fputs(text_cstr(&t), out);
  text_free(&t);
}

void execute_print_results(FILE *out, arena *a, const char *title, int devices, literal *result) {
  for (int d = 0; d < devices; d++) {
    literal_list leaves = {0};
    execute_leaves(a, devices > 1 ? result->elements[d] : result, &leaves);
    execute_print_leaves(out, devices > 1 ? arena_printf(a, "device %d, %s", d, title) : title, &leaves);
  }
}

static heddle_status fill_leaves(arena *a, literal *value, leaf_source source, void *context, int *number) {
  if (shape_is_array(value->shape)) {
    literal *leaf;
    TRY(source(context, a, *number, value->shape, &leaf));
    *value = *leaf;
    ++*number;
  }
  for (int i = 0; i < value->shape->tuple_size; i++) TRY(fill_leaves(a, value->elements[i], source, context, number));
  return status_ok();
}

// The value's nodes without data.
static literal *skeleton(arena *a, const shape *s) {
  literal *value = arena_new(a, literal);
  value->shape = s;
  if (s->tuple_size) value->elements = arena_array(a, literal *, s->tuple_size);
  for (int i = 0; i < s->tuple_size; i++) value->elements[i] = skeleton(a, s->elements[i]);
  return value;
}

static int leaf_count(const shape *s) {
  int count = shape_is_array(s);
  for (int i = 0; i < s->tuple_size; i++) count += leaf_count(s->elements[i]);
  return count;
}

// Filling arrays of many gigabytes takes long: whether there is room for all is asked before the first.
static heddle_status check_room(const module *m, int count) {
  const instruction_list *parameters = &m->entry->parameters;
  int64_t bytes = 0;
  for (int i = 0; i < parameters->size; i++) {
    const int64_t each = shape_byte_size(parameters->data[i]->shape);
    if (__builtin_add_overflow(bytes, each, &bytes)) bytes = INT64_MAX;
  }
  if (parameters->size) {
    const int64_t times = count / parameters->size;
    if (__builtin_mul_overflow(bytes, times, &bytes)) bytes = INT64_MAX;
  }
  void *room = heap_try_allocate((size_t)bytes);
  heap_free(room);
  if (room || bytes == 0) return status_ok();
  return status_at(HEDDLE_OUT_OF_MEMORY, m->entry->where, "no memory for the %lld bytes of %d arguments",
                   (long long)bytes, count);
}

heddle_status argument_list_make(arena *a, const module *m, int given, leaf_source source, void *context,
                                 argument_list *out) {
  const instruction_list *parameters = &m->entry->parameters;
  int devices, each = 0;
  TRY(device_groups_count(m, &devices));
  for (int i = 0; i < parameters->size; i++) each += leaf_count(parameters->data[i]->shape);
  const int count = parameters->size * (given > each ? devices : 1);
  if (count > 1) TRY(check_room(m, count));
  *out = (argument_list){.count = count, .values = arena_array(a, literal *, count)};
  for (int i = 0; i < count; i++) {
    out->values[i] = skeleton(a, parameters->data[i % parameters->size]->shape);
    heddle_status s = fill_leaves(a, out->values[i], source, context, &out->leaf_count);
    // Other errors are the source's, which the program has no part in.
    const bool is_too_large = heddle_status_code(s) == HEDDLE_OUT_OF_MEMORY;
    TRY(is_too_large ? status_locate(s, parameters->data[i % parameters->size]->where) : s);
  }
  return status_ok();
}

static double random_unit(uint64_t *state) { return (double)(split_mix_next(state) >> 11) * 0x1p-52 - 1.0; }

static double random_float(uint64_t *state, bool large) {
  double unit = random_unit(state);
  return large ? unit * __builtin_exp2((double)(split_mix_next(state) % 200) - 100) : unit;
}

void execute_random_fill(literal *l, uint64_t *state, bool large) {
  int64_t count = shape_element_count(l->shape);
  dtype t = l->shape->dtype;
  for (int64_t i = 0; i < count; i++) {
    if (dtype_is_complex(t)) {
      double re = random_float(state, large);
      literal_set_complex(l, i, literal_complex_of(re, random_float(state, large)));
    } else if (dtype_is_float(t)) {
      literal_set_double(l, i, random_float(state, large));
    } else if (t == DTYPE_PRED) {
      literal_set_int(l, i, (int64_t)(split_mix_next(state) >> 63));
    } else {
      int64_t v = (int64_t)(split_mix_next(state) % 16);
      literal_set_int(l, i, dtype_is_signed(t) ? v - 8 : v);
    }
  }
}

typedef struct random_source {
  uint64_t state;
  bool large;
} random_source;

static heddle_status random_leaf(void *context, arena *a, int number, const shape *s, literal **out) {
  random_source *r = context;
  (void)number;
  TRY(literal_create(a, s, out));
  execute_random_fill(*out, &r->state, r->large);
  return status_ok();
}

heddle_status argument_list_random(arena *a, const module *m, unsigned seed, bool large, argument_list *out) {
  random_source r = {seed, large};
  return argument_list_make(a, m, INT_MAX, random_leaf, &r, out);
}

heddle_status execute_random_literal(arena *a, const shape *s, unsigned seed, literal **out) {
  random_source r = {seed, false};
  return random_leaf(&r, a, 0, s, out);
}

static heddle_status zero_leaf(void *context, arena *a, int number, const shape *s, literal **out) {
  (void)context;
  (void)number;
  return literal_create(a, s, out);
}

heddle_status argument_list_zeros(arena *a, const module *m, argument_list *out) {
  return argument_list_make(a, m, 0, zero_leaf, NULL, out);
}

heddle_status execute_compare(arena *a, literal *actual, literal *expected, double rtol, double atol) {
  literal_list left = {0}, right = {0};
  execute_leaves(a, actual, &left);
  execute_leaves(a, expected, &right);
  if (left.size != right.size)
    return status_error(HEDDLE_INVALID, "found %d results, wanted %d", left.size, right.size);
  for (int i = 0; i < left.size; i++) {
    heddle_status s = literal_compare(left.data[i], right.data[i], rtol, atol);
    if (!status_is_ok(s)) return left.size > 1 ? status_context(s, "in result %d of %d", i, left.size) : s;
  }
  return status_ok();
}

void dump_target_write(void *target, const char *name, const char *suffix, str contents) {
  dump_target *t = target;
  if (contents.size == 0) return;
  arena *a = arena_create();
  heddle_status s = file_write(arena_printf(a, "%s/%s.%s", t->folder, name, suffix), contents);
  if (status_is_ok(t->failed)) t->failed = s;
  else heddle_status_free(s);
  arena_destroy(a);
}

const char *execute_seconds_text(arena *a, double seconds) {
  if (seconds >= 1) return arena_printf(a, "%.3f s", seconds);
  if (seconds >= 1e-3) return arena_printf(a, "%.3f ms", seconds * 1e3);
  return arena_printf(a, "%.1f us", seconds * 1e6);
}

void execute_print_times(FILE *out, const compile_times *times) {
  double sum = 0;
  for (int i = 0; i < times->count; i++) {
    fprintf(out, "  %-10s %9.3f ms\n", times->stages[i].name, times->stages[i].seconds * 1e3);
    sum += times->stages[i].seconds;
  }
  fprintf(out, "  %-10s %9.3f ms\n", "compile", sum * 1e3);
}
