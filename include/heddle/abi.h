// What all headers of Heddle share: which names a library shows, and how structs grow.
//
// Structs of options begin with their size, which their INIT macro sets, so that a program that was compiled with an
// older or a newer header than the library's goes on working:
//
//   heddle_compile_options options = HEDDLE_COMPILE_OPTIONS_INIT;
//   options.threads = 4;
//   ... &(heddle_compile_options){HEDDLE_SIZED(heddle_compile_options), .threads = 4} ...   (C alone)
//
// New fields come at the end, and zero stands for what was so before there were any. The library takes the fields that
// the caller's struct has; the others are zero. A struct_size of 0 is HEDDLE_INVALID (the macro was forgotten), and so
// is one larger than the library knows, unless everything beyond is zero: then the caller asks for nothing new. Structs
// that the library fills in work the same way: it writes the fields that the caller's struct has.
#ifndef HEDDLE_ABI_H_
#define HEDDLE_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __GNUC__
#define HEDDLE_API __attribute__((visibility("default")))
#else
#define HEDDLE_API
#endif

#ifdef __cplusplus
// The struct's own initializer sets the size: heddle_compile_options options{};
#define HEDDLE_STRUCT_SIZE(type) size_t struct_size = sizeof(struct type)
#define HEDDLE_INIT(type) \
  {}
#else
#define HEDDLE_STRUCT_SIZE(type) size_t struct_size
#define HEDDLE_SIZED(type) .struct_size = sizeof(type)
#define HEDDLE_INIT(type) {HEDDLE_SIZED(type)}
#endif

#endif
