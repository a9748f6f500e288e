// What a reader answers, and what must hold of it. It needs no compiler, so that the target of saved programs has none:
// of a process with few functions libFuzzer looks at few counters after each input.
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/accepted.h"

void accepted_demand(bool holds, const char *what, const text *shown) {
  if (holds) return;
  fprintf(stderr, "%s\n", what);
  if (shown) fprintf(stderr, "---\n" STR_FMT "\n", STR_ARG(text_view(shown)));
  abort();
}

void accepted_must(heddle_status s, const char *what, const text *shown) {
  if (!status_is_ok(s)) fprintf(stderr, "%s\n", heddle_status_message(s));
  accepted_demand(status_is_ok(s), what, shown);
}

bool accepted_may(heddle_status s, const char *what, const text *shown) {
  const bool is_ok = status_is_ok(s);
  if (heddle_status_code(s) == HEDDLE_INTERNAL) accepted_must(s, what, shown);
  heddle_status_free(s);
  return is_ok;
}

static bool has_place(const char *message, const char *file) {
  const size_t size = strlen(file);
  for (const char *at = strstr(message, file); at; at = strstr(at + 1, file)) {
    if (at[size] != ':') continue;
    const char next = at[size + 1];
    if (next >= '0' && next <= '9') return true;
    if (strncmp(at + size, ": error: at ", 12) == 0 || strncmp(at + size, ": error: byte ", 14) == 0) return true;
  }
  return false;
}

bool accepted_read(heddle_status s, const char *file) {
  if (!status_is_ok(s) && !has_place(heddle_status_message(s), file)) {
    fprintf(stderr, "%s\n", heddle_status_message(s));
    accepted_demand(false, "the error has no location", NULL);
  }
  return accepted_may(s, "the reader breaks", NULL);
}
