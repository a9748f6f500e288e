// One row for each field of the structs in prog/program.h, in their order; what library calls take stands in
// prog/library_fields.c. program_record_test.c holds the tables to the structs.
#include "prog/program_record.h"

#include "prog/library_fields.h"

#define FIELD(struct_, kind_, field, ...) \
  {.name = #field, .kind = RECORD_##kind_, .offset = offsetof(struct_, field), __VA_ARGS__}
#define ENUM(struct_, field, limit_, name_function) \
  FIELD(struct_, ENUM, field, .limit = limit_, .value_name = name_function)
// A list whose number of elements stands in `count_`.
#define LIST(struct_, kind_, field, count_, ...) \
  FIELD(struct_, kind_, field, .count = offsetof(struct_, count_), __VA_ARGS__)
#define TYPE(struct_, fields_, ...)                 \
  {.name = #struct_,                                \
   .size = sizeof(struct_),                         \
   .fields = fields_,                               \
   .field_count = sizeof fields_ / sizeof *fields_, \
   __VA_ARGS__}

// --- names of enums

static const char *dtype_value(int value) { return dtype_name((dtype)value); }
static const char *allocation_value(int value) { return program_allocation_kind_name((program_allocation_kind)value); }
static const char *format_value(int value) { return program_image_format_name((program_image_format)value); }
static const char *thunk_value(int value) { return program_thunk_kind_name((program_thunk_kind)value); }
static const char *device_value(int value) { return target_kind_name((target_kind)value); }

static const char *derived_value(int value) { return program_derived_kind_name((program_derived_kind)value); }

static const char *attribute_value(int value) {
  static const char *const names[] = {[NAMED_INTS] = "ints", [NAMED_DOUBLE] = "double", [NAMED_TEXT] = "text"};
  return names[value];
}

// --- signature

static const record_field place_fields[] = {
    FIELD(source_location, TEXT, file),
    FIELD(source_location, INT, line),
    FIELD(source_location, INT, column),
};
static const record_type place_type = TYPE(source_location, place_fields);

static const record_field shape_fields[] = {
    ENUM(program_shape, type, DTYPE_COUNT, dtype_value),
    LIST(program_shape, INT64S, dims, rank),
    LIST(program_shape, INT64S, minor_to_major, rank, .shares_count = true),
};
static const record_type shape_type = TYPE(program_shape, shape_fields);

static const record_field value_fields[] = {
    FIELD(program_value, TEXT, name),
    FIELD(program_value, STRUCT, shape, .type = &shape_type),
    FIELD(program_value, INT, donated_parameter),
};
static const record_type value_type = TYPE(program_value, value_fields);

static const record_field dynamic_fields[] = {
    FIELD(program_dynamic_size, INT, result),
    FIELD(program_dynamic_size, INT, dimension),
    FIELD(program_dynamic_size, INT, size),
};
static const record_type dynamic_type = TYPE(program_dynamic_size, dynamic_fields);

static const record_field node_fields[] = {
    ENUM(program_node, type, DTYPE_COUNT, dtype_value),
    FIELD(program_node, INT, count),
};
static const record_type node_type = TYPE(program_node, node_fields);

// --- memory and code

static const record_field allocation_fields[] = {
    ENUM(program_allocation, kind, PROGRAM_ALLOCATION_KIND_COUNT, allocation_value),
    FIELD(program_allocation, INT, number),
    FIELD(program_allocation, INT64, bytes),
    LIST(program_allocation, BYTES, data, bytes, .section = PROGRAM_SECTION_CONSTANTS),
};
static const record_type allocation_type = TYPE(program_allocation, allocation_fields);

static const record_field slice_fields[] = {
    FIELD(program_slice, INT, allocation),
    FIELD(program_slice, INT64, offset),
    FIELD(program_slice, INT64, bytes),
    FIELD(program_slice, BOOL, is_temporary),
};
static const record_type slice_type = TYPE(program_slice, slice_fields);

_Static_assert(sizeof(size_t) == sizeof(int64_t), "sizes are written as numbers of 64 bits");

static const record_field image_fields[] = {
    ENUM(program_image, format, PROGRAM_IMAGE_FORMAT_COUNT, format_value),
    FIELD(program_image, INT64, size),
    LIST(program_image, BYTES, data, size, .section = PROGRAM_SECTION_CODE),
};
static const record_type image_type = TYPE(program_image, image_fields);

static const record_field kernel_fields[] = {
    FIELD(program_kernel, TEXT, entry),
    FIELD(program_kernel, INT, image),
    FIELD(program_kernel, INT, forms),
    FIELD(program_kernel, INT, buffer_count),
    FIELD(program_kernel, INT64, tiles),
    FIELD(program_kernel, INT64, tile_bytes),
    FIELD(program_kernel, INT64, tile_operations),
    FIELD(program_kernel, INT64, grid, .repeats = 3),
    FIELD(program_kernel, INT64, block, .repeats = 3),
    FIELD(program_kernel, INT64, shared_bytes),
    FIELD(program_kernel, INT64, pieces),
    FIELD(program_kernel, INT, rest),
    FIELD(program_kernel, INT64, first_tile),
};
static const record_type kernel_type = TYPE(program_kernel, kernel_fields);

// --- thunks

static const record_field array_fields[] = {
    ENUM(program_array, type, DTYPE_COUNT, dtype_value),
    LIST(program_array, INT64S, dims, rank),
    FIELD(program_array, INT, slice),
};
static const record_type array_type = TYPE(program_array, array_fields);

static const record_field attribute_fields[] = {
    FIELD(named_attribute, TEXT, name),         ENUM(named_attribute, kind, NAMED_TEXT + 1, attribute_value),
    LIST(named_attribute, INT64S, ints, count), FIELD(named_attribute, DOUBLE, number),
    FIELD(named_attribute, TEXT, text),
};
static const record_type attribute_type = TYPE(named_attribute, attribute_fields);

static const record_type thunk_type;

static const record_field sequence_fields[] = {
    LIST(program_sequence, POINTERS, thunks, count, .type = &thunk_type),
};
static const record_type sequence_type = TYPE(program_sequence, sequence_fields);

static const record_field thunk_fields[] = {
    ENUM(program_thunk, kind, PROGRAM_THUNK_KIND_COUNT, thunk_value),
    FIELD(program_thunk, TEXT, name),
    FIELD(program_thunk, STRUCT, where, .type = &place_type),
    FIELD(program_thunk, TEXT, origin),
    FIELD(program_thunk, BOOL, is_hidden),
    LIST(program_thunk, INTS, reads, read_count),
    LIST(program_thunk, INTS, writes, write_count),
    FIELD(program_thunk, INT64, resident_bytes),
    LIST(program_thunk, LIST, sequences, sequence_count, .type = &sequence_type),
    LIST(program_thunk, LIST, operands, operand_count, .type = &array_type),
    LIST(program_thunk, LIST, results, result_count, .type = &array_type),
};

static const record_field launch_fields[] = {
    FIELD(program_thunk, INT, launch.kernel),
    LIST(program_thunk, INTS, launch.buffers, launch.buffer_count),
};

static const record_field control_fields[] = {
    FIELD(program_thunk, INT, control.slice),
    FIELD(program_thunk, BOOL, control.is_pred),
};

static const record_field for_fields[] = {FIELD(program_thunk, INT64, trip_count)};
static const record_field memset_fields[] = {FIELD(program_thunk, UINT32, pattern)};

static const record_field custom_call_fields[] = {
    FIELD(program_thunk, TEXT, custom_call.target),
    FIELD(program_thunk, BOOL, custom_call.has_side_effect),
    LIST(program_thunk, LIST, custom_call.attributes, custom_call.attribute_count, .type = &attribute_type),
};

#define FIELDS(list) {list, sizeof(list) / sizeof *(list)}

// Of thunks that are no library calls of prog/library_fields.h.
static const struct {
  const record_field *fields;
  int count;
} further[PROGRAM_THUNK_KIND_COUNT] = {
    [THUNK_KERNEL] = FIELDS(launch_fields), [THUNK_CONDITIONAL] = FIELDS(control_fields),
    [THUNK_WHILE] = FIELDS(control_fields), [THUNK_FOR] = FIELDS(for_fields),
    [THUNK_MEMSET] = FIELDS(memset_fields), [THUNK_CUSTOM_CALL] = FIELDS(custom_call_fields),
};

static record_field library_field(const program_field *f) {
  record_field made = {.name = f->name, .kind = RECORD_INT, .offset = f->offset};
  switch (f->kind) {
    case PROGRAM_FIELD_BOOL: made.kind = RECORD_BOOL; break;
    case PROGRAM_FIELD_INT: made.kind = RECORD_INT64; break;
    case PROGRAM_FIELD_INTS:
      made.kind = RECORD_INT64S;
      made.offset = f->offset + offsetof(program_ints, data);
      made.count = f->offset + offsetof(program_ints, count);
      break;
    case PROGRAM_FIELD_NUMBER:
    case PROGRAM_FIELD_NAME:
      made.kind = RECORD_ENUM;
      made.limit = f->name_count;
      made.value_names = f->names;
      break;
    case PROGRAM_FIELD_KERNEL: break;
  }
  return made;
}

static bool further_field(int kind, int number, record_field *out) {
  int count;
  const program_field *fields = program_fields((program_thunk_kind)kind, &count);
  if (number < count) *out = library_field(&fields[number]);
  else if (number - count < further[kind].count) *out = further[kind].fields[number - count];
  else return false;
  return true;
}

static const record_type thunk_type = TYPE(program_thunk, thunk_fields, .variant = offsetof(program_thunk, kind),
                                           .variants = PROGRAM_THUNK_KIND_COUNT, .more = further_field);

// --- open sizes

static const record_field symbol_fields[] = {
    FIELD(program_symbol, TEXT, name),
    FIELD(program_symbol, INT64, least),
    FIELD(program_symbol, INT64, most),
};
static const record_type symbol_type = TYPE(program_symbol, symbol_fields);

static const record_field open_number_fields[] = {
    FIELD(program_open_number, INT, number),
    FIELD(program_open_number, INT64, terms, .repeats = PROGRAM_MOST_TERMS),
};
static const record_type open_number_type = TYPE(program_open_number, open_number_fields);

static const record_field size_check_fields[] = {
    FIELD(program_size_check, TEXT, message),
    FIELD(program_size_check, INT64, terms, .repeats = PROGRAM_MOST_TERMS),
};
static const record_type size_check_type = TYPE(program_size_check, size_check_fields);

static const record_field derived_fields[] = {
    ENUM(program_derived_size, kind, PROGRAM_DERIVED_KIND_COUNT, derived_value),
    FIELD(program_derived_size, INT64, left, .repeats = PROGRAM_MOST_TERMS),
    FIELD(program_derived_size, INT64, right, .repeats = PROGRAM_MOST_TERMS),
};
static const record_type derived_type = TYPE(program_derived_size, derived_fields);

static const record_field sizes_fields[] = {
    LIST(program_sizes, LIST, symbols, symbol_count, .type = &symbol_type),
    FIELD(program_sizes, INT, degree),
    LIST(program_sizes, LIST, derived, derived_count, .type = &derived_type),
    LIST(program_sizes, LIST, numbers, number_count, .type = &open_number_type),
    LIST(program_sizes, LIST, checks, check_count, .type = &size_check_type),
    FIELD(program_sizes, BOOL, is_for_given),
};
static const record_type sizes_type = TYPE(program_sizes, sizes_fields);

// --- the whole

static const record_field program_fields_table[] = {
    FIELD(program, TEXT, name),
    FIELD(program, STRUCT, where, .type = &place_type),
    ENUM(program, device, TARGET_KIND_COUNT, device_value),
    FIELD(program, INT, device_count),
    FIELD(program, INT, partition_count),
    LIST(program, LIST, parameters, parameter_count, .type = &value_type),
    LIST(program, LIST, results, result_count, .type = &value_type),
    FIELD(program, INT, given_result_count),
    LIST(program, LIST, dynamic, dynamic_count, .type = &dynamic_type),
    LIST(program, LIST, nodes, node_count, .type = &node_type),
    LIST(program, LIST, allocations, allocation_count, .type = &allocation_type),
    FIELD(program, INT64, temporary_bytes),
    FIELD(program, INT, streams),
    FIELD(program, INT64, memory_limit),
    LIST(program, LIST, slices, slice_count, .type = &slice_type),
    LIST(program, LIST, kernels, kernel_count, .type = &kernel_type),
    FIELD(program, STRUCT, entry, .type = &sequence_type),
    FIELD(program, STRUCT, sizes, .type = &sizes_type),
};
static const record_type program_type = TYPE(program, program_fields_table);

static const record_field code_fields[] = {
    FIELD(program_code, TEXT, machine),  FIELD(program_code, TEXT, level),
    FIELD(program_code, TEXT, features), FIELD(program_code, TEXT, sizes),
    FIELD(program_code, INT, plan),      LIST(program_code, LIST, images, image_count, .type = &image_type),
};
static const record_type code_type = TYPE(program_code, code_fields);

static const record_field saved_fields[] = {
    FIELD(program_saved, TEXT, producer),
    LIST(program_saved, LIST, plans, plan_count, .type = &program_type),
    LIST(program_saved, LIST, codes, code_count, .type = &code_type),
};
const record_type program_record_saved = TYPE(program_saved, saved_fields);
