#!/bin/bash
# On a machine with an NVIDIA GPU: tests and times every layer there, with a prebuilt program, and writes one JSON file.
# Needs neither isl nor a network; with nvcc it also measures copies and cuBLAS, with PyTorch the layers that both have.
#
#	ci/build.sh portable           before, on a machine with the development packages
#	ci/gpu.sh [FOLDER] [OUTPUT]    FOLDER: the build folder (build/portable); OUTPUT: bench/results/CARD-DATE.json
#
# HEDDLE_GPU_SECONDS is the time it may take in all (480): what is not done by then counts as failed and is named.
# HEDDLE_GPU_PARTS are its parts (peers,test,bench,large).  Tests of several layers run side by side; so do benches, which take
# turns where they time.
# Exit code 4 without a GPU or a program, 1 when a layer failed, 0 otherwise.
# SPDX-License-Identifier: MIT
set -u
cd "$(dirname "$0")/.."
folder=${1:-build/portable}
heddle=$folder/heddle
budget=${HEDDLE_GPU_SECONDS:-480}
parts=,${HEDDLE_GPU_PARTS:-peers,test,bench,large},
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
asks() { case $parts in *,$1,*) true ;; *) false ;; esac; }

# Runs a command that prints JSON into $work/NAME.json: null there when it printed none.  In $work/NAME.failed, when it
# failed, is what it said.
document() {
	local name=$1 limit
	shift
	limit=$(left)
	if [ "$limit" -le 0 ]; then
		echo "no time was left" >"$work/$name.failed"
	elif ! timeout "$limit" "$@" >"$work/$name.json" 2>"$work/$name.err"; then
		{ tail -5 "$work/$name.err"; tail -c 300 "$work/$name.json"; } >"$work/$name.failed"
	fi
	[ -s "$work/$name.json" ] || echo null >"$work/$name.json"
}

# Of a test's document without the rows that pass, thousands of them, where python3 is there.
without_passes() {
	python3 -c '
import json, sys
document = json.load(open(sys.argv[1]))
report = (document or {}).get("report")
if report:
    report["rows"] = [row for row in report["rows"] if row["verdict"] != "pass"]
    json.dump(document, open(sys.argv[1], "w"), indent=1)
' "$1" 2>/dev/null || true
}

# The documents of all names that begin so, in order, as the members of a JSON array.
members() {
	local first=1 file
	for file in "$work/$1"-*.json; do
		[ -e "$file" ] || continue
		[ $first = 1 ] || echo ,
		first=0
		cat "$file"
	done
}

# What is longest begins first.
layers=$(wc -l layers/*.tc examples/*.tc | sort -rn | awk '$2 != "total" { print $2 }')
named() { tr -c 'a-zA-Z0-9\n' _ <<<"$1"; }

# Runs its arguments in the background, as soon as fewer than $1 are running.
beside() {
	local most=$1
	shift
	while [ "$(jobs -rp | wc -l)" -ge "$most" ]; do wait -n; done
	"$@" &
}

if asks peers; then
	nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
	if [ -n "$nvcc" ] && "$nvcc" -O2 -o "$work/gpu_peers" bench/gpu_peers.cu -lcublas 2>"$work/nvcc.log"; then
		document peers "$work/gpu_peers"
	else
		echo "no nvcc or cuBLAS: copies and cuBLAS are not measured" >&2
	fi
	if python3 -c 'import torch' 2>/dev/null; then
		document torch python3 bench/gpu_torch.py
	else
		echo "no PyTorch: it is not measured" >&2
	fi
fi
if asks test; then
	for layer in $layers; do
		beside "$(nproc)" document "test-$(named "$layer")" "$heddle" test "$layer" -t "$target" --level device --json
	done
	wait
	for file in "$work"/test-*.json; do without_passes "$file"; done
	echo "tests done after $((SECONDS - started)) s"
fi
if asks bench; then
	for layer in $layers; do
		beside 8 document "bench-$(named "$layer")" "$heddle" bench "$layer" -t "$target" --rounds 1 --json
	done
	wait
	echo "benches done after $((SECONDS - started)) s"
fi
if asks large; then # sizes that fill a GPU, beside the layers' own, which a processor can do as well
	while read -r layer definition sizes; do
		beside 8 document "large-$definition-$(named "$sizes")" "$heddle" bench "layers/$layer.tc" --def "$definition" \
			-s "$sizes" -t "$target" --rounds 1 --json
	done <<'LARGE'
products matmul M=512,N=512,K=512
products matmul M=2048,N=2048,K=2048
products matmul M=4096,N=4096,K=4096
products matmul M=8192,N=8192,K=8192
products matmul M=128,N=128,K=65536
products matmul M=16,N=4096,K=4096
products matmul_tb M=4096,N=4096,K=4096
products batched_matmul B=64,M=512,N=512,K=512
half matmul_f16 M=4096,N=4096,K=4096
half matmul_f16_f32 M=4096,N=4096,K=4096
conv2d conv2d N=64,C=128,M=128,H=56,W=56
softmax softmax N=16384,D=4096
softmax softmax N=2048,D=65536
norm layernorm N=16384,D=4096
norm rmsnorm N=16384,D=4096
reductions sum_rows N=16384,D=8192
reductions sum_columns N=16384,D=8192
reductions sum_all N=16384,M=16384
permute transpose2d N=16384,M=16384
elementwise add N=268435456
elementwise bias_relu N=32768,D=8192
chain chain N=134217728
attention attention B=4,H=32,T=2048,S=2048,D=128
LARGE
	wait
	echo "large sizes done after $((SECONDS - started)) s"
fi

failed=0
for file in "$work"/*.failed; do
	[ -e "$file" ] || continue
	failed=1
	name=$(basename "$file" .failed)
	echo "FAILED $name:"
	sed 's/^/    /' "$file"
done
{
	echo "{\"card\": \"$card\", \"driver\": \"$driver\", \"date\": \"$date\", \"target\": \"$target\", \"failed\": $failed,"
	for peer in peers torch; do
		echo "\"$peer\":"
		cat "$work/$peer.json" 2>/dev/null || echo null
		echo ,
	done
	printf '"test": [\n%s\n],\n"bench": [\n%s\n],\n"large": [\n%s\n]}\n' "$(members test)" "$(members bench)" "$(members large)"
} >"$output"
echo "wrote $output after $((SECONDS - started)) s"
exit $failed
