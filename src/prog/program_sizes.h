// Programs for open sizes: one program, made once, becomes the program for given sizes by filling in numbers.
#ifndef HEDDLE_PROG_PROGRAM_SIZES_H_
#define HEDDLE_PROG_PROGRAM_SIZES_H_

#include "base/arena.h"
#include "prog/program.h"

// What a number of the program becomes.
typedef int64_t (*program_number_fn)(void *context, int64_t number);

// A copy of the program in which every number that may depend on sizes (dims, bytes, offsets, tiles, trips, what
// library calls take) is what `fn` makes of it, asked in one order that depends on the program's structure alone. What
// holds no such number (names, constants' bytes, images) is shared with `from`.
program *program_sizes_map(arena *a, const program *from, program_number_fn fn, void *context);

// The same with `fn` asked for open numbers alone, by their places in sizes.numbers.
typedef int64_t (*program_open_fn)(void *context, int open);
program *program_sizes_map_open(arena *a, const program *p, program_open_fn fn, void *context);

// The symbols' values that give the parameters these dims: dims[i] has as many as parameter i has. HEDDLE_INVALID for
// dims that are not the program's, sizes that contradict each other, and symbols beyond their bounds.
heddle_status program_sizes_solve(const program *p, const int64_t *const *dims, int64_t *symbols);

// How many of the symbols sizes say; the others follow from these (program_derived_size).
int program_sizes_given_count(const program_sizes *s);

// Fills in the symbols that follow from those before them. HEDDLE_INVALID where one divides by none, or something
// negative.
heddle_status program_sizes_derive(const program_sizes *s, int64_t *symbols);

// The dims of a result where the parameters have these.
heddle_status program_sizes_result(const program *p, const int64_t *const *dims, int result, int64_t *result_dims);

// A copy of the program with -1 for every open number: what its signature shows.
program *program_sizes_show(arena *a, const program *p);

// How many terms a polynomial has.
int program_sizes_term_count(const program_sizes *s);

// The exponents in a polynomial's term, by symbol.
void program_sizes_exponents(const program_sizes *s, int term, int *exponents);

// What a polynomial is at these values of the symbols. One that is too large for 64 bits wraps around.
int64_t program_sizes_value(const program_sizes *s, const int64_t *terms, const int64_t *symbols);

// The program for these values of its symbols, without open sizes: what executables are made of.
program *program_sizes_fill(arena *a, const program *p, const int64_t *symbols);

// Numbers with commas between them, one for each symbol that sizes say, as flags give them: "7,16". HEDDLE_INVALID for
// others.
heddle_status program_sizes_read(const program_sizes *s, const char *given, int64_t *symbols);

// "b = 7, s = 16", the symbols that sizes say.
void program_sizes_print_given(text *out, const program_sizes *s, const int64_t *symbols);

// "4*b", "b*s + 1"
void program_sizes_print(text *out, const program_sizes *s, const int64_t *terms);

#endif
