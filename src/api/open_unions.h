// Which open dims are the same, of a program that asserts nothing: those without which it cannot be read.
#ifndef HEDDLE_API_OPEN_UNIONS_H_
#define HEDDLE_API_OPEN_UNIONS_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

// More dims are not looked at, and more symbols leave no room for products of them.
enum { OPEN_UNIONS_MOST_DIMS = 16, OPEN_UNIONS_MOST_SYMBOLS = 4 };

typedef struct open_unions_reader {
  int dim_count;
  const int *parameters, *dimensions;  // of each dim
  // Reads the program where its open dims are `sizes`. An error has the place of the operation that does not fit.
  heddle_status (*read)(void *context, const int64_t *sizes);
  void *context;
} open_unions_reader;

// symbols[k] is the number of the first dim that dim k is the same as. Each dim is one of its own unless reading ends
// at an operation that it goes beyond if two dims are the same, or all that two parameters have in the same places.
// False if that does not lead to its end.
bool open_unions_find(const open_unions_reader *reader, int *symbols);

#endif
