// A file of MLIR text: its pieces between `// -----` lines, each a module of its own.
#include "mlir/text.h"

#include "mlir/parser.h"

typedef VEC(ir_module *) module_list;

void mlir_note_lines(arena *a, mlir_parser *p) {
  size_t start = 0;
  for (const char *newline; start <= p->source.size; start = (size_t)(newline - p->source.data) + 1) {
    vec_push(a, &p->line_starts, start);
    newline = start < p->source.size ? memchr(p->source.data + start, '\n', p->source.size - start) : NULL;
    if (!newline) break;
  }
}

// --- one piece

void mlir_note_operations(mlir_parser *p) {
  for (int op = IR_OP_UNKNOWN + 1; op < IR_OP_COUNT; op++)
    str_map_put(p->scratch, &p->operations, str_from(ir_opcode_text((ir_opcode)op)), (void *)(intptr_t)op);
}

str mlir_stablehlo_name(const mlir_parser *p, str name) {
  enum { PREFIX_SIZE = sizeof "mhlo." - 1 };
  if (!str_starts_with(name, "mhlo.")) return name;
  return str_from(arena_printf(p->scratch, "stablehlo.%.*s", (int)name.size - PREFIX_SIZE, name.data + PREFIX_SIZE));
}

ir_opcode mlir_op_of(const mlir_parser *p, str name) {
  ir_opcode op = (ir_opcode)(intptr_t)str_map_get(&p->operations, name);
  return op == IR_OP_UNKNOWN ? (ir_opcode)(intptr_t)str_map_get(&p->operations, mlir_stablehlo_name(p, name)) : op;
}

static bool parse_top(mlir_parser *p) {
  while (p->kind != MLIR_END)
    if (!mlir_skip_alias(p) && !mlir_operation(p)) return false;
  return true;
}

// Functions of one name in a module, found without comparing each with each.
static bool check_symbols(mlir_parser *p, const ir_block *body) {
  str_map names = {0};
  for (int i = 0; i < body->operations.size; i++) {
    const ir_operation *o = body->operations.data[i];
    const ir_attribute *name = o->op == IR_OP_FUNC ? ir_find(o, "sym_name") : NULL;
    if (!name || !name->text.size) continue;
    if (str_map_has(&names, name->text)) {
      size_t line = p->line_starts.data[o->where.line - 1];
      return mlir_error(p, line + (size_t)(o->where.column - 1), "found function @" STR_FMT " defined twice",
                        STR_ARG(name->text));
    }
    str_map_put(p->scratch, &names, name->text, body->operations.data[i]);
  }
  return true;
}

// A module around all that stands at the top; the one that stands there alone is taken in its place.
static bool parse_piece(mlir_parser *p, ir_module **out) {
  ir_operation *top = ir_create(p->arena, NULL, IR_OP_MODULE, 0, NULL, 0, NULL, 1);
  top->where = mlir_where(p, p->tok_offset);
  p->block = ir_add_block(p->arena, top->regions[0]);
  mlir_open_scope(p, true);
  bool is_ok = parse_top(p);
  ir_block *body = p->block;
  if (!mlir_close_scope(p) || !is_ok) return false;
  if (body->operations.size == 1 && body->operations.data[0]->op == IR_OP_MODULE) {
    top = body->operations.data[0];
    top->parent = NULL;
    if (!top->regions[0]->blocks.size) ir_add_block(p->arena, top->regions[0]);
    body = top->regions[0]->blocks.data[0];
  }
  *out = arena_new(p->arena, ir_module);
  **out = (ir_module){.arena = p->arena, .operation = top, .file = p->file};
  return check_symbols(p, body);
}

// Pieces without anything but comments give no module.
static heddle_status read_piece(mlir_parser p, size_t start, size_t end, int64_t *expansion, module_list *list) {
  ir_module *m = NULL;
  p.scratch = arena_create();
  p.limit = end;
  p.expansion_left = *expansion;
  mlir_move(&p, start);
  if (p.kind != MLIR_END) {
    mlir_note_operations(&p);
    bool is_ok = mlir_scan_aliases(&p, start);
    mlir_move(&p, start);
    if (is_ok && parse_piece(&p, &m)) vec_push(p.arena, list, m);
  }
  *expansion = p.expansion_left;
  arena_destroy(p.scratch);
  return p.status;
}

// --- all pieces

static bool is_divider(str source, size_t line) {
  return str_starts_with((str){source.data + line, source.size - line}, "// -----");
}

static heddle_status read_pieces(const mlir_parser *p, int64_t expansion, module_list *list) {
  size_t start = 0;
  for (int i = 1; i < p->line_starts.size; i++) {
    size_t line = p->line_starts.data[i];
    if (!is_divider(p->source, line)) continue;
    TRY(read_piece(*p, start, line, &expansion, list));
    start = line;
  }
  return read_piece(*p, start, p->source.size, &expansion, list);
}

heddle_status mlir_parser_run(arena *a, const char *file, str source, int64_t expansion, int *count, ir_module ***out) {
  arena *lines = arena_create();
  module_list list = {0};
  mlir_parser p = {.arena = a, .file = arena_strdup(a, file, strlen(file)), .source = source};
  mlir_note_lines(lines, &p);
  heddle_status status = read_pieces(&p, expansion, &list);
  if (status_is_ok(status) && !list.size)
    status = status_at(HEDDLE_INVALID, mlir_where(&p, source.size), "found no operations, wanted a module");
  *count = list.size;
  *out = list.data;
  arena_destroy(lines);
  return status;
}

heddle_status mlir_text_read(arena *a, const char *file, str source, int *count, ir_module ***out) {
  return mlir_parser_run(a, file, source, MLIR_MOST_SPLAT_BYTES, count, out);
}

// --- parts

static bool is_whole(str text, bool is_type) {
  arena *scratch = arena_create();
  mlir_parser p = {.arena = scratch, .scratch = scratch, .file = "text", .source = text, .limit = text.size};
  const ir_type *type;
  const ir_attribute *attribute;
  mlir_note_lines(scratch, &p);
  mlir_move(&p, 0);
  bool is_ok = (is_type ? mlir_type(&p, &type) : mlir_attribute(&p, &attribute)) && p.kind == MLIR_END;
  heddle_status_free(p.status);
  arena_destroy(scratch);
  return is_ok;
}

bool mlir_text_is_type(str text) { return is_whole(text, true); }
bool mlir_text_is_attribute(str text) { return is_whole(text, false); }
