#!/usr/bin/env bash
# Installs what building neap needs and is missing; safe to run again.
#
# On Debian 12: LLVM/MLIR 22 and the rest through apt, `just` beside cargo.
# Elsewhere: says what to install; LLVM_PREFIX points at any LLVM/MLIR 22.
set -euo pipefail
cd "$(dirname "$0")"

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "cannot install packages: run as root, or install sudo"
  fi
}

# --- Rust -----------------------------------------------------------------------------------------------------------
rust_needed=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
command -v cargo >/dev/null || die "cargo is missing: install Rust $rust_needed or newer with rustup"
rust_found=$(rustc --version | cut -d' ' -f2)
[ "$(printf '%s\n' "$rust_needed" "$rust_found" | sort -V | head -n1)" = "$rust_needed" ] ||
  die "Rust $rust_found is too old: install $rust_needed or newer (rustup update stable)"
command -v python3 >/dev/null || die "python3 is missing: install it"

# --- LLVM and MLIR 22, a C++ compiler, and the libraries LLVM links --------------------------------------------------
prefix=${LLVM_PREFIX:-/usr/lib/llvm-22}
packages=(g++ cmake zlib1g-dev libzstd-dev python3-venv)
if [ -z "${LLVM_PREFIX:-}" ]; then
  packages+=(llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools lld-22 libclang-22-dev libpolly-22-dev)
fi

if command -v apt-get >/dev/null; then
  missing=()
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    say "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get update -qq
    for package in "${missing[@]}"; do
      apt-cache show "$package" >/dev/null 2>&1 ||
        die "this system's packages have no $package: install LLVM/MLIR 22 another way and set LLVM_PREFIX to its folder"
    done
    as_root apt-get install -qq -y --no-install-recommends "${missing[@]}" </dev/null
  fi
fi

[ -x "$prefix/bin/llvm-config" ] ||
  die "there is no LLVM in $prefix: install LLVM and MLIR 22 with their static libraries, libclang, a C++17 compiler, zlib and zstd, and set LLVM_PREFIX to LLVM's folder"
version=$("$prefix/bin/llvm-config" --version)
case $version in
  22.*) ;;
  *) die "$prefix holds LLVM $version, but neap needs 22: set LLVM_PREFIX to an LLVM/MLIR 22" ;;
esac
for tool in mlir-tblgen FileCheck; do
  [ -x "$prefix/bin/$tool" ] || die "$prefix/bin/$tool is missing: install all of LLVM/MLIR 22's tools"
done
ls "$prefix"/lib/libMLIRIR.a >/dev/null 2>&1 || die "$prefix/lib has no static MLIR libraries (libMLIRIR.a): install them"
say "LLVM/MLIR $version in $prefix"

# --- just -----------------------------------------------------------------------------------------------------------
if ! command -v just >/dev/null; then
  # The prebuilt program comes as a Python wheel, in seconds; building it with cargo is the way where there is none.
  say "installing just"
  bin=$(dirname "$(command -v cargo)")
  [ -w "$bin" ] || bin="${CARGO_HOME:-$HOME/.cargo}/bin"
  mkdir -p "$bin"
  venv=$(mktemp -d)
  trap 'rm -rf "$venv"' EXIT
  if python3 -m venv "$venv" && "$venv/bin/pip" install -q --only-binary :all: rust-just==1.59.0; then
    install -m 755 "$venv/bin/just" "$bin/just"
  else
    cargo install --locked just
  fi
  command -v just >/dev/null || die "just is in $bin, which is not on PATH: add it"
fi
say "$(just --version)"
say "ready: try \`just demo\` or \`just test\`"
