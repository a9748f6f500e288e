// The program is read at a few samples whose stand-ins nothing divides, and what it divides or compares is noted each
// time. What comes out without a remainder in all of them is a division of polynomials; what changes nothing of the
// program where it is another number has no part in shapes. All else gets a symbol.
#include "api/open_derived.h"

#include <string.h>

#include "base/int64.h"
#include "hlo/text.h"
#include "prog/program_sizes.h"

_Static_assert((int)IMPORT_QUOTIENT == (int)PROGRAM_QUOTIENT && (int)IMPORT_REMAINDER == (int)PROGRAM_REMAINDER &&
                   (int)IMPORT_MODULO == (int)PROGRAM_MODULO && (int)IMPORT_LARGER == (int)PROGRAM_LARGER &&
                   (int)IMPORT_SMALLER == (int)PROGRAM_SMALLER,
               "what is derived has the same kinds while it is read and in programs");

// --- readings

static bool divides(import_derived_kind kind) { return kind <= IMPORT_MODULO; }

// A condition of runs: the one that was picked stays the one.
static void assume(const open_derived_reading *r, arena *a, int64_t left, int64_t right) {
  const int64_t larger = int64_max(left, right), smaller = int64_min(left, right);
  const import_condition c = {
      IMPORT_AT_LEAST, larger, smaller, str_from("a shape is made for the smaller of two numbers that it takes"), {0}};
  vec_push(a, &r->sizes->conditions, c);
}

// What remains of a quotient's dividend: the same for all sizes where it is exact.
static bool leaves(int64_t left, int64_t right, int64_t rest) {
  int64_t whole;
  if (rest == 0) return int64_goes_into(right, left);
  return right > 0 && !__builtin_sub_overflow(left, rest, &whole) && int64_goes_into(right, whole);
}

// Another condition: (b - 1) / 2 is one less than (b + 1) / 2 if nothing below 0 is divided.
static void assume_dividend(const open_derived_reading *r, arena *a, int64_t left) {
  const import_condition c = {
      IMPORT_AT_LEAST, left, 0, str_from("a shape is a quotient of a number that is not below 0"), {0}};
  vec_push(a, &r->sizes->conditions, c);
}

// As what remains has the dividend's sign.
static void assume_sign(const open_derived_reading *r, arena *a, int64_t left, int64_t rest) {
  const import_condition c = {
      IMPORT_AT_LEAST, 0, left, str_from("a shape is a quotient of a number that is not above 0"), {0}};
  if (rest > 0) assume_dividend(r, a, left);
  else vec_push(a, &r->sizes->conditions, c);
}

typedef struct answering {
  open_derived_reading *reading;
  arena *arena;
} answering;

static int64_t stand_in(open_derived_reading *r, const open_derived_use *u, int64_t left, int64_t right,
                        int64_t value) {
  const open_samples *s = r->samples;
  const int symbol = s->symbol_count - s->derived_count + u->symbol;
  open_derived_value *known = open_samples_derived(s, r->sample, symbol);
  int64_t more;
  r->fails |= __builtin_mul_overflow(u->offset, right, &more) || __builtin_sub_overflow(left, more, &left);
  if (!r->seen[u->symbol]) {
    known->left = left;
    known->right = right;
    known->stand_in = open_samples_derive(s, r->sample, symbol, r->derived->kinds[u->symbol],
                                          r->derived->is_above[u->symbol], left, right);
  }
  r->seen[u->symbol] = true;
  r->fails |= known->left != left || known->right != right || known->stand_in == 0;
  return r->fails ? value : known->stand_in + u->offset;
}

static int64_t answer(void *context, import_derived_kind kind, int64_t left, int64_t right, int64_t value) {
  const answering *x = context;
  open_derived_reading *r = x->reading;
  if (r->next >= r->derived->use_count) {
    r->fails = true;
    return value;
  }
  const open_derived_use *u = &r->derived->uses[r->next++];
  if (u->is_constant) r->fails |= left != u->left || right != u->right;
  switch (u->role) {
    case OPEN_DERIVED_SYMBOL:
      if (u->offset != 0) assume_dividend(r, x->arena, left);
      return stand_in(r, u, left, right, value);
    case OPEN_DERIVED_ASSUMED: assume(r, x->arena, left, right); break;
    case OPEN_DERIVED_SAME: r->fails |= left != right; break;
    case OPEN_DERIVED_EXACT:
      r->fails |= !u->is_constant && !leaves(left, right, u->rest);
      // Quotients are rounded towards 0.
      if (!u->is_constant && u->rest != 0 && kind != IMPORT_MODULO) assume_sign(r, x->arena, left, u->rest);
      break;
    case OPEN_DERIVED_UNUSED: break;
  }
  return value;
}

