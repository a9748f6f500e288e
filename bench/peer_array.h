// Arrays of oneDNN and the ways between them, for its side of bench/tiles.py.
#ifndef HEDDLE_BENCH_PEER_ARRAY_H_
#define HEDDLE_BENCH_PEER_ARRAY_H_

#include <dnnl.h>
#include <stdbool.h>

// One array of an operation, as oneDNN describes it.
typedef struct peer_array {
  dnnl_memory_desc_t desc;
  dnnl_memory_t memory;
  void *data;
} peer_array;

// From one array to another one of the same elements in another order.
typedef struct peer_reorder {
  dnnl_primitive_t primitive;  // null: they are in the same order, and there is nothing to do
  dnnl_memory_t from, to;
} peer_reorder;

bool peer_ok(dnnl_status_t s);

// Memory for an array of `a->desc`, filled with small numbers, none of them zero or subnormal.
bool peer_array_make(dnnl_engine_t engine, peer_array *a);
// The same array where `desc` equals that of `as`, else a new one.
bool peer_array_make_as(dnnl_engine_t engine, const dnnl_memory_desc_t *desc, const peer_array *as, peer_array *a);

bool peer_reorder_make(dnnl_engine_t engine, const peer_array *from, const peer_array *to, peer_reorder *r);
bool peer_reorder_run(const peer_reorder *r, dnnl_stream_t stream);

// Whether oneDNN has more than what it calls a reference for the operation.
bool peer_is_fast(dnnl_primitive_desc_t desc);

#endif
