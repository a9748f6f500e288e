// Texts about a program for open sizes, with the symbols in the place of what stood in for them.
#ifndef HEDDLE_API_OPEN_TEXT_H_
#define HEDDLE_API_OPEN_TEXT_H_

#include "api/compile.h"

// Prints something about what was made with one of the samples.
typedef heddle_status (*open_text_fn)(text *out, const open_sample *sample);

// What `print` says of all samples of `code`, which is open: numbers that differ become the polynomial of the symbols
// that they are, `?` where they are none. The same of what was made for some sizes alone follows. HEDDLE_INTERNAL where
// the texts differ in more than numbers.
heddle_status open_text_print(arena *a, text *out, const compiled *code, open_text_fn print);

// Whether texts, of the samples with the odd one in the place of the last, differ in numbers only, each of which is a
// polynomial of the symbols. The views move.
bool open_text_is_uniform(const open_samples *s, str *texts);

// What there is to print.
heddle_status open_text_program(text *out, const open_sample *sample);
heddle_status open_text_lhlo(text *out, const open_sample *sample);
heddle_status open_text_plan(text *out, const open_sample *sample);

#endif
