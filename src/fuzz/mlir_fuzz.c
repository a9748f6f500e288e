// libFuzzer target: StableHLO text.
#include "fuzz/accepted.h"
#include "fuzz/target.h"
#include "mlir/parser.h"

// Splats are kept small: their text is no measure of the memory they take.
enum { SPLAT_BYTES = 1 << 16 };

static bool check(str input, accepted_depth depth) {
  arena *a = arena_create();
  ir_module **modules;
  int count;
  const bool is_read = accepted_read(mlir_parser_run(a, "fuzz", input, SPLAT_BYTES, &count, &modules), "fuzz");
  for (int i = 0; is_read && i < count; i++) accepted_ir(a, modules[i], depth);
  arena_destroy(a);
  return is_read;
}

const fuzz_target fuzz_this = {check, mutate_text, mutate_text_with};
