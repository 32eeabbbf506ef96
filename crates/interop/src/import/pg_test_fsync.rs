//! PostgreSQL's `pg_test_fsync`: time until writes are durable, by method.
//!
//! The model: a heading describes the rows below it, and each row is a cell with durable writes per
//! second and the time of each. An operation is one or several writes with their sync. Every figure is
//! a mean over some seconds, so percentiles are unknown. Writes without a sync go to the page cache and
//! are skipped. The program runs one operation at a time, always at the start of its file. Before
//! version 9.2, rows have no time. Source: src/bin/pg_test_fsync/pg_test_fsync.c of postgres/postgres.

use super::kit::*;
use super::room;

/// Rows since version 9.3, of 9.2, and before.
const ROWS: [&str; 3] = ["{}ops/sec{}usecs/op", "{}ops/sec ({}microsecs/op)", "{}ops/sec"];
const DURATION: &str = "{} seconds per test";
const DIRECT: &str = "O_DIRECT supported on this platform for {}.";
const METHODS: [&str; 5] = ["open_datasync", "fdatasync", "fsync", "fsync_writethrough", "open_sync"];
const HONORED: [&str; 3] = ["write, fsync, close", "write, close, fsync", "write, close"];
const CACHED: &str = "write";
const IOPS: ToolUnit = units::unit("ops/sec", Quantity::Iops, 1.0);
const MICROSECONDS: ToolUnit = units::unit("usecs/op", Quantity::Latency, 1e3);

pub(super) const IMPORTER: Importer = Importer::of(
    ("pg_test_fsync text", "pg_test_fsync", &["pg_test_fsync"]),
    Recognizer::Lines(line_mark),
    read,
);

fn line_mark(line: &str) -> LineMark {
    match () {
        () if fits(DURATION, line) => LineMark::Begins,
        () if fits(DIRECT, line) || heading(line).is_some() || Row::read(line).is_some() => LineMark::Belongs,
        () => LineMark::None,
    }
}

/// Returns the description of the rows below a heading, without the common words.
fn heading(line: &str) -> Option<&str> {
    if let Some([writes]) = holes("Compare file sync methods using {}:", line) {
        return Some(writes);
    }
    let others = [
        "Compare open_sync with different write sizes:",
        "Test if fsync on non-write file descriptor is honored:",
    ];
    let is_cached = holes::<1>("Non-sync'ed {} writes:", line).is_some();
    (is_cached || others.contains(&line.trim())).then_some("")
}

/// A row with its known values.
struct Row<'a> {
    name: &'a str,
    iops: &'a str,
    time: Option<&'a str>,
}

