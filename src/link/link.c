// All objects share one stretch of memory: their code, then, from a new page on, their constants and the addresses of
// functions far away. Within 2 GiB every distance between its parts fits an instruction; a call of a function of the
// process, which may lie anywhere, goes through a stub behind the code.
#include "link/link.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/guard.h"
#include "base/map.h"
#include "base/vec.h"
#include "link/elf_object.h"
#include "link/host_functions.h"
#include "link/relocate.h"

#define MAX_BYTES ((size_t)1 << 30)

struct link_code {
  char *memory;
  size_t bytes;
};

// A function of the process that code calls.
typedef struct stub {
  const void *function;
  size_t code, slot;  // where they lie
} stub;

typedef struct linking {
  arena *arena;
  const relocate_machine *machine;
  int count;
  elf_object *objects;
  size_t **places;   // of each object's sections, in the memory
  str_map *entries;  // of each object: its functions' addresses by their names, when one has been asked for
  VEC(stub) stubs;
  str_map stub_numbers;  // by the function's name, plus one
  size_t code_bytes, bytes;
  char *memory;
} linking;

static size_t align(size_t at, size_t to) { return (at + to - 1) & ~(to - 1); }

// --- where everything lies

// Sizes are those of what lies in memory already, and cannot overflow.
static heddle_status place_sections(linking *l, elf_section_kind kind, size_t *at) {
  for (int i = 0; i < l->count; i++) {
    const elf_object *o = &l->objects[i];
    for (int k = 0; k < o->section_count; k++) {
      const elf_section *s = &o->sections[k];
      if (s->kind != kind) continue;
      l->places[i][k] = align(*at, s->alignment);
      *at = l->places[i][k] + s->contents.size;
      if (*at > MAX_BYTES) return status_error(HEDDLE_UNIMPLEMENTED, "the code is larger than %zu bytes", MAX_BYTES);
    }
  }
  return status_ok();
}

static heddle_status need_stub(linking *l, str name) {
  if (str_map_has(&l->stub_numbers, name)) return status_ok();
  const void *function = host_function_find(name);
  if (!function)
    return status_error(HEDDLE_UNIMPLEMENTED, "the code calls the function '" STR_FMT "', which it may not",
                        STR_ARG(name));
  vec_push(l->arena, &l->stubs, ((stub){.function = function}));
  str_map_put(l->arena, &l->stub_numbers, name, (void *)(intptr_t)l->stubs.size);
  return status_ok();
}

static heddle_status find_stubs(linking *l) {
  for (int i = 0; i < l->count; i++) {
    const elf_object *o = &l->objects[i];
    for (int k = 0; k < o->relocation_count; k++) {
      const elf_symbol *s = &o->symbols[o->relocations[k].symbol];
      if (s->section == ELF_UNDEFINED) TRY(need_stub(l, s->name));
    }
  }
  return status_ok();
}

static heddle_status lay_out(linking *l) {
  size_t at = 0;
  TRY(place_sections(l, ELF_SECTION_CODE, &at));
  at = align(at, 16);
  for (int k = 0; k < l->stubs.size; k++, at += l->machine->stub_size) l->stubs.data[k].code = at;
  at = l->code_bytes = align(at, (size_t)sysconf(_SC_PAGESIZE));
  TRY(place_sections(l, ELF_SECTION_READ_ONLY, &at));
  at = align(at, 8);
  for (int k = 0; k < l->stubs.size; k++, at += 8) l->stubs.data[k].slot = at;
  l->bytes = align(at, (size_t)sysconf(_SC_PAGESIZE));
  return l->bytes <= MAX_BYTES ? status_ok() : status_error(HEDDLE_UNIMPLEMENTED, "the code is too large");
}

// --- writing it

static uint64_t address_at(const linking *l, size_t place) { return (uint64_t)(uintptr_t)(l->memory + place); }

// What the relocation refers to; calls of functions go to their stubs.
static heddle_status find_target(const linking *l, int object, const elf_relocation *r, uint64_t *out) {
  const elf_object *o = &l->objects[object];
  const elf_symbol *s = &o->symbols[r->symbol];
  if (s->section == ELF_UNDEFINED) {
    const stub *to = &l->stubs.data[(intptr_t)str_map_get(&l->stub_numbers, s->name) - 1];
    *out = l->machine->is_call(r->type) ? address_at(l, to->code) : (uint64_t)(uintptr_t)to->function;
  } else if (s->section == ELF_ABSOLUTE) {
    *out = s->value;
  } else if (o->sections[s->section].kind == ELF_SECTION_UNUSED) {
    return status_error(HEDDLE_INVALID, "the object refers to its section " STR_FMT ", which is not loaded",
                        STR_ARG(o->sections[s->section].name));
  } else {
    *out = address_at(l, l->places[object][s->section]) + s->value;
  }
  *out += (uint64_t)r->addend;
  return status_ok();
}

static heddle_status relocate(const linking *l, int object) {
  const elf_object *o = &l->objects[object];
  for (int k = 0; k < o->relocation_count; k++) {
    const elf_relocation *r = &o->relocations[k];
    const size_t place = l->places[object][r->section] + r->offset;
    relocation_site site = {.bytes = l->memory + place,
                            .room = o->sections[r->section].contents.size - r->offset,
                            .address = address_at(l, place)};
    TRY(find_target(l, object, r, &site.target));
    TRY(l->machine->apply(r->type, &site));
  }
  return status_ok();
}

