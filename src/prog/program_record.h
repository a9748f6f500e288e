// How programs are written as records (prog/record.h): the tables of their structs' fields.
#ifndef HEDDLE_PROG_PROGRAM_RECORD_H_
#define HEDDLE_PROG_PROGRAM_RECORD_H_

#include "prog/program.h"
#include "prog/record.h"

// Where bytes lie outside of the record.
enum { PROGRAM_SECTION_CODE, PROGRAM_SECTION_CONSTANTS };

// The images for one kind of machine, and which of the file's plans runs them: its kernels name them by their number.
typedef struct program_code {
  const char *machine;   // "x86-64", "aarch64"; of GPUs "nvptx"
  const char *level;     // what the code was asked for: "x86-64-v3", "native", "sm_90"
  const char *features;  // what of the machine it uses: "+avx2,+fma,…"
  const char *sizes;     // null: any that the program takes; else which of them it is for, "n0 = 64*m0"
  int plan;
  int image_count;
  const program_image *images;
} program_code;

// What a file holds. Code for several machines shares a plan where it was planned alike.
typedef struct program_saved {
  const char *producer;  // "heddle 0.11"
  int plan_count;
  const program *plans;  // the same signature, without images
  int code_count;
  const program_code *codes;
} program_saved;

extern const record_type program_record_saved;

// That structs nest in a record.
enum { PROGRAM_RECORD_DEPTH = 2 * PROGRAM_MAX_DEPTH + 8 };

#endif
