// All code becomes one section, all constants another; symbols move with what they name, and relocations with the
// places that they change. Unwind tables are left out: nothing unwinds through kernels.
#include "link/elf_merge.h"

#include <elf.h>

#include "base/map.h"
#include "base/vec.h"
#include "link/elf_object.h"

enum { TEXT = 1, RODATA, RELA_TEXT, RELA_RODATA, SYMTAB, STRTAB, SHSTRTAB, STACK_NOTE, SECTIONS };

static const char section_names[] =
    "\0.text\0.rodata\0.rela.text\0.rela.rodata\0.symtab\0.strtab\0.shstrtab\0.note.GNU-stack";
static const uint32_t name_offsets[SECTIONS] = {0, 1, 7, 15, 26, 39, 47, 55, 65};

enum { LARGEST_ALIGNMENT = 4096, CONSTANT_ALIGNMENT = 64 };

typedef VEC(Elf64_Sym) symbol_list;

typedef struct merging {
  arena *arena;
  const elf_merge_request *request;
  elf_object *objects;
  size_t **places;  // of each object's sections, in the merged one
  text code, constants, names;
  symbol_list locals, others;      // the symbols of the result: shown and undefined ones behind the others
  str_map defined;                 // name -> number among the locals, plus one; the shown one is not among them
  str_map outside;                 // … among the others, plus one
  VEC(Elf64_Rela) relocations[2];  // of code and of constants; symbols as symbol_number says
  const char *undefined;
} merging;

static void pad(text *t, size_t alignment) {
  while (t->size % alignment != 0) text_putc(t, 0);
}

static uint32_t add_name(merging *m, str name) {
  if (!m->names.size) text_putc(&m->names, 0);
  const uint32_t at = (uint32_t)m->names.size;
  text_append(&m->names, name);
  text_putc(&m->names, 0);
  return at;
}

// --- contents

static text *contents_of(merging *m, elf_section_kind kind) {
  return kind == ELF_SECTION_CODE ? &m->code : &m->constants;
}

static heddle_status add_object(merging *m, int number) {
  elf_object *o = &m->objects[number];
  TRY(elf_object_read(m->arena, m->request->objects[number], o));
  if (o->machine != m->objects[0].machine)
    return status_error(HEDDLE_INVALID, "objects of ELF machines %d and %d cannot be one", m->objects[0].machine,
                        o->machine);
  m->places[number] = arena_array(m->arena, size_t, o->section_count);
  for (int k = 0; k < o->section_count; k++) {
    const elf_section *s = &o->sections[k];
    if (s->kind == ELF_SECTION_UNUSED) continue;
    text *to = contents_of(m, s->kind);
    pad(to, s->alignment);
    m->places[number][k] = to->size;
    text_append(to, s->contents);
  }
  return status_ok();
}

// --- symbols

static heddle_status define(merging *m, str name, int section, uint64_t value, bool is_function) {
  bool is_shown = false;
  for (int k = 0; k < 2; k++) is_shown |= m->request->shown[k] && str_is(name, m->request->shown[k]);
  if (str_map_has(&m->defined, name) || (is_shown && str_map_has(&m->outside, name)))
    return status_error(HEDDLE_INVALID, "two of the objects define '" STR_FMT "'", STR_ARG(name));
  const unsigned char type = is_function ? STT_FUNC : STT_OBJECT;
  const Elf64_Sym s = {.st_name = add_name(m, name),
                       .st_info = ELF64_ST_INFO(is_shown ? STB_GLOBAL : STB_LOCAL, type),
                       .st_shndx = (uint16_t)section,
                       .st_value = value};
  symbol_list *to = is_shown ? &m->others : &m->locals;
  vec_push(m->arena, to, s);
  str_map_put(m->arena, is_shown ? &m->outside : &m->defined, name, (void *)(intptr_t)to->size);
  return status_ok();
}