static void write_stubs(const linking *l) {
  for (int k = 0; k < l->stubs.size; k++) {
    const stub *s = &l->stubs.data[k];
    memcpy(l->memory + s->slot, &s->function, sizeof s->function);
    l->machine->write_stub(l->memory + s->code, address_at(l, s->code), address_at(l, s->slot));
  }
}

static heddle_status write_all(const linking *l) {
  for (int i = 0; i < l->count; i++)
    for (int k = 0; k < l->objects[i].section_count; k++) {
      const elf_section *s = &l->objects[i].sections[k];
      if (s->kind != ELF_SECTION_UNUSED) memcpy(l->memory + l->places[i][k], s->contents.data, s->contents.size);
    }
  write_stubs(l);
  for (int i = 0; i < l->count; i++) TRY(relocate(l, i));
  return status_ok();
}

static heddle_status protect(const linking *l) {
  char *end = l->memory + l->code_bytes;
  __builtin___clear_cache(l->memory, end);
  const bool done = (!l->code_bytes || mprotect(l->memory, l->code_bytes, PROT_READ | PROT_EXEC) == 0) &&
                    (l->bytes == l->code_bytes || mprotect(end, l->bytes - l->code_bytes, PROT_READ) == 0);
  return done ? status_ok() : status_error(HEDDLE_DEVICE_FAILED, "the system gives no memory for code");
}

// --- entries

// An object may have many functions, and each of them may be asked for.
static void list_entries(linking *l, int object) {
  const elf_object *o = &l->objects[object];
  for (int k = 0; k < o->symbol_count; k++) {
    const elf_symbol *s = &o->symbols[k];
    if (!s->is_global || s->section < 0 || str_map_has(&l->entries[object], s->name)) continue;
    if (o->sections[s->section].kind != ELF_SECTION_CODE || s->value >= o->sections[s->section].contents.size) continue;
    str_map_put(l->arena, &l->entries[object], s->name, l->memory + l->places[object][s->section] + s->value);
  }
}

static heddle_status find_entry(linking *l, const link_entry *e, void **address) {
  if (!l->entries[e->object].size) list_entries(l, e->object);
  *address = str_map_get(&l->entries[e->object], str_from(e->name));
  return *address ? status_ok() : status_error(HEDDLE_INVALID, "the object has no function '%s'", e->name);
}

// --- the whole

// Several may be the same bytes, so that they are more together than what they lie in.
static heddle_status check_sizes(const linking *l, const str *objects) {
  size_t left = MAX_BYTES;
  for (int i = 0; i < l->count; left -= objects[i++].size)
    if (objects[i].size > left)
      return status_error(HEDDLE_UNIMPLEMENTED, "the objects are larger than %zu bytes", MAX_BYTES);
  return status_ok();
}

static heddle_status read_objects(linking *l, const str *objects) {
  l->machine = relocate_machine_here();
  if (!l->machine) return status_error(HEDDLE_UNIMPLEMENTED, "objects are not linked on this machine");
  TRY(check_sizes(l, objects));
  l->objects = arena_array(l->arena, elf_object, l->count);
  l->places = arena_array(l->arena, size_t *, l->count);
  l->entries = arena_array(l->arena, str_map, l->count);
  for (int i = 0; i < l->count; i++) {
    TRY(elf_object_read(l->arena, objects[i], &l->objects[i]));
    l->places[i] = arena_array(l->arena, size_t, l->objects[i].section_count);
    if (l->objects[i].machine == l->machine->machine) continue;
    const relocate_machine *other = relocate_machine_find(l->objects[i].machine);
    return status_error(HEDDLE_UNIMPLEMENTED, "the object is for %s (ELF machine %d), this machine is %s",
                        other ? other->name : "another machine", l->objects[i].machine, l->machine->name);
  }
  return status_ok();
}

typedef struct link_request {
  linking linking;
  const str *objects;
  int entry_count;
  const link_entry *entries;
  void **addresses;
} link_request;

static heddle_status link_all(void *argument) {
  link_request *q = argument;
  linking *l = &q->linking;
  l->arena = arena_create();
  TRY(read_objects(l, q->objects));
  TRY(find_stubs(l));
  TRY(lay_out(l));
  if (l->bytes) {
    void *memory = mmap(NULL, l->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for %zu bytes of code", l->bytes);
    l->memory = memory;
  }
  TRY(write_all(l));
  for (int k = 0; k < q->entry_count; k++) TRY(find_entry(l, &q->entries[k], &q->addresses[k]));
  return l->bytes ? protect(l) : status_ok();
}

// The host had no memory: the arena is the guard's.
static void end_linking(void *argument, bool is_torn) {
  (void)is_torn;
  linking *l = &((link_request *)argument)->linking;
  if (l->memory) munmap(l->memory, l->bytes);
  l->memory = NULL;
  l->arena = NULL;
}

heddle_status link_objects(int object_count, const str *objects, int entry_count, const link_entry *entries,
                           void **addresses, link_code **out) {
  *out = NULL;
  link_code *made = malloc(sizeof *made);
  if (!made) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory to link code");
  link_request q = {{.count = object_count}, objects, entry_count, entries, addresses};
  heddle_status s = guard_run(link_all, end_linking, &q);
  arena_destroy(q.linking.arena);
  *made = (link_code){q.linking.memory, q.linking.bytes};
  if (status_is_ok(s)) *out = made;
  else link_release(made);
  return s;
}

void link_release(link_code *code) {
  if (!code) return;
  if (code->memory) munmap(code->memory, code->bytes);
  free(code);
}

size_t link_code_bytes(const link_code *code) { return code->bytes; }
