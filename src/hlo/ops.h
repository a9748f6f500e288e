// The opcode table: facts about every HLO opcode that any layer may ask.
//
// ops.def is expanded twice, here into the enum and in ops.c into hlo_ops[]. Later layers own arrays indexed by
// hlo_opcode; an empty slot means "not implemented there".
#ifndef HEDDLE_HLO_OPS_H_
#define HEDDLE_HLO_OPS_H_

#include "base/dtype.h"

typedef enum hlo_opcode {
#define HLO_OP(id, ...) HLO_##id,
#include "hlo/ops.def"
#undef HLO_OP
  HLO_OPCODE_COUNT
} hlo_opcode;

// How the result's shape follows from the operands (shape_inference.c has one function per rule).
typedef enum hlo_shape_rule {
  SHAPE_RULE_GIVEN,      // cannot be inferred: the text's shape is taken (parameter, constant, custom-call, …)
  SHAPE_RULE_SAME,       // all array operands and the result agree in dims and type
  SHAPE_RULE_PART,       // real, imag: the complex operand's part type (a real operand's own)
  SHAPE_RULE_COMPLEX,    // complex(re, im)
  SHAPE_RULE_PREDICATE,  // pred of the operand's dims: compare, is-finite
  SHAPE_RULE_CONVERT,    // operand's dims, any type
  SHAPE_RULE_BITCAST_CONVERT,
  SHAPE_RULE_CLAMP,
  SHAPE_RULE_SELECT,
  SHAPE_RULE_BROADCAST,
  SHAPE_RULE_RESHAPE,  // same element count
  SHAPE_RULE_BITCAST,  // same byte size
  SHAPE_RULE_TRANSPOSE,
  SHAPE_RULE_REVERSE,
  SHAPE_RULE_SLICE,
  SHAPE_RULE_PAD,
  SHAPE_RULE_CONCATENATE,
  SHAPE_RULE_DYNAMIC_SLICE,
  SHAPE_RULE_DYNAMIC_UPDATE_SLICE,
  SHAPE_RULE_GATHER,
  SHAPE_RULE_SCATTER,
  SHAPE_RULE_REDUCE,
  SHAPE_RULE_REDUCE_WINDOW,
  SHAPE_RULE_SELECT_AND_SCATTER,
  SHAPE_RULE_DOT,
  SHAPE_RULE_RAGGED_DOT,
  SHAPE_RULE_CONVOLUTION,
  SHAPE_RULE_IOTA,
  SHAPE_RULE_MAP,
  SHAPE_RULE_SORT,
  SHAPE_RULE_TUPLE,
  SHAPE_RULE_GET_TUPLE_ELEMENT,
  SHAPE_RULE_FIRST_OPERAND,  // the first operand's shape, tuples allowed (opt-barrier, domain, copy, add-dependency)
  SHAPE_RULE_CALL,           // the called computation's root (call, fusion, map of scalars apart)
  SHAPE_RULE_CONDITIONAL,
  SHAPE_RULE_WHILE,
  SHAPE_RULE_TOKEN,
  SHAPE_RULE_DIMENSION_SIZE,  // s32[]
} hlo_shape_rule;

// How result elements depend on operand elements (index/hlo_indexing.c has one function per rule).
typedef enum hlo_index_rule {
  INDEX_RULE_NONE,         // no elemental form
  INDEX_RULE_ELEMENTWISE,  // identity on every operand (scalars of clamp and select broadcast)
  INDEX_RULE_LEAF,         // no operands: constant, iota, parameter
  INDEX_RULE_BROADCAST,
  INDEX_RULE_RESHAPE,
  INDEX_RULE_BITCAST,
  INDEX_RULE_TRANSPOSE,
  INDEX_RULE_REVERSE,
  INDEX_RULE_SLICE,
  INDEX_RULE_PAD,
  INDEX_RULE_CONCATENATE,
  INDEX_RULE_DYNAMIC_SLICE,
  INDEX_RULE_DYNAMIC_UPDATE_SLICE,
  INDEX_RULE_GATHER,
  INDEX_RULE_SCATTER,
  INDEX_RULE_REDUCE,
  INDEX_RULE_REDUCE_WINDOW,
  INDEX_RULE_DOT,
  INDEX_RULE_CONVOLUTION,
  INDEX_RULE_TUPLE,  // identity per element
  INDEX_RULE_GET_TUPLE_ELEMENT,
} hlo_index_rule;

typedef enum hlo_trait {
  TRAIT_NONE = 0,
  TRAIT_COMMUTES = 1 << 0,
  TRAIT_ELEMENTWISE = 1 << 1,
  TRAIT_HAS_COMPUTATIONS = 1 << 2,
  TRAIT_CONTROL = 1 << 3,      // runs computations as programs: while, conditional, call, async
  TRAIT_SIDE_EFFECT = 1 << 4,  // never removed, never repeated
  TRAIT_NOT_IN_FUSION = 1 << 5,
  TRAIT_COLLECTIVE = 1 << 6,
  TRAIT_RANDOM = 1 << 7,
  TRAIT_INDEX_ONLY = 1 << 8,        // moves elements, computes nothing
  TRAIT_EXPENSIVE = 1 << 9,         // a transcendental: not worth computing twice
  TRAIT_TUPLE_RESULT_OK = 1 << 10,  // variadic form returns a tuple (reduce, scatter, …)
  TRAIT_ASYNC = 1 << 11,
  TRAIT_EXACT_TYPE = 1 << 12,  // the result has the inferred type, not another float type in its place
} hlo_trait;

enum { HLO_VARIADIC = -1 };

typedef struct hlo_op_info {
  const char *text;  // as XLA spells it
  int arity;         // number of operands, or HLO_VARIADIC
  int min_operands;  // for variadic ops
  hlo_shape_rule shape_rule;
  hlo_index_rule index_rule;
  dtype_class classes;     // element classes the (array) operands may have; 0 = any
  unsigned traits;         // hlo_trait flags
  int ulps;                // tolerance for f32 results against the exact value; 0 = exact
  const char *attributes;  // space-separated names accepted besides the common ones; `name!` is required
} hlo_op_info;

extern const hlo_op_info hlo_ops[HLO_OPCODE_COUNT];

static inline const char *hlo_op_text(hlo_opcode op) { return hlo_ops[op].text; }
static inline bool hlo_op_has(hlo_opcode op, hlo_trait trait) { return (hlo_ops[op].traits & trait) != 0; }
// HLO_OPCODE_COUNT if there is none. Older spellings XLA still reads are known too.
hlo_opcode hlo_op_from_text(str text);

#endif
