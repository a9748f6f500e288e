// One HLO computation on its way to StableHLO, as the raisings of single opcodes see it. Internal to import.
//
// HLO's tuples are taken apart: an HLO value is a tree whose leaves are values of the new program, tuple and
// get-tuple-element move along the tree and make nothing. What StableHLO calls several results is such a tree.
#ifndef HEDDLE_STABLEHLO_RAISING_H_
#define HEDDLE_STABLEHLO_RAISING_H_

#include "base/map.h"
#include "hlo/module.h"
#include "mlir/ir.h"

typedef struct raised raised;
struct raised {
  ir_value *value;  // of a leaf: array or token; null for a tuple
  int count;        // a tuple's elements
  raised **elements;
};
typedef VEC(ir_value *) raised_leaves;

typedef struct raising {
  arena *arena;
  const module *source;
  ir_block *functions;               // the new module's body
  ptr_map function_names;            // computation -> str *, of those that became functions
  str_map taken_names;               // of functions
  VEC(const computation *) waiting;  // functions that are called but not written yet
  ir_block *block;                   // where operations are added
  int depth;                         // of regions
  int64_t budget;                    // operations that may still be made: shared regions are written repeatedly
} raising;

// `operands` has one entry for each operand of `i`; `*out` is a tree of i's shape.
typedef heddle_status (*raising_fn)(raising *r, const instruction *i, raised *const *operands, raised **out);

// What an opcode becomes: the operation of the same meaning, and how it is written. Without a function: operands in
// order, one result, no attributes.
typedef struct raising_row {
  ir_opcode op;
  raising_fn raise;
} raising_row;
extern const raising_row raisings[HLO_OPCODE_COUNT];  // IR_OP_UNKNOWN without a function: refused

// HEDDLE_UNIMPLEMENTED at the instruction's location.
heddle_status raising_refuse(const instruction *i, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Trees (raising_build.c).
raised *raised_leaf(raising *r, ir_value *v);
void raised_flatten(raising *r, const raised *x, raised_leaves *out);               // leaves from left to right
raised *raised_of_shape(raising *r, const shape *s, ir_value *const **next);        // takes leaves from *next on
void raised_types(raising *r, const shape *s, int *count, const ir_type ***types);  // of the leaves
heddle_status raising_operand(const instruction *i, raised *const *operands, int number, ir_value **out);  // no tuple

// Real tuples, where the program's interface or a custom call wants one.
ir_value *raising_pack(raising *r, const raised *x);
raised *raising_unpack(raising *r, ir_value *x);

// Operations. `raising_add` makes one with results of these types; the others are short for usual ones.
ir_operation *raising_add(raising *r, ir_opcode op, int operand_count, ir_value *const *operands, int result_count,
                          const ir_type *const *types);
// All operands must be leaves; results are the leaves of the instruction's shape.
heddle_status raising_same(raising *r, const instruction *i, raised *const *operands, ir_operation **op, raised **out);
ir_value *raising_unary(raising *r, ir_opcode op, ir_value *x, const ir_type *type);
ir_value *raising_constant(raising *r, const literal *l);
ir_value *raising_reshape(raising *r, ir_value *x, int rank, const int64_t *dims);
ir_value *raising_transpose(raising *r, ir_value *x, int rank, const int64_t *permutation);
const ir_type *raising_tensor(raising *r, const ir_type *like, int rank, const int64_t *dims);  // its element type

// Attributes of operations.
void raising_set(raising *r, ir_operation *op, const char *name, const ir_attribute *x);
void raising_set_int(raising *r, ir_operation *op, const char *name, int64_t value);
void raising_set_ints(raising *r, ir_operation *op, const char *name, int count, const int64_t *values);
void raising_set_list(raising *r, ir_operation *op, const char *name, int_list list);
void raising_set_bool(raising *r, ir_operation *op, const char *name, bool value);
void raising_set_enum(raising *r, ir_operation *op, const char *name, const char *kind, const char *text);
// dense<...> : tensor<rows x columns x i64>
heddle_status raising_matrix(raising *r, int64_t rows, int64_t columns, const int64_t *values,
                             const ir_attribute **out);
typedef struct raising_field {
  const char *name;
  int_list list;   // left out if empty
  bool is_number;  // then `number` is the value
  int64_t number;
} raising_field;
void raising_set_struct(raising *r, ir_operation *op, const char *name, const char *kind, int count,
                        const raising_field *fields);
void raising_set_precision(raising *r, const instruction *i, ir_operation *op, const char *kind);
// What a raw value of HLO says: a string's contents, or the value as it stands.
str raising_word(raising *r, str raw);
// MLIR's text of an attribute, as HLO keeps it for custom calls and composites; null if it is none.
const ir_attribute *raising_parse_attribute(raising *r, str text);

// Computations (hlo_to_stablehlo.c). A region whose arguments are the leaves of the computation's parameters, or that
// has none because the parameters are known values.
heddle_status raising_region(raising *r, ir_region *region, const computation *c, raised *const *parameters);
str raising_function(raising *r, const computation *c);  // the name of the function it becomes

// One for each opcode that is more than a row (raising_*.c).
#define RAISING(name) \
  heddle_status raise_##name(raising *r, const instruction *i, raised *const *operands, raised **out);
#include "stablehlo/raisings.def"
#undef RAISING

#endif
