#!/bin/bash
# Heddle in one minute, with nothing but the program: one layer becomes kernels for three vendors; on this machine it runs, is
# timed, and all three are validated at every level that works here.
#
#	ci/demo.sh [FOLDER]    FOLDER: where the kernels go (build/demo)
#
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
ci/setup.sh
ci/build.sh release heddle >/dev/null
folder=${1:-build/demo}
layer=examples/linear.tc
sizes=B=256,I=1024,O=1024

show() {
	echo
	echo "\$ heddle $*"
	build/release/heddle "$@"
}
cat "$layer"
show check "$layer"
show emit "$layer" -s "$sizes" -t cuda:h200,hip:mi300x,opencl:cpu -o "$folder"
show run "$layer" -s "$sizes"
show bench "$layer" -s "$sizes"
show test "$layer" -t cuda:h200,hip:mi300x,host --quick
