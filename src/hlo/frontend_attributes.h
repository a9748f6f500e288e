// Frontend attributes as HLO text has them: {name="text",other={ any value },"a name in quotes"="text"}.
//
// A value that is one pair of braces stands bare, any other one in quotes; a reader of the list sees no difference.
// HLO's strings and MLIR's escape other bytes in other ways, so no text goes from one to the other as it stands.
#ifndef HEDDLE_HLO_FRONTEND_ATTRIBUTES_H_
#define HEDDLE_HLO_FRONTEND_ATTRIBUTES_H_

#include "base/status.h"
#include "base/str.h"
#include "base/vec.h"
#include "hlo/module.h"

typedef struct frontend_attribute {
  str name, value;  // without quotes and escapes
} frontend_attribute;
typedef VEC(frontend_attribute) frontend_attribute_list;

heddle_status frontend_attributes_parse(arena *a, str source, frontend_attribute_list *out);
str frontend_attributes_text(arena *a, const frontend_attribute_list *list);  // nothing of an empty list

// --- one attribute of an instruction, written beside whatever else its text has; names and values are words

bool frontend_attributes_have(const instruction *i, const char *name, const char *value);
void frontend_attributes_put(instruction *i, const char *name, const char *value);

#endif
