#!/bin/sh
# Installs the packages of packages.txt that this machine lacks. Silent, and done in a moment, when it lacks none.
# Plain sh: it runs on a machine that has nothing yet.
set -eu
cd "$(dirname "$0")/.."
wanted=$(sed 's/#.*//' packages.txt)

if ! command -v dpkg-query >/dev/null; then
  echo "setup: this is not a Debian system; install by hand what packages.txt lists:" $wanted >&2
  exit 1
fi
present=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' $wanted 2>/dev/null | sed -n 's/^installed //p' || true)
missing=
for package in $wanted; do
  echo "$present" | grep -qxF "$package" || missing="$missing $package"
done
[ -z "$missing" ] && exit 0

echo "setup: installing$missing"
as_root=
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || { echo "setup: run this as root, or install sudo:$missing" >&2; exit 1; }
  as_root="sudo"
fi
log=$(mktemp)
run() {
  $as_root env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    echo "setup: '$*' failed" >&2
    rm -f "$log"
    exit 1
  }
}
run apt-get update
run apt-get install -y --no-install-recommends $missing
rm -f "$log"
