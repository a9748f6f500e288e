// What `heddle-run --json` prints: one object that says what a saved program is, what its run took, and what went
// wrong.
#ifndef HEDDLE_TOOLS_SAVED_FACTS_H_
#define HEDDLE_TOOLS_SAVED_FACTS_H_

#include "base/json.h"
#include "rt/saved_program.h"

typedef struct saved_facts {
  text text;
  json_writer out;
} saved_facts;

void saved_facts_begin(saved_facts *f, const char *path);
// Name, signature, sizes, memory and the code that the file has.
void saved_facts_put_file(saved_facts *f, arena *a, const saved_program *saved);
// Of the fastest run.
void saved_facts_put_run(saved_facts *f, int runs, double seconds);
// Adds the error, if `s` is one, and prints the object. Takes and returns ownership of the status.
heddle_status saved_facts_end(saved_facts *f, heddle_status s);

#endif
