// Building and rewriting MLIR from C with little ceremony.
//
// An ir_builder is a value: copy it to keep an insertion point. Values, types and operations are MLIR's own handles.
// Structural misuse (a null type, an unknown op) is a bug in Heddle: the module verifier reports it after the pass.
#ifndef HEDDLE_EMIT_IR_BUILDER_H_
#define HEDDLE_EMIT_IR_BUILDER_H_

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/IR.h>

#include "base/status.h"
#include "base/vec.h"
#include "index/indexing_map.h"

typedef struct ir_builder {
  MlirContext context;
  MlirLocation location;
  MlirBlock block;
  MlirOperation before;  // null: insert at the block's end
  arena *arena;          // scratch for temporary arrays
} ir_builder;

typedef VEC(MlirOperation) ir_operations;
typedef VEC(MlirValue) ir_values;

// --- contexts
// A context with every dialect Heddle uses loaded (func, arith, math, complex, tensor, vector, scf, cf, affine, gpu,
// llvm, nvvm, xla_gpu), without threads. Destroy with mlirContextDestroy. Errors MLIR reports are collected, see
// ir_diagnostics.
MlirContext ir_context_create(void);
// Takes what MLIR reported since the last call, as one HEDDLE_INTERNAL (or `code`) error; success if nothing was
// reported.
heddle_status ir_diagnostics(MlirContext context, heddle_code code, const char *while_doing);
// An error about an operation, reported as MLIR reports its own: with the operation's place in the text.
heddle_status ir_refuse(MlirOperation op, heddle_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// --- insertion points
ir_builder ir_builder_at_end(MlirContext context, MlirBlock block, arena *a);
ir_builder ir_builder_before(MlirOperation op, arena *a);
ir_builder ir_builder_after(MlirOperation op, arena *a);

// --- operations
typedef struct ir_op_state {
  const char *name;
  int operand_count;
  const MlirValue *operands;
  int result_count;
  const MlirType *results;
  int attribute_count;
  const MlirNamedAttribute *attributes;
  int region_count;
  MlirRegion *regions;  // ownership passes to the operation
} ir_op_state;

MlirOperation ir_build(ir_builder *b, ir_op_state op);
MlirValue ir_value(ir_builder *b, const char *name, MlirType result, int operand_count, const MlirValue *operands);
MlirValue ir_value_with(ir_builder *b, const char *name, MlirType result, int operand_count, const MlirValue *operands,
                        int attribute_count, const MlirNamedAttribute *attributes);
MlirValue ir_unary(ir_builder *b, const char *name, MlirValue x);                // result type = x's
MlirValue ir_binary(ir_builder *b, const char *name, MlirValue x, MlirValue y);  // result type = x's
// The same where nobody asks which of two zeros a floating-point maximum or minimum is: of what is reduced, whose order
// is not defined either. Half the instructions, if the machine has none for these.
MlirValue ir_combine(ir_builder *b, const char *name, MlirValue x, MlirValue y);
MlirValue ir_cast(ir_builder *b, const char *name, MlirType to, MlirValue x);
MlirValue ir_select(ir_builder *b, MlirValue condition, MlirValue x, MlirValue y);
// predicate as MLIR spells it: "eq", "slt", "ult", "oeq", "une", "ord", …; i1 or a vector of it.
MlirValue ir_cmpi(ir_builder *b, const char *predicate, MlirValue x, MlirValue y);
MlirValue ir_cmpf(ir_builder *b, const char *predicate, MlirValue x, MlirValue y);

// --- constants (a vector type gives a splat)
MlirValue ir_constant(ir_builder *b, MlirType type, MlirAttribute element);  // the element's attribute, typed
MlirValue ir_index(ir_builder *b, int64_t v);
MlirValue ir_int(ir_builder *b, MlirType type, int64_t v);
MlirValue ir_float(ir_builder *b, MlirType type, double v);
bool ir_constant_value(MlirValue v, int64_t *out);  // true if v is an integer or index constant

// --- types and attributes
MlirType ir_type(MlirContext c, const char *text);            // parses, e.g. "vector<8xf32>"
MlirAttribute ir_attribute(MlirContext c, const char *text);  // parses
MlirNamedAttribute ir_named(MlirContext c, const char *name, MlirAttribute value);
MlirNamedAttribute ir_named_text(MlirContext c, const char *name, const char *value_text);
bool ir_is_vector(MlirType t);
MlirType ir_element_type(MlirType t);                   // of vector or tensor; t itself for scalars
MlirType ir_like(MlirType shape_of, MlirType element);  // a vector of element if shape_of is a vector, else element
int64_t *ir_dims(arena *a, MlirType t);                 // of a shaped type, one for each of its rank
int64_t ir_element_count(MlirType t);                   // of a shaped type, all sizes known; INT64_MAX if that is more
int ir_bit_width(MlirType t);                           // of an integer or float scalar type; index is 64

// --- reading
bool ir_is(MlirOperation op, const char *name);
bool ir_is_null(MlirOperation op);
MlirValue ir_operand(MlirOperation op, int i);
MlirValue ir_result(MlirOperation op, int i);
MlirType ir_result_type(MlirOperation op, int i);
bool ir_is_within(MlirOperation op, MlirOperation ancestor);    // or is it
MlirOperation ir_in_block(MlirOperation op, MlirBlock block);   // what of the block it is in, or is; or null
MlirOperation ir_defining_op(MlirValue v);                      // null for block arguments
bool ir_has_one_use(MlirValue v);                               // by one operand
MlirAttribute ir_get(MlirOperation op, const char *attribute);  // null if absent; inherent and discardable
void ir_set(MlirOperation op, const char *attribute, MlirAttribute value);  // inherent or discardable
void ir_unset(MlirOperation op, const char *attribute);
MlirBlock ir_body(MlirOperation op, int region);  // first block of the region
MlirOperation ir_terminator(MlirBlock block);
MlirOperation ir_find_function(MlirOperation module, const char *name);  // null if absent; func.func and llvm.func
str ir_symbol(MlirOperation function);                                   // sym_name; bytes live in the context
// All operations named `name` (null: every operation) nested in root, post-order (inner first), in the arena.
ir_operations ir_collect(arena *a, MlirOperation root, const char *name);

// --- rewriting
void ir_replace(MlirOperation op, const MlirValue *with);  // all results, then erases op
void ir_replace_value(MlirValue from, MlirValue to);
void ir_erase(MlirOperation op);
// Moves the operations of `block` (terminator excluded) before `anchor` with the block's arguments replaced by
// `arguments`; returns the terminator's operands. The emptied block stays with its owner, to be erased with it.
ir_values ir_inline_block(arena *a, MlirBlock block, MlirOperation anchor, const MlirValue *arguments);

// Puts one copy of a loop's body before `anchor` with these values for its variable and what it carries; returns what
// it yields. `copy` is a clone of the loop made for this and is used up.
ir_values ir_inline_copy(arena *a, MlirOperation copy, MlirOperation anchor, MlirValue iv, ir_values carried);
// A copy of the body of an scf.for for each of the indices from `first` on, below `end`, in its place.
void ir_unroll(arena *a, MlirOperation loop, int64_t first, int64_t end);

// --- structured control flow. The block's arguments are (iv, iter args...); end it with ir_yield.
MlirOperation ir_for(ir_builder *b, MlirValue lower, MlirValue upper, MlirValue step, int init_count,
                     const MlirValue *inits);
MlirOperation ir_if(ir_builder *b, MlirValue condition, int result_count,
                    const MlirType *results);                      // both regions get a block
void ir_yield(ir_builder *b, int count, const MlirValue *values);  // scf.yield

// --- functions
MlirOperation ir_function(ir_builder *module_body, const char *name, int input_count, const MlirType *inputs,
                          int result_count, const MlirType *results, bool is_private);  // func.func with an entry block
void ir_return(ir_builder *b, int count, const MlirValue *values);
// Gives a func.func the type that its block's arguments and what it returns have.
void ir_retype_function(arena *a, MlirOperation function);
void ir_set_argument_attribute(MlirOperation function, int argument, const char *name, MlirAttribute value);
MlirAttribute ir_argument_attribute(MlirOperation function, int argument, const char *name);  // null if absent

// --- indexing
// xla_gpu.apply_indexing of the map (which must be free of constraints; its own are dropped): one index value per
// result. Constant or single-variable results are folded away. dims and symbols in the map's order.
ir_values ir_apply_indexing(ir_builder *b, const indexing_map *map, const MlirValue *dims, const MlirValue *symbols);
// i1 that all dim bounds and constraints of the map hold (range bounds hold by construction); true constant if none.
// Bounds that ranges prove are checked too: simplify-arith drops them later, with more knowledge than one map has.
MlirValue ir_check_constraints(ir_builder *b, const indexing_map *map, const MlirValue *dims, const MlirValue *symbols,
                               bool with_dim_bounds);
// Straight arithmetic (arith on index) for an expression.
MlirValue ir_affine(ir_builder *b, const affine_expr *e, const MlirValue *dims, const MlirValue *symbols);

// What MLIR prints with: appends the part to a text (base/str.h).
void ir_append(MlirStringRef part, void *to);
// Text of anything, into the builder's or the given arena.
const char *ir_operation_text(arena *a, MlirOperation op);
const char *ir_type_text(arena *a, MlirType t);

#endif
