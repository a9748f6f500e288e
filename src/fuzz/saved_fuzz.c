// libFuzzer target: saved programs, whose checksums are not looked at; what is accepted is not run, since its code may
// be anything.
#include "fuzz/accepted.h"
#include "fuzz/target.h"
#include "prog/program_print.h"
#include "rt/saved_program.h"

static bool check(str input, accepted_depth depth) {
  (void)depth;
  saved_program *p;
  const saved_program_options options = {.trusts_checksums = true, .threads = 1};
  const bool is_read = accepted_may(saved_program_read(input, &options, &p), "the loader breaks", NULL);
  if (!is_read) return false;
  text out = {0};
  program_print(&out, saved_program_plan(p));
  text_free(&out);
  saved_program_close(p);
  return true;
}

const fuzz_target fuzz_this = {check, mutate_saved, NULL};
