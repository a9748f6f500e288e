// What lives at an operation is found from the program, as a run finds it; what a step touches from the plan.
#include "api/lhlo_limit.h"

#include "prog/program_memory.h"

typedef struct most_taken {
  int64_t bytes;
  const char *name;
  source_location where;
} most_taken;

static void look_at_thunks(const program_memory *memory, const program_sequence *s, most_taken *most) {
  for (int k = 0; k < s->count; k++) {
    const program_thunk *t = s->thunks[k];
    for (int b = 0; b < t->sequence_count; b++) look_at_thunks(memory, &t->sequences[b], most);
    const int64_t bytes = program_memory_of(memory, t);
    if (bytes > most->bytes) *most = (most_taken){bytes, t->name, t->where};
  }
}

static void look_at_steps(arena *a, const lhlo_body *body, most_taken *most) {
  for (int k = 0; k < body->ops.size; k++) {
    const lhlo_op *op = body->ops.data[k];
    for (int b = 0; b < op->body_count; b++) look_at_steps(a, &op->bodies[b], most);
    if (op->touched_bytes <= most->bytes) continue;
    *most = (most_taken){.bytes = op->touched_bytes, .name = "a copy"};
    if (!op->source) continue;
    most->name = arena_printf(a, STR_FMT, STR_ARG(op->source->name));
    most->where = op->source->where;
  }
}

static heddle_status check_level(const memory_limit *limit, memory_level level, const most_taken *most) {
  const int64_t bytes = memory_limit_bytes(limit, level, most->bytes);
  if (most->bytes <= bytes) return status_ok();
  return status_context(status_at(HEDDLE_OUT_OF_MEMORY, most->where, "%s takes %lld bytes of %s, there are %lld",
                                  most->name, (long long)most->bytes, memory_level_name(level), (long long)bytes),
                        "a program that is given as LHLO is counted for --memory-limit and not tiled");
}

heddle_status lhlo_limit_keep(const memory_limit *limit, lhlo_program *p, program *made) {
  arena *scratch = arena_create();
  program_memory memory;
  most_taken most[MEMORY_LEVELS] = {0};
  program_memory_find(scratch, made, &memory);
  look_at_thunks(&memory, &made->entry, &most[MEMORY_DRAM]);
  look_at_steps(scratch, &p->entry, &most[MEMORY_L2]);
  heddle_status s = status_ok();
  for (int level = 0; level < MEMORY_LEVELS && status_is_ok(s); level++) s = check_level(limit, level, &most[level]);
  p->footprint_bytes = most[MEMORY_DRAM].bytes;
  p->step_bytes = most[MEMORY_L2].bytes;
  const int64_t bytes = memory_limit_bytes(limit, MEMORY_DRAM, p->footprint_bytes);
  p->memory_limit = made->memory_limit = bytes == INT64_MAX ? 0 : bytes;
  arena_destroy(scratch);
  return s;
}
