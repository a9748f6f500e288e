// Tolerances follow from the number of mantissa bits of the type in which rounding happens: of the operations' results,
// not of the parameters', since a bf16 parameter that is widened first loses nothing.
#include "tools/tolerance.h"

#include <math.h>

static int mantissa_bits(dtype t) {
  if (dtype_is_complex(t)) t = dtypes[t].part;
  if (dtypes[t].is_narrow_float) return float_formats[dtypes[t].narrow].mantissa_bits;
  return t == DTYPE_F32 ? 23 : 52;
}

static bool rounds(const instruction *i) {
  return i->opcode != HLO_PARAMETER && i->opcode != HLO_CONSTANT && !hlo_op_has(i->opcode, TRAIT_INDEX_ONLY);
}

// Of a tuple's arrays too: of reductions of several, and of what libraries give.
static dtype coarser(dtype coarsest, const shape *s) {
  const dtype t = s->dtype;
  for (int k = 0; k < s->tuple_size; k++) coarsest = coarser(coarsest, s->elements[k]);
  const bool is_coarser = dtype_is_inexact(t) && mantissa_bits(t) < mantissa_bits(coarsest);
  return is_coarser ? t : coarsest;
}

static dtype coarsest_type(const module *m) {
  dtype coarsest = DTYPE_F64;
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int i = 0; i < all->size; i++) {
      if (rounds(all->data[i])) coarsest = coarser(coarsest, all->data[i]->shape);
    }
  }
  return coarsest;
}

tolerance tolerance_for_module(const module *m, bool exact) {
  dtype t = coarsest_type(m);
  double ulp = ldexp(1.0, -mantissa_bits(t));
  if (t == DTYPE_F64) return (tolerance){1e-10, 1e-12, t};
  if (mantissa_bits(t) == 23) return (tolerance){1e-5, 1e-6, t};
  // Units in the last place near 1: one operation moves a value by half of one, and cancellation keeps the absolute
  // error.
  return exact ? (tolerance){2 * ulp, 2 * ulp, t} : (tolerance){6 * ulp, 3 * ulp, t};
}
