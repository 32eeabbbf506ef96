#!/bin/busybox sh
# The first program of a guest with a kernel that has md: runs the recipe, shortly.
/bin/busybox --install -s /bin
export PATH=/bin HOME=/tmp LC_ALL=C NO_COLOR=1 COLUMNS=120
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
mkdir -p /dev/md
for module in MODULES; do
    insmod "/lib/$module.ko"
done
TIME=1s LEVELS=5 sh /recipes/md.sh && PARTS=raid TIME=1s MEMBERS=2 STRIPS=64 sh /recipes/raid-card.sh && echo "== all done"
poweroff -f
