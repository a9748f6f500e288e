// A child of fork has one thread and a copy of all memory: a mutex that another thread held is held for ever. So the
// thread that forks takes all of them first, which waits until whatever they guard is whole, and both processes give
// them back.
#include "base/lock.h"

#include <stdbool.h>

static pthread_mutex_t list_mutex = PTHREAD_MUTEX_INITIALIZER;
static lock *listed;

// Held by readers while libraries are at work. A fork that waits goes before new readers, or compilations that follow
// each other would hold it up for ever.
static pthread_rwlock_t gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void before_fork(void) {
  pthread_rwlock_wrlock(&gate);
  pthread_mutex_lock(&list_mutex);
  for (lock *l = listed; l; l = l->next) pthread_mutex_lock(&l->mutex);
}

static void after_fork(void) {
  for (lock *l = listed; l; l = l->next) pthread_mutex_unlock(&l->mutex);
  pthread_mutex_unlock(&list_mutex);
  pthread_rwlock_unlock(&gate);
}

// The gate counts threads that wait, and those do not exist in the child.
static void in_child(void) {
  for (lock *l = listed; l; l = l->next) pthread_mutex_unlock(&l->mutex);
  pthread_mutex_unlock(&list_mutex);
  gate = (pthread_rwlock_t)PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
}

// At load, as a fork may come while another thread takes its first lock: a child that finds the handlers half
// registered would wait for a thread that it does not have.
__attribute__((constructor)) static void watch_forks(void) { (void)pthread_atfork(before_fork, after_fork, in_child); }

// Before it is taken for the first time, so that no fork sees it taken and unlisted.
static void enlist(lock *l) {
  pthread_mutex_lock(&list_mutex);
  if (!atomic_load(&l->is_listed)) {
    l->next = listed;
    listed = l;
    atomic_store(&l->is_listed, true);
  }
  pthread_mutex_unlock(&list_mutex);
}

void lock_take(lock *l) {
  if (!atomic_load(&l->is_listed)) enlist(l);
  pthread_mutex_lock(&l->mutex);
}

void lock_give(lock *l) { pthread_mutex_unlock(&l->mutex); }

void lock_hold_forks(void) { pthread_rwlock_rdlock(&gate); }

void lock_let_forks(void) { pthread_rwlock_unlock(&gate); }
