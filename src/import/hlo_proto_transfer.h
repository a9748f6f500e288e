// One attribute on its way between an instruction and its message; hlo_proto_attributes.c has the table.
#ifndef HEDDLE_IMPORT_HLO_PROTO_TRANSFER_H_
#define HEDDLE_IMPORT_HLO_PROTO_TRANSFER_H_

#include "import/hlo_proto_parts.h"

typedef struct hlo_proto_transfer {
  arena *arena;
  hlo_proto_context *context;   // when reading
  Xla__HloInstructionProto *p;  // not written to when reading
  instruction *i;               // not written to when writing
  hlo_attributes *x;            // of i
} hlo_proto_transfer;

typedef heddle_status hlo_proto_transfer_fn(hlo_proto_transfer *t);

// Keeps the text of an attribute that has no field; nothing if it is empty.
void hlo_proto_add_raw(hlo_proto_transfer *t, hlo_attribute_id id, str value);

// hlo_proto_dims.c
hlo_proto_transfer_fn hlo_proto_read_slice, hlo_proto_write_slice, hlo_proto_read_padding, hlo_proto_write_padding,
    hlo_proto_read_window, hlo_proto_write_window, hlo_proto_read_dim_labels, hlo_proto_write_dim_labels;
// hlo_proto_options.c
hlo_proto_transfer_fn hlo_proto_read_precisions, hlo_proto_write_precisions, hlo_proto_read_algorithm,
    hlo_proto_write_algorithm, hlo_proto_read_accuracy, hlo_proto_write_accuracy, hlo_proto_read_associative,
    hlo_proto_write_associative, hlo_proto_read_operand_layouts, hlo_proto_write_operand_layouts,
    hlo_proto_read_aliasing, hlo_proto_write_aliasing, hlo_proto_read_call_literal, hlo_proto_write_call_literal,
    hlo_proto_read_config, hlo_proto_write_config, hlo_proto_write_opaque;
// hlo_proto_groups.c
hlo_proto_transfer_fn hlo_proto_read_groups, hlo_proto_write_groups, hlo_proto_read_pairs, hlo_proto_write_pairs,
    hlo_proto_read_channel, hlo_proto_write_channel;
// hlo_proto_sharding.c
hlo_proto_transfer_fn hlo_proto_read_domain, hlo_proto_write_domain;

#endif
