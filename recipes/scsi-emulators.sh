#!/bin/sh
# SCSI disk emulators and a disk of their time, as a Mac and a PC use them: files are copied to an HFS volume and to a FAT volume
# on the modelled device and read back, by programs that need no such file system in the kernel (hfsutils, mtools).
#
#     sudo recipes/scsi-emulators.sh          a minute
#     sudo FILES=4 recipes/scsi-emulators.sh  fewer files
. "${0%/*}/lib.sh"

# Files of 128 KiB: programs of the time.
files=${FILES:-16}
kib=128

need mcopy mtools
need mkfs.vfat dosfstools
need hcopy hfsutils
begin "$@"

mkdir "$scratch/files"
for number in $(seq "$files"); do head -c "${kib}K" /dev/urandom > "$scratch/files/file$number"; done

# What is read must come from the device.
forget() { blockdev --flushbufs "$1"; }

# mtools wonders aloud that a device has no cylinders.
to_fat() { mcopy -i "$1" "$scratch"/files/* :: 2> /dev/null && sync "$1"; }
from_fat() { mcopy -n -i "$1" '::file*' "$scratch/back" 2> /dev/null; }
to_hfs() { hmount "$1" > /dev/null && hcopy -r "$scratch"/files/* : && humount && sync "$1"; }
from_hfs() { hmount "$1" > /dev/null && hcopy -r ':file*' "$scratch/back" && humount; }

# there_and_back KIND DEVICE: times in ms, and that what is read is what was written.
there_and_back() {
    timed "to_$1" "$2"
    write_ms=$took_ms
    forget "$2"
    rm -rf "$scratch/back"
    mkdir "$scratch/back"
    timed "from_$1" "$2"
    read_ms=$took_ms
    diff -r "$scratch/files" "$scratch/back" || fail "what was read by $1 is not what was written"
    printf '   %s: written %s ms, read %s ms\n' "$1" "$write_ms" "$read_ms"
}

# measure MODEL: what its programs' files take on both, and what virtual time says of as many bytes in order.
measure() {
    say "$1: a FAT and an HFS volume, served; $files files of $kib KiB"
    attach "model:$1" --without host
    device=$attached
    mkfs.vfat "$device" > /dev/null
    there_and_back fat "$device"
    fat_write_ms=$write_ms fat_read_ms=$read_ms
    hformat -l files "$device" > /dev/null
    there_and_back hfs "$device"
    detach "$device"
    for direction in read write; do
        rate=$(virtual "$csv_rate" "model:$1" --rw "$direction" --bs 64KiB --size "$((files * kib))KiB" --runs 1)
        eval "virtual_$direction=$rate"
    done
}

# beside NAME: the device measured last, by how much it is faster than the RaSCSI.
beside() {
    compare "$1 over the RaSCSI: FAT, written" "$(ratio "$pi_fat_write_ms" "$fat_write_ms")" "$(ratio "$virtual_write" "$pi_write")"
    compare "$1 over the RaSCSI: FAT, read" "$(ratio "$pi_fat_read_ms" "$fat_read_ms")" "$(ratio "$virtual_read" "$pi_read")"
    compare "$1 over the RaSCSI: HFS, written" "$(ratio "$pi_hfs_write_ms" "$write_ms")" "$(ratio "$virtual_write" "$pi_write")"
    compare "$1 over the RaSCSI: HFS, read" "$(ratio "$pi_hfs_read_ms" "$read_ms")" "$(ratio "$virtual_read" "$pi_read")"
}

measure rascsi
pi_fat_write_ms=$fat_write_ms pi_fat_read_ms=$fat_read_ms pi_hfs_write_ms=$write_ms pi_hfs_read_ms=$read_ms
pi_write=$virtual_write pi_read=$virtual_read
measure scsi2sd-v6
beside 'SCSI2SD V6'
measure ibm-dcas-34330
beside 'the IBM disk'
conclude
