// What the simulator computes with: arithmetic, comparisons and conversions of one scalar in all lanes.
#ifndef HEDDLE_SIMULATE_COMPUTE_H_
#define HEDDLE_SIMULATE_COMPUTE_H_

#include "simulate/code.h"

// By LLVM's name of the instruction ("add", "fmul", …) for operands of the class; null if there is none. Comparisons
// read op->kind, a predicate of LLVM's C interface; conversions go from op->type to op->to.
sim_compute compute_find(const char *name, sim_class class);

// By the name of the intrinsic without "llvm." and types: "fma", "ctpop", "fptosi.sat".
sim_compute compute_find_intrinsic(const char *name, sim_class class);

// What atomicrmw of that kind (LLVM's C interface numbers them) leaves in memory; false if there is none.
bool compute_atomic(int kind, sim_scalar type, uint64_t old, uint64_t operand, uint64_t *out);

// The bits of a float of the class.
uint64_t compute_encode(sim_class class, double value);
double compute_decode(sim_class class, uint64_t bits);

static inline uint64_t compute_mask(int bits) { return bits >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << bits) - 1; }

// A signed integer of so many bits.
static inline int64_t compute_extended(uint64_t v, int bits) {
  return bits >= 64 ? (int64_t)v : (int64_t)(v << (64 - bits)) >> (64 - bits);
}

#endif
