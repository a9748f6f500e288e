// A str is a view of characters; a text is a buffer of characters that grows.
#ifndef HEDDLE_BASE_STR_H_
#define HEDDLE_BASE_STR_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"

// A view; not necessarily NUL-terminated, never owns.
typedef struct str {
  const char *data;
  size_t size;
} str;

#define STR(literal) ((str){"" literal, sizeof(literal) - 1})
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)(s).size, (s).data

static inline str str_from(const char *text) { return (str){text, strlen(text)}; }
static inline bool str_equal(str a, str b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
static inline bool str_is(str a, const char *text) { return str_equal(a, str_from(text)); }
static inline bool str_starts_with(str a, const char *prefix) {
  size_t n = strlen(prefix);
  return a.size >= n && memcmp(a.data, prefix, n) == 0;
}
str str_copy(arena *a, str s);  // NUL-terminated copy in the arena
uint64_t str_hash(str s);       // FNV-1a, 64 bit

// Growing text on the heap. Zero-initialised means empty; text_free when done. Always NUL-terminated once non-empty.
// Without memory appending ends the guard's function (base/guard.h).
typedef struct text {
  char *data;
  size_t size;
  size_t capacity;
} text;

void text_append(text *t, str s);
void text_puts(text *t, const char *s);
void text_putc(text *t, char c);
void text_printf(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vprintf(text *t, const char *format, va_list args);
void text_indent(text *t, int columns);
void text_quote(text *t, str s);  // "..." with \" \\ \n \t \xNN escapes
void text_free(text *t);
const char *text_cstr(text *t);  // "" when empty; valid until the next append
static inline str text_view(const text *t) { return (str){t->data ? t->data : "", t->size}; }

#endif
