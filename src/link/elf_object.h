// Reads relocatable ELF objects, as the code generator writes them: sections that take memory, symbols, relocations.
//
// An object may come from a file that nobody has looked at: whatever is read here lies within its bytes, and every
// number that stands for a section, a symbol or a place is one that exists.
#ifndef HEDDLE_LINK_ELF_OBJECT_H_
#define HEDDLE_LINK_ELF_OBJECT_H_

#include "base/status.h"
#include "base/str.h"

typedef enum elf_section_kind {
  ELF_SECTION_UNUSED,     // nothing of it is needed to run: names, unwind tables, comments
  ELF_SECTION_CODE,       // to be executed
  ELF_SECTION_READ_ONLY,  // constants
} elf_section_kind;

typedef struct elf_section {
  str name;
  elf_section_kind kind;
  str contents;
  size_t alignment;  // a power of two
} elf_section;

enum { ELF_UNDEFINED = -1, ELF_ABSOLUTE = -2 };

typedef struct elf_symbol {
  str name;
  int section;     // or ELF_UNDEFINED, ELF_ABSOLUTE
  uint64_t value;  // within the section: at most its size
  bool is_global;
} elf_symbol;

// One place of a section of code or constants.
typedef struct elf_relocation {
  int section, symbol;
  uint64_t offset;  // below the section's size
  uint32_t type;
  int64_t addend;
} elf_relocation;

typedef struct elf_object {
  uint16_t machine;  // EM_X86_64, EM_AARCH64, …
  int section_count;
  elf_section *sections;
  int symbol_count;
  elf_symbol *symbols;
  int relocation_count;
  elf_relocation *relocations;
} elf_object;

// Lists live in the arena; names and contents are views of `bytes`, which may lie at any address. HEDDLE_INVALID for
// what is no relocatable 64-bit little-endian object or contradicts itself; HEDDLE_UNIMPLEMENTED for objects with
// variables or thread-local memory, which kernels have not.
heddle_status elf_object_read(arena *a, str bytes, elf_object *out);

#endif
