// A program as one object file and a C header: for C programs that link it and need no runtime.
#ifndef HEDDLE_API_OBJECT_H_
#define HEDDLE_API_OBJECT_H_

#include "api/compile.h"

// Of a program compiled for a CPU. `name` is the function's and has to be a name in C. The header is appended to
// `header`, the object to `object`; *undefined (in the arena) gets the functions of the C library and libm that the
// object calls, "memmove, fmodf". HEDDLE_UNIMPLEMENTED names what needs the runtime.
heddle_status object_make(arena *a, const compiled *c, const char *name, text *header, text *object,
                          const char **undefined);

#endif
