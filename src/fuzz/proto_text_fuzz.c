// libFuzzer target: HLO protos as text. What reads as a module prints to what reads as the same program.
#include "fuzz/accepted.h"
#include "fuzz/target.h"
#include "proto/proto.h"

static heddle_status read(arena *a, const char *file, str input, module **out) {
  return proto_read_text(a, file, input, out, NULL, NULL, NULL);
}

static bool check(str input, accepted_depth depth) {
  (void)proto_is_text(input);
  return accepted_copies(input, &(accepted_form){read, proto_write_text, true}, depth);
}

const fuzz_target fuzz_this = {check, mutate_text, mutate_text_with};
