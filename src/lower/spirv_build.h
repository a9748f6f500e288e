// Building a module of the SPIR-V dialect: types, constants, variables, and what the module asks of a device.
//
// Kernels take the addresses of their buffers (SPV_KHR_physical_storage_buffer) and not descriptors: memory is then
// accessed in whatever type the access has, as on every other target, of any number of buffers and of any size, and
// functions may be handed buffers.
#ifndef HEDDLE_LOWER_SPIRV_BUILD_H_
#define HEDDLE_LOWER_SPIRV_BUILD_H_

#include "base/map.h"
#include "emit/ir_builder.h"
#include "lower/pass.h"

// What a module may ask for, in the order in which it is declared.
typedef enum spirv_capability {
  SPIRV_SHADER,
  SPIRV_INT8,
  SPIRV_INT16,
  SPIRV_INT64,
  SPIRV_FLOAT64,
  SPIRV_INT64_ATOMICS,
  SPIRV_STORAGE8,
  SPIRV_STORAGE16,
  SPIRV_ADDRESSES,
  SPIRV_KEEPS_SPECIALS32,  // signed zeros, infinities and NaN of f32
  SPIRV_KEEPS_SPECIALS64,  // the same of f64
  SPIRV_SUBGROUPS,
  SPIRV_SHUFFLES,
  SPIRV_CAPABILITY_COUNT
} spirv_capability;

// One kernel for devices that have more or less. Which of them a module is it says by what it asks for.
typedef enum spirv_form {
  SPIRV_BY_SUBGROUPS,  // invocations exchange values within subgroups
  SPIRV_PLAIN,         // … through memory of the workgroup
  SPIRV_BY_WORDS,      // … and integers of 8 and 16 bits are parts of words in memory, words in registers
  SPIRV_FORM_COUNT
} spirv_form;

typedef struct spirv_build {
  ir_builder b;          // where operations go
  MlirOperation module;  // spirv.module
  MlirBlock entry;       // of the function at hand, at whose beginning its variables stand
  spirv_form form;
  int index_bits;  // width of `index`
  unsigned capabilities;
} spirv_build;

// An empty spirv.module at the end of `module`; operations are placed once spirv_build_function was called.
void spirv_build_begin(spirv_build *s, lower_context *c, MlirOperation module, spirv_form form, int index_bits);
// Writes down what the module asks for.
void spirv_build_end(spirv_build *s);

void spirv_build_ask(spirv_build *s, spirv_capability capability);

// The type of a scalar's values: i1, an integer of 8, 16, 32 or 64 bits (others are held in the next wider one of at
// least 32), f32 or f64. Null for types that have none.
MlirType spirv_build_type(spirv_build *s, MlirType type);
MlirType spirv_build_int_type(spirv_build *s, int bits);  // 8 and 16 bits are 32 in the form by words
// As the dialect spells it.
MlirType spirv_build_pointer_type(spirv_build *s, MlirType to, const char *storage_class);

MlirValue spirv_build_int(spirv_build *s, MlirType type, int64_t value);
MlirValue spirv_build_float(spirv_build *s, MlirType type, double value);
MlirValue spirv_build_bool(spirv_build *s, bool value);
MlirValue spirv_build_zero(spirv_build *s, MlirType type);

MlirValue spirv_build_unary(spirv_build *s, const char *name, MlirValue x);                // the result is of x's type
MlirValue spirv_build_binary(spirv_build *s, const char *name, MlirValue x, MlirValue y);  // the result is of x's type
// Of floats: never contracted or rearranged with its neighbours.
MlirValue spirv_build_exact(spirv_build *s, const char *name, MlirValue x, MlirValue y);
MlirValue spirv_build_compare(spirv_build *s, const char *name, MlirValue x, MlirValue y);
MlirValue spirv_build_cast(spirv_build *s, const char *name, MlirType to, MlirValue x);
MlirValue spirv_build_bitcast(spirv_build *s, MlirType to, MlirValue x);  // x itself where it has the type
MlirValue spirv_build_select(spirv_build *s, MlirValue condition, MlirValue x, MlirValue y);

// A variable of the function at hand; with a value that it has at first, or null. Its pointer.
MlirValue spirv_build_variable(spirv_build *s, MlirType type, MlirAttribute initial);
MlirValue spirv_build_load(spirv_build *s, MlirType type, MlirValue pointer);
void spirv_build_store(spirv_build *s, MlirValue pointer, MlirValue value);
// The element (or member) of what the pointer points at.
MlirValue spirv_build_element(spirv_build *s, MlirValue pointer, int count, const MlirValue *indices, MlirType element,
                              const char *storage_class);

// A variable of the module, unless there is one of that name (false); of an Input the name of the built-in value it
// holds.
bool spirv_build_global(spirv_build *s, const char *name, MlirType pointer_type, const char *built_in);
MlirValue spirv_build_address_of(spirv_build *s, const char *global, MlirType pointer_type);

// How many invocations a subgroup of the device has, which whoever loads the module says: its constant 0.
MlirValue spirv_build_subgroup_size(spirv_build *s);
// The value that the invocation with this number in one's own subgroup has. All of them have to come by.
MlirValue spirv_build_shuffle(spirv_build *s, MlirValue value, MlirValue lane);

// How many addresses are pushed to the entry at most.
enum { SPIRV_PUSHED_MOST = 16 };

// Address `number` of those that are pushed; wherever it is asked for, there is one at least.
MlirValue spirv_build_pushed(spirv_build *s, int number);

// Synchronises all invocations of the workgroup, with what they wrote.
void spirv_build_barrier(spirv_build *s);

// A function with an entry block, into which operations go from now on. Its arguments are of these types.
MlirOperation spirv_build_function(spirv_build *s, const char *name, int count, const MlirType *inputs);
void spirv_build_return(spirv_build *s);

// --- structured control flow: regions whose blocks are filled by the caller
// A selection; operations go to the first branch until spirv_build_otherwise, then to the second until
// spirv_build_end_selection, then behind it.
typedef struct spirv_selection {
  MlirBlock otherwise, merge;
  ir_builder after;
} spirv_selection;

spirv_selection spirv_build_selection(spirv_build *s, MlirValue condition);
void spirv_build_otherwise(spirv_build *s, const spirv_selection *selection);
void spirv_build_end_selection(spirv_build *s, const spirv_selection *selection);

// A loop; operations go to what is executed before each turn until spirv_build_turn, which takes whether there is one,
// then to the turn until spirv_build_end_loop, then behind the loop.
typedef struct spirv_loop {
  MlirBlock turn, next, merge;
  ir_builder after;
} spirv_loop;

spirv_loop spirv_build_loop(spirv_build *s);
void spirv_build_turn(spirv_build *s, const spirv_loop *loop, MlirValue has_turn);
void spirv_build_end_loop(spirv_build *s, const spirv_loop *loop);

#endif
