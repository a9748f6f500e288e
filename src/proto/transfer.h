// One attribute on its way between an instruction and its message; attributes.c has the table.
#ifndef HEDDLE_PROTO_TRANSFER_H_
#define HEDDLE_PROTO_TRANSFER_H_

#include "proto/parts.h"

typedef struct proto_transfer {
  arena *arena;
  proto_context *context;       // when reading
  Xla__HloInstructionProto *p;  // not written to when reading
  instruction *i;               // not written to when writing
  hlo_attributes *x;            // of i
} proto_transfer;

typedef heddle_status proto_transfer_fn(proto_transfer *t);

// Keeps the text of an attribute that has no field; nothing if it is empty.
void proto_add_raw(proto_transfer *t, hlo_attribute_id id, str value);

// dims.c
proto_transfer_fn proto_read_slice, proto_write_slice, proto_read_padding, proto_write_padding, proto_read_window,
    proto_write_window, proto_read_dim_labels, proto_write_dim_labels;
// options.c
proto_transfer_fn proto_read_precisions, proto_write_precisions, proto_read_algorithm, proto_write_algorithm,
    proto_read_accuracy, proto_write_accuracy, proto_read_associative, proto_write_associative,
    proto_read_operand_layouts, proto_write_operand_layouts, proto_read_aliasing, proto_write_aliasing,
    proto_read_call_literal, proto_write_call_literal, proto_read_config, proto_write_config, proto_write_opaque;
// groups.c
proto_transfer_fn proto_read_groups, proto_write_groups, proto_read_pairs, proto_write_pairs, proto_read_channel,
    proto_write_channel;
// sharding.c
proto_transfer_fn proto_read_domain, proto_write_domain;

#endif
