// Attributes of an instruction: the walk over all that an operation takes.
//
// ops.def says which attributes an operation has; most are rows of fields.c, the others have a pair of
// functions here. What a message has no field for and no result depends on is left out, anything else is refused.
#include "proto/fields.h"
#include "proto/transfer.h"

void proto_add_raw(proto_transfer *t, hlo_attribute_id id, str value) {
  if (!value.size) return;
  attributes_add_raw(t->arena, t->x, str_from(hlo_attribute_infos[id].text), value);
  attributes_mark(t->x, id);
}

// Notes for people and for other machines.

static heddle_status read_sharding(proto_transfer *t) {
  str said;
  TRY(status_context(proto_sharding_text(t->arena, t->p->sharding, &said), "in sharding"));
  proto_add_raw(t, HLO_ATTRIBUTE_SHARDING, said);
  return status_ok();
}

static heddle_status write_sharding(proto_transfer *t) {
  const str *raw = attributes_raw(t->x, "sharding");
  return raw ? proto_sharding_from(t->arena, *raw, &t->p->sharding) : status_ok();
}

static heddle_status read_metadata(proto_transfer *t) {
  proto_add_raw(t, HLO_ATTRIBUTE_METADATA, proto_metadata_text(t->arena, t->p->metadata));
  return status_ok();
}

static heddle_status write_metadata(proto_transfer *t) {
  const str *raw = attributes_raw(t->x, "metadata");
  return raw ? proto_metadata_from(t->arena, *raw, &t->p->metadata) : status_ok();
}

static heddle_status read_frontend(proto_transfer *t) {
  proto_add_raw(t, HLO_ATTRIBUTE_FRONTEND_ATTRIBUTES, proto_frontend_text(t->arena, t->p->frontend_attributes));
  return status_ok();
}

static heddle_status write_frontend(proto_transfer *t) {
  const str *raw = attributes_raw(t->x, "frontend_attributes");
  return raw ? proto_frontend_from(t->arena, *raw, &t->p->frontend_attributes) : status_ok();
}

typedef struct row {
  proto_transfer_fn *read, *write;
  bool is_metadata;  // no result depends on it: left out where it has no field
} row;

static const row rows[HLO_ATTRIBUTE_COUNT] = {
    [HLO_ATTRIBUTE_SLICE] = {proto_read_slice, proto_write_slice, false},
    [HLO_ATTRIBUTE_PADDING] = {proto_read_padding, proto_write_padding, false},
    [HLO_ATTRIBUTE_WINDOW] = {proto_read_window, proto_write_window, false},
    [HLO_ATTRIBUTE_DIM_LABELS] = {proto_read_dim_labels, proto_write_dim_labels, false},
    [HLO_ATTRIBUTE_OPERAND_PRECISION] = {proto_read_precisions, proto_write_precisions, false},
    [HLO_ATTRIBUTE_ALGORITHM] = {proto_read_algorithm, proto_write_algorithm, false},
    [HLO_ATTRIBUTE_RESULT_ACCURACY] = {proto_read_accuracy, proto_write_accuracy, false},
    [HLO_ATTRIBUTE_IS_ASSOCIATIVE] = {proto_read_associative, proto_write_associative, false},
    [HLO_ATTRIBUTE_REPLICA_GROUPS] = {proto_read_groups, proto_write_groups, false},
    [HLO_ATTRIBUTE_SOURCE_TARGET_PAIRS] = {proto_read_pairs, proto_write_pairs, false},
    [HLO_ATTRIBUTE_CHANNEL_ID] = {proto_read_channel, proto_write_channel, false},
    [HLO_ATTRIBUTE_OPERAND_LAYOUT_CONSTRAINTS] = {proto_read_operand_layouts, proto_write_operand_layouts, false},
    [HLO_ATTRIBUTE_OUTPUT_TO_OPERAND_ALIASING] = {proto_read_aliasing, proto_write_aliasing, false},
    [HLO_ATTRIBUTE_LITERAL] = {proto_read_call_literal, proto_write_call_literal, false},
    [HLO_ATTRIBUTE_BACKEND_CONFIG] = {proto_read_config, proto_write_config, false},
    [HLO_ATTRIBUTE_OPAQUE] = {NULL, proto_write_opaque, false},
    [HLO_ATTRIBUTE_DOMAIN] = {proto_read_domain, proto_write_domain, false},
    [HLO_ATTRIBUTE_SHARDING] = {read_sharding, write_sharding, false},
    [HLO_ATTRIBUTE_FRONTEND_ATTRIBUTES] = {read_frontend, write_frontend, false},
    [HLO_ATTRIBUTE_METADATA] = {read_metadata, write_metadata, false},
    [HLO_ATTRIBUTE_STATISTICS] = {.is_metadata = true},
    [HLO_ATTRIBUTE_ORIGIN] = {.is_metadata = true},
    [HLO_ATTRIBUTE_ORIGINAL_VALUE] = {.is_metadata = true},
    [HLO_ATTRIBUTE_OUTER_DIMENSION_PARTITIONS] = {.is_metadata = true},
    [HLO_ATTRIBUTE_RESULT_LAYOUT] = {.is_metadata = true},
    [HLO_ATTRIBUTE_CONV_KIND] = {.is_metadata = true},
    [HLO_ATTRIBUTE_CONVOLUTION_KIND] = {.is_metadata = true},
    [HLO_ATTRIBUTE_SPARSITY_CONFIG] = {.is_metadata = true},  // verified to be empty
    [HLO_ATTRIBUTE_MODE] = {.is_metadata = true},             // verified to be what the channel and the ids say
    [HLO_ATTRIBUTE_COLLECTIVE_DEVICE_LIST] = {.is_metadata = true},
};

