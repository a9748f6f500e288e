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
static const pass *find(str name, bool *is_xla) {
  *is_xla = false;
  const pass *p = opt_pass_find(name);
  for (int i = 0; !p && i < XLA_PASS_COUNT; i++) {
    if (!flags_same_name(name, xla_passes[i].name)) continue;
    *is_xla = true;
    if (xla_passes[i].ours) p = opt_pass_find(str_from(xla_passes[i].ours));
  }
  return p;
}

// The pipeline runs some passes more than once.
static bool is_first_of_name(int position) {
  for (int i = 0; i < position; i++)
    if (opt_passes[i] == opt_passes[position]) return false;
  return true;
}

static const char *all_names(arena *a) {
  const char *names = "";
  for (int i = 0; opt_passes[i]; i++)
    if (is_first_of_name(i)) names = arena_printf(a, "%s%s%s", names, *names ? ", " : "", opt_passes[i]->name);
  return names;
}

heddle_status pass_choice_find(arena *a, str name, const pass **out) {
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
    const pass *p;
    TRY(pass_choice_find(a, name, &p));
    vec_push(a, out, p);
  }
  return status_ok();
}

void pass_choice_print_all(arena *a, FILE *out) {
  for (int i = 0; opt_passes[i]; i++) {
    if (!is_first_of_name(i)) continue;
    const char *names = pass_choice_xla_names(a, opt_passes[i]);
    pass_print_entry(out, "", opt_passes[i], *names ? arena_printf(a, " (XLA: %s)", names) : "");
  }
}

const char *pass_choice_xla_names(arena *a, const pass *p) {
  const char *names = "";
  for (int i = 0; i < XLA_PASS_COUNT; i++)
    if (xla_passes[i].ours && strcmp(xla_passes[i].ours, p->name) == 0)
      names = arena_printf(a, "%s%s%s", names, *names ? ", " : "", xla_passes[i].name);
  return names;
}

// --- the pipeline

static bool has_pass(const char *names, const pass *p) {
  for (str name; next_name(&names, &name);) {
    bool is_xla;
    const pass *named = find(name, &is_xla);
    if (named && strcmp(named->name, p->name) == 0) return true;
  }
  return false;
}

// `wants_needed`: whether naming a needed pass asks for what happens anyway.
static const char *idle_names(arena *a, const char *names, bool wants_needed, const char *idle) {
  for (str name; next_name(&names, &name);) {
    bool is_xla;
    const pass *p = find(name, &is_xla);
    const char *why = is_xla ? "no such pass here" : "no pass";
    if (p && (wants_needed || p->use != PASS_NEEDED)) continue;
    if (p) why = "code generation needs it";
    idle = arena_printf(a, "%s%s" STR_FMT " (%s)", idle, *idle ? ", " : "", STR_ARG(name), why);
  }
  return idle;
}

void pass_choice_pipeline(arena *a, pass_use up_to, const char *disabled, const char *only, pass_list *out) {
  for (int i = 0; opt_passes[i]; i++) {
    const pass *p = opt_passes[i];
    const bool is_unwanted = has_pass(disabled, p) || (only && !has_pass(only, p));
    if (p->use <= up_to && (p->use == PASS_NEEDED || !is_unwanted)) vec_push(a, out, p);
  }
  const char *idle = idle_names(a, only, true, idle_names(a, disabled, false, ""));
  if (*idle) fprintf(stderr, "warning: HLO passes that cannot be chosen: %s\n", idle);
}
