// Taking and giving back the memory of runs without a lock.
#include "rt/frame.h"

#include <stdlib.h>

#include "rt/buffer.h"
#include "rt/sequence.h"

static void destroy(frame_memory *m) {
  if (!m) return;
  free(m->temporary);
  free(m->frame.scratch);
  free(m);
}

static frame_memory *create(const executable *e) {
  const program *p = e->program;
  frame_memory *m = calloc(1, sizeof *m + (size_t)p->allocation_count * sizeof *m->allocations);
  if (!m) return NULL;
  m->frame.executable = e;
  m->frame.allocations = m->allocations;
  const int64_t scratch = sequence_scratch_bytes(e->entry);
  if (p->temporary_bytes) m->temporary = buffer_allocate((size_t)p->temporary_bytes);
  if (scratch) m->frame.scratch = buffer_allocate((size_t)scratch);
  if ((p->temporary_bytes && !m->temporary) || (scratch && !m->frame.scratch)) {
    destroy(m);
    return NULL;
  }
  for (int i = 0; i < p->allocation_count; i++) {
    const program_allocation *a = &p->allocations[i];
    if (a->kind == PROGRAM_TEMPORARY) m->allocations[i] = m->temporary;
    if (a->kind == PROGRAM_CONSTANT) m->allocations[i] = (char *)(uintptr_t)a->data;
  }
  return m;
}

frame_memory *frame_take(executable *e) {
  frame_memory *m = NULL;
  for (int i = 0; i < EXECUTABLE_FRAMES && !m; i++)
    if (atomic_load_explicit(&e->frames[i], memory_order_relaxed))
      m = atomic_exchange_explicit(&e->frames[i], NULL, memory_order_acquire);
  if (!m) m = create(e);
  if (!m) return NULL;
  m->frame.device = 0;
  m->frame.threads = e->threads;
  m->frame.devices = NULL;
  m->frame.draws = &m->draws;
  m->draws = draw_stream_start(0, 0);
  return m;
}

void frame_give(executable *e, frame_memory *m) {
  for (int i = 0; i < EXECUTABLE_FRAMES; i++) {
    frame_memory *none = NULL;
    if (atomic_compare_exchange_strong_explicit(&e->frames[i], &none, m, memory_order_release, memory_order_relaxed))
      return;
  }
  destroy(m);
}

void frame_release_all(executable *e) {
  for (int i = 0; i < EXECUTABLE_FRAMES; i++) destroy(atomic_exchange(&e->frames[i], NULL));
}
