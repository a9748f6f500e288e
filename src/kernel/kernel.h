// One kernel: which buffers it touches, which emitter makes its code, how its index space is divided into tiles.
//
// A kernel computes the leaves of one computation's root from its parameters: the body of a fusion. Which emitter
// (hero) takes it and with which figures is decided here, on HLO alone and for every target, so that it can be printed
// and tested before any code exists; emit obeys.
#ifndef HEDDLE_KERNEL_KERNEL_H_
#define HEDDLE_KERNEL_KERNEL_H_

#include "hlo/module.h"
#include "kernel/hero_details.h"
#include "kernel/launch.h"
#include "kernel/sizes.h"

typedef enum kernel_buffer_kind { KERNEL_PARAMETER, KERNEL_RESULT } kernel_buffer_kind;

// One buffer of the program, as a kernel sees it.
typedef struct kernel_buffer {
  kernel_buffer_kind kind;
  int number;          // of the parameter or of the result leaf
  const shape *shape;  // array
  bool is_written;     // a parameter's memory that an output takes over; results always are
} kernel_buffer;

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

typedef struct kernel_plan kernel_plan;
struct kernel_plan {
  const char *name;  // of the entry function: "main", "main_1", …
  const computation *computation;
  int input_count;  // parameters that the outputs depend on, by number
  kernel_input *inputs;
  int output_count;  // at least one
  kernel_output *outputs;
  int slice_count;  // distinct buffers, reads first: buffers[i] of the kernel's ABI is slices[i]
  kernel_buffer *slices;
  hero_kind hero;
  const instruction *hero_instruction;  // what gave the hero its name; null for the loop
  const char *reason;                   // one line: why this hero
  const char *lack;                     // why not another one that there is an instruction for; null
  const char *untiled;                  // why not tiles, where they were asked for: what untiled_at does; null
  const instruction *untiled_at;
  hero_details details;  // of the hero
  int part_count;        // functions that the emitter calls, in order; 0: one function that yields all outputs
  const kernel_part *parts;
  int body_count;  // computations that the emitter calls in place of the kernel's own (a pass, a reducer); 0: none
  const kernel_body *bodies;
  launch_plan launch;
  double work;  // scalar operations of the whole kernel, estimated (work_estimate.h)
  // Of a program for open sizes: its code takes sizes from a table when it runs, as other arrays than rows of one kind
  // are open in it (open_form.h). It has a further buffer for the table.
  bool takes_sizes;
  int64_t tile_limit;       // of the rest of a kernel for open sizes, in what its tiles count; 0: none
  const kernel_plan *rest;  // of a kernel for open sizes: the same with smaller tiles; null: it has none
};

// Gives the plan its hero: of those that its kind of target has, the first one that takes it. `k` has its inputs,
// outputs and slices; `body` holds what the outputs depend on, operands first.
void kernel_choose_hero(arena *a, kernel_plan *k, const instruction_list *body, const target_description *target);

// Whether kernels of that kind of target can be made by the hero.
bool kernel_hero_exists(target_kind kind, hero_kind hero);
const char *kernel_hero_name(hero_kind kind);

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
  int64_t tile_limit;  // of the rest of a kernel for open sizes (launch_plan.rest_limit); else 0
} kernel_request;

// Plans the kernel that stores the leaves. HEDDLE_UNIMPLEMENTED with op, name and location for what has no elemental
// form and no hero.
heddle_status kernel_plan_leaves(arena *a, const kernel_request *wanted, kernel_plan **out);

// The same for all leaves of the computation's root. Parameters are buffers by number (all of them
// arrays), leaves by position.
heddle_status kernel_plan_create(arena *a, const computation *c, const char *name, const target_description *target,
                                 int alias_count, const kernel_alias *aliases, kernel_plan **out);

// Which of the kernel's inputs the parameter is; -1 if none of them.
int kernel_plan_input(const kernel_plan *k, const instruction *parameter);

// Copies of the plans with the names NAME, NAME_1, …; characters that no C identifier has become underscores.
const kernel_plan **kernel_plans_named(arena *a, int count, const kernel_plan *const *plans, const char *name);

// HEDDLE_UNIMPLEMENTED, at the kernel's first output, if it would compute its values again without end. To be asked
// before running it; emitting it is possible all the same.
heddle_status kernel_check_work(const kernel_plan *k);

// A kernel's facts, one a line, indented by two.
void kernel_plan_print(text *out, const target_description *target, const kernel_plan *k);

// The part of it that reductions on tiles and on a grid have in common.
void kernel_print_reduction(text *out, const hero_reduction *h);

#endif
