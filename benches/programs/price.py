#!/usr/bin/env python3
"""Programs whose price must be the same each time: price.py CASE [more]. With `more`, one fsync is added at the end.

Everything is written into the current folder. What is random or of the clock is fixed: names, contents, dates of git.
"""

import os
import sqlite3
import subprocess
import sys

COMMITS = 40
BLOCK = b"x" * 4096


def synced(flags, sync):
    """Writes one block again and again, each time made durable."""
    data = os.open("data", os.O_CREAT | os.O_RDWR | flags, 0o644)
    for _ in range(COMMITS):
        os.pwrite(data, BLOCK, 0)
        sync(data)


def replaced():
    """Replaces a file the safe way: write a temporary file, flush it, rename it, flush the folder."""
    folder = os.open(".", os.O_RDONLY)
    for number in range(COMMITS):
        temporary = os.open("data.tmp", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o644)
        os.write(temporary, b"%04d" % number + BLOCK)
        os.fsync(temporary)
        os.close(temporary)
        os.rename("data.tmp", "data")
        os.fsync(folder)


def sqlite(journal):
    """Commits rows to SQLite."""
    base = sqlite3.connect("base.db", isolation_level=None)
    base.execute(f"PRAGMA journal_mode={journal}")
    base.execute("PRAGMA synchronous=FULL")
    base.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, text TEXT)")
    for number in range(COMMITS):
        base.execute("INSERT INTO rows VALUES (?, ?)", (number, "x" * 100))
    base.close()


def git():
    """Commits files to a fresh repository of git."""
    dates = {name: "2026-01-01T00:00:00Z" for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")}
    names = {f"GIT_{who}_{what}": "kurabe" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **dates, **names, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}

    def run(*words):
        subprocess.run(["git", *words], check=True, env=environment, stdout=subprocess.DEVNULL)

    run("init", "-q", "-b", "main")
    run("config", "core.fsync", "all")
    run("config", "gc.auto", "0")
    for number in range(5):
        with open(f"file{number}", "wb") as file:
            file.write(b"%04d" % number + BLOCK)
        run("add", ".")
        run("commit", "-q", "-m", f"commit {number}")


def tar():
    """Packs a folder and unpacks it again."""
    os.mkdir("from")
    for number in range(64):
        with open(f"from/{number:03}", "wb") as file:
            file.write(b"%04d" % number + BLOCK * (number % 7))
    os.mkdir("to")
    subprocess.run(["tar", "-cf", "from.tar", "from"], check=True)
    subprocess.run(["tar", "-xf", "from.tar", "-C", "to"], check=True)


def nothing(_):
    """For writes that the file itself makes durable."""


CASES = {
    "fsync": lambda: synced(0, os.fsync),
    "fdatasync": lambda: synced(0, os.fdatasync),
    "O_SYNC": lambda: synced(os.O_SYNC, nothing),
    "O_DSYNC": lambda: synced(os.O_DSYNC, nothing),
    "rename": replaced,
    "sqlite-wal": lambda: sqlite("WAL"),
    "sqlite-delete": lambda: sqlite("DELETE"),
    "git": git,
    "tar": tar,
}

if sys.argv[1] == "list":
    print("\n".join(CASES))
else:
    CASES[sys.argv[1]]()
    if sys.argv[2:] == ["more"]:
        more = os.open("more", os.O_CREAT | os.O_WRONLY, 0o644)
        os.write(more, BLOCK)
        os.fsync(more)
