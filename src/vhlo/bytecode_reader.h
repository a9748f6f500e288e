// What the files of the bytecode reader share: bytecode*.c and vhlo*.c only.
//
// A cursor walks one stretch of the file and never leaves it. Every reading function returns false after it has
// recorded a diagnostic in `status`; the first error ends the reading.
#ifndef HEDDLE_VHLO_BYTECODE_READER_H_
#define HEDDLE_VHLO_BYTECODE_READER_H_

#include "mlir/ir.h"

// Versions of MLIR's container at which its encoding changed.
enum {
  BYTECODE_DIALECT_VERSIONS = 1,
  BYTECODE_ISOLATED_SECTIONS = 2,   // regions of isolated operations are sections
  BYTECODE_USE_LISTS = 3,           // orders of uses, which only MLIR's own data structures care for
  BYTECODE_OPTIONAL_LOCATIONS = 4,  // of block arguments; and operation names are counted
  BYTECODE_PROPERTIES = 5,
  BYTECODE_NEWEST = 6
};

// A location says little enough to be kept beside the attributes it is encoded among. Which dialect an entry is of
// decides how it reads; an entry is read when it is first asked for.
typedef struct bytecode_entry {
  size_t offset, size;
  int dialect;
  bool is_encoded;  // in the dialect's encoding; as text otherwise
  bool is_open;     // being read: whoever asks for it now is part of it
  bool is_read;
  int depth;       // of the nesting below
  int64_t weight;  // entries in it, shared ones counted at each place: what a walk over it will see
  const ir_attribute *attribute;
  const ir_type *type;
  const ir_location *location;
} bytecode_entry;

typedef struct bytecode_operation_name {
  str dialect, name;  // "vhlo", "add_v1"
  bool is_registered;
  bool is_known;  // what stands below has been looked up
  ir_opcode op;
  str full_name;
  const struct vhlo_operation *vhlo;  // null if it is no VHLO operation
} bytecode_operation_name;

typedef enum bytecode_dialect {
  BYTECODE_OTHER,
  BYTECODE_BUILTIN,
  BYTECODE_VHLO,
  BYTECODE_CHLO,
  BYTECODE_SDY
} bytecode_dialect;
enum { BYTECODE_MOST_CHLO_PROPERTIES = 4 };

typedef struct bytecode {
  arena *arena;
  const char *file;
  str bytes;
  heddle_status status;
  int version;
  str producer;
  int string_count, dialect_count, name_count, attribute_count, type_count, property_count, resource_count;
  str *strings, *dialects, *resources;
  bytecode_operation_name *names;
  bytecode_entry *attributes, *types;
  str *properties;
  int open_entries;       // how deep in entries the reader is
  int nested_depth;       // of the entry being read: the deepest entry it has asked for
  int64_t nested_weight;  // and how much these weigh
  int64_t expanded;       // bytes taken for what the file says once and uses often: splats, resources, dictionaries
  int64_t most_expanded;  // and how many may be, as the file's size is no measure of them
  int region_depth;
} bytecode;

typedef struct bytecode_cursor {
  bytecode *b;
  size_t at, end;  // offsets in the file
} bytecode_cursor;

