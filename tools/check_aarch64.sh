#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Says in one sentence what this machine lacks for `make test-aarch64`.
missing() {
  echo "make: expected $1, got none; on Debian and Ubuntu: apt-get install $2" >&2
  exit 1
}

command -v aarch64-linux-gnu-g++ >/dev/null 2>&1 ||
  missing "a cross compiler for aarch64 (aarch64-linux-gnu-g++)" g++-aarch64-linux-gnu
command -v qemu-aarch64 >/dev/null 2>&1 ||
  missing "the emulator qemu-aarch64" qemu-user
[ -e /usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1 ] ||
  missing "the C library of aarch64 in /usr/aarch64-linux-gnu" libc6-dev-arm64-cross
