// Numbers that only the sizes of a run decide are null.
#include "tools/saved_facts.h"

#include <math.h>

#include "prog/program_sizes.h"
#include "tools/signature_facts.h"

void saved_facts_begin(saved_facts *f, const char *path) {
  *f = (saved_facts){0};
  f->out = (json_writer){.out = &f->text};
  json_begin(&f->out, NULL, '{');
  json_put_string(&f->out, "module", str_from(path));
}

static void put_size(json_writer *w, const char *name, int64_t size) {
  if (size < 0) json_put_number(w, name, HUGE_VAL);
  else json_put_int(w, name, size);
}

static void put_values(json_writer *w, const char *name, int count, const program_value *values) {
  json_begin(w, name, '[');
  for (int k = 0; k < count; k++) {
    const bool is_open = signature_facts_begin_value(w, &values[k]);
    put_size(w, "bytes", is_open ? -1 : program_shape_bytes(&values[k].shape));
    json_end(w, '}');
  }
  json_end(w, ']');
}

static void put_code(json_writer *w, const program_code *c, bool is_taken) {
  int64_t bytes = 0;
  for (int i = 0; i < c->image_count; i++) bytes += (int64_t)c->images[i].size;
  json_begin(w, NULL, '{');
  json_put_string(w, "level", str_from(c->level));
  json_put_string(w, "machine", str_from(c->machine));
  json_put_string(w, "features", str_from(c->features));
  json_put_int(w, "plan", c->plan);
  if (c->sizes) json_put_string(w, "sizes", str_from(c->sizes));
  json_put_int(w, "images", c->image_count);
  json_put_int(w, "bytes", bytes);
  json_put_bool(w, "taken", is_taken);
  json_end(w, '}');
}

void saved_facts_put_file(saved_facts *f, arena *a, const saved_program *saved) {
  json_writer *w = &f->out;
  const program_saved *file = saved_program_contents(saved);
  const program *p = saved_program_plan(saved), *shown = program_sizes_show(a, p);
  int64_t constants = 0;
  for (int k = 0; k < p->allocation_count; k++)
    if (p->allocations[k].kind == PROGRAM_CONSTANT) constants += p->allocations[k].bytes;
  json_put_string(w, "name", str_from(p->name));
  json_put_string(w, "producer", str_from(file->producer));
  json_put_int(w, "devices", p->device_count);
  put_values(w, "parameters", p->parameter_count, shown->parameters);
  put_values(w, "results", p->given_result_count, shown->results);
  if (p->sizes.symbol_count > 0) signature_facts_put_symbols(w, &p->sizes);
  json_put_int(w, "constant_bytes", constants);
  put_size(w, "temporary_bytes", shown->temporary_bytes);
  json_begin(w, "codes", '[');
  for (int k = 0; k < file->code_count; k++) put_code(w, &file->codes[k], &file->codes[k] == saved_program_code(saved));
  json_end(w, ']');
}

void saved_facts_put_run(saved_facts *f, int runs, double seconds) {
  json_put_int(&f->out, "runs", runs);
  json_put_number(&f->out, "least_seconds", seconds);
}

heddle_status saved_facts_end(saved_facts *f, heddle_status s) { return signature_facts_end(&f->out, s); }
