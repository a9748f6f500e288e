// Implements the turns, meetings and channels of processes. All state is touched only by the process whose turn it is;
// the lock guards nothing but the turn itself.
#include "eval/parallel.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/call.h"
#include "eval/dynamic_size.h"

// A thread's stack: so much for libraries, and more for each level of calls, INTERPRETER_MAX_DEPTH at most.
enum { STACK_BYTES = 2 << 20, LEVEL_BYTES = 16 << 10 };

typedef struct message {
  value *value;  // null once received
  bool is_sent;
} message;

typedef struct channel {
  int64_t id;
  int receiver;
  int64_t sent, reserved;   // places filled and given out
  VEC(message *) messages;  // by place
} channel;

// What a thread needs to run its process, and how it went.
typedef struct worker {
  process_grid *grid;
  process *process;
  process_program *program;
  interpreter *in;  // of the grid
  const bool *waits_for;
  bool is_done;
  heddle_status status;
  const call_context *call;
  pthread_t thread;
  pthread_cond_t has_turn;
} worker;

struct process_grid {
  arena *arena;
  eval_feeds *feeds;
  int replicas, partitions, count, depth;
  process *processes;
  interpreter *interpreters;  // null before the run; results live in their pools
  worker *workers;            // null while processes run on the caller's thread
  pthread_mutex_t lock;
  int turn;                 // whose; -1 before the first and after the last
  int first_failed;         // -1: none
  VEC(meeting *) meetings;  // not yet complete
  VEC(channel *) channels;
};

process_grid *process_grid_create(eval_feeds *feeds, int replicas, int partitions, int depth) {
  arena *a = arena_create();
  process_grid *g = arena_new(a, process_grid);
  g->arena = a;
  g->feeds = feeds;
  g->replicas = replicas;
  g->partitions = partitions;
  g->count = replicas * partitions;
  g->depth = depth;
  g->first_failed = -1;
  g->turn = -1;
  g->processes = arena_array(a, process, g->count);
  for (int k = 0; k < g->count; k++) g->processes[k] = (process){g, k, k / partitions, k % partitions};
  return g;
}

static void meeting_free(meeting *m) {
  for (int k = 0; k < m->size; k++)
    for (int j = 0; m->values[k] && j < m->operand_count; j++) value_release(m->values[k][j]);
  for (int j = 0; j < m->operand_count; j++) value_release(m->shared[j]);
  free(m);
}

void process_grid_destroy(process_grid *g) {
  for (int k = 0; k < g->meetings.size; k++) meeting_free(g->meetings.data[k]);
  for (int k = 0; k < g->channels.size; k++)
    for (int j = 0; j < g->channels.data[k]->messages.size; j++)
      value_release(g->channels.data[k]->messages.data[j]->value);
  for (int k = 0; g->interpreters && k < g->count; k++) interpreter_finish(&g->interpreters[k]);
  arena_destroy(g->arena);
}

process *process_grid_member(process_grid *g, int id) { return &g->processes[id]; }
int process_grid_replicas(const process_grid *g) { return g->replicas; }
int process_grid_partitions(const process_grid *g) { return g->partitions; }
eval_feeds *process_grid_feeds(process_grid *g) { return g->feeds; }

static bool can_go_on(const worker *w) { return !w->is_done && (!w->waits_for || *w->waits_for); }

// Gives the turn to the next process after `from` that can go on. If none can, whoever still waits does so in vain: the
// next of these gets the turn and will see it.
static void pass_turn(process_grid *g, int from) {
  int next = -1, stuck = -1;
  for (int k = 1; k <= g->count; k++) {
    const int id = (from + k) % g->count;
    if (next < 0 && can_go_on(&g->workers[id])) next = id;
    if (stuck < 0 && !g->workers[id].is_done) stuck = id;
  }
  g->turn = next >= 0 ? next : stuck;
  if (g->turn >= 0) pthread_cond_signal(&g->workers[g->turn].has_turn);
}

static void await_turn(process_grid *g, worker *w) {
  while (g->turn != w->process->id) pthread_cond_wait(&w->has_turn, &g->lock);
}

// Whether it became true; false when no other process can make it so.
static bool process_wait(process *p, const bool *ready) {
  process_grid *g = p->grid;
  if (*ready || !g->workers) return *ready;
  worker *w = &g->workers[p->id];
  pthread_mutex_lock(&g->lock);
  w->waits_for = ready;
  pass_turn(g, p->id);
  await_turn(g, w);
  w->waits_for = NULL;
  pthread_mutex_unlock(&g->lock);
  return *ready;
}

static heddle_status run_program(worker *w) {
  const computation *c = w->program->program;
  return interpreter_call(w->in, c, w->program->arguments, c->where, &w->program->result);
}

static void *work(void *argument) {
  worker *w = argument;
  process_grid *g = w->grid;
  call_enter(w->call);
  pthread_mutex_lock(&g->lock);
  await_turn(g, w);
  pthread_mutex_unlock(&g->lock);
  w->status = run_program(w);
  pthread_mutex_lock(&g->lock);
  w->is_done = true;
  if (!status_is_ok(w->status) && g->first_failed < 0) g->first_failed = w->process->id;
  pass_turn(g, w->process->id);
  pthread_mutex_unlock(&g->lock);
  return NULL;
}

