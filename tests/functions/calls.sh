#!/bin/sh
# Emitted CUDA text calls the functions of libdevice that its accuracy is measured with: nvcc makes the same PTX of `expf` and
# of `__nv_expf`, for every function that the measurement takes from cuda_shim.h.  Exit code 77: no nvcc.
# SPDX-License-Identifier: MIT
set -eu
here=$(dirname "$0")
command -v nvcc >/dev/null || { echo 'skipped: nvcc not found' >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# NAME/ARITY from the lines F1(acos) F1(acosh) ... of the shim.
grep -o '^F[1-4](.*' "$here/cuda_shim.h" | grep -o 'F[1-4]([a-z0-9_]*)' | sed -E 's/F(.)\((.*)\)/\2 \1/' >"$work/names"
[ "$(wc -l <"$work/names")" -ge 63 ] || { echo "calls.sh: the shim has too few functions" >&2; exit 1; }
for suffix in f ''; do
	t=float
	[ -n "$suffix" ] || t=double
	for prefix in '' __nv_; do
		text=$work/text$prefix$suffix.cu
		: >"$text"
		while read -r name arity; do
			case $arity in
			1) types=$t arguments='a[i]' ;;
			2) types="$t, $t" arguments='a[i], b[i]' ;;
			3) types="$t, $t, $t" arguments='a[i], b[i], c[i]' ;;
			*) types="$t, $t, $t, $t" arguments='a[i], b[i], c[i], d[i]' ;;
			esac
			echo "extern \"C\" __device__ $t __nv_$name$suffix($types);"
			echo "extern \"C\" __global__ void k_$name(const $t *a, const $t *b, const $t *c, const $t *d, $t *y)"
			echo "{ int i = threadIdx.x; y[i] = $prefix$name$suffix($arguments); }"
		done <"$work/names" >>"$text"
		nvcc -arch=sm_90 --fmad=true -ptx "$text" -o "$text.ptx"
		grep -v '^//\|\.file\|^	\.loc' "$text.ptx" >"$text.code"
	done
	diff "$work/text$suffix.cu.code" "$work/text__nv_$suffix.cu.code" >"$work/difference" || {
		echo "calls.sh: $t: the vendor's compiler calls something else:" >&2
		head -20 "$work/difference" >&2
		exit 1
	}
done
echo "$(wc -l <"$work/names") functions, float32 and float64: the same PTX"
