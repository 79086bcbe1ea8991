#!/usr/bin/env bash
# release/build.sh [--target TRIPLE] [--binary PATH [--not-static]] [--out DIR]: a static Linux program with its
# completions, manual pages, licences and the action, as DIR/ndbg-agent-TRIPLE.tar.gz with a checksum beside it. These
# are the names that action/install.sh fetches.
#
# --target      x86_64-unknown-linux-musl where the toolchain has its standard library, else
#               x86_64-unknown-linux-gnu with the C library linked in. The action fetches the first.
# --binary      packs this program and builds none.
# --not-static  with --binary: packs it even where it is no static program, for tests; such an archive is no release.
# --out         target/release-files by default.
# --help        this text.
#
# Needs GNU tar, gzip, binutils and coreutils; to build, cargo and a C compiler (musl-gcc for musl). The archive is
# the same for the same commit, program and gzip, whoever makes it: times come from SOURCE_DATE_EPOCH, or from the
# commit.
set -euo pipefail
export LC_ALL=C

stop() {
  printf 'error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
  exit 2
}
say() { printf '%s\n' "$1" >&2; }
# The comment at the head of this file.
show_help() { sed -n -e '1d' -e '/^#/!q' -e 's/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
musl=x86_64-unknown-linux-musl
gnu=x86_64-unknown-linux-gnu
target='' binary='' static_only=true out=$root/target/release-files
while [ $# -gt 0 ]; do
  case "$1" in
    --target | --binary | --out)
      [ $# -ge 2 ] || stop "$1 needs a value"
      case "$1" in
        --target) target=$2 ;;
        --binary) binary=$2 ;;
        --out) out=$2 ;;
      esac
      shift 2
      ;;
    --not-static)
      static_only=false
      shift
      ;;
    -h | --help)
      show_help
      exit 0
      ;;
    *) stop "there is no argument $1" 'release/build.sh --help says which there are' ;;
  esac
done
[ "$static_only" = true ] || [ -n "$binary" ] || stop '--not-static goes with --binary only'

has_std() { [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ]; }

if [ -z "$target" ]; then
  target=$musl
  if [ -z "$binary" ] && ! has_std "$musl"; then
    target=$gnu
    say "no standard library for $musl here: this is $gnu with the C library linked in"
  fi
fi
case "$target" in
  "$musl" | "$gnu") ;;
  *) stop "no release is made for $target" "the targets are $musl and $gnu" ;;
esac

is_elf() { [ "$(head -c 4 "$1" | tr -d '\0')" = $'\x7fELF' ]; }
# Whether a program needs no loader and no library. `ldd` would run it; this reads.
is_static() {
  local headers libraries
  is_elf "$1" || return 1
  headers=$(readelf --program-headers --wide "$1") || return 1
  libraries=$(readelf --dynamic --wide "$1") || return 1
  [[ $headers != *' INTERP '* && $libraries != *'(NEEDED)'* ]]
}

if [ -z "$binary" ]; then
  has_std "$target" || stop "the toolchain has no standard library for $target" "rustup target add $target"
  case "$target" in
    "$musl")
      command -v musl-gcc >/dev/null 2>&1 ||
        stop 'there is no musl-gcc for the parts that are C' 'install the package musl-tools'
      ;;
    "$gnu")
      [ -f "$("${CC:-cc}" -print-file-name=libc.a)" ] ||
        stop 'there is no libc.a to link in' 'install the package libc6-dev'
      ;;
  esac
  # No path of this machine in the program.
  cargo_home=${CARGO_HOME:-$HOME/.cargo}
  flags=(-Ctarget-feature=+crt-static "--remap-path-prefix=$root=." "--remap-path-prefix=$cargo_home=cargo")
  CARGO_ENCODED_RUSTFLAGS=$(IFS=$'\x1f' && printf '%s' "${flags[*]}") \
    CFLAGS="${CFLAGS:-} -ffile-prefix-map=$cargo_home=cargo" \
    cargo build --release --locked --manifest-path "$root/Cargo.toml" --target-dir "$root/target" \
    --target "$target" --bin ndbg-agent
  binary=$root/target/$target/release/ndbg-agent
fi
{ [ -f "$binary" ] && [ -x "$binary" ]; } || stop "$binary is no program"
if [ "$static_only" = true ] && ! is_static "$binary"; then
  stop "$binary is no static program, and an archive of that name has to hold one" \
    'build without --binary, or say --not-static if nobody is to install it'
fi

if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
  SOURCE_DATE_EPOCH=$(git -C "$root" log -1 --format=%ct) ||
    stop 'the time of the files is not known' 'run in a git checkout, or set SOURCE_DATE_EPOCH'
fi
[[ $SOURCE_DATE_EPOCH =~ ^[0-9]+$ ]] || stop 'SOURCE_DATE_EPOCH is no number of seconds'
case "$(tar --version)" in
  *'GNU tar'*) ;;
  *) stop 'this needs GNU tar' ;;
esac

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
cp "$binary" "$stage/ndbg-agent"
chmod 755 "$stage/ndbg-agent"
if is_elf "$binary"; then
  strip --strip-all "$stage/ndbg-agent"
fi
mkdir -p "$stage/completions" "$stage/man/man1" "$stage/action"
for shell in bash:ndbg-agent.bash zsh:_ndbg-agent fish:ndbg-agent.fish elvish:ndbg-agent.elv \
  powershell:_ndbg-agent.ps1; do
  "$stage/ndbg-agent" completions "${shell%%:*}" >"$stage/completions/${shell#*:}"
done
"$stage/ndbg-agent" man --out "$stage/man/man1" 2>/dev/null
cp "$root"/{README.md,CHANGELOG.md,LICENSE,LICENSE-APACHE,LICENSE-MIT,action.yml} "$stage"
cp "$root"/action/*.sh "$stage/action"

name=ndbg-agent-$target.tar.gz
mkdir -p "$out" || stop "the folder $out cannot be made"
(cd "$stage" && tar --create --file - --format=ustar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
  --numeric-owner --mode='u=rwX,go=rX' -- *) | gzip --no-name >"$out/$name"
(cd "$out" && sha256sum "$name" >"$name.sha256")
say "$("$stage/ndbg-agent" --version), $target: $(wc -c <"$stage/ndbg-agent") bytes, packed $(wc -c <"$out/$name")"
printf '%s\n' "$out/$name"