// How deep the calls of a computation nest, with itself.
static int depth_of(arena *a, ptr_map *known, const computation *c, int limit) {
  const int *found = ptr_map_get(known, c);
  if (found || limit == 0) return found ? *found : 0;
  int below = 0;
  for (int k = 0; k < c->instructions.size; k++)
    for (int j = 0; j < c->instructions.data[k]->called_count; j++) {
      const int depth = depth_of(a, known, c->instructions.data[k]->called[j], limit - 1);
      if (below < depth) below = depth;
    }
  int *depth = arena_new(a, int);
  *depth = below + 1;
  ptr_map_put(a, known, c, depth);
  return *depth;
}

// Many processes share an address space, which a deep program's stack for each would fill.
static size_t stack_bytes(const process_grid *g) {
  arena *scratch = arena_create();
  ptr_map known = {0};
  int deepest = 0;
  for (int k = 0; k < g->count; k++) {
    const int depth = depth_of(scratch, &known, g->workers[k].program->program, INTERPRETER_MAX_DEPTH);
    if (deepest < depth) deepest = depth;
  }
  arena_destroy(scratch);
  return STACK_BYTES + (size_t)deepest * LEVEL_BYTES;
}

// Threads for all processes; returns how many could be had. The others count as done.
static int start_threads(process_grid *g) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes)) return 0;
  int started = 0;
  if (!pthread_attr_setstacksize(&attributes, stack_bytes(g)))
    while (started < g->count && !pthread_create(&g->workers[started].thread, &attributes, work, &g->workers[started]))
      started++;
  pthread_attr_destroy(&attributes);
  return started;
}

static heddle_status run_threads(process_grid *g) {
  pthread_mutex_init(&g->lock, NULL);
  for (int k = 0; k < g->count; k++) pthread_cond_init(&g->workers[k].has_turn, NULL);
  pthread_mutex_lock(&g->lock);
  const int started = start_threads(g);
  for (int k = started; k < g->count; k++) g->workers[k].is_done = true;
  pass_turn(g, g->count - 1);
  pthread_mutex_unlock(&g->lock);
  for (int k = 0; k < started; k++) pthread_join(g->workers[k].thread, NULL);
  for (int k = 0; k < g->count; k++) pthread_cond_destroy(&g->workers[k].has_turn);
  pthread_mutex_destroy(&g->lock);
  if (started == g->count) return status_ok();
  return status_error(HEDDLE_OUT_OF_MEMORY, "no threads for %d processes", g->count);
}

heddle_status process_grid_run(process_grid *g, const eval_options *options, dynamic_shapes *shapes,
                               process_program *programs) {
  worker *workers = arena_array(g->arena, worker, g->count);
  g->interpreters = arena_array(g->arena, interpreter, g->count);
  for (int k = 0; k < g->count; k++) {
    interpreter_start(&g->interpreters[k], options, &g->processes[k], shapes);
    g->interpreters[k].depth = g->depth;
    workers[k] = (worker){
        .grid = g, .process = &g->processes[k], .program = &programs[k], .in = &g->interpreters[k], .call = call_now};
  }
  if (g->count == 1) return run_program(&workers[0]);
  g->workers = workers;
  heddle_status status = run_threads(g);
  g->workers = NULL;
  for (int k = 0; k < g->count; k++) {
    if (k == g->first_failed && status_is_ok(status)) status = workers[k].status;
    else heddle_status_free(workers[k].status);
  }
  for (int k = 0; k < g->count && !status_is_ok(status); k++) {
    value_release(programs[k].result);
    programs[k].result = NULL;
  }
  return status;
}

static bool is_meeting_of(const meeting *m, const instruction *i, const int *members, int size) {
  return m->instruction->opcode == i->opcode && m->channel == i->attributes->channel_id && m->size == size &&
         memcmp(m->members, members, (size_t)size * sizeof *members) == 0;
}

// Null if there is no memory.
static meeting *meeting_create(const instruction *i, const int *members, int size, int operand_count) {
  const size_t lists = (size_t)size * sizeof(value **), entries = (size_t)(size + 1) * (size_t)operand_count;
  meeting *m = calloc(1, sizeof *m + lists + entries * sizeof(value *) + (size_t)size * sizeof *members);
  if (!m) return NULL;
  m->instruction = i;
  m->channel = i->attributes->channel_id;
  m->size = size;
  m->operand_count = operand_count;
  m->values = (value ***)(m + 1);
  m->shared = (value **)(m->values + size) + (size_t)size * (size_t)operand_count;
  int *copied = (int *)((char *)(m + 1) + lists + entries * sizeof(value *));
  memcpy(copied, members, (size_t)size * sizeof *members);
  m->members = copied;
  return m;
}

