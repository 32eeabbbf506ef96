//! Models as targets: the same command and the same table, in virtual time.

use crate::lab::{Lab, Live, list_of, number, text};
use kurabe_testkit::needs::skip;
use serde_json::Value;

/// One cell that takes 10 ms.
const ONE_CELL: [&str; 6] = ["--rw", "randread", "--size", "4m", "--time", "10ms"];

fn record(lab: &Lab, words: &[&str]) -> Value {
    let ended = lab.kurabe(&[&["run", "model:ideal-ram-disk", "--json"], words].concat()).ok();
    let last = ended.out.lines().last().expect("a line").to_owned();
    serde_json::from_str::<Value>(&last).expect("JSON")["run"].take()
}

#[test]
fn a_model_is_measured_like_a_device_and_marked_as_a_model() {
    let lab = Lab::new();
    let ended = lab.kurabe(&[&["run", "model:ideal-ram-disk"], &ONE_CELL[..]].concat()).ok();
    assert!(ended.out.contains("model in virtual time: a disk in memory"), "{}", ended.out);
    // 1 µs plus 4096 bytes at 5.2 GB/s, one operation after the other.
    assert!(ended.out.contains("559,284 IOPS"), "{}", ended.out);
    assert!(lab.kurabe(&["list"]).ok().out.contains("model:ideal-ram-disk"));
}

#[test]
fn the_record_tells_the_stack_and_where_the_time_went() {
    let lab = Lab::new();
    let record = record(&lab, &ONE_CELL);
    let header = &record["header"];
    assert_eq!(header["target"]["kind"], "model");
    assert_eq!(header["model"]["layers"][1]["name"], "memory");
    assert!(header["instrument"].is_null());
    let repetition = &record["cells"][0]["repetitions"][0];
    let account = &repetition["account"];
    let shares: u64 = list_of(&account["shares"]).iter().map(|share| number(&share["time_ns"])).sum();
    assert_eq!(shares, number(&account["latency_ns"]));
    assert_eq!(shares, number(&repetition["read"]["latency"]["sum_ns"]));
}

#[test]
fn a_parameter_is_changed_and_recorded_as_changed() {
    let lab = Lab::new();
    let words = [&ONE_CELL[..], &["--set", "memory.access=10us"]].concat();
    let record = record(&lab, &words);
    let parameters = list_of(&record["header"]["model"]["layers"][1]["parameters"]);
    let access = parameters.iter().find(|parameter| parameter["key"] == "access").expect("the parameter");
    assert_eq!((access["value"].as_str(), access["changed"].as_bool()), (Some("10us"), Some(true)));
    assert_eq!(number(&record["cells"][0]["repetitions"][0]["read"]["latency"]["min_ns"]), 10_788);
}

#[test]
fn a_device_file_of_the_users_own_works_and_its_mistakes_show_their_line() {
    let lab = Lab::new();
    let file = |rate: &str| {
        format!(
            "schema = 1\nname = \"mine\"\ntitle = {{ en = \"mine\", ja = \"自作\" }}\n[[layer]]\nkind = \"constant\"\n\
             capacity = {{ value = \"1 GiB\", source = \"t\" }}\naccess = {{ value = \"1 ms\", source = \"t\" }}\n\
             rate = {rate}\n"
        )
    };
    let path = lab.write("mine.toml", file("{ value = \"1 GB/s\", source = \"t\" }"));
    let target = format!("model:{}", path.display());
    lab.kurabe(&[&["run", &target], &ONE_CELL[..]].concat()).ok();
    lab.write("mine.toml", file("\"1 GB/s\""));
    let ended = lab.kurabe(&[&["run", &target], &ONE_CELL[..]].concat());
    ended.is_refusal(3, &["mine.toml:8", "source"]);
}

#[test]
#[ignore = "slow"]
fn a_model_stands_in_the_computer_that_doctor_measured() {
    let lab = Lab::new();
    let measured = lab.kurabe(&["doctor", "--computer", text(&lab.target())]);
    if measured.code() != Some(0) {
        measured.is_refusal(2, &["page cache"]);
        skip("no direct I/O here");
        return;
    }
    let file = lab.write("mine.toml", &measured.out);
    let set = format!("computer={}", file.display());
    let reads =
        ["run", "model:samsung-990-pro", "--rw", "randread", "--iodepth", "32", "--time", "10ms", "--set"];
    let ended = lab.kurabe(&[&reads[..], &[&set, "--json"]].concat()).ok();
    let record = ended.json_lines().pop().expect("a record")["run"].take();
    let parameters = list_of(&record["header"]["model"]["layers"][0]["parameters"]);
    for key in ["read_time", "write_time", "page_time", "wake_time"] {
        let value = parameters.iter().find(|one| one["key"] == key).and_then(|one| one["value"].as_str());
        let value = value.expect("a value");
        assert!(
            measured.out.contains(&format!("{key} = {{ value = \"{value}\"")),
            "{value}: {}",
            measured.out
        );
    }
}

