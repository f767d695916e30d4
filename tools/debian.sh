# The Debian packages of a list: by apt-get as root or with sudo; with neither, unpacked into the cache. Sourced by setup.sh.
# shellcheck shell=bash

# missing_of LIST: the packages of that file that the system lacks, one a line.
missing_of() {
  local wanted
  mapfile -t wanted < <(lines_of "$1")
  # `comm` on sorted lists; dpkg-query fails when it does not know a name, which is what is asked here.
  comm -23 <(printf '%s\n' "${wanted[@]}" | sort -u) \
    <({ dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true; } |
      sed -n 's/^installed //p' | sort -u)
}

# setup_debian LIST: sees to the packages of that file; `unpacked` says whether they lie in the cache.
setup_debian() {
  local missing stamp
  unpacked=
  mapfile -t missing < <(missing_of "$1")
  if ((${#missing[@]} == 0)); then return; fi

  # Not a word to sudo when an earlier run has unpacked what is missing.
  stamp=$(stamp_of "$system" "$(lines_of "$root"/tools/debian*.txt)")
  if [[ -e $debian/stamp-$stamp ]]; then
    unpacked=1
    return
  fi

  local as_root=()
  if ((EUID != 0)); then as_root=(sudo); fi
  if ((EUID == 0)) || { command -v sudo >/dev/null && { sudo -n true 2>/dev/null || { [[ -t 0 ]] && sudo -v; }; }; }; then
    say "Debian packages: ${missing[*]} ..."
    local log=$cache/apt-get.log
    # Without the lock: a daemon that a package starts must not hold it.
    {
      "${as_root[@]}" apt-get -qq update || echo "some package lists could not be read; going on with those at hand"
      "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -qq -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 install --yes --no-install-recommends "${missing[@]}"
    } >"$log" 2>&1 9>&- </dev/null || {
      tail -n 20 "$log" >&2
      die "apt-get could not install these packages; all that it said is in $log"
    }
  else
    unpack_debian "$stamp"
    unpacked=1
  fi
}

# Without root: every package of the lists, with all that it depends on, in one tree that compiles and links by itself. Taking
# only what the system lacks would mix two trees of headers, which the compiler's own #include_next does not survive.
unpack_debian() {
  say "Debian packages, unpacked into $debian since there is neither root nor sudo (about 1 GB) ..."
  local tree=$work/debian packages file
  mkdir -p "$work"/apt/{lists,cache/archives}/partial "$work/debs" "$tree/usr"/{bin,lib,lib64,sbin}
  : >"$work/apt/status"  # as if nothing were installed
  local apt=(apt-get -qq -o Debug::NoLocking=1 -o "Dir::State::lists=$work/apt/lists" -o "Dir::Cache=$work/apt/cache"
    -o "Dir::State::status=$work/apt/status")
  "${apt[@]}" update >&2 || die "apt-get could not read the package lists"
  mapfile -t packages < <(lines_of "$root"/tools/debian*.txt | xargs "${apt[@]}" -s --no-install-recommends install |
    sed -n 's/^Inst \([^ ]*\).*/\1/p')
  ((${#packages[@]} > 0)) || die "apt-get finds no way to the packages of tools/debian*.txt"
  (cd "$work/debs" && "${apt[@]}" download "${packages[@]}" >&2) || die "apt-get could not download the packages"

  for file in bin lib lib64 sbin; do ln -s "usr/$file" "$tree/$file"; done
  for file in "$work"/debs/*.deb; do
    dpkg-deb --fsys-tarfile "$file" | tar -x -C "$tree" --keep-directory-symlink --no-same-owner --exclude='./usr/share/doc' \
      --exclude='./dev' --exclude='./var'
  done
  # Links that start at / would leave the tree; what update-alternatives would link is not needed.
  find "$tree" -type l -lname '/*' -printf '%P\t%l\n' | while IFS=$'\t' read -r file target; do
    ln -sfn "$(realpath -ms --relative-to="$tree/$(dirname "$file")" "$tree$target")" "$tree/$file"
  done

  # Programs load from here what the system lacks; the system's own C library stays with its own loader.
  mkdir "$tree/load"
  local library
  for library in "$tree"/usr/lib/x86_64-linux-gnu/*.so*; do
    file=${library##*/}
    [[ -e /usr/lib/x86_64-linux-gnu/$file || -e /lib/x86_64-linux-gnu/$file ]] ||
      ln -s "../usr/lib/x86_64-linux-gnu/$file" "$tree/load/$file"
  done

  # Compilers that take headers and libraries from the tree, and let what they link find the libraries again.
  mkdir "$tree/tools"
  for file in gcc g++; do
    printf '#!/bin/sh\nexec "%s/usr/bin/%s" --sysroot="%s" -Wl,-rpath,"%s/load" "$@"\n' \
      "$debian" "$file" "$debian" "$debian" >"$tree/tools/$file"
    chmod +x "$tree/tools/$file"
  done
  touch "$tree/stamp-$1"
  replace_folder "$tree" "$debian"
}

# Puts the unpacked tree before the system's, if the last setup_debian, that for the build, needed it.
use_debian() {
  if [[ -z $unpacked ]]; then return; fi
  export PATH=$debian/tools:$debian/usr/bin:$PATH
  export LD_LIBRARY_PATH=$debian/load
  export CMAKE_PREFIX_PATH=$debian/usr
}
