#!/bin/sh
# The article on a RAID card with SSDs, here. First md's RAID 0 over served X25-M, by their number and by strip, with the layer `md` in
# virtual time beside it (`md.sh`). Then, if a disk image of a system is named, how long that system takes to start in QEMU from a hard
# disk, from one X25-M and from the card with four, in turns; the image is only read.
#
#     sudo recipes/raid-card.sh                           some 15 minutes; needs a kernel with md and the nbd driver, and mdadm
#     sudo STRIPS=64 MEMBERS=2 recipes/raid-card.sh       one array
#     sudo PARTS=start IMAGE=system.raw recipes/raid-card.sh
#     sudo PARTS=start IMAGE=system.raw MARKER='Welcome' ROUNDS=5 recipes/raid-card.sh   until that is on its serial console
. "${0%/*}/lib.sh"

parts=${PARTS:-raid${IMAGE:+ start}} image=${IMAGE:-} marker=${MARKER:-login:} rounds=${ROUNDS:-3} patience_s=${PATIENCE:-600}

case " $parts " in *' raid '*)
    DISK=intel-x25m-g2 LEVELS=0 MEMBERS=${MEMBERS:-1 2 4 6} STRIPS=${STRIPS:-8 64 128 1024} TIME=${TIME:-3s} "${0%/*}/md.sh" || exit $?
    ;;
esac
case " $parts " in *' start '*) ;; *) exit 0 ;; esac

need qemu-system-x86_64 qemu-system-x86
[ -f "$image" ] || fail "IMAGE names no file: the raw image of a disk that a system starts from, with a console on its serial port"
image=$(realpath "$image")
begin "$@"

# An emulated processor takes ten times as long for what is not the disk's.
accelerator=${ACCELERATOR:-tcg}
[ -n "${ACCELERATOR:-}" ] || [ ! -w /dev/kvm ] || accelerator=kvm
say "a system starts until \`$marker' is on its console ($accelerator)"

started=''
stop_own() { [ -z "$started" ] || kill $started; }

# start TITLE MODEL: the seconds of one start are added to $scratch/TITLE.
start() {
    "$kurabe" serve --quiet --socket "$scratch/disk.sock" --data "over:$image" "model:$2" > "$scratch/served" 2> "$scratch/serve.log" &
    server=$! started=$!
    until [ -S "$scratch/disk.sock" ]; do
        kill -0 "$server" 2> /dev/null || { cat "$scratch/serve.log" >&2; fail "kurabe serve model:$2 did not work"; }
        sleep 0.1
    done
    : > "$scratch/console"
    began_ns=$(now_ns)
    qemu-system-x86_64 -accel "$accelerator" -m 1G -display none -monitor none -serial "file:$scratch/console" -no-reboot \
        -drive "driver=nbd,server.type=unix,server.path=$scratch/disk.sock,if=virtio,cache=none" > "$scratch/qemu.log" 2>&1 &
    guest=$! started="$server $guest"
    until grep -qF -- "$marker" "$scratch/console"; do
        if [ $((($(now_ns) - began_ns) / 1000000000)) -ge "$patience_s" ] || ! kill -0 "$guest" 2> /dev/null; then
            grep -qF -- "$marker" "$scratch/console" && break
            tail -n 5 "$scratch/console" "$scratch/qemu.log" >&2
            fail "\`$marker' did not come: does the system have a console on its serial port (console=ttyS0)? ACCELERATOR=tcg does without KVM"
        fi
        sleep 0.02
    done
    took_ms=$((($(now_ns) - began_ns) / 1000000))
    kill "$guest" 2> /dev/null || true
    wait "$guest" || true
    kill -INT "$server" && wait "$server" || true
    started=''
    printf '   %-24s %8s s\n' "$1" "$(awk -v ms="$took_ms" 'BEGIN { printf "%.2f", ms / 1000 }')"
    echo "$took_ms" >> "$scratch/took.$2"
}

for round in $(seq "$rounds"); do
    start 'a hard disk' hitachi-hds721616plat80
    start 'one X25-M' intel-x25m-g2
    start 'four on the card' raid-9260
done

say "the median of $rounds"
median() { sort -n "$scratch/took.$1" | awk '{ all[NR] = $1 } END { print (all[int((NR + 1) / 2)] + all[int((NR + 2) / 2)]) / 2000 }'; }
for model in hitachi-hds721616plat80 intel-x25m-g2 raid-9260; do
    awk -v model="$model" -v one="$(median "$model")" -v disk="$(median hitachi-hds721616plat80)" 'BEGIN {
        printf "   %-24s %8.2f s   %.2f of the disk\n", model, one, one / disk
    }'
done
