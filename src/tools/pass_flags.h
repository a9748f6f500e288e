// The flags that say how passes over HLO and over MLIR run, on the command lines of all tools that run some.
#ifndef HEDDLE_TOOLS_PASS_FLAGS_H_
#define HEDDLE_TOOLS_PASS_FLAGS_H_

#include "base/pass.h"
#include "tools/flags.h"

typedef struct pass_flags {
  const char *print_after;  // "NAME,NAME"
  bool print_after_all, print_after_change;
  int bisect;  // negative: not said
  pass_watcher watcher;
  pass_control control;
} pass_flags;

#define PASS_FLAGS_DEFAULT {.bisect = -1}

// The rows of a tool's table; `f` is its pass_flags.
#define PASS_FLAGS(f)                                                                                                  \
  {"print-after", FLAG_TEXT, &(f).print_after, "NAME,NAME", "print what these passes leave on standard error"},        \
      {"print-after-all", FLAG_BOOL, &(f).print_after_all, NULL, "print what each pass leaves"},                       \
      {"print-after-change", FLAG_BOOL, &(f).print_after_change, NULL, "print what each pass that changes it leaves"}, \
      {"bisect", FLAG_INT, &(f).bisect, "N", "run only the first N passes; compiling, those that are needed, too"}

enum { PASS_FLAGS_HLO = 1, PASS_FLAGS_MLIR = 2 };

// HEDDLE_INVALID for values that are wrong, such as names that are no passes of these kinds (bits).
heddle_status pass_flags_check(const pass_flags *f, unsigned kinds);
// HEDDLE_INVALID if `name` is not a pass of these kinds.
heddle_status pass_flags_check_name(const char *flag, str name, unsigned kinds);

// A control for the next unit or compilation, which `f` must outlive. `time`: whether to fill the table of times;
// `compiles`: passes that are needed run whatever --bisect says.
pass_control *pass_flags_open(pass_flags *f, bool time, bool compiles);

#endif
