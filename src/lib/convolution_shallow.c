// Convolutions of images of few features, such as a signal's or a picture's, to many. Libraries unroll such images into
// matrices, or take blocks of features that there are not.
//
// A sum's terms are a list of places: where a tile of sums finds its left factors, one for each row, and where its
// right ones, which lie side by side. So one routine multiplies images that lie either way, and makes no matrix of
// windows: with features last the rows are positions of a line of the result, the columns its features, and the weights
// are brought into panels; with features first the rows are features, the columns positions. In these the parts' images
// are copied so that what neighbours of the result meet are neighbours, too, however long the windows' steps are: every
// so-manieth element of a line lies together.
//
// Copies have zeros around the last dim, which are multiplied (convolution_outside.c); the other dims' terms that meet
// nothing are left out of the list.
#include <string.h>

#include "base/cpu_level.h"
#include "base/int64.h"
#include "base/pool.h"
#include "lib/convolution_form.h"

#if defined(__x86_64__)
#include <immintrin.h>

enum {
  FEATURES_MAX = 4,         // of the image
  LEAST_FEATURES = 8,       // of the result
  LEAST_LINE = 64,          // positions of the result's last dim
  LEAST_TERMS = 10,         // of a sum, where features come last: …
  LEAST_AVX512_TERMS = 32,  // … a library has ways of its own there
  MOST_LAST_FEATURES = 256,
  ROWS = 6,               // of a tile
  PANEL_MAX = 64,         // columns
  BLOCK = 512,            // positions that are computed one after the other at most, …
  BLOCK_ELEMENTS = 8192,  // … and factors of theirs, which should stay in the first-level cache
  MOST_TIMES = 8,         // elements of a copied line for each of the line's own, …
  MOST_ZEROS = 1 << 14,   // … and beside these
  LINE = 64,
};

// One term of all sums of a tile.
typedef struct place {
  int64_t left, right;
} place;

// A tile, or what tiles are cut from.
typedef struct block {
  const float *left, *right;
  int64_t left_row;  // elements between the left factors of neighbouring rows
  const place *at;
  int64_t terms;
  float *sums;
  int64_t leading;
} block;

#define NAME(x) avx2_##x
#define VECTOR __m256
#define LANES 8
#define VECTORS 2
#define TARGET __attribute__((target("avx2,fma")))
#define LOAD(from) _mm256_loadu_ps(from)
#define STORE(to, x) _mm256_storeu_ps(to, x)
#define SAME(x) _mm256_set1_ps(x)
#define ADD_PRODUCT(a, b, c) _mm256_fmadd_ps(a, b, c)
#include "lib/convolution_shallow_lanes.def"

#define NAME(x) avx512_##x
#define VECTOR __m512
#define LANES 16
#define VECTORS 4
#define TARGET __attribute__((target("avx512f")))
#define LOAD(from) _mm512_loadu_ps(from)
#define STORE(to, x) _mm512_storeu_ps(to, x)
#define SAME(x) _mm512_set1_ps(x)
#define ADD_PRODUCT(a, b, c) _mm512_fmadd_ps(a, b, c)
#include "lib/convolution_shallow_lanes.def"

// All ROWS rows of a tile, or one.
typedef void (*multiply_fn)(bool all, const block *b);

// How wide panels are, and what multiplies tiles of one, two and four vectors.
typedef struct machine {
  int64_t lanes, panel;
  multiply_fn narrow, middle, wide;
} machine;

static machine this_machine(void) {
  if (cpu_level_has_avx512()) return (machine){16, 64, avx512_multiply_1, avx512_multiply_2, avx512_multiply_4};
  return (machine){8, 16, avx2_multiply_1, avx2_multiply_2, avx2_multiply_2};
}

// --- the plan

// How a part's image is copied.
typedef struct copy_form {
  int64_t lines;       // of the last dim, of all images of the part
  int64_t steps, row;  // a line is so many rows, of every so-manieth element each, of so many elements
} copy_form;

