// HLO as protocol buffers: HloModuleProto, HloProto and HloSnapshot, binary and text, both ways.
#ifndef HEDDLE_PROTO_PROTO_H_
#define HEDDLE_PROTO_PROTO_H_

#include "hlo/module.h"

// Which of the three messages it is, is told from the fields. A snapshot's arguments and result are returned too when
// asked for (argument pointers may be null).
heddle_status proto_read(arena *a, const char *file, str bytes, module **out, int *argument_count, literal ***arguments,
                         literal **result);
heddle_status proto_read_text(arena *a, const char *file, str source, module **out, int *argument_count,
                              literal ***arguments, literal **result);
bool proto_is(str bytes);       // looks like one of the messages, binary
bool proto_is_text(str bytes);  // looks like one of them as text

// As HloProto with an HloModuleProto inside.
heddle_status proto_write(text *out, const module *m);
heddle_status proto_write_text(text *out, const module *m);

// Arguments without a program: RunHloModuleLiterals, of which the iteration counted around is taken, or one iteration
// alone; binary or text.
bool proto_is_inputs(str bytes);
heddle_status proto_read_inputs(arena *a, const char *file, str bytes, int iteration, int *argument_count,
                                literal ***arguments);

typedef struct proto_iteration {
  int argument_count;
  literal *const *arguments;
  const literal *result, *reference;  // null: there is none
} proto_iteration;

// As RunHloModuleLiterals. HEDDLE_UNIMPLEMENTED for element types that protos lack.
heddle_status proto_write_iterations(text *out, int count, const proto_iteration *from);

#endif
