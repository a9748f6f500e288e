// Calls of LAPACK's routines by name: a routine's signature is laid over the call's operands and results, which nobody
// has verified; then its function runs once for each member of the batch. Members are shared out
// among threads; a library on one member keeps to one thread, since OpenBLAS sums in another order on several.
#include <lapacke.h>
#include <pthread.h>
#include <string.h>

#include "base/int64.h"
#include "base/pool.h"
#include "lib/lapack.h"
#include "lib/linear_algebra.h"

// LAPACK counts elements of its workspaces, several times n², in 32 bits.
enum { MAX_DIM = 16000 };

// One item of a signature.
typedef struct item {
  char kind;         // T, R, C, A, i: an array; +: an option; w: a workspace; 0: the operand `source`
  const char *dims;  // letters
  int rank;
  int source;
  int option;
  char *array;  // for one member of the batch
} item;

typedef struct lapack_call {
  const lib_call *call;
  const lapack_routine *routine;
  dtype type;  // of the call
  lapack_arguments arguments;
  bool known[26];  // dims
  int batch_rank;  // -1: not yet known
  const int64_t *batch_dims;
  int operand_count, result_count;
  item operands[16], results[LAPACK_MAX_ARRAYS];
} lapack_call;

static int read_items(const char *text, item *items) {
  int count = 0;
  for (; *text && *text != '>'; text += *text == ',') {
    item *it = &items[count++];
    *it = (item){.kind = *text, .source = -1};
    if (*text >= '0' && *text <= '9') *it = (item){.kind = 0, .source = *text - '0'};
    it->dims = ++text;
    while (*text && *text != ',' && *text != '>') text++;
    if (it->kind == '+') it->option = (unsigned char)it->dims[0];
    else it->rank = (int)(text - it->dims);
  }
  return count;
}

static dtype type_of(const lapack_call *c, char kind) {
  const bool is_double = c->type == DTYPE_F64 || c->type == DTYPE_C128;
  if (kind == 'i') return DTYPE_S32;
  if (kind == 'R') return is_double ? DTYPE_F64 : DTYPE_F32;
  if (kind == 'C') return is_double ? DTYPE_C128 : DTYPE_C64;
  return c->type;
}

// Whether an array has the item's type and dims; dims seen for the first time become known.
static bool fits(lapack_call *c, const item *it, const lib_array *s) {
  if (s->type != type_of(c, it->kind)) return false;
  if (it->kind == 'A') return s->rank == 0;
  const int batch_rank = s->rank - it->rank;
  if (c->batch_rank < 0 && batch_rank >= 0) {
    c->batch_rank = batch_rank;
    c->batch_dims = s->dims;
  }
  if (batch_rank < 0 || batch_rank != c->batch_rank) return false;
  for (int d = 0; d < batch_rank; d++)
    if (s->dims[d] != c->batch_dims[d]) return false;
  for (int k = 0; k < it->rank; k++) {
    const int letter = it->dims[k] - 'a';
    const int64_t size = s->dims[batch_rank + k];
    if (size < 0 || size > MAX_DIM || (c->known[letter] && c->arguments.dims[letter] != size)) return false;
    c->known[letter] = true;
    c->arguments.dims[letter] = (int32_t)size;
  }
  return true;
}

// r and p follow from m and n.
static void derive_dims(lapack_call *c) {
  int32_t *dims = c->arguments.dims, *n = &dims['n' - 'a'], *m = &dims['m' - 'a'];
  dims['r' - 'a'] = *m < *n ? *m : *n;
  dims['p' - 'a'] = *n > 0 ? *n - 1 : 0;
  c->known['r' - 'a'] = c->known['p' - 'a'] = true;
}

// The operand that a result of kind 0 was left in; options do not count.
static int overwritten_operand(const lapack_call *c, const item *it) {
  int operand = 0, array = 0;
  while (c->operands[operand].kind == '+' || array++ < it->source) operand++;
  return operand;
}

static bool same_dims(const lib_array *x, const lib_array *y) {
  if (x->rank != y->rank || x->type != y->type) return false;
  for (int d = 0; d < x->rank; d++)
    if (x->dims[d] != y->dims[d]) return false;
  return true;
}

