// A program as one object file and a C header: for C programs that link it, with the runtime where it needs that.
#ifndef HEDDLE_API_OBJECT_H_
#define HEDDLE_API_OBJECT_H_

#include "api/compile.h"

// Of a program compiled for a CPU. `name` is the function's and has to be a name in C. The header is appended to
// `header`, the object to `object`; *undefined (in the arena) gets the functions of the C library, libm and the runtime
// that the object calls, "memmove, fmodf, heddle_object_call". HEDDLE_UNIMPLEMENTED names what cannot be in an object;
// in a freestanding one, what needs the runtime.
heddle_status object_make(arena *a, const compiled *c, const char *name, bool freestanding, text *header, text *object,
                          const char **undefined);

#endif
