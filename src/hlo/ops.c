// The opcode table itself, and opcodes by name.
#include "hlo/ops.h"

const hlo_op_info hlo_ops[HLO_OPCODE_COUNT] = {
#define HLO_OP(id, ...) [HLO_##id] = {__VA_ARGS__},
#include "hlo/ops.def"
#undef HLO_OP
};

static const struct {
  const char *text;
  hlo_opcode opcode;
} older_spellings[] = {
    {"cross-replica-sum", HLO_ALL_REDUCE},
    {"generate-token", HLO_AFTER_ALL},
    {"optimization-barrier", HLO_OPT_BARRIER},
};

static bool is_spelling(str s, const char *wanted) {
  return s.data[0] == wanted[0] && strncmp(s.data, wanted, s.size) == 0 && wanted[s.size] == '\0';
}

hlo_opcode hlo_op_from_text(str name) {
  if (name.size == 0 || memchr(name.data, '\0', name.size)) return HLO_OPCODE_COUNT;
  for (int op = 0; op < HLO_OPCODE_COUNT; op++)
    if (is_spelling(name, hlo_ops[op].text)) return (hlo_opcode)op;
  for (size_t i = 0; i < sizeof older_spellings / sizeof *older_spellings; i++)
    if (is_spelling(name, older_spellings[i].text)) return older_spellings[i].opcode;
  return HLO_OPCODE_COUNT;
}
