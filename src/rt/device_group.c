// `waiting` counts devices that cannot go on by themselves: whoever completes a meeting takes its members off the count
// at once, so that when waiting and ended devices are all there are, nobody will ever come.
#include "rt/device_group.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct device_meeting {
  device_meeting *next;
  const thunk *thunk;
  int number, size;
  int arrived, leaving, gone;
  bool is_complete, is_over;  // all have come; all want to leave
  void *brought[];
};

typedef struct channel_slot {
  void *message;
  bool is_sent, is_awaited, is_taken;
} channel_slot;

typedef struct device_channel device_channel;
struct device_channel {
  device_channel *next;
  int64_t number;
  int receiver;
  int64_t sent, reserved;
  int64_t capacity;
  channel_slot *slots;  // in the order of the queue
};

struct device_group {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int devices, waiting, ended;
  bool has_failed;
  heddle_status error;
  device_meeting *meetings;
  device_channel *channels;
};

device_group *device_group_create(int devices) {
  device_group *g = calloc(1, sizeof *g);
  if (!g) return NULL;
  pthread_mutex_init(&g->lock, NULL);
  pthread_cond_init(&g->changed, NULL);
  g->devices = devices;
  return g;
}

static void destroy_channel(device_channel *c) {
  for (int64_t k = 0; k < c->sent; k++) free(c->slots[k].message);
  free(c->slots);
  free(c);
}

void device_group_destroy(device_group *g) {
  while (g->channels) {
    device_channel *next = g->channels->next;
    destroy_channel(g->channels);
    g->channels = next;
  }
  while (g->meetings) {  // left behind by failures
    device_meeting *next = g->meetings->next;
    free(g->meetings);
    g->meetings = next;
  }
  pthread_cond_destroy(&g->changed);
  pthread_mutex_destroy(&g->lock);
  free(g);
}

// Takes over the status.
static void fail(device_group *g, heddle_status s) {
  if (g->has_failed) heddle_status_free(s);
  else g->error = s;
  g->has_failed = true;
  pthread_cond_broadcast(&g->changed);
}

static void check_progress(device_group *g) {
  if (g->waiting && g->waiting + g->ended == g->devices && !g->has_failed)
    fail(g, status_error(HEDDLE_INVALID, "devices wait for others that will not come: %d of %d wait, %d have ended",
                         g->waiting, g->devices, g->ended));
}

static device_meeting *find_open(device_group *g, const thunk *t, int number, int size) {
  for (device_meeting *m = g->meetings; m; m = m->next)
    if (m->thunk == t && m->number == number && !m->is_complete) return m;
  device_meeting *m = calloc(1, sizeof *m + (size_t)size * sizeof *m->brought);
  if (!m) return NULL;
  m->thunk = t;
  m->number = number;
  m->size = size;
  m->next = g->meetings;
  g->meetings = m;
  return m;
}

// Waits for *until or a failure. Counted as waiting by the caller; taken off the count by whoever sets *until.
static heddle_status wait_for(device_group *g, const bool *until) {
  check_progress(g);
  while (!*until && !g->has_failed) pthread_cond_wait(&g->changed, &g->lock);
  if (*until) return status_ok();
  g->waiting--;
  return status_error(HEDDLE_DEVICE_FAILED, "another device has failed");
}

static heddle_status meet(device_group *g, const thunk *t, int number, int size, int self, void *brought,
                          device_meeting **out) {
  if (g->has_failed) return status_error(HEDDLE_DEVICE_FAILED, "another device has failed");
  device_meeting *m = find_open(g, t, number, size);
  if (!m) return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for a meeting of %d devices", size);
  m->brought[self] = brought;
  *out = m;
  if (++m->arrived < size) {
    g->waiting++;
    return wait_for(g, &m->is_complete);
  }
  m->is_complete = true;
  g->waiting -= size - 1;
  pthread_cond_broadcast(&g->changed);
  return status_ok();
}

heddle_status device_group_meet(device_group *g, const thunk *t, int number, int size, int self, void *brought,
                                device_meeting **out) {
  pthread_mutex_lock(&g->lock);
  heddle_status s = meet(g, t, number, size, self, brought, out);
  pthread_mutex_unlock(&g->lock);
  return s;
}

void *device_meeting_brought(const device_meeting *m, int member) { return m->brought[member]; }

static void forget(device_group *g, device_meeting *m) {
  device_meeting **at = &g->meetings;
  while (*at != m) at = &(*at)->next;
  *at = m->next;
  free(m);
}

