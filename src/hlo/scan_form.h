// Describes a scan: the dim it runs over, how many inputs and outputs it has, and how many values it carries from step
// to step.
#ifndef HEDDLE_HLO_SCAN_FORM_H_
#define HEDDLE_HLO_SCAN_FORM_H_

#include "hlo/module.h"

typedef struct scan_form {
  int dim;
  int64_t length;  // places along the dim
  int inputs;      // the first operands; the body takes their elements of one place
  int carries;     // the other operands, and the last results
  int outputs;     // the first results; the body gives their elements of one place
  bool is_reverse;
} scan_form;

// Result k of a scan or of its body, which may be an array if it is the only one, and their number.
const shape *scan_form_result(const shape *results, int k);
int scan_form_result_count(const shape *results);

// False if operands, computation and results do not fit together.
bool scan_form_of(const instruction *scan, scan_form *out);

#endif
