// Arguments in files of their own, and results of runs: RunHloModuleLiterals, or one iteration of it, as bytes or as
// text.
#include "proto/parts.h"
#include "proto/proto.h"
#include "proto/text.h"
#include "proto/values.h"
#include "proto/wire.h"

enum { FIELD_ITERATIONS = 1, FIELD_ARGUMENTS = 2, FIELD_SHAPE = 1 };

static bool is_iteration(str bytes) {
  str argument, shape;
  return proto_wire_find(bytes, FIELD_ARGUMENTS, &argument) && proto_wire_find(argument, FIELD_SHAPE, &shape) &&
         proto_wire_is_message(shape);
}

// Null if it is neither.
static const ProtobufCMessageDescriptor *binary_type(str bytes) {
  str iteration;
  if (is_iteration(bytes)) return &xla__run_hlo_module_iteration_literals__descriptor;
  if (!proto_wire_find(bytes, FIELD_ITERATIONS, &iteration) || !is_iteration(iteration)) return NULL;
  return &xla__run_hlo_module_literals__descriptor;
}

static const ProtobufCMessageDescriptor *text_type(str source) {
  if (proto_text_has_field(source, "iterations")) return &xla__run_hlo_module_literals__descriptor;
  if (!proto_text_has_field(source, "arguments")) return NULL;
  return &xla__run_hlo_module_iteration_literals__descriptor;
}

bool proto_is_inputs(str bytes) { return binary_type(bytes) || text_type(bytes); }

static heddle_status read_iteration(arena *a, const char *file, const ProtobufCMessage *m, int number, int *count,
                                    literal ***arguments) {
  const Xla__RunHloModuleIterationLiterals *from = (const Xla__RunHloModuleIterationLiterals *)m;
  if (m->descriptor == &xla__run_hlo_module_literals__descriptor) {
    const Xla__RunHloModuleLiterals *all = (const Xla__RunHloModuleLiterals *)m;
    if (!all->n_iterations) return status_error(HEDDLE_INVALID, "%s: found no iterations", file);
    from = all->iterations[(size_t)number % all->n_iterations];
  }
  *count = (int)from->n_arguments;
  *arguments = arena_array(a, literal *, from->n_arguments);
  for (size_t k = 0; k < from->n_arguments; k++)
    TRY(status_context(proto_read_literal(a, from->arguments[k], &(*arguments)[k]), "while reading argument %zu of %s",
                       k, file));
  return status_ok();
}

heddle_status proto_read_inputs(arena *a, const char *file, str bytes, int iteration, int *argument_count,
                                literal ***arguments) {
  const ProtobufCMessageDescriptor *binary = binary_type(bytes), *text = binary ? NULL : text_type(bytes);
  if (!binary && !text) return status_error(HEDDLE_INVALID, "%s: found no RunHloModuleLiterals", file);
  arena *scratch = arena_create();
  ProtobufCMessage *m;
  heddle_status status =
      binary ? proto_wire_unpack(scratch, file, bytes, binary, &m) : proto_text_read(scratch, file, bytes, text, &m);
  if (status_is_ok(status)) status = read_iteration(a, file, m, iteration, argument_count, arguments);
  arena_destroy(scratch);
  return status;
}

static heddle_status make_iteration(arena *a, const proto_iteration *from, Xla__RunHloModuleIterationLiterals **out) {
  Xla__RunHloModuleIterationLiterals *to;
  HLO_PROTO_NEW(a, to, RunHloModuleIterationLiterals, run_hlo_module_iteration_literals);
  *out = to;
  to->n_arguments = (size_t)from->argument_count;
  to->arguments = arena_array(a, Xla__LiteralProto *, from->argument_count);
  for (int k = 0; k < from->argument_count; k++) TRY(proto_make_literal(a, from->arguments[k], &to->arguments[k]));
  if (from->result) TRY(proto_make_literal(a, from->result, &to->result));
  return from->reference ? proto_make_literal(a, from->reference, &to->reference_result) : status_ok();
}

static heddle_status make_iterations(arena *a, int count, const proto_iteration *from,
                                     Xla__RunHloModuleLiterals **out) {
  HLO_PROTO_NEW(a, *out, RunHloModuleLiterals, run_hlo_module_literals);
  (*out)->n_iterations = (size_t)count;
  (*out)->iterations = arena_array(a, Xla__RunHloModuleIterationLiterals *, count);
  for (int k = 0; k < count; k++) TRY(make_iteration(a, &from[k], &(*out)->iterations[k]));
  return status_ok();
}

heddle_status proto_write_iterations(text *out, int count, const proto_iteration *from) {
  arena *scratch = arena_create();
  Xla__RunHloModuleLiterals *m;
  heddle_status status = make_iterations(scratch, count, from, &m);
  if (status_is_ok(status)) {
    const size_t size = protobuf_c_message_get_packed_size(&m->base);
    uint8_t *bytes = arena_array(scratch, uint8_t, size);
    protobuf_c_message_pack(&m->base, bytes);
    text_append(out, (str){(const char *)bytes, size});
  }
  arena_destroy(scratch);
  return status;
}
