// Donated memory: `input_output_alias={ {0}: (1, {}, must-alias) }` says which result takes over which parameter,
// `buffer_donor={ (2, {}) }` that a parameter may be taken over by any result of its size.
#include "lhlo/donation.h"

#include <ctype.h>

#include "fuse/leaves.h"
#include "kernel/kernel.h"

typedef struct index_path {
  VEC(int) steps;
} index_path;

typedef struct donation {
  arena *arena;
  const module *module;
  str rest;
  const char *attribute;
  int *donated;  // by result leaf
  shape_list results, parameters;
  int *taken_by;  // by parameter leaf: a result, or -1
} donation;

static void skip_blanks(donation *d) {
  while (d->rest.size && isspace((unsigned char)d->rest.data[0])) d->rest.data++, d->rest.size--;
}

static bool take(donation *d, char c) {
  skip_blanks(d);
  if (!d->rest.size || d->rest.data[0] != c) return false;
  d->rest.data++;
  d->rest.size--;
  return true;
}

static heddle_status malformed(const donation *d) {
  source_location where = {.file = d->module->file, .line = 1, .column = 1};
  return status_at(HEDDLE_INVALID, where, "module attribute %s cannot be read", d->attribute);
}

static heddle_status expect(donation *d, char c) { return take(d, c) ? status_ok() : malformed(d); }

static heddle_status take_int(donation *d, int *out) {
  skip_blanks(d);
  int64_t value = 0;
  size_t digits = 0;
  for (; digits < d->rest.size && isdigit((unsigned char)d->rest.data[digits]); digits++) {
    value = value * 10 + (d->rest.data[digits] - '0');
    if (value > INT32_MAX) return malformed(d);
  }
  if (digits == 0) return malformed(d);
  d->rest = (str){d->rest.data + digits, d->rest.size - digits};
  *out = (int)value;
  return status_ok();
}

static heddle_status take_path(donation *d, index_path *out) {
  *out = (index_path){0};
  TRY(expect(d, '{'));
  while (!take(d, '}')) {
    int step = 0;
    TRY(take_int(d, &step));
    vec_push(d->arena, &out->steps, step);
    take(d, ',');
  }
  return status_ok();
}

// The leaf that the path leads to, counted from the first one of `s`; -1 if it leads nowhere or to more than one.
static int leaf_at(const shape *s, const index_path *path) {
  int leaf = 0;
  for (int k = 0; k < path->steps.size; k++) {
    int step = path->steps.data[k];
    if (step >= s->tuple_size) return -1;
    for (int j = 0; j < step; j++) leaf += leaves_count(s->elements[j]);
    s = s->elements[step];
  }
  return shape_is_array(s) ? leaf : -1;
}

static int parameter_leaf(const donation *d, int number, const index_path *path) {
  const computation *entry = d->module->entry;
  if (number >= entry->parameters.size) return -1;
  int leaf = leaf_at(entry->parameters.data[number]->shape, path);
  if (leaf < 0) return -1;
  for (int k = 0; k < number; k++) leaf += leaves_count(entry->parameters.data[k]->shape);
  return leaf;
}

static bool pair_up(donation *d, int result, int parameter) {
  if (d->donated[result] >= 0 || d->taken_by[parameter] >= 0) return false;
  if (kernel_buffer_bytes(d->results.data[result]) != kernel_buffer_bytes(d->parameters.data[parameter])) return false;
  d->donated[result] = parameter;
  d->taken_by[parameter] = result;
  return true;
}

// `(number, {path}, kind)`, with or without the kind.
static heddle_status take_parameter(donation *d, int *leaf, bool *must) {
  int number = 0;
  index_path path;
  *must = false;
  TRY(expect(d, '('));
  TRY(take_int(d, &number));
  TRY(expect(d, ','));
  TRY(take_path(d, &path));
  if (take(d, ',')) {
    skip_blanks(d);
    *must = str_starts_with(d->rest, "must-alias");
    if (!*must && !str_starts_with(d->rest, "may-alias")) return malformed(d);
    size_t size = *must ? sizeof "must-alias" - 1 : sizeof "may-alias" - 1;
    d->rest = (str){d->rest.data + size, d->rest.size - size};
  }
  *leaf = parameter_leaf(d, number, &path);
  return expect(d, ')');
}

static heddle_status read_aliases(donation *d) {
  TRY(expect(d, '{'));
  while (!take(d, '}')) {
    index_path path;
    int parameter = -1;
    bool must = false;
    TRY(take_path(d, &path));
    TRY(expect(d, ':'));
    TRY(take_parameter(d, &parameter, &must));
    take(d, ',');
    int result = leaf_at(d->module->entry->root->shape, &path);
    bool is_pair = result >= 0 && parameter >= 0 && pair_up(d, result, parameter);
    if (must && !is_pair) return malformed(d);
  }
  return status_ok();
}

// The first result of the same shape that takes over nothing yet.
static void give_to_some_result(donation *d, int parameter) {
  for (int k = 0; k < d->results.size; k++)
    if (shape_equal(d->results.data[k], d->parameters.data[parameter]) && pair_up(d, k, parameter)) return;
}

static heddle_status read_donors(donation *d) {
  TRY(expect(d, '{'));
  while (!take(d, '}')) {
    int parameter = -1;
    bool must = false;
    TRY(take_parameter(d, &parameter, &must));
    take(d, ',');
    if (parameter >= 0 && d->taken_by[parameter] < 0) give_to_some_result(d, parameter);
  }
  return status_ok();
}

static int *array_of_none(arena *a, int count) {
  int *x = arena_array(a, int, count);
  for (int k = 0; k < count; k++) x[k] = -1;
  return x;
}

heddle_status donation_find(arena *a, const module *m, int **out) {
  donation d = {.arena = a, .module = m};
  for (int k = 0; k < m->entry->parameters.size; k++)
    leaves_of_shape(a, m->entry->parameters.data[k]->shape, &d.parameters);
  leaves_of_shape(a, m->entry->root->shape, &d.results);
  *out = d.donated = array_of_none(a, d.results.size);
  d.taken_by = array_of_none(a, d.parameters.size);
  static heddle_status (*const readers[])(donation *) = {read_aliases, read_donors};
  static const char *const names[] = {"input_output_alias", "buffer_donor"};
  for (int r = 0; r < 2; r++) {
    for (int k = 0; k < m->attributes.size; k++) {
      if (!str_is(m->attributes.data[k].name, names[r])) continue;
      d.rest = m->attributes.data[k].value;
      d.attribute = names[r];
      TRY(readers[r](&d));
    }
  }
  return status_ok();
}
