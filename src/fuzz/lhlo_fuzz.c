// libFuzzer target: LHLO.
#include "fuzz/accepted.h"
#include "fuzz/target.h"

static bool check(str input, accepted_depth depth) {
  arena *a = arena_create();
  const target_description target = target_cpu(2);
  lhlo_program *p;
  const bool is_read = accepted_read(lhlo_parse(a, input, "fuzz", &target, &p), "fuzz");
  if (is_read) accepted_lhlo(a, p, depth);
  arena_destroy(a);
  return is_read;
}

const fuzz_target fuzz_this = {check, mutate_text, true};
