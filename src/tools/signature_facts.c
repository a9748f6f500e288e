#include "tools/signature_facts.h"

#include <math.h>
#include <stdio.h>

#include "prog/program_sizes.h"
#include "tools/json_error.h"

bool signature_facts_begin_value(json_writer *w, const program_value *v) {
  const program_shape *s = &v->shape;
  bool is_open = false;
  json_begin(w, NULL, '{');
  if (v->name && v->name[0]) json_put_string(w, "name", str_from(v->name));
  json_put_string(w, "type", str_from(dtype_name(s->type)));
  json_begin(w, "dims", '[');
  for (int d = 0; d < s->rank; d++) {
    is_open |= s->dims[d] < 0;
    if (s->dims[d] < 0) json_put_number(w, NULL, HUGE_VAL);  // null
    else json_put_int(w, NULL, s->dims[d]);
  }
  json_end(w, ']');
  return is_open;
}

void signature_facts_put_symbols(json_writer *w, const program_sizes *sizes) {
  json_begin(w, "sizes", '[');
  for (int k = 0; k < program_sizes_given_count(sizes); k++) {
    const program_symbol *s = &sizes->symbols[k];
    json_begin(w, NULL, '{');
    json_put_string(w, "name", str_from(s->name ? s->name : ""));
    json_put_int(w, "least", s->least);
    json_put_int(w, "most", s->most);
    json_end(w, '}');
  }
  json_end(w, ']');
}

heddle_status signature_facts_end(json_writer *w, heddle_status s) {
  if (!status_is_ok(s)) json_error_put(w, s);
  json_end(w, '}');
  fwrite(w->out->data, 1, w->out->size, stdout);
  text_free(w->out);
  return s;
}
