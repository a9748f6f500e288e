// Flags come as a table of typed pointers, so that a tool's help, defaults and parsing cannot disagree.
#include "tools/flags.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"

static const flag *find_flag(const flag *flags, str name) {
  for (const flag *f = flags; f->name; f++)
    if (str_is(name, f->name)) return f;
  return NULL;
}

// Length of the longest common subsequence: cheap, and good enough to find what was meant.
static size_t likeness(str a, const char *b) {
  size_t row[64] = {0}, n = strlen(b);
  if (n > 63) n = 63;
  for (size_t i = 0; i < a.size; i++) {
    size_t diagonal = 0;
    for (size_t j = 1; j <= n; j++) {
      size_t above = row[j];
      row[j] = a.data[i] == b[j - 1] ? diagonal + 1 : row[j] > row[j - 1] ? row[j] : row[j - 1];
      diagonal = above;
    }
  }
  return row[n];
}

static heddle_status unknown_flag(const command_line *line, str name) {
  const flag *best = NULL;
  size_t most = 0;
  for (const flag *f = line->flags; f->name; f++) {
    size_t alike = 2 * likeness(name, f->name);
    size_t length = name.size + strlen(f->name);
    if (alike * 10 < length * 7 || alike * 100 / length <= most) continue;
    most = alike * 100 / length;
    best = f;
  }
  if (best)
    return status_error(HEDDLE_INVALID, "unknown flag --" STR_FMT "; did you mean --%s?", STR_ARG(name), best->name);
  return status_error(HEDDLE_INVALID, "unknown flag --" STR_FMT " (--help lists them)", STR_ARG(name));
}

static heddle_status set_bool(const flag *f, const char *value) {
  static const char *const yes[] = {"true", "1", "yes", "on"}, *const no[] = {"false", "0", "no", "off"};
  for (int i = 0; i < 4; i++) {
    if (strcmp(value, yes[i]) != 0 && strcmp(value, no[i]) != 0) continue;
    *(bool *)f->value = strcmp(value, yes[i]) == 0;
    return status_ok();
  }
  return status_error(HEDDLE_INVALID, "--%s: found %s, wanted true or false", f->name, value);
}

static heddle_status set_number(const flag *f, const char *value) {
  char *end;
  errno = 0;
  double number = strtod(value, &end);
  bool is_whole = number >= -2147483648.0 && number <= 2147483647.0 && number == (double)(long)number;
  if (end == value || *end || errno || (f->kind == FLAG_INT && !is_whole))
    return status_error(HEDDLE_INVALID, "--%s: found %s, wanted %s number", f->name, value,
                        f->kind == FLAG_INT ? "a whole" : "a");
  if (f->kind == FLAG_INT) *(int *)f->value = (int)number;
  else *(double *)f->value = number;
  return status_ok();
}

static heddle_status set_value(arena *a, const flag *f, const char *value) {
  switch (f->kind) {
    case FLAG_BOOL: return set_bool(f, value);
    case FLAG_INT:
    case FLAG_DOUBLE: return set_number(f, value);
    case FLAG_TEXT: *(const char **)f->value = value; return status_ok();
    case FLAG_LIST: vec_push(a, (flag_list *)f->value, value); return status_ok();
  }
  return status_error(HEDDLE_INTERNAL, "flag --%s has no kind", f->name);
}

static void print_help(const command_line *line) {
  printf("%s\n\n%s\n\nflags:\n", line->usage, line->summary);
  for (const flag *f = line->flags; f->name; f++) {
    char left[96];
    snprintf(left, sizeof left, "--%s%s%s", f->name, f->argument ? "=" : "", f->argument ? f->argument : "");
    printf("  %-38s %s\n", left, f->help);
  }
}

heddle_status flags_parse(arena *a, const command_line *line, int argc, char **argv, flag_list *positional,
                          bool *help) {
  *help = false;
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    if (word[0] != '-' || !word[1]) {
      vec_push(a, positional, word);
      continue;
    }
    word += word[1] == '-' ? 2 : 1;
    const char *equals = strchr(word, '=');
    str name = {word, equals ? (size_t)(equals - word) : strlen(word)};
    if (str_is(name, "help") || str_is(name, "h")) {
      print_help(line);
      *help = true;
      return status_ok();
    }
    const flag *f = find_flag(line->flags, name);
    bool negated = !f && !equals && str_starts_with(name, "no");
    if (negated) f = find_flag(line->flags, (str){name.data + 2, name.size - 2});
    if (!f || (negated && f->kind != FLAG_BOOL)) return unknown_flag(line, name);
    if (f->kind == FLAG_BOOL && !equals) *(bool *)f->value = !negated;
    else if (equals) TRY(set_value(a, f, equals + 1));
    else if (i + 1 < argc) TRY(set_value(a, f, argv[++i]));
    else return status_error(HEDDLE_INVALID, "--%s wants a value: --%s=%s", f->name, f->name, f->argument);
  }
  return status_ok();
}

int report(heddle_status s) {
  if (status_is_ok(s)) return 0;
  fflush(stdout);
  fputs(heddle_status_message(s), stderr);
  heddle_status_free(s);
  return 1;
}

// First word of the usage line: the tool's name (two words for `heddle run`).
static str tool_name(const command_line *line) {
  const char *space = strchr(line->usage, ' ');
  if (space && str_starts_with(str_from(line->usage), "heddle ")) space = strchr(space + 1, ' ');
  return (str){line->usage, space ? (size_t)(space - line->usage) : strlen(line->usage)};
}

enum { EXIT_USAGE = 2 };

static int usage_error(const command_line *line, heddle_status s) {
  (void)report(s);
  fprintf(stderr, "usage: %s (" STR_FMT " --help)\n", line->usage, STR_ARG(tool_name(line)));
  return EXIT_USAGE;
}

static int run_command(const command_line *line, int argc, char **argv, int most_files, const char *file,
                       command_fn run, void *argument) {
  arena *a = arena_create();
  flag_list files = {0};
  bool help = false;
  heddle_status s = flags_parse(a, line, argc, argv, &files, &help);
  if (status_is_ok(s) && !help && files.size > most_files)
    s = status_error(HEDDLE_INVALID, "found %s, wanted %s", files.data[most_files],
                     most_files ? "one file" : "flags only");
  if (status_is_ok(s) && !help && most_files && files.size == 0 && !file)
    s = status_error(HEDDLE_INVALID, "found no file, wanted one");
  int status = 0;
  if (!status_is_ok(s)) status = usage_error(line, s);
  else if (!help) status = report(run(a, files.size ? files.data[0] : file, argument));
  arena_destroy(a);
  return status;
}

int command_main(const command_line *line, int argc, char **argv, const char *file, command_fn run, void *argument) {
  return run_command(line, argc, argv, 1, file, run, argument);
}

int command_main_no_file(const command_line *line, int argc, char **argv, command_fn run, void *argument) {
  return run_command(line, argc, argv, 0, NULL, run, argument);
}
