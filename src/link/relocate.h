// What a relocation writes into code or constants, on each machine that objects are linked for.
#ifndef HEDDLE_LINK_RELOCATE_H_
#define HEDDLE_LINK_RELOCATE_H_

#include <stddef.h>

#include "base/status.h"

// One place to be written.
typedef struct relocation_site {
  char *bytes;       // that are written
  size_t room;       // from there to the end of the section
  uint64_t address;  // that the bytes will be executed or read at
  uint64_t target;   // the symbol's address with the addend; of calls to functions far away that of a stub
} relocation_site;

typedef struct relocate_machine {
  uint16_t machine;  // EM_X86_64, …
  const char *name;  // "x86-64"
  // Writes it; HEDDLE_UNIMPLEMENTED names a type that our objects do not have, HEDDLE_INVALID says that the place is
  // too small or the distance too large.
  heddle_status (*apply)(uint32_t type, const relocation_site *site);
  // Whether it is a call or a jump, which may go through a stub.
  bool (*is_call)(uint32_t type);
  size_t stub_size;
  // A jump to the address that lies in `slot`.
  void (*write_stub)(char *stub, uint64_t stub_address, uint64_t slot_address);
} relocate_machine;

// Null if objects of this machine cannot be linked.
const relocate_machine *relocate_machine_find(uint16_t machine);

// The machine that this process runs on.
const relocate_machine *relocate_machine_here(void);

#endif
