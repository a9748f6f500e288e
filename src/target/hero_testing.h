// For tests of heroes: a computation becomes a kernel as the plan says, runs on packed buffers, and must compute what
// the interpreter computes.
#ifndef HEDDLE_TARGET_HERO_TESTING_H_
#define HEDDLE_TARGET_HERO_TESTING_H_

#include <stdlib.h>

#include "emit/emit.h"
#include "eval/evaluate.h"
#include "hlo/text.h"
#include "target/kernel_testing.h"

typedef void (*hero_function)(void *const *buffers, int64_t begin, int64_t end);

// A kernel in this process, with buffers by slice.
typedef struct hero_testing {
  arena *arena;
  module *module;
  kernel_plan *plan;
  link_code *code;
  hero_function call;
  void **buffers;  // of exactly as many bytes as the kernel may touch
} hero_testing;

static inline void hero_testing_require(heddle_status status, const char *source) {
  if (!status_is_ok(status)) fail_msg("%s\n%s", heddle_status_message(status), source);
}

// Literals hold one element per byte or more, buffers pack those of less than a byte.
static inline void hero_testing_pack(const literal *l, uint8_t *out) {
  int bits = dtypes[l->shape->dtype].bits;
  int64_t count = shape_element_count(l->shape);
  if (bits > 4 || l->shape->dtype == DTYPE_PRED) {
    memcpy(out, l->data, (size_t)kernel_buffer_bytes(l->shape));
    return;
  }
  memset(out, 0, (size_t)kernel_buffer_bytes(l->shape));
  for (int64_t i = 0; i < count; i++) {
    int value = ((const uint8_t *)l->data)[i] & ((1 << bits) - 1);
    out[i * bits / 8] |= (uint8_t)(value << (i * bits % 8));
  }
}

static inline void hero_testing_unpack(const uint8_t *in, literal *l) {
  dtype t = l->shape->dtype;
  int bits = dtypes[t].bits;
  int64_t count = shape_element_count(l->shape);
  if (bits > 4 || t == DTYPE_PRED) {
    memcpy(l->data, in, (size_t)kernel_buffer_bytes(l->shape));
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    int value = (in[i * bits / 8] >> (i * bits % 8)) & ((1 << bits) - 1);
    if (dtypes[t].class == CLASS_SIGNED && value >> (bits - 1)) value -= 1 << bits;
    ((uint8_t *)l->data)[i] = (uint8_t)value;
  }
}

static inline void hero_testing_compile(hero_testing *t, const char *source) {
  const target_description machine = cpu_target_host(t->arena, 2);
  MlirContext context = ir_context_create();
  MlirModule ir = {NULL};
  arena *scratch = arena_create();
  hero_testing_require(emit_kernel(context, scratch, t->plan, &machine, &ir), source);
  const lower_options options = {.target = machine, .exact = true};
  if (getenv("HERO_EMITTED")) mlirOperationDump(mlirModuleGetOperation(ir));
  hero_testing_require(lower_run(lower_pipeline(&machine), mlirModuleGetOperation(ir), &options, NULL), source);
  kernel_image object;
  MlirAttribute scalar = ir_get(mlirModuleGetOperation(ir), "xla.scalar_loops");
  text assembly = {0};
  const code_options plain = {.optimize_loops = !mlirAttributeIsNull(scalar),
                              .assembly = getenv("HERO_ASSEMBLY") ? &assembly : NULL};
  hero_testing_require(cpu_emit(t->arena, mlirModuleGetOperation(ir), &machine, &plain, &object), source);
  if (assembly.size > 0) print_message("%s\n", text_cstr(&assembly));
  text_free(&assembly);
  void *address = NULL;
  const str bytes = {object.data, object.size};
  const link_entry entry = {0, t->plan->name};
  hero_testing_require(link_objects(1, &bytes, 1, &entry, &address, &t->code), source);
  t->call = (hero_function)address;
  mlirModuleDestroy(ir);
  mlirContextDestroy(context);
  arena_destroy(scratch);
}