static heddle_status check_arrival(interpreter *in, const meeting *m, const instruction *i, int operand_count,
                                   value *const *operands) {
  for (int k = 0; k < m->size; k++) {
    if (!m->values[k]) continue;
    bool fits = m->operand_count == operand_count;
    for (int j = 0; fits && j < operand_count; j++) fits = shape_compatible(m->values[k][j]->shape, operands[j]->shape);
    if (fits) return status_ok();
    return status_at(HEDDLE_INVALID, i->where, "process %d brings other shapes to %s " STR_FMT " than process %d",
                     in->process->id, hlo_op_text(i->opcode), STR_ARG(i->name), m->members[k]);
  }
  return status_ok();
}

static heddle_status missing_members(interpreter *in, const meeting *m, const instruction *i) {
  text list = {0};
  for (int k = 0; k < m->size; k++)
    if (!m->values[k]) text_printf(&list, "%s%d", list.size ? ", " : "", m->members[k]);
  heddle_status status =
      status_at(HEDDLE_INVALID, i->where, "process %d waits at %s " STR_FMT " for processes that never come: %s",
                in->process->id, hlo_op_text(i->opcode), STR_ARG(i->name), text_cstr(&list));
  text_free(&list);
  return status;
}

static void arrive(meeting *m, int at, int operand_count, value *const *operands) {
  m->values[at] = (value **)(m->values + m->size) + (size_t)at * (size_t)operand_count;
  for (int j = 0; j < operand_count; j++) m->values[at][j] = value_retain(operands[j]);
  m->is_complete = ++m->arrived == m->size;
}

// The open meeting of these members that this one has not come to yet, or a new one. Null if there is no memory.
static meeting *find_meeting(process_grid *g, const instruction *i, const int *members, int size, int at,
                             int operand_count) {
  for (int k = 0; k < g->meetings.size; k++) {
    meeting *m = g->meetings.data[k];
    if (is_meeting_of(m, i, members, size) && !m->values[at]) return m;
  }
  meeting *m = meeting_create(i, members, size, operand_count);
  if (m) vec_push(g->arena, &g->meetings, m);
  return m;
}

static void close_meeting(process_grid *g, meeting *m) {
  int kept = 0;
  for (int k = 0; k < g->meetings.size; k++)
    if (g->meetings.data[k] != m) g->meetings.data[kept++] = g->meetings.data[k];
  g->meetings.size = kept;
}

heddle_status process_meet(interpreter *in, const instruction *i, const int *members, int size, int operand_count,
                           value *const *operands, meeting **out) {
  process_grid *g = in->process->grid;
  int at = 0;
  while (members[at] != in->process->id) at++;
  meeting *m = find_meeting(g, i, members, size, at, operand_count);
  if (!m) return status_at(HEDDLE_OUT_OF_MEMORY, i->where, "no memory for %d processes to meet", size);
  TRY(check_arrival(in, m, i, operand_count, operands));
  arrive(m, at, operand_count, operands);
  if (m->is_complete) close_meeting(g, m);
  if (!process_wait(in->process, &m->is_complete)) return missing_members(in, m, i);
  *out = m;
  return status_ok();
}

void process_leave(interpreter *in, meeting *m) {
  (void)in;
  if (++m->left == m->size) meeting_free(m);
}

static channel *find_channel(process_grid *g, int64_t id, int receiver) {
  for (int k = 0; k < g->channels.size; k++)
    if (g->channels.data[k]->id == id && g->channels.data[k]->receiver == receiver) return g->channels.data[k];
  channel *c = arena_new(g->arena, channel);
  c->id = id;
  c->receiver = receiver;
  vec_push(g->arena, &g->channels, c);
  return c;
}

static message *message_at(process_grid *g, channel *c, int64_t position) {
  while (c->messages.size <= position) vec_push(g->arena, &c->messages, arena_new(g->arena, message));
  return c->messages.data[position];
}

void process_send(interpreter *in, int64_t id, int receiver, value *v) {
  process_grid *g = in->process->grid;
  channel *c = find_channel(g, id, receiver);
  message *m = message_at(g, c, c->sent++);
  m->value = value_retain(v);
  m->is_sent = true;
}

int64_t process_reserve(interpreter *in, int64_t id, int receiver) {
  return find_channel(in->process->grid, id, receiver)->reserved++;
}

heddle_status process_receive(interpreter *in, const instruction *i, int64_t id, int receiver, int64_t position,
                              value **out) {
  process_grid *g = in->process->grid;
  channel *c = find_channel(g, id, receiver);
  if (position < 0 || position >= c->reserved)
    return status_at(HEDDLE_INVALID, i->where, "%s " STR_FMT " finishes what never began", hlo_op_text(i->opcode),
                     STR_ARG(i->name));
  message *m = message_at(g, c, position);
  if (!process_wait(in->process, &m->is_sent))
    return status_at(HEDDLE_INVALID, i->where,
                     "process %d waits at %s " STR_FMT " for what nobody sends on channel %lld", in->process->id,
                     hlo_op_text(i->opcode), STR_ARG(i->name), (long long)id);
  if (!m->value)
    return status_at(HEDDLE_INVALID, i->where, "%s " STR_FMT " finished twice", hlo_op_text(i->opcode),
                     STR_ARG(i->name));
  *out = m->value;
  m->value = NULL;
  return status_ok();
}