static heddle_status define_all(merging *m) {
  for (int i = 0; i < m->request->constant_count; i++) {
    const elf_constant *c = &m->request->constants[i];
    pad(&m->constants, CONSTANT_ALIGNMENT);
    TRY(define(m, str_from(c->symbol), RODATA, m->constants.size, false));
    text_append(&m->constants, (str){c->data, c->size});
  }
  for (int i = 0; i < m->request->object_count; i++)
    for (int k = 0; k < m->objects[i].symbol_count; k++) {
      const elf_symbol *s = &m->objects[i].symbols[k];
      if (!s->is_global || s->section < 0) continue;
      const elf_section *in = &m->objects[i].sections[s->section];
      if (in->kind == ELF_SECTION_UNUSED) continue;
      TRY(define(m, s->name, in->kind == ELF_SECTION_CODE ? TEXT : RODATA, m->places[i][s->section] + s->value,
                 in->kind == ELF_SECTION_CODE));
    }
  return status_ok();
}

static int undefined_number(merging *m, str name) {
  if (!str_map_has(&m->outside, name)) {
    vec_push(m->arena, &m->others,
             ((Elf64_Sym){.st_name = add_name(m, name), .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)}));
    str_map_put(m->arena, &m->outside, name, (void *)(intptr_t)m->others.size);
    m->undefined = arena_printf(m->arena, "%s%s" STR_FMT, m->undefined, m->undefined[0] ? ", " : "", STR_ARG(name));
  }
  return (int)(intptr_t)str_map_get(&m->outside, name) - 1;
}

// --- relocations

// Local symbols come first in the result; the null symbol is number 0. Until all locals are known, others count
// downwards.
static heddle_status find_symbol(merging *m, int object, const elf_symbol *s, int64_t *number, int64_t *addend) {
  *addend = 0;
  if (s->section == ELF_ABSOLUTE) return status_error(HEDDLE_UNIMPLEMENTED, "an object refers to an absolute address");
  if (s->section == ELF_UNDEFINED) {
    const void *known = str_map_get(&m->defined, s->name);
    *number = known ? (intptr_t)known : -1 - undefined_number(m, s->name);
    return status_ok();
  }
  const elf_section *in = &m->objects[object].sections[s->section];
  if (in->kind == ELF_SECTION_UNUSED)
    return status_error(HEDDLE_INVALID, "an object refers to its section " STR_FMT ", which is left out",
                        STR_ARG(in->name));
  // By the merged section, whose symbols are the first two.
  *number = in->kind == ELF_SECTION_CODE ? 1 : 2;
  *addend = (int64_t)(m->places[object][s->section] + s->value);
  return status_ok();
}

static heddle_status add_relocations(merging *m, int object) {
  const elf_object *o = &m->objects[object];
  for (int k = 0; k < o->relocation_count; k++) {
    const elf_relocation *r = &o->relocations[k];
    int64_t number = 0, addend = 0;
    TRY(find_symbol(m, object, &o->symbols[r->symbol], &number, &addend));
    const bool is_code = o->sections[r->section].kind == ELF_SECTION_CODE;
    vec_push(m->arena, &m->relocations[!is_code],
             ((Elf64_Rela){.r_offset = m->places[object][r->section] + r->offset,
                           .r_info = ELF64_R_INFO((uint64_t)(uint32_t)(int32_t)number, r->type),
                           .r_addend = r->addend + addend}));
  }
  return status_ok();
}

static void number_symbols(merging *m) {
  for (int which = 0; which < 2; which++)
    for (int k = 0; k < m->relocations[which].size; k++) {
      Elf64_Rela *r = &m->relocations[which].data[k];
      const int32_t number = (int32_t)ELF64_R_SYM(r->r_info);
      const int32_t settled = number > 0 ? number : 1 + m->locals.size + (-1 - number);
      r->r_info = ELF64_R_INFO((uint64_t)settled, ELF64_R_TYPE(r->r_info));
    }
}

// --- the file

static void add_section(text *out, Elf64_Shdr *h, int which, uint32_t type, uint64_t flags, const void *data,
                        size_t size) {
  pad(out, which == TEXT || which == RODATA ? CONSTANT_ALIGNMENT : 8);
  h[which] = (Elf64_Shdr){.sh_name = name_offsets[which],
                          .sh_type = type,
                          .sh_flags = flags,
                          .sh_offset = out->size,
                          .sh_size = size,
                          .sh_addralign = 8};
  if (size) text_append(out, (str){data, size});
}

