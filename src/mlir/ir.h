// A program in MLIR's terms, as far as StableHLO needs them: operations with operands, attributes and regions.
//
// StableHLO text and bytecode are both read into this form (text.h, vhlo/bytecode.h), it is what `heddle convert
// --to=stablehlo` prints (print.h), and from it HLO is made (stablehlo/stablehlo_to_hlo.h). Readers leave one spelling
// for everything: operation names without VHLO's versions, attributes named and shaped as in the generic text form of
// today's StableHLO (`dot_dimension_numbers = #stablehlo.dot<...>`, `dimensions = array<i64: 0, 1>`).
//
// Everything lies in one arena and is plain data; types and attributes are immutable and may be shared.
#ifndef HEDDLE_MLIR_IR_H_
#define HEDDLE_MLIR_IR_H_

#include "base/status.h"
#include "base/vec.h"
#include "hlo/literal.h"

typedef struct ir_type ir_type;
typedef struct ir_attribute ir_attribute;
typedef struct ir_value ir_value;
typedef struct ir_operation ir_operation;
typedef struct ir_block ir_block;
typedef struct ir_region ir_region;

// Regions, types and attributes nest at most this deep: readers refuse deeper ones, so that walks may recurse.
enum { IR_MAX_DEPTH = 200 };

// And what names share counts as often as it is used: a type or an attribute has at most this many parts, so that a
// kilobyte of aliases (or of entries of a bytecode file) cannot stand for gigabytes.
enum { IR_MAX_PARTS = 1 << 18 };

typedef enum ir_opcode {
  IR_OP_UNKNOWN,  // an operation of another dialect: read, kept and printed, but refused when HLO is made
#define IR_OP(id, text) IR_OP_##id,
#include "mlir/stablehlo_ops.def"
#undef IR_OP
  IR_OP_COUNT
} ir_opcode;

ir_opcode ir_opcode_from_text(str name);   // "stablehlo.add"; IR_OP_UNKNOWN if it is none of ours
const char *ir_opcode_text(ir_opcode op);  // "stablehlo.add"; "" for IR_OP_UNKNOWN

typedef enum ir_type_kind {
  IR_TYPE_SCALAR,     // f32, i1, ui8, complex<f64>: an element type standing by itself
  IR_TYPE_INDEX,      // index; as an element s64
  IR_TYPE_QUANTIZED,  // !quant.uniform<...>
  IR_TYPE_TENSOR,
  IR_TYPE_UNRANKED,  // tensor<*xf32>
  IR_TYPE_TUPLE,
  IR_TYPE_FUNCTION,
  IR_TYPE_TOKEN,  // !stablehlo.token
  IR_TYPE_NONE,
  IR_TYPE_FUTURE,  // !stablehlo.future<...>: of async_start
  IR_TYPE_BUFFER,  // memref<...>
  IR_TYPE_OPAQUE,  // any other: kept as text
} ir_type_kind;

enum { IR_DYNAMIC = -1 };  // a `?` dim

// A quantized element: real = scale * (storage - zero point). `storage` and `expressed` are scalars.
typedef struct ir_quantization {
  dtype storage, expressed;
  int64_t storage_min, storage_max;
  int axis;   // -1: one scale for the whole tensor
  int count;  // of scales: 1, or the axis's size
  double *scales;
  int64_t *zero_points;
  int block_count;                    // sub-channel quantization (`{0:2, 1:4}`): how many axes have blocks
  int64_t *block_axes, *block_sizes;  // scales are then in row-major order of the blocks
  int block_rank;                     // of the nested scale list
  int64_t *block_dims;
} ir_quantization;

struct ir_type {
  ir_type_kind kind;
  dtype dtype;                   // SCALAR
  const ir_type *element;        // TENSOR, UNRANKED, BUFFER: SCALAR, INDEX, QUANTIZED or OPAQUE
  int rank;                      // TENSOR, BUFFER
  const int64_t *dims;           // IR_DYNAMIC for `?`
  const ir_attribute *encoding;  // TENSOR; null if absent: #stablehlo.bounds<...> as STRUCT "stablehlo.bounds"
  const ir_quantization *quantization;
  int count, result_count;  // TUPLE, FUTURE: elements; FUNCTION: inputs, then results
  const ir_type *const *types, *const *results;
  str text;  // OPAQUE: as written, `!` included
};

