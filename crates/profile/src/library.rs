//! The profiles that come with kurabe, from the folder `profiles/`.
//!
//! # To add a profile
//!
//! - Write `profiles/NAME.toml` (docs/profiles.md) with its source. `differs` says where kurabe differs from the tool.
//! - Add its name to `PROFILES`.
//! - If it follows a tool, test the order of its cells.

use kurabe_core::library::{names, text_named};
use kurabe_core::{ErrorKind, Result};
use kurabe_core::{library, mention, nearest_of_many, profile::Profile, text};

/// Name and text of every profile, in the order in which they are listed.
pub const PROFILES: &[(&str, &str)] = library!["profiles", ".toml":
    "default",
    "quick",
    "stutter",
    "probe",
    "uses",
    "cdm-9",
    "cdm-9-peak",
    "cdm-9-real",
    "cdm-9-demo",
    "cdm-9-nvme",
    "cdm-9-flash",
    "cdm-9-mix",
    "cdm-8",
    "cdm-8-nvme",
    "cdm-7",
    "cdm-6",
    "cdm-5",
    "cdm-3",
    "cdm-2",
    "adm-4",
    "adm-1",
    "kdiskmark-3",
    "kdiskmark-3-peak",
    "kdiskmark-3-real",
    "kdiskmark-3-nvme",
    "gnome-disks",
    "gnome-disks-46",
    "hdtune",
    "as-ssd",
    "atto",
    "macbench-5-1024k",
    "hdparm-t",
    "dd",
    "ioping",
    "ioping-r",
    "bonnie-seeks",
    "snia-pts-iops",
    "snia-pts-throughput",
    "snia-pts-throughput-1024k",
    "snia-pts-latency",
    "snia-wsat",
    "snia-iops-small",
    "snia-latency-small",
    "snia-wsat-small",
    "delay-ratio",
    "delay-ratio-sweep",
    "git-pull",
    "git-pull-large",
    "git-pull-ports",
    "ior-easy",
    "ior-hard",
    "mdtest-easy",
    "mdtest-hard",
    "io500",
];

/// Profiles for most users, in the order in which they are listed.
pub const EVERYDAY: [&str; 9] =
    ["default", "quick", "stutter", "uses", "cdm-9", "adm-4", "kdiskmark-3", "gnome-disks", "git-pull"];

/// Name prefixes of profiles that take long or answer a special question. All others reproduce
/// other tools.
const SPECIAL: [&str; 6] = ["probe", "snia", "delay", "git-pull", "ior-", "mdtest"];

/// A group of profiles in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileGroup {
    /// Profiles for most users.
    Everyday,
    /// Profiles that reproduce other tools.
    OtherTools,
    /// Profiles that take long or answer a special question.
    Special,
}

impl ProfileGroup {
    /// All groups, in the order in which they are listed.
    pub const ALL: [Self; 3] = [Self::Everyday, Self::OtherTools, Self::Special];

    /// Returns the group of a built-in profile.
    pub fn of(name: &str) -> Self {
        let is_special = name == "io500" || SPECIAL.iter().any(|start| name.starts_with(start));
        match EVERYDAY.contains(&name) {
            true => Self::Everyday,
            false if is_special => Self::Special,
            false => Self::OtherTools,
        }
    }
}

/// Full names of tools, and the prefixes of their profiles.
const TOOLS: [(&str, &str); 2] = [("crystaldiskmark", "cdm"), ("amorphousdiskmark", "adm")];

