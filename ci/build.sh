#!/bin/bash
# Builds a preset of CMakePresets.json (default: dev) into build/PRESET, all of it or the targets that are named, with the isl that
# ci/isl.sh built if it did; "clang" with the system's, so that both are tested.
# usage: ci/build.sh [PRESET [TARGET...]]
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
preset=${1:-dev}
shift $(($# > 0))
launcher=()
if command -v ccache >/dev/null; then
	launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
fi
isl=${HEDDLE_ISL-${XDG_CACHE_HOME:-$HOME/.cache}/heddle/isl-0.25-2}
if [ "$preset" = clang ] || [ ! -e "$isl/lib/libisl.a" ]; then
	isl=
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset "$preset" "${launcher[@]}" -DHEDDLE_ISL="$isl" >"$log" 2>&1 || {
	cat "$log" >&2
	exit 1
}
cmake --build --preset "$preset" -j "$(nproc)" ${1:+--target "$@"}
