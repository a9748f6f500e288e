// The memory of every allocation is cut into segments at all places where a slice begins or ends. No slice divides a
// segment, so that a slice is a range of whole segments, and what was written last is noted for each.
#include "lhlo/memory.h"

#include <stdlib.h>

typedef VEC(int64_t) boundary_list;

typedef struct collector {
  arena *arena;
  boundary_list *boundaries;  // by allocation
} collector;

static void collect_slice(collector *c, const lhlo_slice *s) {
  vec_push(c->arena, &c->boundaries[s->allocation], s->offset);
  vec_push(c->arena, &c->boundaries[s->allocation], s->offset + kernel_buffer_bytes(s->shape));
}

static void collect_body(collector *c, const lhlo_body *body) {
  for (int k = 0; k < body->ops.size; k++) {
    const lhlo_op *op = body->ops.data[k];
    for (int j = 0; j < op->operand_count; j++) collect_slice(c, &op->operands[j]);
    for (int j = 0; j < op->result_count; j++) collect_slice(c, &op->results[j]);
    if (op->control.shape) collect_slice(c, &op->control);
    for (int j = 0; j < op->body_count; j++) collect_body(c, &op->bodies[j]);
  }
}

static int compare_boundaries(const void *l, const void *r) {
  int64_t x = *(const int64_t *)l, y = *(const int64_t *)r;
  return (x > y) - (x < y);
}

static lhlo_segments segments_between(arena *a, boundary_list *b) {
  lhlo_segments out = {0};
  qsort(b->data, (size_t)b->size, sizeof *b->data, compare_boundaries);
  out.starts = arena_array(a, int64_t, b->size);
  int count = 0;
  for (int k = 0; k < b->size; k++)
    if (count == 0 || b->data[k] != out.starts[count - 1]) out.starts[count++] = b->data[k];
  out.count = count - 1;
  out.contents = arena_array(a, lhlo_content, out.count);
  for (int k = 0; k < out.count; k++) out.contents[k].token = LHLO_UNDEFINED;
  return out;
}

lhlo_memory *lhlo_memory_create(arena *a, const lhlo_program *p) {
  lhlo_memory *m = arena_new(a, lhlo_memory);
  *m = (lhlo_memory){.arena = a, .program = p, .allocations = arena_array(a, lhlo_segments, p->allocation_count)};
  collector c = {a, arena_array(a, boundary_list, p->allocation_count)};
  for (int k = 0; k < p->allocation_count; k++) {
    vec_push(a, &c.boundaries[k], 0);
    vec_push(a, &c.boundaries[k], p->allocations[k].bytes);
  }
  collect_body(&c, &p->entry);
  for (int k = 0; k < p->allocation_count; k++) m->allocations[k] = segments_between(a, &c.boundaries[k]);
  return m;
}

static int segment_at(const lhlo_segments *x, int64_t offset) {
  int low = 0, high = x->count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (x->starts[middle] < offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void lhlo_memory_write(lhlo_memory *m, const lhlo_slice *s, int64_t token) {
  lhlo_segments *x = &m->allocations[s->allocation];
  int64_t end = s->offset + kernel_buffer_bytes(s->shape);
  for (int k = segment_at(x, s->offset); k < x->count && x->starts[k] < end; k++) {
    vec_push(m->arena, &m->log, ((lhlo_change){s->allocation, k, x->contents[k]}));
    x->contents[k] = (lhlo_content){token, s->offset, end};
  }
}

int64_t lhlo_memory_read(const lhlo_memory *m, const lhlo_slice *s) {
  const lhlo_segments *x = &m->allocations[s->allocation];
  int64_t end = s->offset + kernel_buffer_bytes(s->shape);
  int first = segment_at(x, s->offset);
  if (first == x->count) return LHLO_UNDEFINED;
  int64_t token = x->contents[first].token;
  for (int k = first; k < x->count && x->starts[k] < end; k++) {
    const lhlo_content *c = &x->contents[k];
    if (c->token != token || c->begin != s->offset || c->end != end) return LHLO_UNDEFINED;
  }
  return token;
}

bool lhlo_memory_is_written(const lhlo_memory *m, const lhlo_slice *s) {
  const lhlo_segments *x = &m->allocations[s->allocation];
  int64_t end = s->offset + kernel_buffer_bytes(s->shape);
  for (int k = segment_at(x, s->offset); k < x->count && x->starts[k] < end; k++)
    if (x->contents[k].token == LHLO_UNDEFINED) return false;
  return true;
}

void lhlo_memory_undo(lhlo_memory *m, int log_size) {
  while (m->log.size > log_size) {
    lhlo_change change = vec_pop(&m->log);
    m->allocations[change.allocation].contents[change.segment] = change.before;
  }
}

bool lhlo_slices_overlap(const lhlo_slice *l, const lhlo_slice *r) {
  if (l->allocation != r->allocation) return false;
  return l->offset < r->offset + kernel_buffer_bytes(r->shape) && r->offset < l->offset + kernel_buffer_bytes(l->shape);
}
