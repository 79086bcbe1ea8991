#!/usr/bin/env bash
# check-patch.sh PATCH [GLOBS]: whether a patch may be published. It has to apply here, to be small, to change
# plain files that exist, and to leave alone tests, what configures them, and workflows; with GLOBS, one a line,
# every file has to match one of them. Nothing of the repository is run, and it does not matter in which of its
# folders this is.
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
# The patch is relative to the root of the repository, and `git apply` passes over what lies outside of the folder
# that it is called in.
[[ $patch == /* ]] || patch=$PWD/$patch
top=$(git rev-parse --show-toplevel) || refuse 'this is no git repository'
cd -- "$top"
[ "$(wc -c <"$patch")" -le 200000 ] || refuse 'it is larger than 200 kB'
git apply --check "$patch" || refuse 'it does not apply to this commit'
if [ -n "$(git apply --summary "$patch")" ]; then
  refuse 'it adds, removes or renames files, or changes modes'
fi
if grep -qE '^(GIT binary patch|Binary files )|^(new|old|deleted) (file )?mode |^index .* (120000|160000)$' "$patch"; then
  refuse 'it is binary, or touches links or submodules'
fi
allowed_globs=()
while read -r glob; do
  # `read` leaves out blanks at both ends, but no carriage return.
  glob=${glob%"${glob##*[![:space:]]}"}
  [ -z "$glob" ] || allowed_globs+=("$glob")
done <<<"$globs"
files=0
while IFS=$'\t' read -r -d '' added removed path; do
  files=$((files + 1))
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
  if [ "${#allowed_globs[@]}" -gt 0 ]; then
    allowed=false
    for glob in "${allowed_globs[@]}"; do
      # shellcheck disable=SC2053  # A pattern is what it is.
      if [[ $path == $glob ]]; then
        allowed=true
      fi
    done
    [ "$allowed" = true ] || refuse "\`$path\` is not among the paths that are allowed"
  fi
done < <(git apply --numstat -z "$patch")
[ "$files" -gt 0 ] || refuse 'it changes no file'
printf 'the patch may be published\n'
