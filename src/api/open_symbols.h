// Which sizes of a program are open, and how they depend on each other: its symbols.
#ifndef HEDDLE_API_OPEN_SYMBOLS_H_
#define HEDDLE_API_OPEN_SYMBOLS_H_

#include "api/compile.h"
#include "api/open_definitions.h"
#include "api/open_derived.h"
#include "import/import.h"

enum { OPEN_SYMBOLS_MOST_DIMS = 64 };

// An open dim of a parameter: factor * symbol + offset; or, if it is defined, what others make of it.
typedef struct open_dim {
  int parameter, dimension, symbol;
  int64_t factor, offset;
  int64_t bound;                      // that is declared, else INT64_MAX
  const open_definition *definition;  // null: it has a symbol
} open_dim;

struct open_symbols {
  const char *file;
  str source;
  const import_options *import;
  int dim_count;
  open_dim dims[OPEN_SYMBOLS_MOST_DIMS];
  int halvings[OPEN_SYMBOLS_MOST_DIMS];  // of the symbols' stand-ins, by number before they are numbered
  open_samples samples;
  open_derived derived;
  bool takes_sizes;  // module.takes_sizes
  int64_t multiple;  // module.open_multiple
  bool is_large;     // module.open_is_large
  bool specializes;  // what is compiled is read again for each size: shapes may depend on sizes in any way
  const char *names[PROGRAM_MOST_SYMBOLS];
  int64_t most[PROGRAM_MOST_SYMBOLS];  // as the bounds of their dims say, else INT64_MAX
};

// Finds the open dims of the program that `o` names, and symbols for them: as the program's own conditions
// (shape_assertion) say, else each its own, else those the same that have to be (api/open_unions.h), else those of one
// number in their shapes, else all, whatever it can be read with first. Without open dims it gives what reading it
// gives, in *closed, and no symbol. HEDDLE_UNIMPLEMENTED for too many symbols; the first reason where it cannot be
// read.
heddle_status open_symbols_find(arena *a, open_symbols *o, module **closed);

// Reads the program; if it has open dims, they are noted and *closed is null.
heddle_status open_symbols_count(arena *a, open_symbols *o, module **closed);

// By how much the program divides its sizes while it is read, by symbol, of small numbers alone; 1 where it does not.
heddle_status open_symbols_divisors(arena *a, const open_symbols *o, int64_t *divisors);

// Each symbol of which factors[k] is above 1, n0 for example, becomes factors[k] * m0 + rests[k]. False if numbers
// become too large, and where that is no size of the program.
bool open_symbols_restrict(arena *a, open_symbols *o, const int64_t *factors, const int64_t *rests);

// Finds what is derived from the symbols as they are now.
heddle_status open_symbols_derive(arena *a, open_symbols *o);

// The symbols for which `is_chosen`, n0 for example, become symbols m0 that are multiplied by `multiple`. False if
// numbers become too large.
bool open_symbols_multiply(arena *a, open_symbols *o, const bool *is_chosen, int64_t multiple);

// The program with the stand-ins of a sample, and what it asserts of them.
heddle_status open_symbols_import(arena *a, const open_symbols *o, int sample, import_open_sizes *sizes, module **out);

// The same for sizes that are given, by symbol: a program like any other.
heddle_status open_symbols_import_at(arena *a, const open_symbols *o, const int64_t *symbols, module **out);

#endif
