// The IR section of MLIR bytecode: operations, and the blocks and regions in them.
//
// Values are numbered through a region and the regions around it, up to an operation that is isolated from above. Only
// values already read can be used: StableHLO's regions have one block each, in which a use follows its definition.
#include "base/map.h"
#include "vhlo/bytecode_reader.h"
#include "vhlo/vhlo_operation.h"

// Which parts an operation has; a bit each, in the order in which they follow.
enum {
  HAS_ATTRIBUTES = 1 << 0,
  HAS_RESULTS = 1 << 1,
  HAS_OPERANDS = 1 << 2,
  HAS_SUCCESSORS = 1 << 3,
  HAS_REGIONS = 1 << 4,
  HAS_USE_LISTS = 1 << 5,
  HAS_PROPERTIES = 1 << 6
};

// A region being read. `first` and `limit` are the numbers it has been given, of which `values` are read so far.
typedef struct frame {
  const struct frame *outer;  // null: isolated from above
  uint64_t first, limit;
  int block_count;
  VEC(ir_value *) values;
} frame;

// An operation before it is made.
typedef struct draft {
  size_t offset;
  bytecode_operation_name *name;
  uint8_t parts;
  const ir_location *location;
  vhlo_attribute_list given, attributes;
  int result_count, operand_count, successor_count;
  const ir_type **results;
  ir_value **operands;
} draft;

static bool read_operation(bytecode_cursor *c, frame *f, ir_block *block);

static bool define(bytecode_cursor *c, frame *f, ir_value *v) {
  if ((uint64_t)f->values.size >= f->limit)
    return bytecode_fail(c->b, c->at, "found more than the %llu values that the region says to have",
                         (unsigned long long)f->limit);
  vec_push(c->b->arena, &f->values, v);
  return true;
}

// An operation's results do not exist yet in its regions.
static bool is_inside_of(const ir_block *block, const ir_operation *o) {
  for (; o && block && block->parent; block = block->parent->parent->parent)
    if (block->parent->parent == o) return true;
  return false;
}

static bool read_operand(bytecode_cursor *c, const frame *f, const ir_block *block, ir_value **out) {
  uint64_t number;
  size_t start = c->at;
  if (!bytecode_varint(c, &number)) return false;
  while (f && number < f->first) f = f->outer;
  if (!f || number - f->first >= (uint64_t)f->values.size)
    return bytecode_fail(c->b, start, "found a use of value %llu, which is not defined before it",
                         (unsigned long long)number);
  *out = f->values.data[number - f->first];
  return !is_inside_of(block, (*out)->producer) ||
         bytecode_fail(c->b, start, "found a use of value %llu inside of the operation that defines it",
                       (unsigned long long)number);
}

// In which order the uses of each value are listed; skipped. `count` values, one of which needs no number.
static bool skip_use_lists(bytecode_cursor *c, int count) {
  int values = 1, length;
  uint64_t number;
  if (count > 1 && !bytecode_count(c, &values)) return false;
  for (int i = 0; i < values; i++) {
    bool are_pairs;
    if (count > 1 && !bytecode_varint(c, &number)) return false;
    if (!bytecode_flagged(c, &number, &are_pairs)) return false;
    if (number > bytecode_left(c))
      return bytecode_fail(c->b, c->at, "found an order of %llu uses", (unsigned long long)number);
    length = (int)number;
    for (int j = 0; j < length; j++)
      if (!bytecode_varint(c, &number)) return false;
  }
  return true;
}

static bool read_argument(bytecode_cursor *c, const ir_type **type, const ir_location **location) {
  static const ir_location nowhere = {0};
  if (c->b->version < BYTECODE_OPTIONAL_LOCATIONS) return bytecode_type(c, type) && bytecode_location(c, location);
  uint64_t index;
  bool has_location;
  size_t start = c->at;
  *location = &nowhere;
  return bytecode_flagged(c, &index, &has_location) && bytecode_type_at(c->b, index, start, type) &&
         (!has_location || bytecode_location(c, location));
}

static bool read_arguments(bytecode_cursor *c, frame *f, ir_block *block) {
  int count;
  if (!bytecode_count(c, &count)) return false;
  const ir_type *type;
  const ir_location *location;
  block->argument_locations = arena_array(c->b->arena, ir_location, count);
  block->arguments = arena_array(c->b->arena, ir_value *, count);
  for (int i = 0; i < count; i++) {
    if (!read_argument(c, &type, &location)) return false;
    ir_value *v = arena_new(c->b->arena, ir_value);
    *v = (ir_value){.type = type, .block = block, .number = i};
    block->argument_locations[i] = *location;
    block->arguments[block->argument_count++] = v;
    if (!define(c, f, v)) return false;
  }
  uint8_t has_use_lists = 0;
  if (c->b->version >= BYTECODE_USE_LISTS && !bytecode_byte(c, &has_use_lists)) return false;
  return !has_use_lists || skip_use_lists(c, count);
}

