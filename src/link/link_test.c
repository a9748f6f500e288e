// Objects made by hand: a function that loads a constant of its own and a function that calls libm, then the same bytes
// damaged in every way.
#include "link/link.h"

#include <elf.h>
#include <math.h>
#include <stdlib.h>

#include "base/testing.h"
#include "link/elf_merge.h"
#include "link/elf_rename.h"

enum { CODE, CONSTANTS, RELOCATIONS, SYMBOLS, NAMES, SECTION_NAMES, SECTIONS };  // the sections, less one

static const char section_names[] = "\0.text\0.rodata\0.rela.text\0.symtab\0.strtab\0.shstrtab";
static const char names[] = "\0answer\0remainder\0fmodf\0system";

// answer: mov eax, [rip + constant]; ret
// remainder: jmp fmodf
static const unsigned char code[] = {0x8b, 0x05, 0, 0, 0, 0, 0xc3, 0xcc, 0xe9, 0, 0, 0, 0};
static const int32_t constants[4] = {0, 42, 0, 0};

typedef struct object {
  Elf64_Ehdr header;
  unsigned char code[sizeof code];
  int32_t constants[4];
  Elf64_Rela relocations[2];
  Elf64_Sym symbols[5];
  char names[sizeof names], section_names[sizeof section_names];
  Elf64_Shdr sections[SECTIONS + 1];
} object;

static Elf64_Shdr section(size_t name, uint32_t type, uint64_t flags, size_t offset, size_t size) {
  return (Elf64_Shdr){.sh_name = (uint32_t)name,
                      .sh_type = type,
                      .sh_flags = flags,
                      .sh_offset = offset,
                      .sh_size = size,
                      .sh_addralign = 16};
}

#define PART(field) offsetof(object, field), sizeof(((object *)0)->field)

static object make(void) {
  object o = {.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_REL,
                         .e_machine = EM_X86_64,
                         .e_shoff = offsetof(object, sections),
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = SECTIONS + 1,
                         .e_shstrndx = SECTION_NAMES + 1}};
  memcpy(o.code, code, sizeof code);
  memcpy(o.constants, constants, sizeof constants);
  memcpy(o.names, names, sizeof names);
  memcpy(o.section_names, section_names, sizeof section_names);
  o.relocations[0] = (Elf64_Rela){2, ELF64_R_INFO(1, R_X86_64_PC32), 0};
  o.relocations[1] = (Elf64_Rela){9, ELF64_R_INFO(4, R_X86_64_PLT32), -4};
  o.symbols[1] = (Elf64_Sym){.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION), .st_shndx = CONSTANTS + 1};
  o.symbols[2] = (Elf64_Sym){1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, CODE + 1, 0, 7};
  o.symbols[3] = (Elf64_Sym){8, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, CODE + 1, 8, 5};
  o.symbols[4] = (Elf64_Sym){18, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE), 0, SHN_UNDEF, 0, 0};
  Elf64_Shdr *s = &o.sections[1];
  s[CODE] = section(1, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, PART(code));
  s[CONSTANTS] = section(7, SHT_PROGBITS, SHF_ALLOC, PART(constants));
  s[RELOCATIONS] = section(15, SHT_RELA, SHF_INFO_LINK, PART(relocations));
  s[RELOCATIONS].sh_info = CODE + 1;
  s[RELOCATIONS].sh_link = SYMBOLS + 1;
  s[RELOCATIONS].sh_entsize = sizeof(Elf64_Rela);
  s[SYMBOLS] = section(26, SHT_SYMTAB, 0, PART(symbols));
  s[SYMBOLS].sh_link = NAMES + 1;
  s[SYMBOLS].sh_entsize = sizeof(Elf64_Sym);
  s[NAMES] = section(34, SHT_STRTAB, 0, PART(names));
  s[SECTION_NAMES] = section(42, SHT_STRTAB, 0, PART(section_names));
  return o;
}

static str bytes_of(const object *o) { return (str){(const char *)o, sizeof *o}; }

static const link_entry entries[] = {{0, "answer"}, {0, "remainder"}};

static heddle_status link_one(str bytes, void **addresses, link_code **out) {
  return link_objects(1, &bytes, 2, entries, addresses, out);
}

static void refuse(const object *o, heddle_code wanted, const char *says) {
  void *addresses[2];
  link_code *linked;
  heddle_status s = link_one(bytes_of(o), addresses, &linked);
  assert_int_equal(heddle_status_code(s), wanted);
  if (!strstr(heddle_status_message(s), says)) fail_msg("%s does not say %s", heddle_status_message(s), says);
  assert_null(linked);
  heddle_status_free(s);
}

#if defined(__x86_64__)

