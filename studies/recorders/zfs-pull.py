#!/usr/bin/env python3
"""Makes a trace of what a cold `git pull` of a ports tree asks of one disk under ZFS. studies/traces/README.md says what it means.

As root, in a mount namespace of its own, with some 3 GB of memory to spare:
    unshare --mount studies/recorders/zfs-pull.py KURABE OUTPUT
Needs zfs-fuse, git, losetup, and Python's lz4.
"""

import os
import re
import struct
import subprocess
import sys
import tempfile
import time

import lz4.block

DISK_BYTES = 2000398934016  # as the article's disks
FILES, CHANGED_FILES, COMMITS = 170_000, 350, 60  # as profiles/git-pull-ports.toml
READERS = 20  # git, preload-index.c: MAX_PARALLEL; a thread for 500 files, so as many as it may
CPU_S = 1.82 + 8.69  # user and system time in the article
NETWORK_S = 3.0  # assumed
EMBEDDED_BYTES = 112  # OpenZFS, sys/spa.h: BPE_PAYLOAD_SIZE
MICROZAP = (1 << 63) + 3  # OpenZFS, sys/zap_impl.h: ZBT_MICRO
POOL = "kurabetrace"
TRACING = "/sys/kernel/tracing"
# What Debian's zfsrc sets otherwise: reading ahead is on, the cache that widens small reads is off, as in OpenZFS.
ZFSRC = "vdev-cache-size = 0\nmax-arc-size = 2000\nfuse-attr-timeout = 3600\nfuse-entry-timeout = 3600\nfuse-mount-options = default_permissions\n"
PROFILE = f"""schema = 1
name = "material"
title = {{ en = "material", ja = "material" }}
source = "studies/recorders/zfs-pull.py"
statistic = "mean"
[rules]
size = "1 MiB"
runs = 1
time = "1 s"
[[step]]
kind = "command"
git = {{ files = {FILES}, changed_files = {CHANGED_FILES}, commits = {COMMITS} }}
command = ["cp", "-a", "{{origin}}", "FOLDER/origin.git"]
cold = false
"""


def run(*words, **options):
    return subprocess.run(words, check=True, **options)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def make_pool(folder, loop):
    """The tree as git checks it out, in a new pool of one disk with sectors of 512 bytes."""
    run("zpool", "create", "-f", "-o", "ashift=9", "-m", f"{folder}/pool", POOL, loop)
    run("zfs", "set", "atime=off", POOL)
    run("zfs", "set", "compression=on", POOL)
    work = f"{folder}/pool/work"
    run("git", "init", "--quiet", "--initial-branch=main", work)
    settings = {
        "gc.auto": "0",
        "maintenance.auto": "false",
        "pull.rebase": "false",
        # One reader, so that the order of each is known; `cut` makes as many of it as git has threads.
        "core.preloadIndex": "false",
        "branch.main.remote": "origin",
        "branch.main.merge": "refs/heads/main",
    }
    for key, value in settings.items():
        run("git", "-C", work, "config", key, value)
    run("git", "-C", work, "remote", "add", "origin", f"{folder}/origin.git")
    run("git", "-C", work, "fetch", "--quiet", "--no-tags", "origin", "refs/tags/before")
    run("git", "-C", work, "reset", "--quiet", "--hard", "FETCH_HEAD")
    time.sleep(1)  # an index no older than its files makes git read them again
    run("git", "-C", work, "update-index", "--really-refresh", "--force-write-index")
    return work


def record(loop, work):
    """The pull, with a cold cache; the kernel's lines of issues and completions."""
    run("zpool", "export", POOL)
    run("zpool", "import", POOL)
    if not os.path.isdir(f"{TRACING}/instances"):
        run("mount", "-t", "tracefs", "nodev", TRACING)
    instance = f"{TRACING}/instances/zfs-pull-{os.getpid()}"
    os.mkdir(instance)
    try:
        write(f"{instance}/buffer_size_kb", "65536")
        device = os.stat(loop).st_rdev
        number = os.major(device) << 20 | os.minor(device)
        for event in ("block_rq_issue", "block_rq_complete"):
            write(f"{instance}/events/block/{event}/filter", f"dev == {number}")
            write(f"{instance}/events/block/{event}/enable", "1")
        run("git", "-C", work, "pull", "--quiet", "--no-tags", "--ff-only")
        run("sync")
        write(f"{instance}/tracing_on", "0")
        with open(f"{instance}/trace") as lines:
            return lines.readlines()
    finally:
        write(f"{instance}/events/enable", "0")
        os.rmdir(instance)


