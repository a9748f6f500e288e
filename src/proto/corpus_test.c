// Every module of the corpus survives being written as a message and read back.
#include "hlo/corpus_testing.h"

#include "hlo/text.h"
#include "proto/proto.h"

// What a message says in one way only: names are unique in the module, so some are new and all are made by position; a
// backend configuration in quotes that needs none loses them.
static void make_plain(arena *a, module *m) {
  for (int c = 0; c < m->computations.size; c++)
    for (int i = 0; i < m->computations.data[c]->instructions.size; i++) {
      instruction *at = m->computations.data[c]->instructions.data[i];
      at->name = str_from(arena_printf(a, "i%d.%d", c, i));
      at->attributes->backend_config_is_json = false;
    }
}

static heddle_status read_back(arena *a, const char *path, str bytes, bool is_text, module **out) {
  if (proto_is(bytes) != !is_text || proto_is_text(bytes) != is_text)
    return status_error(HEDDLE_INVALID, "the bytes do not look like a message");
  return is_text ? proto_read_text(a, path, bytes, out, NULL, NULL, NULL)
                 : proto_read(a, path, bytes, out, NULL, NULL, NULL);
}

// Reads what `m` was written as. The module's own attributes do not count: most are none of a message's.
static heddle_status check_form(arena *a, const char *path, module *m, bool is_text) {
  text bytes = {0};
  module *back;
  heddle_status status = is_text ? proto_write_text(&bytes, m) : proto_write(&bytes, m);
  if (status_is_ok(status)) status = read_back(a, path, text_view(&bytes), is_text, &back);
  text_free(&bytes);
  TRY(status_context(status, "as %s", is_text ? "text" : "bytes"));
  m->attributes.size = back->attributes.size = 0;
  make_plain(a, m);
  make_plain(a, back);
  return module_compare(m, back);
}

static heddle_status check_module(arena *a, const char *path) {
  module *m;
  TRY(hlo_parse_file(a, path, &m));
  TRY(check_form(a, path, module_clone(a, m), false));
  return check_form(a, path, m, true);
}

int main(void) { return corpus_run(".hlo", check_module); }