static void test_runs(void **state) {
  (void)state;
  const object o = make();
  char *odd = malloc(sizeof o + 1);
  memcpy(odd + 1, &o, sizeof o);
  void *addresses[2];
  link_code *linked;
  assert_true(status_is_ok(link_one((str){odd + 1, sizeof o}, addresses, &linked)));
  free(odd);
  // The addend of the first relocation counts from the end of the instruction, so that it is the second constant.
  assert_int_equal(((int (*)(void))addresses[0])(), 42);
  assert_true(((float (*)(float, float))addresses[1])(7.5f, 2) == fmodf(7.5f, 2));
  assert_true(link_code_bytes(linked) >= sizeof code + sizeof constants);
  link_release(linked);
}

static void test_objects_do_not_see_each_other(void **state) {
  (void)state;
  object first = make(), second = make();
  second.constants[1] = 43;
  const str both[] = {bytes_of(&first), bytes_of(&second)};
  const link_entry wanted[] = {{1, "answer"}, {0, "answer"}};
  void *addresses[2];
  link_code *linked;
  assert_true(status_is_ok(link_objects(2, both, 2, wanted, addresses, &linked)));
  assert_int_equal(((int (*)(void))addresses[0])(), 43);
  assert_int_equal(((int (*)(void))addresses[1])(), 42);
  link_release(linked);
}

static void test_says_what_is_wrong(void **state) {
  (void)state;
  object o = make();
  o.relocations[0].r_info = ELF64_R_INFO(1, R_X86_64_GOTPCREL);
  refuse(&o, HEDDLE_UNIMPLEMENTED, "type 9 of x86-64");
  o = make();
  o.relocations[0].r_offset = sizeof code - 2;
  refuse(&o, HEDDLE_INVALID, "beyond its section");
  o = make();
  o.relocations[0].r_addend = (int64_t)1 << 40;
  refuse(&o, HEDDLE_INVALID, "distance");
  o = make();
  o.symbols[4].st_name = 24;
  refuse(&o, HEDDLE_UNIMPLEMENTED, "'system'");
  o = make();
  o.symbols[2].st_value = sizeof code;
  refuse(&o, HEDDLE_INVALID, "no function 'answer'");
  o = make();
  o.symbols[1].st_shndx = SYMBOLS + 1;
  refuse(&o, HEDDLE_INVALID, ".symtab, which is not loaded");
}

// Two objects and a constant as one: the constant is what one of them misses, libm's function stays missing.
static void test_merges(void **state) {
  (void)state;
  object first = make(), second = make();
  first.symbols[3].st_name = 0;  // nameless, so that `remainder` is the second one's alone
  first.symbols[3].st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
  second.symbols[2].st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
  const str both[] = {bytes_of(&second), bytes_of(&first)};
  const elf_constant constant = {"table", "abc", 4};
  const elf_merge_request request = {2, both, 1, &constant, {"answer"}};
  arena *a = arena_create();
  text merged = {0};
  const char *undefined;
  assert_true(status_is_ok(elf_merge(a, &request, &merged, &undefined)));
  assert_string_equal(undefined, "fmodf");
  const str bytes = text_view(&merged);
  void *address;
  link_code *linked;
  assert_true(status_is_ok(link_objects(1, &bytes, 1, &entries[0], &address, &linked)));
  assert_int_equal(((int (*)(void))address)(), 42);
  link_release(linked);
  // What is not shown is not found.
  heddle_status s = link_objects(1, &bytes, 1, &entries[1], &address, &linked);
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  heddle_status_free(s);
  const elf_merge_request twice = {2, (const str[]){both[1], both[1]}, 0, NULL, {"answer"}};
  s = elf_merge(a, &twice, &merged, &undefined);
  assert_non_null(strstr(heddle_status_message(s), "two of the objects define 'answer'"));
  heddle_status_free(s);
  text_free(&merged);
  arena_destroy(a);
}

#endif

static void test_refuses_what_it_cannot_link(void **state) {
  (void)state;
  object o = make();
  o.header.e_machine = EM_PPC64;
  refuse(&o, HEDDLE_UNIMPLEMENTED, "another machine");
  o = make();
  o.header.e_type = ET_DYN;
  refuse(&o, HEDDLE_INVALID, "not a relocatable one");
  o = make();
  o.sections[1 + CONSTANTS].sh_flags |= SHF_WRITE;
  refuse(&o, HEDDLE_UNIMPLEMENTED, ".rodata holds variables");
  o = make();
  o.sections[1 + CODE].sh_addralign = 48;
  refuse(&o, HEDDLE_INVALID, "alignment");
  o = make();
  o.sections[1 + CODE].sh_offset = UINT64_MAX - 4;
  refuse(&o, HEDDLE_INVALID, "lies outside");
  o = make();
  o.symbols[2].st_shndx = 77;
  refuse(&o, HEDDLE_INVALID, "place that does not exist");
  o = make();
  o.names[sizeof names - 1] = 'x';
  o.symbols[3].st_name = 24;
  refuse(&o, HEDDLE_INVALID, "symbol without a name");
}