static copy_form copy_form_of(const convolution_form *f, bool is_planar) {
  const convolution_dim *last = &f->dims[f->spatial_rank - 1];
  const int64_t reach = (last->kernel - 1) * last->window_dilation;
  copy_form c = {.lines = convolution_input_positions(f) / last->input, .steps = 1};
  if (!is_planar) {
    c.row = ((last->output - 1) * last->stride + reach + 1) * f->input_features;
    return c;
  }
  c.steps = last->stride;
  c.row = int64_round_up(last->output, PANEL_MAX) + reach / last->stride;
  return c;
}

// Far reaching windows over small images would be copies of nothing but zeros.
static bool is_copied(const convolution_form *f, bool is_planar) {
  const copy_form c = copy_form_of(f, is_planar);
  const int64_t line = f->dims[f->spatial_rank - 1].input * (is_planar ? 1 : f->input_features);
  return c.steps * c.row <= MOST_TIMES * line + MOST_ZEROS;
}

static int64_t copied_of(const convolution_form *f, bool is_planar) {
  const copy_form c = copy_form_of(f, is_planar);
  return c.lines * c.steps * c.row * (is_planar ? f->input_features : 1);
}

bool convolution_shallow_pays(const convolution_form *f, const convolution_lying *input) {
  if (f->spatial_rank == 0 || f->dims[f->spatial_rank - 1].output < LEAST_LINE) return false;
  if (input->is_planar) return f->spatial_rank == 1 || f->dims[f->spatial_rank - 1].stride == 1;
  return f->spatial_rank == 1 && f->output_features <= MOST_LAST_FEATURES &&
         convolution_kernel_size(f) * f->input_features >= (cpu_level_has_avx512() ? LEAST_AVX512_TERMS : LEAST_TERMS);
}

static bool takes(const convolution_form *f, const convolution_lying *input, const convolution_lying *result) {
  if (!cpu_level_has_avx2() || f->spatial_rank == 0 || convolution_is_dilated(f)) return false;
  if (f->feature_groups > 1 || f->batch_groups > 1) return false;
  if (!input->is_known || !result->is_known || input->is_planar != result->is_planar) return false;
  for (int d = 0; d < f->spatial_rank; d++)
    if (f->dims[d].low < 0) return false;
  return f->input_features <= FEATURES_MAX && f->output_features >= LEAST_FEATURES && convolution_kernel_size(f) > 1 &&
         convolution_input_positions(f) * f->input_features > 0 && convolution_positions(f) > 0;
}

// Whether windows of the last dim reach beyond it.
static bool has_borders(const convolution_dim *w) {
  return w->low > 0 || (w->output - 1) * w->stride + (w->kernel - 1) * w->window_dilation >= w->input;
}

bool convolution_shallow_plan(const convolution_form *f, const convolution_lying *input,
                              const convolution_lying *result, convolution_shallow *p) {
  if (!takes(f, input, result)) return false;
  const bool is_planar = input->is_planar;
  *p = (convolution_shallow){.input = *input, .result = *result, .taps = convolution_kernel_size(f)};
  p->copies = is_planar || input->type != DTYPE_F32 || has_borders(&f->dims[f->spatial_rank - 1]);
  p->cut = convolution_cut_positions(f, convolution_parts_wanted(f));
  for (int64_t k = 0; k < convolution_cut_count(&p->cut); k++) {
    convolution_part part;
    if (!convolution_part_of(f, &p->cut, k, &part) || (p->copies && !is_copied(&part.form, is_planar))) return false;
    if (p->copies) p->copied = int64_max(p->copied, copied_of(&part.form, is_planar));
    p->line = int64_max(p->line, part.form.dims[f->spatial_rank - 1].input * f->input_features);
  }
  p->block = int64_clamp(PANEL_MAX, BLOCK_ELEMENTS / (p->taps * f->input_features) / PANEL_MAX * PANEL_MAX, BLOCK);
  if (result->type != DTYPE_F32) p->sums = p->block * f->output_features;
  const int64_t panel = this_machine().panel;
  if (!is_planar) p->panels = int64_round_up(f->output_features, panel) * p->taps * f->input_features;
  return true;
}

