// Declares what the C++ shell of the dialect and its rules in C call of each other. Only src/dialect includes this.
//
// C++ includes this header: nothing here needs more than mlir-c.
#ifndef HEDDLE_DIALECT_HOOKS_H_
#define HEDDLE_DIALECT_HOOKS_H_

#include <mlir-c/IR.h>
#include <mlir-c/Rewrite.h>

#ifdef __cplusplus
extern "C" {
#endif

struct arena;
struct indexing_map;

// What one context's dialect owns: the arena of all maps, and a pointer for ir_context_create.
typedef struct xla_gpu_state {
  struct arena *memory;
  void *slot;
} xla_gpu_state;

// What hangs on one indexing_map attribute besides its key. Filled in right after the attribute is made.
typedef struct xla_gpu_map_slot {
  const struct indexing_map *map;  // null until filled in
  const char *spelling;            // as printed: with the variable names of whoever made the attribute first
} xla_gpu_map_slot;

// --- C++ for C
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(XlaGpu, xla_gpu);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Hal, hal);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Iree, iree);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Mhlo, mhlo);
xla_gpu_state *xla_gpu_context_state(MlirContext context);
MlirAttribute xla_gpu_attribute_for_key(MlirContext context, MlirStringRef key);
xla_gpu_map_slot *xla_gpu_attribute_slot(MlirAttribute attribute);

// --- C for C++
// Around each of the calls below: what ends in between for want of memory leaves C++ objects behind.
int xla_gpu_enter_c(void);
void xla_gpu_leave_c(int before);  // what the former returned
// For C++ that has no memory. Returns only on threads that no guard watches (base/guard.h).
void xla_gpu_no_memory(void);

xla_gpu_state *xla_gpu_state_create(void);
void xla_gpu_state_destroy(xla_gpu_state *state);
// The attribute of a map's text, or null with a message for the user in *error (to be freed with free).
MlirAttribute xla_gpu_map_from_text(MlirContext context, MlirStringRef spelling, char **error);
int xla_gpu_map_dim_count(MlirAttribute map);
int xla_gpu_map_range_count(MlirAttribute map);
int xla_gpu_map_symbol_count(MlirAttribute map);
int xla_gpu_map_result_count(MlirAttribute map);
// The name of a range variable, for the printer ("" if it has none).
MlirStringRef xla_gpu_map_range_name(MlirAttribute map, int range);

// Verifies an operation of the dialect. On failure returns false and a message in *error (to be freed with free).
bool xla_gpu_verify(MlirOperation op, char **error);
// Verifies an operation that names a function against that function (null if there is none of that name).
bool xla_gpu_verify_callee(MlirOperation op, MlirOperation callee, char **error);

// The same of a binding, and of an operation that names one (null if there is none of that name).
bool hooks_verify_binding(MlirOperation op, char **error);
bool hooks_verify_use(MlirOperation op, MlirOperation binding, char **error);

// Canonicalizations: true if something changed. The operation may be gone then.
typedef bool (*xla_gpu_rewrite)(MlirRewriterBase rewriter, MlirOperation op);
bool xla_gpu_canonicalize_apply_indexing(MlirRewriterBase rewriter, MlirOperation op);
bool xla_gpu_canonicalize_loop(MlirRewriterBase rewriter, MlirOperation op);
bool xla_gpu_canonicalize_atomic_rmw(MlirRewriterBase rewriter, MlirOperation op);

#ifdef __cplusplus
}
#endif
#endif
