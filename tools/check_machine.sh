#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Says in one sentence what this machine lacks for a build. usage: check_machine.sh PYTHON [JOBS]
python=$1

missing() {
  echo "make: expected $1, got $2; on Debian and Ubuntu: apt-get install $3" >&2
  exit 1
}

compiler=${CXX:-g++}
command -v "$compiler" >/dev/null 2>&1 || missing "a C++20 compiler (g++ 12 or newer)" "no $compiler" g++
# What the headers of kernels need and older compilers lack.
echo 'typedef int Four __attribute__((vector_size(16)));
constinit _Float16 x = 0;
int main() { return __builtin_shufflevector(Four{}, Four{}, 0, 4, 1, 5)[0] + static_cast<int>(x); }' |
  "$compiler" -std=c++20 -fsyntax-only -x c++ - 2>/dev/null ||
  missing "a C++20 compiler (g++ 12 or newer)" "$("$compiler" --version 2>&1 | head -n 1)" g++
[ -n "$python" ] && command -v "$python" >/dev/null 2>&1 ||
  missing "Python 3.11" "no python3" "python3 python3-venv python3-dev"
version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
[ "$version" = 3.11 ] ||
  missing "Python 3.11 (set PYTHON=/path/to/python3.11 if it has another name)" \
    "${version:-no answer from $python}" \
    "python3.11 python3.11-venv python3.11-dev"
"$python" -c 'import ensurepip, venv' 2>/dev/null ||
  missing "Python's venv module with ensurepip" "a Python without it" python3-venv
header=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')/Python.h
[ -f "$header" ] || missing "the headers of Python" "no $header" python3-dev
case ${2-1} in
  '' | *[!0-9]* | 0*)
    echo "make: expected a number of at least 1 as JOBS, got $2" >&2
    exit 1 ;;
esac
