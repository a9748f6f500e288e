// Programs that receive what nobody here sends: infeeds, transfers from the host, a sender that runs elsewhere.
#ifndef HEDDLE_TOOLS_LONE_TRANSFERS_H_
#define HEDDLE_TOOLS_LONE_TRANSFERS_H_

#include "hlo/module.h"

// Makes such a program run alone: what comes in is zeros, with a warning. Senders and receivers that name the same
// pairs of devices on channels of different numbers get one channel. To be done before a run on any platform.
heddle_status lone_transfers_feed(module *m);

#endif
