#!/bin/sh
# A real ZFS on one and on three modelled disks in a box, by SATA with FIS-based switching and by USB 3.0 with one command at a
# time: a large file is written and read, and a `git pull` is done, each with nothing cached (the pool goes and comes back).
#
#     sudo recipes/zfs-mirror.sh                              some 2 minutes
#     sudo MIB=32 FILES=200 ROUNDS=1 recipes/zfs-mirror.sh    a smaller file and repository, each once
. "${0%/*}/lib.sh"

mib=${MIB:-128} files=${FILES:-2000} works=$(seq "${ROUNDS:-2}")
# Every so manieth file is changed by the pull.
every=29
pool=kurabe$$ daemon=''

need zfs-fuse zfs-fuse
need zpool zfs-fuse
need git git
pidof zfs-fuse > /dev/null && fail "zfs-fuse runs already, and there can be one: stop it first (systemctl stop zfs-fuse)"
begin "$@"

stop_own() {
    daemon=${daemon:-${!:-}}
    [ -n "$daemon" ] || return
    if zpool list -H -o name 2> /dev/null | grep -qx "$pool"; then zpool export -f "$pool"; fi
    kill "$daemon"
    wait "$daemon"
} 2> /dev/null

# A zfs-fuse that knows nothing of the machine's pools: its settings and its socket are this recipe's.
start_zfs() {
    mkdir "$scratch/etc" "$scratch/run" "$scratch/nodes"
    mkdir -p /etc/zfs /run/zfs
    cp -R /etc/zfs/. "$scratch/etc"
    rm -f "$scratch/etc/zpool.cache"
    # As OpenZFS: it reads ahead of files, and does not widen small reads.
    printf '%s\n' 'vdev-cache-size = 0' 'max-arc-size = 300' 'fuse-attr-timeout = 3600' 'fuse-entry-timeout = 3600' \
        'fuse-mount-options = default_permissions' > "$scratch/etc/zfsrc"
    mount --bind "$scratch/etc" /etc/zfs
    mount --bind "$scratch/run" /run/zfs
    zfs-fuse --no-daemon --no-kstat-mount --disable-block-cache --pidfile "$scratch/zfs.pid" > "$scratch/zfs.log" 2>&1 &
    daemon=$!
    patiently zpool list > /dev/null
}

# A repository of small files, of which a batch is changed by a second commit.
make_repository() {
    export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_CONFIG_NOSYSTEM=1
    export GIT_AUTHOR_NAME=recipe GIT_AUTHOR_EMAIL=recipe@localhost GIT_COMMITTER_NAME=recipe GIT_COMMITTER_EMAIL=recipe@localhost
    git init --quiet --initial-branch=main "$scratch/source"
    write_files 1 1
    git -C "$scratch/source" add .
    git -C "$scratch/source" commit --quiet --message=before
    git clone --quiet --bare "$scratch/source" "$scratch/origin.git"
    write_files $every 2
    git -C "$scratch/source" commit --quiet --all --message=after
}

# write_files EVERY SEED: files of some 300 bytes that do not pack, five to a folder.
write_files() {
    awk -v files="$files" -v every="$1" -v seed="$2" 'BEGIN { srand(seed); for (n = 0; n < files; n += every) print int(n / 5), n, rand(), rand(), rand() }' |
        while read -r folder name a b c; do
            [ $((name % 5)) -ne 0 ] && [ -d "$scratch/source/$folder" ] || mkdir -p "$scratch/source/$folder"
            printf '%s\n' "$a $b $c" "$b $a" "$c $b" "$name of $folder" > "$scratch/source/$folder/$name"
        done
}

# shorter A B, of which B may be nothing yet
shorter() { if [ -z "$2" ] || [ "$1" -lt "$2" ]; then echo "$1"; else echo "$2"; fi; }

cool() {
    patiently zpool export "$pool"
    zpool import -d "$scratch/nodes" -o cachefile=none "$pool"
}

write_large() {
    dd if="$scratch/large" of="$scratch/pool/large" bs=1M status=none
    patiently zpool export "$pool"
}

