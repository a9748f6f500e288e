// Grids of blocks, one after the other.
#include "simulate/simulator.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/int64.h"
#include "simulate/decode.h"
#include "simulate/warp.h"

typedef struct simulated_kernel {
  sim_code *code;
  simulator_traffic traffic;
} simulated_kernel;

struct simulator {
  arena *arena;
  int64_t shared_limit;
  pthread_mutex_t turn;
  VEC(simulated_kernel) kernels;
};

simulator *simulator_create(int64_t shared_limit) {
  arena *a = arena_create();
  simulator *s = arena_new(a, simulator);
  s->arena = a;
  s->shared_limit = shared_limit;
  pthread_mutex_init(&s->turn, NULL);
  return s;
}

void simulator_destroy(simulator *s) {
  if (!s) return;
  pthread_mutex_destroy(&s->turn);
  arena_destroy(s->arena);
}

heddle_status simulator_add(simulator *s, const void *ir, size_t size, const char *entry) {
  simulated_kernel k = {.traffic.is_watched = true};
  TRY(status_context(decode_kernel(s->arena, ir, size, entry, &k.code), "while decoding kernel %s for the simulator",
                     entry));
  vec_push(s->arena, &s->kernels, k);
  return status_ok();
}

// --- a launch

static void add_range(arena *a, memory *m, memory_kind kind, const void *begin, int64_t bytes, int granule) {
  if (bytes == 0) return;
  const uintptr_t address = (uintptr_t)begin;
  memory_add(a, m,
             (memory_range){.kind = kind,
                            .begin = address,
                            .end = address + (uintptr_t)bytes,
                            .is_written = kind != MEMORY_CONSTANT,
                            .granule = granule});
}

// Memory is given out in whole words: an atomic operation on less than a word reads and writes all of it.
static void lay_out(arena *a, const sim_code *code, int count, void *const *arguments, const int64_t *bytes,
                    char *stacks, int64_t stack_bytes, memory *out) {
  enum { WORD = 4 };
  memory_argument *own = arena_array(a, memory_argument, count);
  out->arguments = own;
  for (int k = 0; k < count; k++) {
    own[k].begin = (uintptr_t)arguments[k];
    own[k].end = own[k].begin + (uintptr_t)int64_round_up(bytes[k], WORD);
    if (bytes[k] > 0)
      memory_add(a, out,
                 (memory_range){.kind = MEMORY_GLOBAL,
                                .begin = own[k].begin,
                                .end = own[k].end,
                                .is_written = code->arguments[k].is_written,
                                .granule = code->arguments[k].granule});
  }
  add_range(a, out, MEMORY_SHARED, code->shared, code->shared_bytes, 1);
  add_range(a, out, MEMORY_STACK, stacks, stack_bytes, 1);
  add_range(a, out, MEMORY_CONSTANT, code->constant_memory, code->constant_bytes, 1);
}

static int most_copies(const sim_code *code) {
  int most = 1;
  for (int f = 0; f < code->function_count; f++)
    for (int b = 0; b < code->functions[f].block_count; b++) {
      const sim_block *block = &code->functions[f].blocks[b];
      const sim_op *end = &block->ops[block->count - 1];
      for (int e = 0; e < end->edge_count; e++)
        if (end->edges[e].copy_count > most) most = end->edges[e].copy_count;
    }
  return most;
}

static void make_call(arena *a, const sim_function *f, warp_call *out) {
  out->function = f;
  out->slots = arena_array(a, sim_slot, f->slot_count);
  out->paths = arena_array(a, warp_path, WARP_MAX_PATHS);
}

static void make_block(arena *a, const sim_code *code, const simulator_grid *grid, memory *m, block_state *out) {
  *out = (block_state){.code = code, .memory = m, .name = code->kernel->name};
  out->thread_count = 1;
  for (int d = 0; d < 3; d++) {
    out->grid[d] = grid->blocks[d];
    out->threads[d] = grid->threads[d];
    out->thread_count *= grid->threads[d];
  }
  out->calls = arena_array(a, warp_call, code->function_count);
  for (int f = 0; f < code->function_count; f++) make_call(a, &code->functions[f], &out->calls[f]);
  out->gathered = arena_array(a, sim_slot, most_copies(code));
  out->warp_count = (int)int64_ceil_div(out->thread_count, SIM_LANES);
  out->warps = arena_array(a, warp, out->warp_count);
  for (int k = 0; k < out->warp_count; k++) {
    warp *w = &out->warps[k];
    const int64_t lanes = int64_clamp(1, out->thread_count - (int64_t)k * SIM_LANES, SIM_LANES);
    w->block = out;
    w->number = k;
    w->threads = lanes == SIM_LANES ? ~(sim_mask)0 : ((sim_mask)1 << lanes) - 1;
    make_call(a, code->kernel, &w->kernel);
  }
}

// --- a block

static heddle_status uneven(const block_state *b, const warp *waiting, const warp *other) {
  return status_error(HEDDLE_DEVICE_FAILED,
                      "kernel %s: in block %" PRId64 ",%" PRId64 " warp %d waits at a barrier that warp %d %s", b->name,
                      b->at[0], b->at[1], waiting->number, other->number,
                      other->has_ended ? "never reaches" : "does not wait at, but at another");
}

