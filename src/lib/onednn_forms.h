// Images, kernels and windows of a convolution by oneDNN's logical dims, all of f32. Internal to convolution.
#ifndef HEDDLE_LIB_ONEDNN_FORMS_H_
#define HEDDLE_LIB_ONEDNN_FORMS_H_

#include "lib/convolution_form.h"
#include "lib/onednn.h"

enum { ONEDNN_FORMS_SPATIAL = 3 };

// Whether the form has elements everywhere and dims that oneDNN has names for.
bool onednn_forms_take(const convolution_form *f);
// Images in the canonical order.
bool onednn_forms_images(const convolution_form *f, bool is_result, dnnl_memory_desc_t *to);
// The kernel, with these strides of the canonical order's dims; null: in any form.
bool onednn_forms_kernel(const convolution_form *f, const int64_t *strides, dnnl_memory_desc_t *to);

typedef struct onednn_forms_reach {
  dnnl_dims_t strides, dilates, low, high;
} onednn_forms_reach;

// Of a deconvolution if the input is dilated. False for what oneDNN has no parameters for.
bool onednn_forms_window(const convolution_form *f, onednn_forms_reach *to);

#endif