/// Returns the built-in profile with this name.
///
/// # Errors
/// Fails if no profile has this name. The error suggests the nearest names.
pub fn profile_named(name: &str) -> Result<Profile> {
    match text_named(PROFILES, name) {
        Some(source) => crate::parse_profile(name, source),
        None => {
            let short =
                TOOLS.iter().fold(name.to_lowercase(), |name, (tool, short)| name.replace(tool, short));
            Err(ErrorKind::Usage
                .error(text!("there is no profile `{name}`", "`{name}` というプロファイルはありません"))
                .remedy(nearest_of_many(&short, &names(PROFILES), mention::PROFILES)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::profile::{AccessOrder, IoStep, Name, Statistic, Step, Tracked};
    use kurabe_core::workload::{
        Arrival, Data, Direction, EndSync, OpenLoop, ThreadShare, TimeCheck, Workload,
    };

    #[test]
    fn who_writes_a_tools_name_his_way_is_told_the_profiles() {
        for (word, name) in [
            ("cdm", "cdm-9"),
            ("CDM-9", "cdm-9"),
            ("CrystalDiskMark", "cdm-9"),
            ("crystaldiskmark-6", "cdm-6"),
            ("AmorphousDiskMark", "adm-4"),
            ("kdiskmark", "kdiskmark-3"),
            ("gnome", "gnome-disks"),
            ("cmd-9", "cdm-9"),
        ] {
            let error = profile_named(word).unwrap_err();
            let remedy = &error.remedy_text().unwrap().en;
            assert!(remedy.contains(&format!("did you mean `{name}`?")), "{word}: {remedy}");
        }
    }

    #[test]
    fn every_profile_is_valid_and_named_as_its_file() {
        for (name, source) in PROFILES {
            let profile = crate::parse_profile(name, source)
                .unwrap_or_else(|error| panic!("{}", error.render(Default::default())));
            assert_eq!(profile.name, *name);
        }
    }

    #[test]
    fn a_mistyped_name_gets_the_nearest() {
        let error = profile_named("cdm9").unwrap_err();
        let remedy = &error.remedy_text().unwrap().en;
        assert!(remedy.contains("`cdm-9`") && remedy.contains("`kurabe profiles`"), "{remedy}");
        // Dozens of names would hide the relevant one.
        assert!(remedy.len() < 80, "{remedy}");
    }

    #[test]
    fn every_file_of_the_folder_is_listed_once() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../profiles");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap().replace(".toml", ""))
            .collect();
        let mut listed = names(PROFILES);
        files.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, files);
    }

    #[test]
    fn a_profile_after_a_tool_names_its_source_and_how_it_differs() {
        for (name, _) in PROFILES {
            let profile = profile_named(name).unwrap();
            assert!(!profile.title.ja.is_empty() && profile.source.is_some(), "{name}");
            if profile.source.as_deref() == Some("kurabe") {
                continue;
            }
            let differs = profile.differs.unwrap_or_else(|| panic!("{name} does not say how it differs"));
            assert!(!differs.en.is_empty() && !differs.ja.is_ascii(), "{name}");
        }
    }

    #[test]
    fn no_two_cells_of_a_profile_look_alike() {
        for (name, _) in PROFILES {
            let mut all = cells(name);
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count, "{name}");
        }
    }

    #[test]
    fn every_figure_in_a_formula_is_a_cell() {
        for (name, _) in PROFILES {
            let profile = profile_named(name).unwrap();
            let tasks = profile.tasks(1 << 30);
            for figure in profile.derived.iter().flat_map(|derived| derived.formula.names()) {
                let of_step = |step: &str| {
                    let count = profile.steps.iter().filter(|one| one.id() == Some(step)).count();
                    assert_eq!(count, 1, "{name}: the id {step}");
                    profile.steps.iter().position(|one| one.id() == Some(step))
                };
                let step_index = of_step(&figure.step).unwrap();
                let is_cell = tasks
                    .iter()
                    .filter(|task| task.step_index == step_index)
                    .any(|task| task.cells.iter().any(|cell| cell.part == figure.part));
                assert!(is_cell, "{name}: {}.{}", figure.step, figure.part);
            }
        }
    }

    /// Returns the cells of a profile in order, as `direction label`.
    fn cells(name: &str) -> Vec<String> {
        let profile = profile_named(name).unwrap();
        let words = profile.tasks(1 << 30).into_iter().flat_map(|task| task.cells).map(|cell| {
            let direction = cell.direction.map_or("command", Direction::word);
            format!("{direction} {}", cell.label)
        });
        words.collect()
    }

    /// Returns `read` with each label, then `write` with each label.
    fn by_direction(labels: &[&str]) -> Vec<String> {
        ["read", "write"]
            .iter()
            .flat_map(|direction| labels.iter().map(move |label| format!("{direction} {label}")))
            .collect()
    }

    /// Returns each label with both directions.
    fn by_step(directions: [&str; 2], labels: &[&str]) -> Vec<String> {
        labels
            .iter()
            .flat_map(|label| directions.iter().map(move |direction| format!("{direction} {label}")))
            .collect()
    }

    /// Returns the workload of the cell at this index.
    fn workload(name: &str, index: usize) -> Workload {
        profile_named(name).unwrap().tasks(1 << 30)[index].workload().unwrap().clone()
    }

    #[test]
    fn stutter_reads_alone_and_while_writing_at_the_same_depth() {
        let named = cells("stutter");
        let expected =
            ["read RND 4 KiB Q4 T1", "mix RND 4 KiB Q4 T1", "read SEQ 1 MiB Q4 T1", "mix SEQ 1 MiB Q4 T1"];
        assert!(
            named.iter().zip(expected).all(|(name, start)| name.starts_with(start)) && named.len() == 4,
            "{named:?}"
        );
        assert_eq!((workload("stutter", 1).read_percent, workload("stutter", 1).iodepth), (50, 4));
    }

    const SEQ_DEEP: &str = "SEQ 1 MiB Q8 T1";
    const SEQ: &str = "SEQ 1 MiB Q1 T1";
    const SEQ_SMALL: &str = "SEQ 128 KiB Q32 T1";
    const RND_DEEP: &str = "RND 4 KiB Q32 T1";
    const RND_THREADS: &str = "RND 4 KiB Q32 T16";
    const RND: &str = "RND 4 KiB Q1 T1";

    #[test]
    fn crystaldiskmark_4_to_9_read_all_and_then_write_all() {
        for (name, labels) in [
            ("cdm-9", &[SEQ_DEEP, SEQ, RND_DEEP, RND][..]),
            ("cdm-9-flash", &[SEQ_DEEP, SEQ, RND_DEEP, RND]),
            ("cdm-9-nvme", &[SEQ_DEEP, SEQ_SMALL, RND_THREADS, RND]),
            ("cdm-9-peak", &[SEQ_DEEP, RND_DEEP]),
            ("cdm-9-real", &[SEQ, RND]),
            ("cdm-9-demo", &[SEQ_DEEP]),
            ("cdm-8", &[SEQ_DEEP, SEQ, RND_DEEP, RND]),
            ("cdm-8-nvme", &[SEQ_DEEP, SEQ_SMALL, RND_THREADS, RND]),
            ("cdm-7", &[SEQ_DEEP, SEQ, RND_THREADS, RND]),
            ("cdm-6", &[SEQ_SMALL, "RND 4 KiB Q8 T8", RND_DEEP, RND]),
            ("cdm-5", &[SEQ_SMALL, RND_DEEP, SEQ, RND]),
        ] {
            assert_eq!(cells(name), by_direction(labels), "{name}");
        }
    }

    #[test]
    fn crystaldiskmark_counts_the_best_of_five_runs_and_of_three_since_9() {
        for (name, _) in PROFILES.iter().filter(|(name, _)| name.starts_with("cdm-")) {
            let profile = profile_named(name).unwrap();
            let runs = if name.starts_with("cdm-9") { 3 } else { 5 };
            assert_eq!((profile.rules.runs, profile.rules.discarded_runs), (runs, 1), "{name}");
            assert_eq!(profile.statistic, Statistic::Best, "{name}");
            assert_eq!(profile.rules.data, Data::Repeat, "{name}");
        }
    }

    #[test]
    fn crystaldiskmark_2_and_3_go_step_by_step_and_look_at_the_clock_in_their_own_way() {
        const RND_LARGE: &str = "RND 512 KiB Q1 T1";
        let read_write = ["read", "write"];
        assert_eq!(cells("cdm-3"), by_step(read_write, &[SEQ, RND_LARGE, RND, RND_DEEP]));
        assert_eq!(cells("cdm-2"), by_step(read_write, &[SEQ, RND_LARGE, RND]));
        for (index, check) in [
            (0, TimeCheck::Pass),
            (2, TimeCheck::Operations(20)),
            (4, TimeCheck::Operations(160)),
            (6, TimeCheck::Always),
        ] {
            let workload = workload("cdm-3", index + 1);
            assert_eq!(workload.end.time_ns, Some(6_000_000_000));
            assert_eq!((workload.end.time_check, workload.sync.at_end), (check, EndSync::Timed));
        }
    }

    #[test]
    fn amorphousdiskmark_covers_the_file_once_at_most() {
        let read_write = ["read", "write"];
        let permutation = |depth: u32| format!("RND 4 KiB Q{depth} T1");
        assert_eq!(cells("adm-4"), by_step(read_write, &[SEQ_DEEP, SEQ, &permutation(64), &permutation(1)]));
        assert_eq!(cells("adm-1"), by_step(read_write, &[SEQ_SMALL, &permutation(32), SEQ, &permutation(1)]));
        let profile = profile_named("adm-4").unwrap();
        assert_eq!((profile.statistic, profile.rules.runs), (Statistic::Median, 5));
        let last = workload("adm-4", 7);
        assert_eq!((last.end.passes, last.end.time_ns), (Some(1), Some(5_000_000_000)));
        assert_eq!(last.sync.at_end, EndSync::Timed);
    }

    #[test]
    fn kdiskmark_ends_with_the_file_and_prints_thousands_of_kib() {
        let permutation = |depth: u32, threads: u32| format!("RND 4 KiB Q{depth} T{threads}");
        let (deep, single) = (permutation(32, 1), permutation(1, 1));
        for (name, labels, statistic) in [
            ("kdiskmark-3", &[SEQ_DEEP, SEQ, &deep, &single][..], Statistic::Mean),
            ("kdiskmark-3-nvme", &[SEQ_DEEP, SEQ_SMALL, &permutation(32, 16), &single], Statistic::Mean),
            ("kdiskmark-3-peak", &[SEQ_DEEP, &deep], Statistic::Best),
            ("kdiskmark-3-real", &[SEQ, &single], Statistic::Best),
        ] {
            assert_eq!(cells(name), by_direction(labels), "{name}");
            let profile = profile_named(name).unwrap();
            assert_eq!((profile.statistic, profile.rules.runs), (statistic, 5), "{name}");
            assert_eq!(profile.as_printed.unwrap().bytes, 1_024_000, "{name}");
            let first = workload(name, 0);
            assert_eq!((first.end.passes, first.end.time_ns), (Some(1), Some(5_000_000_000)), "{name}");
        }
        let threads = workload("kdiskmark-3-nvme", 2);
        assert_eq!((threads.threads, threads.thread_share), (16, ThreadShare::Whole));
    }

    #[test]
    fn gnome_disks_takes_100_samples_and_1000_accesses_of_the_whole_device() {
        for (name, newer) in [("gnome-disks", true), ("gnome-disks-46", false)] {
            assert_eq!(
                cells(name),
                ["read 100 × 10 MiB", "write 100 × 10 MiB", "read access 4 KiB"],
                "{name}"
            );
            let profile = profile_named(name).unwrap();
            assert!(profile.rules.whole_device);
            let [Step::Positional(rate), Step::AccessTime(access)] = &profile.steps[..] else {
                panic!("{name} has other steps");
            };
            assert_eq!((rate.pre_read_bytes, rate.alignment_bytes, rate.sync), (4096, 4096, true));
            assert_eq!((access.samples, access.order, access.seed), (1000, AccessOrder::Glib, 42));
            assert_eq!((access.first_discarded, access.by_distance), (newer, newer), "{name}");
        }
    }

    #[test]
    fn atto_doubles_from_512_bytes_to_64_mebibytes_and_writes_first() {
        let cells = cells("atto");
        assert_eq!(cells.len(), 2 * 18);
        assert_eq!(cells[..3], ["write SEQ 512 B Q4 T1", "read SEQ 512 B Q4 T1", "write SEQ 1 KiB Q4 T1"]);
        assert_eq!(cells[35], "read SEQ 64 MiB Q4 T1");
        let sizes: Vec<u32> =
            (0..18).map(|index| workload("atto", 2 * index).largest_block_bytes()).collect();
        assert!(sizes.windows(2).all(|pair| pair[1] == 2 * pair[0]), "{sizes:?}");
    }

    #[test]
    fn as_ssd_adds_up_its_scores() {
        let mut expected = by_step(["read", "write"], &["Seq", "4K", "4K-64Thrd"]);
        expected.extend(["read Acc.time read".to_owned(), "write Acc.time write".to_owned()]);
        assert_eq!(cells("as-ssd"), expected);
        let threads = workload("as-ssd", 4);
        assert_eq!((threads.threads, threads.thread_share), (64, ThreadShare::Parts));
        assert_eq!(threads.span_bytes / u64::from(threads.threads), 16 << 20);
        let scores: Vec<f64> = profile_named("as-ssd")
            .unwrap()
            .derived
            .iter()
            .map(|derived| {
                let figure = |name: &Name| match (name.step.as_str(), name.part.as_str()) {
                    ("seq", "read") => Some(500.0),
                    ("seq", "write") => Some(400.0),
                    ("rnd4k", "read") => Some(30.0),
                    ("rnd4k", "write") => Some(100.0),
                    ("rnd4k64", "read") => Some(300.0),
                    ("rnd4k64", "write") => Some(200.0),
                    _ => None,
                };
                derived.formula.value(&figure).unwrap()
            })
            .collect();
        // 50 + 30 + 300; 40 + 100 + 200; 60 + 50 + 60 + 100 + 200 + 450.
        assert_eq!(scores, [380.0, 340.0, 920.0]);
    }

    #[test]
    fn the_delay_ratio_is_that_of_the_article() {
        // Toshiba HG2, means of two runs; its printed ratio is 1.41.
        let figure = |name: &Name| match name.part.as_str() {
            "memory_read" => Some(0.82),
            "memory_write" => Some(1.36),
            "within" => Some((68.37 + 66.47) / 2.0),
            "from_memory" => Some((23.83 + 23.06) / 2.0),
            "to_memory" => Some((26.87 + 25.96) / 2.0),
            _ => None,
        };
        let profile = profile_named("delay-ratio").unwrap();
        let ratio = profile.derived[0].formula.value(&figure).unwrap();
        assert_eq!(format!("{ratio:.2}"), "1.41");
        assert_eq!((profile.rules.size_bytes, profile.rules.runs), (4_194_304 * 1024, 2));
        let sweep = profile_named("delay-ratio-sweep").unwrap();
        assert_eq!((sweep.steps.len(), sweep.derived.len()), (9, 9));
        assert!(sweep.derived.iter().all(|derived| derived.formula.value(&figure) == Some(ratio)));
    }

    #[test]
    fn the_snia_tests_nest_their_loops_as_the_specification_says() {
        let sizes = ["1 MiB", "128 KiB", "64 KiB", "32 KiB", "16 KiB", "8 KiB", "4 KiB", "512 B"];
        let nested = |shares: &[&str], sizes: &[&str], queue: &str| -> Vec<String> {
            let cell = |share: &str, size: &str| match share {
                "100/0" => format!("read RND {size} {queue}"),
                "0/100" => format!("write RND {size} {queue}"),
                _ => format!("mix RND {size} {queue} {share}"),
            };
            shares.iter().flat_map(|share| sizes.iter().map(move |size| cell(share, size))).collect()
        };
        let shares = ["100/0", "95/5", "65/35", "50/50", "35/65", "5/95", "0/100"];
        assert_eq!(cells("snia-pts-iops"), nested(&shares, &sizes, "Q32 T4"));
        assert_eq!(
            cells("snia-pts-latency"),
            nested(&["100/0", "65/35", "0/100"], &["8 KiB", "4 KiB", "512 B"], "Q1 T1")
        );
        assert_eq!(workload("snia-pts-iops", 8).read_percent, 95);
        assert_eq!(cells("snia-pts-throughput"), by_direction(&["SEQ 128 KiB Q32 T1"]));
        assert_eq!(cells("snia-pts-throughput-1024k"), by_direction(&["SEQ 1 MiB Q32 T1"]));
        for (name, most, tracked, preconditioned) in [
            ("snia-pts-iops", 25, Tracked::Iops, true),
            ("snia-pts-throughput", 25, Tracked::Rate, true),
            ("snia-pts-throughput-1024k", 25, Tracked::Rate, true),
            ("snia-pts-latency", 25, Tracked::Latency, true),
            ("snia-wsat", 25, Tracked::Iops, false),
            ("snia-iops-small", 10, Tracked::Iops, true),
            ("snia-latency-small", 10, Tracked::Latency, true),
            ("snia-wsat-small", 20, Tracked::Iops, false),
        ] {
            let profile = profile_named(name).unwrap();
            let rounds = profile.rounds.unwrap();
            assert_eq!((rounds.most, rounds.window, rounds.tracked), (most, 5, tracked), "{name}");
            assert_eq!((rounds.excursion_percent, rounds.slope_percent), (20.0, 10.0), "{name}");
            assert!(rounds.tracked_cells.iter().all(|cell| cell.direction == Direction::Write), "{name}");
            assert_eq!(!profile.preconditions.is_empty(), preconditioned, "{name}");
            assert_eq!(profile.rules.whole_device, !name.ends_with("small"), "{name}");
            let writes_only = |step: &IoStep| step.directions == [Direction::Write];
            assert!(profile.preconditions.iter().all(writes_only), "{name}");
        }
        let precondition = &profile_named("snia-pts-iops").unwrap().preconditions[0];
        assert_eq!((precondition.end.passes, precondition.block_sizes[0].size_bytes), (Some(2), 128 << 10));
    }

    #[test]
    fn bonnie_reads_8192_blocks_and_ioping_one_a_second() {
        let seeks = workload("bonnie-seeks", 0);
        assert_eq!(seeks.end.bytes.unwrap() / u64::from(seeks.largest_block_bytes()), 8192);
        assert_eq!((seeks.threads, seeks.rewrite_every_reads, seeks.read_percent), (5, Some(10), 100));
        let ioping = workload("ioping", 0);
        assert_eq!(ioping.open_loop, Some(OpenLoop { rate_iops: 1.0, arrival: Arrival::Even }));
        assert_eq!((ioping.warm_up_ns, ioping.iodepth), (1_000_000_000, 1));
        let rapid = profile_named("ioping-r").unwrap();
        assert_eq!((rapid.rules.size_bytes, rapid.rules.time_ns), (64 << 20, 3_000_000_000));
    }

    #[test]
    fn hdparm_and_dd_go_through_the_page_cache() {
        assert_eq!(cells("hdparm-t"), ["read cached reads", "read buffered disk reads"]);
        assert_eq!(workload("hdparm-t", 0).span_bytes, 2 << 20);
        assert_eq!(workload("hdparm-t", 1).end.passes, Some(1));
        assert_eq!(cells("dd"), ["write SEQ 16 MiB Q1 T1", "read SEQ 16 MiB Q1 T1"]);
        assert_eq!(workload("dd", 0).sync.at_end, EndSync::Timed);
        for name in ["hdparm-t", "dd", "bonnie-seeks", "delay-ratio", "delay-ratio-sweep"] {
            assert!(!profile_named(name).unwrap().rules.direct, "{name}");
        }
    }

    #[test]
    fn git_pulls_use_only_the_placeholders_there_are() {
        for (name, files, runs) in
            [("git-pull", 2_000, 3), ("git-pull-large", 20_000, 3), ("git-pull-ports", 170_000, 1)]
        {
            let profile = profile_named(name).unwrap();
            assert!(!profile.needs_span());
            let [Step::Command(step)] = &profile.steps[..] else { panic!("{name} has other steps") };
            assert_eq!((step.git.unwrap().files, profile.rules.runs), (files, runs), "{name}");
            assert!(step.cold && !step.shell);
            let words = step.prepare.iter().chain([&step.command]).chain(&step.restore).flatten();
            for word in words.filter(|word| word.contains('{')) {
                let rest = word.replace("{work}", "").replace("{origin}", "");
                assert!(!rest.contains('{'), "{name}: {word}");
            }
        }
    }
}
