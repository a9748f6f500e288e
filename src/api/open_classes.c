// Each symbol that is divided becomes divisor * m + rest, for all rests; then quotients of it are polynomials of m.
#include "api/open_classes.h"

#include <inttypes.h>
#include <string.h>

#include "api/open_compile.h"
#include "api/open_given.h"
#include "api/open_symbols.h"

enum { MOST_CLASSES = 16 };

typedef struct classes {
  arena *arena;
  const open_symbols *symbols;
  const compile_options *options;
  int64_t factors[PROGRAM_MOST_SYMBOLS];
} classes;

// How many classes there are; 0 for more than there may be.
static int count_classes(const classes *c) {
  int64_t count = 1;
  for (int k = 0; k < c->symbols->samples.symbol_count; k++) {
    count *= c->factors[k];
    if (count > MOST_CLASSES) return 0;
  }
  return (int)count;
}

static const char *sizes_text(const classes *c, const open_symbols *special, const int64_t *rests) {
  text t = {0};
  for (int k = 0; k < c->symbols->samples.symbol_count; k++) {
    if (c->factors[k] == 1) continue;
    text_printf(&t, "%s%s = %" PRId64 "*%s", t.size ? ", " : "", c->symbols->names[k], c->factors[k],
                special->names[k]);
    if (rests[k] > 0) text_printf(&t, " + %" PRId64, rests[k]);
  }
  const char *copy = arena_strdup(c->arena, text_cstr(&t), t.size);
  text_free(&t);
  return copy;
}

// The rests are the digits of `number`.
static heddle_status compile_class(const classes *c, int number, compiled *out) {
  int64_t rests[PROGRAM_MOST_SYMBOLS] = {0};
  open_symbols special = *c->symbols;
  special.specializes = false;
  for (int k = 0; k < c->symbols->samples.symbol_count; k++) {
    rests[k] = number % c->factors[k];
    number /= (int)c->factors[k];
  }
  if (!open_symbols_restrict(c->arena, &special, c->factors, rests))
    return status_error(HEDDLE_UNIMPLEMENTED, "sizes are too large to be divided");
  TRY(open_symbols_derive(c->arena, &special));
  TRY(open_compile_symbols(c->arena, &special, c->options, out));
  out->sizes = sizes_text(c, &special, rests);
  return status_ok();
}

// The last class first: small sizes, which conditions may exclude, are not what shows whether it can be done at all.
static heddle_status compile_all(const classes *c, compiled *general) {
  const int count = count_classes(c);
  if (count < 2) return status_error(HEDDLE_UNIMPLEMENTED, "what divides sizes makes too many classes of them");
  for (int k = count - 1; k >= 0; k--) {
    compiled made;
    TRY(compile_class(c, k, &made));
    open_given_put(c->arena, &made, general);
  }
  return status_ok();
}

// Quotients of quotients are polynomials where what divides the first is divided again.
static heddle_status compile_deeper(classes *c, compiled *general) {
  int64_t once[PROGRAM_MOST_SYMBOLS];
  memcpy(once, c->factors, sizeof once);
  for (;;) {
    heddle_status s = compile_all(c, general);
    if (status_is_ok(s) || heddle_status_code(s) != HEDDLE_UNIMPLEMENTED) return s;
    for (int k = 0; k < c->symbols->samples.symbol_count; k++) c->factors[k] *= once[k];
    if (count_classes(c) < 2) return s;
    heddle_status_free(s);
    for (int k = 0; k < general->special_count; k++) compiled_release(&general->specials[k]);
    general->special_count = 0;
  }
}

static heddle_status compile_classes(arena *a, const char *file, str source, const import_options *import,
                                     const compile_options *options, compiled *out) {
  open_symbols symbols = {.file = file, .source = source, .import = import, .specializes = true};
  classes c = {.arena = a, .symbols = &symbols, .options = options};
  module *closed;
  TRY(open_symbols_find(a, &symbols, &closed));
  TRY(open_symbols_divisors(a, &symbols, c.factors));
  if (count_classes(&c) < 2) return status_error(HEDDLE_UNIMPLEMENTED, "no small number divides its sizes");
  TRY(open_given_begin(a, file, source, import, options, out));
  heddle_status s = compile_deeper(&c, out);
  if (status_is_ok(s) && !options->is_saved) {
    out->buffers = buffer_cache_create();
    if (!out->buffers) s = status_error(HEDDLE_OUT_OF_MEMORY, "no memory for the buffer cache");
  }
  if (!status_is_ok(s)) compiled_release(out);
  return s;
}

heddle_status open_classes_compile(arena *a, const char *file, str source, const import_options *import,
                                   const compile_options *options, compiled *out) {
  heddle_status s = open_compile(a, file, source, import, options, out);
  const bool has_no_classes =
      options->specializes || memory_limit_is_set(&options->limit) || compile_target(options).has_grid;
  if (heddle_status_code(s) != HEDDLE_UNIMPLEMENTED || has_no_classes) return s;
  heddle_status by_classes = compile_classes(a, file, source, import, options, out);
  if (heddle_status_code(by_classes) == HEDDLE_UNIMPLEMENTED) {
    heddle_status_free(by_classes);
    return s;
  }
  heddle_status_free(s);
  return by_classes;
}