impl<'a> Row<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let (start, time) = match (holes::<2>(ROWS[0], line), holes::<2>(ROWS[1], line)) {
            (Some([start, time]), _) | (None, Some([start, time])) => (start, Some(time)),
            (None, None) => (holes::<1>(ROWS[2], line)?[0], None),
        };
        let (name, iops) = start.trim_end().rsplit_once(char::is_whitespace)?;
        let name = name.trim_end();
        let is_size = || holes::<2>("{} * {}open_sync write", name.trim_end_matches('s')).is_some();
        let is_known = METHODS.contains(&name) || HONORED.contains(&name) || name == CACHED || is_size();
        (is_known && number(iops).is_some()).then_some(Self { name, iops, time })
    }

    fn cell(&self, writes: &str) -> Option<Cell> {
        let of = FigureOf::SyncLatency;
        let iops = IOPS.figure(Statistic::Mean, self.iops)?;
        let time = self.time.and_then(|time| MICROSECONDS.figure_of(of.clone(), Statistic::Mean, time));
        // Without a printed time, the time per operation is a second divided by the number of
        // operations.
        let time = time.filter(|time| time.value > 0.0);
        let label = match writes {
            "" => self.name.split_whitespace().collect::<Vec<_>>().join(" "),
            writes => format!("{writes}, {}", self.name),
        };
        let imported = ImportedCell {
            procedure: Some(label.clone()),
            iodepth: Some(1),
            threads: Some(1),
            figures: std::iter::once(iops).chain(time).collect(),
            ..ImportedCell::default()
        };
        Some(cell(label, Some(Direction::Write), imported))
    }
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let mut origin = input.origin("pg_test_fsync", "pg-test-fsync");
    let (mut cells, mut cached, mut writes) = (Vec::new(), None, "");
    // Results above those of another system, in an excerpt without headings.
    let mut above: Vec<(Vec<Cell>, Option<String>)> = Vec::new();
    for (_, line) in input.lines() {
        if let Some(of_heading) = heading(line) {
            writes = of_heading;
        } else if let Some([seconds]) = holes(DURATION, line) {
            origin.procedure = Some(format!("{seconds} seconds per test"));
        } else if let Some([methods]) = holes(DIRECT, line) {
            fact(&mut origin, "O_DIRECT", methods);
        } else if let Some(row) = Row::read(line) {
            let next = row.cell(writes).filter(|_| row.name != CACHED);
            if next.as_ref().is_some_and(|next| cells.iter().any(|cell: &Cell| cell.label == next.label)) {
                above.push((std::mem::take(&mut cells), cached.take()));
            }
            cells.extend(next);
            if row.name == CACHED {
                cached = Some(row.iops.to_owned());
            }
        }
    }
    if cells.is_empty() {
        return without_line("fdatasync   551.816 ops/sec   1812 usecs/op");
    }
    let means = notice(text!(
        "pg_test_fsync prints only means: percentiles such as p99 are unknown",
        "pg_test_fsync は平均だけを表示します。p99 などのパーセンタイルは不明です"
    ));
    let runs = above.into_iter().chain([(cells, cached)]).map(|(cells, cached)| {
        room::take(size_of::<ImportedRun>());
        let cached = cached.map(|cached| {
            notice(text!(
                "not imported: {cached} writes per second without a sync, which is the speed of memory",
                "同期しない書き込み(毎秒 {cached} 回)はメモリーの速度なので取り込んでいません"
            ))
        });
        let notices = [Some(means.clone()), cached].into_iter().flatten().collect();
        ImportedRun { origin: origin.clone(), cells, notices, ..ImportedRun::default() }
    });
    Ok(runs.collect())
}

#[cfg(test)]
mod tests {
    use super::super::import;
    use super::super::units::test::*;
    use super::*;

    #[test]
    fn rows_of_all_versions_are_read() {
        for (line, time) in [
            ("        fdatasync                           551.816 ops/sec    1812 usecs/op", Some("1812")),
            ("        fdatasync                         551.816 ops/sec (  1812 microsecs/op)", Some("1812")),
            ("        fdatasync                         551.816 ops/sec", None),
        ] {
            let row = Row::read(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((row.name, row.iops, row.time), ("fdatasync", "551.816", time), "{line}");
        }
        for line in
            ["Children see throughput for 1 readers = 5.00 ops/sec", "fsync n/a", "ops/sec", "5 ops/sec"]
        {
            assert!(Row::read(line).is_none(), "{line}");
        }
    }

    #[test]
    fn rows_keep_their_heading_and_memory_is_left_out() {
        let text = "5 seconds per test\nCompare file sync methods using one 8kB write:\n\
                    \x20       fsync    157.140 ops/sec    6364 usecs/op\n\
                    Compare file sync methods using two 8kB writes:\n\
                    \x20       fsync    158.240 ops/sec    6320 usecs/op\n\
                    Compare open_sync with different write sizes:\n\
                    \x20        2 *  8kB open_sync writes           79.557 ops/sec   12570 usecs/op\n\
                    Non-sync'ed 8kB writes:\n\
                    \x20       write    2012483.469 ops/sec       0 usecs/op\n";
        let run = import("a.txt", text.as_bytes()).unwrap().remove(0);
        let labels: Vec<&str> = run.cells.iter().map(|cell| cell.label.as_str()).collect();
        assert_eq!(labels, ["one 8kB write, fsync", "two 8kB writes, fsync", "2 * 8kB open_sync writes"]);
        assert_eq!(of(&run.cells[0]).durable_iops(), Some(157.14));
        assert!(run.notices[1].text.en.contains("2012483.469 writes per second"), "{:?}", run.notices);
    }
}
