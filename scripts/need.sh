#!/usr/bin/env bash
# Names the tools that are missing or too old, each with the way to get it. Fails if there is one.
set -euo pipefail

lacking=0

lack() {
  echo "$1 Get it from $2" >&2
  lacking=1
}

# need NAME LEAST FOUND FROM: FOUND is the version that is installed, empty where it isn't.
need() {
  if [[ -z $3 ]]; then
    lack "$1 is missing." "$4"
  elif ! printf '%s\n' "$2" "$3" | sort --version-sort --check=quiet; then
    lack "$1 is $3, at least $2 is needed." "$4"
  fi
}

# Outside the checkout, where no toolchain file can make them fetch another version.
version() {
  (cd / && "$@" 2>/dev/null) | grep -oE '[0-9]+(\.[0-9]+)+' | head -n 1 || true
}

need cargo 1.89 "$(version cargo --version)" "https://rustup.rs"
# An older Go than go.mod names fetches the right one by itself, from 1.21 on.
need go 1.21 "$(version go env GOVERSION)" "https://go.dev/dl"
command -v cc >/dev/null || lack "cc, a C compiler, is missing." "your system's packages: gcc or clang"
exit "$lacking"
