// The version of the library that a program runs with (include/heddle/version.h).
#include "heddle/version.h"

const char *heddle_version(void) { return HEDDLE_VERSION; }

int heddle_version_number(void) { return HEDDLE_VERSION_NUMBER; }
