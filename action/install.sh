#!/usr/bin/env bash
# Puts the program in place and says where in the output `bin`: built from the action's checkout, or a release
# whose checksum holds. NDBG_RELEASES names another place of releases (https:// or file://), with a folder for each
# version that holds what release/build.sh writes.
set -euo pipefail

stop() {
  printf '::error title=ndbg-agent::%s\n' "$1"
  exit 2
}

if [ -n "${NDBG_AGENT_BIN:-}" ]; then
  bin=$NDBG_AGENT_BIN
elif [ "$NDBG_VERSION" = source ]; then
  command -v cargo >/dev/null 2>&1 || stop 'input `version` is `source`, and there is no cargo to build with'
  cargo build --release --locked --manifest-path "$NDBG_ACTION_PATH/Cargo.toml" --bin ndbg-agent
  bin=$NDBG_ACTION_PATH/target/release/ndbg-agent
else
  [[ $NDBG_VERSION =~ ^v[0-9]+\.[0-9]+\.[0-9]+$ ]] || stop 'input `version` is neither `source` nor of the form v1.2.3'
  case "$(uname -sm)" in
    'Linux x86_64') target=x86_64-unknown-linux-musl ;;
    *) stop "there is no release for $(uname -sm); input \`version\` can be \`source\`" ;;
  esac
  folder=${RUNNER_TEMP:?}/ndbg-agent-bin
  mkdir -p "$folder"
  name=ndbg-agent-$target.tar.gz
  releases=${NDBG_RELEASES:-https://github.com/${NDBG_ACTION_REPOSITORY:-}/releases/download}
  case "$releases" in
    https://github.com//*) stop 'a release needs the name of its repository; input `version` can be `source`' ;;
    https://* | file://*) ;;
    *) stop 'NDBG_RELEASES is neither https:// nor file://' ;;
  esac
  base=$releases/$NDBG_VERSION
  for file in "$name" "$name.sha256"; do
    curl --proto '=https,file' --proto-redir '=https' --fail --silent --show-error --location --retry 3 --output "$folder/$file" "$base/$file" ||
      stop "$base/$file cannot be fetched"
  done
  (cd "$folder" && sha256sum --check --status "$name.sha256") || stop "the checksum of $name does not hold"
  tar -xzf "$folder/$name" -C "$folder" ndbg-agent
  bin=$folder/ndbg-agent
fi
[ -x "$bin" ] || stop "$bin is no program"
printf 'bin=%s\n' "$bin" >>"$GITHUB_OUTPUT"
