#!/bin/sh
# clang-tidy over the sources of the dev build. Tests stay out: the analyzer does not know that cmocka's assertions do
# not return, and the sanitizers watch them anyway. Arguments choose modules: scripts/tidy.sh index hlo
set -eu
cd "$(dirname "$0")/.."
cmake --preset dev --log-level=WARNING >/dev/null
modules=$(echo "${*:-[a-z]+}" | tr ' ' '|')
log=build/dev/tidy.log
if run-clang-tidy-19 -quiet -j "$(nproc)" -p build/dev "^$PWD/src/($modules)/(?!.*_(test|fuzz)\.c$).*\.c$" >"$log" 2>&1; then
  exit 0
fi
grep -Ev '^(clang-tidy-19 |\[[0-9 /]+\]|[0-9]+ warnings? |Suppressed |$)' "$log"
exit 1