static int64_t lines(int64_t bytes) { return int64_round_up(bytes, LINE); }

static int64_t places_at(const convolution_shallow *p) {
  return lines((p->copied + p->line + p->sums) * (int64_t)sizeof(float));
}

static int64_t share_of(const convolution_form *f, const convolution_shallow *p) {
  return places_at(p) + lines(p->taps * f->input_features * (int64_t)sizeof(place));
}

int64_t convolution_shallow_scratch(const convolution_form *f, const convolution_shallow *p, int threads) {
  return lines(p->panels * (int64_t)sizeof(float)) + share_of(f, p) * convolution_cut_threads(&p->cut, threads);
}

// --- running

typedef struct execution {
  const convolution_form *form;
  const convolution_shallow *plan;
  const convolution_arrays *arrays;
  machine machine;
} execution;

// One part while it is computed.
typedef struct part_run {
  const execution *x;
  convolution_part part;
  copy_form copy;
  float *copied, *line, *sums;
  place *places;
} part_run;

// The weights [term, output feature] in panels [panel, term, column], with zeros behind the last feature.
static void pack_panels(const execution *x, float *to) {
  const int64_t terms = x->plan->taps * x->form->input_features, features = x->form->output_features,
                panel = x->machine.panel;
  for (int64_t first = 0; first < features; first += panel)
    for (int64_t t = 0; t < terms; t++, to += panel) {
      const int64_t many = int64_min(panel, features - first);
      memset(to + many, 0, (size_t)(panel - many) * sizeof(float));
      memcpy(to, x->arrays->kernel + t * features + first, (size_t)many * sizeof(float));
    }
}

// The element of the image's array where a line of the part begins, of its feature with features first.
static int64_t line_at(const part_run *r, int64_t line, int64_t feature) {
  const convolution_lying *l = &r->x->plan->input;
  const convolution_form *f = &r->part.form;
  const int64_t at = r->part.input_at / f->input_features + line * f->dims[f->spatial_rank - 1].input;
  if (!l->is_planar) return at * l->features;
  return (at / l->positions * l->features + feature) * l->positions + at % l->positions;
}

// Elements of a line, in f32.
static const float *read_line(const part_run *r, int64_t first, int64_t count) {
  const convolution_lying *l = &r->x->plan->input;
  if (l->type == DTYPE_F32) return (const float *)r->x->arrays->input + first;
  const lib_array a = {.type = l->type, .data = (void *)r->x->arrays->input};
  work_load(WORK_F32, &a, first, count, r->line);
  return r->line;
}

static void copy_lines(const part_run *r) {
  const convolution_dim *last = &r->part.form.dims[r->part.form.spatial_rank - 1];
  const int64_t features = r->x->form->input_features;
  float *to = r->copied;
  for (int64_t k = 0; k < r->copy.lines; k++, to += r->copy.row) {
    const int64_t low = last->low * features, count = int64_min(last->input * features, r->copy.row - low);
    memset(to, 0, (size_t)r->copy.row * sizeof(float));
    if (count > 0) memcpy(to + low, read_line(r, line_at(r, k, 0), count), (size_t)count * sizeof(float));
  }
}

// Element k of a line goes to row (low + k) mod steps.
static void deal_line(const convolution_dim *last, const copy_form *c, const float *from, float *to) {
  const int64_t steps = c->steps;
  memset(to, 0, (size_t)(steps * c->row) * sizeof(float));
  for (int64_t s = 0; s < steps; s++) {
    const int64_t first = int64_floor_mod(s - last->low, steps), place = (first + last->low) / steps;
    const int64_t count = int64_min(int64_ceil_div(last->input - first, steps), c->row - place);
    for (int64_t k = 0; k < count; k++) to[s * c->row + place + k] = from[first + k * steps];
  }
}

