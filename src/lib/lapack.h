// LAPACK's routines on one member of a batch: how custom calls hand them their operands. Internal to lib.
//
// All arrays are of the call's type, as JAX has them computed; int32_t for the routines' integers. They are
// column-major unless the routine takes them as they lie, row by row. Results that the signature draws from an operand
// are left in that operand's array.
#ifndef HEDDLE_LIB_LAPACK_H_
#define HEDDLE_LIB_LAPACK_H_

#include <complex.h>

#include "lib/external.h"
#include "lib/work.h"

enum { LAPACK_MAX_ARRAYS = 8 };

typedef struct lapack_arguments {
  work_type type;  // F32, F64, C64, C128
  // Dims and options by the letters of the signature.
  int32_t dims[26];      // 'a' … 'z'
  int32_t options[128];  // a letter of LAPACK's (uplo, …) or a number, by the option's letter
  void *in[LAPACK_MAX_ARRAYS];
  void *out[LAPACK_MAX_ARRAYS];
} lapack_arguments;

static inline bool lapack_is_complex(const lapack_arguments *x) { return x->type == WORK_C64 || x->type == WORK_C128; }
static inline bool lapack_is_single(const lapack_arguments *x) { return x->type == WORK_F32 || x->type == WORK_C64; }
static inline int32_t lapack_dim(const lapack_arguments *x, char letter) { return x->dims[letter - 'a']; }

// LAPACKE's routine of the call's type; those for real and complex matrices may have names of their own.
#define LAPACK_CALL(x, real, complex, ...)                                               \
  ((x)->type == WORK_F32   ? EXTERNAL(LAPACKE_s##real)(LAPACK_COL_MAJOR, __VA_ARGS__)    \
   : (x)->type == WORK_F64 ? EXTERNAL(LAPACKE_d##real)(LAPACK_COL_MAJOR, __VA_ARGS__)    \
   : (x)->type == WORK_C64 ? EXTERNAL(LAPACKE_c##complex)(LAPACK_COL_MAJOR, __VA_ARGS__) \
                           : EXTERNAL(LAPACKE_z##complex)(LAPACK_COL_MAJOR, __VA_ARGS__))

// Runs on checked sizes. What is wrong with the arguments, or null; `status` is what LAPACKE returned, which becomes
// the routine's info: the last of the results that are one s32.
typedef const char *(*lapack_routine_fn)(lapack_arguments *x, int *status);

// How a routine does several members of a batch at a time, in place of its first result, to which the last operand has
// been copied; the second result, s32, is the info. Bytes of scratch memory for that, and members at a time: 1 where
// the routine's own function is as good.
typedef struct lapack_group {
  int64_t members, bytes;
} lapack_group;
typedef lapack_group (*lapack_group_fn)(const lapack_arguments *x, int64_t batch);
typedef void (*lapack_group_run_fn)(const lapack_arguments *x, int64_t group, int64_t count, void *matrices,
                                    void *scratch, int32_t *info);

// How a routine is called. An item of `signature` is a letter for the element type and one for each dim behind the
// batch's: T the call's type, R its real part, C complex, i s32. The same letter is the same size everywhere;
// r is min(m, n), p is n - 1. `A` is one number of the call's type for all of the batch. `+X` among the operands is a
// scalar that says option X, `+.` one that says nothing new; among the results `w` is a workspace, whose contents
// nobody reads, and a digit the operand that was overwritten.
typedef struct lapack_routine {
  const char *name;  // lapack_[sdcz]NAME
  char kind;         // 'r' only real, 'c' only complex types, 'x' both
  bool by_rows;      // its arrays are left as they lie
  bool is_ffi;       // the names that end in _ffi take options from backend_config, the older ones from operands
  const char *signature;
  const char *options;  // by their letters; FFI only
  lapack_routine_fn run;
  lapack_group_fn group;  // or null
  lapack_group_run_fn run_group;
} lapack_routine;

// The rows of the older form follow those of FFI. Ends with a null name.
extern const lapack_routine lapack_routines[];

// lapack_call.c: routines of lib by the names lapack_*, blas_*, Qr, ….
heddle_status lapack_execute(const lib_call *call);
int64_t lapack_scratch(const lib_call *call);

// lapack_factor.c
const char *lapack_getrf(lapack_arguments *x, int *status);
const char *lapack_geqrf(lapack_arguments *x, int *status);
const char *lapack_geqp3(lapack_arguments *x, int *status);
const char *lapack_orgqr(lapack_arguments *x, int *status);
const char *lapack_ormqr(lapack_arguments *x, int *status);
const char *lapack_potrf(lapack_arguments *x, int *status);
lapack_group lapack_potrf_group(const lapack_arguments *x, int64_t batch);
void lapack_potrf_run_group(const lapack_arguments *x, int64_t group, int64_t count, void *matrices, void *scratch,
                            int32_t *info);
const char *lapack_trsm(lapack_arguments *x, int *status);
const char *lapack_scaled_trsm(lapack_arguments *x, int *status);
const char *lapack_gtsv(lapack_arguments *x, int *status);
const char *lapack_gtsv_regular(lapack_arguments *x, int *status);
const char *lapack_gehrd(lapack_arguments *x, int *status);
const char *lapack_sytrd(lapack_arguments *x, int *status);
// lapack_eigen.c
const char *lapack_syevd(lapack_arguments *x, int *status);
const char *lapack_geev(lapack_arguments *x, int *status);
const char *lapack_old_geev(lapack_arguments *x, int *status);
const char *lapack_gees(lapack_arguments *x, int *status);
const char *lapack_old_gees(lapack_arguments *x, int *status);
const char *lapack_gesdd(lapack_arguments *x, int *status);
const char *lapack_gesvd(lapack_arguments *x, int *status);

#endif
