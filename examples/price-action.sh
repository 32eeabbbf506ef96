#!/usr/bin/env bash
# Prices $KURABE_RUN for the GitHub Action of this repository: adds the table to the summary of the job and keeps the bill.
set -euo pipefail

kurabe=${KURABE:-kurabe}
# A new directory for each step, because kurabe overwrites nothing. It stays: the bill is the output of the step.
results=$(mktemp -d "${RUNNER_TEMP:-/tmp}/kurabe-price.XXXXXX")
bill=$results/bill.json
table=$results/bill.md
words=(price --panel "${KURABE_PANEL:-everyday}" --save "$bill" --markdown "$table")
[ -z "${KURABE_BUDGET:-}" ] || words+=(--budget "$KURABE_BUDGET")
# On the base branch itself there is no bill before.
if [ -n "${KURABE_BASE:-}" ] && [ -e "$KURABE_BASE" ]; then
    words+=(--against "$KURABE_BASE")
    [ -z "${KURABE_FAIL_ON:-}" ] || words+=(--fail-on "$KURABE_FAIL_ON")
fi

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo --preserve-env=PATH)
status=0
for path in ${KURABE_WITH:-}; do words+=(--with "$path"); done
"${as_root[@]}" "$kurabe" "${words[@]}" -- sh -c "$KURABE_RUN" || status=$?
[ ! -e "$table" ] || cat "$table" >> "${GITHUB_STEP_SUMMARY:-/dev/null}"
[ ! -e "$bill" ] || printf 'bill=%s\ntable=%s\n' "$bill" "$table" >> "${GITHUB_OUTPUT:-/dev/null}"
exit "$status"
