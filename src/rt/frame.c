// Runs take and give back their memory without a lock.
#include "rt/frame.h"

#include <stdlib.h>

#include "rt/buffer.h"

static void destroy(const frame_pool *pool, frame_memory *m) {
  if (!m) return;
  if (m->frame.device_frame) pool->context->device->destroy_frame(pool->context->loaded, m->frame.device_frame);
  buffer_free(m->temporary, (size_t)pool->context->program->temporary_bytes);
  buffer_free(m->frame.scratch, (size_t)pool->scratch_bytes);
  free(m);
}

static heddle_status no_memory(const frame_pool *pool) {
  return status_error(HEDDLE_OUT_OF_MEMORY, "no memory to run a program of %lld temporary bytes",
                      (long long)pool->context->program->temporary_bytes);
}

static heddle_status allocate(const frame_pool *pool, frame_memory *m) {
  const run_context *c = pool->context;
  const program *p = c->program;
  if (pool->scratch_bytes) m->frame.scratch = buffer_allocate((size_t)pool->scratch_bytes);
  if (pool->scratch_bytes && !m->frame.scratch) return no_memory(pool);
  if (c->device) return c->device->create_frame(c->loaded, &pool->counts, m->allocations, &m->frame.device_frame);
  if (p->temporary_bytes) m->temporary = buffer_allocate((size_t)p->temporary_bytes);
  if (p->temporary_bytes && !m->temporary) return no_memory(pool);
  for (int i = 0; i < p->allocation_count; i++) {
    const program_allocation *a = &p->allocations[i];
    if (a->kind == PROGRAM_TEMPORARY) m->allocations[i] = m->temporary;
    if (a->kind == PROGRAM_CONSTANT || a->kind == PROGRAM_NUMBERS) m->allocations[i] = (char *)(uintptr_t)a->data;
  }
  return status_ok();
}

static heddle_status create(const frame_pool *pool, frame_memory **out) {
  const program *p = pool->context->program;
  frame_memory *m = calloc(1, sizeof *m + (size_t)p->allocation_count * sizeof *m->allocations);
  if (!m) return no_memory(pool);
  m->frame.context = pool->context;
  m->frame.allocations = m->allocations;
  heddle_status s = allocate(pool, m);
  if (status_is_ok(s)) *out = m;
  else destroy(pool, m);
  return s;
}

heddle_status frame_take(frame_pool *p, frame_memory **out) {
  frame_memory *m = NULL;
  *out = NULL;
  if (p->context->device) TRY(p->context->device->check(p->context->loaded));
  for (int i = 0; i < FRAME_SLOTS && !m; i++)
    if (atomic_load_explicit(&p->slots[i], memory_order_relaxed))
      m = atomic_exchange_explicit(&p->slots[i], NULL, memory_order_acquire);
  if (!m) TRY(create(p, &m));
  m->frame.device = 0;
  m->frame.threads = p->context->threads;
  m->frame.devices = NULL;
  m->frame.draws = &m->draws;
  draw_stream_start(&m->draws, 0, 0);
  *out = m;
  return status_ok();
}

void frame_give(frame_pool *p, frame_memory *m) {
  const device_type *device = p->context->device;
  const bool is_idle = !device || device->is_idle(m->frame.device_frame);
  for (int i = 0; i < FRAME_SLOTS && is_idle; i++) {
    frame_memory *none = NULL;
    if (atomic_compare_exchange_strong_explicit(&p->slots[i], &none, m, memory_order_release, memory_order_relaxed))
      return;
  }
  destroy(p, m);
}

void frame_release_all(frame_pool *p) {
  for (int i = 0; i < FRAME_SLOTS; i++) destroy(p, atomic_exchange(&p->slots[i], NULL));
}