# measure KEY TITLE MODEL DISKS
measure() {
    say "$2: ZFS on $4 of $3, served"
    attach "model:$3" --without zfs,mirror --exports "$4"
    device=${attached%%
*}
    for node in $attached; do ln -s "$node" "$scratch/nodes/"; done
    kind=''
    [ "$4" -eq 1 ] || kind=mirror
    zpool create -f -m "$scratch/pool" -o ashift=9 -o cachefile=none -O atime=off "$pool" $kind $attached
    timed write_large
    write_ms=$took_ms
    zpool import -d "$scratch/nodes" -o cachefile=none "$pool"
    git -C "$scratch/origin.git" update-ref refs/heads/main refs/tags/before
    for work in $works; do git clone --quiet "$scratch/origin.git" "$scratch/pool/$work"; done
    # An index no older than its files makes git read them again.
    sleep 1
    for work in $works; do
        git -C "$scratch/pool/$work" update-index --really-refresh --force-write-index
    done
    git -C "$scratch/origin.git" update-ref refs/heads/main refs/tags/after
    # What else the computer does only adds to a time: the shortest counts.
    read_ms='' pull_ms=''
    for work in $works; do
        cool
        timed dd "if=$scratch/pool/large" of=/dev/null bs=128K status=none
        read_ms=$(shorter "$took_ms" "$read_ms")
        timed git -C "$scratch/pool/$work" pull --quiet --ff-only
        pull_ms=$(shorter "$took_ms" "$pull_ms")
        [ "$(git -C "$scratch/pool/$work" rev-parse HEAD)" = "$(git -C "$scratch/source" rev-parse HEAD)" ] ||
            fail "the pull did nothing"
    done
    patiently zpool destroy "$pool"
    rm -f "$scratch"/nodes/*
    printf '   written in %s ms, read in %s ms, git pull in %s ms\n' "$write_ms" "$read_ms" "$pull_ms"
    detach "$device"
    # A file that lies in one piece; and what such a pull asked for in a repository of 170,000 files.
    virtual_read=$(virtual "$csv_elapsed_ns" "model:$3" --rw read --bs 128k --passes 1 --runs 1 --size "${mib}MiB" --time 1min)
    virtual_pull=$(virtual "$csv_elapsed_ns" "model:$3" --profile pull-replay --runs 1)
    printf '   in virtual time: read in %s ms; the git pull of the article in %s s\n' \
        "$(ratio "$virtual_read" 1e6)" "$(ratio "$virtual_pull" 1e9)"
    eval "$1_write=$write_ms $1_read=$read_ms $1_pull=$pull_ms $1_virtual_read=$virtual_read $1_virtual_pull=$virtual_pull"
}

start_zfs
say "a file of $mib MiB and a repository of $files files, in memory"
head -c "${mib}M" /dev/urandom > "$scratch/large"
make_repository
git -C "$scratch/origin.git" tag before main
git -C "$scratch/source" push --quiet "$scratch/origin.git" main:refs/tags/after

measure sata1 'one disk, SATA' hua722020-sata 1
measure sata3 'a mirror of three, SATA' mirror3-sata-fbs 3
measure usb1 'one disk, USB' hua722020-usb 1
measure usb3 'a mirror of three, USB' mirror3-usb 3

compare 'SATA: one disk reads as long as three, times' "$(ratio $sata1_read $sata3_read)" "$(ratio $sata1_virtual_read $sata3_virtual_read)"
compare 'USB: one disk reads as long as three, times' "$(ratio $usb1_read $usb3_read)" "$(ratio $usb1_virtual_read $usb3_virtual_read)"
compare 'three disks: USB reads as long as SATA, times' "$(ratio $usb3_read $sata3_read)" "$(ratio $usb3_virtual_read $sata3_virtual_read)"
compare 'one disk: USB pulls as long as SATA, times' "$(ratio $usb1_pull $sata1_pull)" "$(ratio $usb1_virtual_pull $sata1_virtual_pull)"
cat << END

What a new pool has close together, drives read ahead of; the pull of the article lay far apart. So three disks may pull
over USB as fast as by SATA here ($(ratio $usb3_pull $sata3_pull) times as long), and do not in the article's trace \
($(ratio $usb3_virtual_pull $sata3_virtual_pull)): not compared.
END
printf 'Writing three copies instead of one takes %s times as long by SATA, %s times by USB.\n' \
    "$(ratio $sata3_write $sata1_write)" "$(ratio $usb3_write $usb1_write)"
conclude