// What would take as long as its lists are together is refused, however little it is itself.
static void test_refuses_lists_over_each_other(void **state) {
  (void)state;
  object o = make();
  Elf64_Shdr *first = &o.sections[1 + RELOCATIONS], *second = &o.sections[1 + SECTION_NAMES];
  first->sh_offset = 0;
  first->sh_size = 24 * sizeof(Elf64_Rela);
  assert_true(first->sh_size <= sizeof o && sizeof o < 2 * first->sh_size);
  const uint32_t name = second->sh_name;
  *second = *first;
  second->sh_name = name;
  o.header.e_shstrndx = 1 + NAMES;
  for (int k = 1; k <= SECTIONS; k++) o.sections[k].sh_name = 0;
  refuse(&o, HEDDLE_INVALID, "too many relocations");
}

static void test_refuses_endless_names(void **state) {
  (void)state;
  enum { BYTES = 1 << 13 };
  object *o = calloc(1, sizeof *o + BYTES);
  *o = make();
  memset(o + 1, 'x', BYTES - 1);
  o->sections[1 + NAMES].sh_offset = sizeof *o;
  o->sections[1 + NAMES].sh_size = BYTES;
  void *addresses[2];
  link_code *linked;
  heddle_status s = link_one((str){(const char *)o, sizeof *o + BYTES}, addresses, &linked);
  assert_non_null(strstr(heddle_status_message(s), "symbol without a name"));
  heddle_status_free(s);
  free(o);
}

static void link_quietly(const void *data, size_t size) {
  void *addresses[2];
  link_code *linked;
  char *copy = malloc(size ? size : 1);
  memcpy(copy, data, size);
  heddle_status s = link_one((str){copy, size}, addresses, &linked);
  if (status_is_ok(s)) link_release(linked);
  heddle_status_free(s);
  free(copy);
}

static void test_survives_damage(void **state) {
  (void)state;
  const object o = make();
  for (size_t size = 0; size < sizeof o; size++) link_quietly(&o, size);
  for (size_t bit = 0; bit < 8 * sizeof o; bit++) {
    object damaged = o;
    ((unsigned char *)&damaged)[bit / 8] ^= (unsigned char)(1 << bit % 8);
    link_quietly(&damaged, sizeof damaged);
  }
}

// --- other names

#if defined(__x86_64__)

static void test_renames(void **state) {
  (void)state;
  const object o = make();
  arena *a = arena_create();
  str renamed, again;
  assert_true(status_is_ok(elf_rename(a, bytes_of(&o), "answer", "a_name_longer_than_all_others", &renamed)));
  assert_true(status_is_ok(elf_rename(a, renamed, "remainder", "r", &again)));
  const link_entry wanted[] = {{0, "a_name_longer_than_all_others"}, {0, "r"}};
  const link_entry gone[] = {{0, "answer"}};
  void *addresses[2];
  link_code *linked;
  assert_true(status_is_ok(link_objects(1, &again, 2, wanted, addresses, &linked)));
  assert_ptr_equal((char *)addresses[0] + 8, addresses[1]);
  link_release(linked);
  heddle_status s = link_objects(1, &again, 1, gone, addresses, &linked);
  assert_int_equal(heddle_status_code(s), HEDDLE_INVALID);
  heddle_status_free(s);
  s = elf_rename(a, bytes_of(&o), "constants", "x", &renamed);
  assert_non_null(strstr(heddle_status_message(s), "the object has no function 'constants'"));
  heddle_status_free(s);
  arena_destroy(a);
}

#endif

// What is damaged is refused, or renamed: nothing outside of the object is read or written.
static void test_renames_what_is_damaged(void **state) {
  (void)state;
  object o = make();
  unsigned char *bytes = (unsigned char *)&o;
  for (size_t at = 0; at < sizeof o; at++)
    for (int bit = 0; bit < 8; bit++) {
      arena *a = arena_create();
      str renamed;
      bytes[at] ^= (unsigned char)(1 << bit);
      void *copy = malloc(sizeof o);
      memcpy(copy, &o, sizeof o);
      heddle_status_free(elf_rename(a, (str){copy, sizeof o}, "answer", "other", &renamed));
      free(copy);
      bytes[at] ^= (unsigned char)(1 << bit);
      arena_destroy(a);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
#if defined(__x86_64__)
      cmocka_unit_test(test_runs),
      cmocka_unit_test(test_objects_do_not_see_each_other),
      cmocka_unit_test(test_says_what_is_wrong),
      cmocka_unit_test(test_merges),
      cmocka_unit_test(test_renames),
#endif
      cmocka_unit_test(test_refuses_what_it_cannot_link),
      cmocka_unit_test(test_refuses_lists_over_each_other),
      cmocka_unit_test(test_refuses_endless_names),
      cmocka_unit_test(test_survives_damage),
      cmocka_unit_test(test_renames_what_is_damaged),
  };
  return cmocka_run_group_tests_name("link/link", tests, NULL, NULL);
}