static bool read_block(bytecode_cursor *c, frame *f, ir_block *block) {
  uint64_t count;
  bool has_arguments;
  if (!bytecode_flagged(c, &count, &has_arguments)) return false;
  if (has_arguments && !read_arguments(c, f, block)) return false;
  for (uint64_t i = 0; i < count; i++)
    if (!read_operation(c, f, block)) return false;
  return true;
}

static bool read_region(bytecode_cursor *c, const frame *outer, ir_region *region) {
  frame f = {.outer = outer, .first = outer ? outer->first + outer->limit : 0};
  if (!bytecode_count(c, &f.block_count)) return false;
  if (f.block_count == 0) return true;
  if (!bytecode_varint(c, &f.limit)) return false;
  if (f.limit > c->b->bytes.size)
    return bytecode_fail(c->b, c->at, "found a region of %llu values", (unsigned long long)f.limit);
  for (int i = 0; i < f.block_count; i++) ir_add_block(c->b->arena, region);
  for (int i = 0; i < f.block_count; i++)
    if (!read_block(c, &f, region->blocks.data[i])) return false;
  return true;
}

// Those of an operation isolated from above are a section of their own, so that they could be read later.
static bool read_regions(bytecode_cursor *c, const frame *f, const ir_operation *o, bool is_isolated) {
  bytecode_cursor inner = *c, *from = c;
  int id;
  enum { IR_SECTION = 4 };
  if (c->b->region_depth >= IR_MAX_DEPTH)
    return bytecode_fail(c->b, c->at, "found regions nested more than %d deep", IR_MAX_DEPTH);
  if (is_isolated && c->b->version >= BYTECODE_ISOLATED_SECTIONS) {
    if (!bytecode_section(c, &id, &inner)) return false;
    if (id != IR_SECTION) return bytecode_fail(c->b, inner.at, "found section %d, wanted the one of regions", id);
    from = &inner;
  }
  c->b->region_depth++;
  for (int i = 0; i < o->region_count; i++)
    if (!read_region(from, is_isolated ? NULL : f, o->regions[i])) return false;
  c->b->region_depth--;
  if (from == &inner && inner.at != inner.end)
    return bytecode_fail(c->b, inner.at, "found %zu more bytes, wanted the end of a region", bytecode_left(&inner));
  return true;
}

static void give(bytecode *b, draft *d, str name, const ir_attribute *value) {
  vec_push(b->arena, &d->given, (ir_named_attribute){name, value});
}

static bool read_dictionary(bytecode_cursor *c, draft *d) {
  const ir_attribute *x;
  size_t start = c->at;
  if (!bytecode_attribute(c, &x)) return false;
  if (x->kind != IR_ATTR_DICTIONARY) return bytecode_fail(c->b, start, "found another attribute, wanted a dictionary");
  if (!bytecode_expand(c->b, start, (int64_t)x->count * (int64_t)sizeof *x->fields)) return false;
  for (int i = 0; i < x->count; i++) give(c->b, d, x->fields[i].name, x->fields[i].value);
  return true;
}

// builtin.module's are optional.
static bool read_module_properties(bytecode_cursor *c, draft *d) {
  static const char *const names[] = {"sym_name", "sym_visibility"};
  const ir_attribute *x;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (!bytecode_optional_attribute(c, &x)) return false;
    if (x) give(c->b, d, str_from(names[i]), x);
  }
  return true;
}

static bool read_vhlo_properties(bytecode_cursor *c, draft *d) {
  str names[VHLO_MOST_ATTRIBUTES];
  int count = vhlo_operation_attributes(d->name->vhlo, names);
  const ir_attribute *x;
  for (int i = 0; i < count; i++) {
    if (!bytecode_attribute(c, &x)) return false;
    give(c->b, d, names[i], x);
  }
  return true;
}

static bool read_chlo_properties(bytecode_cursor *c, draft *d) {
  ir_named_attribute fields[BYTECODE_MOST_CHLO_PROPERTIES];
  int count;
  if (!bytecode_chlo_properties(c, d->offset, d->name->op, &count, fields)) return false;
  for (int i = 0; i < count; i++) give(c->b, d, fields[i].name, fields[i].value);
  return true;
}

