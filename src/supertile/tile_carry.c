// All along one dim: the others of such a region do not move.
#include "supertile/tile_carry.h"

#include "base/int64.h"

// The only dim that moves, forwards; -1: there is none.
static int moving_dim(const region *r) {
  int found = -1;
  for (int d = 0; d < r->rank; d++) {
    if (r->dims[d].step == 0) continue;
    if (found >= 0 || r->dims[d].step < 0) return -1;
    found = d;
  }
  return found;
}

void tile_carry_split(arena *a, tile_member *m, bool may_carry) {
  const int d = may_carry && shape_is_array(m->instruction->shape) ? moving_dim(&m->region) : -1;
  m->computed = m->region;
  m->carry_dim = -1;
  m->is_idle = false;
  if (d < 0 || m->region.dims[d].size <= m->region.dims[d].step) return;
  m->carry_dim = d;
  m->window = m->region.dims[d];
  m->computed = region_copy(a, &m->region);
  m->computed.dims[d].base += tile_carry_rows(m);
  m->computed.dims[d].size = m->window.step;
}

int64_t tile_carry_rows(const tile_member *m) { return m->carry_dim < 0 ? 0 : m->window.size - m->window.step; }

region tile_carry_kept(arena *a, const tile_member *m) {
  region r = region_copy(a, &m->region);
  r.dims[m->carry_dim].size = tile_carry_rows(m);
  return r;
}

// Those of the rows that exist.
static region_dim clipped(int64_t base, int64_t size, int64_t count) {
  const int64_t from = int64_clamp(0, base, count), to = int64_clamp(0, base + size, count);
  return (region_dim){from, 0, to - from};
}

static region_dim rows_of_turn(const tile_member *m, int64_t turn) {
  return clipped(m->window.base + m->window.step * turn, m->window.size, m->instruction->shape->dims[m->carry_dim]);
}

int64_t tile_carry_begin(const tile_member *m, int64_t turn) { return rows_of_turn(m, turn).base; }

void tile_carry_place(arena *a, tile_member *m, int64_t turn) {
  const int64_t base = m->window.base + m->window.step * turn + tile_carry_rows(m);
  m->region = region_copy(a, &m->region);
  m->computed = region_copy(a, &m->region);
  m->region.dims[m->carry_dim] = rows_of_turn(m, turn);
  m->computed.dims[m->carry_dim] = clipped(base, m->window.step, m->instruction->shape->dims[m->carry_dim]);
  m->is_idle = m->computed.dims[m->carry_dim].size == 0;
}

bool tile_carry_has(arena *a, const tile_member *m, int64_t turn, const region *in) {
  region has = region_copy(a, &m->region);
  has.dims[m->carry_dim] = rows_of_turn(m, turn);
  for (int d = 0; d < has.rank; d++)
    if (in->dims[d].base < has.dims[d].base ||
        in->dims[d].base + in->dims[d].size > has.dims[d].base + has.dims[d].size)
      return false;
  return true;
}

int64_t tile_carry_first_turn(const tile_group *g) {
  int64_t first = 0;
  for (int k = 0; k < g->members.size; k++) {
    const tile_member *m = &g->members.data[k];
    // Turns begin with the first of which rows behind the array's beginning are needed.
    while (m->carry_dim >= 0 && m->window.base + m->window.size + m->window.step * (first - 1) > 0) first--;
  }
  return first;
}

instruction *tile_carry_slice(const builder *to, const tile_member *m, const carried_rows *of, int64_t base,
                              int64_t size) {
  slice_dim dims[SHAPE_MAX_RANK];
  const shape *s = of->value->shape;
  if (base == of->base && size == of->size) return of->value;
  for (int d = 0; d < s->rank; d++) dims[d] = (slice_dim){0, s->dims[d], 1};
  dims[m->carry_dim] = (slice_dim){base - of->base, base - of->base + size, 1};
  return builder_slice(to, of->value, dims);
}

instruction *tile_carry_join(const builder *to, const tile_member *m, const carried_rows *kept, instruction *made) {
  const region_dim all = m->region.dims[m->carry_dim];
  const int64_t count = all.size - m->computed.dims[m->carry_dim].size;
  if (count == 0) return made;
  instruction *parts[2] = {tile_carry_slice(to, m, kept, all.step ? kept->base : all.base, count), made};
  return made ? builder_concatenate(to, 2, parts, m->carry_dim) : parts[0];
}
