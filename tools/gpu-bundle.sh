# What `./dev gpu-bundle` does: for a machine with a GPU and without Debian packages, all that the build needs beside CMake,
# ninja, nvcc and a LibTorch, in one file. Sourced by `dev`, after setup.sh.
# shellcheck shell=bash

# Of tools/debian.txt the libraries with what they need, less what comes with any g++. Boost is used by its headers only.
bundled_packages() {
  local closure=(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances)
  local wanted
  mapfile -t wanted < <(lines_of "$root/tools/debian.txt" | grep -E -- '-dev$|^protobuf-compiler$' |
    sed 's/^libboost-.*-dev$/libboost-dev/' | sort -u)
  comm -23 <("${closure[@]}" "${wanted[@]}" | grep -E '^[a-z0-9]' | sort -u) <("${closure[@]}" g++ | grep -E '^[a-z0-9]' | sort -u)
}

# gpu_bundle [FILE]: makes it.
gpu_bundle() {
  local file=${1:-$build/gpu-bundle.tar.gz} packages deb most=60000000 size
  folder=$(mktemp -d "$cache/gpu-bundle-XXXXXX")
  trap 'rm -rf "$folder"' EXIT
  mkdir -p "$(dirname "$file")" "$folder/debs" "$folder/bundle/text"
  mapfile -t packages < <(bundled_packages)
  ((${#packages[@]} > 0)) || die "apt-cache does not know the packages of tools/debian.txt: run apt-get update"
  say "bundle of ${packages[*]} ..."
  # As root, apt-get would download as a user of its own, who may not enter the cache.
  (cd "$folder/debs" && apt-get -qq -o APT::Sandbox::User="$(id -un)" download "${packages[@]}" >&2) || die "apt-get could not download the packages"
  for deb in "$folder"/debs/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -x -C "$folder/bundle" --no-same-owner --exclude='./usr/share/doc' \
      --exclude='./usr/share/man' --exclude='./usr/share/lintian' --exclude='./usr/share/bug' --exclude='./usr/src'
  done
  find "$folder/bundle" -type l -lname '/*' -delete  # into the system that this is unpacked on
  cp -r "$cache/text/shakespeare" "$folder/bundle/text/"
  tar -c -C "$folder/bundle" --sort=name --owner=0 --group=0 --mtime=@0 . | gzip -9n >"$file.part"
  size=$(stat -c %s "$file.part")
  ((size <= most)) || die "the bundle has $size bytes, more than $most"
  mv "$file.part" "$file"
  printf '%s\n' "$file"
  say "$((size / 1000000)) MB; on the machine with the GPU: put it into the repository's root and run ./dev gpu-check"
}
