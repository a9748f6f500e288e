// A box is plain data; what joins two takes the smallest one that holds both in all turns.
#include "supertile/region_box.h"

region region_whole(arena *a, const shape *s) {
  region r = {s->rank, arena_array(a, region_dim, s->rank)};
  for (int d = 0; d < s->rank; d++) r.dims[d] = (region_dim){0, 0, s->dims[d]};
  return r;
}

region region_copy(arena *a, const region *from) {
  region r = {from->rank, arena_array(a, region_dim, from->rank)};
  if (from->rank) memcpy(r.dims, from->dims, (size_t)from->rank * sizeof *r.dims);
  return r;
}

bool region_dim_is_whole(const region_dim *d, int64_t size) { return d->base == 0 && d->step == 0 && d->size == size; }

bool region_is_whole(const region *r, const shape *s) {
  for (int d = 0; d < r->rank; d++)
    if (!region_dim_is_whole(&r->dims[d], s->dims[d])) return false;
  return true;
}

bool region_equal(const region *l, const region *r) {
  for (int d = 0; d < l->rank; d++)
    if (l->dims[d].base != r->dims[d].base || l->dims[d].step != r->dims[d].step || l->dims[d].size != r->dims[d].size)
      return false;
  return l->rank == r->rank;
}

bool region_moves(const region *r) {
  for (int d = 0; d < r->rank; d++)
    if (r->dims[d].step != 0) return true;
  return false;
}

int64_t region_elements(const region *r) {
  int64_t count = 1;
  for (int d = 0; d < r->rank; d++) count *= r->dims[d].size;
  return count;
}

void region_add(region *r, const region *other, const shape *s) {
  for (int d = 0; d < r->rank; d++) {
    region_dim *x = &r->dims[d];
    const region_dim *y = &other->dims[d];
    if (x->step != y->step) {
      *x = (region_dim){0, 0, s->dims[d]};
      continue;
    }
    const int64_t end = x->base + x->size > y->base + y->size ? x->base + x->size : y->base + y->size;
    if (y->base < x->base) x->base = y->base;
    x->size = end - x->base;
  }
}
