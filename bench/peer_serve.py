"""What peers in Python have in common: they do what lines on standard input say, as bench_kernel does.

    compile         something runnable, anew:           compile SECONDS
    run N           best of N runs:                     run SECONDS cpu=SECONDS
    write PREFIX    results as PREFIX0000.npy, …:       written

Before the first line a peer says `ready` and its version, or `none` where it does not have the program.
"""
import sys
import time

import numpy


def best_of(run, runs):
    """Seconds by the clock, and that the processor worked on all threads together."""
    times = []
    for _ in range(runs):
        start, worked = time.perf_counter(), time.process_time()
        run()
        times.append((time.perf_counter() - start, time.process_time() - worked))
    return tuple(map(min, zip(*times)))


def seconds_of(function, *arguments):
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def write(prefix, results):
    """Writes one result, or each of several."""
    for number, result in enumerate(results if isinstance(results, (tuple, list)) else (results,)):
        numpy.save(f"{prefix}{number:04}.npy", numpy.asarray(result))
    return "written"


def refuse():
    print("none", flush=True)


def serve(version, compiled, runnable, **others):
    """Answers lines until there are no more. `compiled` compiles and returns the seconds, `runnable` returns what `run`
    runs, which it may make before any run is timed; of `others` the one that a line's first word names returns the answer
    to the rest of the line."""
    print("ready", version, flush=True)
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "compile":
            print(f"compile {compiled():.9f}", flush=True)
        elif word == "run":
            print("run {:.9f} cpu={:.9f}".format(*best_of(runnable(), int(rest))), flush=True)
        elif word in others:
            print(others[word](rest), flush=True)