typedef enum ir_attribute_kind {
  IR_ATTR_UNIT,
  IR_ATTR_BOOL,     // true: integer 0 or 1
  IR_ATTR_INTEGER,  // 3 : i64
  IR_ATTR_FLOAT,    // 1.0 : f32
  IR_ATTR_STRING,   // "text", unescaped
  IR_ATTR_SYMBOL,   // @name (nested references joined by "::")
  IR_ATTR_TYPE,
  IR_ATTR_ARRAY,       // [a, b]
  IR_ATTR_DICTIONARY,  // {a = 1, b}
  IR_ATTR_ELEMENTS,    // dense<...> : tensor<...>, dense_resource; quantized: the storage values
  IR_ATTR_INTEGERS,    // array<i64: 1, 2>; array<i1: true>
  IR_ATTR_FLOATS,      // array<f64: 1.0>
  IR_ATTR_ENUM,        // #stablehlo<precision HIGHEST>: name "stablehlo.precision", text "HIGHEST"
  IR_ATTR_STRUCT,      // #stablehlo.dot<lhs_contracting_dimensions = [0], ...>: name "stablehlo.dot" and fields
  IR_ATTR_OPAQUE,      // any other, kept as text, `#` included
} ir_attribute_kind;

typedef struct ir_named_attribute {
  str name;
  const ir_attribute *value;
} ir_named_attribute;

struct ir_attribute {
  ir_attribute_kind kind;
  int64_t integer;      // BOOL, INTEGER (unsigned 64-bit ones as their bits)
  double number;        // FLOAT
  const ir_type *type;  // INTEGER, FLOAT (may be null: i64, f64), ELEMENTS, TYPE; INTEGERS and FLOATS: the element
  str name;             // ENUM, STRUCT: dialect and mnemonic, "stablehlo.precision"
  str text;             // STRING, SYMBOL, ENUM, OPAQUE
  literal *elements;    // ELEMENTS; of rank 0 if one of many says it all (ir_elements_repeat)
  int count;
  const ir_attribute *const *items;  // ARRAY
  const ir_named_attribute *fields;  // DICTIONARY, STRUCT: in textual order
  const int64_t *integers;           // INTEGERS
  const double *numbers;             // FLOATS
};

struct ir_value {
  const ir_type *type;
  ir_operation *producer;  // null for a block's argument
  ir_block *block;         // of an argument
  int number;              // which result or argument
  void *scratch;           // of the walk in progress; no meaning between walks
};

// Where MLIR says the operation came from (loc(...)), for HLO's metadata; all empty if it says nothing.
typedef struct ir_location {
  str name;  // "jit(f)/add"
  str file;
  int line, column;
} ir_location;

struct ir_operation {
  ir_opcode op;
  str name;  // "stablehlo.add", also of unknown ones
  int operand_count, result_count, region_count, attribute_count, successor_count;
  ir_value **operands;
  ir_value **results;
  ir_region **regions;
  ir_named_attribute *attributes;  // properties and discardable ones together
  ir_block *parent;                // null for the module
  source_location where;           // in the text read; for bytecode the file and no line
  ir_location location;
};

struct ir_block {
  int argument_count;
  ir_value **arguments;
  ir_location *argument_locations;  // may be null
  VEC(ir_operation *) operations;
  ir_region *parent;
};

struct ir_region {
  VEC(ir_block *) blocks;
  ir_operation *parent;
};

// One `builtin.module`. A file may hold several, divided by `// -----`.
typedef struct ir_module {
  arena *arena;
  ir_operation *operation;  // builtin.module with one region of one block
  const char *file;
} ir_module;

// Types.
const ir_type *ir_scalar_type(arena *a, dtype t);
const ir_type *ir_tensor_type(arena *a, int rank, const int64_t *dims, const ir_type *element);  // copies dims
const ir_type *ir_type_of_shape(arena *a,
                                const shape *s);  // tuples and tokens too; a bounded dim gets its bound as encoding
