// Text and JSON say the same; the text leaves out what the program has none of.
#include "tools/signature_print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tools/open_dims.h"

static const struct {
  const char *title, *key;
} parts[SIGNATURE_PART_COUNT] = {
    [SIGNATURE_OPERATIONS] = {"operations", "operations"},
    [SIGNATURE_LIBRARIES] = {"libraries have", "libraries"},
    [SIGNATURE_CUSTOM_CALLS] = {"custom calls", "custom_calls"},
    [SIGNATURE_COLLECTIVES] = {"collectives", "collectives"},
    [SIGNATURE_RANDOM] = {"random", "random"},
    [SIGNATURE_TRANSFERS] = {"transfers", "transfers"},
    [SIGNATURE_DYNAMIC] = {"dynamic sizes", "dynamic"},
};

static int64_t sum_of(const name_counts *counts) {
  int64_t sum = 0;
  for (int k = 0; k < counts->rows.size; k++) sum += counts->rows.data[k].count;
  return sum;
}

static int compare_counts(const void *l, const void *r) {
  const name_count *x = l, *y = r;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  const int order = memcmp(x->name.data, y->name.data, x->name.size < y->name.size ? x->name.size : y->name.size);
  return order ? order : (x->name.size > y->name.size) - (x->name.size < y->name.size);
}

// The most frequent first.
static const name_count *sorted(const name_counts *counts) {
  if (counts->rows.size) qsort(counts->rows.data, (size_t)counts->rows.size, sizeof(name_count), compare_counts);
  return counts->rows.data;
}

// --- text

static void print_path(text *out, const signature_index *p) {
  text_putc(out, '{');
  for (int k = 0; k < p->depth; k++) text_printf(out, k ? ",%d" : "%d", p->path[k]);
  text_putc(out, '}');
}

static void print_index(text *out, const signature_index *p, bool is_parameter) {
  if (is_parameter) text_printf(out, "%d", p->number);
  if (!is_parameter || p->depth) print_path(out, p);
}

static void print_bytes(text *out, int64_t bytes) {
  if (bytes < 0) text_puts(out, "? B");
  else text_printf(out, "%" PRId64 " B", bytes);
}

static void pad_to(text *out, size_t start, int width) {
  for (size_t k = out->size - start; k < (size_t)width; k++) text_putc(out, ' ');
}

typedef struct table {
  const signature_arrays *arrays, *partners;
  bool has_parameters;
  int widths[3];
} table;

static void print_cell(text *out, const table *t, const signature_array *x, int column) {
  if (column == 0) print_index(out, &x->index, t->has_parameters);
  if (column == 1) text_append(out, x->name);
  if (column == 2) shape_print(out, x->shape, true);
}

enum { WIDEST = 48 };

static void measure(table *t) {
  for (int k = 0; k < t->arrays->size; k++) {
    for (int c = 0; c < 3; c++) {
      text cell = {0};
      print_cell(&cell, t, &t->arrays->data[k], c);
      if ((int)cell.size > t->widths[c] && cell.size <= WIDEST) t->widths[c] = (int)cell.size;
      text_free(&cell);
    }
  }
}

static void print_row(text *out, const table *t, const signature_array *x) {
  for (int c = 0; c < 3; c++) {
    if (t->widths[c] == 0 && c == 1) continue;
    text_puts(out, "  ");
    const size_t start = out->size;
    print_cell(out, t, x, c);
    pad_to(out, start, t->widths[c]);
  }
  text_puts(out, "  ");
  print_bytes(out, x->bytes);
  if (x->partner >= 0) {
    text_puts(out, t->has_parameters ? ", its memory goes to result " : ", in the memory of parameter ");
    print_index(out, &t->partners->data[x->partner].index, !t->has_parameters);
  }
  if (x->sharding.size) text_printf(out, ", sharding " STR_FMT, STR_ARG(x->sharding));
  text_putc(out, '\n');
}

static void print_arrays(text *out, const char *title, const signature_arrays *arrays, const signature_arrays *partners,
                         bool has_parameters) {
  table t = {arrays, partners, has_parameters, {0}};
  text_printf(out, "%s: %d, ", title, arrays->size);
  print_bytes(out, signature_bytes(arrays));
  text_putc(out, '\n');
  measure(&t);
  for (int k = 0; k < arrays->size; k++) print_row(out, &t, &arrays->data[k]);
}

