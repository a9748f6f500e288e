// Objects and lists are ended whatever happens, so that what is printed is JSON, too, where a command fails.
#include "tools/facts.h"

#include <math.h>
#include <stdio.h>

void facts_begin(facts *f, const char *module) {
  *f = (facts){0};
  f->out = (json_writer){.out = &f->text};
  json_begin(&f->out, NULL, '{');
  json_put_string(&f->out, "module", str_from(module));
}

static void put_error(json_writer *w, heddle_status s) {
  const source_location where = status_where(s);
  json_begin(w, "error", '{');
  json_put_string(w, "code", str_from(heddle_code_name(heddle_status_code(s))));
  json_put_string(w, "message", str_from(status_brief(s)));
  if (where.file) json_put_string(w, "file", str_from(where.file));
  if (where.line > 0) json_put_int(w, "line", where.line);
  if (where.column > 0) json_put_int(w, "column", where.column);
  json_put_string(w, "text", str_from(heddle_status_message(s)));
  json_end(w, '}');
}

heddle_status facts_end(facts *f, heddle_status s) {
  if (!status_is_ok(s)) put_error(&f->out, s);
  json_end(&f->out, '}');
  fwrite(f->text.data, 1, f->text.size, stdout);
  text_free(&f->text);
  return s;
}

void facts_put_stages(facts *f, const compile_times *times) {
  json_begin(&f->out, "stage_seconds", '{');
  for (int k = 0; k < times->count; k++) json_put_number(&f->out, times->stages[k].name, times->stages[k].seconds);
  json_end(&f->out, '}');
}

static void put_dims(json_writer *w, int rank, const int64_t *dims) {
  json_begin(w, "dims", '[');
  for (int d = 0; d < rank; d++) {
    if (dims[d] < 0) json_put_number(w, NULL, HUGE_VAL);  // null
    else json_put_int(w, NULL, dims[d]);
  }
  json_end(w, ']');
}

static bool has_open_dims(const program_shape *s) {
  for (int d = 0; d < s->rank; d++)
    if (s->dims[d] < 0) return true;
  return false;
}

void facts_put_values(facts *f, const char *name, int count, const program_value *values) {
  json_begin(&f->out, name, '[');
  for (int k = 0; k < count; k++) {
    const program_shape *s = &values[k].shape;
    json_begin(&f->out, NULL, '{');
    if (values[k].name && values[k].name[0]) json_put_string(&f->out, "name", str_from(values[k].name));
    json_put_string(&f->out, "type", str_from(dtype_name(s->type)));
    put_dims(&f->out, s->rank, s->dims);
    if (!has_open_dims(s)) json_put_int(&f->out, "bytes", program_shape_bytes(s));
    json_end(&f->out, '}');
  }
  json_end(&f->out, ']');
}

static void put_shape(json_writer *w, const char *name, const shape *s) {
  text printed = {0};
  shape_print(&printed, s, false);
  json_put_string(w, name, text_view(&printed));
  text_free(&printed);
}

void facts_begin_run(facts *f, const run_told *told) {
  json_writer *w = &f->out;
  json_begin(w, NULL, '{');
  json_put_string(w, "name", told->name);
  json_put_int(w, "devices", told->devices);
  facts_put_stages(f, told->times);
  json_put_number(w, "run_seconds", told->seconds);
  json_begin(w, "memory", '{');
  if (told->planned_bytes > 0) json_put_int(w, "planned_peak_bytes", told->planned_bytes);
  if (told->measured_bytes > 0) json_put_int(w, "measured_peak_bytes", told->measured_bytes);
  json_end(w, '}');
  json_begin(w, "arguments", '[');
  for (int k = 0; k < told->argument_count; k++) put_shape(w, NULL, told->arguments[k]->shape);
  json_end(w, ']');
  json_begin(w, "results", '[');
}

void facts_put_comparison(facts *f, bool compared, heddle_status s) {
  const bool differs = heddle_status_code(s) == HEDDLE_MISMATCH;
  compared &= differs || status_is_ok(s);
  json_put_bool(&f->out, "compared", compared);
  if (compared) json_put_bool(&f->out, "agrees", !differs);
  if (compared && differs) json_put_string(&f->out, "difference", str_from(status_brief(s)));
}

void facts_put_result(facts *f, int device, const shape *s, bool compared, heddle_status difference) {
  json_begin(&f->out, NULL, '{');
  json_put_int(&f->out, "device", device);
  put_shape(&f->out, "shape", s);
  facts_put_comparison(f, compared, difference);
  json_end(&f->out, '}');
}

void facts_end_run(facts *f) {
  json_end(&f->out, ']');
  json_end(&f->out, '}');
}
