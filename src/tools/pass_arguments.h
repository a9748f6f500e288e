// Reads MLIR passes as emitters_opt's command line names them: flags in order, or one text for all of them.
#ifndef HEDDLE_TOOLS_PASS_ARGUMENTS_H_
#define HEDDLE_TOOLS_PASS_ARGUMENTS_H_

#include "base/vec.h"
#include "lower/pass.h"

typedef struct pass_request {
  str name;
  str options;  // `k=v k='v v'`; empty: none
} pass_request;

typedef VEC(pass_request) pass_requests;
typedef VEC(const pass *) lower_pass_list;

// Whether there is a pass or a group of that name, in XLA's spelling of 2024 or 2025 or in ours. Passes of XLA without
// a counterpart are known, too.
bool pass_arguments_know(str name);

// `builtin.module(func.func(a),b{k=v})`: the passes in order. What they are anchored on does not matter: all run on the
// module. HEDDLE_INVALID for a malformed text.
heddle_status pass_arguments_parse(arena *a, const char *pipeline, pass_requests *out);

// The kind of target that passes work for, with the figures of base/target.c. What flags and options say of the machine
// stays: its chip, its vectors, what it converts and rounds, how far loops are unrolled.
void pass_arguments_choose_target(lower_options *options, target_kind kind);

// The passes, groups taken apart, with a null behind the last one. Options of passes that mean something here
// (target_type, gpu_device_info, compute_capability_…, prefer_vector_width) go into `options`; others are named on
// standard error. HEDDLE_UNIMPLEMENTED for a pass of XLA without a counterpart.
heddle_status pass_arguments_resolve(arena *a, const pass_requests *requests, lower_options *options,
                                     lower_pass_list *out);

#endif
