// A row of the table is a flag with a value of some kind. Values of options without a field are checked all the same:
// what XLA would refuse is refused.
#include "tools/debug_options.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"

typedef enum option_kind { OPTION_BOOL, OPTION_INT, OPTION_DOUBLE, OPTION_TEXT } option_kind;

typedef struct option {
  const char *name;
  option_kind kind;
  size_t field;      // its offset in debug_options
  const char *help;  // null: the option has no field
} option;

static const option options[] = {
#define DEBUG_OPTION(name, kind) {#name, OPTION_##kind, 0, NULL},
#define DEBUG_OPTION_OBEYED(name, kind, field, help) {#name, OPTION_##kind, offsetof(debug_options, field), help},
#include "tools/debug_options.def"
#undef DEBUG_OPTION
#undef DEBUG_OPTION_OBEYED
};

enum { OPTION_COUNT = sizeof options / sizeof *options };

static const char *option_name(int number) { return number < OPTION_COUNT ? options[number].name : NULL; }

static const option *find_option(str name) {
  for (int i = 0; i < OPTION_COUNT; i++)
    if (str_is(name, options[i].name)) return &options[i];
  return NULL;
}

// --- values

static heddle_status set_field(arena *a, debug_options *d, const option *o, const char *value) {
  const flag f = {o->name, o->kind == OPTION_BOOL ? FLAG_BOOL : FLAG_TEXT, (char *)d + o->field, NULL, NULL};
  return flags_set(a, &f, value);
}

// As wide as XLA's integers, which flags' are not.
static heddle_status check_whole(const option *o, const char *value) {
  char *end;
  (void)strtoll(value, &end, 10);
  if (end != value && !*end) return status_ok();
  return status_error(HEDDLE_INVALID, "--%s: found %s, wanted a whole number", o->name, value);
}

static heddle_status check_number(const option *o, const char *value) {
  char *end;
  (void)strtod(value, &end);
  if (end != value && !*end) return status_ok();
  return status_error(HEDDLE_INVALID, "--%s: found %s, wanted a number", o->name, value);
}

static heddle_status check_value(arena *a, const option *o, const char *value) {
  bool on;
  const flag bool_flag = {o->name, FLAG_BOOL, &on, NULL, NULL};
  switch (o->kind) {
    case OPTION_BOOL: return flags_set(a, &bool_flag, value);
    case OPTION_INT: return check_whole(o, value);
    case OPTION_DOUBLE: return check_number(o, value);
    case OPTION_TEXT: return status_ok();
  }
  return status_error(HEDDLE_INTERNAL, "option %s has no kind", o->name);
}

static void remember_idle(arena *a, debug_options *d, const char *name) {
  for (int i = 0; i < d->idle.size; i++)
    if (strcmp(d->idle.data[i], name) == 0) return;
  vec_push(a, &d->idle, name);
}

static heddle_status take(void *context, arena *a, str name, const char *value, bool *taken) {
  const option *o = find_option(name);
  *taken = o != NULL;
  if (!o) return status_ok();
  if (!value && o->kind != OPTION_BOOL)
    return status_error(HEDDLE_INVALID, "--%s wants a value: --%s=VALUE", o->name, o->name);
  if (!value) value = "true";
  if (o->help) return set_field(a, context, o, value);
  remember_idle(a, context, o->name);
  return check_value(a, o, value);
}

static void print_help(void) {
  static const char *const arguments[] = {[OPTION_INT] = "N", [OPTION_DOUBLE] = "X", [OPTION_TEXT] = "TEXT"};
  int idle = 0;
  printf("\ndebug options of XLA, here or in the environment variable XLA_FLAGS:\n");
  for (int i = 0; i < OPTION_COUNT; i++) {
    if (options[i].help) flags_print_help_line(options[i].name, arguments[options[i].kind], options[i].help);
    else idle++;
  }
  printf("  %d others are taken and have no effect, as a warning says\n", idle);
}

other_flags debug_options_flags(debug_options *d) {
  return (other_flags){.take = take, .context = d, .name = option_name, .print_help = print_help};
}

void debug_options_warn(const debug_options *d) {
  for (int i = 0; i < d->idle.size; i++)
    fprintf(stderr, "%s%s", i ? ", " : "warning: no effect here: ", d->idle.data[i]);
  if (d->idle.size) fputc('\n', stderr);
}

