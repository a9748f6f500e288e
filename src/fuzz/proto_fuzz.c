// libFuzzer target: HLO protos. What reads as a module is written, read again, and the same program.
#include "fuzz/accepted.h"
#include "fuzz/target.h"
#include "proto/proto.h"

static heddle_status read(arena *a, const char *file, str input, module **out) {
  int count;
  literal **arguments, *result;
  return proto_read(a, file, input, out, &count, &arguments, &result);
}

static bool check(str input, accepted_depth depth) {
  return accepted_copies(input, &(accepted_form){read, proto_write, false}, depth);
}

const fuzz_target fuzz_this = {check, mutate_proto, NULL};
