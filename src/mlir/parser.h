// What the files of the MLIR text reader share: parser*.c, lexer.c and assembly*.c only.
//
// Every parse function returns false after it has recorded a diagnostic in `status`; the first error ends the reading.
#ifndef HEDDLE_MLIR_PARSER_H_
#define HEDDLE_MLIR_PARSER_H_

#include "base/map.h"
#include "mlir/ir.h"

typedef enum mlir_token {
  MLIR_END,
  MLIR_ERROR,
  MLIR_WORD,        // bare identifier, keywords and dotted operation names: stablehlo.add, tensor, i32
  MLIR_STRING,      // "..." (still quoted)
  MLIR_INTEGER,     // 12, 0x1F (a leading `-` is its own token)
  MLIR_FLOAT,       // 1.5e+3
  MLIR_VALUE,       // %0, %arg0, %0#1
  MLIR_SYMBOL,      // @name, @"name"
  MLIR_BLOCK,       // ^bb0
  MLIR_HASH,        // #alias, #stablehlo.dot, #stablehlo (text with the mark)
  MLIR_BANG,        // !alias, !quant.uniform, !stablehlo.token
  MLIR_ARROW,       // ->
  MLIR_PUNCTUATION  // one character: ( ) { } [ ] < > , : = ? * + - / | and so on, and `::`
} mlir_token;

typedef struct mlir_parser {
  arena *arena;
  arena *scratch;  // dies with the parser
  const char *file;
  str source;       // the whole file
  size_t limit;     // end of the piece being read
  size_t position;  // behind the current token
  mlir_token kind;  // the current token, not yet taken
  str tok;          // its text
  size_t tok_offset;
  size_t last_end;      // end of the token before it
  const char *problem;  // of MLIR_ERROR
  heddle_status status;
  int depth;
  int64_t expansion_left;    // bytes that splats may still take
  int64_t parts;             // types and attributes read so far, an alias for all that it stands for
  struct mlir_scope *scope;  // names of values in the region being read; internal to mlir_parser_values.c
  ir_block *block;           // the block being read; null outside
  VEC(size_t) line_starts;
  size_t metadata_start, metadata_end;                 // of {-# ... #-}; 0 if there is none
  str_map operations;                                  // ir_opcode by name
  str_map attribute_aliases, type_aliases, resources;  // internal to mlir_parser_aliases.c
} mlir_parser;

