// The public calls that say what a program takes and gives (include/heddle/runtime.h).
#include "base/sized_struct.h"
#include "rt/program_handle.h"

// --- signature

int heddle_program_parameter_count(const heddle_program *program) {
  return program ? program->callable.program->parameter_count : 0;
}

int heddle_program_result_count(const heddle_program *program) {
  return program ? program->callable.program->given_result_count : 0;
}

static heddle_array describe(int count, const program_value *values, int number) {
  if (number < 0 || number >= count) return (heddle_array){.element_type = ""};
  const program_shape *s = &values[number].shape;
  bool is_open = false;
  for (int d = 0; d < s->rank; d++) is_open |= s->dims[d] < 0;
  return (heddle_array){dtype_name(s->type), s->rank, s->dims, is_open ? 0 : (size_t)program_shape_bytes(s)};
}

heddle_array heddle_program_parameter(const heddle_program *program, int number) {
  return describe(heddle_program_parameter_count(program), program ? program->shown->parameters : NULL, number);
}

heddle_array heddle_program_result(const heddle_program *program, int number) {
  return describe(heddle_program_result_count(program), program ? program->shown->results : NULL, number);
}

int heddle_program_device_count(const heddle_program *program) {
  return program ? program->callable.program->device_count : 0;
}

const char *heddle_program_name(const heddle_program *program) {
  return program ? program->callable.program->name : "";
}

const char *heddle_program_platform(const heddle_program *program) {
  return program ? target_kind_name(program->callable.program->device) : "";
}

static bool has_parameter(const heddle_program *program, int number) {
  return number >= 0 && number < heddle_program_parameter_count(program);
}

const char *heddle_program_parameter_name(const heddle_program *program, int number) {
  return has_parameter(program, number) ? program->callable.program->parameters[number].name : "";
}

int heddle_program_parameter_alias(const heddle_program *program, int number) {
  return has_parameter(program, number) ? program->heirs[number] : -1;
}

// --- memory

static heddle_memory count_memory(const heddle_program *p) {
  const program *made = p->callable.program;
  heddle_memory m = {.struct_size = sizeof m, .temporary_bytes = made->temporary_bytes};
  for (int i = 0; i < made->allocation_count; i++) {
    const program_allocation *a = &made->allocations[i];
    if (a->kind == PROGRAM_PARAMETER) m.parameter_bytes += a->bytes;
    if (a->kind == PROGRAM_RESULT) m.result_bytes += a->bytes;
    if (a->kind == PROGRAM_CONSTANT || a->kind == PROGRAM_NUMBERS) m.constant_bytes += a->bytes;
    const bool takes_over = a->kind == PROGRAM_RESULT && made->results[a->number].donated_parameter >= 0;
    if ((a->kind == PROGRAM_PARAMETER || a->kind == PROGRAM_RESULT) && !takes_over) m.peak_bytes += a->bytes;
  }
  m.peak_bytes += m.temporary_bytes;
  if (p->run_open) m.parameter_bytes = m.result_bytes = m.temporary_bytes = m.peak_bytes = -1;
  for (int i = 0; i < made->image_count; i++) m.code_bytes += (int64_t)made->images[i].size;
  return m;
}

heddle_status heddle_program_memory(const heddle_program *program, heddle_memory *out) {
  if (!program) return status_error(HEDDLE_INVALID, "found null for the program");
  const heddle_memory m = count_memory(program);
  return sized_struct_fill("heddle_memory", out, &m, sizeof m);
}