// The entry computation of the module as one kernel.
static inline hero_testing hero_testing_start(const char *source, int alias_count, const kernel_alias *aliases) {
  hero_testing t = {.arena = arena_create()};
  hero_testing_require(hlo_parse(t.arena, "test.hlo", str_from(source), &t.module), source);
  target_description target = target_cpu(2);
  hero_testing_require(kernel_plan_create(t.arena, t.module->entry, "kernel", &target, alias_count, aliases, &t.plan),
                       source);
  hero_testing_compile(&t, source);
  t.buffers = arena_array(t.arena, void *, t.plan->slice_count);
  for (int i = 0; i < t.plan->slice_count; i++) {
    size_t bytes = (size_t)kernel_buffer_bytes(t.plan->slices[i].shape);
    if (posix_memalign(&t.buffers[i], 64, bytes > 0 ? bytes : 1) != 0) fail_msg("no memory");
    memset(t.buffers[i], 0x5a, bytes);
  }
  return t;
}

static inline void hero_testing_end(hero_testing *t) {
  for (int i = 0; i < t->plan->slice_count; i++) free(t->buffers[i]);
  link_release(t->code);
  arena_destroy(t->arena);
}

// Small numbers, so that sums are exact in every type and products stay finite.
static inline literal *hero_testing_random(arena *a, const shape *s, uint64_t *state, int limit) {
  literal *l = NULL;
  hero_testing_require(literal_create(a, s, &l), "literal");
  for (int64_t i = 0; i < shape_element_count(s); i++) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    int v = (int)((*state >> 33) % (uint64_t)limit);
    if (dtypes[s->dtype].class == CLASS_COMPLEX) literal_set_complex(l, i, literal_complex_of(v, v % 3));
    else if (dtypes[s->dtype].class == CLASS_FLOAT) literal_set_double(l, i, v);
    else literal_set_int(l, i, v);
  }
  return l;
}

static inline int hero_testing_slice_of(const hero_testing *t, int parameter) {
  for (int i = 0; i < t->plan->input_count; i++)
    if (t->plan->inputs[i].parameter->attributes->index == parameter) return t->plan->inputs[i].slice;
  return -1;
}

// Runs the kernel's tiles in backward order, which must not matter, and compares every output, bit by bit if the
// tolerances are zero. Integers of parameter p are below limits[p] (all: 4 without limits).
static inline void hero_testing_check_within(hero_testing *t, const char *source, const int *limits, double rtol,
                                             double atol) {
  const computation *c = t->module->entry;
  uint64_t state = 11;
  literal **arguments = arena_array(t->arena, literal *, c->parameters.size);
  for (int p = 0; p < c->parameters.size; p++) {
    const instruction *parameter = c->parameters.data[p];
    arguments[p] = hero_testing_random(t->arena, parameter->shape, &state, limits ? limits[p] : 4);
    int slice = hero_testing_slice_of(t, p);
    if (slice >= 0) hero_testing_pack(arguments[p], t->buffers[slice]);
  }
  literal *wanted = NULL;
  hero_testing_require(eval_module(t->arena, t->module, c->parameters.size, arguments, &wanted), source);
  for (int64_t tile = t->plan->launch.tiles - 1; tile >= 0; tile--) t->call(t->buffers, tile, tile + 1);
  for (int n = 0; n < t->plan->output_count; n++) {
    const literal *expected = shape_is_tuple(wanted->shape) ? wanted->elements[n] : wanted;
    literal *found = NULL;
    hero_testing_require(literal_create(t->arena, expected->shape, &found), source);
    hero_testing_unpack(t->buffers[t->plan->outputs[n].slice], found);
    heddle_status same = literal_compare(found, expected, rtol, atol);
    if (!status_is_ok(same)) fail_msg("output %d: %s\n%s", n, heddle_status_message(same), source);
  }
}

static inline void hero_testing_check(hero_testing *t, const char *source, const int *limits) {
  hero_testing_check_within(t, source, limits, 0, 0);
}

// Plans, runs and compares; the plan must have chosen `hero`.
static inline void hero_testing_run(const char *source, hero_kind hero, int alias_count, const kernel_alias *aliases,
                                    const int *limits) {
  hero_testing t = hero_testing_start(source, alias_count, aliases);
  if (t.plan->hero != hero) fail_msg("%s\nis a %s", source, kernel_hero_name(t.plan->hero));
  hero_testing_check(&t, source, limits);
  hero_testing_end(&t);
}

#endif
