// Objects and lists are ended whatever happens, so that what is printed is JSON, too, where a command fails.
#include "tools/facts.h"

#include <sys/stat.h>

#include "prog/program_sizes.h"
#include "tools/signature_facts.h"

void facts_begin(facts *f, arena *a, const char *module) {
  *f = (facts){.arena = a};
  f->out = (json_writer){.out = &f->text};
  json_begin(&f->out, NULL, '{');
  json_put_string(&f->out, "module", str_from(module));
}

void facts_note_file(facts *f, const char *path) { vec_push(f->arena, &f->files, path); }

static void put_files(facts *f) {
  json_begin(&f->out, "files", '[');
  for (int k = 0; k < f->files.size; k++) {
    struct stat found;
    json_begin(&f->out, NULL, '{');
    json_put_string(&f->out, "path", str_from(f->files.data[k]));
    if (stat(f->files.data[k], &found) == 0) json_put_int(&f->out, "bytes", found.st_size);
    json_end(&f->out, '}');
  }
  json_end(&f->out, ']');
}

heddle_status facts_end(facts *f, heddle_status s) {
  if (f->files.size > 0) put_files(f);
  return signature_facts_end(&f->out, s);
}

heddle_status facts_print_error(const char *module, heddle_status s) {
  if (status_is_ok(s)) return s;
  facts f;
  facts_begin(&f, NULL, module);
  return facts_end(&f, s);
}

void facts_put_stages(facts *f, const compile_times *times) {
  json_begin(&f->out, "stage_seconds", '{');
  for (int k = 0; k < times->count; k++) json_put_number(&f->out, times->stages[k].name, times->stages[k].seconds);
  json_end(&f->out, '}');
}

void facts_put_values(facts *f, const char *name, int count, const program_value *values) {
  json_begin(&f->out, name, '[');
  for (int k = 0; k < count; k++) {
    const bool is_open = signature_facts_begin_value(&f->out, &values[k]);
    if (!is_open) json_put_int(&f->out, "bytes", program_shape_bytes(&values[k].shape));
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

// --- what was compiled

static void put_kernel(json_writer *w, const char *name, int64_t tiles) {
  json_begin(w, NULL, '{');
  json_put_string(w, "name", str_from(name));
  if (tiles > 0) json_put_int(w, "tiles", tiles);
  json_end(w, '}');
}

// Negative numbers are those that only the sizes of a run decide.
static void put_memory(facts *f, const program *p) {
  static const program_allocation_kind kinds[] = {PROGRAM_PARAMETER, PROGRAM_RESULT, PROGRAM_CONSTANT};
  json_begin(&f->out, "memory", '{');
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    int64_t sum = 0;
    for (int i = 0; i < p->allocation_count && sum >= 0; i++) {
      if (p->allocations[i].kind != kinds[k]) continue;
      sum = p->allocations[i].bytes < 0 ? -1 : sum + p->allocations[i].bytes;
    }
    if (sum >= 0)
      json_put_int(&f->out, arena_printf(f->arena, "%s_bytes", program_allocation_kind_name(kinds[k])), sum);
  }
  if (p->temporary_bytes >= 0) json_put_int(&f->out, "temporary_bytes", p->temporary_bytes);
  json_end(&f->out, '}');
}

static void put_kernels(facts *f, const program *p) {
  json_begin(&f->out, "kernels", '[');
  for (int k = 0; k < p->kernel_count; k++) put_kernel(&f->out, p->kernels[k].entry, p->kernels[k].tiles);
  json_end(&f->out, ']');
}

// Of several each has what it may have planned otherwise than the first.
static void put_code(facts *f, arena *a, const compiled *c, bool is_one_of_several) {
  const program *p = program_sizes_show(a, &c->program);
  json_begin(&f->out, NULL, '{');
  json_put_string(&f->out, "level", str_from(c->level));
  if (is_one_of_several && !p->sizes.is_for_given) {
    put_memory(f, p);
    put_kernels(f, p);
  }
  facts_put_stages(f, &c->times);
  json_end(&f->out, '}');
}

void facts_put_program(facts *f, arena *a, int count, const compiled *codes) {
  const program *p = program_sizes_show(a, &codes->program);
  json_put_string(&f->out, "name", str_from(p->name));
  json_put_int(&f->out, "devices", p->device_count);
  facts_put_values(f, "parameters", p->parameter_count, p->parameters);
  facts_put_values(f, "results", p->given_result_count, p->results);
  if (p->sizes.symbol_count > 0) signature_facts_put_symbols(&f->out, &p->sizes);
  if (!p->sizes.is_for_given) {
    put_memory(f, p);
    put_kernels(f, p);
  }
  json_begin(&f->out, "codes", '[');
  for (int k = 0; k < count; k++) put_code(f, a, &codes[k], count > 1);
  json_end(&f->out, ']');
}

static void put_shapes(json_writer *w, const char *name, int count, const shape *const *shapes) {
  json_begin(w, name, '[');
  for (int k = 0; k < count; k++) put_shape(w, NULL, shapes[k]);
  json_end(w, ']');
}

void facts_put_plan(facts *f, const lhlo_program *plan, const compile_times *times) {
  json_writer *w = &f->out;
  json_put_string(w, "name", plan->module->name);
  json_put_int(w, "devices", plan->device_count);
  put_shapes(w, "parameters", plan->parameter_count, plan->parameters);
  put_shapes(w, "results", plan->result_count, plan->results);
  json_begin(w, "memory", '{');
  json_put_int(w, "planned_peak_bytes", plan->peak_bytes);
  json_put_int(w, "temporary_bytes", plan->temporary_bytes);
  json_end(w, '}');
  json_begin(w, "kernels", '[');
  for (int k = 0; k < plan->kernel_count; k++) put_kernel(w, plan->kernels[k]->name, plan->kernels[k]->launch.tiles);
  json_end(w, ']');
  facts_put_stages(f, times);
}

// --- runs

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
