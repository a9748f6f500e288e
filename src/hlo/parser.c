// The module and its computations: header, stack-frame tables, bodies, and what can only be said at the end (calls, the
// entry, the order of computations).
//
// After an error inside an instruction, reading goes on at the next line that looks like the start of one.
#include "hlo/parser.h"

#include "base/caret.h"
#include "base/file.h"
#include "base/log.h"
#include "hlo/text.h"

static bool is_first_on_line(const parser *p) {
  const char *source = p->lexer.source.data;
  size_t i = p->tok.start;
  while (i > 0 && (source[i - 1] == ' ' || source[i - 1] == '\t')) i--;
  return i == 0 || source[i - 1] == '\n';
}

static bool starts_instruction(const parser *p) {
  lexer ahead = p->lexer;
  token name = p->tok;
  if (name.kind == TOKEN_WORD && str_is(name.text, "ROOT")) name = lexer_next(&ahead);
  return (name.kind == TOKEN_WORD || name.kind == TOKEN_NAME) && lexer_next(&ahead).kind == '=';
}

// To the next instruction or the brace that closes the computation. Moves at least one token if `behind`.
static void recover(parser *p, size_t behind) {
  while (p->tok.kind != TOKEN_END) {
    bool has_moved = p->tok.start > behind;
    if (has_moved && is_first_on_line(p) && (p->tok.kind == '}' || starts_instruction(p))) return;
    parser_advance(p);
  }
}

static bool parse_instructions(parser *p, frame *f, int closing) {
  int errors = p->error_count;
  while (p->tok.kind != closing && !parser_stopped(p)) {
    size_t start = p->tok.start;
    if (p->tok.kind == TOKEN_END)
      return parser_error(p, p->tok, "found the end of the text, wanted '}' at the end of computation '" STR_FMT "'",
                          STR_ARG(f->computation->name));
    if (!parser_instruction(p, f)) recover(p, start);
  }
  return p->error_count == errors;
}

// The root is the last instruction unless one is marked. Names are looked up even after errors, to report more of them.
static bool finish_computation(parser *p, frame *f, token end) {
  computation *c = f->computation;
  bool is_ok = !parser_stopped(p) && parser_resolve(p, f);
  if (f->pending.size == 0)
    return p->error_count == 0 && parser_error(p, end, "found a computation without instructions");
  if (!f->has_root) computation_set_root(c, f->pending.data[f->pending.size - 1].instruction);
  return is_ok;
}

// `{ ... }` into a new computation.
static bool parse_body(parser *p, str name, token where, computation **out) {
  frame f = {.computation = module_add_computation(p->module, name)};
  f.computation->where = parser_where(p, where);
  *out = f.computation;
  if (!parser_enter(p)) return false;
  bool is_ok = parser_expect(p, '{', "'{' of a computation");
  if (is_ok) {
    is_ok = parse_instructions(p, &f, '}');
    token end = p->tok;
    is_ok = finish_computation(p, &f, end) && is_ok;
    is_ok = parser_expect(p, '}', "'}'") && is_ok;
  }
  parser_leave(p);
  return is_ok;
}

bool parser_inline_body(parser *p, computation **out) { return parse_body(p, (str){0}, p->tok, out); }

void parser_keep_calls(parser *p, instruction *i, called_list called) {
  if (!called.size) return;
  pending_call call = {i, called};
  vec_push(p->scratch, &p->calls, call);
}

// (name: shape, ...) -> shape. It says nothing that the body does not say, and where the two differ (dumps edited by
// hand do) the body counts, as in XLA: read and forgotten.
static bool parse_signature(parser *p) {
  const shape *unused;
  if (!parser_expect(p, '(', "'('")) return false;
  for (int k = 0; p->tok.kind != ')'; k++) {
    if (k && !parser_expect(p, ',', "',' or ')'")) return false;
    if (!parser_is_name(p)) return parser_found(p, "the name of a parameter");
    parser_advance(p);
    parser_take(p, ':');
    if (!parser_shape(p, &unused)) return false;
  }
  parser_advance(p);
  return parser_expect(p, TOKEN_ARROW, "'->'") && parser_shape(p, &unused);
}

