// `waiting` counts devices that cannot go on by themselves: whoever completes a meeting takes its members off the count
// at once, so that when waiting and ended devices are all there are, nobody will ever come.
#include "rt/device_group.h"

#include <pthread.h>
#include <stdlib.h>

struct device_meeting {
  device_meeting *next;
  const thunk *thunk;
  int number, size;
  int arrived, leaving, gone;
  bool is_complete, is_over;  // all have come; all want to leave
  void *brought[];
};

struct device_group {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int devices, waiting, ended;
  bool has_failed;
  heddle_status error;
  device_meeting *meetings;
};

device_group *device_group_create(int devices) {
  device_group *g = calloc(1, sizeof *g);
  if (!g) return NULL;
  pthread_mutex_init(&g->lock, NULL);
  pthread_cond_init(&g->changed, NULL);
  g->devices = devices;
  return g;
}

void device_group_destroy(device_group *g) {
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