// Whether all warps have ended; those that wait must all wait at the same barrier.
static heddle_status meet(block_state *b, bool *is_over) {
  const warp *first = &b->warps[0];
  for (int k = 1; k < b->warp_count; k++) {
    const warp *w = &b->warps[k];
    if (w->waits != first->waits) return first->waits ? uneven(b, first, w) : uneven(b, w, first);
  }
  *is_over = first->has_ended;
  b->epoch++;
  return status_ok();
}

static heddle_status run_block(block_state *b, void *const *arguments) {
  b->epoch = 0;
  for (int k = 0; k < b->warp_count; k++) warp_start(&b->warps[k], arguments);
  for (bool is_over = false; !is_over;) {
    for (int k = 0; k < b->warp_count; k++) TRY(warp_run(&b->warps[k]));
    TRY(meet(b, &is_over));
  }
  return status_ok();
}

static heddle_status run_grid(block_state *b, void *const *arguments) {
  b->number = 0;
  for (b->at[2] = 0; b->at[2] < b->grid[2]; b->at[2]++)
    for (b->at[1] = 0; b->at[1] < b->grid[1]; b->at[1]++)
      for (b->at[0] = 0; b->at[0] < b->grid[0]; b->at[0]++) {
        b->number++;
        TRY(run_block(b, arguments));
      }
  return status_ok();
}

// --- counting

static void collect(const sim_code *code, simulator_traffic *out) {
  out->requested = out->moved = out->passes = out->ideal_passes = out->local_bytes = 0;
  for (int f = 0; f < code->function_count; f++)
    for (int b = 0; b < code->functions[f].block_count; b++)
      for (int k = 0; k < code->functions[f].blocks[b].count; k++) {
        const sim_traffic *t = code->functions[f].blocks[b].ops[k].traffic;
        if (!t) continue;
        out->requested += t->requested;
        out->moved += t->moved;
        out->passes += t->wavefronts;
        out->ideal_passes += t->ideal;
        out->local_bytes += t->local;
      }
}

static heddle_status check_grid(const sim_code *code, const simulator_grid *g, int64_t shared_limit, int count) {
  enum { MOST_THREADS = 1024 };
  const int64_t threads = g->threads[0] * g->threads[1] * g->threads[2];
  const char *name = code->kernel->name;
  if (count != code->kernel->parameter_count)
    return status_error(HEDDLE_INTERNAL, "kernel %s: found %d buffers, wanted %d", name, count,
                        code->kernel->parameter_count);
  if (threads < 1 || threads > MOST_THREADS)
    return status_error(HEDDLE_DEVICE_FAILED, "kernel %s: a block has %" PRId64 " threads, at most %d", name, threads,
                        MOST_THREADS);
  if (g->blocks[0] > INT32_MAX || g->blocks[1] > UINT16_MAX || g->blocks[2] > UINT16_MAX)
    return status_error(HEDDLE_DEVICE_FAILED, "kernel %s: the grid has too many blocks", name);
  if (code->shared_bytes > shared_limit)
    return status_error(HEDDLE_DEVICE_FAILED, "kernel %s: a block shares %" PRId64 " bytes, at most %" PRId64, name,
                        code->shared_bytes, shared_limit);
  return status_ok();
}

static heddle_status launch(simulated_kernel *k, const simulator_grid *grid, int64_t shared_limit, int count,
                            void *const *arguments, const int64_t *bytes) {
  const sim_code *code = k->code;
  TRY(check_grid(code, grid, shared_limit, count));
  arena *a = arena_create();
  memory m = {0};
  block_state block;
  const int64_t stack_bytes = code->stack_bytes * grid->threads[0] * grid->threads[1] * grid->threads[2];
  char *stacks = arena_alloc(a, (size_t)stack_bytes);
  lay_out(a, code, count, arguments, bytes, stacks, stack_bytes, &m);
  make_block(a, code, grid, &m, &block);
  block.stacks = stacks;
  k->traffic.is_watched &= memory_watch(&m);
  heddle_status s = run_grid(&block, arguments);
  memory_release(&m);
  arena_destroy(a);
  k->traffic.launches++;
  collect(code, &k->traffic);
  return s;
}

heddle_status simulator_launch(simulator *s, int kernel, const simulator_grid *grid, int count, void *const *arguments,
                               const int64_t *bytes) {
  pthread_mutex_lock(&s->turn);
  heddle_status result = launch(&s->kernels.data[kernel], grid, s->shared_limit, count, arguments, bytes);
  pthread_mutex_unlock(&s->turn);
  return result;
}

simulator_traffic simulator_traffic_of(const simulator *s, int kernel) { return s->kernels.data[kernel].traffic; }

static double ratio(int64_t part, int64_t whole) { return whole > 0 ? (double)part / (double)whole : 1; }

void simulator_print(const simulator *s, text *out) {
  for (int k = 0; k < s->kernels.size; k++) {
    const simulator_traffic *t = &s->kernels.data[k].traffic;
    if (t->launches == 0) continue;
    text_printf(out, "kernel %s: %" PRId64 " launches, %" PRId64 " bytes requested of %" PRId64 " moved (%.3f)",
                s->kernels.data[k].code->kernel->name, t->launches, t->requested, t->moved,
                ratio(t->requested, t->moved));
    if (t->ideal_passes > 0) text_printf(out, ", shared memory %.3f of ideal", ratio(t->ideal_passes, t->passes));
    if (t->local_bytes > 0) text_printf(out, ", %" PRId64 " bytes of local memory", t->local_bytes);
    if (!t->is_watched) text_puts(out, ", races not looked for everywhere");
    text_putc(out, '\n');
  }
}
