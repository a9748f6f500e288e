// Holds a convolution's geometry and declares the steps of its execution. Internal to convolution.
#ifndef HEDDLE_LIB_CONVOLUTION_FORM_H_
#define HEDDLE_LIB_CONVOLUTION_FORM_H_

#include "base/int64.h"
#include "lib/gemm.h"
#include "lib/gemm_matrix.h"

enum { CONVOLUTION_MAX_SPATIAL = 8, CONVOLUTION_MAX_RANK = CONVOLUTION_MAX_SPATIAL + 2 };

// One spatial dim.
typedef struct convolution_dim {
  int64_t input, kernel, output;  // sizes
  int64_t stride, low, high, base_dilation, window_dilation;
  bool is_reversed;
} convolution_dim;

typedef struct convolution_form {
  dtype input, kernel, result;
  int spatial_rank;
  convolution_dim dims[CONVOLUTION_MAX_SPATIAL];
  int64_t input_batch, output_batch;
  int64_t input_features;   // all of them
  int64_t group_features;   // of the kernel
  int64_t output_features;  // all of them
  int64_t feature_groups, batch_groups;
  bool has_bias, has_relu;
  // Which dim of the array is which of the canonical order: input [batch, spatial…, feature], kernel [spatial…, input
  // feature, output feature], output [batch, spatial…, feature].
  int input_order[CONVOLUTION_MAX_RANK], kernel_order[CONVOLUTION_MAX_RANK], output_order[CONVOLUTION_MAX_RANK];
  // Of the kernel as it lies: elements from one to the next in each of the array's dims, and in front of the first.
  int64_t kernel_strides[CONVOLUTION_MAX_RANK], kernel_offset;
} convolution_form;

// From a call; HEDDLE_INVALID when it makes no sense.
heddle_status convolution_form_of(const lib_call *call, convolution_form *form);

static inline int64_t convolution_positions(const convolution_form *f) {
  int64_t count = f->output_batch;
  for (int d = 0; d < f->spatial_rank; d++) count *= f->dims[d].output;
  return count;
}

static inline int64_t convolution_input_positions(const convolution_form *f) {
  int64_t count = f->input_batch;
  for (int d = 0; d < f->spatial_rank; d++) count *= f->dims[d].input;
  return count;
}

static inline int64_t convolution_kernel_size(const convolution_form *f) {
  int64_t count = 1;
  for (int d = 0; d < f->spatial_rank; d++) count *= f->dims[d].kernel;
  return count;
}

// Whether there are holes between the elements of the input.
static inline bool convolution_is_dilated(const convolution_form *f) {
  for (int d = 0; d < f->spatial_rank; d++)
    if (f->dims[d].base_dilation > 1) return true;
  return false;
}

// Where kernel position k, of the window that begins at `origin` of the dilated input, meets the input; -1: nowhere.
static inline int64_t convolution_source(const convolution_dim *w, int64_t origin, int64_t k) {
  const int64_t at = origin + k * w->window_dilation;
  if (at < 0 || at % w->base_dilation != 0 || at / w->base_dilation >= w->input) return -1;
  return at / w->base_dilation;
}

// Of row `number` of the result along its last dim and kernel position `tap`, counted over all dims but the last: the
// position of the input at which the row that they meet begins; -1: none.
int64_t convolution_source_row(const convolution_form *f, int64_t number, int64_t tap);

// Strides of an array whose elements lie one after the other, and whether those given are such.
void convolution_dense_strides(int rank, const int64_t *dims, int64_t *strides);
bool convolution_is_dense(int rank, const int64_t *dims, const int64_t *strides);

// --- convolution_kernel.c: kernels that are parts of arrays.

// Where it lies, of a form of which nothing but that is missing; HEDDLE_INVALID if that leads out of the array.
heddle_status convolution_kernel_find(const lib_call *call, convolution_form *f);
bool convolution_kernel_is_finite(const convolution_form *f, const lib_array *kernel);  // neither infinities nor NaN
// All of it, dense, in the order of the array's dims, as elements of the type.
void convolution_kernel_load(const convolution_form *f, const lib_array *kernel, work_type type, void *to);

// --- convolution_outside.c: weights that aren't finite, where the window reaches outside of the input.

bool convolution_reaches_outside(const convolution_form *f);  // into padding or between dilated elements
// Computes the elements again for which zeros outside of the input would not be the same as nothing.
// HEDDLE_OUT_OF_MEMORY.
heddle_status convolution_mend_outside(const convolution_form *f, const lib_call *call);

// --- convolution_tiles.c: as a matrix product of canonical arrays, whose left side is gathered tile by tile.

// The product, and how it is cut into tiles; errors are those of gemm_plan_make.
heddle_status convolution_tiles_plan(const convolution_form *f, gemm_plan *plan);
// operands: input, kernel, bias; all canonical. Scratch memory as gemm_plan_scratch says.
heddle_status convolution_tiles_execute(const convolution_form *f, const gemm_plan *plan, const lib_call *call);

// --- convolution_parts.c: parts that one thread computes each. Of convolutions without batch groups and with elements
// in input, kernel and result.

