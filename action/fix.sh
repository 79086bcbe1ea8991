#!/usr/bin/env bash
# Runs `fix`, and says what came of it in outputs, annotations and the step summary. Inputs arrive in variables
# only, so that none of them is ever read as a command.
set -euo pipefail

stop() {
  # Inputs could pretend to be commands of the runner.
  local text=${1//'%'/%25}
  text=${text//$'\r'/%0D}
  printf '::error title=ndbg-agent::%s\n' "${text//$'\n'/%0A}"
  exit 2
}

case "$NDBG_PLANNER" in
  search) ;;
  llm | auto) [ -n "$NDBG_MODEL" ] || stop "input \`model\` is needed with the planner \`$NDBG_PLANNER\`" ;;
  *) stop "input \`planner\` is search, llm or auto, not \`$NDBG_PLANNER\`" ;;
esac
[[ $NDBG_MAX_TIME =~ ^[0-9]+$ ]] || stop 'input `max-time` is no whole number of seconds'
[[ $NDBG_MAX_COST =~ ^[0-9]+(\.[0-9]+)?$ ]] || stop 'input `max-cost` is no amount'
[ -d "$NDBG_REPO_PATH" ] || stop "input \`repo-path\`: there is no folder \`$NDBG_REPO_PATH\`"

run_dir=${RUNNER_TEMP:?}/ndbg-agent/run
mkdir -p "$run_dir"
args=(fix --repo "$NDBG_REPO_PATH" --out "$run_dir" --max-time "$NDBG_MAX_TIME" --planner "$NDBG_PLANNER")
[ -z "$NDBG_PYTHON" ] || args+=(--python "$NDBG_PYTHON")
while IFS= read -r test; do
  [ -z "$test" ] || args+=(--test="$test")
done <<<"$NDBG_TEST"
if [ "$NDBG_PLANNER" != search ]; then
  args+=(--model "$NDBG_MODEL" --max-cost "$NDBG_MAX_COST")
  [ -z "$NDBG_BASE_URL" ] || args+=(--base-url "$NDBG_BASE_URL")
fi
if [ -n "$NDBG_KEY" ]; then
  # The provider's own variable; a server of one's own has another.
  variable=NDBG_API_KEY
  if [ -z "$NDBG_BASE_URL" ]; then
    case "$NDBG_MODEL" in
      anthropic/*) variable=ANTHROPIC_API_KEY ;;
      openai/* | openai-responses/*) variable=OPENAI_API_KEY ;;
      gemini/*) variable=GEMINI_API_KEY ;;
      openrouter/*) variable=OPENROUTER_API_KEY ;;
      azure/*) variable=AZURE_OPENAI_API_KEY ;;
    esac
  fi
  export "$variable=$NDBG_KEY"
fi
unset NDBG_KEY

code=0
"$NDBG_BIN" "${args[@]}" >/dev/null || code=$?

if [ -f "$run_dir/events.jsonl" ]; then
  "$NDBG_BIN" report "$run_dir" --format outputs >>"$GITHUB_OUTPUT"
  if [ -s "$run_dir/patch.diff" ]; then
    "$NDBG_BIN" report "$run_dir" --format pull-request >"$run_dir/pull-request.md"
    printf 'pr-body-file=%s\n' "$run_dir/pull-request.md" >>"$GITHUB_OUTPUT"
  fi
  if [ "$NDBG_CREATE_REPORT" = true ]; then
    "$NDBG_BIN" report "$run_dir" --format annotations
    "$NDBG_BIN" report "$run_dir" --format summary >>"$GITHUB_STEP_SUMMARY"
  fi
fi
if [ -s "$run_dir/patch.diff" ] && [ -n "$NDBG_ALLOW_PATHS" ]; then
  # Globs and the diff are relative to the root of the repository.
  (cd "$(git -C "$NDBG_REPO_PATH" rev-parse --show-toplevel)" &&
    bash "$NDBG_ACTION_PATH/action/check-patch.sh" "$run_dir/patch.diff" "$NDBG_ALLOW_PATHS") ||
    stop 'the verified patch changes files outside of input `allow-paths`'
fi
case "$code" in
  # Fixed, not fixed, nothing to fix, flaky, over the budget: the output `outcome` says which.
  0 | 1 | 3 | 5 | 6) exit 0 ;;
  *) exit "$code" ;;
esac