// Whether instructions keep it outside of their attributes.
static bool is_elsewhere(hlo_attribute_kind kind) {
  return kind == ATTRIBUTE_COMPUTATION || kind == ATTRIBUTE_COMPUTATIONS || kind == ATTRIBUTE_CONTROL;
}

static heddle_status read_one(proto_transfer *t, hlo_attribute_id id) {
  if (is_elsewhere(hlo_attribute_infos[id].kind)) return status_ok();
  if (rows[id].read) return rows[id].read(t);
  return proto_field_exists(t->i->opcode, id) ? proto_field_read(t->arena, t->p, id, t->i) : status_ok();
}

static heddle_status write_one(proto_transfer *t, hlo_attribute_id id) {
  const hlo_attribute_info *info = &hlo_attribute_infos[id];
  if (is_elsewhere(info->kind)) return status_ok();
  if (rows[id].write) return rows[id].write(t);
  if (proto_field_exists(t->i->opcode, id)) return proto_field_write(t->arena, t->i, id, t->p);
  if (rows[id].is_metadata || !attributes_raw(t->x, info->text)) return status_ok();
  return status_error(HEDDLE_UNIMPLEMENTED, "attribute %s has no place in an HloInstructionProto", info->text);
}

// Every attribute the operation takes, its own and those common to all.
static heddle_status each_attribute(proto_transfer *t, heddle_status (*fn)(proto_transfer *, hlo_attribute_id)) {
  hlo_opcode op = t->i->opcode;
  if (op == HLO_PARAMETER) TRY(fn(t, HLO_ATTRIBUTE_INDEX));
  for (const char *at = hlo_ops[op].attributes; at && *at;) {
    size_t size = strcspn(at, " ");
    str name = {at, size - (at[size - 1] == '!')};
    hlo_attribute_id id = hlo_attribute_from_text(name);
    if (id == HLO_ATTRIBUTE_SLICE_SIZES && op != HLO_GATHER) id = HLO_ATTRIBUTE_SLICE_SIZES_OF_TRANSFERS;
    if (id < HLO_ATTRIBUTE_COUNT) TRY(status_context(fn(t, id), "in attribute " STR_FMT, STR_ARG(name)));
    at += size + (at[size] == ' ');
  }
  for (int id = 0; id < HLO_ATTRIBUTE_COUNT; id++)
    if (hlo_attribute_infos[id].common)
      TRY(status_context(fn(t, (hlo_attribute_id)id), "in attribute %s", hlo_attribute_infos[id].text));
  return status_ok();
}

heddle_status proto_read_attributes(arena *a, proto_context *context, Xla__HloInstructionProto *from, instruction *to) {
  proto_transfer t = {.arena = a, .context = context, .p = from, .i = to, .x = to->attributes};
  return each_attribute(&t, read_one);
}

heddle_status proto_write_attributes(arena *a, instruction *from, Xla__HloInstructionProto *to) {
  proto_transfer t = {.arena = a, .p = to, .i = from, .x = from->attributes};
  return each_attribute(&t, write_one);
}
