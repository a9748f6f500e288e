// XLA's debug options, as XLA_FLAGS and the command lines of XLA's tools give them.
//
// All names of debug_options.def are taken. Those that mean something here have a field; the others are collected, and
// named once in a warning.
#ifndef HEDDLE_TOOLS_DEBUG_OPTIONS_H_
#define HEDDLE_TOOLS_DEBUG_OPTIONS_H_

#include "tools/flags.h"

typedef struct debug_options {
  const char *file;     // that --debug_options_file names
  const char *dump_to;  // "-": standard output
  const char *dump_hlo_pass_re, *dump_hlo_module_re;
  const char *disable_hlo_passes, *enable_hlo_passes_only;  // "NAME,NAME"
  bool dump_hlo_as_text, dump_hlo_as_proto;
  bool disable_all_hlo_passes;
  bool allow_excess_precision, multi_thread_eigen;
  bool deterministic_ops, exclude_nondeterministic_ops;
  flag_list idle;  // names of options given that change nothing
} debug_options;

// What holds if nothing is said.
#define DEBUG_OPTIONS_DEFAULT {.allow_excess_precision = true, .multi_thread_eigen = true}

// For command_line.others; `d` must outlive it.
other_flags debug_options_flags(debug_options *d);

// The flags in environment variable XLA_FLAGS, to be read before the command line, which has the last word: flags, or
// the name of a file of flags. They are cut into words as XLA does: at blanks, but --flag="…" and --flag='…' are one
// word (a backslash in the former keeps the character behind it), and at the first word that is no flag reading ends,
// which the warning names. HEDDLE_INVALID for a name that is no option of XLA and for malformed values.
heddle_status debug_options_from_environment(arena *a, debug_options *d);
heddle_status debug_options_from_text(arena *a, debug_options *d, str flags);
// A text proto of XLA's DebugOptions without messages inside: lines `name: value`.
heddle_status debug_options_from_file(arena *a, debug_options *d, const char *path);

// The row of a tool's table for --debug_options_file; `d` is its debug_options.
#define DEBUG_OPTIONS_FILE(d) \
  {"debug_options_file", FLAG_TEXT, &(d).file, "FILE", "debug options as a text proto; XLA_FLAGS comes after it"}

// command_line_main and command_line_main_files of a tool that takes debug options: from the file that
// --debug_options_file=FILE among its words names, then from the environment, then from the words.
int debug_options_main(const command_line *line, debug_options *d, int argc, char **argv, const char *file,
                       command_fn run, void *argument);
int debug_options_main_files(const command_line *line, debug_options *d, int argc, char **argv, command_fn run,
                             void *argument);

// One line on standard error with the names that have no effect; none if all have.
void debug_options_warn(const debug_options *d);

#endif
