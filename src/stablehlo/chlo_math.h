// Special functions as HLO arithmetic, for f32 and f64. Internal to chlo_*.c.
//
// All operands of a function have one shape and type, which the result has too. Errors stated are of the f32 and f64
// results against the exact value, in units in the last place, each HLO operation being rounded correctly.
#ifndef HEDDLE_STABLEHLO_CHLO_MATH_H_
#define HEDDLE_STABLEHLO_CHLO_MATH_H_

#include "stablehlo/lowering.h"

instruction *chlo_erf_inv(lowering *l, instruction *x);  // +-1 gives infinities, beyond is NaN
instruction *chlo_erfc(lowering *l, instruction *x);

instruction *chlo_lgamma(lowering *l, instruction *x);   // log|gamma(x)|; infinite at the poles
instruction *chlo_digamma(lowering *l, instruction *x);  // NaN at the poles
instruction *chlo_zeta(lowering *l, instruction *x, instruction *q);
instruction *chlo_polygamma(lowering *l, instruction *n, instruction *x);

instruction *chlo_bessel_i1e(lowering *l, instruction *x);

// Any float type, bit by bit: the neighbour of x towards y.
instruction *chlo_next_after(lowering *l, instruction *x, instruction *y);

#endif
