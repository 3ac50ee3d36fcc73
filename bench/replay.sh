#!/usr/bin/env bash
# Rates every timed config on disk with the cost model as it is, offline, and prints how well the ratings order the measured times: what an
# order's first choices reach, and rank correlations.  It is the acceptance test of cost/: the exit status is 1 where a figure misses its bar
# (bench/replay/bars.txt).  bench/README.md explains the columns.
#
# usage: bench/replay.sh [--summary | --rows] [--only WORD] [--half 0|1] [--data FILE...]
# --half judges one half of the layers and chips, so that constants can be fitted on the other; --only those whose line has the word;
# --data adds tables of the forms in bench/replay; --rows prints every row with its rating and figures
# SPDX-License-Identifier: MIT
set -euo pipefail
here=$PWD
cd "$(dirname "$0")/.."
options=()
tables=(bench/replay/timings.tsv bench/replay/product.csv bench/replay/convolution.csv)
while [ $# -gt 0 ]; do
	case "$1" in
	--data) shift; for table in "$@"; do tables+=("$(cd "$here" && realpath "$table")"); done; break ;;
	*) options+=("$1"); shift ;;
	esac
done
ci/build.sh dev replay >&2
exec build/dev/replay --bars bench/replay/bars.txt --threads "$(nproc)" "${options[@]}" "${tables[@]}"
