// What a command says of its work with --json: one object on standard output, whose last member is the error where
// there is one. Messages stay on standard error, and exit statuses are the same.
#ifndef HEDDLE_TOOLS_FACTS_H_
#define HEDDLE_TOOLS_FACTS_H_

#include "api/compile.h"
#include "base/json.h"
#include "eval/evaluate.h"

typedef struct facts {
  text text;
  json_writer out;
  arena *arena;
  VEC(const char *) files;  // that were written
} facts;

// What a run has been, for its object.
typedef struct run_told {
  str name;     // of the program
  int devices;  // whose results are elements of the result if there are several
  const compile_times *times;
  double seconds;                         // of the run
  int64_t planned_bytes, measured_bytes;  // that it took at most; 0: not known
  int argument_count;
  literal *const *arguments;
} run_told;

// Begins the object of a command that reads `module`.
void facts_begin(facts *f, arena *a, const char *module);
// Adds the files that were noted and the error, if there is one, and prints the object. Takes and returns ownership of
// the status.
heddle_status facts_end(facts *f, heddle_status s);

// Prints the object of a command that came to nothing but the error, if `s` is one; nothing otherwise. Takes and
// returns ownership of the status.
heddle_status facts_print_error(const char *module, heddle_status s);

// A file that has been written; the path lives as long as the facts.
void facts_note_file(facts *f, const char *path);

void facts_put_stages(facts *f, const compile_times *times);
// A list with a row for each; open dims are null.
void facts_put_values(facts *f, const char *name, int count, const program_value *values);

// What was compiled: signature, memory, kernels, and times for each of the `count` instruction sets that `codes` are
// for, which are the same program otherwise.
void facts_put_program(facts *f, arena *a, int count, const compiled *codes);
// The same of what is only planned.
void facts_put_plan(facts *f, const lhlo_program *plan, const compile_times *times);

// Members of a run's object up to its results, whose list facts_put_result fills and facts_end_run ends.
void facts_begin_run(facts *f, const run_told *told);
// `compared` with what was expected, which gave `s`.
void facts_put_result(facts *f, int device, const shape *s, bool compared, heddle_status difference);
void facts_end_run(facts *f);
// Members of what was compared as a whole, and gave `s`.
void facts_put_comparison(facts *f, bool compared, heddle_status s);

#endif
