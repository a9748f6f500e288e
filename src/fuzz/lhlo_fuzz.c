// libFuzzer target: LHLO.
#include "fuzz/accepted.h"
#include "fuzz/target.h"

// Splats are kept small: their text is no measure of the memory they take.
enum { SPLAT_BYTES = 1 << 16 };

static bool check(str input, accepted_depth depth) {
  arena *a = arena_create();
  const target_description target = target_cpu(2);
  lhlo_program *p;
  const bool is_read = accepted_read(lhlo_parse_limited(a, input, "fuzz", &target, SPLAT_BYTES, &p), "fuzz");
  if (is_read) accepted_lhlo(a, p, depth);
  arena_destroy(a);
  return is_read;
}

const fuzz_target fuzz_this = {check, mutate_text, mutate_text_with};