void open_derived_start(open_derived_reading *r, arena *a) {
  if (!r->derived || r->derived->use_count == 0) return;
  answering *x = arena_new(a, answering);
  *x = (answering){r, a};
  r->sizes->derive = answer;
  r->sizes->derive_context = x;
}

bool open_derived_fits(const open_derived_reading *r) {
  if (!r->derived || r->derived->use_count == 0) return true;
  bool fits = !r->fails && r->next == r->derived->use_count;
  for (int k = 0; k < r->derived->count; k++) fits = fits && r->seen[k];
  return fits;
}

// --- what is found in the program

// The first samples are of the level at which it is looked for, the others of another: small primes may leave the same
// when something divides them, but those of two levels do not (3 to 9).
enum { OF_LEVEL = 3, OF_OTHER = 2, SAMPLES = OF_LEVEL + OF_OTHER, MOST_CLASSES = 32, BUMP = 1000003 };

typedef struct noted {
  import_derived_kind kind;
  int64_t left, right, value;
} noted;

typedef VEC(noted) noted_list;

// Notes what is asked, and gives what it is, but for those of one class.
typedef struct noting {
  arena *arena;
  noted_list all;
  const int *classes;  // by value; null: none is bumped
  int bumped;
} noting;

static int64_t note(void *context, import_derived_kind kind, int64_t left, int64_t right, int64_t value) {
  noting *n = context;
  const int number = n->all.size;
  vec_push(n->arena, &n->all, ((noted){kind, left, right, value}));
  return n->classes && n->classes[number] == n->bumped ? (int64_t)((uint64_t)value + BUMP) : value;
}

typedef struct finding {
  const open_derived_program *program;
  open_samples odd;
  noted_list all[SAMPLES];
  int classes[1 << 12];
  int class_count;
  int first_of[MOST_CLASSES];  // the number of its first value
} finding;

static heddle_status read_noting(const open_derived_program *p, const open_samples *s, int sample, noting *n,
                                 import_open_sizes *sizes, module **out) {
  *sizes = (import_open_sizes){.derive = note, .derive_context = n};
  return p->read(p->context, s, sample, sizes, out);
}

// All stand-ins differ in those of a level; those of the first and of the last are primes.
static int sample_of(const open_samples *s, int k) {
  const int count = open_samples_count(s);
  return k == 0 || k == OF_LEVEL ? 0 : k < OF_LEVEL ? count - OF_LEVEL + k : count - 1;
}

static heddle_status note_all(finding *f) {
  bool is_uniform = true;
  for (int k = 0; k < SAMPLES; k++) {
    noting n = {.arena = f->program->arena};
    import_open_sizes sizes;
    module *unused;
    open_samples s = f->odd;
    if (k >= OF_LEVEL) s.level--;
    heddle_status read = read_noting(f->program, &s, sample_of(&s, k), &n, &sizes, &unused);
    // Larger sizes may be too large for what programs multiply them in: then those of one level have to do.
    const bool is_left_out = k >= OF_LEVEL && !status_is_ok(read);
    if (is_left_out) heddle_status_free(read);
    else TRY(read);
    f->all[k] = is_left_out ? f->all[0] : n.all;
    is_uniform = is_uniform && n.all.size == f->all[0].size;
  }
  if (is_uniform && f->all[0].size <= (int)(sizeof f->classes / sizeof *f->classes)) return status_ok();
  return status_error(HEDDLE_UNIMPLEMENTED, "what is divided while shapes are made depends on sizes");
}

// But for a number that quotients differ by, for all sizes: that of x above that of y.
static bool is_same(const finding *f, int x, int y, int64_t *above) {
  enum { MOST = 1 << 20 };
  for (int k = 0; k < SAMPLES; k++) {
    const noted *l = &f->all[k].data[x], *r = &f->all[k].data[y];
    int64_t difference;
    if (l->kind != r->kind || l->right != r->right || __builtin_sub_overflow(l->left, r->left, &difference))
      return false;
    if (difference != 0 && (l->kind != IMPORT_QUOTIENT || !int64_goes_into(r->right, difference))) return false;
    const int64_t here = difference == 0 ? 0 : difference / r->right;
    if (k == 0) *above = here;
    if (here != *above || here > MOST || here < -MOST) return false;
  }
  return true;
}

