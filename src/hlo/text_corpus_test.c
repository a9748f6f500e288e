// Every HLO text of the conformance corpus (../shared/corpus beside the source tree, where it exists) and every example
// parses, verifies, and comes back equal from print and parse in both styles.
#include "hlo/corpus_testing.h"

#include "hlo/text.h"

static heddle_status check_style(arena *a, const module *m, hlo_print_options options) {
  module *again = NULL;
  text printed = {0}, reprinted = {0};
  hlo_print(&printed, m, options);
  heddle_status status = hlo_parse(a, "printed", text_view(&printed), &again);
  if (status_is_ok(status)) status = module_compare(m, again);
  if (status_is_ok(status)) {
    hlo_print(&reprinted, again, options);
    if (!str_equal(text_view(&printed), text_view(&reprinted)))
      status = status_error(HEDDLE_INVALID, "printing the parsed text gives another text");
  }
  text_free(&printed);
  text_free(&reprinted);
  return status;
}

static heddle_status check_text(arena *a, const char *path) {
  module *m, *clone;
  TRY(hlo_parse_file(a, path, &m));
  TRY(check_style(a, m, HLO_PRINT_SHORT));
  TRY(check_style(a, m, HLO_PRINT_FULL));
  clone = module_clone(a, m);
  return module_compare(m, clone);
}

int main(void) { return corpus_run(".hlo", check_text); }
