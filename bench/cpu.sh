#!/usr/bin/env bash
# Heddle's OpenCL kernels on this CPU beside what others reach on it: OpenBLAS and oneDNN for products, oneDNN for convolutions (plain
# tensors on both ends, its reorders counted), a streaming copy of four times the last cache for layers that only move data.  The sides
# run in turn, several rounds; medians, ratios and spread are printed and written as one JSON file under bench/results/, with a picture
# where gnuplot is installed.
#
# usage: bench/cpu.sh [--rounds N] [--only WORD] [--target opencl:CHIP] [--heddle PROGRAM]
# by default opencl:cpu, or opencl:cpu-avx2 where the processor has no longer vectors
# needs cc, libopenblas-dev, PoCL and python3; libdnnl-dev for convolutions and products of batches
# SPDX-License-Identifier: MIT
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=5
heddle=build/release/heddle
only=
. bench/target.sh
while [ $# -gt 0 ]; do
	case "$1" in
	--rounds) rounds=$2; shift 2 ;;
	--only) only=$2; shift 2 ;;
	--target) target=$2; shift 2 ;;
	--heddle) heddle=$2; shift 2 ;;
	*) echo "usage: bench/cpu.sh [--rounds N] [--only WORD] [--target opencl:CHIP] [--heddle PROGRAM]" >&2; exit 2 ;;
	esac
done
[ -x "$heddle" ] || { echo "bench/cpu.sh: $heddle is not there: run ci/build.sh release, or name it with --heddle" >&2; exit 4; }
# An environment that pins OpenBLAS to an old processor halves its speed.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cc -O3 -march=native -fno-tree-loop-distribute-patterns -o "$work/stream" bench/stream.c -lpthread
cc -O2 -o "$work/gemm" bench/peer_gemm.c -ldl -lm
if [ -e /usr/include/oneapi/dnnl/dnnl.h ]; then
	cc -O2 -o "$work/conv" bench/peer_conv.c -ldnnl -lm
	cc -O2 -o "$work/batched" bench/peer_batched.c -ldnnl -ldl -lm -lpthread
else
	echo "bench/cpu.sh: no convolutions and no products of batches: apt install libdnnl-dev" >&2
fi
mkdir -p bench/results
python3 bench/cpu.py "$heddle" "$work" "$rounds" "$target" "$only"
