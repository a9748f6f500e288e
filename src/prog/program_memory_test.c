// What lives at a thunk, against its definition: of random programs with loops, run turn by turn, a byte counts where a
// thunk touches it and where a later thunk reads it before one writes it; in any run, however many turns loops take.
#include "prog/program_memory.h"

#include "base/testing.h"
#include "base/vec.h"

enum { PROGRAMS = 2000, MOST_SLICES = 6, BYTES = 24, MOST_TURNS = 3, RUNS = 60 };

typedef struct drawn {
  arena *arena;
  uint64_t seed;
  program program;
  VEC(const program_thunk *) leaves;  // as they run
  ptr_map lived;                      // thunk: uint32_t *, a bit for each byte
} drawn;

static int draw(drawn *d, int least, int most) {
  d->seed = d->seed * 6364136223846793005u + 1442695040888963407u;
  return least + (int)((d->seed >> 33) % (uint64_t)(most - least + 1));
}

static const int *draw_slices(drawn *d, int *count) {
  *count = draw(d, 0, 2);
  int *all = arena_array(d->arena, int, *count);
  for (int k = 0; k < *count; k++) all[k] = draw(d, 0, d->program.slice_count - 1);
  return all;
}

static program_sequence draw_sequence(drawn *d, int depth);

static const program_thunk *draw_thunk(drawn *d, int depth) {
  program_thunk *t = arena_new(d->arena, program_thunk);
  *t = (program_thunk){.kind = THUNK_COPY, .name = "t", .resident_bytes = draw(d, 0, 5)};
  if (depth == 0 || draw(d, 0, 3)) {
    t->reads = draw_slices(d, &t->read_count);
    t->writes = draw_slices(d, &t->write_count);
    return t;
  }
  program_sequence *body = arena_new(d->arena, program_sequence);
  *body = draw_sequence(d, depth - 1);
  t->kind = THUNK_FOR;
  t->trip_count = MOST_TURNS;
  t->sequence_count = 1;
  t->sequences = body;
  return t;
}

static program_sequence draw_sequence(drawn *d, int depth) {
  const int count = draw(d, 1, 4);
  const program_thunk **thunks = arena_array(d->arena, const program_thunk *, count);
  for (int k = 0; k < count; k++) thunks[k] = draw_thunk(d, depth);
  return (program_sequence){.count = count, .thunks = thunks};
}

static void draw_program(drawn *d) {
  static program_allocation allocations[] = {{.kind = PROGRAM_TEMPORARY, .bytes = BYTES},
                                             {.kind = PROGRAM_PARAMETER, .bytes = BYTES}};
  const int count = draw(d, 1, MOST_SLICES);
  program_slice *slices = arena_array(d->arena, program_slice, count);
  for (int k = 0; k < count; k++) {
    const int begin = draw(d, 0, BYTES - 1);
    slices[k] = (program_slice){.allocation = draw(d, 0, 4) == 0, .offset = begin, .bytes = draw(d, 1, BYTES - begin)};
  }
  d->program = (program){.name = "m", .allocation_count = 2, .allocations = allocations};
  d->program.slice_count = count;
  d->program.slices = slices;
  d->program.entry = draw_sequence(d, 2);
}

static void run(drawn *d, const program_sequence *s) {
  for (int k = 0; k < s->count; k++) {
    const program_thunk *t = s->thunks[k];
    const int turns = t->kind == THUNK_FOR ? draw(d, 1, MOST_TURNS) : 0;
    for (int turn = 0; turn < turns; turn++) run(d, &t->sequences[0]);
    if (t->kind != THUNK_FOR) vec_push(d->arena, &d->leaves, t);
  }
}

static bool touches(const drawn *d, int count, const int *slices, int byte) {
  for (int k = 0; k < count; k++) {
    const program_slice *s = &d->program.slices[slices[k]];
    if (s->allocation == 0 && byte >= s->offset && byte < s->offset + s->bytes) return true;
  }
  return false;
}

static bool lives(const drawn *d, int at, int byte) {
  const program_thunk *t = d->leaves.data[at];
  if (touches(d, t->read_count, t->reads, byte) || touches(d, t->write_count, t->writes, byte)) return true;
  for (int k = at + 1; k < d->leaves.size; k++) {
    const program_thunk *next = d->leaves.data[k];
    if (touches(d, next->read_count, next->reads, byte)) return true;
    if (touches(d, next->write_count, next->writes, byte)) return false;
  }
  return false;
}

static void note_run(drawn *d) {
  d->leaves.size = 0;
  run(d, &d->program.entry);
  for (int k = 0; k < d->leaves.size; k++) {
    uint32_t *bits = ptr_map_get(&d->lived, d->leaves.data[k]);
    if (!bits) {
      bits = arena_new(d->arena, uint32_t);
      ptr_map_put(d->arena, &d->lived, d->leaves.data[k], bits);
    }
    for (int b = 0; b < BYTES; b++) *bits |= lives(d, k, b) ? (uint32_t)1 << b : 0;
  }
}

static void test_random_programs(void **state) {
  (void)state;
  for (int number = 0; number < PROGRAMS; number++) {
    drawn d = {.arena = arena_create(), .seed = (uint64_t)number * 0x9e3779b97f4a7c15u + 1};
    program_memory memory;
    draw_program(&d);
    for (int k = 0; k < RUNS; k++) note_run(&d);
    program_memory_find(d.arena, &d.program, &memory);
    for (int k = 0; k < d.leaves.size; k++) {
      const program_thunk *t = d.leaves.data[k];
      const uint32_t *bits = ptr_map_get(&d.lived, t);
      const int64_t found = program_memory_of(&memory, t), wanted = t->resident_bytes + __builtin_popcount(*bits);
      if (found != wanted)
        fail_msg("program %d, thunk %d: found %d bytes, wanted %d", number, k, (int)found, (int)wanted);
    }
    arena_destroy(d.arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_programs)};
  return cmocka_run_group_tests_name("prog/program_memory", tests, NULL, NULL);
}
