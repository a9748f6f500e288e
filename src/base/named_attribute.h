// Named values that a library call is given, from the plan on through the program to the routine.
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
