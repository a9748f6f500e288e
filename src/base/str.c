// Text that grows by doubling. It lives on the heap, not in an arena, because error messages and dumps outlive passes.
#include "base/str.h"

#include <stdint.h>
#include <stdio.h>

#include "base/heap.h"

str str_copy(arena *a, str s) { return (str){arena_strdup(a, s.data, s.size), s.size}; }

uint64_t str_hash(str s) {
  // Fowler, Noll and Vo, 1991: offset basis and prime for 64 bits.
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < s.size; i++) h = (h ^ (unsigned char)s.data[i]) * 1099511628211u;
  return h;
}

// False on a thread without a guard that has no memory: such texts are messages, and stay as they are.
static bool reserve(text *t, size_t more) {
  if (t->size + more + 1 <= t->capacity) return true;
  size_t capacity = t->capacity ? t->capacity * 2 : 128;
  while (capacity < t->size + more + 1) capacity *= 2;
  char *data = heap_try_resize(t->data, capacity);
  if (!data) heap_exhausted(capacity);
  if (!data) return false;
  t->data = data;
  t->capacity = capacity;
  return true;
}

void text_append(text *t, str s) {
  if (!reserve(t, s.size)) return;
  if (s.size) memcpy(t->data + t->size, s.data, s.size);
  t->size += s.size;
  t->data[t->size] = 0;
}

void text_puts(text *t, const char *s) { text_append(t, str_from(s)); }
void text_putc(text *t, char c) { text_append(t, (str){&c, 1}); }

void text_vprintf(text *t, const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(NULL, 0, format, args);
  if (n > 0 && reserve(t, (size_t)n)) {
    vsnprintf(t->data + t->size, (size_t)n + 1, format, again);
    t->size += (size_t)n;
  }
  va_end(again);
}

void text_printf(text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  text_vprintf(t, format, args);
  va_end(args);
}

void text_indent(text *t, int columns) {
  for (int i = 0; i < columns; i++) text_putc(t, ' ');
}

void text_quote(text *t, str s) {
  text_putc(t, '"');
  for (size_t i = 0; i < s.size; i++) {
    unsigned char c = (unsigned char)s.data[i];
    if (c == '"' || c == '\\') text_printf(t, "\\%c", c);
    else if (c == '\n') text_puts(t, "\\n");
    else if (c == '\t') text_puts(t, "\\t");
    else if (c < 0x20 || c == 0x7f) text_printf(t, "\\x%02x", c);
    else text_putc(t, (char)c);
  }
  text_putc(t, '"');
}

void text_free(text *t) {
  heap_free(t->data);
  *t = (text){0};
}

const char *text_cstr(text *t) { return t->data ? t->data : ""; }
