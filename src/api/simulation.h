// Programs whose kernels are for a GPU, run on this machine by the kernel simulator.
#ifndef HEDDLE_API_SIMULATION_H_
#define HEDDLE_API_SIMULATION_H_

#include "rt/executable.h"
#include "simulate/simulator.h"

// Gives the program's kernels on a grid, whose images are LLVM bitcode, to a simulator, and the executable this as its
// device, whose blocks may share so many bytes. The simulator must outlive the executable; it may be set on failure,
// too, and is the caller's to destroy.
heddle_status simulation_link(const program *p, int64_t shared_limit, simulator **device, executable *e);

#endif
