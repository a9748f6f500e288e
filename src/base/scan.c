// Every function takes something off the start of the text that is left and moves the cursor behind it.
#include "base/scan.h"

#include <string.h>

// An empty text may have no address, to which nothing can be added.
static void move(scan *s, size_t bytes) {
  if (bytes > 0) s->left = (str){s->left.data + bytes, s->left.size - bytes};
}

static void skip_space(scan *s) {
  size_t n = 0;
  while (n < s->left.size && (s->left.data[n] == ' ' || s->left.data[n] == '\t' || s->left.data[n] == '\n')) n++;
  move(s, n);
}

bool scan_take(scan *s, const char *text) {
  skip_space(s);
  if (!str_starts_with(s->left, text)) return false;
  move(s, strlen(text));
  return true;
}

bool scan_number(scan *s, int64_t *out) {
  skip_space(s);
  int64_t value = 0;
  size_t n = 0;
  for (; n < s->left.size && s->left.data[n] >= '0' && s->left.data[n] <= '9'; n++)
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, s->left.data[n] - '0', &value))
      return false;
  if (n == 0) return false;
  *out = value;
  move(s, n);
  return true;
}

bool scan_quoted(scan *s, str *out) {
  skip_space(s);
  if (s->left.size == 0 || (s->left.data[0] != '\'' && s->left.data[0] != '"')) return false;
  const char *start = s->left.data + 1, *close = memchr(start, s->left.data[0], s->left.size - 1);
  if (!close) return false;
  *out = (str){start, (size_t)(close - start)};
  move(s, out->size + 2);
  return true;
}

bool scan_at_end(scan *s) {
  skip_space(s);
  return s->left.size == 0;
}
