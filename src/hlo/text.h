// Reads and writes HLO text.
#ifndef HEDDLE_HLO_TEXT_H_
#define HEDDLE_HLO_TEXT_H_

#include "hlo/module.h"

// Parses a module, or a lone computation without header (it becomes the entry). `file` names the source in messages.
// Recovers after an error to report up to ten in one status: `file:line:col: error: found …, wanted …`, the source line
// and a caret. Shapes are checked against shape inference and the verifier runs.
heddle_status hlo_parse(arena *a, const char *file, str source, module **out);
heddle_status hlo_parse_file(arena *a, const char *path, module **out);
heddle_status shape_parse(arena *a, str source, const shape **out);
heddle_status literal_parse(arena *a, str source, const shape *s, literal **out);

typedef struct hlo_print_options {
  bool percent;  // %names and the ENTRY signature
  bool operand_shapes;
  bool layouts;
  bool metadata;
  bool elide_large;  // constants of more than 16 elements print {...}
} hlo_print_options;

#define HLO_PRINT_SHORT ((hlo_print_options){.layouts = true, .metadata = true})
#define HLO_PRINT_FULL ((hlo_print_options){.percent = true, .operand_shapes = true, .layouts = true, .metadata = true})

void hlo_print(text *out, const module *m, hlo_print_options options);
void hlo_print_computation(text *out, const computation *c, hlo_print_options options);
void hlo_print_instruction(text *out, const instruction *i, hlo_print_options options);

// Structure, names, shapes, attributes, literals (bits). Reports the first difference.
heddle_status module_compare(const module *l, const module *r);

// hlo/shape_inference.c: the result's shape of `i` from its operands and attributes; HEDDLE_INVALID with i's location
// if the operands do not fit. Rules that take the given shape return i->shape.
heddle_status shape_infer(arena *a, const instruction *i, const shape **out);
// hlo/verifier.c: all that must hold of a module (arity, shapes, attributes, acyclic, roots, called signatures, …).
heddle_status module_verify(const module *m);

#endif
