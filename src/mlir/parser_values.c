// Names of values and blocks: scopes, definitions, uses.
//
// A use before the definition makes the value ahead of its operation; the definition later takes it over. Inside one
// block that is an error all the same, but a branch may go back in the text.
#include "mlir/parser.h"
#include "mlir/print_values.h"

typedef struct name_entry {
  str name;
  size_t offset;  // of the definition, or of the first use
  int count;      // of values; while undefined those used so far are in `ahead`
  ir_value **values;
  ir_value *single;
  bool is_defined;
  VEC(ir_value *) ahead;
  const ir_block *used_in;  // the block of the entry's scope in which the last early use was
} name_entry;

typedef struct block_entry {
  str name;
  size_t offset;
  bool is_defined;
} block_entry;

struct mlir_scope {
  struct mlir_scope *parent;
  bool is_isolated;
  str_map names, blocks;
  VEC(name_entry *) undefined;
  VEC(block_entry *) used_blocks;
  ir_block *outer_block;  // the block being read when the scope was opened
};

void mlir_open_scope(mlir_parser *p, bool is_isolated) {
  struct mlir_scope *s = arena_new(p->scratch, struct mlir_scope);
  s->parent = p->scope;
  s->is_isolated = is_isolated;
  s->outer_block = p->block;
  p->scope = s;
}

bool mlir_close_scope(mlir_parser *p) {
  const struct mlir_scope *s = p->scope;
  p->scope = s->parent;
  p->block = s->outer_block;
  for (int i = 0; i < s->undefined.size; i++) {
    const name_entry *e = s->undefined.data[i];
    if (!e->is_defined) return mlir_error(p, e->offset, "found '" STR_FMT "', which is not defined", STR_ARG(e->name));
  }
  for (int i = 0; i < s->used_blocks.size; i++) {
    const block_entry *e = s->used_blocks.data[i];
    if (!e->is_defined)
      return mlir_error(p, e->offset, "found block '" STR_FMT "', which is not defined", STR_ARG(e->name));
  }
  return true;
}

void mlir_close_open_scope(mlir_parser *p, ptr_map *names) {
  const struct mlir_scope *s = p->scope;
  p->scope = s->parent;
  p->block = s->outer_block;
  for (int i = 0; i < s->undefined.size; i++) {
    const name_entry *e = s->undefined.data[i];
    for (int k = 0; !e->is_defined && k < e->ahead.size; k++) {
      const str name = {e->name.data + 1, e->name.size - 1};
      // The first of several results has its number, too, which a lone result may have as well.
      const char *spelled = e->ahead.size > 1 ? arena_printf(p->arena, STR_FMT "#%d", STR_ARG(name), k)
                                              : arena_strdup(p->arena, name.data, name.size);
      if (e->ahead.data[k]) ptr_map_put(p->arena, names, e->ahead.data[k], (void *)(uintptr_t)spelled);
    }
  }
}

// The entry that `name` means here, and the block of its scope that is being read.
static name_entry *find(const mlir_parser *p, str name, const ir_block **block) {
  *block = p->block;
  for (const struct mlir_scope *s = p->scope; s; s = s->parent) {
    name_entry *e = str_map_get(&s->names, name);
    if (e) return e;
    if (s->is_isolated) return NULL;
    *block = s->outer_block;
  }
  return NULL;
}

static name_entry *add_entry(mlir_parser *p, str name, size_t offset) {
  name_entry *e = arena_new(p->scratch, name_entry);
  e->name = name;
  e->offset = offset;
  str_map_put(p->scratch, &p->scope->names, name, e);
  return e;
}

static bool check_type(mlir_parser *p, size_t offset, str name, const ir_type *found, const ir_type *wanted) {
  text l = {0}, r = {0};
  if (ir_type_equal(found, wanted)) return true;
  mlir_print_type(&l, found);
  mlir_print_type(&r, wanted);
  mlir_error(p, offset, "found '" STR_FMT "' of type %s, used as %s", STR_ARG(name), text_cstr(&l), text_cstr(&r));
  text_free(&l);
  text_free(&r);
  return false;
}

// --- uses

bool mlir_operand_use(mlir_parser *p, mlir_operand *out) {
  if (p->kind != MLIR_VALUE) return mlir_found(p, "a value such as %0");
  const char *mark = memchr(p->tok.data, '#', p->tok.size);
  *out = (mlir_operand){.name = p->tok, .offset = p->tok_offset};
  if (mark) {
    out->name.size = (size_t)(mark - p->tok.data);
    for (const char *c = mark + 1; c < p->tok.data + p->tok.size; c++) {
      if (out->number > INT16_MAX) return mlir_error(p, p->tok_offset, "found a result's number beyond any operation");
      out->number = out->number * 10 + (*c - '0');
    }
  }
  mlir_advance(p);
  return true;
}

