// Custom calls of LAPACK's routines.
#include "eval/custom_call.h"

heddle_status custom_call_lapack(interpreter *in, const instruction *i, value *const *operands, value **out) {
  (void)in, (void)operands, (void)out;
  return interpreter_refuse(i, "LAPACK's routines");
}
