#include "rt/program_handle.h"

#include "prog/program_sizes.h"

static int *find_heirs(arena *a, const program *p) {
  int *heirs = arena_array(a, int, p->parameter_count);
  for (int i = 0; i < p->parameter_count; i++) heirs[i] = -1;
  for (int i = 0; i < p->given_result_count; i++)
    if (p->results[i].donated_parameter >= 0) heirs[p->results[i].donated_parameter] = i;
  return heirs;
}

static int64_t *find_bytes(arena *a, const program *p) {
  int64_t *bytes = arena_array(a, int64_t, p->parameter_count + p->result_count);
  for (int i = 0; i < p->parameter_count; i++) bytes[i] = program_shape_bytes(&p->parameters[i].shape);
  for (int i = 0; i < p->result_count; i++) bytes[p->parameter_count + i] = program_shape_bytes(&p->results[i].shape);
  return bytes;
}

static bool all_plain(int count, const program_value *values) {
  for (int i = 0; i < count; i++)
    if (!program_shape_is_plain(&values[i].shape)) return false;
  return true;
}

void program_handle_fill(arena *a, const invocable *callable, void (*destroy)(heddle_program *p), heddle_program *out) {
  const program *p = callable->program;
  *out = (heddle_program){.callable = *callable,
                          .is_direct = p->dynamic_count == 0 && all_plain(p->parameter_count, p->parameters) &&
                                       all_plain(p->result_count, p->results),
                          .heirs = find_heirs(a, p),
                          .bytes = p->sizes.symbol_count ? NULL : find_bytes(a, p),
                          .shown = p->sizes.symbol_count ? program_sizes_show(a, p) : p,
                          .destroy = destroy};
}

void heddle_program_free(heddle_program *program) {
  if (program) program->destroy(program);
}
