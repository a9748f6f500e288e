// libFuzzer target: what parses must print, parse again, and be equal, in every style that loses nothing.
//
// Elided constants are kept small: their text is no measure of the memory they take.
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "hlo/parser.h"
#include "hlo/text.h"

enum { LONGEST_INPUT = 1 << 16, ELIDED_BYTES = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what, heddle_status status, const text *printed) {
  fprintf(stderr, "%s\n%s---\n%.*s\n", what, heddle_status_message(status), (int)printed->size, printed->data);
  abort();
}

static void check_round_trip(arena *a, const module *m, hlo_print_options options) {
  module *again;
  text printed = {0}, reprinted = {0};
  hlo_print(&printed, m, options);
  heddle_status status = parser_run(a, "printed", text_view(&printed), ELIDED_BYTES, &again);
  if (!status_is_ok(status)) fail("the printed module does not parse", status, &printed);
  status = module_compare(m, again);
  if (!status_is_ok(status)) fail("the printed module is another one", status, &printed);
  hlo_print(&reprinted, again, options);
  if (!str_equal(text_view(&printed), text_view(&reprinted))) fail("the text changes", status, &reprinted);
  text_free(&printed);
  text_free(&reprinted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > LONGEST_INPUT) return 0;
  arena *a = arena_create();
  module *m;
  heddle_status status = parser_run(a, "fuzz", (str){(const char *)data, size}, ELIDED_BYTES, &m);
  if (status_is_ok(status)) {
    check_round_trip(a, m, HLO_PRINT_SHORT);
    check_round_trip(a, m, HLO_PRINT_FULL);
  }
  heddle_status_free(status);
  arena_destroy(a);
  return 0;
}
