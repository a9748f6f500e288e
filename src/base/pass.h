// Passes over a unit of code, and the one driver that runs them: over HLO modules (src/opt) and over MLIR (src/lower).
//
// A pass is one file with one const struct. It says what it is called and what it does, and why it stands where it
// stands; its room's passes.h declares it, and its room's pipeline names it at each place where it runs.
#ifndef HEDDLE_BASE_PASS_H_
#define HEDDLE_BASE_PASS_H_

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

typedef enum pass_use {
  PASS_NEEDED,     // what comes behind takes only what it leaves
  PASS_IMPROVES,   // what comes behind takes more: the code is better for it
  PASS_FOLDS,      // the same, by evaluating operations while compiling
  PASS_ON_REQUEST  // in no pipeline: for targets that lack the operation, and for those who ask
} pass_use;

// What a pass gets beside its unit.
typedef struct pass_context {
  arena *scratch;  // the driver empties it behind each pass
  void *given;     // what a room gives to all of its passes; null in opt, a lower_context in lower
  bool changed;    // to be set by a pass that changes the unit; where a pass cannot know, see pass_unit_kind
} pass_context;

typedef struct pass {
  const char *name;          // as command lines spell it: "call-inliner"
  const char *summary;       // what it does, for lists
  const char *order_reason;  // what it needs, and why it stands where it stands
  pass_use use;
  heddle_status (*run)(pass_context *context, void *unit);  // in place
} pass;

// What the driver has to know of the code that passes work on.
typedef struct pass_unit_kind {
  const char *noun;      // what errors call a pass of it: "HLO pass"
  const char *title[2];  // in front of a pass's name and behind it, above a print
  void (*print)(const void *unit, text *out);
  heddle_status (*verify)(void *unit);
  // Brings what a pass has left in order, and says what it reported without failing.
  heddle_status (*settle)(pass_context *context, void *unit);
  // Whether its passes say what they change. If not, all may have, and who wants to know has prints compared.
  bool tells;
  bool needs_room;  // whether its passes belong to a library that must not run out of memory
} pass_unit_kind;

// Somebody who wants to see the unit.
typedef struct pass_watcher {
  const pass_unit_kind *kind;  // null: whatever it is
  const char *after;           // behind these passes: "NAME,NAME"; null: none
  bool all;                    // behind each
  bool changes;                // behind each that changed it
  bool first;                  // and once in front of all passes, as pass null
  void (*see)(void *argument, const pass *p, const pass_unit_kind *kind, const void *unit);  // null: standard error
  void *argument;
  struct pass_watcher *next;
} pass_watcher;

enum { PASS_TIMES_MAX = 256 };

// How often a pass ran and how long that took.
typedef struct pass_time {
  const pass *pass;
  double seconds;
  int runs, changes;  // changes: -1 where they are not known
} pass_time;

// What tools ask of the driver. One may serve several runs, of units of both kinds: it goes on counting.
typedef struct pass_control {
  pass_watcher *watchers;
  const char *until;  // the last pass to run; null: none is
  int bisect;         // only so many passes run; < 0: all
  bool keeps_needed;  // passes that are needed run behind them, too, and only the others count
  bool time;          // whether to fill the table
  int counted;        // passes counted so far
  pass_time times[PASS_TIMES_MAX];
  int time_count;
} pass_control;

#define PASS_CONTROL_DEFAULT {.bisect = -1}

// Runs the passes, which end with null, in order. Between two it looks whether the call is over; behind each it empties
// the scratch arena, and settles and, in debug builds, verifies the unit (optimized builds verify once, at the end:
// behind each pass it would take as long as the passes). Errors name the pass. `control` may be null.
heddle_status pass_run(const pass_unit_kind *kind, void *unit, const pass *const *passes, void *given,
                       pass_control *control);

// One pass as it is, for those who do what it does on their way: the unit is neither settled nor verified.
heddle_status pass_apply(const pass *p, void *unit);

// In a list that ends with null; null if there is none of the name.
const pass *pass_find(const pass *const *passes, str name);

// Whether runs over units of this kind have to come one after the other: somebody watches or counts.
bool pass_control_orders(const pass_control *control, const pass_unit_kind *kind);
void pass_control_add(pass_control *control, pass_watcher *watcher);

// On standard error, as watchers without a function of their own get it.
void pass_show(const pass_unit_kind *kind, const pass *p, str printed);

// The table, a line for each pass in the order in which they first ran.
void pass_times_print(FILE *out, const pass_control *control);
// A pass in a list for help texts: what it does with a note behind it, whether it is needed, why it stands where it
// stands. `dash` stands in front of the name.
void pass_print_entry(FILE *out, const char *dash, const pass *p, const char *note);

#endif
