// An operation is read into a block of its own, in a scope whose names may stay undefined.
#include "mlir/statements.h"

#include "mlir/parser.h"
#include "mlir/print.h"
#include "mlir/text.h"

struct mlir_statements {
  mlir_parser parser;
};

mlir_statements *mlir_statements_open(arena *a, const char *file, str source) {
  mlir_statements *s = arena_new(a, mlir_statements);
  s->parser = (mlir_parser){.arena = a,
                            .scratch = a,
                            .file = file,
                            .source = source,
                            .limit = source.size,
                            .expansion_left = MLIR_MOST_SPLAT_BYTES};
  mlir_note_lines(a, &s->parser);
  mlir_note_operations(&s->parser);
  return s;
}

heddle_status mlir_statements_generic(mlir_statements *s, size_t at, const char *prefix, text *out, size_t *end) {
  mlir_parser *p = &s->parser;
  const ir_operation *top = ir_create(p->arena, NULL, IR_OP_MODULE, 0, NULL, 0, NULL, 1);
  ptr_map names = {0};
  const ir_block *block = ir_add_block(p->arena, top->regions[0]);
  mlir_open_scope(p, true);
  p->block = top->regions[0]->blocks.data[0];
  mlir_move(p, at);
  if (!mlir_operation(p)) return p->status;
  *end = p->last_end;
  mlir_close_open_scope(p, &names);
  const mlir_print_options options = {.generic = true, .names = &names, .prefix = prefix};
  mlir_print_operation(out, block->operations.data[0], &options);
  return status_ok();
}
