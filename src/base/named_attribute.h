// A named attribute is an argument of a library call beside its arrays: a list of integers, a number or a text under a
// name. It goes from the plan through the program to the routine.
#ifndef HEDDLE_BASE_NAMED_ATTRIBUTE_H_
#define HEDDLE_BASE_NAMED_ATTRIBUTE_H_

#include <stdint.h>

typedef enum named_attribute_kind { NAMED_INTS, NAMED_DOUBLE, NAMED_TEXT } named_attribute_kind;

typedef struct named_attribute {
  const char *name;
  named_attribute_kind kind;
  int count;            // NAMED_INTS
  const int64_t *ints;  // NAMED_INTS; a single number or truth value is a list of one
  double number;        // NAMED_DOUBLE
  const char *text;     // NAMED_TEXT
} named_attribute;

#endif
