// loc(...): where an operation came from. MLIR's locations are trees; HLO's metadata has one name, file and line, so
// the outermost name is kept, and of a chain of calls the callee.
#include <limits.h>

#include "mlir/parser.h"

static bool body(mlir_parser *p, ir_location *out);

static int clamp(int64_t value) { return value < 0 || value > INT_MAX ? 0 : (int)value; }

// Behind "file": `:line:column`, and maybe `to line:column`, all of whose numbers but the first may be left out.
static bool place_in_file(mlir_parser *p, ir_location *out) {
  int64_t line, column = 0, ignored;
  if (!mlir_expect(p, ":") || !mlir_integer(p, &line)) return false;
  if (mlir_take(p, ":") && !mlir_integer(p, &column)) return false;
  if (mlir_take(p, "to")) {
    if (p->kind == MLIR_INTEGER && !mlir_integer(p, &ignored)) return false;
    if (!mlir_expect(p, ":") || !mlir_integer(p, &ignored)) return false;
    if (mlir_take(p, ":") && !mlir_integer(p, &ignored)) return false;
  }
  out->line = clamp(line);
  out->column = clamp(column);
  return true;
}

// "file":1:2 or "name" or "name"(location)
static bool quoted(mlir_parser *p, ir_location *out) {
  str s;
  if (!mlir_string(p, &s)) return false;
  if (mlir_at(p, ":")) {
    out->file = s;
    return place_in_file(p, out);
  }
  if (mlir_take(p, "(") && (!body(p, out) || !mlir_expect(p, ")"))) return false;
  out->name = s;
  return true;
}

static bool callsite(mlir_parser *p, ir_location *out) {
  ir_location caller = {0};
  return mlir_expect(p, "(") && body(p, out) && mlir_expect(p, "at") && body(p, &caller) && mlir_expect(p, ")");
}

// The first part that has a name, and the first that has a file.
static bool fused(mlir_parser *p, ir_location *out) {
  str metadata;
  if (mlir_at(p, "<") && !mlir_balanced(p, &metadata)) return false;
  if (!mlir_expect(p, "[")) return false;
  if (mlir_take(p, "]")) return true;
  do {
    ir_location part = {0};
    if (!body(p, &part)) return false;
    if (!out->name.size) out->name = part.name;
    if (!out->file.size && part.file.size) {
      str name = out->name;
      *out = part;
      out->name = name;
    }
  } while (mlir_take(p, ","));
  return mlir_expect(p, "]");
}

static bool any(mlir_parser *p, ir_location *out) {
  const ir_attribute *ignored;
  if (mlir_take(p, "unknown")) return true;
  if (mlir_take(p, "callsite")) return callsite(p, out);
  if (mlir_take(p, "fused")) return fused(p, out);
  if (mlir_at(p, "loc")) return mlir_location(p, out);
  if (p->kind == MLIR_STRING) return quoted(p, out);
  if (p->kind != MLIR_HASH) return mlir_found(p, "a location");
  if (memchr(p->tok.data, '.', p->tok.size)) return mlir_attribute(p, &ignored);
  return mlir_location_alias(p, out);
}

static bool body(mlir_parser *p, ir_location *out) {
  if (!mlir_enter(p)) return false;
  bool is_ok = any(p, out);
  mlir_leave(p);
  return is_ok;
}

bool mlir_location(mlir_parser *p, ir_location *out) {
  *out = (ir_location){0};
  return mlir_expect(p, "loc") && mlir_expect(p, "(") && body(p, out) && mlir_expect(p, ")");
}

bool mlir_optional_location(mlir_parser *p, ir_location *out) { return !mlir_at(p, "loc") || mlir_location(p, out); }
