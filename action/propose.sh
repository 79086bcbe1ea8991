#!/usr/bin/env bash
# propose.sh FOLDER BRANCH: checks the patch in FOLDER once more and opens a draft pull request against BRANCH.
# Nothing of the repository is run.
set -euo pipefail

folder=$(cd -- "$1" && pwd)
base=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
patch=$folder/patch.diff
body=$folder/pull-request.md

bash "$here/check-patch.sh" "$patch" "${NDBG_ALLOW_PATHS:-}"
head=ndbg-agent/fix-$(sha256sum "$patch" | cut -c1-12)
if git ls-remote --exit-code --heads "https://x-access-token:$GH_TOKEN@github.com/$GITHUB_REPOSITORY" "$head" >/dev/null; then
  printf '::notice title=ndbg-agent::this patch was proposed before: %s\n' "$head"
  exit 0
fi
# `git apply` passes over what lies outside of the folder that it is called in.
cd -- "$(git rev-parse --show-toplevel)"
git switch --quiet --create "$head"
git apply --index "$patch"
git -c user.name=ndbg-agent -c user.email=ndbg-agent@users.noreply.github.com \
  commit --quiet --message 'Fix failing tests'"$(printf '\n\n%s' 'Found by ndbg-agent, verified by test runs.')"
git push --quiet "https://x-access-token:$GH_TOKEN@github.com/$GITHUB_REPOSITORY" "$head"
gh pr create --draft --base "$base" --head "$head" \
  --title 'Fix failing tests (ndbg-agent)' --body-file "$body"
