// Texts of regions and kernels say it, too, so that it may be anything.
#include "lower/launch.h"

#include <mlir-c/BuiltinAttributes.h>

#include "base/int64.h"

static heddle_status check(MlirOperation function, const launch *l) {
  int64_t threads = 1;
  bool is_sound = true;
  for (int d = 0; d < 3; d++) {
    is_sound = is_sound && l->threads[d] >= 1 && l->blocks[d] >= 0;
    threads = int64_saturating_mul(threads, l->threads[d]);
  }
  if (is_sound && threads <= LAUNCH_MOST_THREADS) return status_ok();
  return ir_refuse(function, HEDDLE_INVALID,
                   "found a " LAUNCH_ATTRIBUTE " that cannot be, wanted 1 to %d workitems, and workgroups",
                   LAUNCH_MOST_THREADS);
}

heddle_status launch_of(MlirOperation function, launch *out) {
  const MlirAttribute a = ir_get(function, LAUNCH_ATTRIBUTE);
  *out = (launch){!mlirAttributeIsNull(a), {1, 1, 1}, {1, 1, 1}};
  if (!out->is_said) return status_ok();
  const intptr_t count = mlirAttributeIsADenseI64Array(a) ? mlirDenseArrayGetNumElements(a) : 0;
  if (count != 2 && count != 3 && count != 6)
    return ir_refuse(function, HEDDLE_INVALID,
                     "found another " LAUNCH_ATTRIBUTE ", wanted array<i64: workitems, workgroups in x, in y>");
  const int threads = count == 6 ? 3 : 1;
  for (int k = 0; k < threads; k++) out->threads[k] = mlirDenseI64ArrayGetElement(a, k);
  for (int k = threads; k < count; k++) out->blocks[k - threads] = mlirDenseI64ArrayGetElement(a, k);
  return check(function, out);
}
