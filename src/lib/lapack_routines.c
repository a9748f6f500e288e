// The LAPACK routines that JAX calls on a CPU, and how: see lapack.h for the signatures. Two calls that name no library
// are among them, since they ask for the same.
#include "lib/lapack.h"

#include <stddef.h>

#define FFI(name, kind, signature, options, run) {name, kind, false, true, signature, options, run, NULL, NULL}
#define OLD(name, kind, signature, run) {name, kind, false, false, signature, "", run, NULL, NULL}
#define FFI_ROWS(name, kind, signature, options, run) {name, kind, true, true, signature, options, run, NULL, NULL}
#define OLD_ROWS(name, kind, signature, run) {name, kind, true, false, signature, "", run, NULL, NULL}
#define GROUPS(name, is_ffi, signature, options, run) \
  {name, 'x', true, is_ffi, signature, options, run, run##_group, run##_run_group}

const lapack_routine lapack_routines[] = {
    GROUPS("potrf", true, "Tnn>0,i", "U", lapack_potrf),
    FFI("getrf", 'x', "Tmn>0,ir,i", "", lapack_getrf),
    FFI("geqrf", 'x', "Tmn>0,Tr", "", lapack_geqrf),
    FFI("geqp3", 'x', "Tmn,in>0,1,Tr", "", lapack_geqp3),
    FFI("orgqr", 'r', "Tmn,Tk>0", "", lapack_orgqr),
    FFI("ungqr", 'c', "Tmn,Tk>0", "", lapack_orgqr),
    FFI("ormqr", 'r', "Tab,Tk,Tmn>2", "et", lapack_ormqr),
    FFI("unmqr", 'c', "Tab,Tk,Tmn>2", "et", lapack_ormqr),
    FFI_ROWS("trsm", 'x', "Taa,Tmn>1", "SUTD", lapack_trsm),
    FFI("gesdd", 'x', "Tmn>0,Rr,Tmu,Tvn,i", "M", lapack_gesdd),
    FFI("gesvd", 'x', "Tmn>0,Rr,Tmu,Tvn,i", "M", lapack_gesvd),
    FFI("syevd", 'r', "Tnn>0,Rn,i", "JU", lapack_syevd),
    FFI("heevd", 'c', "Tnn>0,Rn,i", "JU", lapack_syevd),
    FFI("geev", 'r', "Tnn>Rn,Rn,Cnn,Cnn,i", "LR", lapack_geev),
    FFI("geev", 'c', "Tnn>Cn,Cnn,Cnn,i", "LR", lapack_geev),
    FFI("gees", 'r', "Tnn>0,Tnn,Tn,Tn,i,i", "JO", lapack_gees),
    FFI("gees", 'c', "Tnn>0,Tnn,Tn,i,i", "JO", lapack_gees),
    FFI("gehrd", 'x', "Tnn>0,Tp,i", "lh", lapack_gehrd),
    FFI("sytrd", 'r', "Tnn>0,Rn,Rp,Tp,i", "U", lapack_sytrd),
    FFI("hetrd", 'c', "Tnn>0,Rn,Rp,Tp,i", "U", lapack_sytrd),
    FFI("gtsv", 'x', "Tn,Tn,Tn,Tnc>0,1,2,3,i", "", lapack_gtsv),
    FFI("tridiagonal_solve_perturbed", 'x', "Tn,Tn,Tn,Tnc>3", "", lapack_gtsv_regular),
    OLD("Qr", 'x', "Tmn>0,Tr", lapack_geqrf),
    OLD("ProductOfElementaryHouseholderReflectors", 'x', "Tmn,Tk>0", lapack_orgqr),
    OLD_ROWS("trsm", 'x', "+S,+U,+T,+D,+.,+.,+.,A,Taa,Tmn>2", lapack_scaled_trsm),
    GROUPS("potrf", false, "+U,+.,+.,Tnn>0,i", "", lapack_potrf),
    OLD("getrf", 'x', "+.,+.,+.,Tmn>0,ir,i", lapack_getrf),
    OLD("geqrf", 'x', "+.,+.,+.,+.,Tmn>0,Tr,i,w", lapack_geqrf),
    OLD("geqp3", 'r', "+.,+.,+.,+.,Tmn,in>0,1,Tr,i,w", lapack_geqp3),
    OLD("geqp3", 'c', "+.,+.,+.,+.,Tmn,in>0,1,Tr,i,w,w", lapack_geqp3),
    OLD("orgqr", 'r', "+.,+.,+.,+.,+.,Tmn,Tk>0,i,w", lapack_orgqr),
    OLD("ungqr", 'c', "+.,+.,+.,+.,+.,Tmn,Tk>0,i,w", lapack_orgqr),
    OLD("gesdd", 'r', "+F,+G,+.,+.,+.,+.,Tmn>0,Rr,Tmu,Tvn,i,w,w", lapack_gesdd),
    OLD("gesdd", 'c', "+F,+G,+.,+.,+.,+.,Tmn>0,Rr,Tmu,Tvn,i,w,w,w", lapack_gesdd),
    OLD("syevd", 'r', "+U,+.,+.,Tnn>0,Rn,i,w,w", lapack_syevd),
    OLD("heevd", 'c', "+U,+.,+.,Tnn>0,Rn,i,w,w,w", lapack_syevd),
    OLD("geev", 'r', "+.,+.,+L,+R,Tnn>w,w,w,Rn,Rn,Cnn,Cnn,i", lapack_old_geev),
    OLD("geev", 'c', "+.,+.,+L,+R,Tnn>w,w,Cn,Cnn,Cnn,i", lapack_old_geev),
    OLD("gees", 'r', "+.,+.,+J,+O,Tnn>0,Tn,Tn,Tnn,i,i", lapack_old_gees),
    OLD("gees", 'c', "+.,+.,+J,+O,Tnn>0,w,Tn,Tnn,i,i", lapack_old_gees),
    OLD("gehrd", 'x', "+.,+l,+h,+.,+.,+.,Tnn>0,Tp,i,w", lapack_gehrd),
    OLD("sytrd", 'r', "+.,+U,+.,+.,+.,Tnn>0,Rn,Rp,Tp,i,w", lapack_sytrd),
    OLD("hetrd", 'c', "+.,+U,+.,+.,+.,Tnn>0,Rn,Rp,Tp,i,w", lapack_sytrd),
    {.name = NULL},
};
