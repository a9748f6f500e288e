// Splits a computation into functions such that no instruction is emitted twice.
//
// A function (subgraph) computes the elements of one instruction, its root, at given indices. An instruction lives in
// its users' function when all of them need it at the same indices and in the same scope; else it gets a function of
// its own. The first functions of a kernel's computation are the kernel's parts; without parts there is one, which
// yields all of the kernel's outputs.
//
// Scopes are where code that not every evaluation runs, or that runs many times, ends up: the body of a reduction's
// loop, a branch of a concatenate. A scope belongs to one instruction (its owner) and holds instructions in the order
// in which they are emitted.
#ifndef HEDDLE_KERNEL_PARTITION_H_
#define HEDDLE_KERNEL_PARTITION_H_

#include "kernel/kernel.h"
#include "kernel/partition_operands.h"

typedef struct partition_scope {
  const instruction *owner;  // null: the function's own body
  int depth;                 // 0 for the function's own body
  instruction_list order;    // operands before users
} partition_scope;

// One value that a function returns.
typedef kernel_value partition_result;

typedef struct partition_function {
  const char *name;  // symbol, unique in the kernel
  const computation *computation;
  const shape *index_space;  // one index argument per dim
  int result_count;
  partition_result *results;
  int given_count;  // instructions whose values are further arguments, behind the indices
  const instruction *const *given;
  int scope;                   // its body, an index into `scopes`
  instruction_list constants;  // scalar constants used anywhere in it, in textual order
} partition_function;

// Where an instruction is emitted.
typedef struct partition_node {
  int function;  // -1 for leaves, which are emitted wherever they are used
  int scope;
  int first_scope;                    // of the scopes it owns, by branch; -1 if it owns none
  bool is_leaf;                       // parameter, constant, iota, a broadcast scalar constant, or given
  bool is_given;                      // a part's argument
  const partition_operand *operands;  // null for leaves
} partition_node;

typedef struct partition {
  int function_count;
  partition_function **functions;  // [p] is the kernel's part p; the functions of one computation follow each other
  int scope_count;
  partition_scope **scopes;
  ptr_map nodes;    // instruction -> partition_node
  ptr_map entries;  // computation -> its first partition_function
} partition;

// The kernel's name is a symbol that no function takes. Fails only where an indexing map cannot be made.
heddle_status partition_kernel(arena *a, const kernel_plan *kernel, partition **out);

const partition_node *partition_node_of(const partition *p, const instruction *i);
const partition_function *partition_entry(const partition *p, const computation *c);

void partition_print(text *out, const partition *p);

#endif
