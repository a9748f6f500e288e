// Prints a program as text, one fact a line; `heddle compile --emit=program` shows it.
#ifndef HEDDLE_PROG_PROGRAM_PRINT_H_
#define HEDDLE_PROG_PROGRAM_PRINT_H_

#include "base/str.h"
#include "prog/program.h"

// Everything but the images' bytes and how many these are, which differ from machine to machine. Fields of library
// calls that nobody has set are left out, and so are figures of kernels that the device does not ask for.
void program_print(text *out, const program *p);

#endif
