// Shapes and layouts as HLO text.
#include "hlo/shape.h"

#include <inttypes.h>

static void print_list(text *out, int count, const int64_t *values) {
  for (int i = 0; i < count; i++) text_printf(out, i ? ",%" PRId64 : "%" PRId64, values[i]);
}

static void print_tiles(text *out, const layout *l) {
  if (l->tile_count) text_putc(out, 'T');
  for (int i = 0; i < l->tile_count; i++) {
    text_putc(out, '(');
    for (int j = 0; j < l->tiles[i].rank; j++) {
      if (j) text_putc(out, ',');
      if (l->tiles[i].dims[j] == INT64_MIN) text_putc(out, '*');
      else text_printf(out, "%" PRId64, l->tiles[i].dims[j]);
    }
    text_putc(out, ')');
  }
}

// The parts kept as text stand at fixed places among the others: level types first, index types in the middle, the rest
// last. A part is some letters and one pair of parentheses.
typedef enum other_place { OTHER_FIRST, OTHER_MIDDLE, OTHER_LAST } other_place;

static other_place place_of(char first) {
  if (first == 'D') return OTHER_FIRST;
  return first == '#' || first == '*' ? OTHER_MIDDLE : OTHER_LAST;
}

static void print_other(text *out, str other, other_place position) {
  for (size_t i = 0; i < other.size;) {
    size_t start = i;
    int depth = 0;
    for (; i < other.size; i++) {
      depth += other.data[i] == '(';
      depth -= other.data[i] == ')';
      if (other.data[i] == ')' && depth == 0) break;
    }
    if (i < other.size) i++;
    if (place_of(other.data[start]) == position) text_append(out, (str){other.data + start, i - start});
  }
}

void layout_print(text *out, const layout *l, int rank) {
  text_putc(out, '{');
  print_list(out, rank, l->minor_to_major);
  if (l->tile_count || l->memory_space || l->element_bits || l->tail_padding > 1 || l->other.size) {
    text_putc(out, ':');
    print_other(out, l->other, OTHER_FIRST);
    print_tiles(out, l);
    if (l->tail_padding > 1) text_printf(out, "L(%" PRId64 ")", l->tail_padding);
    print_other(out, l->other, OTHER_MIDDLE);
    if (l->element_bits) text_printf(out, "E(%" PRId64 ")", l->element_bits);
    if (l->memory_space) text_printf(out, "S(%" PRId64 ")", l->memory_space);
    print_other(out, l->other, OTHER_LAST);
  }
  text_putc(out, '}');
}

static void print_dims(text *out, const shape *s) {
  text_puts(out, dtype_name(s->dtype));
  text_putc(out, '[');
  for (int i = 0; i < s->rank; i++) {
    if (i) text_putc(out, ',');
    if (s->dims[i] == -1) text_putc(out, '?');
    else text_printf(out, shape_is_dynamic_dim(s, i) ? "<=%" PRId64 : "%" PRId64, s->dims[i]);
  }
  text_putc(out, ']');
}

static void print_array(text *out, const shape *s, bool with_layout) {
  if (s->is_buffer) text_puts(out, "b(");
  print_dims(out, s);
  if (with_layout && s->layout) {
    size_t start = out->size;
    layout_print(out, s->layout, s->rank);
    if (out->size == start + 2) {  // a scalar's `{}` says nothing
      out->size = start;
      out->data[start] = '\0';
    }
  }
  if (s->is_buffer) text_putc(out, ')');
}

static void print_nested(text *out, const shape *s, bool with_layout, int depth) {
  if (!shape_is_tuple(s)) {
    print_array(out, s, with_layout);
    return;
  }
  text_putc(out, '(');
  for (int i = 0; i < s->tuple_size && depth < SHAPE_MAX_NESTING; i++) {
    if (i) text_puts(out, ", ");
    if (i && i % 5 == 0) text_printf(out, "/*index=%d*/", i);
    print_nested(out, s->elements[i], with_layout, depth + 1);
  }
  text_putc(out, ')');
}

void shape_print(text *out, const shape *s, bool with_layout) { print_nested(out, s, with_layout, 0); }

const char *shape_text(arena *a, const shape *s) {
  text t = {0};
  shape_print(&t, s, false);
  const char *copy = arena_strdup(a, text_cstr(&t), t.size);
  text_free(&t);
  return copy;
}
