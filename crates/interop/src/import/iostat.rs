//! sysstat's iostat: extended (`-x`), plain and short (`-s`) text, and JSON.
//!
//! The model: columns are known by their names, which changed with the versions, not by their places. `kB` is 1024
//! bytes, `MB` 1024 of those, a sector 512 bytes, whatever the disk's own; `await` is ms and counts the time in the
//! queue. Reports and what is left out of them: see `reports`. iostat's manual page.

use super::json_tree::Json;
use super::lab::{self, Unit};
use super::reports::{self, Column, Report, Row};
use super::{Input, Outcome, dates, parts};
use kurabe_core::imported::{Origin, Quantity};
use kurabe_core::text;
use kurabe_core::workload::Direction;

const REQUESTS_PER_S: Unit = lab::unit("1/s", Quantity::Iops, 1.0);
const QUEUE: Unit = lab::unit("", Quantity::QueueLength, 1.0);

/// A column of iostat by its name; `None` if kurabe does not read it.
fn column(name: &str) -> Option<Column> {
    const READ: (Option<Direction>, &str) = (Some(Direction::Read), "");
    const WRITE: (Option<Direction>, &str) = (Some(Direction::Write), "");
    const ALL: (Option<Direction>, &str) = (None, "");
    const DISCARD: (Option<Direction>, &str) = (None, "discard");
    const FLUSH: (Option<Direction>, &str) = (None, "flush");
    let rate = |name, base| lab::unit(name, Quantity::Rate, base);
    let size = |name, base| lab::unit(name, Quantity::Bytes, base);
    let ((direction, part), unit) = match name {
        "r/s" => (READ, REQUESTS_PER_S),
        "w/s" => (WRITE, REQUESTS_PER_S),
        "d/s" => (DISCARD, REQUESTS_PER_S),
        "f/s" => (FLUSH, REQUESTS_PER_S),
        "tps" => (ALL, REQUESTS_PER_S),
        "rkB/s" | "kB_read/s" => (READ, rate("kB/s", 1024.0)),
        "wkB/s" | "kB_wrtn/s" => (WRITE, rate("kB/s", 1024.0)),
        "dkB/s" | "kB_dscd/s" => (DISCARD, rate("kB/s", 1024.0)),
        "kB/s" => (ALL, rate("kB/s", 1024.0)),
        "rMB/s" | "MB_read/s" => (READ, rate("MB/s", 1_048_576.0)),
        "wMB/s" | "MB_wrtn/s" => (WRITE, rate("MB/s", 1_048_576.0)),
        "dMB/s" | "MB_dscd/s" => (DISCARD, rate("MB/s", 1_048_576.0)),
        "MB/s" => (ALL, rate("MB/s", 1_048_576.0)),
        "rsec/s" => (READ, rate("sectors/s", 512.0)),
        "wsec/s" => (WRITE, rate("sectors/s", 512.0)),
        "rrqm/s" => (READ, REQUESTS_PER_S),
        "wrqm/s" => (WRITE, REQUESTS_PER_S),
        "drqm/s" => (DISCARD, REQUESTS_PER_S),
        "r_await" => (READ, lab::MILLISECONDS),
        "w_await" => (WRITE, lab::MILLISECONDS),
        "d_await" => (DISCARD, lab::MILLISECONDS),
        "f_await" => (FLUSH, lab::MILLISECONDS),
        "await" => (ALL, lab::MILLISECONDS),
        "rareq-sz" => (READ, size("kB", 1024.0)),
        "wareq-sz" => (WRITE, size("kB", 1024.0)),
        "dareq-sz" => (DISCARD, size("kB", 1024.0)),
        "areq-sz" => (ALL, size("kB", 1024.0)),
        "avgrq-sz" => (ALL, size("sectors", 512.0)),
        "aqu-sz" | "avgqu-sz" => (ALL, QUEUE),
        "%util" | "util" => (ALL, lab::PERCENT),
        _ => return None,
    };
    Some(Column { name: name.to_owned(), unit, direction, part })
}

/// Rates first, as the first figure of a cell is its main one.
fn ordered(names: &[&str]) -> Vec<(usize, Column)> {
    let mut columns: Vec<_> =
        names.iter().enumerate().filter_map(|(at, name)| Some((at, column(name)?))).collect();
    columns.sort_by_key(|(at, column)| (column.unit.quantity != Quantity::Rate, *at));
    columns
}

/// The names of a header of devices, the first column's own left out.
fn header(line: &str) -> Option<Vec<&str>> {
    let mut names: Vec<&str> = line.split_whitespace().collect();
    let device = column(names.first()?).is_none() && names[0].starts_with(|c: char| c.is_alphabetic());
    let has_rates = names.contains(&"r/s") && names.contains(&"w/s")
        || names.contains(&"tps")
            && names.iter().any(|name| name.ends_with("B/s") || name.contains("B_read/s"));
    (device && has_rates).then(|| names.split_off(1))
}

