// Images lie in memory with features last or first, in any real type; parts of a convolution (convolution_parts.c) want
// them with features last, in f32. What a part reads is brought into that form, and its sums taken from it, while they
// are in a cache near by: whole images would go through memory twice more.
#include "base/int64.h"
#include "lib/convolution_form.h"
#include "lib/element.h"
#include "lib/turn.h"

enum {
  GROUP = 16,   // features, of which vectors lie side by side in lines of a cache
  STRIP = 256,  // positions of a group that are converted at a time
};

convolution_lying convolution_lying_of(const lib_array *a, const int *order) {
  const int last = a->rank - 1;
  convolution_lying l = {.type = a->type, .features = a->dims[order[last]], .positions = 1};
  bool is_planar = order[0] == 0 && order[last] == 1, is_canonical = true;
  for (int d = 0; d <= last; d++) {
    is_canonical &= order[d] == d;
    if (d == 0 || d == last) continue;
    is_planar &= order[d] == d + 1;
    l.positions *= a->dims[order[d]];
  }
  l.is_planar = is_planar && !is_canonical;
  l.is_known = (is_planar || is_canonical) && !element_is_shared(a);
  return l;
}

// The first element of position `at`, counted over all images, and of a feature.
static int64_t place_of(const convolution_lying *l, int64_t at, int64_t feature) {
  if (!l->is_planar) return at * l->features + feature;
  return (at / l->positions * l->features + feature) * l->positions + at % l->positions;
}

static lib_array array_of(const convolution_lying *l, void *data) { return (lib_array){.type = l->type, .data = data}; }

// Positions of one image, at most STRIP unless it is of f32, and all features.
static void bring_strip(const convolution_lying *l, void *data, int64_t at, int64_t count, float *to) {
  const lib_array a = array_of(l, data);
  float block[GROUP * STRIP];
  if (l->type == DTYPE_F32) {
    turn_f32(count, l->features, (const float *)data + place_of(l, at, 0), l->positions, to, l->features);
    return;
  }
  for (int64_t first = 0; first < l->features; first += GROUP) {
    const int64_t features = int64_min(GROUP, l->features - first);
    for (int64_t k = 0; k < features; k++)
      work_load(WORK_F32, &a, place_of(l, at, first + k), count, block + k * STRIP);
    turn_f32(count, features, block, STRIP, to + first, l->features);
  }
}

static void take_strip(const convolution_lying *l, const float *from, int64_t features, void *data, int64_t at,
                       int64_t feature, int64_t count) {
  const lib_array a = array_of(l, data);
  float block[GROUP * STRIP];
  for (int64_t first = 0; first < features; first += GROUP) {
    const int64_t many = int64_min(GROUP, features - first), place = place_of(l, at, feature + first);
    if (l->type == DTYPE_F32) {
      turn_f32(many, count, from + first, features, (float *)data + place, l->positions);
      continue;
    }
    turn_f32(many, count, from + first, features, block, STRIP);
    for (int64_t k = 0; k < many; k++) work_store(WORK_F32, block + k * STRIP, &a, place + k * l->positions, count);
  }
}

void convolution_images_bring(const convolution_lying *l, const void *data, int64_t at, int64_t images, int64_t count,
                              float *to) {
  void *own = (void *)data;  // only read
  for (int64_t i = 0; i < images; i++, at += l->positions, to += count * l->features) {
    const lib_array a = array_of(l, own);
    if (!l->is_planar) {
      work_load(WORK_F32, &a, place_of(l, at, 0), count * l->features, to);
      continue;
    }
    const int64_t strip = l->type == DTYPE_F32 ? count : STRIP;
    for (int64_t k = 0; k < count; k += strip)
      bring_strip(l, own, at + k, int64_min(strip, count - k), to + k * l->features);
  }
}

void convolution_images_take(const convolution_lying *l, const float *from, int64_t features, void *data, int64_t at,
                             int64_t feature, int64_t images, int64_t count) {
  const lib_array a = array_of(l, data);
  const int64_t row = features == l->features ? count : 1;
  for (int64_t i = 0; i < images; i++, at += l->positions, from += count * features) {
    const int64_t strip = l->type == DTYPE_F32 ? count : STRIP;
    for (int64_t k = 0; l->is_planar && k < count; k += strip)
      take_strip(l, from + k * features, features, data, at + k, feature, int64_min(strip, count - k));
    for (int64_t k = 0; !l->is_planar && k < count; k += row)
      work_store(WORK_F32, from + k * features, &a, place_of(l, at + k, feature), row * features);
  }
}

void convolution_images_relu(int64_t count, float *x) {
  for (int64_t k = 0; k < count; k++) x[k] = x[k] < 0 ? 0 : x[k];
}

void convolution_images_add(int64_t count, const float *from, float *to) {
  for (int64_t k = 0; k < count; k++) to[k] += from[k];
}
