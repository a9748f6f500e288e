// CHLO in bytecode: clients may leave its operations beside VHLO's ("mixed" serialization). Its attributes and
// properties have no versions; these are today's.
#include "vhlo/bytecode_reader.h"

// Properties in the order of the alphabet. Those with a `?` may be absent.
static const struct {
  ir_opcode op;
  const char *names;
} properties[] = {
    {IR_OP_CHLO_BROADCAST_ADD, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_AND, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_ATAN2, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_COMPARE, "broadcast_dimensions? compare_type? comparison_direction"},
    {IR_OP_CHLO_BROADCAST_COMPLEX, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_DIVIDE, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_MAXIMUM, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_MINIMUM, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_MULTIPLY, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_NEXT_AFTER, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_OR, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_POLYGAMMA, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_POWER, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_REMAINDER, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_SHIFT_LEFT, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_SHIFT_RIGHT_ARITHMETIC, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_SHIFT_RIGHT_LOGICAL, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_SUBTRACT, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_XOR, "broadcast_dimensions?"},
    {IR_OP_CHLO_BROADCAST_ZETA, "broadcast_dimensions?"},
    {IR_OP_CHLO_CONSTANT, "value"},
    {IR_OP_CHLO_CONSTANT_LIKE, "value"},
    {IR_OP_CHLO_TOP_K, "k"},
};

static const char *properties_of(ir_opcode op) {
  for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
    if (properties[i].op == op) return properties[i].names;
  return NULL;
}

bool bytecode_chlo_properties(bytecode_cursor *c, size_t offset, ir_opcode op, int *count,
                              ir_named_attribute fields[BYTECODE_MOST_CHLO_PROPERTIES]) {
  const char *at = properties_of(op);
  *count = 0;
  if (!at)
    return bytecode_refuse(c->b, offset, "found properties of %s, wanted them as attributes", ir_opcode_text(op));
  while (*at) {
    const ir_attribute *x;
    str name = {at, strcspn(at, "? ")};
    at += name.size;
    bool is_optional = *at == '?';
    at += is_optional;
    at += *at == ' ';
    if (is_optional ? !bytecode_optional_attribute(c, &x) : !bytecode_attribute(c, &x)) return false;
    if (x) fields[(*count)++] = (ir_named_attribute){name, x};
  }
  return true;
}

bool bytecode_chlo_attribute(bytecode_cursor *c, bytecode_entry *entry) {
  enum { COMPARISON_DIRECTION, COMPARISON_TYPE, ATTRIBUTES };  // CHLO's codes
  static const struct {
    const char *name;
    int count;
    const char *values[6];
  } attributes[ATTRIBUTES] = {
      [COMPARISON_DIRECTION] = {"chlo.comparison_direction", 6, {"EQ", "NE", "GE", "GT", "LE", "LT"}},
      [COMPARISON_TYPE] = {"chlo.comparison_type", 5, {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"}},
  };
  int code, value;
  if (!bytecode_index(c, ATTRIBUTES, "CHLO attribute", &code)) return false;
  if (!bytecode_index(c, attributes[code].count, attributes[code].name, &value)) return false;
  entry->attribute = ir_enum_attribute(c->b->arena, attributes[code].name, str_from(attributes[code].values[value]));
  return true;
}