def operations(lines):
    """(pause before it in s, kind, sector, sectors) in the order of issue; a pause is time with nothing in flight."""
    pattern = re.compile(r"\s(\d+\.\d+): block_rq_(issue|complete): \d+,\d+ (\w+) .*?\(.*?\) (\d+) \+ (\d+)")
    in_flight, idle_from, all_of_them = 0, None, []
    for found in filter(None, map(pattern.search, lines)):
        at_s, kind = float(found[1]), found[3][0]
        if found[2] == "issue":
            pause_s = at_s - idle_from if in_flight == 0 and idle_from else 0.0
            all_of_them.append([pause_s, kind, int(found[4]), int(found[5])])
            in_flight += 1
        else:
            in_flight = max(0, in_flight - 1)
            idle_from = at_s
    return all_of_them


def directory(image, sector, sectors):
    """Whether a block is a small directory, and whether OpenZFS would have kept it in the pointer to it."""
    if sectors != 1:
        return False, False
    image.seek(sector * 512)
    block = image.read(512)
    small = struct.unpack_from("<Q", block)[0] == MICROZAP
    # ZFS writes the compressed length before it, in 4 bytes.
    return small, small and len(lz4.block.compress(block, store_size=False)) + 4 <= EMBEDDED_BYTES


def cut(found, image):
    """The operations by reader: 0 does what comes before the tree, and all writes; the last one what comes after it."""
    kinds = [directory(image, sector, sectors) if kind == "R" else (False, False) for _, kind, sector, sectors in found]
    dense = [at for at in range(len(found) - 20) if sum(small for small, _ in kinds[at : at + 20]) >= 10]
    first, last = dense[0], dense[-1] + 20
    reads = sum(found[at][1] == "R" and not kinds[at][1] for at in range(first, last))
    readers, count, pause_s = [[] for _ in range(READERS + 1)], 0, 0.0
    for at, (own_s, kind, sector, sectors) in enumerate(found):
        pause_s += own_s
        if kinds[at][1]:
            continue
        if kind != "R" or at < first:
            reader = 0
        else:
            reader = min(1 + count * READERS // reads, READERS)
            count += 1
        readers[reader].append([pause_s, kind, sector, sectors])
        pause_s = 0.0
    print(f"{len(found)} operations, {sum(kept for _, kept in kinds)} of them directories in pointers, "
          f"{first} before the tree, {len(found) - last} after it")
    return readers


def iolog(readers):
    """fio's format, version 3. The pauses are scaled to the processor time; the network is the longest before a write."""
    scale = CPU_S / sum(operation[0] for reader in readers for operation in reader)
    for reader in readers:
        for operation in reader:
            operation[0] *= scale
    writes = [at for at, operation in enumerate(readers[0]) if operation[1] != "R"]
    before = readers[0][: writes[0] + 1]
    max(before, key=lambda operation: operation[0])[0] += NETWORK_S
    # The threads begin when what comes before them is over.
    start_s = sum(operation[0] for operation in readers[0] if operation[1] == "R")
    lines = []
    for number, reader in enumerate(readers):
        at_s = start_s if number > 0 else 0.0
        for pause_s, kind, sector, sectors in reader:
            at_s += pause_s
            what = {"R": "read", "W": "write", "F": "sync"}[kind]
            place = "0 0" if kind == "F" else f"{sector * 512} {sectors * 512}"
            lines.append((int(at_s * 1e6), f"{number} {what} {place}"))
    lines.sort(key=lambda line: line[0])
    text = "fio version 3 iolog\n"
    text += "".join(f"0 {number} {action}\n" for action in ("add", "open") for number in range(READERS + 1))
    text += "".join(f"{at_us} {line}\n" for at_us, line in lines)
    return text + "".join(f"{lines[-1][0]} {number} close\n" for number in range(READERS + 1))


def main():
    kurabe, output = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        run("mount", "-t", "tmpfs", "-o", "size=4g", "tmpfs", folder)
        write(f"{folder}/material.toml", PROFILE.replace("FOLDER", folder))
        run(kurabe, "run", "--profile", f"{folder}/material.toml", "--db", f"{folder}/db", "-q", folder)
        write(f"{folder}/zfsrc", ZFSRC)
        run("mount", "--bind", f"{folder}/zfsrc", "/etc/zfs/zfsrc")
        daemon = subprocess.Popen(["zfs-fuse", "--no-daemon", "--no-kstat-mount", "--disable-block-cache"])
        while subprocess.run(["zpool", "list"], capture_output=True).returncode != 0:
            time.sleep(0.2)
        with open(f"{folder}/disk", "wb") as disk:
            disk.truncate(DISK_BYTES)
        loop = run("losetup", "--show", "-f", f"{folder}/disk", capture_output=True, text=True).stdout.strip()
        try:
            found = operations(record(loop, make_pool(folder, loop)))
            with open(f"{folder}/disk", "rb") as image:
                write(output, iolog(cut(found, image)))
        finally:
            subprocess.run(["zpool", "export", POOL])
            run("losetup", "-d", loop)
            daemon.terminate()
            daemon.wait()
            run("umount", "/etc/zfs/zfsrc")
            run("umount", "-l", folder)


main()
