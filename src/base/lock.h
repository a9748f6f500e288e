// These mutexes are free in the child of a fork, whichever thread held them in the parent.
#ifndef HEDDLE_BASE_LOCK_H_
#define HEDDLE_BASE_LOCK_H_

#include <pthread.h>
#include <stdatomic.h>

// Lives as long as the process. Locks of this kind do not nest: who holds one takes no other.
typedef struct lock {
  pthread_mutex_t mutex;
  struct lock *next;
  atomic_bool is_listed;
} lock;

#define LOCK_INITIALIZER {.mutex = PTHREAD_MUTEX_INITIALIZER}

void lock_take(lock *l);
void lock_give(lock *l);

// Between these two calls of a thread no other thread's fork goes ahead: for libraries that have locks of their own,
// which would stay taken in the child. Short, without waiting for other threads that do the same; not nested.
void lock_hold_forks(void);
void lock_let_forks(void);

#endif
