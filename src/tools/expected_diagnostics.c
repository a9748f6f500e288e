// Comments are read before the module is, diagnostics are matched as they come. A diagnostic's line is taken from its
// printed location, since MLIR's C interface has no other way to ask.
#include "tools/expected_diagnostics.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "emit/ir_builder.h"

typedef struct expectation {
  MlirDiagnosticSeverity severity;
  long line;  // 0: unknown
  bool is_expression;
  str message;
  bool is_met;
} expectation;

struct expected_diagnostics {
  arena *arena;
  VEC(expectation) wanted;
  text failures;
};

static const struct {
  const char *name;
  MlirDiagnosticSeverity value;
} severities[] = {{"error", MlirDiagnosticError},
                  {"warning", MlirDiagnosticWarning},
                  {"remark", MlirDiagnosticRemark},
                  {"note", MlirDiagnosticNote}};

static const char *severity_name(MlirDiagnosticSeverity s) {
  for (size_t i = 0; i < sizeof severities / sizeof *severities; i++)
    if (severities[i].value == s) return severities[i].name;
  return "diagnostic";
}

// --- comments

typedef struct reader {
  str rest;
  long line;
} reader;

static bool take(reader *r, const char *what) {
  if (!str_starts_with(r->rest, what)) return false;
  const size_t size = strlen(what);
  r->rest = (str){r->rest.data + size, r->rest.size - size};
  return true;
}

static long take_number(reader *r) {
  long number = 0;
  while (r->rest.size && r->rest.data[0] >= '0' && r->rest.data[0] <= '9' && number < 100000000) {
    number = number * 10 + (r->rest.data[0] - '0');
    r->rest = (str){r->rest.data + 1, r->rest.size - 1};
  }
  return number;
}

static bool take_severity(reader *r, MlirDiagnosticSeverity *out) {
  for (size_t i = 0; i < sizeof severities / sizeof *severities; i++) {
    if (!take(r, severities[i].name)) continue;
    *out = severities[i].value;
    return true;
  }
  return false;
}

static long take_place(reader *r) {
  while (r->rest.size > 1 && r->rest.data[0] == ' ' && strchr(" @", r->rest.data[1])) (void)take(r, " ");
  if (!take(r, "@")) return r->line;
  if (take(r, "above")) return r->line - 1;
  if (take(r, "below")) return r->line + 1;
  if (take(r, "unknown")) return 0;
  if (take(r, "+")) return r->line + take_number(r);
  if (take(r, "-")) return r->line - take_number(r);
  return take_number(r);
}

// The text up to the braces that close; an expression may hold pairs of its own.
static bool take_message(reader *r, str *out) {
  while (take(r, " ") || take(r, "\t")) continue;
  if (!take(r, "{{")) return false;
  int depth = 1;
  for (size_t i = 0; i + 1 < r->rest.size && r->rest.data[i] != '\n'; i++) {
    const bool opens = r->rest.data[i] == '{' && r->rest.data[i + 1] == '{';
    const bool closes = r->rest.data[i] == '}' && r->rest.data[i + 1] == '}';
    depth += opens - closes;
    if (depth == 0) {
      *out = (str){r->rest.data, i};
      r->rest = (str){r->rest.data + i + 2, r->rest.size - i - 2};
      return true;
    }
    i += opens || closes;
  }
  return false;
}

static heddle_status read_comments(expected_diagnostics *e, str source) {
  static const char mark[] = "expected-";
  reader r = {source, 1};
  while (r.rest.size) {
    if (r.rest.data[0] == '\n') r.line++;
    const long line = r.line;
    expectation x = {0};
    if (!take(&r, mark) || !take_severity(&r, &x.severity)) {
      r.rest = (str){r.rest.data + 1, r.rest.size - (r.rest.size > 0)};
      continue;
    }
    x.is_expression = take(&r, "-re");
    x.line = take_place(&r);
    if (!take_message(&r, &x.message))
      return status_error(HEDDLE_INVALID, "line %ld: found expected-%s without {{message}}", line,
                          severity_name(x.severity));
    vec_push(e->arena, &e->wanted, x);
  }
  return status_ok();
}

