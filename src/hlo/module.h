// The HLO program: a module of computations of instructions, all in one arena.
//
// Pointers are the graph: an instruction points at its operands and at the computations it calls; users are kept in
// step by the functions below (never write `operands` or `called` directly once an instruction is in a computation).
#ifndef HEDDLE_HLO_MODULE_H_
#define HEDDLE_HLO_MODULE_H_

#include "base/map.h"
#include "base/status.h"
#include "base/vec.h"
#include "hlo/attributes.h"
#include "hlo/literal.h"
#include "hlo/ops.h"
#include "hlo/shape.h"

typedef struct instruction instruction;
typedef struct computation computation;
typedef struct module module;

typedef VEC(instruction *) instruction_list;

struct instruction {
  hlo_opcode opcode;
  str name;  // without `%`; unique in its computation
  int id;    // position-independent, unique in the module
  const shape *shape;
  int operand_count;
  instruction **operands;
  int called_count;        // computations by role: to_apply/calls; while: condition, body; conditional: branches;
  computation **called;    // select-and-scatter: select, scatter
  instruction_list users;  // one entry per use: x + x lists the add twice
  instruction_list control_predecessors;
  hlo_attributes *attributes;  // never null
  literal *literal;            // constant only
  computation *parent;
  source_location where;
  uint64_t mark;  // scratch for a pass; no meaning between passes
  int next_use;   // where instruction_replace_uses goes on looking among the operands, of which there may be thousands
};

struct computation {
  str name;
  module *module;
  instruction_list instructions;  // in textual order; parameters anywhere
  instruction_list parameters;    // by parameter number
  instruction *root;
  str execution_thread;
  str attributes_text;  // anything after the closing brace, kept as text
  source_location where;
};

typedef struct module_attribute {
  str name;
  str value;  // raw text, printed back as it was
  source_location where;
} module_attribute;

struct module {
  arena *arena;
  str name;
  const char *file;                 // for locations; lives in the arena
  VEC(computation *) computations;  // callees before callers once parsed
  computation *entry;
  bool is_scheduled;
  VEC(module_attribute) attributes;      // in textual order, those parsed below included
  const shape *entry_parameters_layout;  // tuple of parameter shapes of entry_computation_layout, or null
  const shape *entry_result_layout;
  str tables;  // FileNames … StackFrames, kept as text
  int next_id;
  int next_name;  // above every number a name ends in: see computation_add
  // Sizes that are only known when the program runs are stand-ins here, at least so large, and larger than all others;
  // 0: there are none. What is made of the module must hold for all sizes up to them (api/open_compile.h).
  int64_t open_from;
  bool takes_sizes;           // whatever has an open dim takes sizes when it runs, also what could do without
                              // (kernel/open_form.h)
  int64_t open_multiple;      // of which sizes that are not outermost are multiples; 0: they may be any
  bool open_is_large;         // then: what is transposed along open dims is larger than caches
  str_map computation_names;  // kept by module_add_computation and module_remove_computation
};

module *module_create(arena *a, str name);
computation *module_add_computation(module *m, str name);   // appended; the name is made unique
void module_remove_computation(module *m, computation *c);  // nothing may call it
computation *module_find_computation(const module *m, str name);
module *module_clone(arena *a, const module *m);  // deep; shares nothing with the original
// The same but for the values of constants, which are the original's: it must outlive the clone, and neither may change
// one in place.
module *module_clone_around_values(arena *a, const module *m);

// The product of the array's dims that stand for open sizes; 1 if it has none.
int64_t module_open_count(const module *m, const shape *s);

// Appends. Operands are copied into the arena; users are updated. The shape is not checked. An empty name becomes a new
// one made of the opcode and a number; a given name is taken as it is. A null operand is left for
// instruction_set_operand.
instruction *computation_add(computation *c, hlo_opcode opcode, str name, const shape *s, int operand_count,
                             instruction *const *operands);
instruction *computation_add_parameter(computation *c, int number, str name, const shape *s);
// A copy of an instruction of the same module, of other operands; the computations it calls are shared.
instruction *computation_add_copy(computation *c, const instruction *from, instruction *const *operands);
// Parameters above a removed one are renumbered. Control edges to the instruction are the caller's.
void computation_remove(computation *c, instruction *i);  // must have no users and not be the root
// The same in two steps, for many at once: a detached instruction (parent null) stays in the list of instructions until
// all of them are dropped, and nothing else may look at it.
void computation_detach(computation *c, instruction *i);
void computation_drop_detached(computation *c);
void computation_set_root(computation *c, instruction *i);
// Operands before users, stable with respect to textual order. HEDDLE_INVALID naming an instruction on a cycle. Control
// predecessors count as operands.
heddle_status computation_post_order(arena *a, const computation *c, instruction_list *out);
// Puts the textual order into that order: rewrites append what they make behind its users.
heddle_status computation_sort(arena *scratch, computation *c);

void instruction_set_operand(instruction *i, int index, instruction *to);
void instruction_set_called(instruction *i, int count, computation *const *called);
// Also as root of the computation. Uses by `to` itself stay, so that x can be replaced by f(x).
void instruction_replace_uses(instruction *from, instruction *to);
int instruction_user_count(const instruction *i);  // distinct users
const shape *instruction_operand_shape(const instruction *i, int index);

// Callees before callers, each once. HEDDLE_INVALID for recursion.
heddle_status module_call_order(arena *a, const module *m, computation ***out, int *count);
// Removes computations other than the entry that nothing calls any more, which leaves more of them; null: among all,
// else among those that are keys of the map. HEDDLE_INVALID for recursion.
heddle_status module_remove_uncalled(arena *scratch, module *m, const ptr_map *among);

#endif
