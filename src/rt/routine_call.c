// Types and fields are translated once, when the thunk is prepared; a run copies the few arrays and fills in their
// addresses.
#include "rt/routine_call.h"

#include "prog/library_fields.h"

static lib_array array_of(const program_array *from) {
  return (lib_array){
      .type = from->type, .rank = from->rank, .dims = from->dims, .is_packed = dtypes[from->type].bits < 8};
}

void routine_call_make(arena *a, const program_thunk *from, int threads, lib_call *call) {
  lib_array *operands = arena_array(a, lib_array, from->operand_count);
  lib_array *results = arena_array(a, lib_array, from->result_count);
  for (int k = 0; k < from->operand_count; k++) operands[k] = array_of(&from->operands[k]);
  for (int k = 0; k < from->result_count; k++) results[k] = array_of(&from->results[k]);
  int attribute_count;
  const named_attribute *attributes = program_fields_as_attributes(a, from, &attribute_count);
  *call = (lib_call){.target = program_thunk_target(from),
                     .operand_count = from->operand_count,
                     .operands = operands,
                     .result_count = from->result_count,
                     .results = results,
                     .attribute_count = attribute_count,
                     .attributes = attributes,
                     .threads = threads};
}

// Routines add offsets of 0 to memory that they did not ask for: to an address, as C has no sums with null. Nobody
// writes there.
static _Alignas(64) char no_scratch[64];

lib_call routine_call_of_run(const lib_call *made, const thunk *t, const run_frame *f, lib_array *arrays) {
  lib_call call = *made;
  for (int k = 0; k < made->operand_count; k++) {
    arrays[k] = made->operands[k];
    arrays[k].data = thunk_slice(f, t->from->operands[k].slice);
  }
  lib_array *results = arrays + made->operand_count;
  for (int k = 0; k < made->result_count; k++) {
    results[k] = made->results[k];
    results[k].data = thunk_slice(f, t->from->results[k].slice);
  }
  call.operands = arrays;
  call.results = results;
  call.threads = f->threads;
  call.scratch = t->scratch_bytes ? f->scratch + t->scratch_offset : no_scratch;
  return call;
}

const char *routine_call_constant(const program *p, int slice) {
  const program_slice *s = &p->slices[slice];
  const program_allocation *a = &p->allocations[s->allocation];
  return a->kind == PROGRAM_CONSTANT ? (const char *)a->data + s->offset : NULL;
}
