// Compiles a program once for all sizes of what it declares as `?`.
//
// Each open size is a symbol, for which a large number stands in while the program is compiled. What is made of it must
// then hold for all sizes up to that number, which is so where the open dims are the outermost ones of row-major
// arrays: every element of an array of fewer rows lies at the same place in the array of more rows, so that a kernel
// for many rows that runs fewer of its tiles is the kernel for few. That nothing else depends on the number is not
// assumed but tested: the program is compiled for other stand-ins, too. Code and constants have to be the same, byte
// for byte, structure and order have to be the same, and every number of the program (program_sizes_map) has to be one
// polynomial of the symbols at all of them, at one more than decides its coefficients. What does not meet this is
// refused with the operation's name.
#ifndef HEDDLE_API_OPEN_COMPILE_H_
#define HEDDLE_API_OPEN_COMPILE_H_

#include "api/compile.h"
#include "import/import.h"
#include "rt/open_instances.h"

// import_module, but for a program that declares sizes as `?`, or parameters of HLO as `<=N`, and comes without shapes
// or arguments: *out is null then, and open_compile is for it.
heddle_status open_compile_import(arena *a, const char *file, str source, const import_options *import, module **out);

// With options->specializes nothing is compiled but what runs ask for.
// HEDDLE_UNIMPLEMENTED for what cannot be compiled for all sizes, with the reason. What is made is open
// (compiled.is_open): it runs by the instances of its sizes (rt/open_instances.h).
heddle_status open_compile(arena *a, const char *file, str source, const import_options *import,
                           const compile_options *options, compiled *out);

// The same where symbols are found, as they are now, and what is derived from them; without code for multiples.
heddle_status open_compile_symbols(arena *a, const open_symbols *symbols, const compile_options *options,
                                   compiled *out);

// The instances of such a program, which must outlive them. Null where the host has no memory.
open_instances *open_compile_instances(const compiled *code);

#endif
