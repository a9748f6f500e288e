// Literals in a file: one a line, `argument f32[2] {1, 2}`, or the protocol buffers XLA's tool writes.
//
// In a line the first word says what the value is (`argument`, `result`, `reference`) and may be missing: then it is an
// argument. Blank lines and lines that start with `#` or `//` do not count. So a file that a run wrote is one that a
// run reads.
#ifndef HEDDLE_TOOLS_LITERALS_FILE_H_
#define HEDDLE_TOOLS_LITERALS_FILE_H_

#include "proto/proto.h"
#include "tools/execute.h"

// Arguments for all of m's parameters, once or for each device; a tuple's arrays are lines of their own. The file's
// shapes must be the parameters'. `iteration` chooses among the runs that a file may hold, counted around; in lines a
// new run begins with the first argument behind a result.
heddle_status literals_file_read(arena *a, const char *path, const module *m, int iteration, argument_list *out);

// Values that came from `path` as arguments for m's parameters: array by array, whatever tuples there are.
heddle_status literals_file_as_arguments(arena *a, const char *path, const module *m, int count, literal *const *values,
                                         argument_list *out);

// Writes runs as a later run can read them: as RunHloModuleLiterals if the path ends in `.pb`, else as lines.
heddle_status literals_file_write(arena *a, const char *path, int count, const proto_iteration *runs);

#endif
