// Virtual devices that run one program at the same time, and how they meet.
//
// A device that fails, and one that ends or waits while others wait for it, ends the waiting of all: a meeting either
// takes place or every member gets an error.
#ifndef HEDDLE_RT_DEVICE_GROUP_H_
#define HEDDLE_RT_DEVICE_GROUP_H_

#include "rt/thunk.h"

typedef struct device_meeting device_meeting;

device_group *device_group_create(int devices);  // null when the host has no memory
void device_group_destroy(device_group *g);      // all devices must have ended

// Waits until `size` devices have come to this thunk as members 0 … size - 1 of its group `number`; `self` is the
// caller's place among them. What each brought can be read until it leaves.
heddle_status device_group_meet(device_group *g, const thunk *t, int number, int size, int self, void *brought,
                                device_meeting **out);
void *device_meeting_brought(const device_meeting *m, int member);

// Waits until all members want to leave: from then on nobody looks at what was brought.
heddle_status device_group_leave(device_group *g, device_meeting *m);

// --- channels: queues of messages by number and receiver, -1 for whoever comes

// The message goes to the end of the queue; malloc'ed, and freed with the group if nobody receives it. It is taken over
// unless there is an error.
heddle_status device_group_send(device_group *g, int64_t channel, int receiver, void *message);

// The next place in the queue that nobody has.
heddle_status device_group_reserve(device_group *g, int64_t channel, int receiver, int64_t *position);

// Waits for the message at a place that was reserved; the caller frees it. HEDDLE_INVALID for other places and a second
// time.
heddle_status device_group_receive(device_group *g, int64_t channel, int receiver, int64_t position, void **message);

// --- ends

// The device runs nothing any more. Takes over the status; a failure is passed to all who wait or will.
void device_group_end(device_group *g, heddle_status s);

// The error of the device that failed first, or success. Called once, after all have ended.
heddle_status device_group_error(device_group *g);

#endif
