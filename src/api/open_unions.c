// Dims that are made the same never end a reading earlier: whatever lets it get further is kept.
#include "api/open_unions.h"

#include <string.h>

enum { MOST_READINGS = 400, STEP = 5040 * 8, LEAST_STEPS = 101 };

typedef struct attempt {
  const open_unions_reader *reader;
  int symbols[OPEN_UNIONS_MOST_DIMS];
  int readings;
  // Where reading ends.
  bool is_whole;
  int line, column;
} attempt;

static void read(attempt *x) {
  int64_t sizes[OPEN_UNIONS_MOST_DIMS] = {0};
  for (int k = 0; k < x->reader->dim_count; k++) sizes[k] = (int64_t)STEP * (LEAST_STEPS + 2 * x->symbols[k]);
  heddle_status s = x->reader->read(x->reader->context, sizes);
  x->readings++;
  x->is_whole = status_is_ok(s);
  x->line = x->is_whole ? 0 : heddle_status_line(s);
  x->column = x->is_whole ? 0 : heddle_status_column(s);
  heddle_status_free(s);
}

static void unite(attempt *x, int one, int other) {
  const int from = x->symbols[other], to = x->symbols[one];
  for (int k = 0; k < x->reader->dim_count; k++)
    if (x->symbols[k] == from) x->symbols[k] = to;
}

// Takes over what gets further.
static bool gets_further(attempt *x, attempt *changed) {
  if (memcmp(x->symbols, changed->symbols, sizeof x->symbols) == 0 || x->readings >= MOST_READINGS) return false;
  read(changed);
  x->readings = changed->readings;
  const bool gets = changed->is_whole || changed->line != x->line || changed->column != x->column;
  if (gets) *x = *changed;
  return gets;
}

static bool unite_two(attempt *x) {
  for (int l = 0; l < x->reader->dim_count; l++)
    for (int r = l + 1; r < x->reader->dim_count; r++) {
      attempt changed = *x;
      unite(&changed, l, r);
      if (gets_further(x, &changed)) return true;
    }
  return false;
}

static bool unite_parameters(attempt *x) {
  const open_unions_reader *of = x->reader;
  for (int l = 0; l < of->dim_count; l++)
    for (int r = l + 1; r < of->dim_count; r++) {
      attempt changed = *x;
      if (of->parameters[l] == of->parameters[r]) continue;
      for (int k = 0; k < of->dim_count; k++)
        for (int n = 0; n < of->dim_count; n++)
          if (of->parameters[k] == of->parameters[l] && of->parameters[n] == of->parameters[r] &&
              of->dimensions[k] == of->dimensions[n])
            unite(&changed, k, n);
      if (gets_further(x, &changed)) return true;
    }
  return false;
}

bool open_unions_find(const open_unions_reader *reader, int *symbols) {
  attempt x = {.reader = reader};
  int count = 0;
  if (reader->dim_count > OPEN_UNIONS_MOST_DIMS) return false;
  for (int k = 0; k < reader->dim_count; k++) x.symbols[k] = k;
  read(&x);
  while (!x.is_whole && (unite_two(&x) || unite_parameters(&x))) continue;
  for (int k = 0; k < reader->dim_count; k++) {
    symbols[k] = x.symbols[k];
    count += symbols[k] == k;
  }
  return x.is_whole && count <= OPEN_UNIONS_MOST_SYMBOLS;
}
