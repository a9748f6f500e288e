// Slices that are the same bytes become one, so that what works in place does so in the runtime, too.
#include "api/object_call.h"

#include <string.h>

#include "api/object_code.h"
#include "api/open_samples.h"
#include "api/save.h"
#include "base/cpu_features.h"
#include "base/vec.h"
#include "lib/draw.h"
#include "prog/program_sizes.h"

// That one call takes (heddle_object_call_sizes).
enum { MOST_PARAMETERS = 64 };

typedef struct calling {
  arena *arena;
  const program *whole;   // its numbers are those of a sample, if sizes are open
  const program *marked;  // the same with what stands for open numbers
  VEC(int) arrays;        // slices of `whole`, each other bytes: parameter k is arrays[k]
  VEC(int) written;       // result k is parameter written[k]
} calling;

// --- which thunks can be handed over

static heddle_status refuse(const program_thunk *t, const char *reason) {
  return status_at(HEDDLE_UNIMPLEMENTED, t->where,
                   "thunk %s is a %s, which only the runtime has, and %s: save the program instead", t->name,
                   program_thunk_kind_name(t->kind), reason);
}

static heddle_status check(const compiled *c, const program_thunk *t) {
  if (t->kind == THUNK_TRANSFER) return refuse(t, "what it sends or receives belongs to the whole run");
  if (t->kind == THUNK_CUSTOM_CALL && draw_is_target(t->custom_call.target))
    return refuse(t, "its random numbers follow from those that the run has drawn before");
  if (strcmp(cpu_target_machine(&c->machine), cpu_features_machine()) != 0)
    return refuse(t, "objects for another machine do without it");
  return status_ok();
}

// --- slices

static bool is_same_memory(const program *p, int one, int other) {
  const program_slice *x = &p->slices[one], *y = &p->slices[other];
  return x->allocation == y->allocation && x->offset == y->offset && x->bytes == y->bytes;
}

static bool overlap(const program *p, int one, int other) {
  const program_slice *x = &p->slices[one], *y = &p->slices[other];
  return x->allocation == y->allocation && x->offset < y->offset + y->bytes && y->offset < x->offset + x->bytes;
}

// The number of the parameter that is the slice's memory.
static int parameter_of(calling *c, int slice) {
  for (int k = 0; k < c->arrays.size; k++)
    if (is_same_memory(c->whole, c->arrays.data[k], slice)) return k;
  vec_push(c->arena, &c->arrays, slice);
  return c->arrays.size - 1;
}

static heddle_status collect(calling *c, const program_thunk *t) {
  for (int k = 0; k < t->write_count; k++) {
    const int parameter = parameter_of(c, t->writes[k]);
    bool is_new = true;
    for (int i = 0; i < c->written.size; i++) {
      is_new = is_new && c->written.data[i] != parameter;
      if (c->written.data[i] != parameter && overlap(c->whole, c->arrays.data[c->written.data[i]], t->writes[k]))
        return refuse(t, "its results overlap");
    }
    if (is_new) vec_push(c->arena, &c->written, parameter);
  }
  for (int k = 0; k < t->read_count; k++) parameter_of(c, t->reads[k]);
  return status_ok();
}

// Slice k of the small program is parameter k, or the result that takes it over.
static int *renumber(calling *c, int count, const int *slices) {
  int *numbers = arena_array(c->arena, int, count);
  for (int k = 0; k < count; k++) numbers[k] = parameter_of(c, slices[k]);
  return numbers;
}

static program_array *renumber_arrays(calling *c, int count, const program_array *arrays) {
  program_array *numbered = arena_array(c->arena, program_array, count);
  for (int k = 0; k < count; k++) {
    numbered[k] = arrays[k];
    numbered[k].slice = parameter_of(c, arrays[k].slice);
  }
  return numbered;
}

// --- the program

static program_value bytes_value(arena *a, int64_t bytes, int donated) {
  int64_t *dims = arena_array(a, int64_t, 2);
  dims[0] = bytes;
  return (program_value){.name = "", .shape = {DTYPE_U8, 1, dims, dims + 1}, .donated_parameter = donated};
}

static int size_count(const calling *c) { return program_sizes_given_count(&c->marked->sizes); }

// What stands for a symbol among the numbers of a marked program.
static int64_t mark_symbol(const calling *c, int symbol) { return INT64_MIN + c->marked->sizes.number_count + symbol; }

static void add_memory(calling *c, program *p) {
  const int count = c->arrays.size, results = c->written.size, sizes = size_count(c);
  program_value *parameters = arena_array(c->arena, program_value, count + sizes);
  program_value *values = arena_array(c->arena, program_value, results);
  program_allocation *allocations = arena_array(c->arena, program_allocation, count + results);
  program_slice *slices = arena_array(c->arena, program_slice, count);
  for (int k = 0; k < count; k++) {
    const int64_t bytes = c->marked->slices[c->arrays.data[k]].bytes;
    parameters[k] = bytes_value(c->arena, bytes, -1);
    allocations[k] = (program_allocation){.kind = PROGRAM_PARAMETER, .number = k, .bytes = bytes};
    slices[k] = (program_slice){.allocation = k, .bytes = bytes};
  }
  for (int k = 0; k < results; k++) {
    const int parameter = c->written.data[k];
    const int64_t bytes = slices[parameter].bytes;
    values[k] = bytes_value(c->arena, bytes, parameter);
    allocations[count + k] = (program_allocation){.kind = PROGRAM_RESULT, .number = k, .bytes = bytes};
    slices[parameter].allocation = count + k;
  }
  for (int k = 0; k < sizes; k++) parameters[count + k] = bytes_value(c->arena, mark_symbol(c, k), -1);
  p->parameter_count = count + sizes;
  p->slice_count = count;
  p->result_count = p->given_result_count = results;
  p->allocation_count = count + results;
  p->parameters = parameters;
  p->results = values;
  p->allocations = allocations;
  p->slices = slices;
}

