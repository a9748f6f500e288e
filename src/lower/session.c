// Sessions, the pool they wait in, and the pass managers they keep.
//
// A context never forgets a type, an attribute or an index map, so a session retires after some kernels. Those at rest
// are destroyed when the process exits.
//
// Patterns are collected for the dialects that occur and kept for each choice of them. Down to the LLVM dialect,
// examples/gelu.hlo takes 55 ms of processor time; 58 with the patterns of all dialects, and 57 where they are
// collected each time. A transformer of 26 kernels takes 142 ms, and 149 where they are collected each time.
#include "lower/session.h"

#include <pthread.h>
#include <stdlib.h>

#include <mlir-c/Diagnostics.h>
#include <mlir-c/Pass.h>
#include <mlir-c/RegisterEverything.h>

#include "base/lock.h"
#include "base/str.h"
#include "base/vec.h"
#include "dialect/to_llvm.h"
#include "dialect/xla_gpu.h"
#include "emit/ir_builder.h"

#define KERNELS_MAX 64  // in one context
#define POOL_MAX 16

typedef struct kept_manager {
  const char *anchor, *pipeline;
  MlirPassManager manager;
} kept_manager;

// The dialects whose operations occur, as bits by their place here; an operation of another dialect counts as all.
static const char *const dialects[] = {"builtin", "func",   "arith", "math",          "complex", "tensor", "vector",
                                       "scf",     "affine", "cf",    "llvm",          "gpu",     "nvvm",   "xla_gpu",
                                       "linalg",  "memref", "hal",   "bufferization", "iree"};
#define DIALECT_COUNT ((int)(sizeof dialects / sizeof *dialects))
#define ALL_DIALECTS (1U << DIALECT_COUNT)
#define ALWAYS 7U                                     // patterns of all dialects make operations of the first three
#define BRANCHES (1U << 9 | 1U << 10 | ALL_DIALECTS)  // cf, llvm: only with them are there several blocks
#define MAPS (1U << 13 | ALL_DIALECTS)                // xla_gpu: what one walk composes the next one folds

typedef struct kept_patterns {
  unsigned dialects;
  MlirFrozenRewritePatternSet patterns;
} kept_patterns;

typedef struct kept_conversion {
  int index_bits;
  to_llvm *conversion;
} kept_conversion;

struct lower_session {
  MlirContext context;
  arena *arena;
  VEC(kept_manager) managers;
  VEC(kept_patterns) patterns;
  VEC(kept_conversion) conversions;
  MlirFrozenRewritePatternSet steps[VECTOR_STEP_COUNT];  // null: not collected yet
  int kernels;                                           // lowered in this context so far
};

// --- pass managers

// Null, with a diagnostic, if there is no such pass.
static MlirPassManager make_manager(MlirContext context, const char *anchor, const char *pipeline) {
  static pthread_once_t register_once = PTHREAD_ONCE_INIT;
  pthread_once(&register_once, mlirRegisterAllPasses);
  MlirPassManager manager = mlirPassManagerCreateOnOperation(context, mlirStringRefCreateFromCString(anchor));
  mlirPassManagerEnableVerifier(manager, false);  // the driver verifies, once
  text error = {0};
  MlirOpPassManager top = mlirPassManagerGetAsOpPassManager(manager);
  MlirStringRef passes = mlirStringRefCreateFromCString(pipeline);
  if (mlirLogicalResultIsFailure(mlirOpPassManagerAddPipeline(top, passes, ir_append, &error))) {
    mlirEmitError(mlirLocationUnknownGet(context), text_cstr(&error));
    mlirPassManagerDestroy(manager);
    manager = (MlirPassManager){NULL};
  }
  text_free(&error);
  return manager;
}

static MlirPassManager find_manager(lower_session *s, str anchor, const char *pipeline) {
  for (int i = 0; i < s->managers.size; i++) {
    const kept_manager *m = &s->managers.data[i];
    if (str_is(anchor, m->anchor) && strcmp(m->pipeline, pipeline) == 0) return m->manager;
  }
  const char *name = arena_strdup(s->arena, anchor.data, anchor.size);
  kept_manager made = {name, arena_strdup(s->arena, pipeline, strlen(pipeline)), {NULL}};
  made.manager = make_manager(s->context, made.anchor, made.pipeline);
  if (!mlirPassManagerIsNull(made.manager)) vec_push(s->arena, &s->managers, made);
  return made.manager;
}

bool lower_session_run(lower_session *s, const char *pipeline, MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  MlirPassManager manager = find_manager(s, (str){name.data, name.length}, pipeline);
  return !mlirPassManagerIsNull(manager) && mlirLogicalResultIsSuccess(mlirPassManagerRunOnOp(manager, op));
}

// --- canonicalization

typedef struct dialect_walk {
  unsigned found;
  const char *last;  // name of the operation before: most come in runs of a few names
} dialect_walk;