#[test]
fn models_side_by_side_tell_what_may_fail_and_how_fast_they_are() {
    let lab = Lab::new();
    let compared =
        |names: &[&str], more: &[&str]| lab.kurabe(&[&["models", "compare"], names, more].concat()).ok();
    let sides = compared(&["md-raid1-2", "hdd-nas"], &["--json"]).json_lines();
    let number = |side: usize, key: &str| sides[side][key].as_f64().expect("a number");
    assert_eq!([0, 1].map(|side| number(side, "may_fail")), [1.0, 0.0]);
    assert!(number(0, "loss_per_year") < number(1, "loss_per_year"));
    let page = compared(&["md-raid1-2", "hdd-nas"], &[]).out;
    assert!(page.contains("of which may fail") && page.contains("md-raid1-2"), "{page}");
    // Drives that fail twice as often lose more data.
    let worse = compared(&["md-raid1-2"], &["--set", "disk.failures_per_year=0.12", "--json"]).json_lines();
    assert!(worse[0]["loss_per_year"].as_f64() > sides[0]["loss_per_year"].as_f64());
}

#[test]
fn what_makes_no_sense_on_a_model_is_refused_with_a_remedy() {
    let lab = Lab::new();
    for (words, exit, part) in [
        (&["run", "model:ideal-ram-disc"][..], 2, "ideal-ram-disk"),
        (&["run", "model:ideal-ram-disk", "--set", "memory.acces=1us"], 2, "access"),
        (&["run", "model:ideal-ram-disk", "--set", "disk.access=1us"], 2, "memory"),
        (&["run", "model:ideal-ram-disk", "--set", "memory.access"], 2, "raid.strip=256KiB"),
        (&["run", "model:ideal-ram-disk", "--set", "host.copy_piece=0KiB"], 2, "host.copy_piece=0KiB"),
        (&["run", "model:ideal-ram-disk", "--set", "memory.access=fast"], 2, "8.5 ms"),
        (&["run", "model:ideal-ram-disk", "--engine", "uring"], 2, "--engine"),
        (&["run", "model:ideal-ram-disk", "--profile", "git-pull"], 4, "--replay"),
        (&["run", "--set", "memory.access=1us"], 2, "model:NAME"),
    ] {
        lab.kurabe(words).is_refusal(exit, &[part]);
    }
    assert!(lab.list().is_empty(), "nothing is kept of them");
}