static heddle_status leave(device_group *g, device_meeting *m) {
  if (g->has_failed) return status_error(HEDDLE_DEVICE_FAILED, "another device has failed");
  if (++m->leaving < m->size) {
    g->waiting++;
    TRY(wait_for(g, &m->is_over));
  } else {
    m->is_over = true;
    g->waiting -= m->size - 1;
    pthread_cond_broadcast(&g->changed);
  }
  if (++m->gone == m->size) forget(g, m);
  return status_ok();
}

heddle_status device_group_leave(device_group *g, device_meeting *m) {
  pthread_mutex_lock(&g->lock);
  heddle_status s = leave(g, m);
  pthread_mutex_unlock(&g->lock);
  return s;
}

// --- channels

// Null if there is no memory.
static device_channel *channel_of(device_group *g, int64_t number, int receiver) {
  for (device_channel *c = g->channels; c; c = c->next)
    if (c->number == number && c->receiver == receiver) return c;
  device_channel *c = calloc(1, sizeof *c);
  if (!c) return NULL;
  *c = (device_channel){.next = g->channels, .number = number, .receiver = receiver};
  g->channels = c;
  return c;
}

// Null if there is no memory.
static channel_slot *slot_at(device_channel *c, int64_t position) {
  if (position >= c->capacity) {
    const int64_t wanted = position < 8 ? 16 : 2 * position;
    channel_slot *slots = realloc(c->slots, (size_t)wanted * sizeof *slots);
    if (!slots) return NULL;
    memset(slots + c->capacity, 0, (size_t)(wanted - c->capacity) * sizeof *slots);
    c->slots = slots;
    c->capacity = wanted;
  }
  return &c->slots[position];
}

static heddle_status no_channel(int64_t number) {
  return status_error(HEDDLE_OUT_OF_MEMORY, "no memory for channel %lld", (long long)number);
}

heddle_status device_group_send(device_group *g, int64_t channel, int receiver, void *message) {
  pthread_mutex_lock(&g->lock);
  device_channel *c = channel_of(g, channel, receiver);
  channel_slot *slot = c ? slot_at(c, c->sent) : NULL;
  if (slot) {
    c->sent++;
    slot->message = message;
    slot->is_sent = true;
    g->waiting -= slot->is_awaited;
    if (slot->is_awaited) pthread_cond_broadcast(&g->changed);
  }
  pthread_mutex_unlock(&g->lock);
  return slot ? status_ok() : no_channel(channel);
}

heddle_status device_group_reserve(device_group *g, int64_t channel, int receiver, int64_t *position) {
  pthread_mutex_lock(&g->lock);
  device_channel *c = channel_of(g, channel, receiver);
  *position = c ? c->reserved++ : 0;
  pthread_mutex_unlock(&g->lock);
  return c ? status_ok() : no_channel(channel);
}

// Slots move when the queue grows.
static heddle_status await(device_group *g, device_channel *c, int64_t position) {
  if (!slot_at(c, position)) return no_channel(c->number);
  if (c->slots[position].is_sent) return status_ok();
  c->slots[position].is_awaited = true;
  g->waiting++;
  check_progress(g);
  while (!c->slots[position].is_sent && !g->has_failed) pthread_cond_wait(&g->changed, &g->lock);
  if (c->slots[position].is_sent) return status_ok();
  c->slots[position].is_awaited = false;
  g->waiting--;
  return status_error(HEDDLE_DEVICE_FAILED, "another device has failed");
}

static heddle_status receive(device_group *g, int64_t channel, int receiver, int64_t position, void **message) {
  device_channel *c = channel_of(g, channel, receiver);
  if (!c) return no_channel(channel);
  if (position < 0 || position >= c->reserved)
    return status_error(HEDDLE_INVALID, "channel %lld: what is finished never began", (long long)channel);
  TRY(await(g, c, position));
  channel_slot *slot = &c->slots[position];
  if (slot->is_taken) return status_error(HEDDLE_INVALID, "channel %lld: finished twice", (long long)channel);
  *message = slot->message;
  slot->message = NULL;
  slot->is_taken = true;
  return status_ok();
}

heddle_status device_group_receive(device_group *g, int64_t channel, int receiver, int64_t position, void **message) {
  pthread_mutex_lock(&g->lock);
  heddle_status s = receive(g, channel, receiver, position, message);
  pthread_mutex_unlock(&g->lock);
  return s;
}

// --- ends

void device_group_end(device_group *g, heddle_status s) {
  pthread_mutex_lock(&g->lock);
  g->ended++;
  if (!status_is_ok(s)) fail(g, s);
  check_progress(g);
  pthread_mutex_unlock(&g->lock);
}

heddle_status device_group_error(device_group *g) {
  heddle_status s = g->error;
  g->error = status_ok();
  return s;
}
