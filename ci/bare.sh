#!/bin/bash
# Tries the tar.gz and the Debian package where nothing is installed: in root file systems made by debootstrap; the example's
# workflow in those of the release that it names.  As root.
# usage: ci/bare.sh [SUITE[=MIRROR]...]     (default: bookworm trixie)
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."

if ! command -v debootstrap >/dev/null; then
	echo "ci/bare.sh: debootstrap is missing: apt-get install debootstrap" >&2
	exit 4
fi
[ $# -gt 0 ] || set -- bookworm trixie
folder=${HEDDLE_ROOTS:-$PWD/build/roots}
mkdir -p "$folder"
roots=()
for suite in "$@"; do
	mirror=http://deb.debian.org/debian
	[[ $suite != *=* ]] || mirror=${suite#*=}
	root=$folder/${suite%%=*}
	if [ ! -e "$root/.complete" ]; then
		rm -rf "$root"
		debootstrap --variant=minbase "${suite%%=*}" "$root" "$mirror" >"$root.log" 2>&1 || { tail -5 "$root.log" >&2; exit 4; }
		touch "$root/.complete"
	fi
	roots+=("$root")
done
ci/build.sh portable
HEDDLE_TEST_ROOTS="${roots[*]}" python3 tests/cli/package_test.py . build/portable
HEDDLE_TEST_ROOTS="${roots[*]}" python3 tests/cli/workflow_test.py . "$PWD/build/portable" Workflow.test_bare_roots