// --- texts

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static bool is_name(char c) {
  return c == '-' || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// The text between quotes; `*at` stands on the first one and moves behind the second, which may be missing.
static const char *take_quoted(arena *a, str text, size_t *at) {
  const char quote = text.data[(*at)++];
  char *value = arena_array(a, char, text.size - *at + 1);
  size_t size = 0;
  for (; *at < text.size && text.data[*at] != quote; ++*at) {
    if (quote == '"' && text.data[*at] == '\\' && *at + 1 < text.size) ++*at;
    value[size++] = text.data[*at];
  }
  if (*at < text.size) ++*at;
  return value;
}

static str take_until_blank(str text, size_t *at) {
  const size_t start = *at;
  while (*at < text.size && !is_blank(text.data[*at])) ++*at;
  return (str){text.data + start, *at - start};
}

// One flag, which starts at `*at` with a dash.
static heddle_status take_flag(arena *a, debug_options *d, str text, size_t *at) {
  const size_t start = *at;
  while (*at < text.size && is_name(text.data[*at])) ++*at;
  const str dashed = {text.data + start, *at - start};
  const size_t dashes = dashed.size > 1 && dashed.data[1] == '-' ? 2 : 1;
  const str name = {dashed.data + dashes, dashed.size - dashes};
  const char *value = NULL;
  if (*at < text.size && text.data[*at] == '=') {
    ++*at;
    const bool is_quoted = *at < text.size && (text.data[*at] == '\'' || text.data[*at] == '"');
    value = is_quoted ? take_quoted(a, text, at) : str_copy(a, take_until_blank(text, at)).data;
  } else {
    const str rest = take_until_blank(text, at);
    if (rest.size)
      return status_error(HEDDLE_INVALID, "XLA_FLAGS: found " STR_FMT STR_FMT ", wanted --name=value", STR_ARG(dashed),
                          STR_ARG(rest));
  }
  bool taken = false;
  TRY(take(d, a, name, value, &taken));
  if (taken) return status_ok();
  return status_error(HEDDLE_INVALID, "XLA_FLAGS: XLA has no option " STR_FMT, STR_ARG(dashed));
}

heddle_status debug_options_from_text(arena *a, debug_options *d, str flags) {
  for (size_t at = 0; at < flags.size;) {
    if (is_blank(flags.data[at])) {
      at++;
    } else if (flags.data[at] == '-') {
      TRY(take_flag(a, d, flags, &at));
    } else {
      const str word = take_until_blank(flags, &at);
      remember_idle(a, d, arena_printf(a, "XLA_FLAGS from \"" STR_FMT "\" on, which is no flag", STR_ARG(word)));
      break;
    }
  }
  return status_ok();
}

heddle_status debug_options_from_environment(arena *a, debug_options *d) {
  const char *value = getenv("XLA_FLAGS");
  if (!value) return status_ok();
  while (is_blank(*value)) value++;
  if (!*value) return status_ok();
  str text = str_from(value);
  if (*value != '-') TRY(status_context(file_read(a, value, &text), "XLA_FLAGS holds no flags but a file's name"));
  return debug_options_from_text(a, d, text);
}

// `name: value`, the value between quotes or not.
static heddle_status take_line(arena *a, debug_options *d, const char *path, str text, size_t *at) {
  const size_t start = *at;
  while (*at < text.size && is_name(text.data[*at])) ++*at;
  const str name = {text.data + start, *at - start};
  while (*at < text.size && is_blank(text.data[*at])) ++*at;
  if (name.size == 0 || *at == text.size || text.data[*at] != ':')
    return status_error(HEDDLE_INVALID, "%s: byte %zu: found no `name: value`", path, start);
  ++*at;
  while (*at < text.size && is_blank(text.data[*at])) ++*at;
  const bool is_quoted = *at < text.size && (text.data[*at] == '\'' || text.data[*at] == '"');
  const char *value = is_quoted ? take_quoted(a, text, at) : str_copy(a, take_until_blank(text, at)).data;
  bool taken = false;
  TRY(status_context(take(d, a, name, value, &taken), "while reading %s", path));
  if (taken) return status_ok();
  return status_error(HEDDLE_INVALID, "%s: XLA has no option " STR_FMT, path, STR_ARG(name));
}

heddle_status debug_options_from_file(arena *a, debug_options *d, const char *path) {
  str text;
  TRY(file_read(a, path, &text));
  for (size_t at = 0; at < text.size;) {
    if (text.data[at] == '#')
      while (at < text.size && text.data[at] != '\n') at++;
    else if (is_blank(text.data[at])) at++;
    else TRY(take_line(a, d, path, text, &at));
  }
  return status_ok();
}

static heddle_status read_first(arena *a, int argc, char **argv, debug_options *d) {
  static const char flag[] = "--debug_options_file=";
  for (int i = 0; i < argc; i++)
    if (strncmp(argv[i], flag, sizeof flag - 1) == 0) TRY(debug_options_from_file(a, d, argv[i] + sizeof flag - 1));
  return debug_options_from_environment(a, d);
}

static int run_main(const command_line *given, debug_options *d, int argc, char **argv, bool takes_many,
                    const char *file, command_fn run, void *argument) {
  const other_flags others = debug_options_flags(d);
  command_line line = *given;
  line.others = &others;
  arena *a = arena_create();
  const heddle_status s = read_first(a, argc, argv, d);
  int status;
  if (!status_is_ok(s)) status = 2 * command_line_exit_status(s);
  else if (takes_many) status = command_line_main_files(&line, argc, argv, run, argument);
  else status = command_line_main(&line, argc, argv, file, run, argument);
  arena_destroy(a);
  return status;
}

int debug_options_main(const command_line *line, debug_options *d, int argc, char **argv, const char *file,
                       command_fn run, void *argument) {
  return run_main(line, d, argc, argv, false, file, run, argument);
}

int debug_options_main_files(const command_line *line, debug_options *d, int argc, char **argv, command_fn run,
                             void *argument) {
  return run_main(line, d, argc, argv, true, NULL, run, argument);
}
