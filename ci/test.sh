#!/bin/bash
# What a change is tried with: installs what is missing, builds the dev preset, runs the tests that matter, in under 12 minutes on
# two processors.  With --all (which .ci/run gives) all tests: also long lists, fuzzers, planted bugs and the functions' accuracy.
# usage: ci/test.sh [--all] [CTEST ARGUMENTS]
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
choice=(-LE '^(long|full|fuzz|functions|mutation)$')
if [ "${1-}" = --all ]; then
	choice=()
	shift
fi
ci/setup.sh
ci/build.sh dev
ctest --test-dir build/dev -j "$(nproc)" --output-on-failure "${choice[@]}" "$@"
[ ${#choice[@]} -eq 0 ] || echo "long lists, fuzzers, planted bugs and the functions' accuracy: ci/test.sh --all"
