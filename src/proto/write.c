// A module as a message.
//
// Computations get ids from 1 in their order, instructions their computation's id in the upper half and their place in
// the lower one: unique in the module, as every version of the format wants it.
#include "proto/parts.h"
#include "proto/values.h"

enum { MAX_DEVICES = 1 << 20 };

typedef struct writer {
  arena *arena, *scratch;
  ptr_map computations, instructions;  // ids
  ptr_map fused;                       // computations that are called by a fusion
  str_map names;                       // of instructions
} writer;

static int64_t id_of(const ptr_map *ids, const void *key) { return (int64_t)(intptr_t)ptr_map_get(ids, key); }

static void number_all(writer *w, const module *m) {
  for (int k = 0; k < m->computations.size; k++) {
    const computation *c = m->computations.data[k];
    ptr_map_put(w->scratch, &w->computations, c, (void *)(intptr_t)(k + 1));
    for (int i = 0; i < c->instructions.size; i++) {
      const instruction *from = c->instructions.data[i];
      int64_t id = (int64_t)(k + 1) << 32 | (i + 1);
      ptr_map_put(w->scratch, &w->instructions, from, (void *)(intptr_t)id);
      for (int n = 0; from->opcode == HLO_FUSION && n < from->called_count; n++)
        ptr_map_put(w->scratch, &w->fused, from->called[n], from->called[n]);
    }
  }
}

static int64_t *operand_ids(writer *w, int count, instruction *const *from) {
  int64_t *ids = arena_array(w->arena, int64_t, count);
  for (int k = 0; k < count; k++) ids[k] = id_of(&w->instructions, from[k]);
  return ids;
}

// In a message names are unique in the module, not only in their computation.
static char *unique_name(writer *w, str name) {
  char *unique = proto_string(w->arena, name);
  for (int k = 1; str_map_has(&w->names, str_from(unique)); k++)
    unique = arena_printf(w->arena, STR_FMT ".%d", STR_ARG(name), w->names.size + k);
  str_map_put(w->scratch, &w->names, str_from(unique), unique);
  return unique;
}

static heddle_status write_instruction(writer *w, instruction *from, Xla__HloInstructionProto **out) {
  Xla__HloInstructionProto *to;
  dtype lacking = proto_lacking_type(from->shape);
  if (lacking != DTYPE_INVALID)
    return status_at(HEDDLE_UNIMPLEMENTED, from->where, STR_FMT ": protos have no element type %s", STR_ARG(from->name),
                     dtype_name(lacking));
  HLO_PROTO_NEW(w->arena, to, HloInstructionProto, hlo_instruction_proto);
  *out = to;
  to->name = unique_name(w, from->name);
  to->opcode = proto_string(w->arena, str_from(hlo_op_text(from->opcode)));
  to->shape = proto_make_shape(w->arena, from->shape);
  to->id = id_of(&w->instructions, from);
  to->n_operand_ids = (size_t)from->operand_count;
  to->operand_ids = operand_ids(w, from->operand_count, from->operands);
  to->n_control_predecessor_ids = (size_t)from->control_predecessors.size;
  to->control_predecessor_ids = operand_ids(w, from->control_predecessors.size, from->control_predecessors.data);
  to->n_called_computation_ids = (size_t)from->called_count;
  to->called_computation_ids = arena_array(w->arena, int64_t, from->called_count);
  bool is_loop = from->opcode == HLO_WHILE && from->called_count == 2;  // the body goes before the condition
  for (int k = 0; k < from->called_count; k++)
    to->called_computation_ids[k] = id_of(&w->computations, from->called[is_loop ? 1 - k : k]);
  if (from->literal) TRY(proto_make_literal(w->arena, from->literal, &to->literal));
  return proto_write_attributes(w->arena, from, to);
}

