// libFuzzer target: any text is either refused with an error or gives a map that survives printing, parsing and
// simplifying. Run: map_parser_fuzz -max_total_time=60 CORPUS
#include <stdint.h>
#include <stdlib.h>

#include "index/indexing_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A broken promise must stop the fuzzer.
static void demand(bool holds) {
  if (!holds) __builtin_trap();
}

static const indexing_map *print_and_parse(arena *a, const indexing_map *m) {
  text printed = {0};
  const indexing_map *parsed = NULL;
  indexing_map_print(&printed, m);
  heddle_status status = indexing_map_parse(a, text_view(&printed), &parsed);
  demand(status_is_ok(status));
  text_free(&printed);
  return parsed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  arena *a = arena_create();
  const indexing_map *m = NULL;
  heddle_status status = indexing_map_parse(a, (str){(const char *)data, size}, &m);
  if (status_is_ok(status)) {
    demand(indexing_map_equal(m, print_and_parse(a, m)));
    const indexing_map *simple = indexing_map_simplify(a, m);
    demand(indexing_map_equal(simple, print_and_parse(a, simple)));
    (void)indexing_map_remove_unused(a, simple, NULL, NULL, NULL);
  } else {
    heddle_status_free(status);
  }
  arena_destroy(a);
  return 0;
}