bool ir_type_equal(const ir_type *l, const ir_type *r);
bool ir_type_is_static(const ir_type *t);                       // a tensor without `?`; anything that is no tensor
const ir_quantization *ir_type_quantization(const ir_type *t);  // of the type or its elements; null if not quantized
dtype ir_type_dtype(
    const ir_type *t);  // element's dtype, the storage's for quantized; index is s64; DTYPE_INVALID if none
// The tensor's shape with `?` as -1; token and tuple too. HEDDLE_INVALID for types HLO has no word for.
heddle_status ir_type_shape(arena *a, const ir_type *t, source_location where, const shape **out);

// What a func.func lacks of its name, its type and a body that agrees with it, or a builtin.module of its body, and at
// which operation; null if nothing, or for other operations.
const char *ir_symbol_problem(const ir_operation *o, const ir_operation **at);

// Attributes.
ir_attribute *ir_attribute_new(arena *a, ir_attribute_kind kind);
const ir_attribute *ir_integer_attribute(arena *a, int64_t value, dtype t);
const ir_attribute *ir_bool_attribute(arena *a, bool value);
const ir_attribute *ir_string_attribute(arena *a, str s);
const ir_attribute *ir_symbol_attribute(arena *a, str name);
const ir_attribute *ir_integers_attribute(arena *a, int count, const int64_t *values);  // array<i64: ...>
const ir_attribute *ir_enum_attribute(arena *a, const char *name, str text);
const ir_attribute *ir_elements_attribute(arena *a, const ir_type *type, literal *value);

// More elements than this that are all the same are kept as one, so that a few bytes of a file take no more memory than
// they are: dense<0.5> : tensor<6x512x4096xbf16>.
enum { IR_MOST_REPEATED = 4096 };
bool ir_elements_repeat(const ir_attribute *x);    // whether the literal is one element, which stands for all
int64_t ir_elements_count(const ir_attribute *x);  // of its type
// All of them with the literal's dtype: as a shape, and as values. HEDDLE_OUT_OF_MEMORY.
const shape *ir_elements_shape(arena *a, const ir_attribute *x);
heddle_status ir_elements_expand(arena *a, const ir_attribute *x, literal **out);
const ir_attribute *ir_type_attribute(arena *a, const ir_type *type);
const ir_attribute *ir_array_attribute(arena *a, int count, const ir_attribute *const *items);
const ir_attribute *ir_struct_attribute(arena *a, const char *name, int count, const ir_named_attribute *fields);
// Whether it ends its block by giving values to what is around it.
bool ir_returns(const ir_operation *op);
const ir_attribute *ir_find(const ir_operation *op, const char *name);  // null if absent
// An entry of the number-th dictionary of a function's arg_attrs or res_attrs (`list`); null if absent.
const ir_attribute *ir_find_argument_attribute(const ir_operation *function, const char *list, int number,
                                               const char *name);
const ir_attribute *ir_find_field(const ir_attribute *of, const char *name);  // DICTIONARY, STRUCT
// An attribute as a list of integers, however it is written: array<i64>, dense elements of integers or booleans (in
// row-major order), [0, 1]. False if it is none of these. A null attribute is an empty list.
bool ir_attribute_integers(arena *a, const ir_attribute *x, const int64_t **values, int *count);
bool ir_attribute_equal(const ir_attribute *l, const ir_attribute *r);  // values bit by bit; either may be null
bool ir_attribute_integer(const ir_attribute *x, int64_t *value);       // INTEGER, BOOL, one-element ELEMENTS

// Building. Operands are copied; results are made. The operation is appended to `block` if there is one.
ir_operation *ir_create(arena *a, ir_block *block, ir_opcode op, int operand_count, ir_value *const *operands,
                        int result_count, const ir_type *const *result_types, int region_count);
void ir_set_attributes(arena *a, ir_operation *op, int count, const ir_named_attribute *attributes);  // copies
void ir_set_attribute(arena *a, ir_operation *op, const char *name, const ir_attribute *value);
ir_block *ir_add_block(arena *a, ir_region *region);
ir_value *ir_add_argument(arena *a, ir_block *block, const ir_type *type);
ir_operation *ir_module_function(const ir_module *m, str name);  // func.func by sym_name; null if there is none

#endif
