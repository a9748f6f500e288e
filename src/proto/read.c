// A module from its message.
//
// Ids are what ties a message together, and nothing about them can be trusted: each is looked up, a repeated one is an
// error, and operands may come in any order until the verifier has seen that there is no cycle.
#include <limits.h>

#include "hlo/text.h"
#include "proto/parts.h"
#include "proto/values.h"

enum { MAX_DEVICES_IN_GROUPS = 1 << 24 };

typedef struct reader {
  arena *arena, *scratch;
  const Xla__HloModuleProto *from;
  module *module;
  ptr_map computations;  // by id
  proto_context context;
} reader;

static const void *key_of(int64_t id) { return (const void *)(uintptr_t)id; }

// Names as HLO text can spell them: anything else becomes `_`.
static str clean_name(arena *a, const char *name) {
  str copy = str_copy(a, str_from(name));
  char *c = arena_strdup(a, copy.data, copy.size);
  for (size_t i = 0; i < copy.size; i++) {
    bool is_fine = (c[i] >= 'a' && c[i] <= 'z') || (c[i] >= 'A' && c[i] <= 'Z') || (c[i] >= '0' && c[i] <= '9') ||
                   c[i] == '_' || c[i] == '.' || c[i] == '-';
    if (!is_fine) c[i] = '_';
  }
  return (str){c, copy.size};
}

// --- one computation

typedef struct body {
  const Xla__HloComputationProto *from;
  computation *to;
  ptr_map instructions;  // by id
  str_map names;
} body;

#define NAMING(status, i) status_context(status, "in instruction '%s' (id %lld)", (i)->name, (long long)(i)->id)

static heddle_status read_opcode(const Xla__HloInstructionProto *from, hlo_opcode *out) {
  *out = hlo_op_from_text(str_from(from->opcode));
  if (*out < HLO_OPCODE_COUNT) return status_ok();
  return status_error(HEDDLE_INVALID, "found opcode '%s', which HLO does not have", from->opcode);
}

static heddle_status add_parameter(const Xla__HloInstructionProto *from, computation *c, str name, const shape *s,
                                   instruction **out) {
  if (from->parameter_number < 0 || from->parameter_number > INT_MAX)
    return status_error(HEDDLE_INVALID, "found parameter number %lld", (long long)from->parameter_number);
  *out = computation_add_parameter(c, (int)from->parameter_number, name, s);
  return status_ok();
}

static heddle_status add_instruction(reader *r, body *b, Xla__HloInstructionProto *from) {
  hlo_opcode op;
  const shape *s;
  instruction *i = NULL;
  TRY(read_opcode(from, &op));
  TRY(proto_read_shape(r->arena, from->shape, &s));
  if (ptr_map_has(&b->instructions, key_of(from->id)))
    return status_error(HEDDLE_INVALID, "an instruction before it has the same id");
  if (from->n_operand_ids > INT_MAX / sizeof(void *)) return status_error(HEDDLE_INVALID, "too many operands");
  str name = clean_name(r->arena, from->name);
  if (str_map_has(&b->names, name)) name = (str){0};
  instruction **none = arena_array(r->scratch, instruction *, from->n_operand_ids);
  if (op == HLO_PARAMETER) TRY(add_parameter(from, b->to, name, s, &i));
  else i = computation_add(b->to, op, name, s, (int)from->n_operand_ids, none);
  str_map_put(r->scratch, &b->names, i->name, i);
  ptr_map_put(r->scratch, &b->instructions, key_of(from->id), i);
  i->where.file = r->module->file;
  TRY(proto_read_attributes(r->arena, &r->context, from, i));
  if (op != HLO_CONSTANT) return status_ok();
  if (!from->literal) return status_error(HEDDLE_INVALID, "a constant has no literal");
  TRY(proto_read_literal(r->arena, from->literal, &i->literal));
  if (shape_compatible(i->literal->shape, s)) return status_ok();
  return status_error(HEDDLE_INVALID, "the literal is %s, wanted %s", shape_text(r->scratch, i->literal->shape),
                      shape_text(r->scratch, s));
}

