// A kernel's LLVM IR as the simulator executes it: flat lists of operations on slots.
//
// A slot holds one scalar for each of a warp's 32 lanes, in 64 bits each: integers zero-extended, floats as their bits,
// pointers as addresses of this process. A vector or structure takes a slot for each of its scalars, an integer of more
// than 64 bits two, the lower half first. Slots below zero are constants of the module, alike in all lanes and warps:
// slot SIM_CONSTANTS + n is constant n.
#ifndef HEDDLE_SIMULATE_CODE_H_
#define HEDDLE_SIMULATE_CODE_H_

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"

enum { SIM_LANES = 32, SIM_CONSTANTS = -(1 << 30) };

typedef uint32_t sim_mask;  // a bit for each lane
typedef uint64_t sim_slot[SIM_LANES];

typedef enum sim_class { SIM_INT, SIM_WIDE, SIM_F16, SIM_BF16, SIM_F32, SIM_F64, SIM_POINTER } sim_class;

// A scalar: its class, and its bits (of SIM_WIDE 65 to 128).
typedef struct sim_scalar {
  sim_class class;
  int bits;
} sim_scalar;

typedef enum sim_opcode {
  SIM_COMPUTE,         // `compute` of the operands' scalars, one by one
  SIM_COPY,            // operands' slots one after the other become the result
  SIM_SELECT_ELEMENT,  // operand 0's element at index operand 1, known only at run time
  SIM_INSERT_ELEMENT,  // operand 0 with operand 1 at index operand 2, known only at run time
  SIM_REPACK,          // bitcast: the bits of operand 0 cut anew
  SIM_LOAD,
  SIM_STORE,
  SIM_ATOMIC,            // atomicrmw: address, value
  SIM_COMPARE_EXCHANGE,  // address, expected, wanted: what was there, and whether it was expected
  SIM_STACK,             // alloca
  SIM_ADDRESS,           // getelementptr: base + constant + sum of index * scale
  SIM_SHUFFLE,           // member mask, value, offset, clamp
  SIM_BARRIER,
  SIM_CALL,
  SIM_FILL,     // memset: address, byte, size
  SIM_MOVE,     // memcpy: to, from, size
  SIM_SPECIAL,  // a special register
  // --- ends of blocks
  SIM_JUMP,
  SIM_BRANCH,  // on operand 0
  SIM_SWITCH,  // on operand 0
  SIM_RETURN,
  SIM_UNREACHABLE
} sim_opcode;

typedef enum sim_special { SIM_TID, SIM_CTAID, SIM_NTID, SIM_NCTAID, SIM_LANE } sim_special;
typedef enum sim_shuffle { SIM_BFLY, SIM_DOWN, SIM_UP, SIM_IDX } sim_shuffle;

typedef struct sim_op sim_op;
typedef struct sim_function sim_function;

// What is computed of one scalar (of each operand) for all lanes in `active`; the other lanes of `out` stay.
typedef void (*sim_compute)(const sim_op *op, sim_mask active, uint64_t *out, const uint64_t *const *in);

// An operand: where its scalars begin, and how many slots it takes.
typedef struct sim_operand {
  int slot, count;
} sim_operand;

// The way from one block to another: which slots become the phis' values.
typedef struct sim_edge {
  int block;
  int copy_count;
  const int *from, *to;
  bool overlaps;  // a copy writes what a later one reads
} sim_edge;

// What one memory operation of a kernel moved, counted over all warps (traffic.h).
typedef struct sim_traffic {
  int64_t accesses;    // of warps
  int64_t requested;   // bytes that lanes asked for, each byte once
  int64_t moved;       // global: bytes of the 32-byte sectors they lie in
  int64_t wavefronts;  // shared: passes over the banks
  int64_t ideal;       // … that would do without conflicts
  int64_t local;       // bytes of threads' own memory
} sim_traffic;

// Where a memory operation goes.
typedef struct sim_place {
  int argument;  // of the kernel, that its addresses are made of alone; -1: of several, or of none
  int range;     // of the memory's, in which it was found last
} sim_place;

struct sim_op {
  sim_opcode opcode;
  int result;  // first slot; -1: none
  int result_count;
  int operand_count;
  const sim_operand *operands;
  sim_scalar type;      // of what is computed, loaded, stored: of the first operand where they differ
  sim_scalar to;        // of the result of a conversion, or of a repacking
  int kind;             // which predicate, atomic, special register or shuffle
  int axis;             // of a special register
  sim_compute compute;  // SIM_COMPUTE …
  int repeats;          // … so many times, for one scalar after the other
  int result_step;      // slots from the result of one to that of the next
  const int *steps;     // the same by operand
  // Memory.
  int64_t bytes;      // of one lane
  int64_t alignment;  // that the program promises
  bool is_atomic;
  bool is_invariant;      // load of memory that nobody writes while the kernel runs
  int64_t constant;       // SIM_ADDRESS; SIM_STACK: offset in the thread's stack
  const int64_t *scales;  // … by index; steps[k] are the bits of index k
  const char *text;       // the instruction, for messages; memory, barriers, shuffles
  sim_traffic *traffic;   // null for what moves nothing
  sim_place *place;
  // Control.
  int edge_count;
  const sim_edge *edges;
  const uint64_t *cases;  // SIM_SWITCH: of edges 1 …; edge 0 is the default
  const sim_function *callee;
};

typedef struct sim_block {
  int count;
  const sim_op *ops;
  int meets;  // the block where lanes that part here meet again: the immediate post-dominator; -1: the end
} sim_block;

struct sim_function {
  const char *name;
  int parameter_count;
  const sim_operand *parameters;  // slots of the frame
  int slot_count;
  int block_count;
  sim_block *blocks;
  bool is_defined;
  bool is_kernel;
};

// What a kernel does with the memory behind a pointer argument.
typedef struct sim_argument {
  bool is_written;
  int granule;  // bytes: all accesses are aligned to and a multiple of it
} sim_argument;

// A variable of the module: memory that a block shares, or constants.
typedef struct sim_variable {
  bool is_shared;
  int64_t bytes, alignment, offset;  // in the block's shared memory, or in `constants`
} sim_variable;

typedef VEC(sim_op) sim_ops;
typedef VEC(sim_slot *) sim_constants;

typedef struct sim_code {
  int function_count;
  sim_function *functions;
  const sim_function *kernel;
  const sim_argument *arguments;  // of the kernel
  int constant_count;
  const sim_slot *constants;
  int64_t stack_bytes;  // of a thread
  int64_t shared_bytes;
  char *shared;  // of the block that runs; addresses within it are constants of the code
  char *constant_memory;
  int64_t constant_bytes;
} sim_code;

#endif
