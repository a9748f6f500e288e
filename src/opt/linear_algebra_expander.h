// cholesky and triangular-solve become calls of library routines.
#ifndef HEDDLE_OPT_LINEAR_ALGEBRA_EXPANDER_H_
#define HEDDLE_OPT_LINEAR_ALGEBRA_EXPANDER_H_

#include "hlo/module.h"

// Custom calls "heddle.cholesky" with {lower} and "heddle.triangular_solve" with {left_side, lower, unit_diagonal,
// transpose_a} (0, or 1: transposed, or 2: the adjoint). Operands, result and meaning are those of the operations.
heddle_status linear_algebra_expander_run(module *m);

#endif