typedef struct convolution_cut {
  int64_t images, rows, features;  // of the result in a part; the last part of each may have fewer
  int64_t image_parts, row_parts, feature_parts;
} convolution_cut;

typedef struct convolution_part {
  convolution_form form;
  int64_t input_at, result_at;  // the elements of the canonical arrays where it begins
  int64_t feature;              // its first one
} convolution_part;

// How many parts are worth it.
int64_t convolution_parts_wanted(const convolution_form *f);
// Into about so many parts by images and rows alone.
convolution_cut convolution_cut_positions(const convolution_form *f, int64_t parts);
// Into `least` parts or more, if that can be, and about half as many for each step of coarseness.
convolution_cut convolution_cut_of(const convolution_form *f, int64_t least, int coarseness);
static inline int64_t convolution_cut_count(const convolution_cut *c) {
  return c->image_parts * c->row_parts * c->feature_parts;
}
// How many of `threads` have parts to work on; one if there are none.
static inline int64_t convolution_cut_threads(const convolution_cut *c, int64_t threads) {
  return int64_max(int64_min(threads, convolution_cut_count(c)), 1);
}
// Parts of the same features follow each other. False if the part meets nothing of the input.
bool convolution_part_of(const convolution_form *f, const convolution_cut *c, int64_t number, convolution_part *part);
// Whether two parts of one form have as many images and rows and the same padding.
bool convolution_parts_agree(const convolution_form *x, const convolution_form *y);

// --- convolution_images.c: images that lie with features last, [batch, spatial…, feature], or first, [batch, feature,
// spatial…], and parts of them.

typedef struct convolution_lying {
  dtype type;
  bool is_planar;               // features come first
  bool is_known;                // what follows describes the array
  int64_t features, positions;  // of one image
} convolution_lying;

// `order` as convolution_form has it.
convolution_lying convolution_lying_of(const lib_array *a, const int *order);
// To [image, position, feature] in f32: of `images` images `count` positions each, the first at position `at`, counted
// over all images.
void convolution_images_bring(const convolution_lying *l, const void *data, int64_t at, int64_t images, int64_t count,
                              float *to);
// The way back, of `features` features from `feature` on; elements that share bytes are not stored.
void convolution_images_take(const convolution_lying *l, const float *from, int64_t features, void *data, int64_t at,
                             int64_t feature, int64_t images, int64_t count);
// NaN stays.
void convolution_images_relu(int64_t count, float *x);
void convolution_images_add(int64_t count, const float *from, float *to);

// --- convolution_onednn.c: computes in f32.

typedef struct convolution_onednn convolution_onednn;

// A dilated input wants a kernel that is reversed in all spatial dims. Null if oneDNN has no fast way. `kernel_strides`
// are the elements between neighbours of each dim of the canonical order in the kernel as oneDNN gets it; `input` and
// `result` say how these arrays lie, as far as it is known.
convolution_onednn *convolution_onednn_make(arena *a, const convolution_form *f, const int64_t *kernel_strides,
                                            const convolution_lying *input, const convolution_lying *result);
// Whether input and result are given as they lie: else both are canonical and of f32.
bool convolution_onednn_brings(const convolution_onednn *o);
bool convolution_onednn_takes(const convolution_onednn *o);
const char *convolution_onednn_name(const convolution_onednn *o);  // oneDNN's, of its implementation
void convolution_onednn_release(convolution_onednn *o);
int64_t convolution_onednn_scratch(const convolution_onednn *o, int threads);
int64_t convolution_onednn_packed_bytes(const convolution_onednn *o);
// Whether it may be given a kernel that is not packed, since every part packs what it alone needs.
bool convolution_onednn_packs_in_parts(const convolution_onednn *o);
// The kernel in oneDNN's form.
heddle_status convolution_onednn_pack(const convolution_onednn *o, int threads, const float *kernel, void *packed);

typedef struct convolution_onednn_arrays {
  const void *input;
  const void *packed;   // the kernel in oneDNN's form, or null
  const float *kernel;  // then as it was described
  const float *bias;    // null without one
  void *result;
  void *scratch;
} convolution_onednn_arrays;

// Thread-safe for different arrays.
heddle_status convolution_onednn_execute(const convolution_onednn *o, int threads,
                                         const convolution_onednn_arrays *arrays);

// --- convolution_gradient.c: a kernel's gradient, of f32.

typedef struct convolution_gradient convolution_gradient;

// The orders of the arrays' dims that it wants: the images, and as `kernel` the result's gradient, [input feature,
// spatial…, batch] and [input feature, spatial…, output feature] in the convolution's words; and the result [spatial…,
// batch, output feature].
void convolution_gradient_orders(const convolution_form *f, int *input, int *kernel, int *output);
// Null if the convolution is no such gradient, or if oneDNN has no fast way.
convolution_gradient *convolution_gradient_make(arena *a, const convolution_form *f);
void convolution_gradient_release(convolution_gradient *g);
const char *convolution_gradient_name(const convolution_gradient *g);
int64_t convolution_gradient_scratch(const convolution_gradient *g, int threads);

