// Moves that leave memory as it is become bitcasts.
#ifndef HEDDLE_OPT_BITCAST_FORMING_H_
#define HEDDLE_OPT_BITCAST_FORMING_H_

#include "hlo/module.h"

heddle_status bitcast_forming_run(module *m);

#endif
