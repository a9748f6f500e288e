// libFuzzer target: HLO protos as text. What reads as a module prints to what reads as the same program.
#include "fuzz/accepted.h"
#include "fuzz/target.h"
#include "import/hlo_proto.h"

static heddle_status read(arena *a, const char *file, str input, module **out) {
  return hlo_proto_read_text(a, file, input, out, NULL, NULL, NULL);
}

static bool check(str input, accepted_depth depth) {
  (void)hlo_proto_is_text(input);
  return accepted_copies(input, &(accepted_form){read, hlo_proto_write_text, true}, depth);
}

const fuzz_target fuzz_this = {check, mutate_text, true};
