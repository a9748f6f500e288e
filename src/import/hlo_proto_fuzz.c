// libFuzzer target: bytes that read as a module must be written, read again, and be the same program.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "hlo/text.h"
#include "import/hlo_proto.h"

enum { LONGEST_INPUT = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(heddle_status status, const char *what) {
  if (status_is_ok(status)) return;
  fprintf(stderr, "%s: %s\n", what, heddle_status_message(status));
  abort();
}

static module *written_and_read(arena *a, const module *m) {
  text bytes = {0};
  module *back;
  must(hlo_proto_write(&bytes, m), "a module cannot be written");
  must(hlo_proto_read(a, "written", text_view(&bytes), &back, NULL, NULL, NULL), "what was written cannot be read");
  text_free(&bytes);
  return back;
}

// Names become unique on the way, so the first copy may differ from what was read; the second one may not.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > LONGEST_INPUT) return 0;
  arena *a = arena_create();
  module *m;
  int count;
  literal **arguments, *result;
  heddle_status status = hlo_proto_read(a, "fuzz", (str){(const char *)data, size}, &m, &count, &arguments, &result);
  if (status_is_ok(status)) {
    const module *once = written_and_read(a, m);
    must(module_compare(once, written_and_read(a, once)), "the program changes");
  }
  heddle_status_free(status);
  arena_destroy(a);
  return 0;
}