// --- diagnostics

// loc("file":line:column); the innermost one of several. 0 if there is none.
static long line_of(MlirLocation location) {
  text t = {0};
  mlirLocationPrint(location, ir_append, &t);
  long line = 0;
  for (const char *at = text_cstr(&t); line == 0 && (at = strstr(at, "\":")); at += 2) line = strtol(at + 2, NULL, 10);
  text_free(&t);
  return line;
}

// The expression that a message with {{…}} parts is, everything else taken literally.
static void print_expression(text *out, str message) {
  bool is_inside = false;
  for (size_t i = 0; i < message.size; i++) {
    const bool is_pair = i + 1 < message.size && message.data[i] == message.data[i + 1];
    if (is_pair && message.data[i] == (is_inside ? '}' : '{')) {
      text_putc(out, is_inside ? ')' : '(');
      is_inside = !is_inside;
      i++;
      continue;
    }
    if (!is_inside && strchr("\\^$.|?*+()[]{}", message.data[i])) text_putc(out, '\\');
    text_putc(out, message.data[i]);
  }
}

static bool matches(const expectation *x, str found) {
  if (!x->is_expression) return memmem(found.data, found.size, x->message.data, x->message.size) != NULL;
  text t = {0}, pattern = {0};
  text_append(&t, found);
  print_expression(&pattern, x->message);
  regex_t expression;
  bool is_match = regcomp(&expression, text_cstr(&pattern), REG_EXTENDED | REG_NOSUB) == 0;
  if (is_match) {
    is_match = regexec(&expression, text_cstr(&t), 0, NULL, 0) == 0;
    regfree(&expression);
  }
  text_free(&t);
  text_free(&pattern);
  return is_match;
}

static void receive(expected_diagnostics *e, MlirDiagnostic d) {
  const MlirDiagnosticSeverity severity = mlirDiagnosticGetSeverity(d);
  const long line = line_of(mlirDiagnosticGetLocation(d));
  text message = {0};
  mlirDiagnosticPrint(d, ir_append, &message);
  bool is_expected = false;
  for (int i = 0; i < e->wanted.size && !is_expected; i++) {
    expectation *x = &e->wanted.data[i];
    if (x->is_met || x->severity != severity || x->line != line || !matches(x, text_view(&message))) continue;
    x->is_met = is_expected = true;
  }
  // Remarks and notes need not be foretold.
  if (!is_expected && severity != MlirDiagnosticNote && severity != MlirDiagnosticRemark)
    text_printf(&e->failures, "line %ld: unexpected %s \"%s\"\n", line, severity_name(severity), text_cstr(&message));
  text_free(&message);
}

static MlirLogicalResult handle(MlirDiagnostic d, void *argument) {
  receive(argument, d);
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(d); i++) receive(argument, mlirDiagnosticGetNote(d, i));
  return mlirLogicalResultSuccess();
}

heddle_status expected_diagnostics_start(arena *a, MlirContext context, str source, expected_diagnostics **out) {
  expected_diagnostics *e = *out = arena_new(a, expected_diagnostics);
  e->arena = a;
  TRY(read_comments(e, source));
  mlirContextAttachDiagnosticHandler(context, handle, e, NULL);
  return status_ok();
}

heddle_status expected_diagnostics_finish(expected_diagnostics *e) {
  for (int i = 0; i < e->wanted.size; i++) {
    const expectation *x = &e->wanted.data[i];
    if (!x->is_met)
      text_printf(&e->failures, "line %ld: expected %s \"" STR_FMT "\" did not come\n", x->line,
                  severity_name(x->severity), STR_ARG(x->message));
  }
  heddle_status s = status_ok();
  if (e->failures.size) s = status_error(HEDDLE_INVALID, "diagnostics differ:\n%s", text_cstr(&e->failures));
  text_free(&e->failures);
  return s;
}