static heddle_status check_shapes(lapack_call *c) {
  const lib_call *call = c->call;
  if (call->operand_count != c->operand_count || call->result_count != c->result_count)
    return status_error(HEDDLE_INVALID, "found %d operands and %d results, wanted %d and %d", call->operand_count,
                        call->result_count, c->operand_count, c->result_count);
  for (int k = 0; k < c->operand_count; k++) {
    const lib_array *s = &call->operands[k];
    const bool is_option = c->operands[k].kind == '+';
    const bool fine = is_option ? s->rank == 0 && dtype_is_integer(s->type) : fits(c, &c->operands[k], s);
    if (!fine) return status_error(HEDDLE_INVALID, "operand %d does not have the routine's type and sizes", k);
  }
  derive_dims(c);
  for (int k = 0; k < c->result_count; k++) {
    const item *it = &c->results[k];
    const lib_array *s = &call->results[k];
    const bool fine = it->kind == 'w' ? true
                      : it->kind == 0 ? same_dims(s, &call->operands[overwritten_operand(c, it)])
                                      : fits(c, it, s);
    if (!fine) return status_error(HEDDLE_INVALID, "result %d does not have the routine's type and sizes", k);
  }
  return status_ok();
}

// An option, its name in backend_config, the letters it may be (null: a number), and in the older form the letter for
// 0, 1 and 2 (null: the operand is the letter).
typedef struct lapack_option {
  char letter;
  const char *name, *letters, *numbered;
} lapack_option;

static const lapack_option lapack_options[] = {
    {'D', "diag", "NU", "NU"},      {'F', "full_matrices", NULL, NULL}, {'G', "compute_uv", NULL, NULL},
    {'J', "mode", "VN", NULL},      {'L', "compute_left", "VN", NULL},  {'M', "mode", "ASN", NULL},
    {'O', "sort", "NS", NULL},      {'R', "compute_right", "VN", NULL}, {'S', "side", "LR", "RL"},
    {'T', "trans_x", "NTC", "NTC"}, {'U', "uplo", "LU", "UL"},          {'e', "left", NULL, NULL},
    {'h', "high", NULL, NULL},      {'l', "low", NULL, NULL},           {'t', "transpose", NULL, NULL},
};

static heddle_status set_option(lapack_call *c, int letter, bool is_numbered, int64_t given) {
  const lapack_option *o = lapack_options;
  while (o->letter != letter) o++;
  if (is_numbered && o->numbered) given = given >= 0 && given < (int64_t)strlen(o->numbered) ? o->numbered[given] : 0;
  const bool fine = o->letters ? given > 0 && given < 128 && strchr(o->letters, (int)given)
                               : given >= INT32_MIN && given <= INT32_MAX;
  if (!fine)
    return status_error(HEDDLE_INVALID, "found %lld for %s, wanted %s", (long long)given, o->name,
                        o->letters ? o->letters : "a small number");
  c->arguments.options[letter] = (int32_t)given;
  return status_ok();
}

static heddle_status set_options(lapack_call *c) {
  int32_t *options = c->arguments.options;
  options['J'] = 'V';
  for (const char *letter = c->routine->options; *letter; letter++) {
    const lapack_option *o = lapack_options;
    while (o->letter != *letter) o++;
    int64_t given;
    if (!lib_number(c->call, o->name, &given)) return status_error(HEDDLE_INVALID, "backend_config has no %s", o->name);
    TRY(set_option(c, *letter, false, given));
  }
  for (int k = 0; k < c->operand_count; k++) {
    uint64_t number;
    if (c->operands[k].kind != '+' || c->operands[k].option == '.') continue;
    work_load(WORK_U64, &c->call->operands[k], 0, 1, &number);
    TRY(set_option(c, c->operands[k].option, true, (int64_t)number));
  }
  if (!c->routine->is_ffi) options['M'] = !options['G'] ? 'N' : options['F'] ? 'A' : 'S';
  return status_ok();
}

// Rows and columns of one member's array, and its bytes.
static int64_t rows_of(const lapack_call *c, const item *it) {
  return it->rank > 0 ? lapack_dim(&c->arguments, it->dims[0]) : 1;
}

static int64_t columns_of(const lapack_call *c, const item *it) {
  return it->rank > 1 ? lapack_dim(&c->arguments, it->dims[1]) : 1;
}

static int64_t bytes_of(const lapack_call *c, const item *it) {
  if (it->kind == '+' || it->kind == 'w' || it->kind == 0) return 0;
  const int64_t bytes = rows_of(c, it) * columns_of(c, it) * dtypes[type_of(c, it->kind)].bytes;
  return (bytes + 63) / 64 * 64 + 64;
}

