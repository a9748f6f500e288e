// The HLO of a compilation, before its first pass and after each, as XLA's --xla_dump_… options ask for it.
#ifndef HEDDLE_TOOLS_HLO_DUMP_H_
#define HEDDLE_TOOLS_HLO_DUMP_H_

#include <regex.h>

#include "opt/pass.h"
#include "tools/debug_options.h"

typedef struct hlo_dump {
  const char *folder;  // null: no files
  bool prints;         // to standard output
  bool has_protos;
  bool has_filter;
  regex_t filter;        // of the passes' names
  heddle_status failed;  // the first file that could not be written
} hlo_dump;

// HEDDLE_INVALID for a wrong regular expression among the options.
heddle_status hlo_dump_check(const debug_options *options);

// Where dumps of `m` go, and makes the folder. HEDDLE_INVALID for a wrong regular expression. Close it in any case.
heddle_status hlo_dump_open(hlo_dump *d, const debug_options *options, const module *m);

// NAME.hlo, NAME.after-PASS.hlo; `pass` is null for the module before the first one. An opt_observer, with the hlo_dump
// as argument.
void hlo_dump_add(void *d, const opt_pass *pass, const module *m);

heddle_status hlo_dump_close(hlo_dump *d);

#endif
