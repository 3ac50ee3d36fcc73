#!/usr/bin/env bash
# What the vendors' compilers make of the default config of every definition of layers/, without a GPU: registers and resident blocks,
# beside those of the model, spills, stack frame or private memory, how wide accesses are, conflicts of banks, the share of FMA in the
# inner loop.  Sizes are those of the definition's `#: bench` line, else of its first `#: sizes` line, and of two larger ones, too.  One
# line for each kernel (u: of the variant for bases that are not aligned), then what is bad by name; written as JSON.  How things are
# counted stands in static.py.
#
# usage: bench/static.sh [--target BACKEND:CHIP]... [--only WORD] [--heddle PROGRAM] [--output FILE.json]
# WORD is in the name of the file or of the definition.  A target that is named must be there (exit code 4); by default cuda:a100,
# cuda:h100, hip:mi300x and hip:rx7900xtx, each where its compiler is.
# needs python3; for CUDA nvcc, and cuobjdump (else widths and FMA are PTX's); for HIP clang 17 or newer, its lld, llvm-objdump and
# llvm-readelf, and AMD's device libraries; ten minutes
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."
heddle=build/release/heddle
only=
targets=
output="bench/results/static-$(date -u +%Y%m%d-%H%M).json"
usage() {
	echo "usage: bench/static.sh [--target BACKEND:CHIP]... [--only WORD] [--heddle PROGRAM] [--output FILE.json]" >&2
	exit 2
}
while [ $# -gt 0 ]; do
	[ $# -gt 1 ] || usage
	case "$1" in
	--heddle) heddle=$2 ;;
	--only) only=$2 ;;
	--target) targets=${targets:+$targets,}$2 ;;
	--output) output=$2 ;;
	*) usage ;;
	esac
	shift 2
done
[ -x "$heddle" ] || { echo "bench/static.sh: $heddle is not there: run ci/build.sh release, or name it with --heddle" >&2; exit 4; }
mkdir -p "$(dirname "$output")"
exec python3 bench/static.py "$heddle" "$output" "$targets" "$only"