// Records an error with the byte offset; false. HEDDLE_INVALID, or HEDDLE_UNIMPLEMENTED for what is well-formed.
#define bytecode_fail(b, offset, ...) (bytecode_record((b), HEDDLE_INVALID, (offset), __VA_ARGS__), false)
#define bytecode_refuse(b, offset, ...) (bytecode_record((b), HEDDLE_UNIMPLEMENTED, (offset), __VA_ARGS__), false)
void bytecode_record(bytecode *b, heddle_code code, size_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
source_location bytecode_where(const bytecode *b, size_t offset);

// bytecode.c: bytecode_read with another limit to what repeated elements may be expanded to, in bytes.
heddle_status bytecode_read_limited(arena *a, const char *file, str bytes, int64_t most_expanded, ir_module **out);

// bytecode_cursor.c: numbers and bytes.
size_t bytecode_left(const bytecode_cursor *c);
bool bytecode_byte(bytecode_cursor *c, uint8_t *out);
bool bytecode_varint(bytecode_cursor *c, uint64_t *out);
bool bytecode_signed(bytecode_cursor *c, int64_t *out);
bool bytecode_flagged(bytecode_cursor *c, uint64_t *out, bool *flag);  // the lowest bit is the flag
bool bytecode_count(bytecode_cursor *c, int *out);  // of things that take a byte at least: no more than bytes left
bool bytecode_index(bytecode_cursor *c, int limit, const char *what, int *out);
bool bytecode_index_of(bytecode_cursor *c, uint64_t value, int limit, const char *what, int *out);
bool bytecode_take(bytecode_cursor *c, uint64_t size, str *out);
bool bytecode_blob(bytecode_cursor *c, str *out);  // size, then bytes
bool bytecode_alignment(bytecode_cursor *c, uint64_t *out);
bool bytecode_pad(bytecode_cursor *c, uint64_t alignment);                 // to a multiple of it in the file
bool bytecode_string(bytecode_cursor *c, str *out);                        // index into the strings
bool bytecode_integers(bytecode_cursor *c, int *count, int64_t **out);     // count, then signed numbers
bool bytecode_section(bytecode_cursor *c, int *id, bytecode_cursor *out);  // a section inside the cursor's stretch
bool bytecode_number(bytecode_cursor *c, int bits, uint64_t *out);         // an integer or float of known width
bool bytecode_double(bytecode_cursor *c, double *out);

// bytecode_entry.c: types and attributes by index.
bool bytecode_attribute(bytecode_cursor *c, const ir_attribute **out);
bool bytecode_optional_attribute(bytecode_cursor *c, const ir_attribute **out);  // null if absent
bool bytecode_attributes(bytecode_cursor *c, int *count, const ir_attribute ***out);
bool bytecode_dictionary(bytecode_cursor *c, const ir_attribute **out);                         // names and values
bool bytecode_unique(bytecode *b, size_t offset, int count, const ir_named_attribute *fields);  // fails on a name twice
bool bytecode_string_attribute(bytecode_cursor *c, str *out);  // an attribute that must be a string
bool bytecode_type(bytecode_cursor *c, const ir_type **out);
bool bytecode_type_at(bytecode *b, uint64_t index, size_t offset, const ir_type **out);
bool bytecode_types(bytecode_cursor *c, int *count, const ir_type ***out);
bool bytecode_location(bytecode_cursor *c, const ir_location **out);
bool bytecode_dims(bytecode_cursor *c, int *rank, int64_t **dims);  // MLIR's mark for `?` becomes IR_DYNAMIC

// bytecode_elements.c: values.
bool bytecode_expand(bytecode *b, size_t offset, int64_t bytes);  // counts them; false if they are too many
bool bytecode_literal(bytecode_cursor *c, const ir_type *type, str blob, literal **out);  // rank 0: one of many
bool bytecode_elements(bytecode_cursor *c, const ir_type *type, str blob, const ir_attribute **out);
bool bytecode_integer_attribute(bytecode_cursor *c, const ir_type *type, const ir_attribute **out);
bool bytecode_float_attribute(bytecode_cursor *c, const ir_type *type, const ir_attribute **out);

// bytecode_parts.c: what the builtin dialect and VHLO encode alike.
typedef bool (*bytecode_attribute_fn)(bytecode_cursor *c, bytecode_entry *entry);
typedef bool (*bytecode_type_fn)(bytecode_cursor *c, ir_type *t);
bool bytecode_read_array(bytecode_cursor *c, bytecode_entry *entry);
bool bytecode_read_dictionary(bytecode_cursor *c, bytecode_entry *entry);
bool bytecode_read_elements(bytecode_cursor *c, bytecode_entry *entry);
bool bytecode_read_float(bytecode_cursor *c, bytecode_entry *entry);
bool bytecode_read_integer(bytecode_cursor *c, bytecode_entry *entry);
bool bytecode_read_string(bytecode_cursor *c, bytecode_entry *entry);
bool bytecode_read_type(bytecode_cursor *c, bytecode_entry *entry);
bool bytecode_read_complex_type(bytecode_cursor *c, ir_type *t);
bool bytecode_read_encoded_tensor_type(bytecode_cursor *c, ir_type *t);
bool bytecode_read_function_type(bytecode_cursor *c, ir_type *t);
bool bytecode_read_tensor_type(bytecode_cursor *c, ir_type *t);
bool bytecode_read_tuple_type(bytecode_cursor *c, ir_type *t);
bool bytecode_read_unranked_type(bytecode_cursor *c, ir_type *t);

// The dialects' encodings: the entry's attribute or location, or its type.
bool bytecode_builtin_attribute(bytecode_cursor *c, bytecode_entry *entry);
bool bytecode_builtin_type(bytecode_cursor *c, bytecode_entry *entry);
bool vhlo_attribute(bytecode_cursor *c, bytecode_entry *entry);
bool vhlo_type(bytecode_cursor *c, bytecode_entry *entry);

// bytecode_chlo.c: what CHLO encodes in its own way; an operation's properties come as named attributes.
bool bytecode_chlo_attribute(bytecode_cursor *c, bytecode_entry *entry);
bool bytecode_chlo_properties(bytecode_cursor *c, size_t offset, ir_opcode op, int *count,
                              ir_named_attribute fields[BYTECODE_MOST_CHLO_PROPERTIES]);

// bytecode_sdy.c: what Shardy does.
bool bytecode_sdy_attribute(bytecode_cursor *c, bytecode_entry *entry);
bool bytecode_sdy_properties(bytecode_cursor *c, ir_opcode op, int *count, ir_named_attribute fields[3]);

// bytecode_ir.c: the IR section.
bool bytecode_ir(bytecode_cursor *c, ir_module **out);

#endif
