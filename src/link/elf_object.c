// Headers are copied out of the bytes before they are looked at, since an object may begin at any address.
#include "link/elf_object.h"

#include <elf.h>

// Kernels ask for a cache line; a page is the most that memory given by the page can promise.
enum { MAX_ALIGNMENT = 4096 };

// Tables in which no name ends would otherwise be read to their end for each symbol.
enum { MAX_NAME = 4096 };

// LLVM's own type for unwind tables.
enum { X86_64_UNWIND = 0x70000001 };

typedef struct reading {
  arena *arena;
  str bytes;
  int header_count;
  Elf64_Shdr *headers;
  elf_object *out;
} reading;

static heddle_status wrong(const char *what) { return status_error(HEDDLE_INVALID, "the object %s", what); }

static bool lies_within(uint64_t offset, uint64_t size, uint64_t whole) {
  return offset <= whole && size <= whole - offset;
}

static heddle_status read_header(reading *r, Elf64_Ehdr *h) {
  if (r->bytes.size < sizeof *h || memcmp(r->bytes.data, ELFMAG, SELFMAG) != 0) return wrong("is no ELF object");
  memcpy(h, r->bytes.data, sizeof *h);
  if (h->e_ident[EI_CLASS] != ELFCLASS64 || h->e_ident[EI_DATA] != ELFDATA2LSB || h->e_type != ET_REL)
    return wrong("is not a relocatable one of 64 bits, lowest byte first");
  if (h->e_shentsize != sizeof(Elf64_Shdr) || h->e_shnum == 0) return wrong("has no list of sections");
  if (!lies_within(h->e_shoff, (uint64_t)h->e_shnum * sizeof(Elf64_Shdr), r->bytes.size))
    return wrong("ends within its list of sections");
  r->header_count = h->e_shnum;
  r->headers = arena_array(r->arena, Elf64_Shdr, h->e_shnum);
  memcpy(r->headers, r->bytes.data + h->e_shoff, sizeof(Elf64_Shdr) * h->e_shnum);
  return h->e_shstrndx < h->e_shnum ? status_ok() : wrong("has no names of sections");
}

static bool has_bytes(const Elf64_Shdr *h) { return h->sh_type != SHT_NOBITS && h->sh_type != SHT_NULL; }

static str contents_of(const reading *r, const Elf64_Shdr *h) {
  return has_bytes(h) ? (str){r->bytes.data + h->sh_offset, h->sh_size} : STR("");
}

// The text at `offset` of a table of names; false if it does not end within it, or only far away.
static bool name_at(str table, uint64_t offset, str *out) {
  if (offset >= table.size) return false;
  const size_t left = table.size - offset;
  const char *end = memchr(table.data + offset, 0, left < MAX_NAME ? left : MAX_NAME);
  if (!end) return false;
  *out = (str){table.data + offset, (size_t)(end - table.data) - offset};
  return true;
}

// --- sections

static heddle_status unable(const elf_section *s, const char *what) {
  return status_error(HEDDLE_UNIMPLEMENTED, "the object's section " STR_FMT " holds %s, which kernels have not",
                      STR_ARG(s->name), what);
}

static heddle_status classify(const Elf64_Shdr *h, elf_section *s) {
  const bool is_unwinding = h->sh_type == X86_64_UNWIND || str_is(s->name, ".eh_frame");
  if (!(h->sh_flags & SHF_ALLOC) || h->sh_size == 0 || is_unwinding) return status_ok();
  if (h->sh_flags & SHF_TLS) return unable(s, "memory of threads");
  if (h->sh_flags & SHF_WRITE || h->sh_type == SHT_NOBITS) return unable(s, "variables");
  if (h->sh_type != SHT_PROGBITS) return unable(s, "what is neither code nor constants");
  s->kind = h->sh_flags & SHF_EXECINSTR ? ELF_SECTION_CODE : ELF_SECTION_READ_ONLY;
  return status_ok();
}

static heddle_status read_sections(reading *r, int names) {
  elf_object *o = r->out;
  for (int k = 0; k < r->header_count; k++)
    if (has_bytes(&r->headers[k]) && !lies_within(r->headers[k].sh_offset, r->headers[k].sh_size, r->bytes.size))
      return wrong("has a section that lies outside of it");
  o->section_count = r->header_count;
  o->sections = arena_array(r->arena, elf_section, r->header_count);
  for (int k = 0; k < r->header_count; k++) {
    const Elf64_Shdr *h = &r->headers[k];
    elf_section *s = &o->sections[k];
    s->contents = contents_of(r, h);
    s->alignment = h->sh_addralign ? h->sh_addralign : 1;
    if (!name_at(contents_of(r, &r->headers[names]), h->sh_name, &s->name))
      return wrong("has a section without a name");
    TRY(classify(h, s));
    if (s->kind != ELF_SECTION_UNUSED && (s->alignment > MAX_ALIGNMENT || (s->alignment & (s->alignment - 1)) != 0))
      return wrong("has a section of an alignment that memory cannot have");
  }
  return status_ok();
}

