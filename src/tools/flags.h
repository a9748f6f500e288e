// Parses command lines by a table of flags (--name=value, --name value, --name, --noname, -name likewise) and is the
// frame of every tool's main, the only way in which a tool ends.
#ifndef HEDDLE_TOOLS_FLAGS_H_
#define HEDDLE_TOOLS_FLAGS_H_

#include <stdbool.h>

#include "base/status.h"
#include "base/str.h"
#include "base/vec.h"

typedef VEC(const char *) flag_list;

typedef enum flag_kind {
  FLAG_BOOL,     // bool *
  FLAG_MAYBE,    // int *: 0 or 1; anything else stands for "not said"
  FLAG_INT,      // int *
  FLAG_SIZE,     // int *, 0 or more
  FLAG_COUNT,    // int *, 1 or more
  FLAG_SEED,     // int *, 0 or more; 0 without a value, which stands behind `=` only
  FLAG_THREADS,  // int *, 0 (as many as there are cores) to FLAG_MOST_THREADS
  FLAG_DOUBLE,   // double *, 0 or more, also infinite
  FLAG_TEXT,     // const char **
  FLAG_LIST,     // flag_list *: may be given several times
} flag_kind;

// Each is a thread of the system: more than any machine has cores, and few enough to be started.
enum { FLAG_MOST_THREADS = 1024 };

typedef struct flag {
  const char *name;
  flag_kind kind;
  void *value;           // holds the default before parsing
  const char *argument;  // what the help calls the value; null for FLAG_BOOL and FLAG_MAYBE
  const char *help;
} flag;

// Flags of another kind behind a tool's own: XLA's debug options (debug_options.h).
typedef struct other_flags {
  // `value` is null where there is no `=`. *taken stays false for a name that is none of these.
  heddle_status (*take)(void *context, arena *a, str name, const char *value, bool *taken);
  void *context;
  const char *(*name)(int number);  // null behind the last one
  void (*print_help)(void);
} other_flags;

// A command's table ends with a row whose name is null.
typedef struct command_line {
  const char *usage;    // "run_hlo_module [flags] FILE"
  const char *summary;  // what the command does, a sentence or two
  const flag *flags;
  // Judges the values once they are parsed, and what they are together; its errors name the flag and what it takes, and
  // count as a wrong command line. Gets the command's argument. Null: every value is right that has the form of its
  // kind.
  heddle_status (*check)(void *argument);
  const other_flags *others;  // may be null
} command_line;

// Fills the values and collects what is no flag. --help prints the help and --version the version, and both set *help.
// HEDDLE_INVALID for an unknown flag (with the nearest name), for a value that is missing, malformed or out of the
// range of its kind, and for two values of a flag that takes one. Strings point into argv.
heddle_status flags_parse(arena *a, const command_line *line, int argc, char **argv, flag_list *positional, bool *help);

// Words are spelled apart with dashes or underscores, as it comes.
bool flags_same_name(str name, const char *other);

// Sets one flag as `--name=value` does.
heddle_status flags_set(arena *a, const flag *f, const char *value);

// One line of a help text.
void flags_print_help_line(const char *name, const char *argument, const char *help);
// The line behind --version; `name` is the tool's.
void flags_print_version(str name);

// What a tool does with its file ("-" is standard input by the tools' habit). `argument` is the caller's flags.
typedef heddle_status (*command_fn)(arena *a, const char *file, void *argument);

// A whole number from `least` to `most` that is the value of the flag --`name`. HEDDLE_INVALID, which names both.
heddle_status flags_number(const char *name, const char *value, int least, int most, int *out);

// A tool from start to exit: parses the words after its name, runs, prints what went wrong on standard error. Exit
// status: command_line_exit_status's of what `run` gives, 1 if its output could not be written, 2 for a wrong command
// line. `file` is what a missing file stands for; null: one must be given.
int command_line_main(const command_line *line, int argc, char **argv, const char *file, command_fn run,
                      void *argument);
// Tools that take one file or more, one after the other; what fails does not keep the rest from running. `run` is
// called for each, in an arena of its own.
int command_line_main_files(const command_line *line, int argc, char **argv, command_fn run, void *argument);
// Tools without a file argument.
int command_line_main_no_file(const command_line *line, int argc, char **argv, command_fn run, void *argument);

// Prints the error, frees it and gives the process's exit status: 0 if `s` is success, 3 if values differ from what was
// expected (HEDDLE_MISMATCH), else 1.
int command_line_exit_status(heddle_status s);

// The exit status of a tool that would end with `status`: 1 with a line on standard error if what it printed cannot be
// written (a full disk, a closed descriptor).
int command_line_output_status(int status);

#endif
