#!/bin/bash
# Builds isl once more, of the version that Debian 12 has, with imath-32 in place of GMP: its integers are then machine words
# for as long as they fit, and compiling takes 0.6 to 0.7 of the time (bench/compile.sh). Results are the same. Prints the
# folder, which is made only if it is not there; ci/build.sh builds Heddle with it, and with Debian's libisl without it.
# usage: ci/isl.sh [FOLDER]      (default: $HEDDLE_ISL, or heddle/isl-0.25-2 in the user's cache)
# SPDX-License-Identifier: MIT
set -eu

version=0.25
build=2 # of ours: with other flags it is another one
sha256=be7b210647ccadf90a2f0b000fca11a4d40546374a850db67adb32fad4b230d9
folder=${1:-${HEDDLE_ISL:-${XDG_CACHE_HOME:-$HOME/.cache}/heddle/isl-$version-$build}}
if [ ! -e "$folder/lib/libisl.a" ]; then
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	cd "$work"
	python3 - "$sha256" "http://deb.debian.org/debian/pool/main/i/isl/isl_$version.orig.tar.xz" \
		"https://libisl.sourceforge.io/isl-$version.tar.xz" >&2 <<-'PY'
		import hashlib, sys, urllib.request
		for url in sys.argv[2:]:
		    try:
		        data = urllib.request.urlopen(url, timeout=60).read()
		    except OSError as error:
		        print(f"ci/isl.sh: {url}: {error}")
		        continue
		    if hashlib.sha256(data).hexdigest() == sys.argv[1]:
		        open("isl.tar.xz", "wb").write(data)
		        sys.exit(0)
		    print(f"ci/isl.sh: {url} is another file than the one that was looked at")
		sys.exit(1)
	PY
	tar -xf isl.tar.xz --strip-components=1
	{
		./configure --prefix="$folder" --with-int=imath-32 --disable-shared --enable-static --with-pic CFLAGS="-O3 -g1 -fno-semantic-interposition" &&
			make -j "$(nproc)" gitversion.h && make -j "$(nproc)" libisl.la &&
			make DESTDIR="$work/root" install-libLTLIBRARIES install-data-am
	} >log 2>&1 || {
		tail -20 log >&2
		exit 1
	}
	mkdir -p "$(dirname "$folder")"
	mv -T "$work/root$folder" "$folder" || [ -e "$folder/lib/libisl.a" ] # another may have been quicker
fi
echo "$folder"
