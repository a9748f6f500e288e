#!/usr/bin/env python3
"""check_symbols.py NM LIBRARY...: no external name may be defined in two of the module libraries.

A static linker takes the first definition it meets in an archive and says nothing of the second, so two modules that
pick one name for different things break at run time, far from the cause.
"""
import collections
import subprocess
import sys


def defined(nm, library):
    out = subprocess.run([nm, "--defined-only", "--extern-only", library], capture_output=True, text=True, check=True)
    for line in out.stdout.splitlines():
        words = line.split()
        # Sanitizers define names of their own in every object.
        if len(words) == 3 and words[1] in "TDRBC" and not words[2].startswith("__"):
            yield words[2]


def main(nm, *libraries):
    homes = collections.defaultdict(set)
    for library in libraries:
        for name in defined(nm, library):
            homes[name].add(library)
    twice = {name: where for name, where in homes.items() if len(where) > 1}
    for name, where in sorted(twice.items()):
        print(f"{name} is defined in {' and '.join(sorted(where))}")
    print(f"{len(homes)} names, {len(twice)} defined twice")
    return 1 if twice or not homes else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