// A sort may compare by a kernel.
static void add_kernel(calling *c, program_thunk *t, program *p) {
  if (t->kind != THUNK_SORT || t->sort.comparator < 0) return;
  program_kernel *kernel = arena_new(c->arena, program_kernel);
  *kernel = c->whole->kernels[t->sort.comparator];
  p->images = &c->whole->images[kernel->image];
  kernel->image = t->sort.comparator = 0;
  p->kernels = kernel;
  p->kernel_count = p->image_count = 1;
}

static void add_thunk(calling *c, const program_thunk *from, program *p) {
  program_thunk *t = arena_new(c->arena, program_thunk);
  const program_thunk **thunks = arena_new(c->arena, const program_thunk *);
  *t = *from;
  t->reads = renumber(c, from->read_count, from->reads);
  t->writes = renumber(c, from->write_count, from->writes);
  t->operands = renumber_arrays(c, from->operand_count, from->operands);
  t->results = renumber_arrays(c, from->result_count, from->results);
  add_kernel(c, t, p);
  thunks[0] = t;
  p->entry = (program_sequence){1, thunks};
}

static const int *buffers_of(const calling *c) {
  const int arrays = c->arrays.size, parameters = arrays + size_count(c);
  int *buffers = arena_array(c->arena, int, parameters + c->written.size);
  for (int k = 0; k < arrays; k++) buffers[k] = c->arrays.data[k];
  for (int k = arrays; k < parameters; k++) buffers[k] = buffers[0];
  for (int k = 0; k < c->written.size; k++) buffers[parameters + k] = c->arrays.data[c->written.data[k]];
  return buffers;
}

// --- open sizes

typedef struct opening {
  const calling *of;
  int64_t symbols[PROGRAM_MOST_SYMBOLS];  // of a sample
  int number;                             // of the small program
  VEC(program_open_number) open;
} opening;

// The terms of a symbol alone.
static void symbol_terms(const program_sizes *s, int symbol, int64_t *terms) {
  int term = 1;
  for (int k = 0; k < symbol; k++) term *= s->degree + 1;
  terms[term] = 1;
}

// A marked number becomes the one of the sample, which the small program has beside its terms.
static int64_t open_number(void *context, int64_t number) {
  opening *o = context;
  const calling *c = o->of;
  const program_sizes *s = &c->marked->sizes;
  const int64_t *terms = object_code_terms(c->marked, number);
  const int64_t symbol = number - mark_symbol(c, 0);
  program_open_number x = {.number = o->number++};
  if (terms) memcpy(x.terms, terms, sizeof x.terms);
  else if (number < 0 && symbol >= 0 && symbol < size_count(c)) symbol_terms(s, (int)symbol, x.terms);
  else return number;
  vec_push(c->arena, &o->open, x);
  return program_sizes_value(s, x.terms, o->symbols);
}

static const program *with_sizes(const calling *c, const compiled *of, const program *small) {
  opening o = {.of = c};
  const program_sizes *s = &c->marked->sizes;
  if (s->symbol_count == 0) return small;
  for (int k = 0; k < s->symbol_count; k++) o.symbols[k] = open_samples_stand_in(&of->samples->stand_ins, 0, k);
  program *opened = program_sizes_map(c->arena, small, open_number, &o);
  opened->sizes = *s;
  opened->sizes.check_count = 0;  // the workspace's function has asked them
  opened->sizes.number_count = o.open.size;
  opened->sizes.numbers = o.open.data;
  return opened;
}

heddle_status object_call_make(arena *a, const compiled *c, const program *marked, const program_thunk *t,
                               object_call *out) {
  calling x = {.arena = a, .whole = &c->program, .marked = marked};
  TRY(check(c, t));
  TRY(collect(&x, t));
  if (x.arrays.size + size_count(&x) > MOST_PARAMETERS) return refuse(t, "it takes too many arrays");
  compiled alone = *c;
  alone.special_count = 0;
  alone.program = (program){.name = c->program.name,
                            .where = c->program.where,
                            .device = c->program.device,
                            .device_count = 1,
                            .partition_count = 1};
  add_memory(&x, &alone.program);
  add_thunk(&x, t, &alone.program);
  alone.program = *with_sizes(&x, c, &alone.program);
  *out = (object_call){.buffer_count = x.arrays.size + size_count(&x) + x.written.size,
                       .buffers = buffers_of(&x),
                       .array_count = x.arrays.size,
                       .size_count = size_count(&x)};
  return save_to_text(&alone, &out->description);
}
