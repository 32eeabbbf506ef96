#!/usr/bin/env python3
"""Programs that others wrote, each with a fixed amount of work in the current folder.

    real.py list            prints the programs that are installed here
    real.py NAME SHARE      runs one with this share of its work, from 0 to 1

The packages for dpkg are built outside the current folder.
"""
import base64
import glob
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

REDIS = "26379"
ETCD = "http://127.0.0.1:22379"
POSTGRESQL = "25432"
SILENT = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def run(*words, **options):
    subprocess.run(words, check=True, **{**SILENT, **options})


def redis(share):
    """2,000 SETs by one client, each of which waits for the log."""
    server = subprocess.Popen(
        ["redis-server", "--port", REDIS, "--dir", ".", "--appendonly", "yes", "--appendfsync", "always", "--save", ""],
        **SILENT,
    )
    wait_for(lambda: run("redis-cli", "-p", REDIS, "ping"))
    run("redis-benchmark", "-p", REDIS, "-t", "set", "-n", str(round(2000 * share)), "-c", "1", "-d", "256")
    subprocess.run(["redis-cli", "-p", REDIS, "shutdown"], check=False, **SILENT)
    server.wait()


def postgresql(share):
    """A new cluster, and 1,000 transactions by one client."""
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
    as_user = []
    if os.geteuid() == 0:
        run("chown", "-R", "postgres", ".")
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    bench = [*as_user, f"{programs}/pgbench", "-h", "/tmp", "-p", POSTGRESQL]
    run(*as_user, f"{programs}/initdb", "-D", "data", "-A", "trust")
    options = f"-p {POSTGRESQL} -k /tmp -c listen_addresses="
    run(*as_user, f"{programs}/pg_ctl", "-s", "-w", "-D", "data", "-l", "log", "-o", options, "start")
    try:
        run(*bench, "-i", "-q", "-s", "2", "postgres")
        run(*bench, "-n", "-N", "-c", "1", "-t", str(round(1000 * share)), "postgres")
    finally:
        run(*as_user, f"{programs}/pg_ctl", "-s", "-w", "-D", "data", "-m", "fast", "stop")


def etcd(share):
    """500 puts by one client."""
    peer = ETCD.replace("1:2", "1:3")
    command = ["etcd", "--data-dir", "etcd", "--listen-client-urls", ETCD, "--advertise-client-urls", ETCD]
    command += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"]
    server = subprocess.Popen(command, **SILENT)
    try:
        wait_for(lambda: urllib.request.urlopen(f"{ETCD}/health", timeout=5).read())
        for number in range(round(500 * share)):
            entry = {"key": f"k{number % 100}", "value": "x" * 256}
            body = json.dumps({name: base64.b64encode(text.encode()).decode() for name, text in entry.items()})
            put = urllib.request.Request(f"{ETCD}/v3/kv/put", body.encode(), {"Content-Type": "application/json"})
            urllib.request.urlopen(put, timeout=60).read()
    finally:
        server.terminate()
        server.wait()


def dpkg(share):
    """Unpacks six packages of 60 files of 16 kB."""
    with tempfile.TemporaryDirectory() as outside:
        packages = []
        for package in range(6):
            folder = f"{outside}/p{package}"
            os.makedirs(f"{folder}/DEBIAN")
            os.makedirs(f"{folder}/usr/share/p{package}")
            with open(f"{folder}/DEBIAN/control", "w") as control:
                words = f"Package: p{package}\nVersion: 1\nArchitecture: all\nMaintainer: n <n@example.org>\nDescription: d\n"
                control.write(words)
            for number in range(round(60 * share)):
                with open(f"{folder}/usr/share/p{package}/{number}", "wb") as file:
                    file.write(random.Random(number).randbytes(16000))
            run("dpkg-deb", "--root-owner-group", "-b", folder, f"{outside}/p{package}.deb")
            packages.append(f"{outside}/p{package}.deb")
        os.makedirs("root/var/lib/dpkg/info")
        os.makedirs("root/var/lib/dpkg/updates")
        open("root/var/lib/dpkg/status", "w").close()
        run("dpkg", f"--root={os.getcwd()}/root", "--log=/dev/null", "--force-all", "--unpack", *packages)


def sqlite(share):
    """500 commits with the default journal."""
    database = sqlite3.connect("t.db", isolation_level=None)
    database.execute("create table t(k integer primary key, v blob)")
    for number in range(round(500 * share)):
        database.execute("insert into t(v) values(?)", [random.Random(number).randbytes(400)])


def git(share):
    """40 commits of one file each, with every fsync that git has."""
    dates = {name: "2026-01-01T00:00:00Z" for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")}
    options = {"env": {**os.environ, **dates, "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}}
    identity = ["-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "core.fsync=all", "-c", "gc.auto=0"]
    run("git", "init", "-q", "r", **options)
    for number in range(round(40 * share)):
        with open(f"r/{number}", "w") as file:
            file.write(f"{number}\n" * 50)
        run("git", "-C", "r", *identity, "add", ".", **options)
        run("git", "-C", "r", *identity, "commit", "-qm", str(number), **options)


def wait_for(answer):
    for _ in range(300):
        try:
            return answer()
        except (urllib.error.URLError, ConnectionError, OSError, subprocess.CalledProcessError):
            time.sleep(0.1)
    raise SystemExit("the server does not answer")


PROGRAMS = {
    "redis": (redis, ["redis-server", "redis-benchmark"]),
    "postgresql": (postgresql, ["setpriv"]),
    "etcd": (etcd, ["etcd"]),
    "dpkg": (dpkg, ["dpkg", "dpkg-deb"]),
    "sqlite": (sqlite, []),
    "git": (git, ["git"]),
}


def is_installed(name):
    has_all = all(shutil.which(program) for program in PROGRAMS[name][1])
    return has_all and (name != "postgresql" or bool(glob.glob("/usr/lib/postgresql/*/bin/initdb")))


def main():
    if sys.argv[1] == "list":
        print(*(name for name in PROGRAMS if is_installed(name)))
        return
    PROGRAMS[sys.argv[1]][0](float(sys.argv[2]))


main()
