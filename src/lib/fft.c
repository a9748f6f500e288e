// A transform over several dims is a pass over each of them: a pass transforms all lines along one dim, in groups that
// one thread does with one plan, of FFTW's or of our own (fft_lanes.h). The groups follow from the shape alone, so that
// threads change nothing. f32 is transformed in f32.
//
// The first pass goes from the operand to the result, along the last dim, where real transforms change the type; the
// others work in place. An inverse real transform has it the other way round and starts from a copy.
//
// Lines across that are too long for FFTW to do in one go would be read several times at a stride that often lets all
// of them share a few sets of the cache: a group of columns is brought into a dense block, done from there into another
// one, and put back.
#include "lib/fft.h"

#include <fftw3.h>
#include <string.h>

#include "base/int64.h"
#include "base/lock.h"
#include "base/pool.h"
#include "lib/external.h"
#include "lib/fft_lanes.h"

enum {
  GROUP_ELEMENTS = 4096,  // of the lines that one plan does together
  GROUP_COLUMNS = 16,     // of such lines when they lie across and are done where they lie
  LEAST_LINES = 4,        // side by side in vectors
  LONGEST_AT_ONCE = 64,   // elements of a line that FFTW reads and writes just once
  BLOCK_BYTES = 16384,    // of a block of columns, two of which stay in the nearest cache
  CACHE_LINE = 64,
  SMALL_ELEMENTS = 16384,  // one thread has done them before another has woken up
  MAX_PASSES = 3,
  VECTOR = 16,  // bytes that FFTW's vector code wants lines to be aligned to
};

typedef enum fft_kind { FFT_FORWARD, FFT_INVERSE, FFT_REAL, FFT_INVERSE_REAL } fft_kind;  // as HLO numbers them
typedef enum pass_kind { PASS_COMPLEX, PASS_FROM_REAL, PASS_TO_REAL } pass_kind;

static lock planning = LOCK_INITIALIZER;

void fft_lock_planner(void) { lock_take(&planning); }

void fft_unlock_planner(void) { lock_give(&planning); }

// Lines lie `distance` elements apart and their elements `stride`; there are `outer` such sets of lines.
typedef struct pass {
  pass_kind kind;
  bool is_in_place;
  int64_t size, stride, lines, group, outer;
  int64_t from_distance, to_distance, from_outer, to_outer;
  int64_t block;      // bytes of a group of columns in scratch memory; 0 if it is done where it lies
  void *plan, *rest;  // of a group, and of the last group of a set if it is smaller
  fft_lanes *lanes;   // instead, where we are quicker than FFTW
} pass;

// FFTW in one precision.
typedef struct library {
  int real_bytes;
  void *(*make)(const pass *p, int64_t lines, int sign, unsigned flags);
  void (*execute)(pass_kind kind, void *plan, const void *from, void *to);
  void (*scale)(void *reals, int64_t count, double by);
  void (*destroy)(void *plan);
} library;

struct fft_plan {
  fft_kind kind;
  const library *library;
  int count;
  pass passes[MAX_PASSES];
  double scale;
  int64_t copied;    // bytes of the operand that an inverse real transform starts from, up to a cache line
  int64_t share;     // bytes of each thread's blocks, behind them
  int threads;       // at most
  int64_t last;      // length of the last dim
  int64_t elements;  // of the result
};

// FFTW looks at the alignment of arrays that it plans for, and whether they are the same one; nothing else.
static _Alignas(64) char from_example[64], to_example[64];