static bool is_left_the_same(const finding *f, int x) {
  for (int k = 1; k < SAMPLES; k++)
    if (f->all[k].data[x].left != f->all[0].data[x].left) return false;
  return true;
}

static bool is_right_the_same(const finding *f, int x) {
  for (int k = 1; k < SAMPLES; k++)
    if (f->all[k].data[x].right != f->all[0].data[x].right) return false;
  return true;
}

// Both sides in all samples.
static bool all_are(const finding *f, int x, bool (*fn)(const noted *n)) {
  for (int k = 0; k < SAMPLES; k++)
    if (!fn(&f->all[k].data[x])) return false;
  return true;
}

// Whether it leaves the same in all samples, and something only of a number that no size decides.
static bool is_exact(const finding *f, int x, const noted *first, int64_t *rest) {
  *rest = first->right <= 0 || int64_goes_into(first->right, first->left) ? 0 : first->left % first->right;
  bool is = divides(first->kind) && (*rest == 0 || is_right_the_same(f, x));
  for (int k = 0; k < SAMPLES; k++) is = is && leaves(f->all[k].data[x].left, f->all[k].data[x].right, *rest);
  return is;
}

static bool has_equal_sides(const noted *n) { return !divides(n->kind) && n->left == n->right; }

// No dim is below 0: what is the smaller one of that and a size is no size.
static bool is_no_size(const noted *n) { return n->kind == IMPORT_SMALLER && int64_min(n->left, n->right) <= 0; }

static open_derived_use use_of(const finding *f, int x) {
  const noted *n = &f->all[0].data[x];
  open_derived_use u = {.role = OPEN_DERIVED_SYMBOL, .left = n->left, .right = n->right};
  u.is_constant = is_left_the_same(f, x) && is_right_the_same(f, x);
  if (u.is_constant || is_exact(f, x, n, &u.rest)) u.role = OPEN_DERIVED_EXACT;
  else if (all_are(f, x, has_equal_sides)) u.role = OPEN_DERIVED_SAME;
  else if (all_are(f, x, is_no_size)) u.role = OPEN_DERIVED_ASSUMED;
  return u;
}

// The symbol of a class is the largest of its quotients, which divides nothing below 0 for the most sizes.
static void count_from_largest(const finding *f, open_derived_use *uses) {
  int64_t largest[MOST_CLASSES] = {0};
  for (int x = 0; x < f->all[0].size; x++)
    if (f->classes[x] >= 0) largest[f->classes[x]] = int64_max(largest[f->classes[x]], uses[x].offset);
  for (int x = 0; x < f->all[0].size; x++)
    if (f->classes[x] >= 0) uses[x].offset -= largest[f->classes[x]];
}

// Those that are one and the same, but for a number that they differ by, are one class. False if there are too many.
static bool classify(finding *f, open_derived_use *uses) {
  for (int x = 0; x < f->all[0].size; x++) {
    uses[x] = use_of(f, x);
    f->classes[x] = -1;
    if (uses[x].role != OPEN_DERIVED_SYMBOL && uses[x].role != OPEN_DERIVED_ASSUMED) continue;
    for (int c = 0; c < f->class_count && f->classes[x] < 0; c++)
      if (is_same(f, x, f->first_of[c], &uses[x].offset)) f->classes[x] = c;
    if (f->classes[x] >= 0) continue;
    if (f->class_count == MOST_CLASSES) return false;
    uses[x].offset = 0;
    f->classes[x] = f->class_count;
    f->first_of[f->class_count++] = x;
  }
  count_from_largest(f, uses);
  return true;
}

// All that the program is, with what it asserts.
static str text_of(arena *a, const module *m, const import_open_sizes *sizes) {
  text t = {0};
  hlo_print(&t, m, HLO_PRINT_SHORT);
  for (int k = 0; k < sizes->conditions.size; k++) {
    const import_condition *c = &sizes->conditions.data[k];
    text_printf(&t, "%d %lld %lld\n", (int)c->kind, (long long)c->left, (long long)c->right);
  }
  const str copy = str_copy(a, text_view(&t));
  text_free(&t);
  return copy;
}

