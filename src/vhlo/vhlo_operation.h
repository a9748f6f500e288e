// Describes VHLO's operations, whose attributes depend on the version, and makes StableHLO's attributes of them.
// Internal to the bytecode reader.
#ifndef HEDDLE_VHLO_VHLO_OPERATION_H_
#define HEDDLE_VHLO_VHLO_OPERATION_H_

#include "vhlo/bytecode_reader.h"

enum { VHLO_MOST_ATTRIBUTES = 24 };

typedef struct vhlo_operation {
  ir_opcode op;
  int version;
  const char *attributes;  // names, divided by blanks, in the order of the alphabet
} vhlo_operation;

typedef VEC(ir_named_attribute) vhlo_attribute_list;

const vhlo_operation *vhlo_operation_find(str name);  // by "add_v1"; null if VHLO 0.9 to 1.17 has none
int vhlo_operation_attributes(const vhlo_operation *o, str names[VHLO_MOST_ATTRIBUTES]);  // how many

// Adds StableHLO's attributes for those given, each at most once, to `out`. Names that are not the operation's own are
// kept as they are; what equals StableHLO's default is left out. `offset` is named in errors.
bool vhlo_operation_convert(bytecode *b, size_t offset, const vhlo_operation *o, int count,
                            const ir_named_attribute *given, vhlo_attribute_list *out);

// Whether the attribute, as StableHLO has it, equals the default and is therefore left out here.
bool vhlo_operation_is_default(ir_opcode op, str name, const ir_attribute *x);

#endif
