// One kernel: which buffers it touches, which emitter makes its code, how its index space is dealt out.
//
// A kernel computes the leaves of one computation's root from its parameters: the body of a fusion. Which emitter
// (hero) takes it and with which figures is decided here, on HLO alone and for every target, so that it can be printed
// and tested before any code exists; emit obeys.
#ifndef HEDDLE_KERNEL_KERNEL_H_
#define HEDDLE_KERNEL_KERNEL_H_

#include "hlo/module.h"
#include "index/indexing_map.h"
#include "kernel/launch.h"
#include "kernel/sizes.h"

typedef enum plan_buffer_kind { PLAN_PARAMETER, PLAN_RESULT } plan_buffer_kind;

// One buffer of the program, as a kernel sees it.
typedef struct plan_buffer {
  plan_buffer_kind kind;
  int number;          // of the parameter or of the result leaf
  const shape *shape;  // array
  bool is_written;     // a parameter's memory that an output takes over; results always are
} plan_buffer;

typedef struct kernel_input {
  const instruction *parameter;  // of the kernel's computation
  int slice;                     // index into the kernel's slices
} kernel_input;

typedef struct kernel_output {
  const instruction *root;  // whose value is stored
  int element;              // which of its values (variadic reduce), else 0
  const shape *shape;       // of that value
  int slice;
} kernel_output;

// The emitters. One file each: kernel/hero_NAME.c decides and fills in the figures, emit/NAME.c makes the code.
typedef enum hero_kind {
  HERO_LOOP,          // every element on its own
  HERO_TRANSPOSE,     // through tiles, so that reads and writes are both contiguous
  HERO_REDUCTION,     // rows, columns, all; producers, consumers and side outputs in the same pass
  HERO_SCATTER,       // combines updates into memory
  HERO_CONCATENATE,   // each operand walks its own block of the output
  HERO_UPDATE_SLICE,  // dynamic-update-slice in place: writes the window only
  HERO_INPUT_SLICES,  // several slices of the same index space
  HERO_ROWS,          // block of rows at once: softmax-like chains of row reductions and elementwise operations
  HERO_LOOPS,         // groups of outputs of different element counts, each with its own loop
  HERO_COUNT
} hero_kind;

// A value at a point of some index space.
typedef struct kernel_value {
  const instruction *root;
  int element;              // of a variadic reduction
  const indexing_map *map;  // from the index space to the root's indices; null: identity
} kernel_value;

// A function that a hero's emitter calls: values at one point of an index space. What is given is passed in by the
// emitter (all values of a tuple-shaped instruction) instead of being computed; it is cut off from its operands in
// every part. Whatever depends on it must be needed at the given instruction's own indices: elementwise consumers.
typedef struct kernel_part {
  const shape *index_space;
  int result_count;
  const kernel_value *results;
  int given_count;
  const instruction *const *given;
} kernel_part;

// A computation made for a hero: its emitter calls it with the kernel's inputs and values of its own choice. All
// elements of its root tuple have the dims of the index space; the indices are arguments of the function too.
typedef struct kernel_body {
  const computation *computation;
  const int *arguments;  // by parameter: input of the kernel (>= 0), or value n of the emitter's (-1 - n), a scalar;
                         // null: all are scalars of the emitter's (a reducer)
} kernel_body;

typedef struct kernel_plan kernel_plan;

// What a hero decided beyond the launch; each has its own struct (kernel/hero_NAME.h).
typedef struct hero_details hero_details;

struct kernel_plan {
  const char *name;  // of the entry function: "main", "main_1", …
  const computation *computation;
  int input_count;  // parameters that the outputs depend on, by number
  kernel_input *inputs;
  int output_count;  // at least one
  kernel_output *outputs;
  int slice_count;  // distinct buffers, reads first: buffers[i] of the kernel's ABI is slices[i]
  plan_buffer *slices;
  hero_kind hero;
  const instruction *hero_instruction;  // what gave the hero its name; null for the loop
  const char *reason;                   // one line: why this hero
  const hero_details *details;          // null if the hero needs none
  int part_count;  // functions of the partition that the hero calls, in order; 0: one that yields all outputs
  const kernel_part *parts;
  int body_count;  // computations that stand for the kernel's own; 0: none
  const kernel_body *bodies;
  launch_plan launch;
  double work;  // scalar operations of the whole kernel, estimated (work_estimate.h)
};

// One row per hero, in the order in which they are asked. The loop is last and takes everything whose outputs have
// equal element counts.
typedef struct hero_rule {
  hero_kind kind;
  const char *name;
  // Whether the kernel can be made this way and is better so. `k` has its inputs, outputs and slices; on success the
  // rule sets hero_instruction, reason, details and launch. `body` holds what the outputs depend on, operands first.
  bool (*takes)(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);
} hero_rule;

extern const hero_rule hero_rules[];  // ends with a row whose name is null
const char *hero_name(hero_kind kind);

// Result leaf `result` takes over the memory of parameter `parameter` of the computation.
typedef struct kernel_alias {
  int result;
  int parameter;
} kernel_alias;

// One value to be stored: a leaf of a computation's root.
typedef struct kernel_leaf {
  const instruction *root;
  int element;  // of a variadic reduction, else 0
  const shape *shape;
  int number;  // of the result
} kernel_leaf;

typedef VEC(kernel_leaf) kernel_leaves;

// The leaves of the root, numbered from 0: the elements of a tuple and of tuples made for it, a variadic reduction's
// values, or the root itself. HEDDLE_UNIMPLEMENTED for other tuples within.
heddle_status kernel_leaves_of(arena *a, const instruction *root, kernel_leaves *out);

typedef struct kernel_request {
  const computation *computation;
  const char *name;
  const target_description *target;
  int leaf_count;
  const kernel_leaf *leaves;
  const int *parameter_numbers;  // of the program, by parameter of the computation; null: the same
  bool all_parameters;           // parameters nobody reads are buffers too
  int alias_count;
  const kernel_alias *aliases;
} kernel_request;

// Plans the kernel that stores the leaves. HEDDLE_UNIMPLEMENTED with op, name and place for what has no elemental form
// and no hero.
heddle_status kernel_plan_leaves(arena *a, const kernel_request *wanted, kernel_plan **out);

// The same for all leaves of the computation's root. Parameters are buffers by number (all of them
// arrays), leaves by position.
heddle_status kernel_plan_create(arena *a, const computation *c, const char *name, const target_description *target,
                                 int alias_count, const kernel_alias *aliases, kernel_plan **out);

// Which of the kernel's inputs the parameter is; -1 if none of them.
int kernel_plan_input(const kernel_plan *k, const instruction *parameter);

// Copies of the plans with the names NAME, NAME_1, …; characters that no C identifier has become underscores.
const kernel_plan **kernel_plans_named(arena *a, int count, const kernel_plan *const *plans, const char *name);

// A kernel's facts, one a line, indented by two.
void kernel_plan_print(text *out, const target_description *target, const kernel_plan *k);

#endif
