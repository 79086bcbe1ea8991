#!/usr/bin/env bash
# check-patch.sh PATCH [GLOBS]: whether a patch may be published. It has to apply here, to be small, to change
# plain files that exist, and to leave alone tests, what configures them, and workflows; with GLOBS, one a line,
# every file has to match one of them. Nothing of the repository is run.
set -euo pipefail
shopt -s extglob globstar

patch=$1
globs=${2:-}
refuse() {
  # Names of files could pretend to be commands of the runner.
  local text=${1//'%'/%25}
  text=${text//$'\r'/%0D}
  printf '::error title=ndbg-agent::patch refused: %s\n' "${text//$'\n'/%0A}"
  exit 1
}

[ -s "$patch" ] || refuse 'it is empty'
[ "$(wc -c <"$patch")" -le 200000 ] || refuse 'it is larger than 200 kB'
git apply --check "$patch" || refuse 'it does not apply to this commit'
if [ -n "$(git apply --summary "$patch")" ]; then
  refuse 'it adds, removes or renames files, or changes modes'
fi
if grep -qE '^(GIT binary patch|Binary files )|^(new|old|deleted) (file )?mode |^index .* (120000|160000)$' "$patch"; then
  refuse 'it is binary, or touches links or submodules'
fi
while IFS=$'\t' read -r -d '' added removed path; do
  [ "$added" != - ] && [ "$removed" != - ] || refuse "\`$path\` is binary"
  mode=$(git ls-files --stage -- ":(top,literal)$path" | cut -d' ' -f1)
  case "$mode" in
    100644 | 100755) ;;
    *) refuse "\`$path\` is no tracked plain file" ;;
  esac
  name=${path##*/}
  [[ $name == *.py ]] || refuse "\`$path\` is no Python file"
  case "/${path,,}" in
    */.*/* | */tests/* | */test/* | */testing/* | */*_tests/* | */tests_*/*) refuse "\`$path\` is protected" ;;
  esac
  case "$name" in
    conftest.py | setup.py | noxfile.py | sitecustomize.py | usercustomize.py | test.py | tests.py | \
      test_*.py | *_test.py) refuse "\`$path\` is protected" ;;
  esac
  if [ -n "$globs" ]; then
    allowed=false
    while IFS= read -r glob; do
      # shellcheck disable=SC2053  # A pattern is what it is.
      if [ -n "$glob" ] && [[ $path == $glob ]]; then
        allowed=true
      fi
    done <<<"$globs"
    [ "$allowed" = true ] || refuse "\`$path\` is not among the paths that are allowed"
  fi
done < <(git apply --numstat -z "$patch")
printf 'the patch may be published\n'
