#!/usr/bin/env bash
# Installs kurabe for the steps of a job. Prints the path of the program.
#   KURABE_PATH                  a program that is on the machine already
#   KURABE_URL, KURABE_SHA256    a static program to download, and the checksum that it must have
# Without either, kurabe must be in PATH. Needs bash, curl and sha256sum, which every runner has.
set -euo pipefail

fail() {
    printf 'kurabe: %s\nremedy: %s\n' "$1" "$2" >&2
    exit 1
}

if [ -n "${KURABE_PATH:-}" ]; then
    [ -x "$KURABE_PATH" ] || fail "$KURABE_PATH is not a program" "build kurabe in an earlier step, or set url and sha256"
    program=$(realpath "$KURABE_PATH")
elif [ -n "${KURABE_URL:-}" ]; then
    [ -n "${KURABE_SHA256:-}" ] || fail "the checksum of $KURABE_URL is missing" "set sha256 to the checksum that the release names"
    folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/kurabe.XXXXXX")
    program=$folder/kurabe
    trap 'rm -r "$folder"' EXIT
    curl --fail --silent --show-error --location --retry 3 --output "$program.part" "$KURABE_URL" ||
        fail "$KURABE_URL cannot be downloaded" "check the address"
    echo "$KURABE_SHA256  $program.part" | sha256sum --status --check ||
        fail "the download has another checksum than $KURABE_SHA256" "check url and sha256; nothing was installed"
    chmod +x "$program.part"
    mv "$program.part" "$program"
    trap - EXIT
else
    program=$(command -v kurabe) || fail "kurabe is not installed" "set url and sha256, or path"
fi
"$program" --version >&2 || fail "$program does not run here" "take a static program for this processor"
[ -z "${GITHUB_OUTPUT:-}" ] || echo "kurabe=$program" >> "$GITHUB_OUTPUT"
echo "$program"
