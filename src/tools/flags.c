// A flag is a typed pointer in a table, so that a tool's help, defaults and parsing cannot disagree.
#include "tools/flags.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/heap.h"
#include "heddle/version.h"
#include "tools/interrupt.h"
#include "tools/json_error.h"

bool flags_same_name(str name, const char *other) {
  if (name.size != strlen(other)) return false;
  for (size_t i = 0; i < name.size; i++) {
    const char l = name.data[i] == '_' ? '-' : name.data[i], r = other[i] == '_' ? '-' : other[i];
    if (l != r) return false;
  }
  return true;
}

static const flag *find_flag(const flag *flags, str name) {
  for (const flag *f = flags; f->name; f++)
    if (flags_same_name(name, f->name)) return f;
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

typedef struct nearest {
  const char *name;
  size_t percent;
} nearest;

static void consider(nearest *best, str name, const char *candidate) {
  const size_t alike = 2 * likeness(name, candidate), length = name.size + strlen(candidate);
  if (alike * 10 < length * 7 || alike * 100 / length <= best->percent) return;
  *best = (nearest){candidate, alike * 100 / length};
}

static heddle_status unknown_flag(const command_line *line, str name) {
  nearest best = {0};
  for (const flag *f = line->flags; f->name; f++) consider(&best, name, f->name);
  for (int i = 0; line->others && line->others->name(i); i++) consider(&best, name, line->others->name(i));
  if (best.name)
    return status_error(HEDDLE_INVALID, "unknown flag --" STR_FMT "; did you mean --%s?", STR_ARG(name), best.name);
  return status_error(HEDDLE_INVALID, "unknown flag --" STR_FMT " (--help lists them)", STR_ARG(name));
}

static bool is_switch(const flag *f) { return f->kind == FLAG_BOOL || f->kind == FLAG_MAYBE; }

static bool needs_value(const flag *f) { return !is_switch(f) && f->kind != FLAG_SEED; }

static const char *value_if_bare(const flag *f, bool negated) {
  if (f->kind == FLAG_SEED) return "0";
  return negated ? "false" : "true";
}

static void turn(const flag *f, bool on) {
  if (f->kind == FLAG_BOOL) *(bool *)f->value = on;
  else *(int *)f->value = on;
}

static heddle_status set_bool(const flag *f, const char *value) {
  static const char *const yes[] = {"true", "1", "yes", "on"}, *const no[] = {"false", "0", "no", "off"};
  for (int i = 0; i < 4; i++) {
    if (strcasecmp(value, yes[i]) != 0 && strcasecmp(value, no[i]) != 0) continue;
    turn(f, strcasecmp(value, yes[i]) == 0);
    return status_ok();
  }
  return status_error(HEDDLE_INVALID, "--%s: found %s, wanted true or false", f->name, value);
}

heddle_status flags_number(const char *name, const char *value, int least, int most, int *out) {
  char *end;
  errno = 0;
  double number = strtod(value, &end);
  bool is_whole = number >= INT_MIN && number <= INT_MAX && number == (double)(long)number;
  if (end != value && !*end && !errno && is_whole && number >= least && number <= most) {
    *out = (int)number;
    return status_ok();
  }
  if (least == INT_MIN && most == INT_MAX)
    return status_error(HEDDLE_INVALID, "--%s: found %s, wanted a whole number", name, value);
  if (most == INT_MAX)
    return status_error(HEDDLE_INVALID, "--%s: found %s, wanted a whole number of at least %d", name, value, least);
  return status_error(HEDDLE_INVALID, "--%s: found %s, wanted a whole number from %d to %d", name, value, least, most);
}

// A NaN is neither above nor below any bound, so that nothing would be compared.
static heddle_status set_double(const flag *f, const char *value) {
  char *end;
  errno = 0;
  double number = strtod(value, &end);
  if (end == value || *end || errno || !(number >= 0))
    return status_error(HEDDLE_INVALID, "--%s: found %s, wanted a number of at least 0", f->name, value);
  *(double *)f->value = number;
  return status_ok();
}

heddle_status flags_set(arena *a, const flag *f, const char *value) {
  switch (f->kind) {
    case FLAG_BOOL:
    case FLAG_MAYBE: return set_bool(f, value);
    case FLAG_INT: return flags_number(f->name, value, INT_MIN, INT_MAX, f->value);
    case FLAG_SEED:
    case FLAG_SIZE: return flags_number(f->name, value, 0, INT_MAX, f->value);
    case FLAG_COUNT: return flags_number(f->name, value, 1, INT_MAX, f->value);
    case FLAG_THREADS: return flags_number(f->name, value, 0, FLAG_MOST_THREADS, f->value);
    case FLAG_DOUBLE: return set_double(f, value);
    case FLAG_TEXT: *(const char **)f->value = value; return status_ok();
    case FLAG_LIST: vec_push(a, (flag_list *)f->value, value); return status_ok();
  }
  return status_error(HEDDLE_INTERNAL, "flag --%s has no kind", f->name);
}

// What each flag of the table was given so far, null for nothing. The last of two values would win silently.
static heddle_status check_single(const command_line *line, const flag *f, const char *value, const char **given) {
  const char **before = &given[f - line->flags];
  if (*before && f->kind != FLAG_LIST && strcmp(*before, value) != 0)
    return status_error(HEDDLE_INVALID, "--%s is given twice, as %s and as %s, wanted one value", f->name, *before,
                        value);
  *before = value;
  return status_ok();
}

void flags_print_help_line(const char *name, const char *argument, const char *help) {
  char left[96];
  snprintf(left, sizeof left, "--%s%s%s", name, argument ? "=" : "", argument ? argument : "");
  printf("  %-38s %s\n", left, help);
}

static void print_help(const command_line *line) {
  printf("%s\n\n%s\n\nflags:\n", line->usage, line->summary);
  for (const flag *f = line->flags; f->name; f++) flags_print_help_line(f->name, f->argument, f->help);
  if (line->others) line->others->print_help();
  printf("\n--help and --version print what they say and stop; what follows -- is no flag.\n");
}

void flags_print_version(str name) { printf(STR_FMT " (Heddle) %s\n", STR_ARG(name), HEDDLE_VERSION); }

// First word of the usage line: the tool's name (two words for `heddle run`).
static str tool_name(const command_line *line) {
  const char *space = strchr(line->usage, ' ');
  if (space && str_starts_with(str_from(line->usage), "heddle ")) space = strchr(space + 1, ' ');
  return (str){line->usage, space ? (size_t)(space - line->usage) : strlen(line->usage)};
}

// --help and --version, which end the parsing.
static bool answers(const command_line *line, str name) {
  const bool wants_help = str_is(name, "help") || str_is(name, "h"), wants_version = str_is(name, "version");
  if (wants_help) print_help(line);
  if (wants_version) flags_print_version(tool_name(line));
  return wants_help || wants_version;
}

heddle_status flags_parse(arena *a, const command_line *line, int argc, char **argv, flag_list *positional,
                          bool *help) {
  *help = false;
  int count = 0;
  while (line->flags[count].name) count++;
  const char **given = arena_array(a, const char *, count);
  bool are_files = false;  // behind `--`
  for (int i = 0; i < argc; i++) {
    const char *word = argv[i];
    if (!are_files && strcmp(word, "--") == 0) {
      are_files = true;
      continue;
    }
    if (are_files || word[0] != '-' || !word[1]) {
      vec_push(a, positional, word);
      continue;
    }
    word += word[1] == '-' ? 2 : 1;
    const char *equals = strchr(word, '=');
    str name = {word, equals ? (size_t)(equals - word) : strlen(word)};
    if ((*help = !equals && answers(line, name))) return status_ok();
    const flag *f = find_flag(line->flags, name);
    bool negated = !f && !equals && str_starts_with(name, "no");
    if (negated) f = find_flag(line->flags, (str){name.data + 2, name.size - 2});
    if (!f || (negated && !is_switch(f))) {
      bool taken = false;
      if (line->others) TRY(line->others->take(line->others->context, a, name, equals ? equals + 1 : NULL, &taken));
      if (!taken) return unknown_flag(line, name);
      continue;
    }
    if (!equals && needs_value(f) && i + 1 == argc)
      return status_error(HEDDLE_INVALID, "--%s wants a value: --%s=%s", f->name, f->name, f->argument);
    const char *value = equals ? equals + 1 : needs_value(f) ? argv[++i] : value_if_bare(f, negated);
    TRY(check_single(line, f, value, given));
    TRY(flags_set(a, f, value));
  }
  return status_ok();
}

// Exit statuses beside 0 and 1.
enum { EXIT_USAGE = 2, EXIT_MISMATCH = 3 };

int command_line_exit_status(heddle_status s) {
  if (status_is_ok(s)) return 0;
  const int status = heddle_status_code(s) == HEDDLE_MISMATCH ? EXIT_MISMATCH : EXIT_FAILURE;
  fflush(stdout);
  fputs(heddle_status_message(s), stderr);
  heddle_status_free(s);
  return status;
}

int command_line_output_status(int status) {
  errno = 0;
  if ((fflush(stdout) != 0 || ferror(stdout)) && status == 0) {
    // An earlier write may have failed: its reason is gone.
    fprintf(stderr, "error: cannot write standard output%s%s\n", errno ? ": " : "", errno ? strerror(errno) : "");
    status = 1;
  }
  // Where messages are lost, only the exit status is left to say so.
  return ferror(stderr) && status == 0 ? 1 : status;
}

// Whether whoever reads standard output wants JSON, as far as a command line that is wrong can tell.
static bool wants_json(const command_line *line, int argc, char **argv) {
  bool wanted = false;
  for (int i = 0; i < argc && find_flag(line->flags, STR("json")); i++)
    wanted |= strcmp(argv[i], "--json") == 0 || strcmp(argv[i], "-json") == 0;
  return wanted;
}

static void print_json_error(heddle_status s) {
  text out = {0};
  json_writer w = {.out = &out};
  json_begin(&w, NULL, '{');
  json_error_put(&w, s);
  json_end(&w, '}');
  fwrite(out.data, 1, out.size, stdout);
  text_free(&out);
}

static int usage_error(const command_line *line, int argc, char **argv, heddle_status s) {
  if (wants_json(line, argc, argv)) print_json_error(s);
  (void)command_line_exit_status(s);
  fprintf(stderr, "usage: %s (" STR_FMT " --help)\n", line->usage, STR_ARG(tool_name(line)));
  return EXIT_USAGE;
}

// A tool is a process for one task: without memory it says so and ends.
static void leave(size_t wanted) {
  fprintf(stderr, "error: out of memory (%zu bytes wanted)\n", wanted);
  exit(1);
}

// Negative without a command to run: the exit status is -1 - that.
static int parse_files(arena *a, const command_line *line, int argc, char **argv, int most, bool needs_one,
                       void *argument, flag_list *files) {
  bool help = false;
  heddle_status s = flags_parse(a, line, argc, argv, files, &help);
  if (status_is_ok(s) && help) return -1;
  if (status_is_ok(s) && files->size > most)
    s = status_error(HEDDLE_INVALID, "found %s, wanted %s", files->data[most], most ? "one file" : "flags only");
  if (status_is_ok(s) && needs_one && files->size == 0) s = status_error(HEDDLE_INVALID, "found no file, wanted one");
  if (status_is_ok(s) && line->check) s = line->check(argument);
  return status_is_ok(s) ? files->size : -1 - usage_error(line, argc, argv, s);
}

// What has been interrupted says so, whatever error that became on its way.
static int end_status(heddle_status s) {
  const int interrupted = interrupt_status();
  if (!interrupted || status_is_ok(s)) return command_line_exit_status(s);
  heddle_status_free(s);
  fputs("interrupted\n", stderr);
  return interrupted;
}

static int run_command(const command_line *line, int argc, char **argv, int most_files, const char *file,
                       command_fn run, void *argument) {
  heap_set_last_resort(leave);
  interrupt_watch();
  arena *a = arena_create();
  flag_list files = {0};
  const int count = parse_files(a, line, argc, argv, most_files, most_files && !file, argument, &files);
  const int status = count < 0 ? -1 - count : end_status(run(a, count ? files.data[0] : file, argument));
  arena_destroy(a);
  return command_line_output_status(status);
}

int command_line_main(const command_line *line, int argc, char **argv, const char *file, command_fn run,
                      void *argument) {
  return run_command(line, argc, argv, 1, file, run, argument);
}

int command_line_main_files(const command_line *line, int argc, char **argv, command_fn run, void *argument) {
  heap_set_last_resort(leave);
  interrupt_watch();
  arena *a = arena_create();
  flag_list files = {0};
  const int count = parse_files(a, line, argc, argv, INT_MAX, true, argument, &files);
  int failed = count < 0 ? -1 - count : 0;
  for (int i = 0; i < count && !interrupt_status(); i++) {
    arena *scratch = arena_create();
    if (count > 1) printf("%s** Running %s **\n", i ? "\n" : "", files.data[i]);
    failed |= end_status(run(scratch, files.data[i], argument));
    arena_destroy(scratch);
  }
  arena_destroy(a);
  return command_line_output_status(failed);
}

int command_line_main_no_file(const command_line *line, int argc, char **argv, command_fn run, void *argument) {
  return run_command(line, argc, argv, 0, NULL, run, argument);
}
