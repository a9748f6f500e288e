// Ctrl-C ends a tool as a cancelled call does: what it has taken is given back, no half-written file stays, and the
// process ends with the status that shells know of interrupted ones.
#ifndef HEDDLE_TOOLS_INTERRUPT_H_
#define HEDDLE_TOOLS_INTERRUPT_H_

// From now on SIGINT and SIGTERM cancel whatever the calling thread works for (base/call.h). A second one ends the
// process at once. Once for a process.
void interrupt_watch(void);

// The exit status of a process that a signal has interrupted since: 130 of SIGINT, 143 of SIGTERM; 0: none has.
int interrupt_status(void);

#endif