static unsigned dialect_bit(str operation) {
  for (int i = 0; i < DIALECT_COUNT; i++) {
    size_t n = strlen(dialects[i]);
    if (operation.size > n && operation.data[n] == '.' && memcmp(operation.data, dialects[i], n) == 0) return 1U << i;
  }
  return ALL_DIALECTS;
}

static MlirWalkResult note_dialect(MlirOperation op, void *argument) {
  dialect_walk *w = argument;
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (name.data != w->last) w->found |= dialect_bit((str){name.data, name.length});
  w->last = name.data;
  return MlirWalkResultAdvance;
}

static MlirFrozenRewritePatternSet make_patterns(MlirContext context, unsigned wanted) {
  const char *names[DIALECT_COUNT];
  int count = 0;
  for (int i = 0; i < DIALECT_COUNT; i++)
    if (wanted & 1U << i) names[count++] = dialects[i];
  return xla_gpu_canonicalizations(context, wanted & ALL_DIALECTS ? -1 : count, names);
}

void lower_session_canonicalize(lower_session *s, MlirOperation op) {
  dialect_walk walk = {.found = ALWAYS};
  mlirOperationWalk(op, note_dialect, &walk, MlirWalkPreOrder);
  unsigned wanted = walk.found & ALL_DIALECTS ? ALL_DIALECTS : walk.found;
  int i = 0;
  while (i < s->patterns.size && s->patterns.data[i].dialects != wanted) i++;
  if (i == s->patterns.size) {
    kept_patterns made = {wanted, make_patterns(s->context, wanted)};
    vec_push(s->arena, &s->patterns, made);
  }
  const bool has_maps = walk.found & MAPS;
  xla_gpu_canonicalize(op, s->patterns.data[i].patterns, walk.found & BRANCHES, !has_maps);
}

// --- conversion

const to_llvm *lower_session_to_llvm(lower_session *s, int index_bits) {
  for (int i = 0; i < s->conversions.size; i++)
    if (s->conversions.data[i].index_bits == index_bits) return s->conversions.data[i].conversion;
  kept_conversion made = {index_bits, to_llvm_create(s->context, index_bits)};
  vec_push(s->arena, &s->conversions, made);
  return made.conversion;
}

// --- vectors

bool lower_session_vectors(lower_session *s, vector_step step, MlirOperation op) {
  dialect_walk walk = {0};
  mlirOperationWalk(op, note_dialect, &walk, MlirWalkPreOrder);
  if (!s->steps[step].ptr) s->steps[step] = vector_steps_collect(s->context, step);
  return vector_steps_apply(op, s->steps[step], walk.found & BRANCHES);
}

// --- sessions

lower_session *lower_session_create(MlirContext context) {
  arena *a = arena_create();
  lower_session *s = arena_alloc(a, sizeof *s);
  *s = (lower_session){.context = context, .arena = a};
  return s;
}

void lower_session_destroy(lower_session *s) {
  for (int i = 0; i < s->managers.size; i++) mlirPassManagerDestroy(s->managers.data[i].manager);
  for (int i = 0; i < s->patterns.size; i++) mlirFrozenRewritePatternSetDestroy(s->patterns.data[i].patterns);
  for (int i = 0; i < VECTOR_STEP_COUNT; i++)
    if (s->steps[i].ptr) mlirFrozenRewritePatternSetDestroy(s->steps[i]);
  for (int i = 0; i < s->conversions.size; i++) to_llvm_destroy(s->conversions.data[i].conversion);
  arena_destroy(s->arena);
}

MlirContext lower_session_context(const lower_session *s) { return s->context; }

// --- the pool

static struct {
  lock lock;
  lower_session *sessions[POOL_MAX];
  int count;
  bool is_known_at_exit;
} pool = {.lock = LOCK_INITIALIZER};

static lower_session *take_from_pool(void) {
  lock_take(&pool.lock);
  lower_session *s = pool.count > 0 ? pool.sessions[--pool.count] : NULL;
  lock_give(&pool.lock);
  return s;
}

static void retire(lower_session *s) {
  MlirContext context = s->context;
  lower_session_destroy(s);
  mlirContextDestroy(context);
}

static void clear_pool(void) {
  for (lower_session *s = take_from_pool(); s; s = take_from_pool()) retire(s);
}

lower_session *lower_session_take(void) {
  lower_session *s = take_from_pool();
  return s ? s : lower_session_create(ir_context_create());
}

void lower_session_abandon(lower_session *s) {
  arena_destroy(xla_gpu_memory(s->context));
  arena_destroy(s->arena);
}

void lower_session_give(lower_session *s, bool is_sound) {
  bool is_kept = false;
  lock_take(&pool.lock);
  if (!pool.is_known_at_exit) pool.is_known_at_exit = atexit(clear_pool) == 0;
  if (is_sound && ++s->kernels < KERNELS_MAX && pool.count < POOL_MAX && pool.is_known_at_exit) {
    arena_keep(s->arena);
    arena_keep(xla_gpu_memory(s->context));
    pool.sessions[pool.count++] = s;
    is_kept = true;
  }
  lock_give(&pool.lock);
  if (!is_kept) retire(s);
}
