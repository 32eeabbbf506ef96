#!/bin/sh
# exFAT or ext4 on a modelled USB stick, and what the place of the data does: kurabe measures three file systems in turns, an
# ext4, an exFAT, and an exFAT that begins one sector later, as in a partition that is not aligned.
#
#     sudo recipes/exfat-ext4.sh               some 3 minutes
#     sudo TIME=20s recipes/exfat-ext4.sh      fewer repetitions
#
# exFAT is the kernel's, or exfat-fuse where it has none.
. "${0%/*}/lib.sh"

time=${TIME:-60s}

need mkfs.ext4 e2fsprogs
need mkfs.exfat exfatprogs
begin "$@"

# stick: another one; its device is in $attached.
stick() { attach model:samsung-fit-plus-exfat --without host,filesystem --set flash.capacity=8GB; }

# mount_exfat DEVICE POINT
mount_exfat() {
    if mount -t exfat -o noatime,umask=022 "$1" "$2" 2> "$scratch/mount.log"; then
        by='the kernel'
    elif command -v mount.exfat-fuse > /dev/null; then
        mount.exfat-fuse -o noatime,umask=022 "$1" "$2" > /dev/null
        by='exfat-fuse'
    else
        cat "$scratch/mount.log" >&2
        fail "this kernel has no exFAT: apt-get install exfat-fuse"
    fi
}

say 'three sticks: ext4, exFAT, and exFAT one sector later'
mkdir "$scratch/ext4" "$scratch/exfat" "$scratch/later"
stick
mkfs.ext4 -q -E nodiscard "$attached"
mount -o noatime "$attached" "$scratch/ext4"
stick
mkfs.exfat "$attached" > /dev/null
mount_exfat "$attached" "$scratch/exfat"
stick
later=$(losetup --find --show --offset 512 --direct-io=on "$attached")
mkfs.exfat "$later" > /dev/null
mount_exfat "$later" "$scratch/later"
printf '   exFAT by %s\n' "$by"

# A large file and rewrites, each until it is on the stick: how much of them stays in memory would decide otherwise.
cat > "$scratch/files.toml" << 'END'
schema = 1
name = "large-and-rewrites"
title = { en = "a large file, and 4 KiB rewrites", ja = "大きなファイルと 4 KiB の書き換え" }
source = "recipes/exfat-ext4.sh"
statistic = "mean"

[rules]
size = "16 MiB"
runs = 3
time = "10 s"
direct = false

[[step]]
kind = "io"
label = "large file"
directions = ["write"]
pattern = "sequential"
block_size = "1 MiB"
iodepth = 1
threads = 1
passes = 1
sync_at_end = "timed"

[[step]]
kind = "io"
label = "rewrites"
directions = ["write"]
pattern = "random"
block_size = "4 KiB"
iodepth = 1
threads = 1
bytes = "512 KiB"
sync_every_writes = 32
END
cat > "$scratch/small.toml" << 'END'
schema = 1
name = "small-files"
title = { en = "small files", ja = "小さなファイル" }
source = "recipes/exfat-ext4.sh"
statistic = "mean"

[rules]
size = "1 MiB"
runs = 3
time = "1 s"

[[step]]
kind = "command"
label = "50 small files"
command = ["sh", "-c", "mkdir -p \"$0\"; for i in $(seq 50); do head -c 3000 /dev/zero > \"$0/$i\"; done; sync -f \"$0\"", "{work}"]
restore = [["rm", "-r", "{work}"]]
cold = false
END

# versus PROFILE: all three in turns. What else differs, layer by layer, is left out here.
versus() {
    "$kurabe" versus "$scratch/ext4" "$scratch/exfat" "$scratch/later" --profile "$scratch/$1.toml" --time "$time" --quiet \
        > "$scratch/$1.txt" 2> "$scratch/$1.log" || { cat "$scratch/$1.log" >&2; fail 'kurabe versus failed'; }
    awk '/^The two runs differ/ { skips = 1 } /^$/ { skips = 0 } !skips' "$scratch/$1.txt"
}

# measured TARGET STEP COLUMN: the mean over the repetitions of a step in the runs so far.
measured() {
    "$kurabe" export --quiet --format csv $("$kurabe" list --quiet --json | sed -n 's/^{"id":"\([^"]*\)".*/\1/p') |
        awk -F, -v target="$scratch/$1" -v step="$2" -v column="$3" "$csv_column"'
            $5 == target && index($0, "," step) && !/,figure,/ { sum += $(NF - from_end); count++ }
            END { print (count > 0 ? sum / count : 0) }'
}

say 'a large file and rewrites, interleaved'
versus files
say 'small files, interleaved'
versus small

# rewrites START: their rate in virtual time, where data begin at such a place.
rewrites() {
    virtual "$csv_rate" model:samsung-fit-plus-exfat --set "filesystem.start=$1" --rw randwrite --bs 4k --size 16MiB \
        --bytes 512KiB --time 1min
}

large() {
    virtual "$csv_rate" model:samsung-fit-plus-exfat --set "filesystem.start=$1" --rw write --bs 1m --size 16MiB --passes 1 \
        --time 1min
}

aligned=33554432 later=33554944
compare 'rewrites: exFAT over exFAT one sector later' \
    "$(ratio "$(measured exfat rewrites "$csv_rate")" "$(measured later rewrites "$csv_rate")")" \
    "$(ratio "$(rewrites $aligned)" "$(rewrites $later)")"
compare 'large file: exFAT over exFAT one sector later' \
    "$(ratio "$(measured exfat 'large file' "$csv_rate")" "$(measured later 'large file' "$csv_rate")")" \
    "$(ratio "$(large $aligned)" "$(large $later)")"
printf '\next4 over exFAT: rewrites %s, large file %s, small files %s times the rate (no model of ext4: not compared).\n' \
    "$(ratio "$(measured ext4 rewrites "$csv_rate")" "$(measured exfat rewrites "$csv_rate")")" \
    "$(ratio "$(measured ext4 'large file' "$csv_rate")" "$(measured exfat 'large file' "$csv_rate")")" \
    "$(ratio "$(measured exfat '50 small files' "$csv_elapsed_ns")" "$(measured ext4 '50 small files' "$csv_elapsed_ns")")"
conclude
