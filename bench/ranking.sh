#!/usr/bin/env bash
# How well the cost model ranks configs: for each of 30 pairs of layer and sizes, the configs that `heddle plan --top` names and others
# drawn uniformly from all that compile are measured with this machine's OpenCL for the CPU; the best of them and the model's first
# eight again, in turn.  Printed, and written as JSON: what compile's own choice, the model's first, and the best of its first 4 and 8
# reach of the best one found.  A pair counts where the worst config takes at least twice the time of the best.
#
# --again times the best of each pair of a run that is over once more: some processes are slower than others.
# A run that was cut off goes on with the pairs that FILE.json lacks, as long as the program and the options are the same.
#
# usage: bench/ranking.sh [--configs N] [--rounds N] [--only WORD] [--build-only | --again] [--target opencl:CHIP] [--heddle PROGRAM] [--output FILE.json]
# by default opencl:cpu, or opencl:cpu-avx2 where the processor has no longer vectors
# needs PoCL and python3; about three minutes for a pair
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."
configs=64
rounds=15
heddle=build/release/heddle
only=
. bench/target.sh
build=
output="bench/results/ranking-$(date +%Y-%m-%d).json"
while [ $# -gt 0 ]; do
	case "$1" in
	--configs) configs=$2; shift 2 ;;
	--rounds) rounds=$2; shift 2 ;;
	--build-only) build=build; shift ;;
	--again) build=again; shift ;;
	--target) target=$2; shift 2 ;;
	--heddle) heddle=$2; shift 2 ;;
	--only) only=$2; shift 2 ;;
	--output) output=$2; shift 2 ;;
	*) echo "usage: bench/ranking.sh [--configs N] [--rounds N] [--only WORD] [--build-only | --again] [--target opencl:CHIP] [--heddle PROGRAM] [--output FILE.json]" >&2; exit 2 ;;
	esac
done
[ -x "$heddle" ] || { echo "bench/ranking.sh: $heddle is not there: run ci/build.sh release, or name it with --heddle" >&2; exit 4; }
mkdir -p "$(dirname "$output")"
python3 bench/ranking.py "$heddle" "$target" "$configs" "$rounds" "$output" "$only" $build
