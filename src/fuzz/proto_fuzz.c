// libFuzzer target: HLO protos. What reads as a module is written, read again, and the same program.
#include "fuzz/accepted.h"
#include "fuzz/target.h"
#include "hlo/text.h"
#include "import/hlo_proto.h"

static const module *written_and_read(arena *a, const module *m) {
  text bytes = {0};
  module *back;
  accepted_must(hlo_proto_write(&bytes, m), "a module cannot be written", NULL);
  accepted_must(hlo_proto_read(a, "written", text_view(&bytes), &back, NULL, NULL, NULL), "what was written is refused",
                NULL);
  text_free(&bytes);
  return back;
}

// Names become unique on the way, so the first copy may differ from what was read; the second one may not.
static bool check(str input, bool deep) {
  arena *a = arena_create();
  module *m;
  int count;
  literal **arguments, *result;
  const bool is_read =
      accepted_may(hlo_proto_read(a, "fuzz", input, &m, &count, &arguments, &result), "the reader breaks", NULL);
  if (is_read) {
    const module *once = written_and_read(a, m);
    accepted_must(module_compare(once, written_and_read(a, once)), "the program changes", NULL);
    accepted_module(a, once, deep);
  }
  arena_destroy(a);
  return is_read;
}

const fuzz_target fuzz_this = {check, mutate_proto, false};
