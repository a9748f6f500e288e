// What the files of the printer share: printer*.c only.
#ifndef HEDDLE_HLO_PRINTER_H_
#define HEDDLE_HLO_PRINTER_H_

#include "hlo/text.h"

// The value of attribute `id`, without its name.
void printer_attribute_value(text *out, const hlo_attributes *x, hlo_attribute_id id);

#endif