static heddle_status find_instruction(const body *b, int64_t id, const char *what, instruction **out) {
  *out = ptr_map_get(&b->instructions, key_of(id));
  if (*out) return status_ok();
  return status_error(HEDDLE_INVALID, "%s %lld is not an instruction of the computation", what, (long long)id);
}

static heddle_status find_computation(const reader *r, int64_t id, computation **out) {
  *out = ptr_map_get(&r->computations, key_of(id));
  if (*out) return status_ok();
  return status_error(HEDDLE_INVALID, "called computation %lld is not in the module", (long long)id);
}

// The asynchronous operations behind a start name its computation once more; ours have it at the start only.
static bool repeats_calls(hlo_opcode op) { return op == HLO_ASYNC_UPDATE || op == HLO_ASYNC_DONE; }

// How the operands' type is compared anyway: then the text does not say it.
static comparison_type usual_comparison(dtype t) {
  if (dtype_is_inexact(t)) return COMPARISON_FLOAT;
  return dtype_is_signed(t) ? COMPARISON_SIGNED : COMPARISON_UNSIGNED;
}

static void simplify_comparison(instruction *i) {
  if (i->opcode != HLO_COMPARE || i->operand_count == 0) return;
  if (i->attributes->compare_type == usual_comparison(i->operands[0]->shape->dtype))
    i->attributes->compare_type = COMPARISON_DEFAULT;
}

static heddle_status link_instruction(const reader *r, const body *b, Xla__HloInstructionProto *from) {
  instruction *i, *other;
  TRY(find_instruction(b, from->id, "instruction", &i));
  if (i->opcode == HLO_PARAMETER && from->n_operand_ids)
    return status_error(HEDDLE_INVALID, "a parameter has %zu operands", from->n_operand_ids);
  for (int k = 0; k < i->operand_count; k++) {
    TRY(find_instruction(b, from->operand_ids[k], "operand", &other));
    instruction_set_operand(i, k, other);
  }
  simplify_comparison(i);
  for (size_t k = 0; k < from->n_control_predecessor_ids; k++) {
    TRY(find_instruction(b, from->control_predecessor_ids[k], "control predecessor", &other));
    vec_push(r->arena, &i->control_predecessors, other);
  }
  if (!from->n_called_computation_ids || repeats_calls(i->opcode)) return status_ok();
  if (!hlo_op_has(i->opcode, TRAIT_HAS_COMPUTATIONS) && i->opcode != HLO_CUSTOM_CALL && i->opcode != HLO_ASYNC_START)
    return status_error(HEDDLE_INVALID, "%s calls no computations, found %zu", hlo_op_text(i->opcode),
                        from->n_called_computation_ids);
  size_t count = from->n_called_computation_ids;
  computation **called = arena_array(r->scratch, computation *, count);
  for (size_t k = 0; k < count; k++) TRY(find_computation(r, from->called_computation_ids[k], &called[k]));
  // A message has the body of a loop before its condition.
  bool is_loop = i->opcode == HLO_WHILE && count == 2;
  if (is_loop) instruction_set_called(i, 2, (computation *[]){called[1], called[0]});
  else instruction_set_called(i, (int)count, called);
  return status_ok();
}

static heddle_status read_body(reader *r, body *b) {
  const Xla__HloComputationProto *from = b->from;
  if (!from->n_instructions) return status_error(HEDDLE_INVALID, "found no instructions");
  for (size_t k = 0; k < from->n_instructions; k++)
    TRY(NAMING(add_instruction(r, b, from->instructions[k]), from->instructions[k]));
  for (size_t k = 0; k < from->n_instructions; k++)
    TRY(NAMING(link_instruction(r, b, from->instructions[k]), from->instructions[k]));
  instruction *root;
  TRY(find_instruction(b, from->root_id, "root", &root));
  computation_set_root(b->to, root);
  if (from->execution_thread[0] && strcmp(from->execution_thread, "main") != 0)
    b->to->execution_thread = str_copy(r->arena, str_from(from->execution_thread));
  return status_ok();
}

