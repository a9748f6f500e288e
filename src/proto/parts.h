// What the readers and writers of hlo.proto share: the files of this room only.
#ifndef HEDDLE_PROTO_PARTS_H_
#define HEDDLE_PROTO_PARTS_H_

#include <hlo.pb-c.h>
#include <string.h>

#include "hlo/lexer.h"
#include "hlo/module.h"

// Message to module. read.c
heddle_status proto_module_from(arena *a, const char *file, const Xla__HloModuleProto *from, module **out);
// Module to message; the message lives in the arena and may point into the module. write.c
heddle_status proto_module_to(arena *a, const module *m, Xla__HloModuleProto **out);

// A backend configuration; one that is JSON is written without quotes.
typedef struct proto_config {
  str text;
  bool is_json;
} proto_config;

// A module on its way in: what its instructions share.
typedef struct proto_context {
  const Xla__HloModuleProto *module;
  proto_config *payloads;  // the module's, copied when first used
  int64_t devices_left;    // that groups in short form may still be expanded to: their bytes are no measure of them
} proto_context;

// What an instruction says besides opcode, shape, operands and calls, in either direction. Errors do not name the
// instruction. attributes.c
heddle_status proto_read_attributes(arena *a, proto_context *context, Xla__HloInstructionProto *from, instruction *to);
heddle_status proto_write_attributes(arena *a, instruction *from, Xla__HloInstructionProto *to);

// Attributes that Heddle keeps as text, without their names. The text of a null or empty message is empty.
// metadata.c, sharding.c
heddle_status proto_sharding_text(arena *a, const Xla__OpSharding *from, str *out);
heddle_status proto_sharding_from(arena *a, str source, Xla__OpSharding **out);
str proto_metadata_text(arena *a, const Xla__OpMetadata *from);
heddle_status proto_metadata_from(arena *a, str source, Xla__OpMetadata **out);
str proto_frontend_text(arena *a, const Xla__FrontendAttributes *from);
heddle_status proto_frontend_from(arena *a, str source, Xla__FrontendAttributes **out);
str proto_tables_text(arena *a, const Xla__StackFrameIndexProto *from);
heddle_status proto_tables_from(arena *a, str source, Xla__StackFrameIndexProto **out);
str proto_alias_text(arena *a, const Xla__HloInputOutputAliasProto *from);
heddle_status proto_alias_from(arena *a, str source, Xla__HloInputOutputAliasProto **out);
str proto_donor_text(arena *a, const Xla__HloBufferDonorProto *from);
heddle_status proto_donor_from(arena *a, str source, Xla__HloBufferDonorProto **out);

// The entries of lists such as `{ {0}: (1, {2}, may-alias) }`; without the first index and its colon, `output` is
// empty.
typedef struct proto_index {
  int64_t *data;
  int size;
} proto_index;

typedef struct proto_alias {
  proto_index output, input;
  int64_t number;  // of the parameter or operand
  str kind;        // may be empty
} proto_alias;

typedef heddle_status proto_alias_fn(void *context, arena *a, const proto_alias *alias);
heddle_status proto_each_alias(arena *a, str source, proto_alias_fn *fn, void *context);
void proto_print_index(text *out, size_t count, const int64_t *index);  // {0,1}

// The integer a TOKEN_NUMBER spells.
heddle_status proto_token_int(token t, int64_t *out);

// Text that an arena keeps; frees `t`.
static inline str proto_keep(arena *a, text *t) {
  str kept = t->size ? str_copy(a, text_view(t)) : (str){0};
  text_free(t);
  return kept;
}

// A copy in the arena: a message and a module each have lists of their own.
static inline int64_t *proto_ints(arena *a, size_t count, const int64_t *from) {
  int64_t *to = arena_array(a, int64_t, count);
  if (count) memcpy(to, from, count * sizeof *to);
  return to;
}

// A NUL-terminated copy, as messages have it.
static inline char *proto_string(arena *a, str s) { return arena_strdup(a, s.data ? s.data : "", s.size); }

// A new message of the type's init function, in the arena.
#define HLO_PROTO_NEW(a, out, Type, type) ((out) = arena_new((a), Xla__##Type), xla__##type##__init(out))

#endif