static bool read_sdy_properties(bytecode_cursor *c, draft *d) {
  ir_named_attribute fields[3];
  int count;
  if (!bytecode_sdy_properties(c, d->name->op, &count, fields)) return false;
  for (int i = 0; i < count; i++) give(c->b, d, fields[i].name, fields[i].value);
  return true;
}

// Those of an operation that is not known cannot be read; it is refused by name where it counts.
static bool read_properties(bytecode_cursor *c, draft *d) {
  int index;
  size_t start = c->at;
  if (c->b->version < BYTECODE_PROPERTIES) return bytecode_fail(c->b, start, "found properties in an older version");
  if (!d->name->is_registered) return read_dictionary(c, d);
  if (!bytecode_index(c, c->b->property_count, "properties", &index)) return false;
  str content = c->b->properties[index];
  size_t at = (size_t)(content.data - c->b->bytes.data);
  bytecode_cursor inner = {c->b, at, at + content.size};
  if (d->name->op == IR_OP_UNKNOWN) return true;
  if (!(d->name->vhlo                     ? read_vhlo_properties(&inner, d)
        : d->name->op == IR_OP_MODULE     ? read_module_properties(&inner, d)
        : str_is(d->name->dialect, "sdy") ? read_sdy_properties(&inner, d)
                                          : read_chlo_properties(&inner, d)))
    return false;
  if (inner.at != inner.end)
    return bytecode_fail(c->b, inner.at, "found %zu more bytes, wanted the end of the properties of " STR_FMT,
                         bytecode_left(&inner), STR_ARG(d->name->full_name));
  return true;
}

static bool look_up(bytecode *b, size_t offset, bytecode_operation_name *n) {
  if (n->is_known) return true;
  n->full_name = str_from(arena_printf(b->arena, STR_FMT "." STR_FMT, STR_ARG(n->dialect), STR_ARG(n->name)));
  n->op = ir_opcode_from_text(n->full_name);
  if (str_is(n->dialect, "vhlo")) {
    n->vhlo = vhlo_operation_find(n->name);
    if (!n->vhlo)
      return bytecode_refuse(b, offset, "found operation " STR_FMT ", which VHLO 0.9 to 1.17 does not have",
                             STR_ARG(n->full_name));
    n->op = n->vhlo->op;
    n->full_name = str_from(ir_opcode_text(n->op));
  }
  n->is_known = true;
  return true;
}

static bool read_attributes(bytecode_cursor *c, draft *d) {
  if ((d->parts & HAS_ATTRIBUTES) && !read_dictionary(c, d)) return false;
  if ((d->parts & HAS_PROPERTIES) && !read_properties(c, d)) return false;
  if (!bytecode_unique(c->b, d->offset, d->given.size, d->given.data)) return false;
  if (!d->name->vhlo) {
    d->attributes = d->given;
    return true;
  }
  return vhlo_operation_convert(c->b, d->offset, d->name->vhlo, d->given.size, d->given.data, &d->attributes) &&
         bytecode_unique(c->b, d->offset, d->attributes.size, d->attributes.data);
}

static bool read_operands(bytecode_cursor *c, const frame *f, const ir_block *block, draft *d) {
  if (!bytecode_count(c, &d->operand_count)) return false;
  d->operands = arena_array(c->b->arena, ir_value *, d->operand_count);
  for (int i = 0; i < d->operand_count; i++)
    if (!read_operand(c, f, block, &d->operands[i])) return false;
  return true;
}

static bool read_successors(bytecode_cursor *c, const frame *f, draft *d) {
  int index;
  if (!bytecode_count(c, &d->successor_count)) return false;
  for (int i = 0; i < d->successor_count; i++)
    if (!bytecode_index(c, f->block_count, "block", &index)) return false;
  return true;
}

static bool read_head(bytecode_cursor *c, const frame *f, const ir_block *block, draft *d) {
  int name;
  d->offset = c->at;
  if (!bytecode_index(c, c->b->name_count, "operation name", &name) || !bytecode_byte(c, &d->parts)) return false;
  d->name = &c->b->names[name];
  if (!look_up(c->b, d->offset, d->name) || !bytecode_location(c, &d->location) || !read_attributes(c, d)) return false;
  if ((d->parts & HAS_RESULTS) && !bytecode_types(c, &d->result_count, &d->results)) return false;
  if ((d->parts & HAS_OPERANDS) && !read_operands(c, f, block, d)) return false;
  if ((d->parts & HAS_SUCCESSORS) && !read_successors(c, f, d)) return false;
  return !(d->parts & HAS_USE_LISTS) || skip_use_lists(c, d->result_count);
}

