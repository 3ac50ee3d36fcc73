#!/bin/bash
# On a machine with an NVIDIA GPU: tests and times every layer there, with a prebuilt program, and writes one JSON file.
# Needs neither isl nor a network; with nvcc it also measures copies and cuBLAS.
#
#	ci/build.sh portable           before, on a machine with the development packages
#	ci/gpu.sh [FOLDER] [OUTPUT]    FOLDER: the build folder (build/portable); OUTPUT: bench/results/CARD-DATE.json
#
# Exit code 4 without a GPU or a program, 1 when a layer failed, 0 otherwise.
# SPDX-License-Identifier: MIT
set -u
cd "$(dirname "$0")/.."
folder=${1:-build/portable}
heddle=$folder/heddle
budget=${HEDDLE_GPU_SECONDS:-480}
started=$SECONDS

stop() {
	echo "ci/gpu.sh: $*" >&2
	exit 4
}
[ -x "$heddle" ] || stop "no program $heddle: build it with ci/build.sh portable"
command -v nvidia-smi >/dev/null || stop "no GPU: nvidia-smi is not here"
card=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | head -1)
[ -n "$card" ] || stop "no GPU: nvidia-smi lists none"
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)
date=$(date -u +%Y-%m-%d)
"$heddle" --version || stop "$heddle does not run here"

# The descriptor whose name is part of the card's name ("NVIDIA H200" -> cuda:h200).
target=
while read -r name rest; do
	case ${card,,} in *"$name"*) target=${rest%% *} ;; esac
done < <("$heddle" arch list | tail -n +2)
[ -n "$target" ] || stop "no descriptor for '$card': heddle arch list"
echo "card $card, driver $driver, target $target"

output=${2:-bench/results/${card// /_}-$date.json}
mkdir -p "$(dirname "$output")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
left() { echo $((budget - (SECONDS - started))); }

# Runs a command that prints JSON, with the time that is left at most; its document, or null.
document() {
	local file=$1
	shift
	local limit
	limit=$(left)
	[ "$limit" -gt 0 ] || { echo null >"$file"; return 5; }
	timeout "$limit" "$@" >"$file" 2>"$file.err"
	local code=$?
	[ -s "$file" ] || echo null >"$file"
	[ $code -eq 0 ] || tail -5 "$file.err" >&2
	return $code
}

failed=0
peers=null
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
if [ -n "$nvcc" ] && "$nvcc" -O2 -o "$work/gpu_peers" bench/gpu_peers.cu -lcublas 2>"$work/nvcc.log"; then
	document "$work/peers.json" "$work/gpu_peers" || echo "gpu_peers failed" >&2
	peers=$(cat "$work/peers.json")
else
	echo "no nvcc or cuBLAS: copies and cuBLAS are not measured" >&2
fi

tests=
benches=
for layer in layers/*.tc examples/*.tc; do
	if [ "$(left)" -le 0 ]; then
		echo "no time left for $layer and those after it" >&2
		failed=1
		break
	fi
	tested=pass
	timed=timed
	document "$work/test.json" "$heddle" test "$layer" -t "$target" --level device --json || tested=FAILED
	document "$work/bench.json" "$heddle" bench "$layer" -t "$target" --json || timed="not timed"
	[ "$tested, $timed" = "pass, timed" ] || failed=1
	echo "$layer: $tested, $timed"
	tests+=${tests:+,$'\n'}$(cat "$work/test.json")
	benches+=${benches:+,$'\n'}$(cat "$work/bench.json")
done

cat >"$output" <<EOF
{"card": "$card", "driver": "$driver", "date": "$date", "target": "$target", "failed": $failed,
"peers": $peers,
"test": [
$tests
],
"bench": [
$benches
]}
EOF
echo "wrote $output"
exit $failed
