// Which Heddle this is, and what it can do.
#ifndef HEDDLE_VERSION_H_
#define HEDDLE_VERSION_H_

#include <stdbool.h>

#include "heddle/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

// Of this header. Programs built with an older minor version go on working with a newer library.
#define HEDDLE_VERSION_MAJOR 0
#define HEDDLE_VERSION_MINOR 11
#define HEDDLE_VERSION_PATCH 0
#define HEDDLE_VERSION "0.11.0"
#define HEDDLE_VERSION_NUMBER (HEDDLE_VERSION_MAJOR * 1000000 + HEDDLE_VERSION_MINOR * 1000 + HEDDLE_VERSION_PATCH)

// Of the library that the program runs with.
HEDDLE_API const char *heddle_version(void);
HEDDLE_API int heddle_version_number(void);

// A name for each thing that this library can do and others, older or built otherwise, cannot: "compile",
// "target:vulkan", "format:stablehlo-bytecode", …. Null for a number that is negative or behind the last one.
HEDDLE_API const char *heddle_feature(int number);
// Whether it is among them; false for null.
HEDDLE_API bool heddle_has_feature(const char *name);

#ifdef __cplusplus
}
#endif
#endif
