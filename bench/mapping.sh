#!/usr/bin/env bash
# What Heddle's choices are worth on this CPU beside a mapping without a model: tiles of 32 along every dimension, one element per
# work-item, a kernel for each statement (the configs are in mapping.py, the chip that they are for in arch/one-each.yaml).  The two
# run in turn, several rounds; ratios with their spread are printed and written as JSON.
#
# usage: bench/mapping.sh [--rounds N] [--only WORD] [--target opencl:CHIP] [--heddle PROGRAM] [--output FILE.json]
# by default opencl:cpu, or opencl:cpu-avx2 where the processor has no longer vectors
# needs PoCL and python3; a minute a round
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=5
heddle=build/release/heddle
only=
. bench/target.sh
output="bench/results/mapping-$(date -u +%Y%m%d-%H%M).json"
while [ $# -gt 0 ]; do
	case "$1" in
	--rounds) rounds=$2; shift 2 ;;
	--target) target=$2; shift 2 ;;
	--heddle) heddle=$2; shift 2 ;;
	--only) only=$2; shift 2 ;;
	--output) output=$2; shift 2 ;;
	*) echo "usage: bench/mapping.sh [--rounds N] [--only WORD] [--target opencl:CHIP] [--heddle PROGRAM] [--output FILE.json]" >&2; exit 2 ;;
	esac
done
[ -x "$heddle" ] || { echo "bench/mapping.sh: $heddle is not there: run ci/build.sh release, or name it with --heddle" >&2; exit 4; }
mkdir -p "$(dirname "$output")"
python3 bench/mapping.py "$heddle" "$rounds" "$output" "$target" "$only"
