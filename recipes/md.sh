#!/bin/sh
# The kernel's own md on served disks: RAID 1, 5 and 10, each measured whole, and the layer `md` in virtual time beside it. First one
# disk alone: by what it falls short of its model, this machine does. Needs a kernel with md and the nbd driver, and mdadm.
#
#     sudo recipes/md.sh                    some 8 minutes
#     sudo TIME=5s LEVELS=1 recipes/md.sh   shorter repetitions, one level
#     sudo DISK=intel-x25m-g2 LEVELS=0 MEMBERS='2 4' STRIPS='64 512' recipes/md.sh   strips in KiB
. "${0%/*}/lib.sh"

time=${TIME:-15s} levels=${LEVELS:-1 5 10} strips=${STRIPS:-512} array=/dev/md/kurabe$$
# Of disks of some ms what the computer itself takes is little.
disk=${DISK:-hitachi-hds721616plat80}

need mdadm mdadm
begin "$@"

stop_own() { [ ! -e "$array" ] || mdadm --quiet --stop "$array"; }

# figure TITLE WORDS…: the rate of a workload on $measured and on $model.
figure() {
    title=$1
    shift
    bytes=$(blockdev --getsize64 "$measured")
    real=$(virtual "$csv_rate" "$measured" --destroy-data-on "$measured" --direct --size "$bytes" --time "$time" --runs 1 "$@")
    modelled=$(virtual "$csv_rate" "$model" --no-fill --size "$bytes" --time "$time" --runs 1 "$@")
    awk -v title="$title" -v real="$real" -v model="$modelled" 'BEGIN {
        printf "   %-32s %10.3f MB/s   model %10.3f MB/s   %.2f\n", title, real / 1e6, model / 1e6, real / model
    }'
}

figures() {
    figure '1 MiB in order, depth 8, read' --rw read --bs 1m --iodepth 8
    figure '1 MiB in order, depth 8, written' --rw write --bs 1m --iodepth 8
    figure '4 KiB at random, read' --rw randread --bs 4k
    figure '4 KiB at random, depth 8, read' --rw randread --bs 4k --iodepth 8
    figure '4 KiB at random, written' --rw randwrite --bs 4k
    figure '4 KiB at random, depth 8, written' --rw randwrite --bs 4k --iodepth 8
}

say 'one disk'
attach "model:$disk" --by nbd
measured=$attached model=model:$disk
figures
detach "$attached"

# measure_array LEVEL MEMBERS STRIP_KIB
measure_array() {
    say "RAID $1 of $2, strips of $3 KiB"
    devices=''
    for member in $(seq "$2"); do
        attach "model:$disk" --by nbd
        devices="$devices $attached"
    done
    printf '%s\n' 'schema = 1' 'name = "array"' 'title = { en = "md", ja = "md" }' '[[layer]]' 'kind = "host"' '[[layer]]' 'kind = "md"' \
        "level = { value = $1, source = \"assumed\" }" "members = { value = $2, source = \"assumed\" }" \
        "chunk = { value = \"$3 KiB\", source = \"assumed\" }" '[[layer]]' "use = \"$disk\"" > "$scratch/array.toml"
    # Nothing is to be made alike on new disks; RAID 0 has nothing alike, and RAID 1 no strips. mdadm doubts an array of one.
    case $1 in
        0) how="--force --chunk=$3" ;;
        1) how=--assume-clean ;;
        *) how="--assume-clean --chunk=$3" ;;
    esac
    mdadm --quiet --create "$array" --run $how --level="$1" --raid-devices="$2" $devices
    measured=$array model=model:$scratch/array.toml
    figures
    patiently mdadm --quiet --stop "$array"
    for device in $devices; do detach "$device"; done
}

for level in $levels; do
    usual=4
    [ "$level" -ne 1 ] || usual=2
    for members in ${MEMBERS:-$usual}; do
        for strip in $strips; do measure_array "$level" "$members" "$strip"; done
    done
done
