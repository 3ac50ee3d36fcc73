#!/bin/bash
# Everything a change must pass: installs what is missing, builds the dev preset, runs all tests.
# SPDX-License-Identifier: MIT
set -eu
cd "$(dirname "$0")/.."
ci/setup.sh
ci/build.sh dev
exec ctest --test-dir build/dev -j "$(nproc)" --output-on-failure "$@"
