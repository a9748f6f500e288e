// Which matrix products become kernels of tiles although a library, or an emitter, could make them, by what each way is
// estimated to cost.
#ifndef HEDDLE_FUSE_TILE_PRODUCTS_H_
#define HEDDLE_FUSE_TILE_PRODUCTS_H_

#include "fuse/cluster.h"

// Nanoseconds on one core that a cluster takes by each way; HUGE_VAL where there is no such way.
typedef struct tile_products_times {
  double library;  // a call for the product, and a kernel for what the library does not do with its result
  double tiles;    // one kernel
  double emitter;  // one kernel, which computes each element of the product by itself
} tile_products_times;

// Before clusters are formed: whether tiles may be the best for the product, at their best: in one kernel with all that
// is done to it. Roles of what stands before the node are known.
bool tile_products_may_take(const cluster_graph *g, int node);

// Whether two clusters, one of them with such a product, would be a kernel that tiles take.
bool tile_products_fit(const cluster_graph *g, int l, int r);

// Whether two clusters would be a kernel of tiles that holds rows of a product, where tiles are asked for.
bool tile_products_fit_rows(const cluster_graph *g, int l, int r);

// The times of a cluster with a product.
tile_products_times tile_products_times_of(cluster_graph *g, int cluster);

// When all clusters are formed: notes the products whose kernels are not worth it, or have several results. False if
// there are none.
bool tile_products_refuse(arena *a, cluster_graph *g, ptr_map *refused);

#endif
