// Cuts a convolution into parts, each of which one thread computes alone: by images, by rows of the result (its first
// spatial dim), and by output features. The shapes alone decide, so that the same sums are formed in the same order on
// any number of threads.
//
// A part is a convolution itself: of a slice of the input, whose padding is what the slice lacks of the windows. Rows
// and images are slices that lie together in memory; a part of the features is not, so features are cut only where the
// kernel is so large beside the images that every part would read all of it.
#include "base/int64.h"
#include "lib/convolution_form.h"

enum {
  FEW_PARTS = 32,        // so that a slow core may take fewer than the others
  FEATURES = 32,         // that parts of the features are multiples of
  LEAST_POSITIONS = 48,  // of the result in one part: each number of the kernel should serve so many
};

static const double least_work = 1 << 20, large_work = 1 << 25;  // multiplications of a part

static int64_t rows_of(const convolution_form *f) { return f->spatial_rank ? f->dims[0].output : 1; }

int64_t convolution_parts_wanted(const convolution_form *f) {
  const double work = (double)convolution_positions(f) * (double)f->output_features *
                      (double)convolution_kernel_size(f) * (double)f->group_features;
  if (work < 2 * least_work) return 1;
  const double few = work / least_work < FEW_PARTS ? work / least_work : FEW_PARTS;
  return (int64_t)(work / large_work > few ? work / large_work : few);
}

// Rows of a part: only the first and the last parts reach into the padding, and all begin alike between the holes of a
// dilated input.
static int64_t rows_for(const convolution_form *f, int64_t parts) {
  const convolution_dim *w = &f->dims[0];
  const int64_t padding = int64_ceil_div(int64_max(int64_max(w->low, w->high), 1), w->stride);
  const int64_t rows = int64_max(int64_ceil_div(w->output, parts), padding);
  return int64_ceil_div(rows, w->base_dilation) * w->base_dilation;
}

static void cut_images(const convolution_form *f, int64_t parts, convolution_cut *c) {
  const int64_t images = int64_max(f->output_batch, 1);
  c->images = int64_ceil_div(images, int64_min(parts, images));
  c->image_parts = int64_ceil_div(images, c->images);
  if (parts < 2 * images || f->spatial_rank == 0) return;
  c->rows = int64_min(rows_for(f, parts / images), rows_of(f));
  c->row_parts = int64_ceil_div(rows_of(f), c->rows);
}

convolution_cut convolution_cut_positions(const convolution_form *f, int64_t parts) {
  convolution_cut c = {f->output_batch, rows_of(f), f->output_features, 1, 1, 1};
  cut_images(f, parts, &c);
  return c;
}

static double bytes_read(const convolution_form *f, int64_t feature_parts, int64_t other_parts) {
  double input = (double)f->input_batch * (double)f->input_features;
  for (int d = 0; d < f->spatial_rank; d++) input *= (double)f->dims[d].input;
  const double kernel = (double)convolution_kernel_size(f) * (double)f->group_features * (double)f->output_features;
  const double result = (double)convolution_positions(f) * (double)f->output_features;
  return kernel * (double)other_parts + input * (double)feature_parts + (feature_parts > 1 ? 2 * result : 0);
}

convolution_cut convolution_cut_of(const convolution_form *f, int64_t least_parts, int coarseness) {
  convolution_cut best = convolution_cut_positions(f, 1);
  const int64_t wanted = int64_max(int64_max(convolution_parts_wanted(f), least_parts) >> coarseness, 1),
                positions = convolution_positions(f);
  const int64_t most = f->feature_groups == 1 ? int64_max(f->output_features / FEATURES, 1) : 1;
  double least = 0;
  int64_t best_count = 0;
  for (int64_t parts = 1; parts <= int64_min(most, wanted); parts++) {
    const int64_t others_wanted = int64_clamp(1, int64_ceil_div(wanted, parts), positions / LEAST_POSITIONS);
    convolution_cut c = convolution_cut_positions(f, others_wanted);
    if (parts > 1) c.features = int64_ceil_div(int64_ceil_div(f->output_features, parts), FEATURES) * FEATURES;
    c.feature_parts = int64_ceil_div(f->output_features, c.features);
    const int64_t others = c.image_parts * c.row_parts, count = int64_min(c.feature_parts * others, wanted / 2);
    const double bytes = bytes_read(f, c.feature_parts, others);
    if (best_count && (count < best_count || (count == best_count && bytes >= least))) continue;
    best = c;
    best_count = count;
    least = bytes;
  }
  return best;
}

// Leaves of dim 0 the rows first … first + count - 1 of the result. False if they meet no row of the input.
static bool slice_rows(convolution_dim *w, int64_t first, int64_t count, int64_t *first_input) {
  const int64_t begin = first * w->stride - w->low;
  const int64_t end = begin + (count - 1) * w->stride + (w->kernel - 1) * w->window_dilation;  // the last one's
  const int64_t from = int64_ceil_div(int64_max(begin, 0), w->base_dilation);
  const int64_t to = int64_min(w->input - 1, int64_floor_div(end, w->base_dilation));
  if (from > to) return false;
  *first_input = from;
  w->low = from * w->base_dilation - begin;
  w->high = end - to * w->base_dilation;
  w->input = to - from + 1;
  w->output = count;
  return true;
}

bool convolution_part_of(const convolution_form *f, const convolution_cut *c, int64_t number, convolution_part *part) {
  const int64_t row = number % c->row_parts * c->rows;
  const int64_t image = number / c->row_parts % c->image_parts * c->images;
  const int64_t feature = number / c->row_parts / c->image_parts * c->features;
  int64_t input_row = f->input_features, result_row = f->output_features, first_input = 0;
  for (int d = 1; d < f->spatial_rank; d++) {
    input_row *= f->dims[d].input;
    result_row *= f->dims[d].output;
  }
  *part = (convolution_part){.form = *f, .feature = feature};
  convolution_form *g = &part->form;
  g->input_batch = g->output_batch = int64_min(c->images, f->output_batch - image);
  g->output_features = int64_min(c->features, f->output_features - feature);
  if (c->row_parts > 1 && !slice_rows(&g->dims[0], row, int64_min(c->rows, rows_of(f) - row), &first_input))
    return false;
  const int64_t input_rows = f->spatial_rank ? f->dims[0].input : 1;
  part->input_at = (image * input_rows + first_input) * input_row;
  part->result_at = (image * rows_of(f) + row) * result_row + feature;
  return true;
}

bool convolution_parts_agree(const convolution_form *x, const convolution_form *y) {
  const convolution_dim *a = &x->dims[0], *b = &y->dims[0];  // the only one that is cut
  return x->input_batch == y->input_batch && a->input == b->input && a->output == b->output && a->low == b->low &&
         a->high == b->high;
}
