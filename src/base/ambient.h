// What an embedding program may have set for its thread and what would change results: how arithmetic rounds, whether
// it flushes denormals to zero or traps, and which sign stands before decimals in text. A call of the library works as
// if none of it were set, so that the threads that help it compute the same, and leaves all of it as it was.
#ifndef HEDDLE_BASE_AMBIENT_H_
#define HEDDLE_BASE_AMBIENT_H_

#include <fenv.h>
#include <locale.h>

typedef struct ambient {
  fenv_t arithmetic;
  locale_t locale;
} ambient;

// From here to ambient_leave this thread has the arithmetic that C programs begin with, and the locale "C". Calls nest.
void ambient_enter(ambient *outer);
void ambient_leave(const ambient *outer);

// The same of vector arithmetic alone, for calls that neither read nor write text: a few nanoseconds.
#ifdef __x86_64__
#include <xmmintrin.h>

typedef unsigned ambient_arithmetic;

// All exceptions masked, to nearest, denormals kept; the lowest six bits say which exceptions there have been.
enum { AMBIENT_PLAIN = 0x1f80, AMBIENT_SEEN = 0x3f };

static inline ambient_arithmetic ambient_enter_arithmetic(void) {
  const unsigned now = _mm_getcsr();
  if ((now & ~(unsigned)AMBIENT_SEEN) != AMBIENT_PLAIN) _mm_setcsr(AMBIENT_PLAIN);
  return now;
}

static inline void ambient_leave_arithmetic(ambient_arithmetic outer) {
  if ((outer & ~(unsigned)AMBIENT_SEEN) != AMBIENT_PLAIN) _mm_setcsr(outer);
}
#else
typedef fenv_t ambient_arithmetic;

static inline ambient_arithmetic ambient_enter_arithmetic(void) {
  fenv_t now;
  fegetenv(&now);
  fesetenv(FE_DFL_ENV);
  return now;
}

static inline void ambient_leave_arithmetic(ambient_arithmetic outer) { fesetenv(&outer); }
#endif

#endif