bool mlir_operand_uses(mlir_parser *p, mlir_operand_list *list) {
  if (p->kind != MLIR_VALUE) return true;
  do {
    mlir_operand use;
    if (!mlir_operand_use(p, &use)) return false;
    vec_push(p->scratch, list, use);
  } while (mlir_take(p, ","));
  return true;
}

static bool use_ahead(mlir_parser *p, name_entry *e, const mlir_operand *use, const ir_type *type, ir_value **out) {
  while (e->ahead.size <= use->number) {
    ir_value *none = NULL;
    vec_push(p->scratch, &e->ahead, none);
  }
  ir_value **slot = &e->ahead.data[use->number];
  if (!*slot) {
    *slot = arena_new(p->arena, ir_value);
    (*slot)->type = type;
  }
  *out = *slot;
  return check_type(p, use->offset, use->name, (*slot)->type, type);
}

bool mlir_resolve(mlir_parser *p, const mlir_operand *use, const ir_type *type, ir_value **out) {
  const ir_block *block;
  name_entry *e = find(p, use->name, &block);
  if (!e) {
    e = add_entry(p, use->name, use->offset);
    vec_push(p->scratch, &p->scope->undefined, e);
    block = p->block;
  }
  if (!e->is_defined) {
    e->used_in = block;
    return use_ahead(p, e, use, type, out);
  }
  if (use->number >= e->count)
    return mlir_error(p, use->offset, "found result %d of '" STR_FMT "', which has %d", use->number, STR_ARG(use->name),
                      e->count);
  *out = e->values[use->number];
  return check_type(p, use->offset, use->name, (*out)->type, type);
}

// --- definitions

// Puts the values made by early uses in place of the definition's own.
static bool take_over(mlir_parser *p, const name_entry *e, int count, ir_value **values) {
  if (e->used_in == p->block)
    return mlir_error(p, e->offset, "found '" STR_FMT "', which is defined further down", STR_ARG(e->name));
  if (e->ahead.size > count)
    return mlir_error(p, e->offset, "found result %d of '" STR_FMT "', which has %d", e->ahead.size - 1,
                      STR_ARG(e->name), count);
  for (int i = 0; i < e->ahead.size; i++) {
    ir_value *early = e->ahead.data[i];
    if (!early) continue;
    if (!check_type(p, e->offset, e->name, values[i]->type, early->type)) return false;
    *early = *values[i];
    values[i] = early;
  }
  return true;
}

bool mlir_define(mlir_parser *p, str name, size_t offset, int count, ir_value **values) {
  const ir_block *block;
  name_entry *e = find(p, name, &block);
  if (e && e->is_defined) {
    source_location where = mlir_where(p, e->offset);
    return mlir_error(p, offset, "found '" STR_FMT "' defined again, first in line %d", STR_ARG(name), where.line);
  }
  if (e && str_map_get(&p->scope->names, name) == e) {
    if (!take_over(p, e, count, values)) return false;
  } else {
    e = add_entry(p, name, offset);
  }
  e->offset = offset;
  e->is_defined = true;
  e->count = count;
  e->single = values[0];
  e->values = count == 1 ? &e->single : values;
  return true;
}

// --- blocks

static block_entry *find_block(mlir_parser *p, str name, size_t offset) {
  block_entry *e = str_map_get(&p->scope->blocks, name);
  if (e) return e;
  e = arena_new(p->scratch, block_entry);
  *e = (block_entry){.name = name, .offset = offset};
  str_map_put(p->scratch, &p->scope->blocks, name, e);
  return e;
}

bool mlir_define_block(mlir_parser *p, str name, size_t offset) {
  block_entry *e = find_block(p, name, offset);
  if (e->is_defined) return mlir_error(p, offset, "found block '" STR_FMT "' defined again", STR_ARG(name));
  e->is_defined = true;
  return true;
}

bool mlir_use_block(mlir_parser *p) {
  if (p->kind != MLIR_BLOCK) return mlir_found(p, "a block such as ^bb0");
  block_entry *e = find_block(p, p->tok, p->tok_offset);
  vec_push(p->scratch, &p->scope->used_blocks, e);
  mlir_advance(p);
  return true;
}