#define FFTW_LIBRARY(name, prefix, real)                                                                              \
  static void *name##_make(const pass *p, int64_t lines, int sign, unsigned flags) {                                  \
    const int n = (int)p->size, many = (int)lines, stride = (int)(p->block ? p->group : p->stride);                   \
    const int from = (int)p->from_distance, to = (int)p->to_distance;                                                 \
    void *in = from_example, *out = p->is_in_place && !p->block ? from_example : to_example;                          \
    if (p->kind == PASS_FROM_REAL)                                                                                    \
      return EXTERNAL(prefix##_plan_many_dft_r2c)(1, &n, many, in, NULL, stride, from, out, NULL, stride, to, flags); \
    if (p->kind == PASS_TO_REAL)                                                                                      \
      return EXTERNAL(prefix##_plan_many_dft_c2r)(1, &n, many, in, NULL, stride, from, out, NULL, stride, to, flags); \
    return EXTERNAL(prefix##_plan_many_dft)(1, &n, many, in, NULL, stride, from, out, NULL, stride, to, sign, flags); \
  }                                                                                                                   \
  static void name##_execute(pass_kind kind, void *plan, const void *from, void *to) {                                \
    if (kind == PASS_FROM_REAL) EXTERNAL(prefix##_execute_dft_r2c)(plan, (void *)from, to);                           \
    else if (kind == PASS_TO_REAL) EXTERNAL(prefix##_execute_dft_c2r)(plan, (void *)from, to);                        \
    else EXTERNAL(prefix##_execute_dft)(plan, (void *)from, to);                                                      \
  }                                                                                                                   \
  static void name##_scale(void *reals, int64_t count, double by) {                                                   \
    real *x = reals;                                                                                                  \
    for (int64_t k = 0; k < count; k++) x[k] = (real)(x[k] * by);                                                     \
  }                                                                                                                   \
  static void name##_destroy(void *plan) { EXTERNAL(prefix##_destroy_plan)(plan); }                                   \
  static const library name##_library = {sizeof(real), name##_make, name##_execute, name##_scale, name##_destroy};

FFTW_LIBRARY(single, fftwf, float)
FFTW_LIBRARY(wide, fftw, double)

// --- planning

static int64_t whole_lines(int64_t bytes) { return int64_ceil_div(bytes, CACHE_LINE) * CACHE_LINE; }

static int from_bytes(const library *l, pass_kind kind) {
  return kind == PASS_FROM_REAL ? l->real_bytes : 2 * l->real_bytes;
}
static int to_bytes(const library *l, pass_kind kind) {
  return kind == PASS_TO_REAL ? l->real_bytes : 2 * l->real_bytes;
}

// Whether every group begins where FFTW's vector code likes it.
static bool is_aligned(const library *l, const pass *p) {
  const int from = from_bytes(l, p->kind), to = to_bytes(l, p->kind);
  if (p->block) return true;
  return p->group * p->from_distance * from % VECTOR == 0 && p->group * p->to_distance * to % VECTOR == 0 &&
         p->from_outer * from % VECTOR == 0 && p->to_outer * to % VECTOR == 0;
}

// Groups of one or two cache lines of columns, unless lines are short or so few that they lie densely as it is.
static void choose_block(fft_plan *f, pass *p) {
  const int64_t element = 2 * f->library->real_bytes, columns = CACHE_LINE / element;
  const int64_t group = p->size * 2 * CACHE_LINE <= BLOCK_BYTES ? 2 * columns : columns;
  if (p->size <= LONGEST_AT_ONCE || p->lines <= group) return;
  p->group = group;
  p->block = p->size * group * element;
  if (f->share < 2 * p->block) f->share = 2 * p->block;
}

// FFTW is quicker where lengths are powers of two, but not along real lines; for other lengths its estimates are poor,
// and its measurements take longer than all else that a compilation does. A pass of our own wants lines to fill vectors
// with.
static bool is_for_lanes(const pass *p) {
  const bool is_power = (p->size & (p->size - 1)) == 0;
  return p->lines >= LEAST_LINES && (!is_power || p->kind != PASS_COMPLEX);
}

static bool make_lanes(arena *a, fft_plan *f, pass *p) {
  static const fft_lanes_kind kinds[] = {
      [PASS_COMPLEX] = FFT_LANES_COMPLEX, [PASS_FROM_REAL] = FFT_LANES_FROM_REAL, [PASS_TO_REAL] = FFT_LANES_TO_REAL};
  const bool is_inverse = f->kind == FFT_INVERSE || f->kind == FFT_INVERSE_REAL;
  if (is_for_lanes(p))
    p->lanes = fft_lanes_make(a, f->library->real_bytes == sizeof(float), kinds[p->kind], is_inverse, p->size);
  if (!p->lanes) return false;
  p->group = int64_min(p->lines, fft_lanes_count(p->lanes));
  p->block = 0;
  f->share = int64_max(f->share, fft_lanes_bytes(p->lanes));
  return true;
}

static heddle_status make_plans(arena *a, fft_plan *f, pass *p) {
  if (make_lanes(a, f, p)) return status_ok();
  if (p->is_in_place) choose_block(f, p);
  const int sign = f->kind == FFT_FORWARD || f->kind == FFT_REAL ? FFTW_FORWARD : FFTW_BACKWARD;
  const unsigned flags = FFTW_ESTIMATE | (is_aligned(f->library, p) ? 0 : FFTW_UNALIGNED);
  const int64_t rest = p->lines % p->group, limit = INT32_MAX;
  if (p->size > limit || p->stride > limit || p->from_distance > limit || p->to_distance > limit)
    return status_error(HEDDLE_UNIMPLEMENTED, "a Fourier transform of more than 2^31 elements");
  fft_lock_planner();
  p->plan = f->library->make(p, p->group, sign, flags);
  if (rest) p->rest = f->library->make(p, rest, sign, flags);
  fft_unlock_planner();
  if (!p->plan || (rest && !p->rest))
    return status_error(HEDDLE_OUT_OF_MEMORY, "no plan for a Fourier transform of %lld elements", (long long)p->size);
  return status_ok();
}

// Along the last dim, `lines` of them, from operand to result.
static heddle_status add_last(arena *a, fft_plan *f, int64_t lines, int64_t from_size, int64_t to_size) {
  pass *p = &f->passes[f->count++];
  const pass_kind kind = f->kind == FFT_REAL           ? PASS_FROM_REAL
                         : f->kind == FFT_INVERSE_REAL ? PASS_TO_REAL
                                                       : PASS_COMPLEX;
  *p = (pass){.kind = kind,
              .size = f->last,
              .stride = 1,
              .lines = lines,
              .outer = 1,
              .from_distance = from_size,
              .to_distance = to_size};
  p->group = int64_min(lines, (GROUP_ELEMENTS / f->last + 2) / 2 * 2);  // even: every group begins aligned
  return make_plans(a, f, p);
}

// Along dim d of an array of complex numbers, in place.
static heddle_status add_across(arena *a, fft_plan *f, int rank, const int64_t *dims, int d) {
  int64_t outer = 1, inner = 1;
  for (int k = 0; k < d; k++) outer *= dims[k];
  for (int k = d + 1; k < rank; k++) inner *= dims[k];
  if (dims[d] == 1) return status_ok();
  pass *p = &f->passes[f->count++];
  *p = (pass){.kind = PASS_COMPLEX,
              .is_in_place = true,
              .size = dims[d],
              .stride = inner,
              .lines = inner,
              .outer = outer,
              .from_distance = 1,
              .to_distance = 1,
              .from_outer = dims[d] * inner,
              .to_outer = dims[d] * inner};
  p->group = int64_min(inner, GROUP_COLUMNS);
  return make_plans(a, f, p);
}

static bool types_fit(fft_kind kind, dtype from, dtype to) {
  const dtype complexes = kind == FFT_INVERSE_REAL ? from : to, other = kind == FFT_INVERSE_REAL ? to : from;
  if (!dtype_is_complex(complexes)) return false;
  return other == (kind == FFT_REAL || kind == FFT_INVERSE_REAL ? dtypes[complexes].part : complexes);
}

static heddle_status check(const lib_call *call, const named_attribute *lengths, int64_t kind) {
  if (call->operand_count != 1 || call->result_count != 1 || kind < FFT_FORWARD || kind > FFT_INVERSE_REAL)
    return status_error(HEDDLE_INVALID, "a Fourier transform of kind %lld", (long long)kind);
  const lib_array *from = &call->operands[0], *to = &call->results[0];
  if (!types_fit((fft_kind)kind, from->type, to->type))
    return status_error(HEDDLE_INVALID, "a Fourier transform from %s to %s", dtype_name(from->type),
                        dtype_name(to->type));
  if (!lengths || lengths->count < 1 || lengths->count > MAX_PASSES || from->rank != to->rank ||
      from->rank < lengths->count)
    return status_error(HEDDLE_INVALID, "a Fourier transform over more dims than there are");
  for (int d = 0; d < from->rank; d++) {
    const int k = d - (from->rank - lengths->count);
    const int64_t length = k < 0 ? to->dims[d] : lengths->ints[k], half = length ? length / 2 + 1 : 0;
    const bool is_last = d == from->rank - 1;
    const int64_t wanted_from = is_last && kind == FFT_INVERSE_REAL ? half : length;
    const int64_t wanted_to = is_last && kind == FFT_REAL ? half : length;
    if (length < 0 || from->dims[d] != wanted_from || to->dims[d] != wanted_to)
      return status_error(HEDDLE_INVALID, "a Fourier transform whose lengths are not those of dim %d", d);
  }
  return status_ok();
}

static heddle_status add_passes(arena *a, fft_plan *f, const lib_call *call, int count) {
  const lib_array *from = &call->operands[0], *to = &call->results[0];
  const int rank = to->rank, last = rank - 1;
  const int64_t lines = f->elements / to->dims[last];
  if (f->kind == FFT_INVERSE_REAL)
    for (int d = rank - count; d < last; d++) TRY(add_across(a, f, rank, from->dims, d));
  TRY(add_last(a, f, lines, from->dims[last], to->dims[last]));
  if (f->kind != FFT_INVERSE_REAL)
    for (int d = rank - count; d < last; d++) TRY(add_across(a, f, rank, to->dims, d));
  return status_ok();
}

heddle_status fft_plan_make(arena *a, const lib_call *call, fft_plan **plan) {
  const named_attribute *lengths = lib_ints(call, "fft_length");
  static const fft_kind kinds[] = {FFT_FORWARD, FFT_INVERSE, FFT_REAL, FFT_INVERSE_REAL};
  const int64_t kind = lib_int(call, "fft_type", -1);
  TRY(check(call, lengths, kind));
  const lib_array *from = &call->operands[0], *to = &call->results[0];
  fft_plan *f = arena_new(a, fft_plan);
  f->kind = kinds[kind];
  f->library = dtypes[to->type].bits == (dtype_is_complex(to->type) ? 64 : 32) ? &single_library : &wide_library;
  f->elements = lib_element_count(to);
  f->last = lengths->ints[lengths->count - 1];
  f->scale = 1;
  for (int k = 0; k < lengths->count && (kind == FFT_INVERSE || kind == FFT_INVERSE_REAL); k++)
    f->scale /= (double)lengths->ints[k];
  if (kind == FFT_INVERSE_REAL) f->copied = whole_lines(lib_element_count(from) * dtypes[from->type].bytes);
  f->threads = f->elements < SMALL_ELEMENTS || call->threads < 1 ? 1 : call->threads;
  *plan = f;
  if (f->elements == 0) return status_ok();
  TRY(external_need(f->library == &single_library ? EXTERNAL_FFTW_SINGLE : EXTERNAL_FFTW));
  heddle_status status = add_passes(a, f, call, lengths->count);
  if (!status_is_ok(status)) fft_plan_release(f);
  return status;
}

void fft_plan_release(fft_plan *plan) {
  fft_lock_planner();
  for (int k = 0; k < plan->count; k++) {
    if (plan->passes[k].plan) plan->library->destroy(plan->passes[k].plan);
    if (plan->passes[k].rest) plan->library->destroy(plan->passes[k].rest);
  }
  fft_unlock_planner();
  plan->count = 0;
}

int64_t fft_plan_scratch(const fft_plan *plan) { return plan->copied + plan->share * plan->threads; }

double fft_plan_work(const fft_plan *plan) {
  double work = 0;
  for (int k = 0; k < plan->count; k++) {
    double steps = 1;
    for (int64_t n = plan->passes[k].size; n > 1; n /= 2) steps++;
    work += 5 * steps * (double)plan->elements;
  }
  return work;
}

// --- running

typedef struct execution {
  const fft_plan *plan;
  const pass *pass;
  char *from;  // overwritten by passes to reals
  char *to;
  char *blocks;  // of all threads
  double scale;
} execution;

// What a real signal's transform has real counts as real.
static void drop_imaginary(const fft_plan *f, const pass *p, int64_t lines, char *from) {
  const int real = f->library->real_bytes;
  for (int64_t k = 0; k < lines; k++) {
    char *line = from + k * p->from_distance * 2 * real;
    memset(line + real, 0, (size_t)real);
    if (p->size % 2 == 0) memset(line + p->size / 2 * 2 * real + real, 0, (size_t)real);
  }
}

// Row after row of a group of columns from an array to a dense block, or back.
static void copy_rows(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows, int64_t bytes) {
  for (int64_t k = 0; k < rows; k++) memcpy(to + k * to_step, from + k * from_step, (size_t)bytes);
}

static char *share_of(const execution *x) { return x->blocks + pool_thread() * x->plan->share; }

static void do_block(const execution *x, int64_t columns, char *at) {
  const pass *p = x->pass;
  const library *l = x->plan->library;
  char *in = share_of(x), *out = in + p->block;
  const int64_t element = 2 * l->real_bytes, step = p->stride * element, dense = p->group * element;
  copy_rows(in, dense, at, step, p->size, columns * element);
  l->execute(p->kind, columns == p->group ? p->plan : p->rest, in, out);
  copy_rows(at, step, out, dense, p->size, columns * element);
}

static void do_lanes(const execution *x, int64_t lines, const char *from, char *to) {
  const pass *p = x->pass;
  const library *l = x->plan->library;
  const fft_lines group = {.from = p->is_in_place ? to : from,
                           .to = to,
                           .count = lines,
                           .from_distance = p->from_distance * from_bytes(l, p->kind) / l->real_bytes,
                           .to_distance = p->to_distance * to_bytes(l, p->kind) / l->real_bytes,
                           .row = p->is_in_place ? 2 * p->stride : 0,
                           .scale = x->scale};
  fft_lanes_run(p->lanes, &group, share_of(x));
}

static void do_groups(void *argument, int64_t begin, int64_t end) {
  const execution *x = argument;
  const pass *p = x->pass;
  const library *l = x->plan->library;
  const int64_t groups = int64_ceil_div(p->lines, p->group);
  for (int64_t k = begin; k < end; k++) {
    const int64_t first = k % groups * p->group, lines = int64_min(p->group, p->lines - first);
    const int64_t from = k / groups * p->from_outer + first * p->from_distance;
    const int64_t to = k / groups * p->to_outer + first * p->to_distance;
    char *in = x->from + from * from_bytes(l, p->kind), *out = x->to + to * to_bytes(l, p->kind);
    if (p->lanes) {
      do_lanes(x, lines, in, out);
      continue;
    }
    if (p->block) {
      do_block(x, lines, out);
      continue;
    }
    if (p->kind == PASS_TO_REAL) drop_imaginary(x->plan, p, lines, in);
    l->execute(p->kind, lines == p->group ? p->plan : p->rest, in, out);
    if (x->scale != 1) l->scale(out, lines * p->to_distance * to_bytes(l, p->kind) / l->real_bytes, x->scale);
  }
}

void fft_plan_execute(const fft_plan *plan, const lib_call *call) {
  char *result = call->results[0].data;
  if (plan->elements == 0) return;
  const bool is_inverse_real = plan->kind == FFT_INVERSE_REAL;
  char *source = call->operands[0].data;
  if (is_inverse_real) {
    const lib_array *from = &call->operands[0];
    memcpy(call->scratch, source, (size_t)(lib_element_count(from) * dtypes[from->type].bytes));
    source = call->scratch;
  }
  for (int k = 0; k < plan->count; k++) {
    const pass *p = &plan->passes[k];
    char *buffer = is_inverse_real ? call->scratch : result;  // of passes in place
    const int64_t groups = p->outer * int64_ceil_div(p->lines, p->group);
    execution x = {.plan = plan,
                   .pass = p,
                   .from = p->is_in_place ? buffer : source,
                   .to = p->is_in_place ? buffer : result,
                   .blocks = plan->share ? (char *)call->scratch + plan->copied : NULL,
                   .scale = p->is_in_place ? 1 : plan->scale};
    pool_run((int)int64_min(plan->threads, call->threads), groups, do_groups, &x);
  }
}
