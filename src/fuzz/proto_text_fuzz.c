// libFuzzer target: HLO protos as text. What reads as a module prints to what reads as the same program.
#include "fuzz/accepted.h"
#include "fuzz/target.h"
#include "hlo/text.h"
#include "import/hlo_proto.h"

static const module *printed_and_read(arena *a, const module *m) {
  text source = {0};
  module *back;
  accepted_must(hlo_proto_write_text(&source, m), "a module cannot be printed", NULL);
  accepted_must(hlo_proto_read_text(a, "printed", text_view(&source), &back, NULL, NULL, NULL),
                "what was printed is refused", &source);
  text_free(&source);
  return back;
}

static bool check(str input, bool deep) {
  arena *a = arena_create();
  module *m;
  (void)hlo_proto_is_text(input);
  const bool is_read =
      accepted_may(hlo_proto_read_text(a, "fuzz", input, &m, NULL, NULL, NULL), "the reader breaks", NULL);
  if (is_read) {
    const module *once = printed_and_read(a, m);
    accepted_must(module_compare(once, printed_and_read(a, once)), "the program changes", NULL);
    accepted_module(a, once, deep);
  }
  arena_destroy(a);
  return is_read;
}

const fuzz_target fuzz_this = {check, mutate_text, true};
