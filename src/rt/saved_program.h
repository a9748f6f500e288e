// Saved programs (prog/program_file.h) made ready to run: read, checked, their code linked, without a compiler.
#ifndef HEDDLE_RT_SAVED_PROGRAM_H_
#define HEDDLE_RT_SAVED_PROGRAM_H_

#include "prog/program_file.h"
#include "rt/open_instances.h"

typedef struct saved_program saved_program;

typedef struct saved_program_options {
  bool trusts_checksums;  // program_file_options
  int threads;            // of a run; 0 = all cores
  const char *device;     // executable_options
  const char *level;      // the code to take, by its name; null: the one for the most features that this machine has
  bool inspects;          // to be looked at alone, on any machine: nothing is made ready, and maybe no code is chosen
} saved_program_options;

// Maps a file: its constants are used where they lie, and processes that do so share them. `options` may be null.
// HEDDLE_INVALID for files that are no saved programs, damaged or that contradict themselves, HEDDLE_UNIMPLEMENTED for
// those of another format, for machines without the instructions that the code uses (named) and for thunks that this
// build cannot run.
heddle_status saved_program_open(const char *path, const saved_program_options *options, saved_program **out);
// The same of a file's bytes, which are copied.
heddle_status saved_program_read(str bytes, const saved_program_options *options, saved_program **out);
void saved_program_close(saved_program *p);  // null is allowed

// To be called, as long as it is open. Without an executable where it is inspected.
const invocable *saved_program_invocable(const saved_program *p);
// Of a program for open sizes, whose invocable runs at none: those that do. Null for others.
open_instances *saved_program_instances(const saved_program *p);
const program_saved *saved_program_contents(const saved_program *p);
const program_code *saved_program_code(const saved_program *p);  // that was chosen; null: none runs here
const program *saved_program_plan(const saved_program *p);       // that runs it, with its images

#endif
