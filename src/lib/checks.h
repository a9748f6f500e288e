// The checks that programs carry in themselves: arrays must agree, by equality, by units in the last place, or within
// an absolute bound; a condition must hold. A check that fails is an error that says where the first difference is.
#ifndef HEDDLE_LIB_CHECKS_H_
#define HEDDLE_LIB_CHECKS_H_

#include "lib/call.h"

// Of two operands. Complex numbers are compared by their parts, NaN equals NaN, -0 equals 0.
heddle_status checks_equal(const lib_call *call);         // as in all of them, a pred result becomes true
heddle_status checks_almost_equal(const lib_call *call);  // {tolerance}, 0.001
heddle_status checks_close(const lib_call *call);         // {min_ulp_difference, max_ulp_difference}, 0 and 3

// The first operand, a scalar, is not zero; {error_message}.
heddle_status checks_assertion(const lib_call *call);

#endif
