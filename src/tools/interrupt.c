// A thread waits for the signals, and nobody has a handler. Handlers run on the stack of whoever is interrupted, and
// there must be none: kernels of oneDNN's products use the stack pointer for something else, so that what the system
// puts below it for a handler lands in the heap.
#include "tools/interrupt.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/call.h"

enum { STATUS_OF_SIGNALS = 128 };

static atomic_bool is_interrupted;
static atomic_int which;
static sigset_t signals, mask_before;

static void *watch(void *unused) {
  int number;
  if (sigwait(&signals, &number) != 0) return unused;
  atomic_store(&which, number);
  atomic_store(&is_interrupted, true);
  if (sigwait(&signals, &number) == 0) _exit(STATUS_OF_SIGNALS + number);
  return unused;
}

// A child of fork has no such thread.
static void unblock_in_child(void) { pthread_sigmask(SIG_SETMASK, &mask_before, NULL); }

// What the parent has it ignore (nohup) it goes on ignoring.
static void add_signal(int number) {
  struct sigaction now;
  if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaddset(&signals, number);
}

void interrupt_watch(void) {
  static const call_context call = {&is_interrupted};
  pthread_t thread;
  sigemptyset(&signals);
  add_signal(SIGINT);
  add_signal(SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, &mask_before);
  pthread_atfork(NULL, NULL, unblock_in_child);
  if (pthread_create(&thread, NULL, watch, NULL) == 0) pthread_detach(thread);
  else pthread_sigmask(SIG_SETMASK, &mask_before, NULL);  // then they end the process, as they do without all this
  call_enter(&call);
}

int interrupt_status(void) {
  const int number = atomic_load(&which);
  return number ? STATUS_OF_SIGNALS + number : 0;
}
