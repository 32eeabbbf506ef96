#!/bin/sh
# How much reading and writing disturb each other: a file is copied within a modelled SSD of 2009, against reading and writing
# it apart (DelayRatio), by dd in pieces of 768 KiB. The Toshiba HG2, and the OCZ Core V2, which is known to stutter.
#
#     sudo recipes/copy-hg2.sh          some 40 s
#     sudo MIB=64 recipes/copy-hg2.sh   a smaller file
. "${0%/*}/lib.sh"

mib=${MIB:-192}
# What the model's computer reads before it turns to writing.
piece=768KiB
pieces=$((mib * 1024 / 768))

need mkfs.ext4 e2fsprogs
begin "$@"

copy() { dd "if=$1" "of=$2" bs=768K "count=$pieces" status=none "$3" $4; }

# measure NAME MODEL: times of a served model in ms.
measure() {
    say "$1: ext4 on $2, served; a file of $mib MiB"
    attach "model:$2" --without host,filesystem
    device=$attached point=$scratch/disk
    # Windows XP begins its first partition at the 63rd sector, so pieces lie across the units of the drive.
    partition=$(losetup --find --show --offset $((63 * 512)) --direct-io=on "$device")
    mkdir -p "$point"
    mkfs.ext4 -q -E nodiscard "$partition" 8g
    mount -o noatime "$partition" "$point"
    # Both files are there before, so that writing does not look for room.
    copy /dev/zero "$point/from" oflag=direct conv=fsync
    copy /dev/zero "$point/to" oflag=direct conv=fsync
    timed copy "$point/from" /dev/null iflag=direct ''
    read_ms=$took_ms
    timed copy /dev/zero "$point/to" oflag=direct conv=notrunc,fsync
    write_ms=$took_ms
    timed copy "$point/from" "$point/to" iflag=direct 'oflag=direct conv=notrunc,fsync'
    copy_ms=$took_ms
    served=$(ratio "$copy_ms" $((read_ms + write_ms)))
    patiently umount "$point"
    patiently losetup --detach "$partition"
    printf '   read %s ms, written %s ms, copied %s ms: DelayRatio %s\n' "$read_ms" "$write_ms" "$copy_ms" "$served"
    detach "$device"
    # The same pieces, without the pauses of the computer of 2009.
    virtual=$(virtual "$csv_derived" "model:$2" --profile delay-ratio --runs 1 --size "${mib}MiB" --set host.copy_piece=$piece \
        --set host.copy_turn=$piece --set host.copy_read_gap=0ns)
    virtual=$(ratio "$virtual" 1)
    printf '   in virtual time: DelayRatio %s\n' "$virtual"
}

measure 'Toshiba HG2' toshiba-hg2-agta0104
hg2_served=$served hg2_virtual=$virtual
measure 'OCZ Core V2' ocz-core-v2
compare 'DelayRatio of the OCZ Core V2' "$served" "$virtual"
compare 'DelayRatio of the Toshiba HG2' "$hg2_served" "$hg2_virtual"
compare 'the one over the other' "$(ratio "$served" "$hg2_served")" "$(ratio "$virtual" "$hg2_virtual")"
conclude
