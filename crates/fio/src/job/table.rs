//! Table of fio's options and their support in kurabe.
//!
//! The model: `options.toml` contains every option of fio 3.36 in one of its groups. Options that
//! `step.rs` reads, or that name an option of a workload, are supported. The rest is ignored or
//! refused, each with the reason.

use kurabe_core::profile::{FioForm, OPTIONS};
use kurabe_core::{DataFile, Result, Text};
use std::sync::LazyLock;

/// Support of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioOptionKind {
    /// It works as in fio.
    Done,
    /// It is accepted and has no effect.
    Idle,
    /// It is an error.
    Refused,
}

/// Purpose of a path in the value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FioPathRole {
    /// I/O goes to it.
    Target,
    /// A result is written to it: a [`kurabe_core::output_path::OutputPath`].
    Output,
}

/// Options with the same support.
#[derive(Clone, Debug)]
pub struct FioOptions {
    /// Support of all options in the group.
    pub kind: FioOptionKind,
    /// Whether they are arguments of the command line and not of a job file.
    pub of_line: bool,
    /// Names in fio's documentation.
    pub names: Vec<String>,
    /// Purpose of their values, if these are paths.
    pub path: Option<FioPathRole>,
    /// Reason. `None` for supported options.
    pub why: Option<Text>,
}

pub(super) const ALIASES: [(&str, &str); 25] = [
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("blocksize_range", "bsrange"),
    ("blockalign", "ba"),
    ("blocksize_unaligned", "bs_unaligned"),
    ("timeout", "runtime"),
    ("io_limit", "io_size"),
    ("fileoffset", "offset"),
    ("wait_for_previous", "stonewall"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("iodepth_batch_complete", "iodepth_batch_complete_min"),
    ("allrandrepeat", "randrepeat"),
    ("nr_files", "nrfiles"),
    ("ratemin", "rate_min"),
    ("ratecycle", "rate_cycle"),
    ("log_unix_epoch", "log_alternate_epoch"),
    ("disable_bw", "disable_bw_measurement"),
    ("ss", "steadystate"),
    ("ss_dur", "steadystate_duration"),
    ("ss_ramp", "steadystate_ramp_time"),
    ("ss_interval", "steadystate_check_interval"),
    ("fill_fs", "fill_device"),
    ("iomem", "mem"),
    ("mem_align", "iomem_align"),
    ("proto", "protocol"),
];

/// Options that are on if they have no value.
pub(super) const BARE: [&str; 17] = [
    "bs_unaligned",
    "exitall",
    "exitall_on_error",
    "group_reporting",
    "hipri",
    "new_group",
    "norandommap",
    "refill_buffers",
    "stonewall",
    "thread",
    "time_based",
    "verify_only",
    "write_bw_log",
    "write_iops_log",
    "write_lat_log",
    "zero_buffers",
    "fixedbufs",
];

/// Arguments of the command line without a value.
pub(super) const BARE_WORDS: [&str; 10] = [
    "parse-only",
    "merge-blktrace-only",
    "bandwidth-log",
    "minimal",
    "append-terse",
    "cpuclock-test",
    "showcmd",
    "readonly",
    "warnings-fatal",
    "prep",
];

/// Returns all options of fio, with their support.
pub fn fio_options() -> &'static [FioOptions] {
    static TABLE: LazyLock<Vec<FioOptions>> = LazyLock::new(|| {
        // A mistake in the table is found by its test.
        let mut table = read("options.toml", include_str!("options.toml")).unwrap_or_default();
        let in_same_form = OPTIONS.iter().filter(|option| option.fio_form != FioForm::Other);
        let names = in_same_form.filter_map(|option| option.fio.first()).map(|name| (*name).to_owned());
        table.push(FioOptions {
            kind: FioOptionKind::Done,
            names: names.collect(),
            of_line: false,
            path: None,
            why: None,
        });
        table
    });
    &TABLE
}