// Tokens.
void mlir_advance(mlir_parser *p);
void mlir_move(mlir_parser *p, size_t offset);         // reads the token at `offset`, in front or behind
bool mlir_at(const mlir_parser *p, const char *text);  // whether the current token is this word or punctuation
bool mlir_take(mlir_parser *p, const char *text);      // takes it if it is there
bool mlir_expect(mlir_parser *p, const char *text);    // or fails: found ..., wanted `text`
bool mlir_take_word(mlir_parser *p, str *out);         // any bare identifier; fails otherwise
bool mlir_integer(mlir_parser *p, int64_t *out);       // with sign
bool mlir_magnitude(mlir_parser *p, uint64_t *out);    // without one
bool mlir_number(mlir_parser *p, double *out);         // with sign, decimal integers too
bool mlir_string(mlir_parser *p, str *out);            // unescaped, in the arena
bool mlir_symbol(mlir_parser *p, str *out);            // @name, @"name", @a::@b (joined by "::"), in the arena
// From the current opening bracket to its counterpart, strings skipped; the text with both brackets.
bool mlir_balanced(mlir_parser *p, str *out);
source_location mlir_where(const mlir_parser *p, size_t offset);
bool mlir_error(mlir_parser *p, size_t offset, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool mlir_found(mlir_parser *p, const char *wanted);  // error: found <current token>, wanted ...
bool mlir_enter(mlir_parser *p);                      // one level deeper, or an error; pair with mlir_leave
void mlir_leave(mlir_parser *p);

// Types and attributes.
bool mlir_type(mlir_parser *p, const ir_type **out);
// Whether it begins a builtin attribute that is kept as text: affine_map, strided, …
bool mlir_is_opaque_keyword(str word);
bool mlir_attribute(mlir_parser *p, const ir_attribute **out);  // with its `: type` if it has one
// `{a = 1, b}` if there is one, added to the list; `<{...}>` (properties) by mlir_properties.
typedef VEC(ir_named_attribute) ir_attribute_list;
bool mlir_properties(mlir_parser *p, ir_attribute_list *list);
bool mlir_attribute_dictionary(mlir_parser *p, ir_attribute_list *list);  // fails if there is none
// False, with an error at `offset`, if a name is in the list twice.
bool mlir_check_attributes(mlir_parser *p, size_t offset, const ir_attribute_list *list);
bool mlir_optional_attributes(mlir_parser *p, ir_attribute_list *list);     // nothing if there is none
bool mlir_function_type(mlir_parser *p, const ir_type **out);               // (a, b) -> c or -> (c, d)
bool mlir_enumeration(mlir_parser *p, str name, const ir_attribute **out);  // `EQ` of "stablehlo.comparison_direction"
bool mlir_record(mlir_parser *p, str name, const ir_attribute **out);       // `<field = value, ...>` of "stablehlo.dot"
bool mlir_dims(mlir_parser *p, const ir_attribute **out);                   // [1, ?] as INTEGERS
bool mlir_conv_dims(mlir_parser *p, const ir_attribute **out);              // [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
// ` loc(...)` if there is one; `out` is left alone otherwise.
bool mlir_optional_location(mlir_parser *p, ir_location *out);

// Operations. An operand is a name until its type is known: mlir_resolve gives the value, which may be defined further
// down (a forward reference) if the region allows it.
typedef struct mlir_operand {
  str name;    // "%0"
  int number;  // behind `#`; 0
  size_t offset;
} mlir_operand;
typedef VEC(mlir_operand) mlir_operand_list;
bool mlir_operand_use(mlir_parser *p, mlir_operand *out);
bool mlir_operand_uses(mlir_parser *p, mlir_operand_list *list);  // comma-separated; may be empty
bool mlir_resolve(mlir_parser *p, const mlir_operand *use, const ir_type *type, ir_value **out);

// What a pretty form has found out about the operation; mlir_parser.c makes the operation of it.
typedef struct mlir_draft {
  ir_opcode op;
  str name;
  size_t offset;
  VEC(ir_value *) operands;
  VEC(const ir_type *) results;
  ir_attribute_list attributes;
  VEC(ir_region *) regions;
  int wanted_results;  // names written left of `=`
  int successors;
} mlir_draft;

void mlir_set_attribute(mlir_parser *p, mlir_draft *draft, const char *name, const ir_attribute *value);
void mlir_set_string(mlir_parser *p, mlir_draft *draft, const char *name, str value);
// The uses as the draft's operands; an error at `offset` if there is another number of types.
bool mlir_resolve_all(mlir_parser *p, const mlir_operand_list *uses, int count, const ir_type *const *types,
                      size_t offset, mlir_draft *draft);

// A region `{ ... }`. Its first block starts with the given arguments (names "%a"), unless it writes its own header.
bool mlir_region(mlir_parser *p, int argument_count, const str *names, const ir_type *const *types, ir_region **out);
// An empty region with one block, for forms whose region is implied (`applies stablehlo.add`).
ir_region *mlir_new_region(mlir_parser *p);

// assembly.c: the rest of an operation after its name in its pretty form. False with an error if it has none or does
// not match.
bool mlir_assembly(mlir_parser *p, mlir_draft *draft);

// --- between the files of the parser only

// mlir_text.c. MHLO is what StableHLO came from: `mhlo.add` is read as `stablehlo.add`, but for the few operations and
// attributes that are MHLO's alone.
str mlir_stablehlo_name(const mlir_parser *p, str name);
ir_opcode mlir_op_of(const mlir_parser *p, str name);  // IR_OP_UNKNOWN if it is none of ours

// mlir_parser_aliases.c: finds `#a = ...`, `!t = ...` and `{-# ... #-}` of the piece, and reads them all.
bool mlir_scan_aliases(mlir_parser *p, size_t start);
bool mlir_skip_alias(mlir_parser *p);  // the definition at the current token; false if it is none
bool mlir_type_alias(mlir_parser *p, const ir_type **out);
bool mlir_attribute_alias(mlir_parser *p, const ir_attribute **out);
bool mlir_location_alias(mlir_parser *p, ir_location *out);
bool mlir_resource(mlir_parser *p, str *quoted);  // a resource's blob by the current word or string

bool mlir_location(mlir_parser *p, ir_location *out);                   // loc(...), the word being current
bool mlir_quantized_type(mlir_parser *p, const ir_type **out);          // behind !quant.uniform
bool mlir_dialect_attribute(mlir_parser *p, const ir_attribute **out);  // #dialect.name<...>, #dialect<name ...>
// Literals from their keyword on.
bool mlir_dense(mlir_parser *p, const ir_attribute **out);           // dense<...> : type
bool mlir_dense_resource(mlir_parser *p, const ir_attribute **out);  // dense_resource<name> : type
bool mlir_dense_array(mlir_parser *p, const ir_attribute **out);     // array<i64: 1, 2>

// A number whose type is not known yet.
typedef struct mlir_number_text {
  mlir_token kind;  // MLIR_INTEGER, MLIR_FLOAT; MLIR_WORD for true and false
  bool is_negative;
  str text;
  size_t offset;
} mlir_number_text;
bool mlir_take_number(mlir_parser *p, mlir_number_text *out);
// The bits of the number as an element of a literal of that (not complex) type; refused if it has no such value.
bool mlir_number_bits(mlir_parser *p, const mlir_number_text *n, dtype t, uint64_t *out);
// A number with its `: type` if it has one; where `type` is not null the type is known and nothing stands behind.
bool mlir_number_attribute(mlir_parser *p, const ir_type *type, const ir_attribute **out);

// Scopes of values: one for each region. An isolated one sees nothing of those around it.
void mlir_open_scope(mlir_parser *p, bool is_isolated);
bool mlir_close_scope(mlir_parser *p);  // fails if a name was used and never defined
// Names `name` with `count` values; forward references to it become these values.
bool mlir_define(mlir_parser *p, str name, size_t offset, int count, ir_value **values);
// Closes the scope although names were used in it that nobody defined; `names` gets their values, a name without `%`
// (const char *, in the parser's arena) for each.
void mlir_close_open_scope(mlir_parser *p, ptr_map *names);
bool mlir_define_block(mlir_parser *p, str name, size_t offset);
bool mlir_use_block(mlir_parser *p);  // ^name

// `{ ... }` whose first block has these arguments, named outside of the braces.
bool mlir_region_of(mlir_parser *p, bool is_isolated, int argument_count, const str *names, const ir_type *const *types,
                    ir_region **out);
// One operation, with the names of its results and its location, appended to the block being read.
bool mlir_operation(mlir_parser *p);
// The forms of func, builtin and a few others: like mlir_assembly.
bool mlir_function(mlir_parser *p, mlir_draft *draft);
// That a function's body agrees with its type and a module has one block, whatever form they were read from.
bool mlir_check_symbol(mlir_parser *p, const ir_operation *o);
bool mlir_module(mlir_parser *p, mlir_draft *draft);
bool mlir_call(mlir_parser *p, mlir_draft *draft);
bool mlir_return(mlir_parser *p, mlir_draft *draft);

// mlir_parser_shardings.c
bool mlir_sharding(mlir_parser *p, mlir_draft *draft);  // sdy.mesh, sdy.sharding_constraint, sdy.reshard
bool mlir_manual_computation(mlir_parser *p, mlir_draft *draft);

// What a parser begins with: the places of lines, in an arena of the caller's, and the operations that have names.
void mlir_note_lines(arena *a, mlir_parser *p);
void mlir_note_operations(mlir_parser *p);

// All of it, with a bound on the bytes that splats may take in all (mlir_text_read has a large one).
heddle_status mlir_parser_run(arena *a, const char *file, str source, int64_t expansion, int *count, ir_module ***out);

#endif
