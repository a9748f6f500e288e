// What the convolutions and products of bytes by oneDNN have in common: the choice of an implementation, and its
// execution on the calling thread. Internal to lib.
#ifndef HEDDLE_LIB_ONEDNN_H_
#define HEDDLE_LIB_ONEDNN_H_

#include <dnnl.h>

#include "base/int64.h"
#include "lib/external.h"

enum { ONEDNN_ALIGNMENT = 64 };

static inline bool onednn_ok(dnnl_status_t s) { return s == dnnl_success; }

// Bytes of memory for an array, with what follows it aligned.
static inline int64_t onednn_aligned(int64_t bytes) {
  return int64_ceil_div(bytes, ONEDNN_ALIGNMENT) * ONEDNN_ALIGNMENT;
}
static inline int64_t onednn_bytes(const dnnl_memory_desc_t *desc) {
  return onednn_aligned((int64_t)EXTERNAL(dnnl_memory_desc_get_size)(desc));
}

typedef struct onednn_engine {
  dnnl_engine_t engine;
  dnnl_stream_t stream;
} onednn_engine;

// False when oneDNN has no memory; closed nevertheless.
bool onednn_engine_open(onednn_engine *e);
void onednn_engine_close(onednn_engine *e);

// --- primitives

typedef struct onednn_primitive {
  dnnl_primitive_desc_t desc;
  dnnl_primitive_t primitive;  // null: none is needed
} onednn_primitive;

// The name of an implementation.
const char *onednn_name(const onednn_primitive *p);
// The first implementation that computes a convolution itself, neither by a product of matrices nor as a reference.
// False if there is none.
bool onednn_primitive_find(const onednn_engine *e, const_dnnl_op_desc_t operation, const_dnnl_primitive_desc_t hint,
                           onednn_primitive *to);
// Whatever implementation oneDNN has for an operation.
bool onednn_primitive_make(const onednn_engine *e, const_dnnl_op_desc_t operation, onednn_primitive *to);
// The way of an array into another form; no primitive if it has that form.
bool onednn_primitive_reorder(const onednn_engine *e, const dnnl_memory_desc_t *from, const dnnl_memory_desc_t *to,
                              onednn_primitive *p);
void onednn_primitive_destroy(onednn_primitive *p);

// What an array looks like to a primitive; null if it takes none.
const dnnl_memory_desc_t *onednn_primitive_array(const onednn_primitive *p, dnnl_query_t which);

enum { ONEDNN_MAX_ARGUMENTS = 5 };

typedef struct onednn_arguments {
  const onednn_engine *engine;
  int count;
  dnnl_exec_arg_t arguments[ONEDNN_MAX_ARGUMENTS];
  bool has_failed;
} onednn_arguments;

void onednn_arguments_add(onednn_arguments *x, int role, const dnnl_memory_desc_t *desc, const void *data);
// Executes, and lets the arguments go. False when oneDNN has no memory.
bool onednn_arguments_run(onednn_arguments *x, const onednn_primitive *p);

// Brings an array into the form of `to`, which onednn_primitive_reorder was asked for. False when oneDNN has no memory.
bool onednn_primitive_bring(const onednn_engine *e, const onednn_primitive *reorder, const dnnl_memory_desc_t *from,
                            const void *data, const dnnl_memory_desc_t *to, void *out);

heddle_status onednn_status(bool has_failed);

#endif
