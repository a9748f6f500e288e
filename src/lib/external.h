// Libraries of others, loaded when something needs them: a program whose thunks call none runs where there are none.
//
//   TRY(external_need(EXTERNAL_OPENBLAS));
//   EXTERNAL(cblas_dgemm)(...);
//
// The functions are listed in lib/external.def, and have the types that their libraries' headers declare.
#ifndef HEDDLE_LIB_EXTERNAL_H_
#define HEDDLE_LIB_EXTERNAL_H_

#include "base/status.h"

typedef enum external_library {
  EXTERNAL_ONEDNN,
  EXTERNAL_OPENBLAS,
  EXTERNAL_LAPACKE,
  EXTERNAL_FFTW,
  EXTERNAL_FFTW_SINGLE,
  EXTERNAL_LIBRARY_COUNT
} external_library;

#define EXTERNAL_FUNCTION(library, name) EXTERNAL_##name,
typedef enum external_function {
#include "lib/external.def"
  EXTERNAL_FUNCTION_COUNT
} external_function;
#undef EXTERNAL_FUNCTION

extern void *external_functions[EXTERNAL_FUNCTION_COUNT];

// A function of a library that was asked for.
#define EXTERNAL(name) ((__typeof__(&name))external_functions[EXTERNAL_##name])

// Loads the library the first time; later calls cost two loads. Thread-safe. HEDDLE_DEVICE_FAILED names a library that
// is absent, or too old to have all functions. Before the first call of its functions on every way, and on each thread
// of the pool that calls them.
heddle_status external_need(external_library which);

// All libraries of a set of bits, 1 << EXTERNAL_….
heddle_status external_need_all(unsigned set);

#endif
