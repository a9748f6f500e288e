// Loops that never end are told from loops that take long.
//
// What a condition hangs on is a part of the loop's state: the elements that it reads, those that the body makes these
// from, and so on. Where all of that follows from the state alone, a loop goes round for ever once this part comes back
// as it was in a turn before.
#ifndef HEDDLE_EVAL_LOOP_WATCH_H_
#define HEDDLE_EVAL_LOOP_WATCH_H_

#include "eval/interpreter.h"

typedef struct loop_watch {
  const instruction *loop;
  const int_list *deciding;  // elements of the state; null: the loop is not watched
  value **seen;              // theirs, as they were in turn `seen_turn`
  int64_t turn, seen_turn;
} loop_watch;

void loop_watch_start(interpreter *in, const instruction *loop, loop_watch *out);
// To be called before each turn. HEDDLE_INVALID, at the loop, if it never ends.
heddle_status loop_watch_turn(loop_watch *w, const value *state);
void loop_watch_finish(loop_watch *w);

#endif
