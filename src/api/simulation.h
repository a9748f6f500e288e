// Programs whose kernels are for a GPU, run on this machine by the kernel simulator.
#ifndef HEDDLE_API_SIMULATION_H_
#define HEDDLE_API_SIMULATION_H_

#include "rt/executable.h"
#include "simulate/simulator.h"

// Makes a program whose images are LLVM bitcode ready to run. A block may share `shared_limit` bytes. Libraries and
// control flow are the host's. The simulator must outlive the executable, the program both. On failure both may be set,
// and are the caller's to destroy.
heddle_status simulation_link(const program *p, int64_t shared_limit, int threads, simulator **device,
                              executable **out);

#endif
