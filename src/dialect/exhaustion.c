// Decides what C++ does where it finds no memory: its own ways, an exception or the end of the process, are not for a
// library of C.
#include "base/heap.h"
#include "dialect/hooks.h"

int xla_gpu_enter_c(void) { return heap_enter_foreign(); }

void xla_gpu_leave_c(int before) { heap_leave_foreign(before); }

void xla_gpu_no_memory(void) { heap_library_exhausted(); }