fn read(file: &str, source: &str) -> Result<Vec<FioOptions>> {
    let data = DataFile::parse(file, source)?;
    let root = data.root(&["group"])?;
    root.each("group", |group| {
        let table = group.table(&["kind", "options", "on", "path", "why"])?;
        let kind = table.require("kind")?.choice(&[
            ("done", FioOptionKind::Done),
            ("idle", FioOptionKind::Idle),
            ("refused", FioOptionKind::Refused),
        ])?;
        Ok(FioOptions {
            kind,
            of_line: table.get("on").is_some(),
            names: table.words("options")?.split(' ').map(str::to_owned).collect(),
            path: table.read("path", |value| {
                value.choice(&[("target", FioPathRole::Target), ("output", FioPathRole::Output)])
            })?,
            why: table.read("why", kurabe_core::Value::text)?,
        })
    })
}

/// Returns the group of an option.
pub(super) fn group_of(name: &str) -> Option<&'static FioOptions> {
    fio_options().iter().find(|group| group.names.iter().any(|other| other == name))
}

/// Returns the main name of an option.
pub(super) fn plain_name(name: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::profile::WorkloadOption;

    /// The options in fio 3.36's documentation, by their main names.
    const DOCUMENTED: &str = include_str!("documented.txt");

    #[test]
    fn every_documented_option_is_once_in_the_table() {
        read("options.toml", include_str!("options.toml")).unwrap();
        let table = fio_options();
        let names: Vec<&String> = table.iter().flat_map(|group| &group.names).collect();
        for name in DOCUMENTED.split_whitespace() {
            let count = names.iter().filter(|other| **other == plain_name(name)).count();
            assert_eq!(count, 1, "{name}");
        }
        assert!(table.iter().all(|group| (group.kind == FioOptionKind::Done) == group.why.is_none()));
        for name in BARE.iter().chain(&BARE_WORDS) {
            assert!(group_of(name).is_some(), "{name}");
        }
    }

    #[test]
    fn every_path_of_an_option_that_is_done_has_a_role() {
        const NO_PATHS: [&str; 5] =
            ["filesize", "nrfiles", "per_job_logs", "output-format", "sync_file_range"];
        let sounds_like_a_path = |name: &str| {
            ["file", "directory", "log", "output", "path", "state", "trace", "dump", "trigger"]
                .iter()
                .any(|part| name.contains(part))
        };
        for group in fio_options().iter().filter(|group| group.kind == FioOptionKind::Done) {
            for name in group.names.iter().map(String::as_str) {
                let is_path =
                    sounds_like_a_path(name) && !NO_PATHS.contains(&name) && !name.starts_with("steadystate");
                assert_eq!(group.path.is_some(), is_path, "{name}: whose role is not known");
            }
        }
    }

    #[test]
    fn what_is_done_is_read() {
        let readers = [
            include_str!("../job.rs"),
            include_str!("step.rs"),
            include_str!("order.rs"),
            include_str!("region.rs"),
            include_str!("steady.rs"),
            include_str!("../log.rs"),
            include_str!("options.rs"),
            include_str!("line.rs"),
        ];
        for group in fio_options().iter().filter(|group| group.kind == FioOptionKind::Done) {
            for name in &group.names {
                let by_hand = readers.iter().any(|reader| reader.contains(&format!("\"{name}\"")));
                let is_in_same_form = |option: &WorkloadOption| {
                    option.fio_form != FioForm::Other && option.fio.first() == Some(&name.as_str())
                };
                assert!(by_hand || OPTIONS.iter().any(is_in_same_form), "{name}");
            }
        }
    }

    #[test]
    fn what_a_workload_has_a_word_for_is_done() {
        for name in OPTIONS.iter().flat_map(|option| option.fio.iter()) {
            assert_eq!(
                group_of(plain_name(name)).map(|group| group.kind),
                Some(FioOptionKind::Done),
                "{name}"
            );
        }
    }
}