// Puts the instructions into the order of the schedule, which must name each once.
static heddle_status order_body(reader *r, body *b, const Xla__HloScheduleProto__InstructionSequence *sequence) {
  instruction_list *list = &b->to->instructions;
  if (!sequence || sequence->n_instruction_ids != (size_t)list->size)
    return status_error(HEDDLE_INVALID, "the schedule has %zu instructions, wanted %d",
                        sequence ? sequence->n_instruction_ids : 0, list->size);
  instruction **ordered = arena_array(r->scratch, instruction *, list->size);
  ptr_map seen = {0};
  for (int k = 0; k < list->size; k++) {
    int64_t id = sequence->instruction_ids[k];
    TRY(find_instruction(b, id, "scheduled", &ordered[k]));
    if (ptr_map_has(&seen, ordered[k]))
      return status_error(HEDDLE_INVALID, "the schedule has instruction %lld twice", (long long)id);
    ptr_map_put(r->scratch, &seen, ordered[k], ordered[k]);
  }
  memcpy(list->data, ordered, (size_t)list->size * sizeof(instruction *));
  return status_ok();
}

static heddle_status read_computation(reader *r, const Xla__HloComputationProto *from, const ptr_map *schedule) {
  body b = {.from = from, .to = ptr_map_get(&r->computations, key_of(from->id))};
  TRY(read_body(r, &b));
  if (!ptr_map_has(schedule, key_of(from->id))) return status_ok();
  return order_body(r, &b, ptr_map_get(schedule, key_of(from->id)));
}

// --- the module

static void add_attribute(reader *r, const char *name, str value) {
  if (value.size) vec_push(r->arena, &r->module->attributes, (module_attribute){str_from(name), value});
}

// How many devices the program runs on; one is not worth saying.
static void add_count(reader *r, const char *name, int32_t count) {
  if (count > 1) add_attribute(r, name, str_from(arena_printf(r->arena, "%d", count)));
}

static heddle_status check_entry_shape(const reader *r, const shape *found, const shape *wanted) {
  if (shape_compatible(found, wanted)) return status_ok();
  return status_error(HEDDLE_INVALID, "the program shape has %s, the entry computation %s",
                      shape_text(r->scratch, found), shape_text(r->scratch, wanted));
}

static heddle_status read_entry_shapes(reader *r, const Xla__ProgramShapeProto *from, const shape **parameters) {
  const computation *entry = r->module->entry;
  if (from->n_parameters != (size_t)entry->parameters.size)
    return status_error(HEDDLE_INVALID, "the program shape has %zu parameters, the entry computation %d",
                        from->n_parameters, entry->parameters.size);
  for (int i = 0; i < entry->parameters.size; i++) {
    TRY(proto_read_shape(r->arena, from->parameters[i], &parameters[i]));
    TRY(check_entry_shape(r, parameters[i], entry->parameters.data[i]->shape));
  }
  TRY(proto_read_shape(r->arena, from->result, &r->module->entry_result_layout));
  return check_entry_shape(r, r->module->entry_result_layout, entry->root->shape);
}

static heddle_status read_entry_layout(reader *r) {
  const Xla__ProgramShapeProto *from = r->from->host_program_shape;
  arena *a = r->arena;
  if (!from) return status_ok();
  const shape **parameters = arena_array(a, const shape *, from->n_parameters);
  TRY(read_entry_shapes(r, from, parameters));
  r->module->entry_parameters_layout = shape_tuple(a, (int)from->n_parameters, parameters);
  text t = {0};
  text_puts(&t, "{(");
  for (size_t i = 0; i < from->n_parameters; i++) {
    if (i) text_puts(&t, ", ");
    shape_print(&t, parameters[i], true);
  }
  text_puts(&t, ")->");
  shape_print(&t, r->module->entry_result_layout, true);
  text_putc(&t, '}');
  add_attribute(r, "entry_computation_layout", proto_keep(a, &t));
  return status_ok();
}