#[test]
fn why_tells_where_the_time_of_a_model_went() {
    let lab = Lab::new();
    lab.kurabe(&[&["run", "model:ideal-ram-disk"], &ONE_CELL[..]].concat()).ok();
    let page = lab.kurabe(&["why"]).ok().out;
    for part in [
        "model in virtual time: a disk in memory",
        "host → memory",
        "1.00 µs",
        "56 %",
        "in all",
        "Most of the time",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(
        lab.kurabe(&["why", "last", "--cell", "rnd", "--lang", "ja"]).ok().out.contains("これがなければ")
    );
    let line = lab.kurabe(&["why", "--cell", "1", "--json"]).ok().out;
    let why: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!((why["time"]["per"].as_str(), number(&why["time"]["number"])), (Some("operation"), 1));
    let shares: f64 =
        list_of(&why["time"]["causes"]).iter().map(|cause| cause["share"].as_f64().expect("a share")).sum();
    assert!((shares - 1.0).abs() < 1e-9, "{shares}");
    lab.kurabe(&["why", "last", "--cell", "7"]).is_refusal(2, &["no test `7`", "1 to 1"]);
}

#[test]
fn a_real_run_says_what_limited_it_or_that_it_does_not_know() {
    let lab = Lab::new();
    lab.measure(&lab.target(), &ONE_CELL);
    let page = lab.kurabe(&["why"]).ok().out;
    assert!(page.contains("limit: ") && !page.contains("where the time went"), "{page}");
    assert!(lab.kurabe(&["why", "--lang", "ja"]).ok().out.contains("ボトルネック: "));
    let line = lab.kurabe(&["why", "--json"]).ok().out;
    let why: Value = serde_json::from_str(&line).expect("JSON");
    assert!(why["limit"]["kind"].is_string() && why["time"].is_null(), "{why}");
}

#[test]
fn lists_begin_with_what_most_people_need_and_are_whole_on_request() {
    let lab = Lab::new();
    let listed = |words: &[&str]| lab.kurabe(words).ok().out;
    let names = |page: &str| -> Vec<String> {
        page.lines().filter_map(|line| Some(line.split_once("  ")?.0.to_owned())).collect()
    };
    let (some, all) = (listed(&["profiles"]), listed(&["profiles", "--all"]));
    assert!(some.contains("cdm-9 ") && !some.contains("snia-wsat"), "{some}");
    assert!(all.contains("snia-wsat") && all.contains("as other tools do"), "{all}");
    let (some, all) = (listed(&["models"]), listed(&["models", "--all"]));
    assert!(names(&some).len() < names(&all).len(), "{some}");
    let place = |name: &str| some.find(name).unwrap_or_else(|| panic!("{name}: {some}"));
    assert!(
        place("samsung-9100-pro") < place("rascsi") && place("rascsi") < place("henkan-bancho"),
        "{some}"
    );
    let nas = listed(&["models", "nas"]);
    assert!(nas.contains("seagate-ironwolf-4tb") && !nas.contains("samsung"), "{nas}");
    lab.kurabe(&["models", "tape"]).is_refusal(2, &["`tape`"]);
}

#[test]
fn models_are_listed_and_shown_with_their_sources() {
    let lab = Lab::new();
    let listed = lab.kurabe(&["models", "--all"]).ok().out;
    assert!(listed.contains("ideal-ram-disk") && listed.contains("host → constant"), "{listed}");
    let shown = lab.kurabe(&["models", "show", "ideal-ram-disk", "--set", "memory.access=10us"]).ok().out;
    for part in ["┌", "capacity 8 GiB", "*  access", "10us", "assumed: a system call", "1 changed"] {
        assert_eq!(shown.contains(part), part != "assumed: a system call", "{part}: {shown}");
    }
    assert!(
        lab.kurabe(&["models", "show", "ideal-ram-disk", "--lang", "ja"]).ok().out.contains("容量 8 GiB")
    );
    let line = lab.kurabe(&["models", "show", "ideal-ram-disk", "--json"]).ok().out;
    let model: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(number(&model["capacity_bytes"]), 8 << 30);
    assert_eq!(model["layers"][1]["parameters"][1]["standing"], "assumed");
    for model in lab.kurabe(&["models", "--json"]).ok().json_lines() {
        assert!(number(&model["capacity_bytes"]) > 0 && model["layers"].is_array(), "{model}");
    }
}

#[test]
fn a_model_of_ones_own_begins_with_the_text_of_another() {
    let lab = Lab::new();
    let text = lab.kurabe(&["models", "show", "ideal-ram-disk", "--toml"]).ok().out;
    let path = lab.write("mine.toml", text.replace("8 GiB", "2 GiB"));
    let path = path.display().to_string();
    assert!(lab.kurabe(&["models", "show", &path]).ok().out.contains("capacity 2 GiB"));
    lab.kurabe(&["models", "show", "ideal-ram-disc"]).is_refusal(2, &["ideal-ram-disk"]);
    lab.kurabe(&["models", "show", &path, "--set", "memory.rate=fast"])
        .is_refusal(2, &["memory.rate", "3.1 MB/s"]);
}

#[test]
fn exports_of_a_model_say_that_nothing_was_measured() {
    let lab = Lab::new();
    lab.kurabe(&[&["run", "model:ideal-ram-disk"], &ONE_CELL[..]].concat()).ok();
    for format in ["fio", "cdm-text", "markdown"] {
        let out = lab.kurabe(&["export", "--format", format, "--lang", "en"]).ok().out;
        assert!(out.contains("not measured on a device"), "{format}: {out}");
    }
    assert!(lab.kurabe(&["export", "--format", "csv"]).ok().out.contains(",modelled,"));
}

#[test]
fn a_dry_run_of_a_model_asks_for_no_consent_and_a_profile_with_a_page_cache_is_told() {
    let lab = Lab::new();
    let plan = lab.kurabe(&["run", "model:ideal-ram-disk", "--profile", "cdm-9", "--dry-run"]).ok().out;
    assert!(plan.contains("of the model's time") && !plan.contains("left out"), "{plan}");
    let run = |profile| lab.kurabe(&["run", "model:intel-x25m-g2", "--profile", profile]).ok();
    let cached = run("hdparm-t");
    assert!(cached.out.contains("a model has no page cache"), "{cached:#?}");
    assert!(!cached.out.contains("· model\n"), "the header says so already: {cached:#?}");
    let direct = run("quick");
    assert!(!direct.out.contains("page cache") && direct.err.contains("of the model's time"), "{direct:#?}");
}

/// Checks that a documentation page contains every line of the output, except the one with the
/// run's id.
fn stands_in(page: &str, out: &str) {
    for line in out.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("kurabe why ")) {
        assert!(page.lines().any(|shown| shown == line), "no page has: {line}");
    }
}

