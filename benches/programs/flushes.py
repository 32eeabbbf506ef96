#!/usr/bin/env python3
"""Programs that flush their log at each commit, and the time of a flush as they report it.

    flushes.py list             prints the programs that are installed here
    flushes.py NAME SECONDS     runs one in the current folder for so long; prints its flushes and their mean in ms as JSON

etcd reports wal_fsync_duration_seconds, PostgreSQL wal_sync_time. SQLite reports nothing: its commits are timed from outside.
"""
import base64
import glob
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

ETCD = "http://127.0.0.1:23791"
PORT = "25499"


def etcd(seconds):
    """Four clients put values of 256 bytes."""
    peer = ETCD.replace("1:2", "1:3")
    command = ["etcd", "--data-dir", "etcd", "--listen-client-urls", ETCD, "--advertise-client-urls", ETCD]
    command += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"]
    with open("etcd.log", "w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        wait_for(lambda: urllib.request.urlopen(f"{ETCD}/health", timeout=5).read())
        before = etcd_flushes()
        until = time.monotonic() + seconds
        clients = [threading.Thread(target=put_until, args=(client, until)) for client in range(4)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        after = etcd_flushes()
        return after[0] - before[0], (after[1] - before[1]) * 1e3
    finally:
        server.kill()
        server.wait()


def put_until(client, until):
    number = 0
    while time.monotonic() < until:
        entry = {"key": f"{client}-{number % 100}", "value": "x" * 256}
        body = json.dumps({name: base64.b64encode(text.encode()).decode() for name, text in entry.items()})
        request = urllib.request.Request(f"{ETCD}/v3/kv/put", body.encode(), {"Content-Type": "application/json"})
        urllib.request.urlopen(request, timeout=60).read()
        number += 1


def etcd_flushes():
    """Number and sum in seconds."""
    page = urllib.request.urlopen(f"{ETCD}/metrics").read().decode()
    value = {line.split()[0]: float(line.split()[-1]) for line in page.splitlines() if not line.startswith("#")}
    return value["etcd_disk_wal_fsync_duration_seconds_count"], value["etcd_disk_wal_fsync_duration_seconds_sum"]


def postgresql(seconds):
    """One client of pgbench, whose every transaction is a commit."""
    programs = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "postgres", "."], check=True)

    def run(*words):
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
        answer = subprocess.run([*as_user, *words], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        return answer.stdout.decode()

    def query(text):
        return run(f"{programs}/psql", "-h", "/tmp", "-p", PORT, "-qAt", "-F", " ", "-c", text, "postgres").split()

    run(f"{programs}/initdb", "-N", "-D", "data", "-A", "trust")
    options = f"-p {PORT} -k /tmp -c listen_addresses= -c track_wal_io_timing=on -c autovacuum=off"
    run(f"{programs}/pg_ctl", "-s", "-w", "-D", "data", "-l", "log", "-o", options, "start")
    try:
        bench = [f"{programs}/pgbench", "-h", "/tmp", "-p", PORT]
        run(*bench, "-i", "-q", "-s", "2", "postgres")
        query("checkpoint")
        query("select pg_stat_reset_shared('wal')")
        run(*bench, "-n", "-N", "-T", str(round(seconds)), "postgres")
        count, sum_ms = query("select wal_sync, wal_sync_time from pg_stat_wal")
        return float(count), float(sum_ms)
    finally:
        run(f"{programs}/pg_ctl", "-s", "-w", "-D", "data", "-m", "immediate", "stop")


def sqlite(seconds):
    """Commits of one row, after a log of 1,000 pages that is then written over."""
    database = sqlite3.connect("t.db", isolation_level=None)
    database.execute("pragma journal_mode=wal")
    database.execute("create table t(k integer primary key, v blob)")
    database.execute("pragma synchronous=normal")
    for _ in range(1100):
        insert(database)
    database.execute("pragma synchronous=full")
    database.execute("pragma wal_autocheckpoint=0")
    durations_s, until = [], time.monotonic() + seconds
    # Fewer than the log has pages.
    while time.monotonic() < until and len(durations_s) < 900:
        start = time.monotonic()
        insert(database)
        durations_s.append(time.monotonic() - start)
    return float(len(durations_s)), sum(durations_s) * 1e3


def insert(database):
    database.execute("insert into t(v) values(randomblob(400))")


def wait_for(answer):
    for _ in range(300):
        try:
            return answer()
        except (urllib.error.URLError, ConnectionError, OSError):
            time.sleep(0.1)
    raise SystemExit("the server does not answer")


def main():
    if sys.argv[1] == "list":
        has_postgresql = bool(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        installed = {"etcd": bool(shutil.which("etcd")), "postgresql": has_postgresql, "sqlite": True}
        print(*(name for name, is_there in installed.items() if is_there))
        return
    run = {"etcd": etcd, "postgresql": postgresql, "sqlite": sqlite}[sys.argv[1]]
    count, sum_ms = run(float(sys.argv[2]))
    print(json.dumps({"flushes": count, "mean_ms": sum_ms / max(count, 1.0)}))


main()
