// The types are those of the psABI supplements for x86-64 and for AArch64, as far as kernels' objects have them:
// distances to constants of the same object, calls, and addresses in tables of constants.
#include "link/relocate.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

static heddle_status unknown(const char *machine, uint32_t type) {
  return status_error(HEDDLE_UNIMPLEMENTED, "the object has a relocation of type %u of %s, which is not linked", type,
                      machine);
}

static heddle_status too_small(void) {
  return status_error(HEDDLE_INVALID, "the object has a relocation that reaches beyond its section");
}

static heddle_status too_far(void) {
  return status_error(HEDDLE_INVALID, "the object has a relocation whose distance its instruction cannot hold");
}

static heddle_status put64(const relocation_site *s, uint64_t value) {
  if (s->room < 8) return too_small();
  memcpy(s->bytes, &value, 8);
  return status_ok();
}

static heddle_status put32_signed(const relocation_site *s, int64_t value) {
  if (s->room < 4) return too_small();
  if (value < INT32_MIN || value > INT32_MAX) return too_far();
  const int32_t narrow = (int32_t)value;
  memcpy(s->bytes, &narrow, 4);
  return status_ok();
}

static int64_t distance(const relocation_site *s) { return (int64_t)(s->target - s->address); }

// --- x86-64

static bool x86_is_call(uint32_t type) { return type == R_X86_64_PLT32; }

static heddle_status x86_apply(uint32_t type, const relocation_site *s) {
  switch (type) {
    case R_X86_64_NONE: return status_ok();
    case R_X86_64_64: return put64(s, s->target);
    case R_X86_64_PC64: return put64(s, (uint64_t)distance(s));
    case R_X86_64_PC32:
    case R_X86_64_PLT32: return put32_signed(s, distance(s));
    default: return unknown("x86-64", type);
  }
}

// jmp *slot(%rip)
static void x86_write_stub(char *stub, uint64_t stub_address, uint64_t slot_address) {
  const int32_t to_slot = (int32_t)(slot_address - (stub_address + 6));
  stub[0] = (char)0xff;
  stub[1] = 0x25;
  memcpy(stub + 2, &to_slot, 4);
  stub[6] = stub[7] = (char)0xcc;  // int3, never reached
}

// --- AArch64

// An instruction's bits outside of `mask` stay.
static heddle_status put_bits(const relocation_site *s, uint32_t mask, uint32_t value) {
  uint32_t word;
  if (s->room < 4) return too_small();
  memcpy(&word, s->bytes, 4);
  word = (word & ~mask) | (value & mask);
  memcpy(s->bytes, &word, 4);
  return status_ok();
}

static int64_t page_of(uint64_t address) { return (int64_t)(address & ~(uint64_t)0xfff); }

static uint32_t adrp_bits(int64_t pages) {
  return ((uint32_t)pages & 3) << 29 | (((uint32_t)(pages >> 2) & 0x7ffff) << 5);
}

static heddle_status arm_adrp(const relocation_site *s) {
  const int64_t pages = (page_of(s->target) - page_of(s->address)) >> 12;
  if (pages < -(1 << 20) || pages >= 1 << 20) return too_far();
  return put_bits(s, 0x60ffffe0, adrp_bits(pages));
}

// The lower twelve bits, in units of what is loaded.
static heddle_status arm_low12(const relocation_site *s, int shift) {
  const uint32_t low = (uint32_t)s->target & 0xfff;
  if (low & ((1u << shift) - 1)) return status_error(HEDDLE_INVALID, "the object loads from where nothing can lie");
  return put_bits(s, 0x3ffc00, (low >> shift) << 10);
}

static heddle_status arm_branch(const relocation_site *s) {
  const int64_t words = distance(s) >> 2;
  if (words < -(1 << 25) || words >= 1 << 25) return too_far();
  return put_bits(s, 0x3ffffff, (uint32_t)words);
}

static bool arm_is_call(uint32_t type) { return type == R_AARCH64_CALL26 || type == R_AARCH64_JUMP26; }

static heddle_status arm_apply(uint32_t type, const relocation_site *s) {
  switch (type) {
    case R_AARCH64_NONE: return status_ok();
    case R_AARCH64_ABS64: return put64(s, s->target);
    case R_AARCH64_PREL64: return put64(s, (uint64_t)distance(s));
    case R_AARCH64_PREL32: return put32_signed(s, distance(s));
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26: return arm_branch(s);
    case R_AARCH64_ADR_PREL_PG_HI21: return arm_adrp(s);
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC: return arm_low12(s, 0);
    case R_AARCH64_LDST16_ABS_LO12_NC: return arm_low12(s, 1);
    case R_AARCH64_LDST32_ABS_LO12_NC: return arm_low12(s, 2);
    case R_AARCH64_LDST64_ABS_LO12_NC: return arm_low12(s, 3);
    case R_AARCH64_LDST128_ABS_LO12_NC: return arm_low12(s, 4);
    default: return unknown("AArch64", type);
  }
}

// adrp x16, slot; ldr x16, [x16, slot]; br x16
static void arm_write_stub(char *stub, uint64_t stub_address, uint64_t slot_address) {
  const int64_t pages = (page_of(slot_address) - page_of(stub_address)) >> 12;
  const uint32_t code[4] = {0x90000010u | adrp_bits(pages), 0xf9400210u | ((uint32_t)(slot_address & 0xfff) >> 3) << 10,
                            0xd61f0200u, 0xd4200000u};
  memcpy(stub, code, sizeof code);
}

// --- all

static const relocate_machine machines[] = {
    {EM_X86_64, "x86-64", x86_apply, x86_is_call, 8, x86_write_stub},
    {EM_AARCH64, "AArch64", arm_apply, arm_is_call, 16, arm_write_stub},
};

const relocate_machine *relocate_machine_find(uint16_t machine) {
  for (size_t k = 0; k < sizeof machines / sizeof *machines; k++)
    if (machines[k].machine == machine) return &machines[k];
  return NULL;
}

const relocate_machine *relocate_machine_here(void) {
#if defined(__x86_64__)
  return relocate_machine_find(EM_X86_64);
#elif defined(__aarch64__)
  return relocate_machine_find(EM_AARCH64);
#else
  return NULL;
#endif
}