// `, execution_thread="main"` and the like behind the closing brace.
static bool parse_computation_attributes(parser *p, computation *c) {
  text others = {0};
  bool is_ok = true;
  while (is_ok && p->tok.kind == ',') {
    parser_advance(p);
    token name = p->tok;
    size_t start = name.start;
    str value;
    if (name.kind != TOKEN_WORD) is_ok = parser_found(p, "the name of an attribute");
    if (!is_ok) break;
    parser_advance(p);
    is_ok = parser_expect(p, '=', "'='");
    if (is_ok && str_is(name.text, "execution_thread") && p->tok.kind == TOKEN_STRING) {
      c->execution_thread = lexer_unescape(p->arena, p->tok.text);
      parser_advance(p);
      continue;
    }
    is_ok = is_ok && parser_value_text(p, &value);
    if (is_ok && others.size) text_puts(&others, ", ");
    if (is_ok) text_append(&others, (str){p->lexer.source.data + start, p->last_end - start});
  }
  c->attributes_text = others.size ? str_copy(p->arena, text_view(&others)) : (str){0};
  text_free(&others);
  return is_ok;
}

static bool remember(parser *p, token name, bool is_entry, computation *c) {
  p->last = c;
  if (is_entry && p->module->entry) return parser_error(p, name, "found a second ENTRY computation");
  if (is_entry) p->module->entry = c;
  str_map_put(p->scratch, &p->computations, name.text, c);
  return true;
}

static bool parse_computation(parser *p) {
  computation *c;
  token first = p->tok;
  bool is_entry = first.kind == TOKEN_WORD && str_is(first.text, "ENTRY") && parser_peek(p).kind != '{' &&
                  parser_peek(p).kind != '(';
  if (is_entry) parser_advance(p);
  token name = p->tok;
  if (!parser_is_name(p)) return parser_found(p, "a computation");
  parser_advance(p);
  if (str_map_has(&p->computations, name.text))
    return parser_error(p, name, "computation '" STR_FMT "' is defined twice", STR_ARG(name.text));
  if (p->tok.kind == '(' && !parse_signature(p)) return false;
  bool is_ok = parse_body(p, name.text, name, &c);
  is_ok = remember(p, name, is_entry, c) && is_ok;
  return is_ok && parse_computation_attributes(p, c);
}

// Instructions with nothing around them: a computation whose unknown operands are its parameters.
static bool parse_open_instructions(parser *p) {
  frame f = {.computation = module_add_computation(p->module, STR("main")), .is_open = true};
  f.computation->where = parser_where(p, p->tok);
  p->last = f.computation;
  return parse_instructions(p, &f, TOKEN_END) && finish_computation(p, &f, p->tok);
}

// entry_computation_layout={(shape, ...)->shape}
static bool parse_entry_layout(parser *p) {
  module *m = p->module;
  return parser_expect(p, '{', "'{'") && (p->tok.kind == '(' || parser_found(p, "'(' before the parameters' shapes")) &&
         parser_shape(p, &m->entry_parameters_layout) && parser_expect(p, TOKEN_ARROW, "'->'") &&
         parser_shape(p, &m->entry_result_layout) && parser_expect(p, '}', "'}'");
}

static bool parse_module_attribute(parser *p) {
  module *m = p->module;
  token name = p->tok;
  if (name.kind != TOKEN_WORD) return parser_found(p, "the name of a module attribute");
  parser_advance(p);
  if (!parser_expect(p, '=', "'='")) return false;
  size_t start = p->tok.start;
  str value;
  if (str_is(name.text, "entry_computation_layout") ? !parse_entry_layout(p) : !parser_value_text(p, &value))
    return false;
  value = (str){p->lexer.source.data + start, p->last_end - start};
  if (str_is(name.text, "is_scheduled")) m->is_scheduled = str_is(value, "true");
  module_attribute attribute = {str_copy(p->arena, name.text), str_copy(p->arena, value), parser_where(p, name)};
  vec_push(p->arena, &m->attributes, attribute);
  return true;
}

// HloModule name, attribute=value, ... (older texts end the name with a colon)
static bool parse_header(parser *p) {
  if (!parser_is_name(p)) return parser_found(p, "the module's name");
  p->module->name = str_copy(p->arena, p->tok.text);
  parser_advance(p);
  parser_take(p, ':');
  while (parser_take(p, ','))
    if (!parse_module_attribute(p)) return false;
  return true;
}

// A title; it may have no rows. Behind the name of a computation there would be a bracket.
static bool is_table(const parser *p) {
  static const char *const names[] = {"FileNames", "FunctionNames", "FileLocations", "StackFrames"};
  const token_kind next = p->tok.kind == TOKEN_WORD ? parser_peek(p).kind : TOKEN_END;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (p->tok.kind == TOKEN_WORD && str_is(p->tok.text, names[i])) return next != '{' && next != '(';
  return false;
}

