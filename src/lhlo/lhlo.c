// What is asked of a program as a whole, however it was made.
#include "lhlo/lhlo.h"

// Memory that holds nothing else: a donated parameter's is its result's.
int64_t lhlo_peak_bytes(const lhlo_program *p) {
  int64_t bytes = p->temporary_bytes;
  for (int k = 0; k < p->allocation_count; k++) {
    const lhlo_allocation *x = &p->allocations[k];
    if (x->kind == LHLO_PARAMETER || (x->kind == LHLO_RESULT && x->donated_parameter < 0)) bytes += x->bytes;
  }
  return bytes;
}
