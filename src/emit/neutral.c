// Neutral values by combining operation. That of a sum is -0: what is added to it keeps its sign even if it is zero.
#include "emit/neutral.h"

#include <math.h>
#include <string.h>

typedef enum neutral { NEUTRAL_ZERO, NEUTRAL_ONE, NEUTRAL_ONES, NEUTRAL_LEAST, NEUTRAL_MOST } neutral;

static const struct {
  const char *name;
  neutral neutral;
} combiners[] = {
    {"arith.addf", NEUTRAL_ZERO},     {"arith.mulf", NEUTRAL_ONE},   {"arith.maximumf", NEUTRAL_LEAST},
    {"arith.minimumf", NEUTRAL_MOST}, {"arith.addi", NEUTRAL_ZERO},  {"arith.muli", NEUTRAL_ONE},
    {"arith.maxsi", NEUTRAL_LEAST},   {"arith.minsi", NEUTRAL_MOST}, {"arith.maxui", NEUTRAL_ZERO},
    {"arith.minui", NEUTRAL_ONES},    {"arith.andi", NEUTRAL_ONES},  {"arith.ori", NEUTRAL_ZERO},
    {"arith.xori", NEUTRAL_ZERO},
};

static int find_combiner(const char *name) {
  for (int i = 0; i < (int)(sizeof combiners / sizeof *combiners); i++)
    if (strcmp(combiners[i].name, name) == 0) return i;
  return -1;
}

static double neutral_float(neutral n) {
  switch (n) {
    case NEUTRAL_ONE: return 1;
    case NEUTRAL_LEAST: return -INFINITY;
    case NEUTRAL_MOST: return INFINITY;
    default: return -0.0;  // what is added to it keeps its sign even if it is zero
  }
}

static int64_t neutral_int(neutral n, int bits) {
  int64_t least = bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1));
  switch (n) {
    case NEUTRAL_ONE: return bits == 1 ? -1 : 1;
    case NEUTRAL_ONES: return -1;
    case NEUTRAL_LEAST: return least;
    case NEUTRAL_MOST: return -(least + 1);
    default: return 0;
  }
}

bool neutral_exists(const char *combiner) { return find_combiner(combiner) >= 0; }

MlirValue neutral_value(ir_builder *b, const char *combiner, MlirType type) {
  neutral n = combiners[find_combiner(combiner)].neutral;
  MlirType element = ir_element_type(type);
  return mlirTypeIsAFloat(element) ? ir_float(b, type, neutral_float(n))
                                   : ir_int(b, type, neutral_int(n, ir_bit_width(element)));
}
