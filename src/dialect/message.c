// Messages of verifiers.
#include "dialect/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char *message_format(const char *format, ...) {
  char *made = 0;
  va_list args;
  va_start(args, format);
  if (vasprintf(&made, format, args) < 0) made = 0;
  va_end(args);
  return made ? made : strdup(format);
}