static heddle_status read_module_attributes(reader *r) {
  const Xla__HloModuleProto *from = r->from;
  r->module->is_scheduled = from->schedule != NULL;
  if (from->schedule) add_attribute(r, "is_scheduled", STR("true"));
  add_attribute(r, "input_output_alias", proto_alias_text(r->arena, from->input_output_alias));
  add_attribute(r, "buffer_donor", proto_donor_text(r->arena, from->buffer_donor));
  TRY(read_entry_layout(r));
  if (from->device_assignment) {
    add_count(r, "replica_count", from->device_assignment->replica_count);
    add_count(r, "num_partitions", from->device_assignment->computation_count);
  }
  add_attribute(r, "frontend_attributes", proto_frontend_text(r->arena, from->frontend_attributes));
  r->module->tables = proto_tables_text(r->arena, from->stack_frame_index);
  return status_ok();
}

static heddle_status add_computations(reader *r) {
  const Xla__HloModuleProto *from = r->from;
  for (size_t k = 0; k < from->n_computations; k++) {
    const Xla__HloComputationProto *c = from->computations[k];
    if (ptr_map_has(&r->computations, key_of(c->id)))
      return status_error(HEDDLE_INVALID, "computation '%s' has the id %lld of another one", c->name, (long long)c->id);
    computation *added = module_add_computation(r->module, clean_name(r->arena, c->name));
    added->where.file = r->module->file;
    ptr_map_put(r->scratch, &r->computations, key_of(c->id), added);
  }
  r->module->entry = ptr_map_get(&r->computations, key_of(from->entry_computation_id));
  if (r->module->entry) return status_ok();
  return status_error(HEDDLE_INVALID, "the entry computation, %lld, is not in the module",
                      (long long)from->entry_computation_id);
}

// Callees before callers, as the rest of the house relies on.
static heddle_status order_computations(const reader *r) {
  computation **order;
  int count;
  TRY(module_call_order(r->scratch, r->module, &order, &count));
  memcpy(r->module->computations.data, order, sizeof *order * (size_t)count);
  return status_ok();
}

static heddle_status read_module(reader *r) {
  const Xla__HloModuleProto *from = r->from;
  ptr_map schedule = {0};
  TRY(add_computations(r));
  for (size_t k = 0; from->schedule && k < from->schedule->n_sequences; k++) {
    const Xla__HloScheduleProto__SequencesEntry *entry = from->schedule->sequences[k];
    ptr_map_put(r->scratch, &schedule, key_of(entry->key), entry->value);
  }
  for (size_t k = 0; k < from->n_computations; k++) {
    const Xla__HloComputationProto *c = from->computations[k];
    TRY(status_context(read_computation(r, c, &schedule), "in computation '%s'", c->name));
  }
  TRY(order_computations(r));
  TRY(read_module_attributes(r));
  return module_verify(r->module);
}

heddle_status proto_module_from(arena *a, const char *file, const Xla__HloModuleProto *from, module **out) {
  reader r = {.arena = a, .scratch = arena_create(), .from = from};
  r.context = (proto_context){from, arena_array(a, proto_config, from->n_payloads), MAX_DEVICES_IN_GROUPS};
  r.module = module_create(a, clean_name(a, from->name[0] ? from->name : "module"));
  r.module->file = arena_strdup(a, file, strlen(file));
  heddle_status status = read_module(&r);
  *out = r.module;
  arena_destroy(r.scratch);
  return status_context(status, "while reading %s, an HloModuleProto", file);
}
