#include "base/ambient.h"

#include <stdatomic.h>

// Made once and never freed; whoever else makes it at the same time gets the same one from the C library. Without
// memory it is null, which leaves the thread what it has.
static locale_t plain_locale(void) {
  static _Atomic(locale_t) kept;
  locale_t plain = atomic_load(&kept);
  if (!plain) atomic_store(&kept, plain = newlocale(LC_ALL_MASK, "C", (locale_t)0));
  return plain;
}

void ambient_enter(ambient *outer) {
  fegetenv(&outer->arithmetic);
  fesetenv(FE_DFL_ENV);
  outer->locale = uselocale(plain_locale());
}

void ambient_leave(const ambient *outer) {
  uselocale(outer->locale);
  fesetenv(&outer->arithmetic);
}
