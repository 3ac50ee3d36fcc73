#!/bin/bash
# Builds a preset of CMakePresets.json (default: dev) into build/PRESET.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
preset=${1:-dev}
launcher=()
if command -v ccache >/dev/null; then
	launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cmake --preset "$preset" "${launcher[@]}" >"$log" 2>&1 || {
	cat "$log" >&2
	exit 1
}
cmake --build --preset "$preset" -j "$(nproc)"