static void print_part(text *out, const signature *s, signature_part part) {
  const name_count *rows = sorted(&s->parts[part]);
  const int count = s->parts[part].rows.size;
  if (count == 0) return;
  text_printf(out, "%s: ", parts[part].title);
  for (int k = 0; k < count; k++)
    text_printf(out, "%s" STR_FMT " %" PRId64, k ? ", " : "", STR_ARG(rows[k].name), rows[k].count);
  text_putc(out, '\n');
}

static const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

static void print_operations(text *out, const signature *s, bool lists) {
  const name_counts *counts = &s->parts[SIGNATURE_OPERATIONS];
  text_printf(out, "operations: %" PRId64 " in %" PRId64 " computation%s", sum_of(counts), s->computations,
              plural(s->computations));
  text_printf(out, s->is_made_up ? ", where every ? is %d\n" : "\n", OPEN_DIMS_MADE_UP);
  const name_count *rows = sorted(counts);
  for (int k = 0; lists && k < counts->rows.size; k++)
    text_printf(out, "  " STR_FMT "  %" PRId64 "\n", STR_ARG(rows[k].name), rows[k].count);
}

static void print_open(text *out, const signature *s) {
  if (s->symbols.size) text_printf(out, "symbols: " STR_FMT "\n", STR_ARG(s->symbols));
  if (!s->is_open) return;
  text_puts(out,
            "sizes of ? come from the arguments: heddle run --input or --random, --argument_shape here and for\n"
            "  heddle convert, heddle_compile_options.parameters in C\n");
}

static void print_devices(text *out, const signature *s) {
  text_printf(out, "devices: %" PRId64, (int64_t)s->replicas * s->partitions);
  if (s->replicas > 1 || s->partitions > 1)
    text_printf(out, ", %d replica%s x %d partition%s", s->replicas, plural(s->replicas), s->partitions,
                plural(s->partitions));
  text_putc(out, '\n');
}

void signature_print_text(text *out, const signature_file *file, const signature *s, bool lists_operations) {
  text_printf(out, "module " STR_FMT ", entry " STR_FMT ": %s", STR_ARG(s->module), STR_ARG(s->entry), file->format);
  text_printf(out, file->version ? ", %s\n" : "\n", file->version);
  print_devices(out, s);
  print_arrays(out, "parameters", &s->parameters, &s->results, true);
  print_arrays(out, "results", &s->results, &s->parameters, false);
  print_open(out, s);
  if (!s->has_parts) {
    text_puts(out, "operations: not known without sizes\n");
    return;
  }
  text_printf(out, "constants: %" PRId64 ", %" PRId64 " B\n", s->constants, s->constant_bytes);
  print_operations(out, s, lists_operations);
  for (int k = SIGNATURE_OPERATIONS + 1; k < SIGNATURE_PART_COUNT; k++) print_part(out, s, (signature_part)k);
}

// --- JSON

// Bytes of the UTF-8 sequence at the start; 0 if there is none.
static int sequence_size(str s) {
  const unsigned char *c = (const unsigned char *)s.data;
  const int size = c[0] < 0x80 ? 1 : c[0] >> 5 == 6 ? 2 : c[0] >> 4 == 14 ? 3 : c[0] >> 3 == 30 ? 4 : 0;
  if (size == 0 || (size_t)size > s.size) return 0;
  for (int k = 1; k < size; k++)
    if (c[k] >> 6 != 2) return 0;
  const bool is_long = c[0] < 0xc2 || (c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xf0 && c[1] < 0x90);
  const bool is_beyond = (c[0] == 0xed && c[1] > 0x9f) || c[0] > 0xf4 || (c[0] == 0xf4 && c[1] > 0x8f);
  return size > 1 && (is_long || is_beyond) ? 0 : size;
}

static void json_string(text *out, str s) {
  text_putc(out, '"');
  for (size_t k = 0; k < s.size;) {
    const str rest = {s.data + k, s.size - k};
    const int size = sequence_size(rest);
    const unsigned char c = (unsigned char)rest.data[0];
    if (size == 0) text_puts(out, "\\ufffd");
    else if (c == '"' || c == '\\') text_printf(out, "\\%c", c);
    else if (c < 0x20 || c == 0x7f) text_printf(out, "\\u%04x", c);
    else text_append(out, (str){rest.data, (size_t)size});
    k += size ? (size_t)size : 1;
  }
  text_putc(out, '"');
}

static void json_key(text *out, const char *key, bool is_first) {
  text_printf(out, "%s\"%s\": ", is_first ? "" : ", ", key);
}

static void json_text(text *out, const char *key, str value, bool is_first) {
  json_key(out, key, is_first);
  if (value.data) json_string(out, value);
  else text_puts(out, "null");
}

