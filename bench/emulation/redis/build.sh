#!/bin/sh
# Builds Redis in this folder with $CC, all anew; its libraries with clang.
make -C deps distclean > /dev/null 2>&1
make -C src distclean > /dev/null 2>&1
make -C deps CC=clang-19 hiredis lua linenoise geohash-int > /dev/null 2>&1 || exit 1
exec make -C src -j2 MALLOC=libc CC="$CC" redis-server redis-benchmark redis-cli
