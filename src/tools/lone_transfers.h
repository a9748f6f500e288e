// Prepares programs that receive what nobody here sends: infeeds, transfers from the host, messages of a sender that
// runs elsewhere.
#ifndef HEDDLE_TOOLS_LONE_TRANSFERS_H_
#define HEDDLE_TOOLS_LONE_TRANSFERS_H_

#include "hlo/module.h"

// Makes such a program run alone. Infeeds bring the arrays of the .npy `files` ("@x.npy" or "x.npy"), in the order in
// which infeeds stand in the text and every time that they are reached the same; those beyond `count`, and what is
// received, are zeros, with a warning. Senders and receivers that name the same pairs of devices on channels of
// different numbers get one channel. To be done before a run on any platform. Errors: files that cannot be read or have
// other shapes, or are too many.
#define INFEED_HELP "an array of an infeed, in the text's order (zeros)"
heddle_status lone_transfers_feed(module *m, int count, const char *const *files);

#endif