static void json_number(text *out, const char *key, int64_t value, bool is_first) {
  json_key(out, key, is_first);
  if (value < 0) text_puts(out, "null");
  else text_printf(out, "%" PRId64, value);
}

static void json_path(text *out, const signature_index *p) {
  json_key(out, "path", false);
  text_putc(out, '[');
  for (int k = 0; k < p->depth; k++) text_printf(out, k ? ", %d" : "%d", p->path[k]);
  text_putc(out, ']');
}

static void json_dims(text *out, const shape *s) {
  json_key(out, "dims", false);
  text_putc(out, '[');
  for (int k = 0; k < s->rank; k++) {
    if (k) text_puts(out, ", ");
    if (s->dims[k] < 0) text_puts(out, "null");
    else text_printf(out, "%" PRId64, s->dims[k]);
  }
  text_putc(out, ']');
}

static void json_shape(text *out, const shape *s) {
  text printed = {0};
  shape_print(&printed, s, true);
  json_text(out, "shape", text_view(&printed), false);
  text_free(&printed);
  json_text(out, "type", str_from(dtypes[s->dtype].name), false);
  json_dims(out, s);
}

static void json_array(text *out, const signature_array *x, int number, bool is_parameter) {
  text_puts(out, "{");
  json_number(out, is_parameter ? "parameter" : "result", is_parameter ? x->index.number : number, true);
  json_path(out, &x->index);
  json_text(out, "name", x->name.size ? x->name : (str){0}, false);
  json_shape(out, x->shape);
  json_number(out, "bytes", x->bytes, false);
  json_number(out, is_parameter ? "gives_memory_to" : "takes_memory_of", x->partner, false);
  json_text(out, "sharding", x->sharding.size ? x->sharding : (str){0}, false);
  text_puts(out, "}");
}

static void json_arrays(text *out, const char *key, const signature_arrays *arrays, bool are_parameters) {
  json_key(out, key, false);
  text_putc(out, '[');
  for (int k = 0; k < arrays->size; k++) {
    text_puts(out, k ? ",\n   " : "\n   ");
    json_array(out, &arrays->data[k], k, are_parameters);
  }
  text_putc(out, ']');
}

static void json_part(text *out, const signature *s, signature_part part) {
  const name_count *rows = sorted(&s->parts[part]);
  text_puts(out, ",\n  ");
  json_key(out, parts[part].key, true);
  text_putc(out, '{');
  for (int k = 0; k < s->parts[part].rows.size; k++) {
    if (k) text_puts(out, ", ");
    json_string(out, rows[k].name);
    text_printf(out, ": %" PRId64, rows[k].count);
  }
  text_putc(out, '}');
}

static void json_program(text *out, const signature *s) {
  text_puts(out, "{");
  json_text(out, "module", s->module, true);
  json_text(out, "entry", s->entry, false);
  json_number(out, "replicas", s->replicas, false);
  json_number(out, "partitions", s->partitions, false);
  text_printf(out, ", \"open\": %s", s->is_open ? "true" : "false");
  json_text(out, "symbols", s->symbols.size ? s->symbols : (str){0}, false);
  json_number(out, "parameter_bytes", signature_bytes(&s->parameters), false);
  json_number(out, "result_bytes", signature_bytes(&s->results), false);
  json_number(out, "constants", s->has_parts ? s->constants : -1, false);
  json_number(out, "constant_bytes", s->has_parts ? s->constant_bytes : -1, false);
  json_number(out, "computations", s->has_parts ? s->computations : -1, false);
  json_number(out, "made_up_size", s->is_made_up ? OPEN_DIMS_MADE_UP : -1, false);
  json_arrays(out, "parameters", &s->parameters, true);
  json_arrays(out, "results", &s->results, false);
  for (int k = 0; s->has_parts && k < SIGNATURE_PART_COUNT; k++) json_part(out, s, (signature_part)k);
  text_puts(out, "}");
}

void signature_print_json(text *out, const signature_file *file, int count, const signature *programs) {
  text_puts(out, "{");
  json_text(out, "file", str_from(file->path), true);
  json_text(out, "format", str_from(file->format), false);
  json_text(out, "version", file->version ? str_from(file->version) : (str){0}, false);
  json_key(out, "programs", false);
  text_putc(out, '[');
  for (int k = 0; k < count; k++) {
    text_puts(out, k ? ",\n " : "\n ");
    json_program(out, &programs[k]);
  }
  text_puts(out, "]}\n");
}