static heddle_status text_with(const finding *f, int bumped, str *out) {
  noting n = {.arena = f->program->arena, .classes = f->classes, .bumped = bumped};
  import_open_sizes sizes;
  module *m;
  TRY(read_noting(f->program, &f->odd, 0, &n, &sizes, &m));
  *out = text_of(f->program->arena, m, &sizes);
  return status_ok();
}

static heddle_status drop_unused(const finding *f, open_derived_use *uses) {
  str whole;
  if (f->class_count == 0) return status_ok();
  TRY(text_with(f, f->class_count, &whole));
  for (int c = 0; c < f->class_count; c++) {
    str with = {0};
    heddle_status s = text_with(f, c, &with);
    const bool is_used = !status_is_ok(s) || !str_equal(whole, with);
    heddle_status_free(s);
    for (int x = 0; x < f->all[0].size && !is_used; x++)
      if (f->classes[x] == c) uses[x].role = OPEN_DERIVED_UNUSED;
  }
  return status_ok();
}

// Numbers the symbols in the order in which they come. False if there are too many.
static bool number_symbols(const finding *f, const open_samples *s, open_derived_use *uses, open_derived *out) {
  int numbers[MOST_CLASSES];
  for (int c = 0; c < MOST_CLASSES; c++) numbers[c] = -1;
  for (int x = 0; x < f->all[0].size; x++) {
    if (uses[x].role != OPEN_DERIVED_SYMBOL) continue;
    int *number = &numbers[f->classes[x]];
    if (*number < 0) {
      if (s->symbol_count + out->count >= PROGRAM_MOST_SYMBOLS) return false;
      out->kinds[out->count] = (program_derived_kind)f->all[0].data[x].kind;
      *number = out->count++;
    }
    uses[x].symbol = *number;
  }
  return true;
}

static heddle_status find_uses(const open_derived_program *p, open_samples *samples, open_derived *out) {
  finding *f = arena_new(p->arena, finding);
  *f = (finding){.program = p, .odd = *samples};
  f->odd.is_odd = true;
  TRY(note_all(f));
  open_derived_use *uses = arena_array(p->arena, open_derived_use, f->all[0].size);
  const bool fits = classify(f, uses);
  if (fits) TRY(drop_unused(f, uses));
  *out = (open_derived){.use_count = f->all[0].size, .uses = uses};
  if (fits && number_symbols(f, samples, uses, out)) return status_ok();
  return status_error(HEDDLE_UNIMPLEMENTED,
                      "found more than %d independent open sizes with what divides them or is the larger or smaller "
                      "of them, which is the limit",
                      PROGRAM_MOST_SYMBOLS);
}

// --- on which side stand-ins are

// Padding by less than nothing takes away, and code for it is another.
static bool pads_with_less(const module *m, int64_t from) {
  for (int c = 0; c < m->computations.size; c++) {
    const instruction_list *all = &m->computations.data[c]->instructions;
    for (int k = 0; k < all->size; k++) {
      const instruction *i = all->data[k];
      for (int d = 0; i->opcode == HLO_PAD && d < i->shape->rank; d++)
        if (i->attributes->padding.dims[d].low <= -from || i->attributes->padding.dims[d].high <= -from) return true;
      const bool has_window = i->opcode == HLO_CONVOLUTION || i->opcode == HLO_REDUCE_WINDOW;
      for (int d = 0; has_window && d < i->attributes->window.rank; d++)
        if (i->attributes->window.dims[d].padding_high <= -from) return true;
    }
  }
  return false;
}

static heddle_status try_sides(const open_derived_program *p, const open_samples *s, const open_derived *d) {
  import_open_sizes sizes = {.from = open_samples_open_from(s)};
  open_derived_reading r = {.derived = d, .samples = s, .sizes = &sizes};
  module *m;
  open_derived_start(&r, p->arena);
  TRY(p->read(p->context, s, 0, &sizes, &m));
  if (open_derived_fits(&r) && !pads_with_less(m, sizes.from)) return status_ok();
  return status_at(HEDDLE_UNIMPLEMENTED, m->entry->where,
                   "a shape is a quotient or a remainder of a size that is only known when the program runs, or the "
                   "larger or the smaller of it and another, in a way that is not for all sizes: they have to be given "
                   "when it is compiled");
}

static int64_t ratio_of(const open_samples *s) {
  enum { LEAST = 4 };
  int64_t ratio = LEAST;
  for (int k = s->symbol_count - s->derived_count; k < s->symbol_count; k++) {
    const int64_t n = open_samples_derived(s, 0, k)->stand_in, times = 2 * (open_samples_largest_size(s) / n + 1);
    if (times > ratio) ratio = times;
  }
  return ratio;
}