// Gives every array its part of the room, or counts the bytes if there is none yet.
static int64_t place_arrays(lapack_call *c, char *room) {
  lapack_arguments *x = &c->arguments;
  int64_t bytes = 0;
  for (int k = 0, array = 0; k < c->operand_count; k++) {
    item *it = &c->operands[k];
    if (it->kind == '+') continue;
    if (room) x->in[array++] = it->array = room + bytes;
    bytes += bytes_of(c, it);
  }
  for (int k = 0; k < c->result_count; k++) {
    item *it = &c->results[k];
    if (room && it->kind == 0) it->array = x->in[it->source];
    else if (room && it->kind != 'w') x->out[k] = it->array = room + bytes;
    bytes += bytes_of(c, it);
  }
  return bytes;
}

static void load(const lapack_call *c, const item *it, const lib_array *v, int64_t index) {
  const int64_t rows = rows_of(c, it), columns = columns_of(c, it);
  if (it->kind == '+') return;
  if (it->kind == 'A') index = 0;
  const size_t bytes = (size_t)(rows * columns * dtypes[v->type].bytes);
  if (it->kind == 'i' || c->routine->by_rows) memcpy(it->array, (const char *)v->data + (size_t)index * bytes, bytes);
  else linear_algebra_load(v, index, rows, columns, it->array);
}

static void store(const lapack_call *c, const item *it, const lib_array *v, int64_t index) {
  const item *like = it->kind == 0 ? &c->operands[overwritten_operand(c, it)] : it;
  const int64_t rows = rows_of(c, like), columns = columns_of(c, like);
  if (like->kind == 'w') return;
  const size_t bytes = (size_t)(rows * columns * dtypes[v->type].bytes);
  if (like->kind == 'i' || c->routine->by_rows) memcpy((char *)v->data + (size_t)index * bytes, it->array, bytes);
  else linear_algebra_store(v, index, rows, columns, it->array);
}

// LAPACKE counts its first argument, the order of elements, among those it finds wrong.
static void set_info(const lapack_call *c, int status) {
  for (int k = c->result_count - 1; k >= 0; k--) {
    if (c->results[k].kind != 'i' || c->results[k].rank) continue;
    *(int32_t *)(void *)c->results[k].array = status < 0 ? status + 1 : status;
    return;
  }
}

static heddle_status run_member(lapack_call *c, int64_t index) {
  const lib_call *call = c->call;
  for (int k = 0; k < c->operand_count; k++) load(c, &c->operands[k], &call->operands[k], index);
  for (int k = 0; k < c->result_count; k++)
    if (c->arguments.out[k]) memset(c->arguments.out[k], 0, (size_t)bytes_of(c, &c->results[k]));
  int status = 0;
  const char *problem = c->routine->run(&c->arguments, &status);
  if (problem) return status_error(HEDDLE_INVALID, "%s", problem);
  if (status == LAPACK_WORK_MEMORY_ERROR || status == LAPACK_TRANSPOSE_MEMORY_ERROR)
    return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for LAPACK's workspace");
  set_info(c, status);
  for (int k = 0; k < c->result_count; k++) store(c, &c->results[k], &call->results[k], index);
  return status_ok();
}

typedef struct batch {
  const lapack_call *call;
  int64_t members, share;  // bytes of scratch memory for one thread
  int64_t group;           // members at a time
  int threads;
  pthread_mutex_t lock;  // of what follows
  int64_t failed;        // the first member that failed, whichever thread came to it
  heddle_status status;
} batch;

static void note_failure(batch *b, int64_t member, heddle_status status) {
  pthread_mutex_lock(&b->lock);
  if (member < b->failed) {
    heddle_status_free(b->status);
    b->status = status;
    b->failed = member;
  } else {
    heddle_status_free(status);
  }
  pthread_mutex_unlock(&b->lock);
}

static void run_members(void *argument, int64_t begin, int64_t end) {
  batch *b = argument;
  lapack_call own = *b->call;
  place_arrays(&own, (char *)own.call->scratch + b->share * pool_thread());
  for (int64_t k = begin; k < end; k++) {
    heddle_status status = run_member(&own, k);
    if (!status_is_ok(status)) note_failure(b, k, status);
  }
}

static void run_groups(void *argument, int64_t begin, int64_t end) {
  const batch *b = argument;
  const lib_call *call = b->call->call;
  const lib_array *from = &call->operands[call->operand_count - 1], *to = &call->results[0];
  const int64_t bytes = lib_element_count(to) / b->members * dtypes[to->type].bytes;
  void *scratch = (char *)call->scratch + b->share * pool_thread();
  for (int64_t g = begin; g < end; g++) {
    const int64_t first = g * b->group, count = int64_min(b->group, b->members - first);
    char *matrices = (char *)to->data + first * bytes;
    memcpy(matrices, (const char *)from->data + first * bytes, (size_t)(count * bytes));
    b->call->routine->run_group(&b->call->arguments, b->group, count, matrices, scratch,
                                (int32_t *)call->results[1].data + first);
  }
}

