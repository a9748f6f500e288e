// The processes of one run: a grid of replicas and partitions whose members meet in collectives and send to each other.
//
// One process is the plain case and costs nothing: it runs on the caller's thread and meets only itself. More of them
// have a thread each, of which exactly one runs at a time: a process gives up its turn only when it waits or ends, and
// the turn goes to the next one that can go on. So nothing here needs a lock of its own, and every run is the same.
#ifndef HEDDLE_EVAL_PARALLEL_H_
#define HEDDLE_EVAL_PARALLEL_H_

#include "eval/interpreter.h"

typedef struct process_grid process_grid;

struct process {
  process_grid *grid;
  int id;  // replica * partitions + partition
  int replica, partition;
};

// `feeds` may be null; `depth` is the number of calls nested around the grid.
process_grid *process_grid_create(eval_feeds *feeds, int replicas, int partitions, int depth);
void process_grid_destroy(process_grid *g);
process *process_grid_member(process_grid *g, int id);
int process_grid_replicas(const process_grid *g);
int process_grid_partitions(const process_grid *g);
eval_feeds *process_grid_feeds(process_grid *g);

typedef struct process_program {
  const computation *program;
  value *const *arguments;  // borrowed
  value *result;            // set by process_grid_run: a reference, to be released before the grid is destroyed
} process_program;

// Runs programs[id] as process id, for all of the grid, once. The error is that of the process which failed first; then
// there are no results.
heddle_status process_grid_run(process_grid *g, const eval_options *options, dynamic_shapes *shapes,
                               process_program *programs);

// Where the members of a group bring values: values[member][k] is what members[member] brought as operand k.
typedef struct meeting {
  const instruction *instruction;  // of the first to come
  int64_t channel;
  int size, arrived, left;
  const int *members;  // process ids in the group's order
  int operand_count;
  value ***values;  // an entry is null until the member came
  value **shared;   // by operand: what one member has made for all that run the same instruction, or null
  bool is_complete;
} meeting;

// Waits until all members have come to an instruction of this opcode and channel. They must bring the same shapes.
// Leave the meeting when its values have been read.
heddle_status process_meet(interpreter *in, const instruction *i, const int *members, int size, int operand_count,
                           value *const *operands, meeting **out);
void process_leave(interpreter *in, meeting *m);

// Puts a value (retained) at the end of a channel's queue. A channel has a queue for each receiver that senders name,
// and one, with receiver -1, for whoever comes first.
void process_send(interpreter *in, int64_t channel, int receiver, value *v);
// The place in the queue that a process_receive with it will read.
int64_t process_reserve(interpreter *in, int64_t channel, int receiver);
// Waits for that value to be sent; `out` is a new reference.
heddle_status process_receive(interpreter *in, const instruction *i, int64_t channel, int receiver, int64_t position,
                              value **out);

#endif
