// Dumps the HLO of a compilation, before its first pass and after each, as XLA's --xla_dump_… options ask for it.
#ifndef HEDDLE_TOOLS_HLO_DUMP_H_
#define HEDDLE_TOOLS_HLO_DUMP_H_

#include <regex.h>
#include <stdio.h>

#include "opt/pass.h"
#include "tools/debug_options.h"

typedef struct hlo_dump {
  const char *folder;  // null: no files
  FILE *out;           // null: nothing is printed
  bool has_protos;
  bool has_filter;
  regex_t filter;        // of the passes' names
  heddle_status failed;  // the first file that could not be written
  pass_watcher watcher;
} hlo_dump;

// HEDDLE_INVALID for a wrong regular expression among the options.
heddle_status hlo_dump_check(const debug_options *options);

// Where dumps of `m` (null: of a program that is none yet) go, and makes the folder. HEDDLE_INVALID for a wrong regular
// expression. Close it in any case.
heddle_status hlo_dump_open(hlo_dump *d, const debug_options *options, const module *m);

// Has the module dumped in front of the passes and behind each, as NAME.hlo and NAME.after-PASS.hlo. `d` must outlive
// the run.
void hlo_dump_watch(hlo_dump *d, pass_control *control);

heddle_status hlo_dump_close(hlo_dump *d);

#endif
