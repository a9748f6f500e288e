// Prints indexing maps in XLA's syntax.
#include <stdlib.h>

#include "index/indexing_map.h"

// The names as printed: variables without one are called by their position, all of them if the given ones clash.
typedef struct names {
  arena *scratch;
  str *dims, *symbols;
} names;

static str default_name(arena *a, const char *prefix, int position) {
  return str_from(arena_printf(a, "%s%d", prefix, position));
}

static void name_variables(names *n, str *to, const indexing_variable *variables, int count, const char *prefix,
                           bool given) {
  for (int i = 0; i < count; ++i) {
    to[i] = given && variables[i].name.size > 0 ? variables[i].name : default_name(n->scratch, prefix, i);
  }
}

static void name_all(names *n, const indexing_map *m, bool given) {
  name_variables(n, n->dims, m->dims, m->dim_count, "d", given);
  name_variables(n, n->symbols, m->ranges, m->range_count, "s", given);
  name_variables(n, n->symbols + m->range_count, m->rts, m->rt_count, "rt", given);
}

static int by_text(const void *l, const void *r) {
  const str *a = l, *b = r;
  size_t n = a->size < b->size ? a->size : b->size;
  int order = n ? memcmp(a->data, b->data, n) : 0;
  return order ? order : (a->size > b->size) - (a->size < b->size);
}

static bool names_clash(const names *n, int count) {
  str *sorted = arena_array(n->scratch, str, count);
  for (int i = 0; i < count; ++i) sorted[i] = n->dims[i];
  qsort(sorted, (size_t)count, sizeof *sorted, by_text);
  for (int i = 1; i < count; ++i) {
    if (str_equal(sorted[i - 1], sorted[i])) return true;
  }
  return false;
}

static void find_names(names *n, const indexing_map *m) {
  int count = m->dim_count + m->range_count + m->rt_count;
  n->dims = arena_array(n->scratch, str, count);
  n->symbols = n->dims + m->dim_count;
  name_all(n, m, true);
  if (names_clash(n, count)) name_all(n, m, false);
}

static void print_names(text *out, const char *open, const str *list, int count, const char *close) {
  text_puts(out, open);
  for (int i = 0; i < count; ++i) {
    if (i > 0) text_puts(out, ", ");
    text_append(out, list[i]);
  }
  text_puts(out, close);
}

static void print_interval(text *out, interval bounds) {
  text_printf(out, " in [%lld, %lld]", (long long)bounds.lower, (long long)bounds.upper);
}

static void print_bounds(text *out, const char **separator, const str *list, const indexing_variable *v, int count) {
  for (int i = 0; i < count; ++i) {
    text_puts(out, *separator);
    text_append(out, list[i]);
    print_interval(out, v[i].bounds);
    *separator = ", ";
  }
}

static void print_constraints(text *out, const char **separator, const indexing_map *m, const names *n) {
  str *lines = arena_array(n->scratch, str, m->constraint_count);
  for (int i = 0; i < m->constraint_count; ++i) {
    text line = {0};
    affine_print(&line, m->constraints[i].expr, n->dims, n->symbols);
    print_interval(&line, m->constraints[i].bounds);
    lines[i] = str_copy(n->scratch, text_view(&line));
    text_free(&line);
  }
  qsort(lines, (size_t)m->constraint_count, sizeof *lines, by_text);
  for (int i = 0; i < m->constraint_count; ++i) {
    text_puts(out, *separator);
    text_append(out, lines[i]);
    *separator = ", ";
  }
}

void indexing_map_print(text *out, const indexing_map *m) {
  if (m->is_empty) {
    text_puts(out, "KNOWN EMPTY");
    return;
  }
  names n = {.scratch = arena_create()};
  find_names(&n, m);
  print_names(out, "(", n.dims, m->dim_count, ")");
  if (m->range_count > 0) print_names(out, "[", n.symbols, m->range_count, "]");
  if (m->rt_count > 0) print_names(out, "{", n.symbols + m->range_count, m->rt_count, "}");
  text_puts(out, " -> (");
  for (int i = 0; i < m->result_count; ++i) {
    if (i > 0) text_puts(out, ", ");
    affine_print(out, m->results[i], n.dims, n.symbols);
  }
  text_puts(out, ")");
  const char *separator = ", domain: ";
  print_bounds(out, &separator, n.dims, m->dims, m->dim_count);
  print_bounds(out, &separator, n.symbols, m->ranges, m->range_count);
  print_bounds(out, &separator, n.symbols + m->range_count, m->rts, m->rt_count);
  print_constraints(out, &separator, m, &n);
  arena_destroy(n.scratch);
}
