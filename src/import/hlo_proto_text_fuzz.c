// libFuzzer target: text that reads as a module must print, as a message and as HLO, to what reads as the same program.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "hlo/text.h"
#include "import/hlo_proto.h"

enum { LONGEST_INPUT = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(heddle_status status, const char *what, const text *source) {
  if (status_is_ok(status)) return;
  fprintf(stderr, "%s: %s\n%.*s\n", what, heddle_status_message(status), (int)source->size, source->data);
  abort();
}

static module *printed_and_read(arena *a, const module *m) {
  text source = {0};
  module *back;
  must(hlo_proto_write_text(&source, m), "a module cannot be printed", &source);
  must(hlo_proto_read_text(a, "printed", text_view(&source), &back, NULL, NULL, NULL), "what was printed is refused",
       &source);
  text_free(&source);
  return back;
}

static void check_hlo(arena *a, const module *m) {
  text source = {0};
  module *back;
  hlo_print(&source, m, HLO_PRINT_FULL);
  must(hlo_parse(a, "hlo", text_view(&source), &back), "its HLO text is refused", &source);
  text_free(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > LONGEST_INPUT) return 0;
  arena *a = arena_create();
  module *m;
  text none = {0};
  str source = {(const char *)data, size};
  heddle_status status = hlo_proto_read_text(a, "fuzz", source, &m, NULL, NULL, NULL);
  (void)hlo_proto_is_text(source);
  if (status_is_ok(status)) {
    const module *once = printed_and_read(a, m);
    must(module_compare(once, printed_and_read(a, once)), "the program changes", &none);
    check_hlo(a, once);
  }
  heddle_status_free(status);
  arena_destroy(a);
  return 0;
}