static batch batch_of(lapack_call *c) {
  batch b = {.call = c, .members = 1, .lock = PTHREAD_MUTEX_INITIALIZER, .failed = INT64_MAX};
  for (int d = 0; d < c->batch_rank; d++) b.members *= c->batch_dims[d];
  b.share = place_arrays(c, NULL);
  b.group = 1;
  if (c->routine->group) {
    const lapack_group group = c->routine->group(&c->arguments, b.members);
    b.group = group.members;
    b.share = int64_max(b.share, group.bytes);
  }
  b.threads = b.members < c->call->threads ? (int)b.members : c->call->threads;
  if (b.threads < 1) b.threads = 1;
  return b;
}

static heddle_status run_batch(lapack_call *c) {
  batch b = batch_of(c);
  if (b.group > 1) {
    pool_run(b.threads, int64_ceil_div(b.members, b.group), run_groups, &b);
    return status_ok();
  }
  for (int k = 0; k < c->result_count; k++) {
    const lib_array *result = &c->call->results[k];
    const size_t bytes = (size_t)work_array_bytes(result->type, result->is_packed, lib_element_count(result));
    if (bytes) memset(result->data, 0, bytes);
  }
  pool_run(b.threads, b.members, run_members, &b);
  return b.status;
}

typedef struct part {
  const char *data;
  size_t size;
} part;

static bool begins_with(part s, const char *start) {
  const size_t n = strlen(start);
  return s.size >= n && memcmp(s.data, start, n) == 0;
}

static bool ends_with(part s, const char *end) {
  const size_t n = strlen(end);
  return s.size >= n && memcmp(s.data + s.size - n, end, n) == 0;
}

static const lapack_routine *routine_of(part name, bool is_ffi, dtype type) {
  const char kind = dtype_is_complex(type) ? 'c' : 'r';
  for (const lapack_routine *r = lapack_routines; r->name; r++)
    if (r->is_ffi == is_ffi && (r->kind == kind || r->kind == 'x') && strlen(r->name) == name.size &&
        begins_with(name, r->name))
      return r;
  return NULL;
}

// Takes the target apart, lapack_sgetrf_ffi being getrf on f32, and finds its row; null if there is none.
static const lapack_routine *find_routine(const lib_call *call, dtype *type) {
  static const char letters[] = "sdcz";
  static const dtype types[] = {DTYPE_F32, DTYPE_F64, DTYPE_C64, DTYPE_C128};
  const char *target = call->target ? call->target : "";
  part name = {target, strlen(target)};
  const bool is_ffi = ends_with(name, "_ffi");
  if (is_ffi) name.size -= 4;
  const size_t prefix = begins_with(name, "lapack_") ? 7 : begins_with(name, "blas_") ? 5 : 0;
  name = (part){name.data + prefix, name.size - prefix};
  *type = DTYPE_INVALID;
  if (!prefix) {
    if (call->operand_count) *type = call->operands[0].type;
  } else if (name.size > 1 && name.data[0] && strchr(letters, name.data[0])) {
    *type = types[strchr(letters, name.data[0]) - letters];
    name = (part){name.data + 1, name.size - 1};
  }
  return dtype_is_inexact(*type) ? routine_of(name, is_ffi, *type) : NULL;
}

static heddle_status read_call(const lib_call *call, lapack_call *c) {
  *c = (lapack_call){.call = call, .batch_rank = -1};
  c->routine = find_routine(call, &c->type);
  if (!c->routine) return status_error(HEDDLE_UNIMPLEMENTED, "the routine is unknown");
  c->arguments.type = linear_algebra_type(c->type);
  c->operand_count = read_items(c->routine->signature, c->operands);
  c->result_count = read_items(strchr(c->routine->signature, '>') + 1, c->results);
  return check_shapes(c);
}

// LAPACKE would refuse NaN, which here goes its way through the routine.
static void allow_nan(void) { EXTERNAL(LAPACKE_set_nancheck)(0); }

heddle_status lapack_execute(const lib_call *call) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  TRY(external_need(EXTERNAL_LAPACKE));
  TRY(external_need(EXTERNAL_OPENBLAS));
  pthread_once(&once, allow_nan);
  lapack_call c;
  TRY(read_call(call, &c));
  TRY(set_options(&c));
  return run_batch(&c);
}

int64_t lapack_scratch(const lib_call *call) {
  lapack_call c;
  heddle_status status = read_call(call, &c);
  if (!status_is_ok(status)) {
    heddle_status_free(status);
    return 0;
  }
  const batch b = batch_of(&c);
  return b.share * b.threads;
}
