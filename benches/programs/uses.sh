#!/bin/sh
# Programs that stand for uses, as `cargo bench -p kurabe-benches --bench uses` records them.
#   uses.sh prepare FOLDER   makes the data that they begin with, a folder for each; prints the uses that can be recorded here
#   uses.sh USE              does what the use does, in the current folder, which holds a copy of its data
set -eu
here=$(cd "$(dirname "$0")" && pwd)/$(basename "$0")

has() { command -v "$1" > /dev/null; }
noise() { dd if=/dev/urandom of="$1" bs=1M count="$2" 2> /dev/null; }
postgres() { ls -d /usr/lib/postgresql/*/bin 2> /dev/null | tail -n 1; }
# As the user of PostgreSQL, who may run it.
as_postgres() { setpriv --reuid=postgres --regid=postgres --clear-groups env HOME=/tmp LC_ALL=C "$@"; }
start_postgres() {
    as_postgres "$(postgres)/pg_ctl" -s -w -D "$1" -l "$1.log" start \
        -o "-c listen_addresses= -c unix_socket_directories=/tmp -c autovacuum=off -c shared_buffers=32MB -p 5599" > /dev/null
}

# SQL of so many transactions, each of two changes and four reads at places that look random and are the same each time.
transactions() {
    echo 'pragma journal_mode=wal; pragma synchronous=full; pragma cache_size=200;'
    awk -v count="$1" 'BEGIN {
        srand(7)
        for (i = 0; i < count; i++) {
            print "begin;"
            for (j = 0; j < 2; j++) print "update t set v=randomblob(400) where k=" int(rand() * 60000) ";"
            for (j = 0; j < 4; j++) print "select length(v) from t where k=" int(rand() * 60000) ";"
            print "commit;"
        }
    }'
}
new_database() {
    sqlite3 "$1" 'pragma journal_mode=wal; create table t(k integer primary key, v blob);
        with recursive n(k) as (select 0 union all select k + 1 from n where k < 59999)
        insert into t select k, randomblob(400) from n; pragma wal_checkpoint(truncate);' > /dev/null
}

# What runs in a virtual machine whose disk is the image $1.
guest() {
    mkdir "guest$1"
    mount -o loop "image$1" "guest$1"
    (
        cd "guest$1"
        transactions 150 | sqlite3 t.db > /dev/null
        for number in $(seq 0 2 599); do cat "tree/$number"; done > /dev/null
        for number in 1 2 3 4 5 6 7 8; do echo "$number" > state.new; sync state.new; mv state.new state; done
    )
    umount "guest$1"
}
tree() {
    mkdir "$1"
    for number in $(seq 0 599); do dd if=/dev/urandom of="$1/$number" bs=1k count=$((1 + number * 7 % 60)) 2> /dev/null; done
}

prepare() {
    cd "$1"
    mkdir os-disk archive game-library media-editing nas camera-recorder swap
    tree os-disk/tree
    for number in 1 2 3; do noise "archive/film$number" 40; done
    cp archive/* media-editing && cp archive/* nas && cp archive/* game-library
    for number in 1 2 3 4 5 6 7 8 9 10 11 12; do noise "game-library/level$number" 5; done
    echo os-disk archive game-library media-editing nas camera-recorder
    [ ! -d /sys/fs/cgroup/memory ] || echo swap
    if has sqlite3; then
        mkdir database sqlite vm-image vm-host root
        new_database database/t.db
        cp database/t.db sqlite
        cp database/t.db root && tree root/tree
        for number in 1 2 3; do
            truncate -s 120M "vm-host/image$number"
            mkfs.ext4 -q -d root "vm-host/image$number"
        done
        cp --sparse=always vm-host/image1 vm-image
        echo database sqlite vm-image vm-host
    fi
    if has hcopy; then
        mkdir retro-computer && cp game-library/level* retro-computer
        echo retro-computer
    fi
    if has fio; then mkdir etcd && echo etcd; fi
    if [ -n "$(postgres)" ]; then
        made=$(mktemp -d) && chown postgres "$made"
        as_postgres "$(postgres)/initdb" -D "$made/data" -N -A trust > /dev/null
        start_postgres "$made/data"
        as_postgres pgbench -h /tmp -p 5599 -q -i -s 2 postgres > /dev/null 2>&1
        as_postgres "$(postgres)/pg_ctl" -s -w -D "$made/data" stop > /dev/null
        mkdir postgresql-wal && mv "$made/data" postgresql-wal && rm -r "$made"
        echo postgresql-wal
    fi
}

case $1 in
    prepare) prepare "$2" ;;
    # A thousand commits of SQLite in WAL mode, beyond its own memory.
    database) transactions 1000 | sqlite3 t.db > /dev/null ;;
    sqlite)
        awk 'BEGIN { print "pragma synchronous=full;"; for (i = 0; i < 1000; i++) print "insert into t(v) values(randomblob(400));" }' |
            sqlite3 t.db > /dev/null
        ;;
    vm-image) guest 1 ;;
    vm-host) for number in 1 2 3; do guest "$number" & done; wait ;;
    # Small files read as programs are started, a log, settings that are saved, an update.
    os-disk)
        for number in $(seq 0 2 599); do cat "tree/$number"; done > /dev/null
        for number in 1 2 3 4 5 6 7 8 9 10; do
            echo "$number" >> log
            echo "$number" > state.new; sync state.new; mv state.new state
        done
        for number in $(seq 1 20 599); do cp "tree/$number" "tree/$number.new"; done
        ;;
    archive) tar -cf backup film1 film2; dd if=film3 of=copy bs=1M conv=fsync 2> /dev/null ;;
    game-library)
        for number in 1 2 3 4 5 6 7 8 9 10 11 12; do cat "level$number"; done > /dev/null
        # Without read-ahead: a place is read and no more.
        awk 'BEGIN { srand(3); for (i = 0; i < 60; i++) print int(rand() * 70) * 512, 512; for (i = 0; i < 600; i++) print int(rand() * 9000) * 4, 4 }' |
            while read -r skip kib; do dd if=film1 of=/dev/null iflag=direct,skip_bytes bs="${kib}k" count=1 skip=$((skip * 1024)) 2> /dev/null; done
        ;;
    media-editing) for number in 1 2 3; do cat "film$number" > /dev/null & done; dd if=/dev/zero of=render bs=1M count=40 2> /dev/null; wait ;;
    nas) for number in 1 2; do cat "film$number" > /dev/null & done; dd if=/dev/zero of=upload bs=1M count=40 2> /dev/null; wait ;;
    camera-recorder) for number in 1 2 3 4 5 6 7 8; do dd if=/dev/zero of="camera$number" bs=256k count=64 2> /dev/null & done; wait ;;
    retro-computer)
        truncate -s 120M disk
        hformat -l Disk disk > /dev/null && hmount disk > /dev/null
        for number in 1 2 3 4; do hcopy -r "level$number" :; done
        for number in 1 2 3 4; do hcopy -r ":level$number" "back$number"; done
        sync back1
        humount
        ;;
    etcd) fio --name=log --rw=write --ioengine=sync --fdatasync=1 --directory=. --size=8m --bs=2300 > /dev/null ;;
    postgresql-wal)
        chown -R postgres . && chmod 700 data
        start_postgres "$PWD/data"
        cat data/base/*/* > /dev/null
        "$KURABE_BIN" mark work
        as_postgres pgbench -h /tmp -p 5599 -n -t 1000 postgres > /dev/null 2>&1
        "$KURABE_BIN" mark end
        as_postgres "$(postgres)/pg_ctl" -s -w -D "$PWD/data" stop -m immediate > /dev/null
        ;;
    # 100 MB in 48 MB of memory, in order and then anywhere.
    swap)
        group=/sys/fs/cgroup/memory/kurabe-uses
        dd if=/dev/zero of=pages bs=1M count=200 2> /dev/null
        chmod 600 pages && mkswap pages > /dev/null && swapon pages && mkdir "$group"
        trap 'swapoff pages; rmdir "$group"' EXIT
        echo 48M > "$group/memory.limit_in_bytes"
        sh -c "echo \$\$ > $group/cgroup.procs; exec awk 'BEGIN { srand(1); for (i = 0; i < 3000000; i++) a[i] = i; for (i = 0; i < 3000; i++) s += a[int(rand() * 3000000)] }'"
        ;;
    *) echo "$here: no such use: $1" >&2; exit 2 ;;
esac
