// Names of values are MLIR's own in print already; what is left are symbols.
#include "emit/kernel_text.h"

#include <ctype.h>

#include "base/map.h"
#include "emit/ir_builder.h"

// The names of functions with bodies, each with its number plus one, 0 before it has one.
typedef struct renaming {
  arena *arena;
  str_map numbers;
  intptr_t count;
} renaming;

static void collect(renaming *r, MlirOperation module) {
  const ir_operations functions = ir_collect(r->arena, module, "func.func");
  for (int k = 0; k < functions.size; k++) {
    const MlirOperation f = functions.data[k];
    if (!mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(f, 0))))
      str_map_put(r->arena, &r->numbers, ir_symbol(f), NULL);
  }
}

static bool belongs_to_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '.'; }

// The end of what stands between quotes at `at`.
static const char *skip_quoted(const char *at) {
  for (at++; *at && *at != '"'; at++)
    if (*at == '\\' && at[1]) at++;
  return *at ? at + 1 : at;
}

// What is no identifier stands between quotes.
static str symbol_at(const char *at, const char **end) {
  const bool is_quoted = at[1] == '"';
  const char *from = at + 1 + is_quoted, *to = from;
  if (is_quoted) {
    *end = skip_quoted(at + 1);
    return (str){from, (size_t)(*end - from) - 1};
  }
  while (belongs_to_name(*to)) to++;
  *end = to;
  return (str){from, (size_t)(to - from)};
}

static const char *print_symbol(renaming *r, const char *at, text *out) {
  const char *end;
  const str name = symbol_at(at, &end);
  if (!str_map_has(&r->numbers, name)) {
    text_append(out, (str){at, (size_t)(end - at)});
    return end;
  }
  intptr_t number = (intptr_t)str_map_get(&r->numbers, name);
  if (number == 0) {
    number = ++r->count;
    str_map_put(r->arena, &r->numbers, name, (void *)number);  // NOLINT(performance-no-int-to-ptr): maps hold numbers
  }
  text_printf(out, "@%d", (int)number - 1);
  return end;
}

void kernel_text_print(arena *a, MlirOperation module, text *out) {
  renaming r = {.arena = a};
  collect(&r, module);
  const char *at = ir_operation_text(a, module), *done = at;
  while (*at) {
    if (*at != '"' && *at != '@') {
      at++;
      continue;
    }
    text_append(out, (str){done, (size_t)(at - done)});
    done = at;
    if (*at == '@') done = at = print_symbol(&r, at, out);
    else at = skip_quoted(at);
  }
  text_append(out, (str){done, (size_t)(at - done)});
}
