// oneDNN's convolutions as somebody calls them whose arrays are plain: what has to be reordered is reordered in every
// run, but for weights that never change.
#ifndef HEDDLE_BENCH_PEER_CONVOLUTION_H_
#define HEDDLE_BENCH_PEER_CONVOLUTION_H_

#include "peer_array.h"

typedef struct peer_convolution_form {
  dnnl_data_type_t type;  // of all arrays
  bool is_constant;       // the weights are
  bool is_planar;         // images lie [N, C, H, W], weights [O, I, H, W]; else [N, H, W, C] and [H, W, I, O]
  int64_t batch, height, width, inputs, outputs, window_height, window_width, stride, dilation, groups;
} peer_convolution_form;

typedef struct peer_convolution peer_convolution;

// Of the ways that oneDNN has, the fastest here: images as they lie, or as it wants them. Null: none that it does not
// call a reference.
peer_convolution *peer_convolution_make(dnnl_engine_t engine, dnnl_stream_t stream, const peer_convolution_form *form);
// Its implementation's name, and whether images are reordered.
const char *peer_convolution_name(const peer_convolution *c);
bool peer_convolution_reorders(const peer_convolution *c);
bool peer_convolution_run(const peer_convolution *c);

#endif
