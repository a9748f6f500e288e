#include "rt/conflicts.h"

static bool overlap(const program_slice *x, const program_slice *y) {
  return x->allocation == y->allocation && x->bytes && y->bytes && x->offset < y->offset + y->bytes &&
         y->offset < x->offset + x->bytes;
}

static bool any_overlap(const program *p, int count, const int *slices, int other_count, const int *others) {
  for (int i = 0; i < count; i++)
    for (int k = 0; k < other_count; k++)
      if (overlap(&p->slices[slices[i]], &p->slices[others[k]])) return true;
  return false;
}

bool conflicts_between(const program *p, const touched *x, const touched *y) {
  return any_overlap(p, x->write_count, x->writes, y->read_count, y->reads) ||
         any_overlap(p, x->write_count, x->writes, y->write_count, y->writes) ||
         any_overlap(p, x->read_count, x->reads, y->write_count, y->writes);
}
