#!/bin/sh
# `make run`: one HLO module becomes one native kernel, runs, and is compared with the interpreter.
set -eu
cd "$(dirname "$0")/.."
set -x
exec build/bin/run_hlo_module --platform=CPU --reference_platform=Interpreter --repeat=20 --show_bandwidth \
  examples/gelu.hlo