// Quotients and what is smaller are below what they would be first, as what is taken of arrays; what is larger is
// above.
static heddle_status find_sides(const open_derived_program *p, open_samples *samples, open_derived *d) {
  // Products of two of the larger stand-ins are more than shapes are made of, small ones have no parts.
  enum { FIRST_RATIO = 64, FIRST_LEVEL = 2, LEVELS = 3 };
  heddle_status first = status_ok();
  open_samples s = *samples;
  s.symbol_count += d->count;
  s.derived_count = d->count;
  s.derived_ratio = FIRST_RATIO;
  open_samples_add_table(p->arena, &s);
  for (unsigned tries = 0; tries < (unsigned)LEVELS << d->count; tries++) {
    const unsigned sides = tries & ((1U << d->count) - 1);
    s.level = FIRST_LEVEL + (int)(tries >> d->count);
    for (int k = 0; k < d->count; k++) d->is_above[k] = (d->kinds[k] == PROGRAM_LARGER) != (sides >> k & 1);
    heddle_status status = try_sides(p, &s, d);
    if (status_is_ok(status)) {
      heddle_status_free(first);
      s.derived_ratio = ratio_of(&s);
      s.level = samples->level;
      *samples = s;
      return status;
    }
    if (status_is_ok(first)) first = status;
    else heddle_status_free(status);
  }
  return first;
}

heddle_status open_derived_find(const open_derived_program *p, open_samples *samples, open_derived *out) {
  TRY(find_uses(p, samples, out));
  return out->count > 0 ? find_sides(p, samples, out) : status_ok();
}

// --- what divides sizes

heddle_status open_derived_divisors(const open_derived_program *p, const open_samples *samples, int64_t *divisors) {
  enum { MOST_DIVISOR = 16 };
  open_samples s = *samples;
  s.is_odd = true;
  s.degree = 1;
  s.level = OPEN_SAMPLES_LEVELS - 1;
  noting first = {.arena = p->arena};
  import_open_sizes sizes;
  module *unused;
  TRY(read_noting(p, &s, 0, &first, &sizes, &unused));
  for (int k = 0; k < s.symbol_count; k++) {
    noting moved = {.arena = p->arena};
    // The sample in which this stand-in alone is another.
    TRY(read_noting(p, &s, 1 << k, &moved, &sizes, &unused));
    divisors[k] = 1;
    for (int x = 0; x < first.all.size && x < moved.all.size; x++) {
      const noted *l = &first.all.data[x], *r = &moved.all.data[x];
      if (!divides(l->kind) || l->right != r->right || l->right < 2 || l->right > MOST_DIVISOR || l->left == r->left)
        continue;
      const int64_t multiple = divisors[k] / int64_gcd(divisors[k], l->right) * l->right;
      if (multiple <= MOST_DIVISOR) divisors[k] = multiple;
    }
  }
  return status_ok();
}

// --- names

// In parentheses where a quotient would otherwise be another.
static void print_side(text *out, const program_sizes *s, const int64_t *terms, bool divides) {
  text side = {0};
  program_sizes_print(&side, s, terms);
  const bool is_sum = divides && strpbrk(text_cstr(&side), " *");
  text_printf(out, is_sum ? "(%s)" : "%s", text_cstr(&side));
  text_free(&side);
}

const char *open_derived_name(arena *a, const program_sizes *s, const program_derived_size *d) {
  static const char *const forms[PROGRAM_DERIVED_KIND_COUNT] = {[PROGRAM_QUOTIENT] = "floor(%s / %s)",
                                                                [PROGRAM_REMAINDER] = "mod(%s, %s)",
                                                                [PROGRAM_MODULO] = "mod(%s, %s)",
                                                                [PROGRAM_LARGER] = "max(%s, %s)",
                                                                [PROGRAM_SMALLER] = "min(%s, %s)"};
  text left = {0}, right = {0}, name = {0};
  const bool divides = d->kind == PROGRAM_QUOTIENT;
  print_side(&left, s, d->left, divides);
  print_side(&right, s, d->right, divides);
  text_printf(&name, forms[d->kind], text_cstr(&left), text_cstr(&right));
  const char *copy = arena_strdup(a, text_cstr(&name), name.size);
  text_free(&left);
  text_free(&right);
  text_free(&name);
  return copy;
}
