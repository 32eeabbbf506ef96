#!/bin/sh
# The kernel's own md on served disks: RAID 1, 5 and 10, each measured whole, and the layer `md` in virtual time beside it. First one
# disk alone: by what it falls short of its model, this machine does. Needs a kernel with md and the nbd driver, and mdadm.
#
#     sudo recipes/md.sh                    some 8 minutes
#     sudo TIME=5s LEVELS=1 recipes/md.sh   shorter repetitions, one level
. "${0%/*}/lib.sh"

time=${TIME:-15s} levels=${LEVELS:-1 5 10} array=/dev/md/kurabe$$
# Of disks of some ms what the computer itself takes is little.
disk=hitachi-hds721616plat80

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

for level in $levels; do
    members=4
    [ "$level" -ne 1 ] || members=2
    say "RAID $level of $members"
    devices=''
    for member in $(seq "$members"); do
        attach "model:$disk" --by nbd
        devices="$devices $attached"
    done
    printf '%s\n' 'schema = 1' 'name = "array"' 'title = { en = "md", ja = "md" }' '[[layer]]' 'kind = "host"' '[[layer]]' 'kind = "md"' \
        "level = { value = $level, source = \"assumed\" }" "members = { value = $members, source = \"assumed\" }" \
        '[[layer]]' "use = \"$disk\"" > "$scratch/array.toml"
    mdadm --quiet --create "$array" --run --assume-clean --level="$level" --raid-devices="$members" $devices
    measured=$array model=model:$scratch/array.toml
    figures
    patiently mdadm --quiet --stop "$array"
    for device in $devices; do detach "$device"; done
done