/// Reads iostat's text.
pub(super) fn read_text(input: &Input<'_>) -> Outcome {
    let banner = input.lines().find(|(_, line)| line.starts_with("Linux ") && line.contains(" CPU)"));
    let for_people =
        |line: &str| line.ends_with(" Device") && line.split_whitespace().any(|name| name == "%util");
    if let Some((number, _)) = input.lines().find(|(_, line)| for_people(line)) {
        let what = text!(
            "this is iostat's output for people (`-h`), whose numbers are rounded and carry units",
            "これは人が読むための iostat の出力(`-h`)で、数値が丸められ単位付きになっています"
        );
        return lab::broken(input, number, what);
    }
    let first = input.lines().find_map(|(_, line)| header(line));
    let Some(names) = first else {
        return Outcome::NotMine(text!(
            "no line holds iostat's columns `r/s` and `w/s`, or `tps`",
            "iostat の列 `r/s` と `w/s`、または `tps` の行がありません"
        ));
    };
    let columns = ordered(&names);
    let mut origin = origin(input, "iostat-text");
    if let Some((_, banner)) = banner {
        let date = banner.split('\t').map(str::trim).find(|part| dates::from_numeric(part).is_some());
        origin.measured_at = date.and_then(dates::from_numeric);
    }
    let mut reports: Vec<Report> = Vec::new();
    let mut time = None;
    let mut within = false;
    for (number, line) in input.lines() {
        if let Some(header) = header(line) {
            if header != names {
                let what = text!("the columns change here", "ここで列が変わっています");
                return lab::broken(input, number, what);
            }
            reports.push(Report { time: time.take(), rows: Vec::new() });
            within = true;
        } else if line.trim().is_empty() {
            within = false;
        } else if within {
            // Where the device's name is long, iostat puts it in front all the same, or last with `-h`.
            let mut fields = line.split_whitespace();
            let device = fields.next().unwrap_or("").trim_end_matches(':').to_owned();
            let fields: Vec<&str> = fields.collect();
            if fields.len() != names.len() {
                let what =
                    text!("this row has not the columns of its header", "この行の列数が見出しと合いません");
                return lab::broken(input, number, what);
            }
            // Some locales print a decimal comma.
            let fields = columns.iter().map(|(at, _)| fields[*at].replace(',', ".")).collect();
            if let Some(report) = reports.last_mut() {
                report.rows.push(Row { device, fields });
            }
        } else if !line.starts_with("Linux ") {
            time = dates::from_numeric(line).filter(|iso| iso.contains('T')).or(time);
        }
    }
    finish(input, origin, columns, reports)
}

/// Reads iostat's JSON (`-o JSON`).
pub(super) fn read_json(input: &Input<'_>) -> Outcome {
    let text = input.text().unwrap_or("");
    if !(text.contains("\"sysstat\"") && text.contains("\"disk_device\"")) {
        return Outcome::NotMine(text!(
            "it has no keys `sysstat` and `disk_device`",
            "`sysstat` と `disk_device` というキーがありません"
        ));
    }
    let documents = match parts::documents_of(input, text, "iostat") {
        Ok(documents) => documents,
        Err(error) => return Outcome::Broken(error),
    };
    let host = documents.first().and_then(|json| json.get("sysstat")?.get("hosts")?.items().first());
    let statistics = host.and_then(|host| host.get("statistics")).map_or(&[][..], Json::items);
    let disks = |report: &'_ Json| report.get("disk").map(|disks| disks.items().to_vec()).unwrap_or_default();
    let first = statistics.iter().find_map(|report| disks(report).first().cloned());
    let names: Vec<&str> =
        first.as_ref().map_or(&[][..], Json::members).iter().map(|(name, _)| name.as_str()).collect();
    let columns = ordered(&names);
    let mut origin = origin(input, "iostat-json");
    origin.measured_at = host.and_then(|host| host.text_of("date")).and_then(dates::from_numeric);
    let reports = statistics.iter().map(|report| Report {
        time: report.text_of("timestamp").and_then(dates::from_numeric).filter(|iso| iso.contains('T')),
        rows: disks(report)
            .iter()
            .map(|disk| Row {
                device: disk.text_of("disk_device").unwrap_or("").to_owned(),
                fields: columns
                    .iter()
                    .map(|(_, column)| disk.text_of(&column.name).unwrap_or("").to_owned())
                    .collect(),
            })
            .collect(),
    });
    finish(input, origin, columns.clone(), reports.collect())
}

fn origin(input: &Input<'_>, format: &str) -> Origin {
    Origin {
        tool: "iostat".to_owned(),
        format: format.to_owned(),
        file: input.name.to_owned(),
        ..Origin::default()
    }
}

fn finish(input: &Input<'_>, origin: Origin, columns: Vec<(usize, Column)>, reports: Vec<Report>) -> Outcome {
    let columns: Vec<Column> = columns.into_iter().map(|(_, column)| column).collect();
    let Some(mut run) = reports::run(origin, &columns, reports) else {
        return lab::nothing_measured(input, "iostat");
    };
    let cells = run.cells.iter_mut().filter_map(|cell| cell.imported.as_mut());
    for figure in cells.flat_map(|cell| &mut cell.figures) {
        lab::mark_binary_unit(figure, "iostat");
    }
    Outcome::Runs(vec![run])
}

