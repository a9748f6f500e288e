// XLA's names stand in a table beside ours. A pass that the pipeline runs several times has one name for all of them.
#include "tools/pass_choice.h"

#include <stdio.h>

#include "tools/flags.h"

static const struct {
  const char *name, *ours;
} xla_passes[] = {
#define XLA_PASS(name, ours) {name, ours},
#include "tools/xla_passes.def"
#undef XLA_PASS
};

enum { XLA_PASS_COUNT = sizeof xla_passes / sizeof *xla_passes };

// --- by name

// Null if there is no such pass; *is_xla if XLA has one.
static const opt_pass *find(str name, bool *is_xla) {
  *is_xla = false;
  const opt_pass *pass = opt_pass_find(name);
  for (int i = 0; !pass && i < XLA_PASS_COUNT; i++) {
    if (!flags_same_name(name, xla_passes[i].name)) continue;
    *is_xla = true;
    if (xla_passes[i].ours) pass = opt_pass_find(str_from(xla_passes[i].ours));
  }
  return pass;
}

static bool is_first_of_name(const opt_pass *pass) { return opt_pass_find(str_from(pass->name)) == pass; }

static const char *all_names(arena *a) {
  const char *names = "";
  for (const opt_pass *p = opt_passes; p->name; p++)
    if (is_first_of_name(p)) names = arena_printf(a, "%s%s%s", names, *names ? ", " : "", p->name);
  return names;
}

heddle_status pass_choice_find(arena *a, str name, const opt_pass **out) {
  bool is_xla;
  *out = find(name, &is_xla);
  if (*out) return status_ok();
  if (is_xla)
    return status_error(HEDDLE_UNIMPLEMENTED, "--passes: " STR_FMT " of XLA has no counterpart here; there are %s",
                        STR_ARG(name), all_names(a));
  return status_error(HEDDLE_INVALID, "--passes: found " STR_FMT ", wanted one that --list-passes shows: %s",
                      STR_ARG(name), all_names(a));
}

// Cuts the next name off a list; false at its end.
static bool next_name(const char **list, str *name) {
  while (*list && **list == ',') ++*list;
  if (!*list || !**list) return false;
  const char *end = strchrnul(*list, ',');
  *name = (str){*list, (size_t)(end - *list)};
  *list = end;
  return true;
}

heddle_status pass_choice_list(arena *a, const char *names, pass_list *out) {
  for (str name; next_name(&names, &name);) {
    const opt_pass *pass;
    TRY(pass_choice_find(a, name, &pass));
    vec_push(a, out, pass);
  }
  return status_ok();
}

const char *pass_choice_xla_names(arena *a, const opt_pass *pass) {
  const char *names = "";
  for (int i = 0; i < XLA_PASS_COUNT; i++)
    if (xla_passes[i].ours && strcmp(xla_passes[i].ours, pass->name) == 0)
      names = arena_printf(a, "%s%s%s", names, *names ? ", " : "", xla_passes[i].name);
  return names;
}

// --- the pipeline

static bool has_pass(const char *names, const opt_pass *pass) {
  for (str name; next_name(&names, &name);) {
    bool is_xla;
    const opt_pass *named = find(name, &is_xla);
    if (named && strcmp(named->name, pass->name) == 0) return true;
  }
  return false;
}

// `wants_needed`: whether naming a needed pass asks for what happens anyway.
static const char *idle_names(arena *a, const char *names, bool wants_needed, const char *idle) {
  for (str name; next_name(&names, &name);) {
    bool is_xla;
    const opt_pass *pass = find(name, &is_xla);
    const char *why = is_xla ? "no such pass here" : "no pass";
    if (pass && (wants_needed || pass->use != OPT_NEEDED)) continue;
    if (pass) why = "code generation needs it";
    idle = arena_printf(a, "%s%s" STR_FMT " (%s)", idle, *idle ? ", " : "", STR_ARG(name), why);
  }
  return idle;
}

void pass_choice_pipeline(arena *a, opt_pass_use up_to, const char *disabled, const char *only, pass_list *out) {
  for (const opt_pass *p = opt_passes; p->name; p++) {
    const bool is_unwanted = has_pass(disabled, p) || (only && !has_pass(only, p));
    if (p->use <= up_to && (p->use == OPT_NEEDED || !is_unwanted)) vec_push(a, out, p);
  }
  const char *idle = idle_names(a, only, true, idle_names(a, disabled, false, ""));
  if (*idle) fprintf(stderr, "warning: HLO passes that cannot be chosen: %s\n", idle);
}
