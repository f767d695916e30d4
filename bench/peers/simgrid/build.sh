#!/bin/bash
# build.sh FOLDER: builds SimGrid 4.1 and the benchmark program sgbench into FOLDER (about 7 minutes, 200 MB). From PyPI's source
# package, against the system's Boost and Eigen. A folder that is complete is left as it is.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1
version=4.1
mkdir -p "$folder"
cd "$folder"

if [[ ! -e $folder/$version.built ]]; then
  for header in boost/version.hpp eigen3/Eigen/Core; do
    [[ -e /usr/include/$header ]] || {
      echo "SimGrid needs /usr/include/$header: apt-get install libboost-dev libboost-context-dev libeigen3-dev" >&2
      exit 1
    }
  done
  python3 -m venv --clear pip
  pip/bin/python -m pip --disable-pip-version-check download --quiet --no-deps --no-binary simgrid "simgrid==$version"
  rm -rf source build pip
  mkdir source
  tar -xzf "simgrid-$version.tar.gz" -C source --no-same-owner --strip-components=1
  cmake -G Ninja -S source -B build -DCMAKE_BUILD_TYPE=Release -Denable_smpi=OFF -Denable_python=OFF -Denable_documentation=OFF \
    -Denable_model-checking=OFF -Denable_lto=OFF >cmake.log
  ninja -C build simgrid
  touch "$version.built"
fi

if [[ ! -e sgbench || $here/sgbench.cpp -nt sgbench ]]; then
  ${CXX:-g++} -O2 -std=c++17 -Isource/include -Ibuild/include "$here/sgbench.cpp" -o sgbench -Lbuild/lib -lsimgrid \
    "-Wl,-rpath,$folder/build/lib"
fi