// vhlo.return ends functions and regions alike.
static ir_opcode op_of(const draft *d, const ir_block *block) {
  bool is_in_function = block->parent && block->parent->parent->op == IR_OP_FUNC;
  return d->name->op == IR_OP_RETURN && d->name->vhlo && is_in_function ? IR_OP_FUNC_RETURN : d->name->op;
}

static ir_operation *make(bytecode *b, const draft *d, ir_block *block, int region_count) {
  ir_opcode op = op_of(d, block);
  ir_operation *o =
      ir_create(b->arena, block, op, d->operand_count, d->operands, d->result_count, d->results, region_count);
  ir_set_attributes(b->arena, o, d->attributes.size, d->attributes.data);
  if (op == IR_OP_UNKNOWN) o->name = d->name->full_name;
  o->successor_count = d->successor_count;
  o->where = bytecode_where(b, d->offset);
  o->location = *d->location;
  return o;
}

// Where VHLO meets another dialect values are cast between the dialects' types, which are the same to us.
static bool is_cast(const draft *d) {
  if (!str_is(d->name->full_name, "builtin.unrealized_conversion_cast") || d->operand_count != d->result_count ||
      (d->parts & HAS_REGIONS))
    return false;
  for (int i = 0; i < d->result_count; i++)
    if (!ir_type_equal(d->operands[i]->type, d->results[i])) return false;
  return true;
}

static bool read_cast(bytecode_cursor *c, frame *f, const draft *d) {
  for (int i = 0; i < d->operand_count; i++)
    if (!define(c, f, d->operands[i])) return false;
  return true;
}

static bool check_symbol(bytecode *b, const ir_operation *o) {
  const ir_operation *at;
  const char *problem = ir_symbol_problem(o, &at);
  return !problem || bytecode_fail(b, (size_t)(at->where.column - 1), "%s", problem);
}

static bool read_operation(bytecode_cursor *c, frame *f, ir_block *block) {
  draft d = {0};
  bool is_isolated = false;
  uint64_t regions = 0;
  if (!read_head(c, f, block, &d)) return false;
  if (block->operations.size && ir_returns(block->operations.data[block->operations.size - 1]))
    return bytecode_fail(c->b, c->at, "found an operation behind the end of its block");
  if (is_cast(&d)) return read_cast(c, f, &d);
  if ((d.parts & HAS_REGIONS) && !bytecode_flagged(c, &regions, &is_isolated)) return false;
  if (regions > bytecode_left(c))
    return bytecode_fail(c->b, c->at, "found an operation of %llu regions", (unsigned long long)regions);
  const ir_operation *o = make(c->b, &d, block, (int)regions);
  for (int i = 0; i < o->result_count; i++)
    if (!define(c, f, o->results[i])) return false;
  if (regions > 0 && !read_regions(c, f, o, is_isolated)) return false;
  return check_symbol(c->b, o);
}

// Functions of one name, found without comparing each with each.
static bool check_names(bytecode *b, const ir_block *body) {
  arena *scratch = arena_create();
  str_map names = {0};
  bool is_ok = true;
  for (int i = 0; i < body->operations.size && is_ok; i++) {
    const ir_operation *o = body->operations.data[i];
    const ir_attribute *name = o->op == IR_OP_FUNC ? ir_find(o, "sym_name") : NULL;
    if (!name || !name->text.size) continue;
    is_ok = !str_map_has(&names, name->text) ||
            bytecode_fail(b, (size_t)(o->where.column - 1), "found function @" STR_FMT " defined twice",
                          STR_ARG(name->text));
    str_map_put(scratch, &names, name->text, body->operations.data[i]);
  }
  arena_destroy(scratch);
  return is_ok;
}

bool bytecode_ir(bytecode_cursor *c, ir_module **out) {
  ir_block *top = arena_new(c->b->arena, ir_block);
  frame f = {.block_count = 1};
  size_t start = c->at;
  if (!read_block(c, &f, top)) return false;
  if (c->at != c->end)
    return bytecode_fail(c->b, c->at, "found %zu more bytes, wanted the end of the program", bytecode_left(c));
  if (top->operations.size != 1 || top->operations.data[0]->op != IR_OP_MODULE)
    return bytecode_fail(c->b, start, "found %d operations at the top, wanted one module", top->operations.size);
  ir_operation *o = top->operations.data[0];
  if (o->region_count != 1 || o->regions[0]->blocks.size != 1)
    return bytecode_fail(c->b, start, "found a module without a body of one block");
  if (!check_names(c->b, o->regions[0]->blocks.data[0])) return false;
  o->parent = NULL;
  ir_module *m = arena_new(c->b->arena, ir_module);
  *m = (ir_module){c->b->arena, o, c->b->file};
  *out = m;
  return true;
}