static void copy_planes(const part_run *r) {
  const convolution_dim *last = &r->part.form.dims[r->part.form.spatial_rank - 1];
  float *to = r->copied;
  for (int64_t c = 0; c < r->x->form->input_features; c++)
    for (int64_t k = 0; k < r->copy.lines; k++, to += r->copy.steps * r->copy.row)
      deal_line(last, &r->copy, read_line(r, line_at(r, k, c), last->input), to);
}

// The terms of the sums of line `number` of the part's result.
static int64_t find_places(const part_run *r, int64_t number) {
  const convolution_form *f = &r->part.form;
  const convolution_shallow *p = r->x->plan;
  const convolution_dim *last = &f->dims[f->spatial_rank - 1];
  const int64_t features = f->input_features, panel = r->x->machine.panel;
  const copy_form *c = &r->copy;
  place *to = r->places;
  for (int64_t t = 0; t < p->taps; t++) {
    const int64_t position = convolution_source_row(f, number, t / last->kernel);
    if (position < 0) continue;
    const int64_t line = position / last->input, k = t % last->kernel * last->window_dilation;
    for (int64_t i = 0; i < features; i++)
      if (p->input.is_planar)
        *to++ = (place){i * p->taps + t, ((i * c->lines + line) * c->steps + k % c->steps) * c->row + k / c->steps};
      else
        *to++ =
            (place){(p->copies ? line * c->row : position * features) + k * features + i, (t * features + i) * panel};
  }
  return to - r->places;
}

// All panels of ROWS rows, or of one.
static void multiply_rows(const machine *m, const block *all, int64_t rows, int64_t columns, int64_t panel_step) {
  block b = *all;
  float rest[ROWS * PANEL_MAX];
  for (int64_t c = 0; c < columns; c += m->panel, b.right += panel_step) {
    const int64_t many = int64_min(m->panel, columns - c), vectors = int64_ceil_div(many, m->lanes);
    const int64_t width = vectors <= 2 ? vectors * m->lanes : m->panel;
    b.sums = many == width ? all->sums + c : rest;
    b.leading = many == width ? all->leading : width;
    (vectors == 1 ? m->narrow : vectors == 2 ? m->middle : m->wide)(rows == ROWS, &b);
    for (int64_t r = 0; many < width && r < rows; r++)
      memcpy(all->sums + c + r * all->leading, rest + r * width, (size_t)many * sizeof(float));
  }
}

// All tiles of a block, along its rows, so that its sums are written one after the other; `panel_step` elements lie
// between the right factors of neighbouring panels. The last tile has rows of the one before where it would not be
// full.
static void multiply(const machine *m, const block *all, int64_t rows, int64_t columns, int64_t panel_step) {
  const int64_t height = rows < ROWS ? 1 : ROWS;
  for (int64_t n = 0; n < rows; n += height) {
    const int64_t first = int64_min(n, rows - height);
    block b = *all;
    b.left += first * all->left_row;
    b.sums += first * all->leading;
    multiply_rows(m, &b, height, columns, panel_step);
  }
}

// Bias and activation of a block of sums, whose features are its rows or its columns.
static void finish(const execution *x, const block *b, int64_t count) {
  const bool is_planar = x->plan->result.is_planar;
  const int64_t features = x->form->output_features, rows = is_planar ? features : count;
  const int64_t columns = is_planar ? count : features;
  const float *bias = x->arrays->bias;
  for (int64_t r = 0; (bias || x->form->has_relu) && r < rows; r++) {
    float *sums = b->sums + r * b->leading;
    for (int64_t k = 0; bias && k < columns; k++) sums[k] += is_planar ? bias[r] : bias[k];
    if (x->form->has_relu) convolution_images_relu(columns, sums);
  }
}

