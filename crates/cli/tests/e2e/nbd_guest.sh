#!/bin/busybox sh
# The first program of a guest with a kernel that has nbd.ko: attaches models by it, and says on the console what holds.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp KURABE_DB=/tmp/kurabe.db LC_ALL=C NO_COLOR=1 COLUMNS=120
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run

ram="model:ideal-ram-disk --set memory.capacity=8MiB"
disk="model:hitachi-hds721616plat80 --power-cuts"
# Nothing is measured at the start.
quickly="--round-trip 100us"

holds() { echo "== holds: $*"; }
end() {
    echo "== $*"
    poweroff -f
}
fails() {
    echo "---- $1"
    cat /tmp/out /run/kurabe/attach.log
    tail -n +1 /run/kurabe/*/state.json
    end "fails: $1"
}
# must WHAT COMMAND …: what it prints is shown only if it fails.
must() {
    what=$1
    shift
    "$@" > /tmp/out 2>&1 || fails "$what: $*"
}
# must_not WHAT WORDS COMMAND …: it fails and says the words.
must_not() {
    what=$1 words=$2
    shift 2
    "$@" > /tmp/out 2>&1 && fails "$what: $*"
    grep -q -- "$words" /tmp/out || fails "$what: $* says: $words"
}
eventually() {
    what=$1 tries=0
    shift
    until "$@" > /dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 600 ] || fails "in time: $what"
        usleep 50000
    done
}
sysfs() { cat "/sys/block/$1"; }
is() { [ "$(sysfs "$1")" = "$2" ] || fails "$1 is $(sysfs "$1"), not $2"; }
attach() {
    must "attach $*" kurabe --json attach $*
    dev=$(sed -n 's/.*"devices":\["\([^"]*\)".*/\1/p' /tmp/out)
    pid=$(sed -n 's/.*"process":\([0-9]*\).*/\1/p' /tmp/out)
    grep -q '"by":"nbd"' /tmp/out || fails "attach $* is by nbd"
}
no_state() { ! ls -d /run/kurabe/*/; }
is_dead() { [ ! -e "/proc/$pid" ]; }
is_free() { [ ! -e "/sys/block/$1/pid" ] && [ "$(sysfs "$1/size")" = 0 ]; }
# Past the page cache.
read_back() { dd if="$dev" of=/tmp/back bs=1M count=3 iflag=direct && cmp /tmp/bytes /tmp/back; }

must_not "without the driver nbd is refused" "modprobe nbd" kurabe attach --by nbd $ram
must "no state is left" no_state
holds "without the driver nbd is refused"
must "the driver" insmod /lib/nbd.ko

attach $disk
[ "$dev" = /dev/nbd0 ] || fails "$dev is the first"
is nbd0/size 321672960
is nbd0/queue/logical_block_size 512
is nbd0/queue/rotational 1
is nbd0/queue/max_sectors_kb 1280
is nbd0/queue/write_cache "write back"
is nbd0/queue/fua 1
# A disk of its time knows no trim.
is nbd0/queue/discard_max_bytes 0
must "stats" kurabe control "$dev" stats
grep -q ': 0 reads (' /tmp/out || fails "the way there is measured beside the model"
holds "a device is what the model says"

dd if=/dev/urandom of=/tmp/bytes bs=1M count=3 2> /dev/null
must "write" dd if=/tmp/bytes of="$dev" bs=1M conv=fsync
must "read what was written" read_back
must "stats" kurabe control "$dev" stats
grep -Eq '[1-9][0-9]* writes \(3.* MiB\), [1-9][0-9]* flushes' /tmp/out || fails "stats say what was asked"
must "a run" kurabe run "$dev" --rw randread --engine threads --size 4m --runs 1 --time 200ms
grep -q "the target is an emulated disk with the model hitachi-hds721616plat80" /tmp/out || fails "a run says that it is a model"
holds "what is written is read, and a run knows the model"

# The power goes while requests are under way, large writes among them: they go on until one of them fails.
write_on() { while dd if=/dev/zero of="$dev" bs=1M seek=8 count=16 oflag=direct 2> /dev/null; do :; done; }
write_on &
writer=$!
must "stats" kurabe control "$dev" stats
before=$(grep -o '[0-9,]* writes' /tmp/out)
eventually "the writer is at work" sh -c "kurabe control $dev stats | grep -Fvq '$before'"
must "cut" kurabe control "$dev" cut
wait $writer
must_not "without power every request fails" "Input/output error" dd if="$dev" of=/dev/null bs=4k count=1 iflag=direct
must "power on" kurabe control "$dev" power-on
must "what was flushed is there after a power cut" read_back
holds "a power cut"

sleep 1000 9<> "$dev" &
user=$!
eventually "it is open" [ -e "/proc/$user/fd/9" ]
must_not "what is open for writing stays" "is in use" kurabe detach "$dev"
kill $user
wait $user
must "detach" kurabe detach "$dev"
eventually "nbd0 is free" is_free nbd0
is nbd0/queue/rotational 0
is nbd0/queue/max_sectors_kb 128
must "no state is left" no_state
must "the server is gone" is_dead
holds "nothing is left of a device that was detached"

# Killed: the kernel lets go by itself, the next start puts its settings back.
attach $disk $quickly
kill -9 "$pid"
eventually "it is dead" is_dead
eventually "nbd0 is free after a kill" is_free nbd0
is nbd0/queue/rotational 1
must "detach after a kill" kurabe detach "$dev"
grep -q "was left by a killed kurabe process" /tmp/out || fails "it says who left it"
is nbd0/queue/rotational 0
is nbd0/queue/max_sectors_kb 128
must "no state is left" no_state
attach $ram $quickly
[ "$dev" = /dev/nbd0 ] || fails "$dev is free again"
holds "what a kill left goes at the next start"

must "a file system" mke2fs "$dev"
must "mount" mount -t ext2 "$dev" /mnt
must_not "what is mounted stays" "mounted on" kurabe detach "$dev"
# Killed while it is used: errors at once, and another device for who comes next.
kill -9 "$pid"
eventually "it is dead" is_dead
must_not "who uses it gets errors" "error" sh -c "ls -R /mnt; echo x > /mnt/x && sync /mnt/x"
attach $ram $quickly
[ "$(ls -d /run/kurabe/*/ | wc -l)" = 1 ] || fails "the state of who was killed is gone"
[ "$dev" = /dev/nbd1 ] || fails "$dev is not the one that is used"
must "umount" umount /mnt
eventually "nbd0 is free after its last user" is_free nbd0
holds "a kill under a mount"

# Another tool takes the device away: nobody can ask its server any more.
must "disconnect" nbd-client -d "$dev"
eventually "the server ends by itself" is_dead
eventually "its state is gone" no_state
holds "a device that another tool took away"

attach model:mirror3-usb --without zfs,mirror --exports 3 $quickly
grep -q '"/dev/nbd0","/dev/nbd1","/dev/nbd2"' /tmp/out || fails "three devices"
# A signal waits for who uses one of them.
sleep 1000 9<> /dev/nbd2 &
user=$!
eventually "it is open" [ -e "/proc/$user/fd/9" ]
kill "$pid"
eventually "it says what it waits for" grep -q "/dev/nbd2 is in use" /run/kurabe/attach.log
must "it is still served" dd if=/dev/nbd2 of=/dev/null bs=4k count=1 iflag=direct
kill $user
eventually "the server ends" is_dead
for name in nbd0 nbd1 nbd2; do eventually "$name is free" is_free $name; done
must "no state is left" no_state
holds "three devices of one box"

end "all done"