static void write_symbols(merging *m, text *out, Elf64_Shdr *h) {
  symbol_list all = {0};
  vec_push(m->arena, &all, ((Elf64_Sym){0}));
  for (int k = 0; k < m->locals.size; k++) vec_push(m->arena, &all, m->locals.data[k]);
  for (int k = 0; k < m->others.size; k++) vec_push(m->arena, &all, m->others.data[k]);
  add_section(out, h, SYMTAB, SHT_SYMTAB, 0, all.data, (size_t)all.size * sizeof *all.data);
  h[SYMTAB].sh_link = STRTAB;
  h[SYMTAB].sh_info = (uint32_t)m->locals.size + 1;
  h[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
  add_section(out, h, STRTAB, SHT_STRTAB, 0, m->names.data, m->names.size);
}

static void write_relocations(merging *m, text *out, Elf64_Shdr *h, int which) {
  const int section = which ? RELA_RODATA : RELA_TEXT;
  add_section(out, h, section, SHT_RELA, SHF_INFO_LINK, m->relocations[which].data,
              (size_t)m->relocations[which].size * sizeof(Elf64_Rela));
  h[section].sh_link = SYMTAB;
  h[section].sh_info = which ? RODATA : TEXT;
  h[section].sh_entsize = sizeof(Elf64_Rela);
}

static void write_file(merging *m, text *to) {
  text out = {0};
  Elf64_Shdr h[SECTIONS] = {0};
  Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                       .e_type = ET_REL,
                       .e_machine = m->objects[0].machine,
                       .e_version = EV_CURRENT,
                       .e_ehsize = sizeof header,
                       .e_shentsize = sizeof *h,
                       .e_shnum = SECTIONS,
                       .e_shstrndx = SHSTRTAB};
  text_append(&out, (str){(const char *)&header, sizeof header});
  add_section(&out, h, TEXT, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, m->code.data, m->code.size);
  add_section(&out, h, RODATA, SHT_PROGBITS, SHF_ALLOC, m->constants.data, m->constants.size);
  h[TEXT].sh_addralign = h[RODATA].sh_addralign = LARGEST_ALIGNMENT;
  for (int which = 0; which < 2; which++) write_relocations(m, &out, h, which);
  write_symbols(m, &out, h);
  add_section(&out, h, SHSTRTAB, SHT_STRTAB, 0, section_names, sizeof section_names);
  add_section(&out, h, STACK_NOTE, SHT_PROGBITS, 0, NULL, 0);
  pad(&out, 8);
  const uint64_t at = out.size;
  memcpy(out.data + offsetof(Elf64_Ehdr, e_shoff), &at, sizeof at);
  text_append(&out, (str){(const char *)h, sizeof h});
  text_append(to, text_view(&out));
  text_free(&out);
}

static heddle_status merge_all(merging *m) {
  for (int section = TEXT; section <= RODATA; section++)
    vec_push(m->arena, &m->locals,
             ((Elf64_Sym){.st_info = ELF64_ST_INFO(STB_LOCAL, STT_SECTION), .st_shndx = (uint16_t)section}));
  for (int i = 0; i < m->request->object_count; i++) TRY(add_object(m, i));
  TRY(define_all(m));
  for (int i = 0; i < m->request->object_count; i++) TRY(add_relocations(m, i));
  number_symbols(m);
  return status_ok();
}

heddle_status elf_merge(arena *a, const elf_merge_request *request, text *out, const char **undefined) {
  merging m = {.arena = a, .request = request, .undefined = ""};
  if (request->object_count < 1) return status_error(HEDDLE_INVALID, "there is no object to be merged");
  m.objects = arena_array(a, elf_object, request->object_count);
  m.places = arena_array(a, size_t *, request->object_count);
  heddle_status s = merge_all(&m);
  if (status_is_ok(s)) write_file(&m, out);
  *undefined = m.undefined;
  text_free(&m.code);
  text_free(&m.constants);
  text_free(&m.names);
  return s;
}
