// Mathematics stands for both precisions. LLVM makes one sincos of a sine and a cosine of the same number.
#include "link/host_functions.h"

#include <math.h>

typedef struct host_function {
  const char *name;
  const void *address;
} host_function;

#define ONE(name) {#name, (const void *)name}
#define BOTH(name) ONE(name), ONE(name##f)

static const host_function functions[] = {
    BOTH(acos),  BOTH(acosh),     BOTH(asin),  BOTH(asinh), BOTH(atan),   BOTH(atan2),     BOTH(atanh), BOTH(cbrt),
    BOTH(ceil),  BOTH(copysign),  BOTH(cos),   BOTH(cosh),  BOTH(erf),    BOTH(erfc),      BOTH(exp),   BOTH(exp2),
    BOTH(expm1), BOTH(fabs),      BOTH(floor), BOTH(fma),   BOTH(fmax),   BOTH(fmin),      BOTH(fmod),  BOTH(hypot),
    BOTH(ldexp), BOTH(lgamma),    BOTH(log),   BOTH(log10), BOTH(log1p),  BOTH(log2),      ONE(memcpy), ONE(memmove),
    ONE(memset), BOTH(nearbyint), BOTH(pow),   BOTH(rint),  BOTH(round),  BOTH(roundeven), BOTH(sin),   BOTH(sincos),
    BOTH(sinh),  BOTH(sqrt),      BOTH(tan),   BOTH(tanh),  BOTH(tgamma), BOTH(trunc),
};

const void *host_function_find(str name) {
  for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
    if (str_is(name, functions[k].name)) return functions[k].address;
  return NULL;
}
