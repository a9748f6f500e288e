// One row for each field of the structs in prog/library.h, in their order (library_fields_test.c holds them to it).
#include "prog/library_fields.h"

#include <string.h>

#include "base/vec.h"

// --- the table

static const char *const activations[PROGRAM_ACTIVATION_COUNT] = {[PROGRAM_IDENTITY] = "", [PROGRAM_RELU] = "relu"};

static const char *const fft_types[PROGRAM_FFT_TYPE_COUNT] = {[PROGRAM_FFT_FORWARD] = "FFT",
                                                              [PROGRAM_FFT_INVERSE] = "IFFT",
                                                              [PROGRAM_FFT_REAL] = "RFFT",
                                                              [PROGRAM_FFT_INVERSE_REAL] = "IRFFT"};

static const char *const algorithms[PROGRAM_RANDOM_ALGORITHM_COUNT] = {
    [PROGRAM_RANDOM_DEFAULT] = "default", [PROGRAM_THREE_FRY] = "three-fry", [PROGRAM_PHILOX] = "philox"};

static const char *const collectives[PROGRAM_COLLECTIVE_KIND_COUNT] = {
    [PROGRAM_ALL_GATHER] = "all-gather",
    [PROGRAM_ALL_REDUCE] = "all-reduce",
    [PROGRAM_ALL_TO_ALL] = "all-to-all",
    [PROGRAM_BARRIER] = "barrier",
    [PROGRAM_COLLECTIVE_BROADCAST] = "collective-broadcast",
    [PROGRAM_COLLECTIVE_PERMUTE] = "collective-permute",
    [PROGRAM_COLLECTIVE_REDUCE] = "collective-reduce",
    [PROGRAM_RAGGED_ALL_TO_ALL] = "ragged-all-to-all",
    [PROGRAM_REDUCE_SCATTER] = "reduce-scatter",
    [PROGRAM_REPLICA_ID] = "replica-id",
    [PROGRAM_PARTITION_ID] = "partition-id",
};

static const char *const reducers[PROGRAM_REDUCER_COUNT] = {
    [PROGRAM_NO_REDUCER] = "",     [PROGRAM_ADD] = "add",         [PROGRAM_MULTIPLY] = "multiply",
    [PROGRAM_MAXIMUM] = "maximum", [PROGRAM_MINIMUM] = "minimum", [PROGRAM_AND] = "and",
    [PROGRAM_OR] = "or",           [PROGRAM_XOR] = "xor",
};

static const char *const transfers[PROGRAM_TRANSFER_KIND_COUNT] = {
    [PROGRAM_INFEED] = "infeed",       [PROGRAM_OUTFEED] = "outfeed", [PROGRAM_SEND] = "send",
    [PROGRAM_SEND_DONE] = "send-done", [PROGRAM_RECV] = "recv",       [PROGRAM_RECV_DONE] = "recv-done",
};

