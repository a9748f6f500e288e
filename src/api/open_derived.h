// Symbols that other symbols decide: (b + 7) / 8, the remainder of b / 4, the larger one of a and b.
//
// What divides, or is the larger or smaller of sizes, is no polynomial of them. Where shapes are made of it, it is a
// symbol of its own, with stand-ins of its own, and the program's table says what it is at the sizes of a run.
#ifndef HEDDLE_API_OPEN_DERIVED_H_
#define HEDDLE_API_OPEN_DERIVED_H_

#include "api/open_samples.h"
#include "stablehlo/import_options.h"

// What becomes of a value that two others were divided for, or picked from, while the program was read.
typedef enum open_derived_role {
  OPEN_DERIVED_UNUSED,   // no shape is made of it
  OPEN_DERIVED_EXACT,    // a quotient whose remainder is the same, or nothing that depends on sizes: it is what it is
  OPEN_DERIVED_SAME,     // the one of two equal values
  OPEN_DERIVED_ASSUMED,  // the one that is the larger or smaller, which runs are asked for
  OPEN_DERIVED_SYMBOL,
} open_derived_role;

typedef struct open_derived_use {
  open_derived_role role;
  int symbol;           // among those that are derived
  int64_t offset;       // to the symbol, none of a class is above 0: (b + 3) / 2 is (b + 5) / 2 less one
  int64_t left, right;  // of what depends on no size
  int64_t rest;         // the remainder of what is exact
  bool is_constant;
} open_derived_use;

typedef struct open_derived {
  int use_count;  // values, in the order in which they come while the program is read
  const open_derived_use *uses;
  int count;  // of symbols
  program_derived_kind kinds[PROGRAM_MOST_SYMBOLS];
  bool is_above[PROGRAM_MOST_SYMBOLS];  // of its stand-ins: beyond what it would be
} open_derived;

// Reads the program at a sample, with a function that is asked for what is derived.
typedef struct open_derived_program {
  arena *arena;
  heddle_status (*read)(void *context, const open_samples *samples, int sample, import_open_sizes *sizes, module **out);
  void *context;
} open_derived_program;

// Finds what is derived in the program, and adds symbols for it to `samples`. HEDDLE_UNIMPLEMENTED where that makes too
// many of them; what reading the program gives.
heddle_status open_derived_find(const open_derived_program *p, open_samples *samples, open_derived *out);

// By which small numbers the program divides what depends on a symbol, their least common multiple, 1 for none. As
// reading it says.
heddle_status open_derived_divisors(const open_derived_program *p, const open_samples *samples, int64_t *divisors);

// What a derived symbol is called: by what it is, "floor((n + 7) / 8)".
const char *open_derived_name(arena *a, const program_sizes *s, const program_derived_size *d);

// One reading of the program at a sample.
typedef struct open_derived_reading {
  const open_derived *derived;
  const open_samples *samples;
  import_open_sizes *sizes;
  int sample;
  int next;
  bool seen[PROGRAM_MOST_SYMBOLS];
  bool fails;  // what was found is not so in this sample
} open_derived_reading;

// Lets the reading give what stands for derived values. Nothing is to be done if there are none.
void open_derived_start(open_derived_reading *r, arena *a);
// Whether the reading has met all that was found, and as it was found.
bool open_derived_fits(const open_derived_reading *r);

#endif