// --- symbols

static heddle_status read_symbol(const reading *r, const Elf64_Sym *from, str names, elf_symbol *s) {
  const elf_object *o = r->out;
  if (!name_at(names, from->st_name, &s->name)) return wrong("has a symbol without a name");
  s->value = from->st_value;
  s->is_global = ELF64_ST_BIND(from->st_info) != STB_LOCAL;
  s->section = from->st_shndx == SHN_UNDEF ? ELF_UNDEFINED : from->st_shndx == SHN_ABS ? ELF_ABSOLUTE : from->st_shndx;
  if (s->section == ELF_UNDEFINED || s->section == ELF_ABSOLUTE) return status_ok();
  if (s->section >= o->section_count || s->value > o->sections[s->section].contents.size)
    return wrong("has a symbol of a place that does not exist");
  return status_ok();
}

static heddle_status read_symbols(reading *r) {
  elf_object *o = r->out;
  for (int k = 0; k < r->header_count; k++) {
    const Elf64_Shdr *h = &r->headers[k];
    if (h->sh_type != SHT_SYMTAB) continue;
    if (o->symbols) return wrong("has two lists of symbols");
    if (h->sh_entsize != sizeof(Elf64_Sym) || h->sh_size % sizeof(Elf64_Sym) != 0 ||
        h->sh_link >= (uint32_t)r->header_count)
      return wrong("has a malformed list of symbols");
    const size_t count = h->sh_size / sizeof(Elf64_Sym);
    if (count > INT32_MAX) return wrong("has too many symbols");
    o->symbol_count = (int)count;
    o->symbols = arena_array(r->arena, elf_symbol, count);
    for (size_t i = 0; i < count; i++) {
      Elf64_Sym from;
      memcpy(&from, r->bytes.data + h->sh_offset + i * sizeof from, sizeof from);
      TRY(read_symbol(r, &from, contents_of(r, &r->headers[h->sh_link]), &o->symbols[i]));
    }
  }
  return status_ok();
}

// --- relocations

// Whether the relocations change what is needed to run.
static bool matters(const reading *r, const Elf64_Shdr *h) {
  if (h->sh_type != SHT_RELA && h->sh_type != SHT_REL) return false;
  return h->sh_info < (uint32_t)r->out->section_count && r->out->sections[h->sh_info].kind != ELF_SECTION_UNUSED;
}

static heddle_status read_relocations_of(reading *r, const Elf64_Shdr *h) {
  elf_object *o = r->out;
  if (h->sh_type == SHT_REL) return wrong("has relocations without addends, which its machine does not use");
  if (h->sh_entsize != sizeof(Elf64_Rela) || h->sh_size % sizeof(Elf64_Rela) != 0)
    return wrong("has a malformed list of relocations");
  for (size_t at = 0; at < h->sh_size; at += sizeof(Elf64_Rela)) {
    Elf64_Rela from;
    memcpy(&from, r->bytes.data + h->sh_offset + at, sizeof from);
    const uint64_t symbol = ELF64_R_SYM(from.r_info);
    if (symbol >= (uint64_t)o->symbol_count || from.r_offset >= o->sections[h->sh_info].contents.size)
      return wrong("has a relocation of a place or a symbol that does not exist");
    o->relocations[o->relocation_count++] = (elf_relocation){.section = (int)h->sh_info,
                                                             .symbol = (int)symbol,
                                                             .offset = from.r_offset,
                                                             .type = (uint32_t)ELF64_R_TYPE(from.r_info),
                                                             .addend = from.r_addend};
  }
  return status_ok();
}

static heddle_status read_relocations(reading *r) {
  size_t count = 0;
  for (int k = 0; k < r->header_count; k++)
    if (matters(r, &r->headers[k])) count += r->headers[k].sh_size / sizeof(Elf64_Rela);
  // Lists that lie over each other could be any number of times as long as the object.
  if (count > INT32_MAX || count > r->bytes.size / sizeof(Elf64_Rela)) return wrong("has too many relocations");
  r->out->relocations = arena_array(r->arena, elf_relocation, count);
  for (int k = 0; k < r->header_count; k++)
    if (matters(r, &r->headers[k])) TRY(read_relocations_of(r, &r->headers[k]));
  return status_ok();
}

heddle_status elf_object_read(arena *a, str bytes, elf_object *out) {
  *out = (elf_object){0};
  reading r = {.arena = a, .bytes = bytes, .out = out};
  Elf64_Ehdr header = {0};
  TRY(read_header(&r, &header));
  out->machine = header.e_machine;
  TRY(read_sections(&r, header.e_shstrndx));
  TRY(read_symbols(&r));
  return read_relocations(&r);
}
