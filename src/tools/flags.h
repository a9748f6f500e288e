// Command lines from a table of flags: --name=value, --name value, --name, --noname, -name likewise; and the frame of
// every tool's main.
#ifndef HEDDLE_TOOLS_FLAGS_H_
#define HEDDLE_TOOLS_FLAGS_H_

#include <stdbool.h>

#include "base/status.h"
#include "base/vec.h"

typedef VEC(const char *) flag_list;

typedef enum flag_kind {
  FLAG_BOOL,    // bool *
  FLAG_INT,     // int *
  FLAG_DOUBLE,  // double *
  FLAG_TEXT,    // const char **
  FLAG_LIST,    // flag_list *: may be given several times
} flag_kind;

typedef struct flag {
  const char *name;
  flag_kind kind;
  void *value;           // holds the default before parsing
  const char *argument;  // what the help calls the value; null for FLAG_BOOL
  const char *help;
} flag;

// A command's table ends with a row whose name is null.
typedef struct command_line {
  const char *usage;    // "run_hlo_module [flags] FILE"
  const char *summary;  // what the command does, a sentence or two
  const flag *flags;
} command_line;

// Fills the values and collects what is no flag. --help prints the help and sets *help. HEDDLE_INVALID for an unknown
// flag (with the nearest name), a missing or malformed value. Strings point into argv.
heddle_status flags_parse(arena *a, const command_line *line, int argc, char **argv, flag_list *positional, bool *help);

// What a tool does with its file ("-" is standard input by the tools' habit). `argument` is the caller's flags.
typedef heddle_status (*command_fn)(arena *a, const char *file, void *argument);

// A tool from start to exit: parses the words after its name, runs, prints what went wrong on standard error. Exit
// status: 0, 1 if `run` failed, 2 for a wrong command line. `file` is what a missing file stands for; null: one must be
// given.
int command_main(const command_line *line, int argc, char **argv, const char *file, command_fn run, void *argument);
// Tools without a file argument.
int command_main_no_file(const command_line *line, int argc, char **argv, command_fn run, void *argument);

// Prints the error, frees it and gives the process's exit status: 0 if `s` is success, else 1.
int report(heddle_status s);

#endif
