// Which stages of which module are wanted is found once, so that adding a stage costs nothing where nobody looks.
#include "tools/hlo_dump.h"

#include "base/file.h"
#include "hlo/text.h"
#include "proto/proto.h"

static heddle_status compile_filter(const char *flag, const char *pattern, regex_t *out) {
  const int error = regcomp(out, pattern, REG_EXTENDED | REG_NOSUB);
  if (!error) return status_ok();
  char message[128];
  regerror(error, out, message, sizeof message);
  return status_error(HEDDLE_INVALID, "--%s=%s: %s", flag, pattern, message);
}

static heddle_status check_filter(const char *flag, const char *pattern) {
  regex_t filter;
  if (!pattern) return status_ok();
  TRY(compile_filter(flag, pattern, &filter));
  regfree(&filter);
  return status_ok();
}

heddle_status hlo_dump_check(const debug_options *o) {
  TRY(check_filter("xla_dump_hlo_module_re", o->dump_hlo_module_re));
  return check_filter("xla_dump_hlo_pass_re", o->dump_hlo_pass_re);
}

static heddle_status is_module_wanted(const debug_options *o, const module *m, bool *is_wanted) {
  *is_wanted = true;
  if (!o->dump_hlo_module_re || !m) return status_ok();
  regex_t filter;
  TRY(compile_filter("xla_dump_hlo_module_re", o->dump_hlo_module_re, &filter));
  arena *scratch = arena_create();
  *is_wanted = regexec(&filter, arena_strdup(scratch, m->name.data, m->name.size), 0, NULL, 0) == 0;
  arena_destroy(scratch);
  regfree(&filter);
  return status_ok();
}

heddle_status hlo_dump_open(hlo_dump *d, const debug_options *o, const module *m) {
  *d = (hlo_dump){.has_protos = o->dump_hlo_as_proto};
  bool is_wanted;
  TRY(is_module_wanted(o, m, &is_wanted));
  const bool has_place = o->dump_to && o->dump_to[0], has_folder = has_place && strcmp(o->dump_to, "-") != 0;
  if (is_wanted && has_folder) d->folder = o->dump_to;
  if (is_wanted && !has_folder && (has_place || o->dump_hlo_as_text)) d->out = stdout;
  if (o->dump_hlo_pass_re) {
    TRY(compile_filter("xla_dump_hlo_pass_re", o->dump_hlo_pass_re, &d->filter));
    d->has_filter = true;
  }
  return d->folder ? file_make_folder(d->folder) : status_ok();
}

static void write_file(hlo_dump *d, const char *path, str contents) {
  heddle_status s = file_write(path, contents);
  if (status_is_ok(d->failed)) d->failed = s;
  else heddle_status_free(s);
}

static void add_text(hlo_dump *d, arena *a, const char *name, const char *stage, const module *m) {
  text t = {0};
  hlo_print(&t, m, HLO_PRINT_SHORT);
  if (d->out) fprintf(d->out, "// ----- %s: %shlo -----\n%s", name, stage, text_cstr(&t));
  if (d->folder) write_file(d, arena_printf(a, "%s/%s.%shlo", d->folder, name, stage), text_view(&t));
  text_free(&t);
}

static void add_proto(hlo_dump *d, arena *a, const char *name, const char *stage, const module *m) {
  text t = {0};
  heddle_status s = proto_write(&t, m);
  if (status_is_ok(s)) write_file(d, arena_printf(a, "%s/%s.%shlo.pb", d->folder, name, stage), text_view(&t));
  else if (status_is_ok(d->failed)) d->failed = s;
  else heddle_status_free(s);
  text_free(&t);
}

static void add(void *argument, const pass *p, const pass_unit_kind *kind, const void *unit) {
  hlo_dump *d = argument;
  const module *m = unit;
  (void)kind;
  if (p && d->has_filter && regexec(&d->filter, p->name, 0, NULL, 0) != 0) return;
  arena *scratch = arena_create();
  const char *name = arena_strdup(scratch, m->name.data, m->name.size);
  const char *stage = p ? arena_printf(scratch, "after-%s.", p->name) : "";
  add_text(d, scratch, name, stage, m);
  if (d->has_protos && d->folder) add_proto(d, scratch, name, stage, m);
  arena_destroy(scratch);
}

void hlo_dump_watch(hlo_dump *d, pass_control *control) {
  if (!d->out && !d->folder) return;
  d->watcher = (pass_watcher){.kind = &opt_modules, .all = true, .first = true, .see = add, .argument = d};
  pass_control_add(control, &d->watcher);
}

heddle_status hlo_dump_close(hlo_dump *d) {
  if (d->has_filter) regfree(&d->filter);
  d->has_filter = false;
  heddle_status s = d->failed;
  d->failed = status_ok();
  return s;
}
