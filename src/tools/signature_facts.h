// What --json says alike of a program that was compiled and of one that was loaded; needs no compiler.
#ifndef HEDDLE_TOOLS_SIGNATURE_FACTS_H_
#define HEDDLE_TOOLS_SIGNATURE_FACTS_H_

#include "base/json.h"
#include "base/status.h"
#include "prog/program.h"

// Begins the object of a parameter or result and puts name, type and dims; open ones are null. Whether there are such.
bool signature_facts_begin_value(json_writer *w, const program_value *v);
// "sizes": the symbols that open dims are told by.
void signature_facts_put_symbols(json_writer *w, const program_sizes *sizes);

// Adds the error, if `s` is one, ends the object that `w` is at, prints its text and frees it. Takes and returns
// ownership of the status.
heddle_status signature_facts_end(json_writer *w, heddle_status s);

#endif
