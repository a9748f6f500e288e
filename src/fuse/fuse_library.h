// Gives library operations the operations that follow them (bias, activation), and reads and writes slices where they
// lie.
#ifndef HEDDLE_FUSE_FUSE_LIBRARY_H_
#define HEDDLE_FUSE_FUSE_LIBRARY_H_

#include "fuse/cluster.h"

// A product of matrices or a convolution whose result only gets a bias added, and perhaps negative values cut off,
// before it goes to memory anyway, becomes one cluster (a fusion of kind kCustom): the library does that while the
// result is in registers. So does a product of matrices whose result is only transposed, if the library can write it
// so, and one whose operands are slices of arrays, which it reads where they are. Every node has its role already.
void fuse_library_epilogues(cluster_graph *g);

// The sum with a bias that the library could do with the operation `op`, and in `last` the sum or the relu of it that
// comes along; null if there is none.
const instruction *fuse_library_sum(const cluster_graph *g, const instruction *op, const instruction **last);

// Before that: what kernels would compute for themselves and a product that reads slices needs beside them gets a copy
// in memory. True if there was any: then the graph does not show it, and has to be made anew.
bool fuse_library_operands(cluster_graph *g);

#endif
