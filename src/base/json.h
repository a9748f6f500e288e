// Writes JSON.
#ifndef HEDDLE_BASE_JSON_H_
#define HEDDLE_BASE_JSON_H_

#include "base/str.h"

// "…" with escapes; bytes that are no UTF-8 become U+FFFD.
void json_string(text *out, str s);
// A number, as short as it may be to read back the same; null for infinities and NaN, which JSON lacks.
void json_number(text *out, double value);

// Members of objects and elements of arrays, with what separates them: `name` is null in arrays.
typedef struct json_writer {
  text *out;
  int depth;
  bool has_members;  // the innermost object or array has some
} json_writer;

void json_begin(json_writer *w, const char *name, char bracket);  // '{' or '['
void json_end(json_writer *w, char bracket);                      // '}' or ']'
void json_put_string(json_writer *w, const char *name, str value);
void json_put_number(json_writer *w, const char *name, double value);
void json_put_int(json_writer *w, const char *name, int64_t value);
void json_put_bool(json_writer *w, const char *name, bool value);

#endif
