#!/usr/bin/env bash
# Runs `fix`, and says what came of it in outputs, annotations and the step summary. Inputs arrive in variables
# only, so that none of them is ever read as a command.
set -euo pipefail

report_error() {
  # Inputs could pretend to be commands of the runner.
  local text=${1//'%'/%25}
  text=${text//$'\r'/%0D}
  printf '::error title=ndbg-agent::%s\n' "${text//$'\n'/%0A}"
}
stop() {
  report_error "$1"
  printf 'outcome=usage\n' >>"$GITHUB_OUTPUT"
  exit 2
}
# Lines without the blanks at both ends, carriage returns among them, and none that is empty.
lines() {
  local line
  while read -r line; do
    # `read` leaves out blanks at both ends, but no carriage return.
    line=${line%"${line##*[![:space:]]}"}
    [ -z "$line" ] || printf '%s\n' "$line"
  done <<<"$1"
}

case "$NDBG_PLANNER" in
  search) ;;
  llm | auto) [ -n "$NDBG_MODEL" ] || stop "input \`model\` is needed with the planner \`$NDBG_PLANNER\`" ;;
  *) stop "input \`planner\` is search, llm or auto, not \`$NDBG_PLANNER\`" ;;
esac
[[ $NDBG_MAX_TIME =~ ^0*[1-9][0-9]{0,8}$ ]] || stop 'input `max-time` is no whole number of seconds from 1 on'
[[ $NDBG_MAX_COST =~ ^[0-9]+(\.[0-9]+)?$ ]] || stop 'input `max-cost` is no amount'
[ -d "$NDBG_REPO_PATH" ] || stop "input \`repo-path\`: there is no folder \`$NDBG_REPO_PATH\`"

# A folder of its own for every run: the action may be used several times in a job, and no run may pass on what
# another one left.
mkdir -p "${RUNNER_TEMP:?}/ndbg-agent"
run_dir=$(mktemp -d "$RUNNER_TEMP/ndbg-agent/run-XXXXXXXX")
args=(fix --repo "$NDBG_REPO_PATH" --out "$run_dir" --max-time "$NDBG_MAX_TIME" --planner "$NDBG_PLANNER")
[ -z "$NDBG_PYTHON" ] || args+=(--python "$NDBG_PYTHON")
while IFS= read -r test; do
  args+=(--test="$test")
done < <(lines "$NDBG_TEST")
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

patch=$run_dir/patch.diff
refused=''
if [ -s "$patch" ] && [ -n "$(lines "$NDBG_ALLOW_PATHS")" ]; then
  (cd -- "$NDBG_REPO_PATH" && bash "$NDBG_ACTION_PATH/action/check-patch.sh" "$patch" "$NDBG_ALLOW_PATHS") ||
    refused='a patch was verified, but input `allow-paths` does not let it be used'
fi

if [ -s "$run_dir/events.jsonl" ]; then
  "$NDBG_BIN" report "$run_dir" --format outputs >>"$GITHUB_OUTPUT"
  if [ -n "$refused" ]; then
    # The last value of an output holds. Whoever looks at one of them only must not use the patch.
    printf '%s\n' outcome=not_fixed patch-file= changed-files= "summary=$refused" >>"$GITHUB_OUTPUT"
  elif [ -s "$patch" ]; then
    "$NDBG_BIN" report "$run_dir" --format pull-request >"$run_dir/pull-request.md"
    printf 'pr-body-file=%s\n' "$run_dir/pull-request.md" >>"$GITHUB_OUTPUT"
  fi
  if [ "$NDBG_CREATE_REPORT" = true ]; then
    if [ -n "$refused" ]; then
      printf '> **Refused:** %s.\n\n' "$refused" >>"$GITHUB_STEP_SUMMARY"
    else
      "$NDBG_BIN" report "$run_dir" --format annotations
    fi
    "$NDBG_BIN" report "$run_dir" --format summary >>"$GITHUB_STEP_SUMMARY"
  fi
else
  # It ended before there was anything to report.
  case "$code" in
    2) outcome=usage ;;
    130) outcome=interrupted ;;
    *) outcome=environment ;;
  esac
  printf 'outcome=%s\n' "$outcome" >>"$GITHUB_OUTPUT"
  report_error "it ended with $code before there was anything to report; the log says why"
fi
if [ -n "$refused" ]; then
  report_error "$refused"
  exit 2
fi
case "$code" in
  # Fixed, not fixed, nothing to fix, flaky, over the budget: the output `outcome` says which.
  0 | 1 | 3 | 5 | 6) exit 0 ;;
  *) exit "$code" ;;
esac