// Parameters and result. A layout of the module's own goes before those of the instructions.
static Xla__ProgramShapeProto *make_program_shape(writer *w, const computation *c, const shape *parameters,
                                                  const shape *result) {
  Xla__ProgramShapeProto *to;
  HLO_PROTO_NEW(w->arena, to, ProgramShapeProto, program_shape_proto);
  int count = c->parameters.size;
  to->n_parameters = to->n_parameter_names = (size_t)count;
  to->parameters = arena_array(w->arena, Xla__ShapeProto *, count);
  to->parameter_names = arena_array(w->arena, char *, count);
  for (int k = 0; k < count; k++) {
    const shape *own = c->parameters.data[k]->shape;
    to->parameters[k] =
        proto_make_shape(w->arena, parameters && k < parameters->tuple_size ? parameters->elements[k] : own);
    to->parameter_names[k] = proto_string(w->arena, c->parameters.data[k]->name);
  }
  to->result = proto_make_shape(w->arena, result ? result : c->root->shape);
  return to;
}

// Operands before users, in the order of the text where that is such an order: a reader may insist on it.
static heddle_status write_computation(writer *w, const computation *c, Xla__HloComputationProto **out) {
  Xla__HloComputationProto *to;
  instruction_list order;
  HLO_PROTO_NEW(w->arena, to, HloComputationProto, hlo_computation_proto);
  *out = to;
  TRY(computation_post_order(w->scratch, c, &order));
  to->name = proto_string(w->arena, c->name);
  to->id = id_of(&w->computations, c);
  to->root_id = id_of(&w->instructions, c->root);
  to->program_shape = make_program_shape(w, c, NULL, NULL);
  to->is_fusion_computation = ptr_map_has(&w->fused, c);
  to->execution_thread = proto_string(w->arena, c->execution_thread.size ? c->execution_thread : STR("main"));
  to->n_instructions = (size_t)order.size;
  to->instructions = arena_array(w->arena, Xla__HloInstructionProto *, order.size);
  for (int k = 0; k < order.size; k++)
    TRY(status_context(write_instruction(w, order.data[k], &to->instructions[k]), "in instruction '" STR_FMT "'",
                       STR_ARG(order.data[k]->name)));
  return status_ok();
}

// The order of the text, for every computation that is run by itself.
static Xla__HloScheduleProto *make_schedule(writer *w, const module *m) {
  Xla__HloScheduleProto *to;
  HLO_PROTO_NEW(w->arena, to, HloScheduleProto, hlo_schedule_proto);
  to->sequences = arena_array(w->arena, Xla__HloScheduleProto__SequencesEntry *, m->computations.size);
  for (int k = 0; k < m->computations.size; k++) {
    const computation *c = m->computations.data[k];
    if (ptr_map_has(&w->fused, c)) continue;
    Xla__HloScheduleProto__SequencesEntry *entry;
    HLO_PROTO_NEW(w->arena, entry, HloScheduleProto__SequencesEntry, hlo_schedule_proto__sequences_entry);
    HLO_PROTO_NEW(w->arena, entry->value, HloScheduleProto__InstructionSequence,
                  hlo_schedule_proto__instruction_sequence);
    entry->key = id_of(&w->computations, c);
    entry->value->n_instruction_ids = (size_t)c->instructions.size;
    entry->value->instruction_ids = operand_ids(w, c->instructions.size, c->instructions.data);
    to->sequences[to->n_sequences++] = entry;
  }
  return to;
}

static const str *find_attribute(const module *m, const char *name) {
  for (int k = 0; k < m->attributes.size; k++)
    if (str_is(m->attributes.data[k].name, name)) return &m->attributes.data[k].value;
  return NULL;
}

// 1 if the attribute is missing or no sensible count.
static int32_t count_attribute(const module *m, const char *name) {
  const str *value = find_attribute(m, name);
  int32_t count = 0;
  for (size_t k = 0; value && k < value->size && count <= MAX_DEVICES; k++) {
    if (value->data[k] < '0' || value->data[k] > '9') return 1;
    count = count * 10 + (value->data[k] - '0');
  }
  return count > 0 && count <= MAX_DEVICES ? count : 1;
}

