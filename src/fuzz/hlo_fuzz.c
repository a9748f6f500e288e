// libFuzzer target: HLO text.
#include "fuzz/accepted.h"
#include "fuzz/target.h"
#include "hlo/parser.h"

// Elided constants are kept small: their text is no measure of the memory they take.
enum { ELIDED_BYTES = 1 << 16 };

static bool check(str input, accepted_depth depth) {
  arena *a = arena_create();
  module *m;
  const bool is_read = accepted_read(parser_run(a, "fuzz", input, ELIDED_BYTES, &m), "fuzz");
  if (is_read) accepted_module(a, m, depth);
  arena_destroy(a);
  return is_read;
}

const fuzz_target fuzz_this = {check, mutate_text, mutate_text_with};