// `count` positions of the result, the first of them at `at` of all images.
static void do_block(const part_run *r, block b, int64_t at, int64_t count) {
  const execution *x = r->x;
  const convolution_lying *l = &x->plan->result;
  const lib_array result = {.type = l->type, .data = x->arrays->result};
  const int64_t features = l->features, panel = x->machine.panel;
  const int64_t first = l->is_planar ? at / l->positions * features * l->positions + at % l->positions : at * features;
  b.leading = l->is_planar ? (r->sums ? x->plan->block : l->positions) : features;
  b.sums = r->sums ? r->sums : (float *)result.data + first;
  if (l->is_planar) multiply(&x->machine, &b, features, count, panel);
  else multiply(&x->machine, &b, count, features, x->plan->taps * x->form->input_features * panel);
  finish(x, &b, count);
  if (!r->sums) return;
  if (!l->is_planar) work_store(WORK_F32, b.sums, &result, first, count * features);
  for (int64_t o = 0; l->is_planar && o < features; o++)
    work_store(WORK_F32, b.sums + o * b.leading, &result, first + o * l->positions, count);
}

static void do_line(const part_run *r, int64_t number, const float *panels) {
  const execution *x = r->x;
  const convolution_form *f = &r->part.form;
  const convolution_dim *last = &f->dims[f->spatial_rank - 1];
  const bool is_planar = x->plan->input.is_planar;
  const float *image = x->plan->copies ? r->copied : (const float *)x->arrays->input + r->part.input_at;
  const int64_t step = last->stride * f->input_features;
  const int64_t at = r->part.result_at / f->output_features + number * last->output;
  block b = {.at = r->places, .terms = find_places(r, number)};
  b.left_row = is_planar ? x->plan->taps * f->input_features : step;
  for (int64_t k = 0; k < last->output; k += x->plan->block) {
    b.left = is_planar ? x->arrays->kernel : image + k * step;
    b.right = is_planar ? image + k : panels;
    do_block(r, b, at + k, int64_min(x->plan->block, last->output - k));
  }
}

static void do_parts(void *argument, int64_t begin, int64_t end) {
  const execution *x = argument;
  const convolution_shallow *p = x->plan;
  const int64_t panels = lines(p->panels * (int64_t)sizeof(float));
  char *own = (char *)x->arrays->scratch + panels + pool_thread() * share_of(x->form, p);
  part_run r = {.x = x, .copied = (float *)(void *)own, .places = (place *)(void *)(own + places_at(p))};
  r.line = r.copied + p->copied;
  r.sums = p->sums ? r.line + p->line : NULL;
  for (int64_t number = begin; number < end; number++) {
    convolution_part_of(x->form, &p->cut, number, &r.part);
    r.copy = copy_form_of(&r.part.form, p->input.is_planar);
    if (p->copies) (p->input.is_planar ? copy_planes : copy_lines)(&r);
    const convolution_form *f = &r.part.form;
    const int64_t count = convolution_positions(f) / f->dims[f->spatial_rank - 1].output;
    for (int64_t k = 0; k < count; k++) do_line(&r, k, x->arrays->scratch);
  }
}

void convolution_shallow_execute(const convolution_form *f, const convolution_shallow *p, int threads,
                                 const convolution_arrays *arrays) {
  execution x = {.form = f, .plan = p, .arrays = arrays, .machine = this_machine()};
  if (p->panels) pack_panels(&x, arrays->scratch);
  pool_run(threads, convolution_cut_count(&p->cut), do_parts, &x);
}
#else
bool convolution_shallow_pays(const convolution_form *f, const convolution_lying *input) {
  (void)f, (void)input;
  return false;
}

bool convolution_shallow_plan(const convolution_form *f, const convolution_lying *input,
                              const convolution_lying *result, convolution_shallow *p) {
  (void)f, (void)input, (void)result, (void)p;
  return false;
}

int64_t convolution_shallow_scratch(const convolution_form *f, const convolution_shallow *p, int threads) {
  (void)f, (void)p, (void)threads;
  return 0;
}

void convolution_shallow_execute(const convolution_form *f, const convolution_shallow *p, int threads,
                                 const convolution_arrays *arrays) {
  (void)f, (void)p, (void)threads, (void)arrays;
}
#endif
