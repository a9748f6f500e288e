// The custom call `interpreter.run_parallel`, which StableHLO's tests use: a grid of processes inside a program.
//
// backend_config is the text "replicas=R partitions=P", with " infeed=N" where the processes are fed. The first R * P
// called computations are the processes' programs, replica by replica; then come N computations without parameters,
// whose results are fed in this order. The operands are the processes' arguments one after the other; the results, all
// processes' results, those in tuples one by one.
#include "eval/custom_call.h"
#include "eval/evaluate.h"
#include "eval/parallel.h"

typedef struct parallel_call {
  const instruction *instruction;
  arena *scratch;
  int replicas, partitions, count, infeeds;
  process_program *programs;
  VEC(value *) results;  // borrowed
} parallel_call;

// The number behind `name=`; `missing` if there is none.
static int64_t number_after(const instruction *i, const char *name, int64_t missing) {
  const str config = i->attributes->backend_config;
  const size_t length = strlen(name);
  for (size_t k = 0; k + length < config.size; k++) {
    if (memcmp(config.data + k, name, length) != 0 || config.data[k + length] != '=') continue;
    if (k && config.data[k - 1] != ' ') continue;
    int64_t number = 0;
    for (k += length + 1; k < config.size && config.data[k] >= '0' && config.data[k] <= '9'; k++)
      if (number <= EVAL_MAX_PROCESSES) number = number * 10 + (config.data[k] - '0');
    return number;
  }
  return missing;
}

static heddle_status read_grid(parallel_call *p) {
  const instruction *i = p->instruction;
  const int64_t replicas = number_after(i, "replicas", 0), partitions = number_after(i, "partitions", 0);
  const int64_t infeeds = number_after(i, "infeed", 0);
  if (replicas < 1 || partitions < 1 || replicas * partitions > EVAL_MAX_PROCESSES)
    return status_at(HEDDLE_INVALID, i->where, "found %lld replicas of %lld partitions, wanted 1 to %d processes",
                     (long long)replicas, (long long)partitions, EVAL_MAX_PROCESSES);
  if (replicas * partitions + infeeds != i->called_count)
    return status_at(HEDDLE_INVALID, i->where, "found %d computations, wanted %lld processes and %lld to feed them",
                     i->called_count, (long long)(replicas * partitions), (long long)infeeds);
  p->replicas = (int)replicas;
  p->partitions = (int)partitions;
  p->count = (int)(replicas * partitions);
  p->infeeds = (int)infeeds;
  return status_ok();
}

static heddle_status share_arguments(parallel_call *p, value *const *operands) {
  const instruction *i = p->instruction;
  int next = 0;
  p->programs = arena_array(p->scratch, process_program, p->count);
  for (int k = 0; k < p->count; k++) {
    const computation *c = i->called[k];
    bool fits = c->parameters.size <= i->operand_count - next;
    for (int j = 0; fits && j < c->parameters.size; j++)
      fits = shape_compatible(c->parameters.data[j]->shape, i->operands[next + j]->shape);
    if (!fits)
      return status_at(HEDDLE_INVALID, i->where, "the operands from %d do not fit process %d's program " STR_FMT, next,
                       k, STR_ARG(c->name));
    p->programs[k] = (process_program){.program = c, .arguments = operands + next};
    next += c->parameters.size;
  }
  if (next == i->operand_count) return status_ok();
  return status_at(HEDDLE_INVALID, i->where, "found %d operands, wanted %d", i->operand_count, next);
}

static heddle_status run_infeeds(interpreter *in, parallel_call *p, eval_feeds *feeds) {
  const instruction *i = p->instruction;
  literal **fed = arena_array(p->scratch, literal *, p->infeeds);
  for (int k = 0; k < p->infeeds; k++) {
    const computation *c = i->called[p->count + k];
    if (c->parameters.size)
      return status_at(HEDDLE_INVALID, i->where, "computation " STR_FMT " feeds processes but has parameters",
                       STR_ARG(c->name));
    value *v;
    TRY(interpreter_call(in, c, NULL, i->where, &v));
    heddle_status status = value_to_literal(p->scratch, v, v->shape, &fed[k]);
    value_release(v);
    TRY(status);
  }
  feeds->infeed = fed;
  feeds->infeed_count = p->infeeds;
  return status_ok();
}

static void list_results(parallel_call *p) {
  for (int k = 0; k < p->count; k++) {
    value *v = p->programs[k].result;
    if (!shape_is_tuple(v->shape)) vec_push(p->scratch, &p->results, v);
    for (int j = 0; j < v->element_count; j++) vec_push(p->scratch, &p->results, v->elements[j]);
  }
}

static heddle_status collect_results(interpreter *in, parallel_call *p, value **out) {
  const instruction *i = p->instruction;
  list_results(p);
  const bool is_tuple = shape_is_tuple(i->shape);
  bool fits = p->results.size == (is_tuple ? i->shape->tuple_size : 1);
  for (int k = 0; fits && k < p->results.size; k++)
    fits = shape_compatible(p->results.data[k]->shape, is_tuple ? i->shape->elements[k] : i->shape);
  if (!fits)
    return status_at(HEDDLE_INVALID, i->where, "the processes' %d results are not what the call's shape says",
                     p->results.size);
  value **copies = arena_array(p->scratch, value *, p->results.size);
  heddle_status status = status_ok();
  for (int k = 0; k < p->results.size && status_is_ok(status); k++)
    status = value_copy(&in->pool, p->results.data[k], &copies[k]);
  if (status_is_ok(status)) return custom_call_results(in, i, p->results.size, copies, out);
  for (int k = 0; k < p->results.size; k++) value_release(copies[k]);
  return status;
}

static heddle_status run(interpreter *in, parallel_call *p, value *const *operands, value **out) {
  const process_grid *around = in->process->grid;
  if (process_grid_replicas(around) * process_grid_partitions(around) > 1)
    return interpreter_refuse(p->instruction, "processes inside of processes");
  TRY(read_grid(p));
  TRY(share_arguments(p, operands));
  eval_feeds inner = {0}, *feeds = process_grid_feeds(in->process->grid);
  if (p->infeeds) {
    if (feeds) inner = *feeds;
    inner.infeed_taken = 0;
    TRY(run_infeeds(in, p, &inner));
    feeds = &inner;
  }
  const eval_options options = {.max_steps = in->max_steps, .max_bytes = in->pool.max_bytes, .seed = in->seed};
  process_grid *g = process_grid_create(feeds, p->replicas, p->partitions, in->depth + 1);
  heddle_status status = process_grid_run(g, &options, in->shapes, p->programs);
  if (status_is_ok(status)) status = collect_results(in, p, out);
  for (int k = 0; k < p->count; k++) value_release(p->programs[k].result);
  process_grid_destroy(g);
  eval_feeds *outer = process_grid_feeds(in->process->grid);
  if (p->infeeds && outer) outer->outfeed = inner.outfeed;
  return status;
}

heddle_status custom_call_run_parallel(interpreter *in, const instruction *i, value *const *operands, value **out) {
  parallel_call p = {.instruction = i, .scratch = arena_create()};
  heddle_status status = run(in, &p, operands, out);
  arena_destroy(p.scratch);
  return status;
}
