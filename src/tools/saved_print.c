#include "tools/saved_print.h"

#include <inttypes.h>

#include "prog/program_sizes.h"

static void print_values(text *out, const char *what, int count, const program_value *values) {
  for (int k = 0; k < count; k++) {
    const program_shape *s = &values[k].shape;
    text_printf(out, "%s %d%s%s: %s[", what, k, values[k].name && values[k].name[0] ? " = " : "",
                values[k].name ? values[k].name : "", dtype_name(s->type));
    bool is_open = false;
    for (int d = 0; d < s->rank; d++) {
      text_printf(out, "%s", d ? "," : "");
      if (s->dims[d] < 0) text_printf(out, "?");
      else text_printf(out, "%" PRId64, s->dims[d]);
      is_open |= s->dims[d] < 0;
    }
    if (is_open) text_printf(out, "]\n");
    else text_printf(out, "], %" PRId64 " bytes\n", program_shape_bytes(s));
  }
}

void saved_print(text *out, arena *a, const saved_program *saved) {
  const program_saved *file = saved_program_contents(saved);
  const program *p = saved_program_plan(saved);
  int64_t constants = 0;
  for (int k = 0; k < p->allocation_count; k++)
    if (p->allocations[k].kind == PROGRAM_CONSTANT) constants += p->allocations[k].bytes;
  text_printf(out, "program %s by %s\n", p->name, file->producer);
  if (p->device_count > 1) text_printf(out, "devices %d\n", p->device_count);
  const program *shown = program_sizes_show(a, p);
  print_values(out, "parameter", p->parameter_count, shown->parameters);
  print_values(out, "result", p->given_result_count, shown->results);
  for (int k = 0; k < program_sizes_given_count(&p->sizes); k++)
    text_printf(out, "size %s: %" PRId64 " to %" PRId64 "\n", p->sizes.symbols[k].name, p->sizes.symbols[k].least,
                p->sizes.symbols[k].most);
  text_printf(out, "constants %" PRId64 " bytes\n", constants);
  if (!p->sizes.symbol_count) text_printf(out, "temporaries %" PRId64 " bytes\n", p->temporary_bytes);
  if (p->memory_limit > 0) text_printf(out, "memory limit %" PRId64 " bytes\n", p->memory_limit);
  for (int k = 0; k < file->code_count; k++) {
    const program_code *c = &file->codes[k];
    size_t bytes = 0;
    for (int i = 0; i < c->image_count; i++) bytes += c->images[i].size;
    text_printf(out, "code %s for %s, %d images of %zu bytes", c->level, c->machine, c->image_count, bytes);
    if (file->plan_count > 1) text_printf(out, ", plan %d", c->plan);
    if (c->sizes) text_printf(out, ", where %s", c->sizes);
    else if (p->sizes.is_for_given) text_printf(out, " but for the sizes that follow");
    text_printf(out, "%s\n  needs %s\n", c == saved_program_code(saved) ? ", taken here" : "", c->features);
  }
}
