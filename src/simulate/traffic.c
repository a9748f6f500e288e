// Sectors and banks, from the addresses of a warp's lanes.
//
// As NVIDIA's guides describe it: global memory moves in sectors of 32 bytes. Shared memory has 32 banks of 4 bytes; a
// pass serves one word of each bank, to any number of lanes, and accesses of 8 (16) bytes take half (a quarter of) a
// warp at a time.
#include "simulate/traffic.h"

#include "base/int64.h"

enum { SECTOR = 32, BANKS = 32, WORD = 4, MOST_SECTORS = SIM_LANES * 9 };

typedef struct number_set {
  int count;
  uint64_t numbers[MOST_SECTORS];
} number_set;

// Adds a number unless it is there; neighbours usually come one after the other.
static bool add(number_set *s, uint64_t number) {
  for (int k = s->count - 1; k >= 0; k--)
    if (s->numbers[k] == number) return false;
  if (s->count < MOST_SECTORS) s->numbers[s->count++] = number;
  return true;
}

static bool is_broadcast(sim_mask active, const uint64_t *addresses) {
  if ((active & (active - 1)) == 0) return false;
  const uint64_t first = addresses[__builtin_ctz(active)];
  for (sim_mask rest = active; rest; rest &= rest - 1)
    if (addresses[__builtin_ctz(rest)] != first) return false;
  return true;
}

static void count_global(sim_traffic *t, sim_mask active, const uint64_t *addresses, int64_t bytes) {
  if (is_broadcast(active, addresses)) return;
  number_set sectors = {0}, starts = {0};
  for (sim_mask rest = active; rest; rest &= rest - 1) {
    const uint64_t at = addresses[__builtin_ctz(rest)];
    if (add(&starts, at)) t->requested += bytes;
    for (uint64_t s = at / SECTOR; s <= (at + (uint64_t)bytes - 1) / SECTOR; s++)
      t->moved += add(&sectors, s) ? SECTOR : 0;
  }
}

// Passes for the lanes of one part of the warp: the most words that one bank has to give.
static int passes_for(sim_mask active, const uint64_t *addresses, int64_t bytes) {
  number_set words = {0};
  int by_bank[BANKS] = {0}, most = 0;
  for (sim_mask rest = active; rest; rest &= rest - 1) {
    const uint64_t at = addresses[__builtin_ctz(rest)];
    for (uint64_t w = at / WORD; w <= (at + (uint64_t)bytes - 1) / WORD; w++) {
      if (!add(&words, w)) continue;
      const int taken = ++by_bank[w % BANKS];
      if (taken > most) most = taken;
    }
  }
  return most;
}

static void count_shared(sim_traffic *t, sim_mask active, const uint64_t *addresses, int64_t bytes) {
  const int parts = bytes <= WORD ? 1 : bytes <= 2 * WORD ? 2 : 4, lanes = SIM_LANES / parts;
  for (int p = 0; p < parts; p++) {
    const sim_mask part = active & (lanes == SIM_LANES ? ~(sim_mask)0 : (((sim_mask)1 << lanes) - 1) << (p * lanes));
    if (!part) continue;
    t->wavefronts += passes_for(part, addresses, bytes);
    t->ideal++;
  }
}

void traffic_count(sim_traffic *t, memory_kind kind, sim_mask active, const uint64_t *addresses, int64_t bytes) {
  t->accesses++;
  if (kind == MEMORY_GLOBAL) count_global(t, active, addresses, bytes);
  else if (kind == MEMORY_SHARED) count_shared(t, active, addresses, bytes);
  else if (kind == MEMORY_STACK) t->local += bytes * __builtin_popcount(active);
}
