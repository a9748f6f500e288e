// Names may share their ends with others in the table, so that none is written over: the table is written again behind
// all else, with the new name at its end.
#include "link/elf_rename.h"

#include <elf.h>

#include "link/elf_object.h"

static heddle_status find_symbol(arena *a, str object, const char *name, size_t *number) {
  elf_object read;
  TRY(elf_object_read(a, object, &read));
  for (int k = 0; k < read.symbol_count; k++) {
    if (!read.symbols[k].is_global || !str_is(read.symbols[k].name, name)) continue;
    *number = (size_t)k;
    return status_ok();
  }
  return status_error(HEDDLE_INVALID, "the object has no function '%s'", name);
}

// The header of the list of symbols, which elf_object_read has found.
static Elf64_Shdr symbols_header(str object, const Elf64_Ehdr *whole) {
  Elf64_Shdr h = {0};
  for (int k = 0; k < whole->e_shnum && h.sh_type != SHT_SYMTAB; k++)
    memcpy(&h, object.data + whole->e_shoff + (size_t)k * sizeof h, sizeof h);
  return h;
}

heddle_status elf_rename(arena *a, str object, const char *from, const char *to, str *out) {
  size_t number = 0;
  TRY(find_symbol(a, object, from, &number));
  Elf64_Ehdr whole;
  Elf64_Shdr names;
  memcpy(&whole, object.data, sizeof whole);
  const Elf64_Shdr symbols = symbols_header(object, &whole);
  const size_t names_place = whole.e_shoff + symbols.sh_link * sizeof names;
  memcpy(&names, object.data + names_place, sizeof names);
  const size_t name_bytes = strlen(to) + 1;
  char *made = arena_alloc(a, object.size + names.sh_size + name_bytes);
  memcpy(made, object.data, object.size);
  memcpy(made + object.size, object.data + names.sh_offset, names.sh_size);
  memcpy(made + object.size + names.sh_size, to, name_bytes);
  const uint32_t name = (uint32_t)names.sh_size;
  memcpy(made + symbols.sh_offset + number * sizeof(Elf64_Sym) + offsetof(Elf64_Sym, st_name), &name, sizeof name);
  names.sh_offset = object.size;
  names.sh_size += name_bytes;
  memcpy(made + names_place, &names, sizeof names);
  *out = (str){made, object.size + names.sh_size};
  return status_ok();
}
