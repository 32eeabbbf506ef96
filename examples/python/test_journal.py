"""Run by pytest, or by itself; under `kurabe price` its flushes are counted."""

from journal import Journal


def test_entries_are_kept(path="entries"):
    journal = Journal(path)
    for number in range(50):
        journal.append(b"entry %d" % number)
    assert len(open(path, "rb").read().splitlines()) == 50


if __name__ == "__main__":
    test_entries_are_kept()
