// Every module of the conformance corpus and of the examples becomes a program whose memory is right, and whose text
// reads back to the same text.
#include "hlo/corpus_testing.h"

#include "fuse/fuse.h"
#include "hlo/text.h"
#include "lhlo/build.h"
#include "lhlo/verify.h"
#include "opt/pass.h"

// Of 1,000: what no target compiles (sizes known only at run time, …).
enum { REFUSED_PER_MILLE = 20 };

static int refused;

static heddle_status check_text(arena *a, const lhlo_program *p, const target_description *target) {
  text printed = {0}, reprinted = {0};
  lhlo_program *again = NULL;
  heddle_status s = lhlo_print(&printed, p);
  if (status_is_ok(s)) s = lhlo_parse(a, text_view(&printed), "printed.lhlo", target, &again);
  if (status_is_ok(s)) s = lhlo_print(&reprinted, again);
  if (status_is_ok(s) && !str_equal(text_view(&printed), text_view(&reprinted)))
    s = status_error(HEDDLE_INVALID, "printing the parsed text gives another text");
  text_free(&printed);
  text_free(&reprinted);
  return s;
}

static heddle_status build(arena *a, const char *path, const target_description *target, lhlo_program **out) {
  module *m;
  TRY(hlo_parse_file(a, path, &m));
  TRY(opt_run_pipeline(m, NULL));
  TRY(fuse_run(m, target, NULL, NULL));
  return lhlo_build(a, m, target, out);
}

static heddle_status check(arena *a, const char *path) {
  const target_description target = target_cpu(2);
  lhlo_program *p = NULL;
  heddle_status s = build(a, path, &target, &p);
  if (heddle_status_code(s) == HEDDLE_UNIMPLEMENTED) {
    print_message("refused: %s", heddle_status_message(s));
    heddle_status_free(s);
    refused++;
    return status_ok();
  }
  TRY(s);
  TRY(lhlo_verify(p));
  if (p->temporary_bytes > p->least_temporary_bytes * 3 / 2)
    return status_error(HEDDLE_INTERNAL, "the arena takes %lld bytes where %lld live at a time",
                        (long long)p->temporary_bytes, (long long)p->least_temporary_bytes);
  return check_text(a, p, &target);
}

int main(void) {
  int failed = corpus_run(".hlo", check);
  return failed || refused * 1000 > REFUSED_PER_MILLE * (corpus_files.passed + 1000);
}
