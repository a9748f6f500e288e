// The body half of xla-cpu-vectorize-loops: rewriting one loop body for `width` neighbouring iterations at once.
#ifndef HEDDLE_LOWER_VECTORIZE_BODY_H_
#define HEDDLE_LOWER_VECTORIZE_BODY_H_

#include "base/map.h"
#include "base/target.h"
#include "emit/ir_builder.h"

// What an old (scalar) value is over the lanes of the new body.
typedef enum lane_kind {
  LANE_UNIFORM,     // `value` is the same for all lanes
  LANE_CONTIGUOUS,  // an index: lane l is value + l
  LANE_SEPARATE,    // an index without such form: `lanes` holds one scalar per lane
  LANE_VECTOR,      // `value` is a vector of the lanes
} lane_kind;

typedef struct lane_value {
  lane_kind kind;
  MlirValue value;
  MlirValue *lanes;
  int64_t stride;    // of separate lanes: what an index grows by from lane to lane, 0 if that differs
  int64_t place;     // … and what an index leaves when divided by the stride, -1 if that differs
  MlirValue vector;  // cached vector form within `vector_block`, or null
  MlirBlock vector_block;
} lane_value;

typedef struct vectorizer {
  arena *arena;
  const target_code_limits *limits;
  int width;
  MlirValue old_iv;     // index maps of it are studied with iv = width * q + lane
  ptr_map values;       // old value -> lane_value *
  MlirValue mask;       // lanes that are on: those of `rest` that a flattened scf.if leaves on; null = all
  MlirValue rest;       // lanes whose iterations there are, one at the least; null = all
  int done_lanes;       // so many first lanes belong to iterations that are over: they store nothing. If there are any,
  int64_t first;        // … lane 0 is iteration `first`
  int separate_loads;   // lanes loaded one by one so far
  const char *refusal;  // why the body cannot be vectorized; null while it can
} vectorizer;

// Records what an old value became.
void vectorizer_bind(vectorizer *v, MlirValue old, lane_kind kind, MlirValue value);
// Rewrites the block's operations (terminator excluded) at the builder. False and `refusal` set if one cannot be.
bool vectorizer_block(vectorizer *v, ir_builder *b, MlirBlock block);
// A tensor or a uniform value in the new body.
lane_value *vectorizer_lookup(vectorizer *v, MlirValue old);
// Any number in the new body as a vector.
MlirValue vectorizer_vector(vectorizer *v, ir_builder *b, MlirValue old);
// Whether each result of an apply_indexing is the same for all lanes or goes up by one from lane to lane, in vectors of
// `width` iterations of the loop whose variable is `iv`; all else that it takes is held to be the same for them.
bool vectorizer_has_neighbours(arena *a, MlirOperation apply_indexing, MlirValue iv, int width);
// The lanes of the last vector, whose first one is iteration `iv`: those in front of `end`, fewer than 2^31 of them.
MlirValue vectorizer_rest(arena *a, ir_builder *b, MlirValue iv, MlirValue end, int width);
// `now` in the lanes that are not done, or that there are, `before` in the others.
MlirValue vectorizer_blend(vectorizer *v, ir_builder *b, MlirValue now, MlirValue before);

#endif
