// Runs take and give back their memory without a lock.
#include "rt/frame.h"

#include <stdlib.h>

#include "rt/buffer.h"

static void destroy(const frame_pool *pool, frame_memory *m) {
  if (!m) return;
  buffer_free(m->temporary, (size_t)pool->context->program->temporary_bytes);
  buffer_free(m->frame.scratch, (size_t)pool->scratch_bytes);
  free(m);
}

static frame_memory *create(const frame_pool *pool) {
  const program *p = pool->context->program;
  frame_memory *m = calloc(1, sizeof *m + (size_t)p->allocation_count * sizeof *m->allocations);
  if (!m) return NULL;
  m->frame.context = pool->context;
  m->frame.allocations = m->allocations;
  const int64_t scratch = pool->scratch_bytes;
  if (p->temporary_bytes) m->temporary = buffer_allocate((size_t)p->temporary_bytes);
  if (scratch) m->frame.scratch = buffer_allocate((size_t)scratch);
  if ((p->temporary_bytes && !m->temporary) || (scratch && !m->frame.scratch)) {
    destroy(pool, m);
    return NULL;
  }
  for (int i = 0; i < p->allocation_count; i++) {
    const program_allocation *a = &p->allocations[i];
    if (a->kind == PROGRAM_TEMPORARY) m->allocations[i] = m->temporary;
    if (a->kind == PROGRAM_CONSTANT || a->kind == PROGRAM_NUMBERS) m->allocations[i] = (char *)(uintptr_t)a->data;
  }
  return m;
}

frame_memory *frame_take(frame_pool *p) {
  frame_memory *m = NULL;
  for (int i = 0; i < FRAME_SLOTS && !m; i++)
    if (atomic_load_explicit(&p->slots[i], memory_order_relaxed))
      m = atomic_exchange_explicit(&p->slots[i], NULL, memory_order_acquire);
  if (!m) m = create(p);
  if (!m) return NULL;
  m->frame.device = 0;
  m->frame.threads = p->context->threads;
  m->frame.devices = NULL;
  m->frame.draws = &m->draws;
  m->draws = draw_stream_start(0, 0);
  return m;
}

void frame_give(frame_pool *p, frame_memory *m) {
  for (int i = 0; i < FRAME_SLOTS; i++) {
    frame_memory *none = NULL;
    if (atomic_compare_exchange_strong_explicit(&p->slots[i], &none, m, memory_order_release, memory_order_relaxed))
      return;
  }
  destroy(p, m);
}

void frame_release_all(frame_pool *p) {
  for (int i = 0; i < FRAME_SLOTS; i++) destroy(p, atomic_exchange(&p->slots[i], NULL));
}
