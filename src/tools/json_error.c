#include "tools/json_error.h"

void json_error_put(json_writer *w, heddle_status s) {
  const source_location where = status_where(s);
  json_begin(w, "error", '{');
  json_put_string(w, "code", str_from(heddle_code_name(heddle_status_code(s))));
  json_put_string(w, "message", str_from(status_brief(s)));
  if (where.file) json_put_string(w, "file", str_from(where.file));
  if (where.line > 0) json_put_int(w, "line", where.line);
  if (where.column > 0) json_put_int(w, "column", where.column);
  json_put_string(w, "text", str_from(heddle_status_message(s)));
  json_end(w, '}');
}