// Tables that metadata refers to: rows of a number and a string or braces.
static bool parse_tables(parser *p) {
  size_t start = p->tok.start;
  while (is_table(p)) {
    parser_advance(p);
    while (parser_take(p, TOKEN_NUMBER)) {
      str value;
      if (p->tok.kind != TOKEN_STRING && p->tok.kind != '{') return parser_found(p, "a string or '{' in this table");
      if (!parser_value_text(p, &value)) return false;
    }
  }
  if (p->tok.start == start) return true;
  p->module->tables = str_copy(p->arena, (str){p->lexer.source.data + start, p->last_end - start});
  return true;
}

static bool resolve_calls(parser *p) {
  for (int k = 0; k < p->calls.size && !parser_stopped(p); k++) {
    const pending_call *call = &p->calls.data[k];
    computation **called = arena_array(p->scratch, computation *, call->called.size);
    for (int i = 0; i < call->called.size; i++) {
      const called_ref *ref = &call->called.data[i];
      called[i] = ref->inlined ? ref->inlined : str_map_get(&p->computations, ref->where.text);
      int shown = ref->where.text.size > 60 ? 60 : (int)ref->where.text.size;
      if (!called[i]) parser_error(p, ref->where, "unknown computation '%.*s'", shown, ref->where.text.data);
    }
    instruction_set_called(call->instruction, call->called.size, called);
  }
  return p->error_count == 0;
}

static bool parse_module(parser *p) {
  bool has_header = parser_take_word(p, "HloModule");
  if (has_header && !parse_header(p)) return false;
  if (!parse_tables(p)) return false;
  if (!has_header && (starts_instruction(p) || parser_starts_shape(p))) {
    parse_open_instructions(p);
  } else if (p->tok.kind == TOKEN_END) {
    return parser_found(p, has_header ? "a computation" : "HloModule or a computation");
  }
  while (p->tok.kind != TOKEN_END && !parser_stopped(p)) {
    size_t start = p->tok.start;
    if (parse_computation(p)) continue;
    // A body has closed itself; otherwise the header is at fault and its body is passed over.
    while (p->tok.kind != TOKEN_END &&
           (p->tok.start <= start || !is_first_on_line(p) || p->tok.kind == '}' || starts_instruction(p)))
      parser_advance(p);
  }
  return p->error_count == 0;
}

// Puts callees before callers and fills in the shapes that were not written.
static heddle_status finish_module(parser *p) {
  module *m = p->module;
  computation **order;
  int count;
  if (!m->entry) m->entry = p->last;
  if (!m->name.size) m->name = m->entry->name;
  TRY(module_call_order(p->scratch, m, &order, &count));
  memcpy(m->computations.data, order, sizeof *order * (size_t)count);
  for (int k = 0; k < count; k++) {
    instruction_list instructions;
    bool is_complete = true;
    for (int i = 0; i < order[k]->instructions.size; i++) is_complete &= order[k]->instructions.data[i]->shape != NULL;
    if (is_complete) continue;
    TRY(computation_post_order(p->scratch, order[k], &instructions));
    for (int i = 0; i < instructions.size; i++)
      if (!instructions.data[i]->shape) TRY(shape_infer(p->arena, instructions.data[i], &instructions.data[i]->shape));
  }
  return module_verify(m);
}

heddle_status parser_run(arena *a, const char *file, str source, int64_t elided_limit, module **out) {
  arena *scratch = arena_create();
  parser p;
  parser_start(&p, a, scratch, arena_strdup(a, file, strlen(file)), source);
  p.elided_left = elided_limit;
  p.module = module_create(a, (str){0});
  p.module->file = p.file;
  if (parse_module(&p)) resolve_calls(&p);
  heddle_status status = parser_status(&p);
  if (status_is_ok(status)) status = caret_add(finish_module(&p), source);
  if (status_is_ok(status) && p.elided_count)
    log_print(0, "%s: warning: elided constants ({...}, %d of them) get made-up values", p.file, p.elided_count);
  *out = p.module;
  arena_destroy(scratch);
  return status;
}

heddle_status hlo_parse(arena *a, const char *file, str source, module **out) {
  return parser_run(a, file, source, (int64_t)1 << 30, out);
}

heddle_status hlo_parse_file(arena *a, const char *path, module **out) {
  str source;
  TRY(file_read(a, path, &source));
  return hlo_parse(a, path, source, out);
}