#[cfg(test)]
mod tests {
    use super::super::lab::test::*;
    use super::*;
    use kurabe_core::imported::{PrintedStatistic as Statistic, SeriesAxis};

    #[test]
    fn the_report_since_boot_is_left_out() {
        let run = &imported("lab/iostat-x.txt")[0];
        assert_eq!(run.origin.measured_at.as_deref(), Some("2026-11-21"));
        assert!(run.notices[0].text.en.contains("since boot"));
        let labels: Vec<_> = run.cells.iter().map(|cell| (cell.label.as_str(), cell.direction)).collect();
        let (read, write) = (Some(Direction::Read), Some(Direction::Write));
        let expected =
            [("vda", read), ("vda", write), ("vda discard", None), ("vda flush", None), ("vda all", None)];
        assert_eq!(labels, expected);
        let write = find(run, "vda write");
        let rate = |statistic| figure(write, Quantity::Rate, statistic, Some("wkB/s"));
        assert_figure(rate(Statistic::Highest), "65548.00", "kB/s", 65_548.0 * 1024.0);
        assert_eq!(rate(Statistic::Highest).correction.as_ref().map(|c| c.factor), Some(1.024));
        assert_figure(rate(Statistic::Lowest), "0.00", "kB/s", 0.0);
        let waited = figure(write, Quantity::Latency, Statistic::Highest, Some("w_await"));
        assert_figure(waited, "15.40", "ms", 15.4e6);
        let series = of(write).series.iter().find(|series| series.name == "w/s").unwrap();
        assert_eq!(
            (series.axis, series.points.as_slice()),
            (SeriesAxis::Number, &[(0.0, 0.0), (1.0, 20.0)][..])
        );
        let all = find(run, "vda all");
        assert_figure(
            figure(all, Quantity::QueueLength, Statistic::Highest, Some("aqu-sz")),
            "0.31",
            "",
            0.31,
        );
        assert_figure(figure(all, Quantity::Share, Statistic::Highest, Some("%util")), "2.00", "%", 0.02);
    }

    #[test]
    fn printed_times_are_the_axis() {
        for name in ["lab/iostat-xt.txt", "lab/iostat-t.json"] {
            let run = &imported(name)[0];
            assert!(run.origin.measured_at.as_deref().unwrap().starts_with("2026-11-21T13:23:4"), "{name}");
        }
        let run = &imported("lab/iostat-xt.txt")[0];
        let series = &of(find(run, "vda read")).series[0];
        assert_eq!((series.axis, series.points.len()), (SeriesAxis::Time, 2));
        assert_eq!((series.points[0], series.points[1].0), ((0.0, 356.44 * 1024.0), 1e9));
    }

    #[test]
    fn json_short_plain_and_old_forms() {
        let json = &imported("lab/iostat.json")[0];
        let waited = figure(find(json, "vda write"), Quantity::Latency, Statistic::Highest, Some("w_await"));
        assert_figure(waited, "0.35", "ms", 350_000.0);
        // A report since boot and one of an interval: the interval alone is the figure.
        let short = &imported("lab/iostat-xs.txt")[0];
        assert_figure(&of(find(short, "vda all")).figures[0], "0.00", "kB/s", 0.0);
        let two = &imported("lab/iostat-xm-two.txt")[0];
        assert_figure(&of(find(two, "vda read")).figures[0], "0.00", "MB/s", 0.0);
        let plain = &imported("lab/iostat-plain.txt")[0];
        assert_eq!(of(find(plain, "vda read")).figures[0].of, Some("kB_read/s".to_owned().into()));
        let old = &imported("lab/iostat-10-single.txt")[0];
        assert!(old.notices[0].text.en.contains("single report"));
        let all = find(old, "sda all");
        assert_figure(
            figure(all, Quantity::Bytes, Statistic::Mean, Some("avgrq-sz")),
            "27.56",
            "sectors",
            27.56 * 512.0,
        );
        assert_figure(figure(all, Quantity::Latency, Statistic::Mean, Some("await")), "2.75", "ms", 2.75e6);
    }

    #[test]
    fn output_for_people_is_refused() {
        let text = "Linux 6.1.0 (host) \t11/21/26 \t_x86_64_\t(2 CPU)\n\n     tps      kB/s    rqm/s   await  areq-sz  \
                    aqu-sz  %util Device\n  309.04     15.3M    37.13    0.34    50.7k    0.11   2.2% vda\n";
        let error = super::super::import("a", text.as_bytes()).unwrap_err();
        assert!(error.what().en.contains("for people"), "{error}");
    }

    #[test]
    fn damage_is_survived() {
        for name in ["iostat-x.txt", "iostat-xt.txt", "iostat.json", "iostat-10-single.txt"] {
            assert_survives_damage(&format!("lab/{name}"));
        }
    }
}