/// Documentation pages in each language: on models, on sweeps, on studies.
const PAGES: [(&str, [&str; 3]); 2] = [
    (
        "en",
        [
            include_str!("../../../../docs/models.md"),
            include_str!("../../../../docs/explaining.md"),
            include_str!("../../../../docs/studies.md"),
        ],
    ),
    (
        "ja",
        [
            include_str!("../../../../docs/ja/models.md"),
            include_str!("../../../../docs/ja/explaining.md"),
            include_str!("../../../../docs/ja/studies.md"),
        ],
    ),
];

#[test]
#[ignore = "slow"]
fn what_the_pages_show_of_models_and_studies_is_what_is_printed() {
    let lab = Lab::new();
    let output = |lang: &str, words: &[&str]| {
        let mut command = lab.command(&[&["--lang", lang], words].concat());
        command.env("COLUMNS", "100");
        Live::start(command).end().ok().out
    };
    for (lang, [models, sweeps, studies]) in PAGES {
        // `why` explains the last run, and a sweep is a run as well.
        lab.kurabe(&["run", "model:rascsi", "--profile", "gnome-disks"]).ok();
        let why = output(lang, &["why", "--cell", "access"]);
        stands_in(models, &why);
        stands_in(studies, &output(lang, &["study", "run", "usb-exfat-apfs", "--part", "ratios"]));
        let [block_size, verdict] = match lang {
            "en" => ["block size: in random order", "Which file system for this stick?"],
            _ => ["ブロックサイズ: ランダム", "この USB メモリーには"],
        };
        let sweep =
            output(lang, &["sweep", "model:raid-9260", "--over", "block-size", "--direction", "read"]);
        let study = output(lang, &["study", "run", "usb-exfat-apfs"]);
        for (page, first_words, out) in [(sweeps, block_size, &sweep), (studies, verdict, &study)] {
            for line in block_with(page, first_words).lines() {
                assert!(out.lines().any(|printed| printed == line), "{lang}: this is not printed: {line}");
            }
        }
    }
}

/// Returns the block of a page that begins with these words.
fn block_with<'p>(page: &'p str, first_words: &str) -> &'p str {
    let start =
        page.find(&format!("```text\n{first_words}")).expect("the page has such a block") + "```text\n".len();
    &page[start..start + page[start..].find("```").expect("it ends")]
}

#[test]
fn every_operation_of_a_model_is_listed_with_where_its_time_went() {
    let lab = Lab::new();
    let list = lab.beside("operations.csv");
    let list_word = list.to_str().expect("words");
    let words = [&ONE_CELL[..], &["--per-request", list_word]].concat();
    let record = record(&lab, &words);
    let read = &record["cells"][0]["repetitions"][0]["read"];
    let lines = std::fs::read_to_string(&list).expect("the list");
    let (header, rows) = lines.split_once("\r\n").expect("a header");
    let columns: Vec<&str> = header.split(',').collect();
    assert_eq!(columns[..4], ["cell_index", "repetition_index", "op", "offset_bytes"]);
    assert!(columns[9..].contains(&"memory.access_ns"), "{header}");
    let (mut count, mut latency_ns) = (0, 0);
    for row in rows.lines() {
        let fields: Vec<&str> = row.split(',').collect();
        let number = |place: usize| fields[place].parse::<u64>().expect("a number");
        let shares_ns: u64 = (9..columns.len()).map(number).sum();
        assert_eq!(shares_ns, number(6) - number(5), "{row}");
        count += 1;
        latency_ns += number(7);
    }
    assert_eq!((count, latency_ns), (number(&read["completed"]), number(&read["latency"]["sum_ns"])));

    let model = ["run", "model:ideal-ram-disk", "--per-request", list_word];
    lab.kurabe(&[&model, &ONE_CELL[..]].concat()).is_refusal(6, &["already exists"]);
    let other = lab.beside("other.csv");
    let other_word = ["--per-request", other.to_str().expect("words")];
    let samples = [&["run", "model:ideal-ram-disk", "--profile", "gnome-disks"], &other_word[..]].concat();
    lab.kurabe(&samples).is_refusal(10, &["only the operations of workloads and replays"]);
    assert!(!other.exists());
    assert_eq!(lines, std::fs::read_to_string(&list).expect("the list"));
}
