// Lines, not one grammar over the whole file: a line is a value, and messages can say which. Protocol buffers are known
// by their looks.
#include "tools/literals_file.h"

#include "base/file.h"
#include "hlo/text.h"

typedef struct literal_line {
  int number;
  int run;
  str shape, value;
} literal_line;

typedef struct literals_file {
  const char *path;
  VEC(literal_line) lines;
  int run;               // of the last argument
  bool is_after_result;  // what stands before the line at hand
} literals_file;

static str trim(str s) {
  while (s.size && strchr(" \t\r", s.data[0])) s = (str){s.data + 1, s.size - 1};
  while (s.size && strchr(" \t\r", s.data[s.size - 1])) s.size--;
  return s;
}

// Cuts the first word off.
static str take_word(str *rest) {
  size_t n = 0;
  while (n < rest->size && rest->data[n] != ' ' && rest->data[n] != '\t') n++;
  str word = {rest->data, n};
  *rest = trim((str){rest->data + n, rest->size - n});
  return word;
}

static void add_line(arena *a, literals_file *f, int number, str line) {
  line = trim(line);
  if (line.size == 0 || line.data[0] == '#' || str_starts_with(line, "//")) return;
  str word = take_word(&line);
  const bool is_result = str_is(word, "result") || str_is(word, "reference");
  f->run += f->is_after_result && !is_result;
  f->is_after_result = is_result;
  if (is_result) return;
  if (str_is(word, "argument")) word = take_word(&line);
  vec_push(a, &f->lines, (literal_line){number, f->run, word, line});
}

static void split_lines(arena *a, literals_file *f, str contents) {
  int number = 1;
  for (size_t start = 0; start < contents.size; number++) {
    const char *end = memchr(contents.data + start, '\n', contents.size - start);
    size_t size = end ? (size_t)(end - contents.data) - start : contents.size - start;
    add_line(a, f, number, (str){contents.data + start, size});
    start += size + 1;
  }
}

static heddle_status parse_line(arena *a, const literal_line *line, const shape *wanted, literal **out) {
  const shape *found;
  TRY(shape_parse(a, line->shape, &found));
  if (found->dtype != wanted->dtype || !shape_same_dims(found, wanted))
    return status_error(HEDDLE_INVALID, "found %s, wanted %s", shape_text(a, found), shape_text(a, wanted));
  return literal_parse(a, line->value, wanted, out);
}

static heddle_status read_leaf(void *context, arena *a, int number, const shape *s, literal **out) {
  const literals_file *f = context;
  if (number >= f->lines.size)
    return status_error(HEDDLE_INVALID, "%s: found %d arguments, wanted one more: %s", f->path, f->lines.size,
                        shape_text(a, s));
  const literal_line *line = &f->lines.data[number];
  return status_context(parse_line(a, line, s, out), "while reading %s, line %d", f->path, line->number);
}

static void keep_run(literals_file *f, int number) {
  int count = 0;
  for (int i = 0; i < f->lines.size; i++)
    if (f->lines.data[i].run == number % (f->run + 1)) f->lines.data[count++] = f->lines.data[i];
  f->lines.size = count;
}

static heddle_status read_lines(arena *a, const char *path, str contents, const module *m, int iteration,
                                argument_list *out) {
  literals_file f = {.path = path};
  split_lines(a, &f, contents);
  keep_run(&f, iteration);
  TRY(argument_list_make(a, m, f.lines.size, read_leaf, &f, out));
  if (out->leaf_count == f.lines.size) return status_ok();
  return status_error(HEDDLE_INVALID, "%s: found %d arguments, wanted %d", path, f.lines.size, out->leaf_count);
}

typedef struct given_leaves {
  const char *path;
  literal_list leaves;
} given_leaves;

static heddle_status give_leaf(void *context, arena *a, int number, const shape *s, literal **out) {
  const given_leaves *g = context;
  if (number >= g->leaves.size)
    return status_error(HEDDLE_INVALID, "%s: found %d arguments, wanted one more: %s", g->path, g->leaves.size,
                        shape_text(a, s));
  *out = g->leaves.data[number];
  if ((*out)->shape->dtype == s->dtype && shape_same_dims((*out)->shape, s)) return status_ok();
  return status_error(HEDDLE_INVALID, "%s: argument %d is %s, wanted %s", g->path, number, shape_text(a, (*out)->shape),
                      shape_text(a, s));
}

heddle_status literals_file_as_arguments(arena *a, const char *path, const module *m, int count, literal *const *values,
                                         argument_list *out) {
  given_leaves g = {.path = path};
  for (int i = 0; i < count; i++) execute_leaves(a, values[i], &g.leaves);
  TRY(argument_list_make(a, m, g.leaves.size, give_leaf, &g, out));
  if (out->leaf_count == g.leaves.size) return status_ok();
  return status_error(HEDDLE_INVALID, "%s: found %d arguments, wanted %d", path, g.leaves.size, out->leaf_count);
}

heddle_status literals_file_read(arena *a, const char *path, const module *m, int iteration, argument_list *out) {
  str contents;
  TRY(file_read(a, path, &contents));
  if (!proto_is_inputs(contents)) return read_lines(a, path, contents, m, iteration, out);
  int count;
  literal **values;
  TRY(proto_read_inputs(a, path, contents, iteration, &count, &values));
  return literals_file_as_arguments(a, path, m, count, values, out);
}

// One line per array of the value.
static void print_value(arena *a, text *out, const char *role, const literal *value) {
  literal_list leaves = {0};
  if (value) execute_leaves(a, (literal *)value, &leaves);
  for (int i = 0; i < leaves.size; i++) {
    text_printf(out, "%s ", role);
    shape_print(out, leaves.data[i]->shape, false);
    text_putc(out, ' ');
    literal_print(out, leaves.data[i]);
    text_putc(out, '\n');
  }
}

static void print_run(arena *a, text *out, const proto_iteration *run) {
  for (int k = 0; k < run->argument_count; k++) print_value(a, out, "argument", run->arguments[k]);
  print_value(a, out, "result", run->result);
  print_value(a, out, "reference", run->reference);
}

heddle_status literals_file_write(arena *a, const char *path, int count, const proto_iteration *runs) {
  const size_t size = strlen(path);
  const bool is_proto = size > 3 && strcmp(path + size - 3, ".pb") == 0;
  text t = {0};
  heddle_status s = is_proto ? proto_write_iterations(&t, count, runs) : status_ok();
  for (int i = 0; i < count && !is_proto; i++) print_run(a, &t, &runs[i]);
  if (status_is_ok(s)) s = file_write(path, text_view(&t));
  text_free(&t);
  return s;
}
