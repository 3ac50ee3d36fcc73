#!/bin/bash
# Installs what building and testing need, from Debian 12's own packages, and only what is missing; then builds the faster isl.
# SPDX-License-Identifier: MIT
set -eu

# A faster isl (ci/isl.sh); without it Debian's is used, so that nothing fails where its source cannot be fetched.
faster_isl() {
	if [ -n "${HEDDLE_ISL-unset}" ] && ! "$(dirname "$0")/isl.sh" >/dev/null; then
		echo "ci/setup.sh: no faster isl: Heddle is built with Debian's and compiles in 1.6 times the time" >&2
	fi
}

build="build-essential g++ cmake ninja-build ccache pkg-config clang libisl-dev libgmp-dev libcyaml-dev libyaml-dev
	libjansson-dev libcmocka-dev libmpfr-dev python3 mandoc zsh fish"
# The validation levels use these where they are there and say so where they are not.
levels="pocl-opencl-icd mesa-opencl-icd oclgrind opencl-headers ocl-icd-opencl-dev ocl-icd-libopencl1 hipcc libamdhip64-dev
	rocm-device-libs clang-15 clang-19 lld-19 llvm-19 llvm-spirv-15 spirv-tools libopenblas-dev python3-torch libtorch-dev python3-setuptools"

missing=()
for package in $build $levels; do
	dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
	faster_isl
	exit 0
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		echo "ci/setup.sh: missing: ${missing[*]}; run as root, or install sudo" >&2
		exit 4
	fi
	as_root=(sudo)
fi
echo "ci/setup.sh: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
for attempt in 1 2 3; do
	if { "${as_root[@]}" apt-get -q update && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q install -y \
		--no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
		rm -f "$log"
		faster_isl
		exit 0
	fi
	sleep $((attempt * 5))
done
tail -20 "$log" >&2
rm -f "$log"
echo "ci/setup.sh: apt-get failed" >&2
exit 4