typedef struct convolution_gradient_arrays {
  const float *input, *result;  // images; the gradient by the result
  float *kernel;                // what is wanted
  void *scratch;
} convolution_gradient_arrays;

// Thread-safe for different arrays.
heddle_status convolution_gradient_execute(const convolution_gradient *g, int threads,
                                           const convolution_gradient_arrays *arrays);

// --- convolution_direct.c: many small groups, of any type that is not complex.

typedef struct convolution_direct {
  convolution_cut cut;
  work_type work;
  int64_t row, kernel;            // bytes in lanes of vectors: of a row of output features, of the kernel
  int64_t input, taps, features;  // of a thread: a part's input in lanes, where a window's rows are, one position
  bool lies_in_lanes;             // the input does
} convolution_direct;

// For sums of the work type; false if it cannot be done so or does not pay.
bool convolution_direct_plan(const convolution_form *f, work_type w, convolution_direct *p);
int64_t convolution_direct_scratch(const convolution_direct *p, int threads);
// operands: input, kernel, bias; all canonical. Scratch memory as convolution_direct_scratch says.
void convolution_direct_execute(const convolution_form *f, const convolution_direct *p, const lib_call *call);

// What the ways of convolution_lines.c, convolution_shallow.c and convolution_spread.c work on.
typedef struct convolution_arrays {
  const void *input;
  const float *kernel, *bias;  // bias: null without one
  void *result, *scratch;
} convolution_arrays;

// --- convolution_lines.c: f32 of one feature.

typedef struct convolution_lines {
  convolution_cut cut;
  int64_t input, row, taps;  // of a part: elements of its padded input and of one row of it; rows of a window
} convolution_lines;

// False if the convolution is none.
bool convolution_lines_plan(const convolution_form *f, convolution_lines *p);
int64_t convolution_lines_scratch(const convolution_lines *p, int threads);

// Canonical arrays of f32. Thread-safe for different arrays.
void convolution_lines_execute(const convolution_form *f, const convolution_lines *p, int threads,
                               const convolution_arrays *arrays);

// --- convolution_shallow.c: images of few features, which lie as convolution_lying says.

typedef struct convolution_shallow {
  convolution_lying input, result;
  convolution_cut cut;
  int64_t taps;                // positions of the kernel
  int64_t panels;              // elements of the kernel in panels, for all threads; 0: it is left as it lies
  int64_t block;               // positions that are computed one after the other
  bool copies;                 // parts of the image are copied
  int64_t copied, line, sums;  // elements that a thread keeps: of a part's copy, of a line, of a block of results
} convolution_shallow;

// Whether that beats the library, if it has a way.
bool convolution_shallow_pays(const convolution_form *f, const convolution_lying *input);
// False if the convolution is none, or on a machine without AVX2.
bool convolution_shallow_plan(const convolution_form *f, const convolution_lying *input,
                              const convolution_lying *result, convolution_shallow *p);
int64_t convolution_shallow_scratch(const convolution_form *f, const convolution_shallow *p, int threads);

// The kernel is canonical, or [output feature, input feature, spatial…] if the images' features come first. Thread-safe
// for different arrays.
void convolution_shallow_execute(const convolution_form *f, const convolution_shallow *p, int threads,
                                 const convolution_arrays *arrays);

// --- convolution_spread.c: f32, by all of the kernel at once.

typedef struct convolution_spread {
  convolution_cut cut;
  int64_t products, sums;  // elements that a thread keeps of a part
} convolution_spread;

// Whether that beats the library, if it has a way.
bool convolution_spread_pays(const convolution_form *f);
// False if it cannot be done so.
bool convolution_spread_plan(const convolution_form *f, convolution_spread *s);
int64_t convolution_spread_scratch(const convolution_spread *s, int threads);

// Arrays of f32, the kernel [spatial…, output feature, input feature]. Thread-safe for different arrays.
// HEDDLE_OUT_OF_MEMORY.
heddle_status convolution_spread_execute(const convolution_form *f, const convolution_spread *s, int threads,
                                         const convolution_arrays *arrays);

// --- convolution_points.c: images with features first, by windows of one element.

typedef struct convolution_points {
  convolution_lying input, result;
  int64_t columns, parts;  // positions of a part, and how many parts an image has
  bool steps, copies;      // elements are left out; what is read of a part is copied
  int64_t copied, sums;    // elements that a thread keeps of a part
} convolution_points;

// False if the convolution is none.
bool convolution_points_plan(const convolution_form *f, const convolution_lying *input, const convolution_lying *result,
                             convolution_points *p);
int64_t convolution_points_scratch(const convolution_form *f, const convolution_points *p, int threads);

typedef struct convolution_points_arrays {
  const void *input;
  gemm_matrix kernel;  // [output feature, input feature], in f32
  const float *bias;   // null without one
  void *result, *scratch;
} convolution_points_arrays;

// Thread-safe for different arrays. HEDDLE_OUT_OF_MEMORY.
heddle_status convolution_points_execute(const convolution_form *f, const convolution_points *p, int threads,
                                         const convolution_points_arrays *arrays);

#endif
