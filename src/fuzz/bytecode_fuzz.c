// libFuzzer target: StableHLO portable bytecode.
#include "fuzz/accepted.h"
#include "fuzz/target.h"
#include "vhlo/bytecode_reader.h"

// Repeated elements are kept few: the input's size is no measure of the memory they take.
enum { EXPANDED_BYTES = 1 << 20 };

static bool check(str input, accepted_depth depth) {
  arena *a = arena_create();
  ir_module *m;
  const bool is_read = accepted_read(bytecode_read_limited(a, "fuzz", input, EXPANDED_BYTES, &m), "fuzz");
  if (is_read) accepted_ir(a, m, depth);
  arena_destroy(a);
  return is_read;
}

const fuzz_target fuzz_this = {check, mutate_bytecode, NULL};
