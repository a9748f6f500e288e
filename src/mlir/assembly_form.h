// What the files of the pretty text forms share: assembly*.c only.
//
// A form is a line of words parted by spaces. It is read and printed by the same interpreter (assembly.c):
//
//   word , ( [ =     itself
//   %1 % %*          one operand; all that are left; all that are left, each with a comma behind it
//   $name:kind       the attribute `name`, written as its kind demands (assembly_attributes.c)
//   ? ... ;          a part that is there if its first attribute is; when reading, if its first word is
//   {}               the other attributes as a dictionary, if there are any
//   :kind            the types of operands and results (assembly_types.c)
//   &name            written by a pair of functions of its own (assembly_directives)
#ifndef HEDDLE_MLIR_ASSEMBLY_FORM_H_
#define HEDDLE_MLIR_ASSEMBLY_FORM_H_

#include "mlir/assembly.h"
#include "mlir/parser.h"

// An operation on the way in: operands are names until the types are known.
typedef struct assembly_reading {
  mlir_parser *p;
  mlir_draft *draft;
  mlir_operand_list uses;
} assembly_reading;

// An operation on the way out.
typedef struct assembly_writing {
  const assembly_printer *p;
  text *out;
  const ir_operation *op;
  const char *form;
  int next_operand, next_region;  // not yet written
} assembly_writing;

typedef struct assembly_directive {
  const char *name;
  const char *covers;  // names of the attributes it writes, parted by spaces: the dictionary leaves them out
  bool (*read)(assembly_reading *r);
  bool (*write)(assembly_writing *w);  // false if the operation does not fit
} assembly_directive;

extern const assembly_directive assembly_directives[];  // the last one has no name

// Attributes of the draft.
void assembly_set(assembly_reading *r, str name, const ir_attribute *value);

// Kinds of attributes behind `$name:`. `kind` ends at a space or the string's end.
bool assembly_read_attribute(assembly_reading *r, str name, str kind);
bool assembly_write_attribute(assembly_writing *w, const ir_attribute *x, str kind);
bool assembly_read_dims(mlir_parser *p, const ir_attribute **out);  // [0, 1] or array<i64: 0, 1> or dense<...>
bool assembly_write_dims(text *out, const ir_attribute *x);         // [0, 1]
// ` {a = 1}` of the attributes whose names are not covered by the form; nothing if none is left. `keyword` stands
// before it and may be empty.
void assembly_write_dictionary(assembly_writing *w, const char *keyword);

// Kinds of types behind `:`.
bool assembly_read_types(assembly_reading *r, str kind);
bool assembly_write_types(assembly_writing *w, str kind);
bool assembly_resolve(assembly_reading *r, int count, const ir_type *const *types);  // the draft's operands
bool assembly_same_type(const ir_type *l, const ir_type *r);                         // encodings too
void assembly_write_function_type(text *out, const ir_operation *op);

// Notations of contractions (assembly_contractions.c).
bool assembly_read_contraction(assembly_reading *r);  // `contracting_dims = [1] x [0]`
bool assembly_write_contraction(assembly_writing *w);
bool assembly_read_precision(assembly_reading *r);  // `, precision = [...], algorithm = <...>`, all optional
bool assembly_write_precision(assembly_writing *w);
bool assembly_read_convolution(assembly_reading *r);  // `[b, 0, f]x[0, i, o]->[b, 0, f]`
bool assembly_write_convolution(assembly_writing *w);
bool assembly_read_window(assembly_reading *r);  // `{stride = [1], pad = [[0, 0]]}`
bool assembly_write_window(assembly_writing *w);

// Forms with regions (assembly_regions.c).
bool assembly_read_reduce(assembly_reading *r);
bool assembly_write_reduce(assembly_writing *w);
bool assembly_read_while(assembly_reading *r);
bool assembly_write_while(assembly_writing *w);
bool assembly_read_scan(assembly_reading *r);
bool assembly_write_scan(assembly_writing *w);
bool assembly_read_bodies(assembly_reading *r);  // `({...}, {...})` of a composite, if there are any
bool assembly_write_bodies(assembly_writing *w);

#endif