// Replicas and partitions have no fields of their own, but can be told from devices: numbered in order.
static heddle_status write_devices(writer *w, const module *m, Xla__HloModuleProto *to) {
  int32_t replicas = count_attribute(m, "replica_count"), partitions = count_attribute(m, "num_partitions");
  int64_t count = (int64_t)replicas * partitions;
  if (count == 1) return status_ok();
  if (count > MAX_DEVICES)
    return status_error(HEDDLE_INVALID, "%lld devices are more than a message should name", (long long)count);
  Xla__DeviceAssignmentProto *d;
  HLO_PROTO_NEW(w->arena, d, DeviceAssignmentProto, device_assignment_proto);
  d->replica_count = replicas;
  d->computation_count = partitions;
  d->n_computation_devices = (size_t)partitions;
  d->computation_devices = arena_array(w->arena, Xla__DeviceAssignmentProto__ComputationDevice *, partitions);
  for (int32_t p = 0; p < partitions; p++) {
    Xla__DeviceAssignmentProto__ComputationDevice *devices;
    HLO_PROTO_NEW(w->arena, devices, DeviceAssignmentProto__ComputationDevice,
                  device_assignment_proto__computation_device);
    devices->n_replica_device_ids = (size_t)replicas;
    devices->replica_device_ids = arena_array(w->arena, int64_t, replicas);
    for (int32_t r = 0; r < replicas; r++) devices->replica_device_ids[r] = (int64_t)r * partitions + p;
    d->computation_devices[p] = devices;
  }
  to->device_assignment = d;
  return status_ok();
}

// Other attributes are settings of the writer's compilation, for which the format has no field.
static heddle_status write_module_attributes(writer *w, const module *m, Xla__HloModuleProto *to) {
  const str *alias = find_attribute(m, "input_output_alias"), *donor = find_attribute(m, "buffer_donor");
  const str *frontend = find_attribute(m, "frontend_attributes");
  if (alias) TRY(proto_alias_from(w->arena, *alias, &to->input_output_alias));
  if (donor) TRY(proto_donor_from(w->arena, *donor, &to->buffer_donor));
  if (frontend) TRY(proto_frontend_from(w->arena, *frontend, &to->frontend_attributes));
  if (m->tables.size) TRY(proto_tables_from(w->arena, m->tables, &to->stack_frame_index));
  TRY(write_devices(w, m, to));
  if (m->is_scheduled) to->schedule = make_schedule(w, m);
  return status_ok();
}

static heddle_status write_module(writer *w, const module *m, Xla__HloModuleProto *to) {
  number_all(w, m);
  to->name = proto_string(w->arena, m->name);
  to->entry_computation_name = proto_string(w->arena, m->entry->name);
  to->entry_computation_id = id_of(&w->computations, m->entry);
  to->host_program_shape = make_program_shape(w, m->entry, m->entry_parameters_layout, m->entry_result_layout);
  to->n_computations = (size_t)m->computations.size;
  to->computations = arena_array(w->arena, Xla__HloComputationProto *, m->computations.size);
  for (int k = 0; k < m->computations.size; k++) {
    const computation *c = m->computations.data[k];
    TRY(status_context(write_computation(w, c, &to->computations[k]), "in computation '" STR_FMT "'",
                       STR_ARG(c->name)));
  }
  return write_module_attributes(w, m, to);
}

heddle_status proto_module_to(arena *a, const module *m, Xla__HloModuleProto **out) {
  writer w = {.arena = a, .scratch = arena_create()};
  HLO_PROTO_NEW(a, *out, HloModuleProto, hlo_module_proto);
  heddle_status status = write_module(&w, m, *out);
  arena_destroy(w.scratch);
  return status_context(status, "while writing module '" STR_FMT "' as an HloModuleProto", STR_ARG(m->name));
}
