// Constants are compared one by one, all else as text.
#include "api/open_kernel.h"

#include <limits.h>
#include <string.h>

#include "prog/program_sizes.h"

// --- numbers

typedef struct opening {
  arena *arena;
  const kernel_plan *kernel;
  const open_samples *samples;
  const open_numbers_reading *readings;
  VEC(int64_t) terms;
  int count;  // of the table
} opening;

static heddle_status depends(const opening *o, const char *how) {
  const instruction *root = o->kernel->outputs[0].root;
  return status_at(HEDDLE_UNIMPLEMENTED, root->where,
                   "the code of the kernel with %s " STR_FMT
                   " depends on a size that is only known when the program runs, %s: such sizes have to be given when "
                   "it is compiled",
                   hlo_op_text(root->opcode), STR_ARG(root->name), how);
}

// A further number of the table.
static heddle_status add_number(opening *o, const int64_t *values) {
  int64_t terms[PROGRAM_MOST_TERMS] = {0};
  if (!open_samples_terms(o->samples, values, terms)) return depends(o, "in a number that is no polynomial of sizes");
  for (int k = 0; k < PROGRAM_MOST_TERMS; k++) vec_push(o->arena, &o->terms, terms[k]);
  o->count++;
  return status_ok();
}

static heddle_status add_bounds(opening *o) {
  for (int k = 0; k < o->readings[0].bound_count; k++) {
    int64_t values[OPEN_SAMPLES_MOST] = {0};
    for (int s = 0; s < open_samples_count(o->samples); s++) values[s] = o->readings[s].bounds[k];
    TRY(add_number(o, values));
  }
  return status_ok();
}

static bool differs(const opening *o, int constant) {
  for (int s = 1; s < open_samples_count(o->samples); s++)
    if (!str_equal(o->readings[s].constants[constant].text, o->readings[0].constants[constant].text)) return true;
  return false;
}

static heddle_status add_lanes(opening *o, int constant) {
  const int count = o->readings[0].constants[constant].lane_count;
  for (int s = 0; s < open_samples_count(o->samples); s++)
    if (count < 0 || o->readings[s].constants[constant].lane_count != count)
      return depends(o, "in what no table of sizes holds");
  for (int lane = 0; lane < count; lane++) {
    int64_t values[OPEN_SAMPLES_MOST] = {0};
    for (int s = 0; s < open_samples_count(o->samples); s++) values[s] = o->readings[s].constants[constant].lanes[lane];
    TRY(add_number(o, values));
  }
  return status_ok();
}

static heddle_status compare_all_else(const opening *o) {
  const open_numbers_reading *first = &o->readings[0];
  for (int s = 1; s < open_samples_count(o->samples); s++) {
    const open_numbers_reading *r = &o->readings[s];
    if (r->constant_count != first->constant_count || r->bound_count != first->bound_count ||
        !str_equal(r->text, first->text))
      return depends(o, "in more than numbers");
  }
  return status_ok();
}

heddle_status open_kernel_open(arena *a, MlirOperation module, const kernel_plan *kernel, const open_samples *samples,
                               const open_numbers_reading *readings, open_kernel_table *out) {
  opening o = {.arena = a, .kernel = kernel, .samples = samples, .readings = readings};
  TRY(compare_all_else(&o));
  TRY(add_bounds(&o));
  int *places = arena_array(a, int, readings[0].constant_count);
  for (int k = 0; k < readings[0].constant_count; k++) {
    places[k] = differs(&o, k) ? o.count : -1;
    if (places[k] >= 0) TRY(add_lanes(&o, k));
  }
  const char *hindrance = open_numbers_replace(a, module, kernel->name, places);
  if (hindrance) return depends(&o, hindrance);
  *out = (open_kernel_table){o.count, o.terms.data};
  return status_ok();
}

static const int64_t *numbers_of(arena *a, const open_kernel_table *t, const open_samples *samples, int sample) {
  int64_t *numbers = arena_array(a, int64_t, t->count), symbols[PROGRAM_MOST_SYMBOLS];
  const program_sizes sizes = {.symbol_count = samples->symbol_count, .degree = samples->degree};
  for (int k = 0; k < samples->symbol_count; k++) symbols[k] = open_samples_stand_in(samples, sample, k);
  for (int k = 0; k < t->count; k++)
    numbers[k] = program_sizes_value(&sizes, &t->terms[k * PROGRAM_MOST_TERMS], symbols);
  return numbers;
}

const program_table *open_kernel_tables(arena *a, const open_kernel_table *tables, int count,
                                        const open_samples *samples, int sample) {
  program_table *out = arena_array(a, program_table, count);
  for (int k = 0; k < count; k++) out[k] = (program_table){tables[k].count, numbers_of(a, &tables[k], samples, sample)};
  return out;
}

open_kernel_table open_kernel_table_copy(arena *a, const open_kernel_table *from) {
  const int count = from->count * PROGRAM_MOST_TERMS;
  int64_t *terms = arena_array(a, int64_t, count);
  for (int k = 0; k < count; k++) terms[k] = from->terms[k];
  return (open_kernel_table){from->count, terms};
}

// --- as bytes

void open_kernel_table_write(const open_kernel_table *table, text *out) {
  const int64_t count = table->count;
  text_append(out, (str){(const char *)&count, sizeof count});
  text_append(out, (str){(const char *)table->terms, (size_t)count * PROGRAM_MOST_TERMS * sizeof *table->terms});
}

bool open_kernel_table_read(arena *a, str *bytes, open_kernel_table *out) {
  const size_t each = PROGRAM_MOST_TERMS * sizeof(int64_t);
  int64_t count = 0;
  if (bytes->size < sizeof count) return false;
  memcpy(&count, bytes->data, sizeof count);
  const size_t left = bytes->size - sizeof count;
  if (count < 0 || count > INT_MAX / PROGRAM_MOST_TERMS || (size_t)count > left / each) return false;
  int64_t *terms = arena_array(a, int64_t, count *PROGRAM_MOST_TERMS);
  if (count > 0) memcpy(terms, bytes->data + sizeof count, (size_t)count * each);
  *out = (open_kernel_table){(int)count, terms};
  *bytes = (str){bytes->data + sizeof count + (size_t)count * each, left - (size_t)count * each};
  return true;
}