#define FIELD(call, type, field, ...) \
  {.name = #field, .kind = PROGRAM_FIELD_##type, .offset = offsetof(program_thunk, call.field), __VA_ARGS__}
#define NAMES(list) .names = list, .name_count = sizeof(list) / sizeof *(list)

static const program_field gemm_fields[] = {
    FIELD(gemm, BOOL, transpose_lhs), FIELD(gemm, BOOL, transpose_rhs),
    FIELD(gemm, BOOL, bias),          FIELD(gemm, NAME, activation, NAMES(activations)),
    FIELD(gemm, INT, group),          FIELD(gemm, INTS, lhs_strides),
    FIELD(gemm, INTS, rhs_strides),   FIELD(gemm, INTS, result_strides),
    FIELD(gemm, INT, lhs_offset),     FIELD(gemm, INT, rhs_offset),
    FIELD(gemm, INT, lhs_elements),   FIELD(gemm, INT, rhs_elements),
    FIELD(gemm, INTS, lhs_start),     FIELD(gemm, INTS, rhs_start),
};

static const program_field convolution_fields[] = {
    FIELD(convolution, INT, input_batch, .absent = -1),
    FIELD(convolution, INT, input_feature, .absent = -1),
    FIELD(convolution, INT, kernel_input_feature, .absent = -1),
    FIELD(convolution, INT, kernel_output_feature, .absent = -1),
    FIELD(convolution, INT, output_batch, .absent = -1),
    FIELD(convolution, INT, output_feature, .absent = -1),
    FIELD(convolution, INTS, input_spatial),
    FIELD(convolution, INTS, kernel_spatial),
    FIELD(convolution, INTS, output_spatial),
    FIELD(convolution, INTS, size),
    FIELD(convolution, INTS, stride),
    FIELD(convolution, INTS, padding_low),
    FIELD(convolution, INTS, padding_high),
    FIELD(convolution, INTS, base_dilation),
    FIELD(convolution, INTS, window_dilation),
    FIELD(convolution, INTS, window_reversal),
    FIELD(convolution, INT, feature_group_count, .absent = 1),
    FIELD(convolution, INT, batch_group_count, .absent = 1),
    FIELD(convolution, BOOL, bias),
    FIELD(convolution, NAME, activation, NAMES(activations)),
    FIELD(convolution, INTS, kernel_strides),
    FIELD(convolution, INT, kernel_offset),
    FIELD(convolution, INT, kernel_elements),
    FIELD(convolution, INTS, kernel_start),
};

static const program_field fft_fields[] = {
    FIELD(fft, NUMBER, fft_type, NAMES(fft_types)),
    FIELD(fft, INTS, fft_length),
};

static const program_field sort_fields[] = {
    FIELD(sort, INT, dimension, .absent = -1),
    FIELD(sort, BOOL, is_stable),
    FIELD(sort, KERNEL, comparator, .absent = -1),
    FIELD(sort, INTS, keys),
    FIELD(sort, INTS, descending),
    FIELD(sort, INTS, order),
};

static const program_field top_k_fields[] = {
    FIELD(top_k, INT, k),
    FIELD(top_k, BOOL, largest, .absent = 1),
};

static const program_field concatenate_fields[] = {
    FIELD(concatenate, INT, rows),    FIELD(concatenate, INTS, operand), FIELD(concatenate, INTS, offset),
    FIELD(concatenate, INTS, stride), FIELD(concatenate, INTS, size),
};

static const program_field random_fields[] = {
    FIELD(random, NUMBER, algorithm, NAMES(algorithms)),
};

static const program_field collective_fields[] = {
    FIELD(collective, NAME, target, NAMES(collectives)),
    FIELD(collective, INT, group_size),
    FIELD(collective, INTS, groups),
    FIELD(collective, INTS, pairs),
    FIELD(collective, INT, dimension, .absent = -1),
    FIELD(collective, NAME, reducer, NAMES(reducers)),
    FIELD(collective, INT, partition_count, .absent = 1),
};

static const program_field transfer_fields[] = {
    FIELD(transfer, NAME, target, NAMES(transfers)),
    FIELD(transfer, INT, channel),
    FIELD(transfer, BOOL, is_paired),
    FIELD(transfer, INTS, pairs),
};

#define FIELDS(list) {list, sizeof(list) / sizeof *(list)}

static const struct {
  const program_field *fields;
  int count;
} tables[PROGRAM_THUNK_KIND_COUNT] = {
    [THUNK_GEMM] = FIELDS(gemm_fields),         [THUNK_CONVOLUTION] = FIELDS(convolution_fields),
    [THUNK_FFT] = FIELDS(fft_fields),           [THUNK_SORT] = FIELDS(sort_fields),
    [THUNK_TOP_K] = FIELDS(top_k_fields),       [THUNK_CONCATENATE] = FIELDS(concatenate_fields),
    [THUNK_RANDOM] = FIELDS(random_fields),     [THUNK_COLLECTIVE] = FIELDS(collective_fields),
    [THUNK_TRANSFER] = FIELDS(transfer_fields),
};

const program_field *program_fields(program_thunk_kind kind, int *count) {
  *count = tables[kind].count;
  return tables[kind].fields;
}

// --- values

_Static_assert(sizeof(program_collective_kind) == sizeof(int), "enums lie in memory as ints");

static const void *at(const program_thunk *t, const program_field *f) { return (const char *)t + f->offset; }

int64_t program_field_number(const program_thunk *t, const program_field *f) {
  switch (f->kind) {
    case PROGRAM_FIELD_BOOL: return *(const bool *)at(t, f);
    case PROGRAM_FIELD_INT: return *(const int64_t *)at(t, f);
    case PROGRAM_FIELD_INTS: return ((const program_ints *)at(t, f))->count;
    case PROGRAM_FIELD_NUMBER:
    case PROGRAM_FIELD_NAME:
    case PROGRAM_FIELD_KERNEL: break;
  }
  return *(const int *)at(t, f);
}

const program_ints *program_field_list(const program_thunk *t, const program_field *f) {
  return f->kind == PROGRAM_FIELD_INTS ? at(t, f) : NULL;
}

// Of all kinds but lists.
static void set_number(program_thunk *t, const program_field *f, int64_t value) {
  void *to = (char *)t + f->offset;
  if (f->kind == PROGRAM_FIELD_BOOL) *(bool *)to = value != 0;
  else if (f->kind == PROGRAM_FIELD_INT) *(int64_t *)to = value;
  else *(int *)to = (int)value;
}

void program_fields_clear(program_thunk *t) {
  int count;
  const program_field *fields = program_fields(t->kind, &count);
  for (int k = 0; k < count; k++) {
    if (fields[k].kind == PROGRAM_FIELD_INTS) *(program_ints *)((char *)t + fields[k].offset) = (program_ints){0};
    else set_number(t, &fields[k], fields[k].absent);
  }
  if (t->kind == THUNK_CUSTOM_CALL) t->custom_call = (program_custom_call){0};
}

bool program_field_is_sound(const program_thunk *t, const program_field *f) {
  const int64_t number = program_field_number(t, f);
  return f->name_count == 0 || (number >= 0 && number < f->name_count);
}

const char *program_field_name(const program_thunk *t, const program_field *f) {
  return program_field_is_sound(t, f) ? f->names[program_field_number(t, f)] : "?";
}

bool program_field_is_set(const program_thunk *t, const program_field *f) {
  if (f->name_count) return program_field_name(t, f)[0] != 0;
  return program_field_number(t, f) != f->absent;
}

const char *program_thunk_target(const program_thunk *t) {
  if (t->kind == THUNK_CUSTOM_CALL) return t->custom_call.target;
  if (t->kind == THUNK_COLLECTIVE) return program_field_name(t, &collective_fields[0]);
  return t->kind == THUNK_TRANSFER ? program_field_name(t, &transfer_fields[0]) : NULL;
}

// --- from attributes

static const int64_t *copy_ints(arena *a, int count, const int64_t *from) {
  int64_t *to = arena_array(a, int64_t, count);
  for (int k = 0; k < count; k++) to[k] = from[k];
  return to;
}

static heddle_status wrong(const program_thunk *t, const char *name, const char *what) {
  return status_error(HEDDLE_INVALID, "%s: found %s %s", program_thunk_kind_name(t->kind), name, what);
}

static heddle_status set_name(program_thunk *t, const program_field *f, const named_attribute *given) {
  if (given->kind != NAMED_TEXT) return wrong(t, f->name, "that is no text");
  for (int k = 0; k < f->name_count; k++) {
    if (strcmp(f->names[k], given->text) != 0) continue;
    set_number(t, f, k);
    return status_ok();
  }
  return status_error(HEDDLE_UNIMPLEMENTED, "%s: found %s \"%s\", which there is not", program_thunk_kind_name(t->kind),
                      f->name, given->text);
}

static heddle_status set_field(arena *a, program_thunk *t, const program_field *f, const named_attribute *given) {
  if (f->kind == PROGRAM_FIELD_NAME) return set_name(t, f, given);
  if (given->kind != NAMED_INTS) return wrong(t, f->name, "that is no number");
  if (f->kind == PROGRAM_FIELD_INTS) {
    *(program_ints *)((char *)t + f->offset) = (program_ints){given->count, copy_ints(a, given->count, given->ints)};
    return status_ok();
  }
  if (given->count != 1) return wrong(t, f->name, "that is no single number");
  if (f->kind == PROGRAM_FIELD_NUMBER && (given->ints[0] < 0 || given->ints[0] >= f->name_count))
    return wrong(t, f->name, "that there is not");
  set_number(t, f, given->ints[0]);
  return status_ok();
}

static void add_attribute(arena *a, program_custom_call *c, const named_attribute *given) {
  named_attribute *list = arena_array(a, named_attribute, c->attribute_count + 1);
  for (int k = 0; k < c->attribute_count; k++) list[k] = c->attributes[k];
  named_attribute *copy = &list[c->attribute_count++];
  *copy = *given;
  copy->name = arena_strdup(a, given->name, strlen(given->name));
  if (given->kind == NAMED_INTS) copy->ints = copy_ints(a, given->count, given->ints);
  if (given->kind == NAMED_TEXT) copy->text = arena_strdup(a, given->text, strlen(given->text));
  c->attributes = list;
}

heddle_status program_field_set(arena *a, program_thunk *t, const named_attribute *given) {
  int count;
  const program_field *fields = program_fields(t->kind, &count);
  for (int k = 0; k < count; k++)
    if (strcmp(fields[k].name, given->name) == 0) return set_field(a, t, &fields[k], given);
  if (t->kind != THUNK_CUSTOM_CALL) return wrong(t, given->name, "that it has not");
  const bool is_effect = strcmp(given->name, "has_side_effect") == 0 && given->kind == NAMED_INTS && given->count == 1;
  if (is_effect) t->custom_call.has_side_effect = given->ints[0] != 0;
  else add_attribute(a, &t->custom_call, given);
  return status_ok();
}

// --- to attributes

static named_attribute attribute_of(arena *a, const program_thunk *t, const program_field *f) {
  if (f->kind == PROGRAM_FIELD_NAME)
    return (named_attribute){.name = f->name, .kind = NAMED_TEXT, .text = program_field_name(t, f)};
  named_attribute made = {.name = f->name, .kind = NAMED_INTS, .count = 1};
  const program_ints *list = program_field_list(t, f);
  if (list) {
    made.count = list->count;
    made.ints = list->data;
  } else {
    const int64_t number = program_field_number(t, f);
    made.ints = copy_ints(a, 1, &number);
  }
  return made;
}

const named_attribute *program_fields_as_attributes(arena *a, const program_thunk *t, int *count) {
  if (t->kind == THUNK_CUSTOM_CALL) {
    *count = t->custom_call.attribute_count;
    return t->custom_call.attributes;
  }
  int field_count;
  const program_field *fields = program_fields(t->kind, &field_count);
  named_attribute *made = arena_array(a, named_attribute, field_count);
  *count = 0;
  for (int k = 0; k < field_count; k++)
    if (program_field_is_set(t, &fields[k]) && fields[k].kind != PROGRAM_FIELD_KERNEL)
      made[(*count)++] = attribute_of(a, t, &fields[k]);
  return made;
}
