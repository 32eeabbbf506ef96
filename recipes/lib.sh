# What the recipes share: `. lib.sh` in each. POSIX shell.
#
# A recipe runs in a mount name space of its own, so nobody else sees its mounts, and they go with it whatever happens. What it
# keeps is in a folder in memory: the store of kurabe's runs, images, repositories. Of the user's it touches nothing.

set -eu
export LC_ALL=C

kurabe=${KURABE:-kurabe}
recipe=${0##*/}
scratch='' figures='' contradicted=0 attachments=0
# The least share of answers in time, in percent, of what was detached. With more than one in twenty late, what is measured is
# this machine and not the model, and nothing is judged.
least_in_time=100 enough_in_time=95

say() { printf '\n== %s\n' "$*"; }

fail() {
    printf '%s: %s\n' "$recipe" "$*" >&2
    exit 2
}

# need PROGRAM PACKAGE
need() {
    command -v "$1" > /dev/null || fail "$1 is missing: apt-get install $2, or what has it here"
}

# Begins anew in a mount name space of its own, with what every recipe needs.
begin() {
    [ "$(id -u)" -eq 0 ] || fail "it makes block devices and mounts: run it as root"
    need unshare util-linux
    need losetup mount
    need awk mawk
    command -v "$kurabe" > /dev/null || fail "kurabe is not in PATH; KURABE=/path/to/kurabe names it"
    [ -e /dev/fuse ] || fail "/dev/fuse is missing: modprobe fuse"
    if [ -z "${KURABE_RECIPE_ALONE:-}" ]; then
        KURABE_RECIPE_ALONE=yes exec unshare --mount --propagation slave -- "$0" "$@"
    fi
    scratch=$(mktemp -d "${TMPDIR:-/tmp}/recipe.XXXXXX")
    exec 3>&2
    trap clean_up EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    mount -t tmpfs -o mode=700 "$recipe" "$scratch"
    export KURABE_DB="$scratch/kurabe.db"
}

# Whoever was just stopped lets go of a thing a moment later.
patiently() {
    patience=50
    until "$@" 2> /dev/null; do
        patience=$((patience - 1))
        [ "$patience" -gt 0 ] || { "$@"; return; }
        sleep 0.1
    done
}

# Takes everything away again, whatever of it there is: what is mounted, and what is attached, is looked up, because a signal
# can come before a name of it is kept.
clean_up() {
    status=$?
    trap '' HUP INT TERM
    set +e
    stop_own
    for point in $(awk -v below="$scratch/" 'index($2, below) == 1 { print $2 }' /proc/self/mounts | sort -r); do
        patiently umount "$point"
    done
    for node in $(cat "$scratch"/attached.*); do
        for upper in $(losetup --associated "$node" --noheadings --output NAME); do patiently losetup --detach "$upper"; done
    done
    for list in "$scratch"/attached.*; do
        node=$(head -n 1 "$list")
        losetup "$node" || continue
        patiently "$kurabe" detach "$node" || printf '%s: %s is still there: kurabe detach %s\n' "$recipe" "$node" "$node" >&3
    done
    cd /
    umount -l "$scratch"
    rmdir "$scratch"
    exit "$status"
} > /dev/null 2>&1

# A recipe that starts more than this says here how that is stopped.
stop_own() { :; }

# attach WORDS…: what `kurabe attach` is given; the devices, one a line, are in $attached.
attach() {
    attachments=$((attachments + 1))
    "$kurabe" attach --quiet "$@" > "$scratch/attached.$attachments" 2> "$scratch/attach.log" || {
        cat "$scratch/attach.log" >&2
        fail "kurabe attach $* did not work"
    }
    attached=$(cat "$scratch/attached.$attachments")
}

# detach DEVICE: takes it away before the end, and says how well it kept its time.
detach() {
    patiently "$kurabe" detach "$1" > "$scratch/detached"
    sed -n 's/^  in time /   in time/p' "$scratch/detached"
    least_in_time=$(awk -v least="$least_in_time" '
        $1 == "in" && $2 == "time" && $3 + 0 < least { least = $3 + 0 } END { print least }' "$scratch/detached")
    rm "$(grep -lx "$1" "$scratch"/attached.*)"
}

now_ns() { date +%s%N; }

# timed PROGRAM WORDS…: its time in ms is in $took_ms.
timed() {
    began_ns=$(now_ns)
    "$@" || fail "failed: $*"
    took_ms=$((($(now_ns) - began_ns) / 1000000))
}

# Columns of `kurabe export --format csv`.
csv_rate=rate_bytes_per_s csv_elapsed_ns=elapsed_ns csv_derived=derived
# Finds a column by its name, and counts it from the end of a line, because names before it may contain commas.
csv_column='{ sub(/\r$/, "") } NR == 1 { for (field = 1; field <= NF; field++) if ($field == column) from_end = NF - field }'

# virtual COLUMN WORDS…: the last figure in a column of what `kurabe run` of a model gives.
virtual() {
    column=$1
    shift
    "$kurabe" run --quiet "$@" > "$scratch/run.log" 2>&1 || { cat "$scratch/run.log" >&2; fail "kurabe run $* failed"; }
    "$kurabe" export --quiet --format csv | awk -F, -v column="$column" "$csv_column"'
        NR > 1 && $(NF - from_end) != "" { last = $(NF - from_end) }
        END { print last }'
}

# ratio A B
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f\n", (b > 0 ? a / b : 0) }'; }

# Whether so many answers of a model were late that nothing is judged.
was_late() { awk -v in_time="$least_in_time" -v enough="$enough_in_time" 'BEGIN { exit !(in_time < enough) }'; }

# compare WHAT SERVED VIRTUAL: two ratios, in real and in virtual time. Within a quarter of 1 none has a direction.
compare() {
    late=0
    if was_late; then late=1; fi
    direction=$(awk -v real="$2" -v virtual="$3" -v late="$late" '
        function side(ratio) { return ratio > 1.25 ? 1 : ratio < 0.8 ? -1 : 0 }
        BEGIN {
            if (side(virtual) == 0) print "no direction in virtual time"
            else if (late) print "not judged"
            else if (side(real) == 0) print "not clear here"
            else if (side(real) == side(virtual)) print "the same direction"
            else print "THE OTHER DIRECTION"
        }')
    [ "$direction" != "THE OTHER DIRECTION" ] || contradicted=1
    figures="$figures$(printf '%-52s %8s %8s   %s' "$1" "$2" "$3" "$direction")
"
}

# The table of all that was compared, and the last line.
conclude() {
    say "how many times as much: served in real time, and in virtual time"
    printf '%-52s %8s %8s\n%s' '' served virtual "$figures"
    if was_late; then
        printf '\nNot judged: only %s %% of the answers of a model were in time, as this machine did much else. Try again when it is idle.\n' \
            "$least_in_time"
    elif [ "$contradicted" -eq 0 ]; then
        printf '\nNo verdict is the other way round in real time.\n'
    else
        printf '\nA verdict is the other way round in real time.\n'
    fi
}
