//! The benches at a tiny scale, so that they keep working: milliseconds, one round, a small file.

use kurabe_benches::tools::{Kit, find_kurabe};
use kurabe_benches::{
    Result, agreement, disksim, instructions, model_speed, mqsim, null_versus, overhead, page, price, ranks,
    real, serve, store_scale,
};
use kurabe_testkit::needs::{needs, skip};
use std::path::{Path, PathBuf};

const SIZE_BYTES: u64 = 16 << 20;

/// Returns the path of kurabe; otherwise prints why the test is skipped.
fn kurabe() -> Option<PathBuf> {
    find_kurabe().map_err(skip).ok()
}

/// Returns all programs; otherwise prints why the test is skipped.
fn kit() -> Result<Option<Kit>> {
    kurabe().map(|kurabe| Kit::new(Path::new(env!("CARGO_BIN_EXE_bare")), kurabe)).transpose()
}

#[test]
fn ranks_run() -> Result<()> {
    let Ok(program) = std::env::var("KURABE_MPI_BIN") else {
        skip("KURABE_MPI_BIN names no kurabe-mpi");
        return Ok(());
    };
    let directory = tempfile::tempdir()?;
    let options = ranks::Options {
        seconds: 0.05,
        runs: 2,
        rounds: 1,
        program: program.into(),
        directory: directory.path().to_owned(),
        store: directory.path().to_owned(),
    };
    let mut out = Vec::new();
    ranks::run(&options, &mut out)?;
    assert_eq!(String::from_utf8(out)?.lines().count(), 4);
    Ok(())
}

#[test]
fn price_runs() -> Result<()> {
    let Some(kurabe) = kurabe() else { return Ok(()) };
    if !needs("python3") || !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let case = "fsync".to_owned();
    let options =
        price::Options { recordings: 3, pairs: 0, times: 0, case, models: vec!["ssd-sata".to_owned()] };
    let mut out = Vec::new();
    let missed = price::run(&kurabe, &options, &mut out)?;
    let out = String::from_utf8(out)?;
    assert!(missed.is_empty() && out.lines().count() == 2, "{missed:?} {out}");
    Ok(())
}

#[test]
fn real_programs_run() -> Result<()> {
    let Some(kurabe) = kurabe() else { return Ok(()) };
    if !needs("python3") || !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    let models = vec!["ssd-sata".to_owned()];
    let options = real::Options { program: "sqlite".to_owned(), models, times: 1, share: 0.02 };
    let mut out = Vec::new();
    real::run(&kurabe, &options, &mut out)?;
    let out = String::from_utf8(out)?;
    let row = out.lines().nth(1).unwrap_or_default();
    assert!(row.starts_with("sqlite") && row.contains("exact") && row.ends_with(" s"), "{out}");
    Ok(())
}

#[test]
fn overhead_runs() -> Result<()> {
    let Some(kit) = kit()? else { return Ok(()) };
    let directory = tempfile::tempdir()?;
    let mut options = overhead::Options {
        seconds: 0.05,
        rounds: 1,
        size_bytes: SIZE_BYTES,
        depths: vec![1, 32],
        directory: directory.path().to_owned(),
        trial_seconds: 0.0,
        instructions: false,
        json: false,
    };
    for json in [false, true] {
        options.json = json;
        let mut out = Vec::new();
        overhead::run(&options, &kit, &mut out, &mut std::io::sink())?;
        let out = String::from_utf8(out)?;
        assert!(out.contains("/dev/zero"), "{out}");
        assert_eq!(out.starts_with('{'), json);
    }
    assert_eq!(directory.path().read_dir()?.count(), 0, "the test file is gone");
    Ok(())
}

#[test]
#[ignore = "slow: callgrind runs the program fifty times slower"]
#[allow(clippy::print_stderr)]
fn instructions_are_counted_and_above_their_bound_an_error() -> Result<()> {
    let Some(kurabe) = kurabe() else { return Ok(()) };
    let bound = |most| instructions::InstructionBound { depth: 1, most };
    let count = instructions::DriverCount {
        kurabe,
        lengths_bytes: [4 << 20, 36 << 20],
        bounds: vec![bound(f64::INFINITY), bound(1.0)],
    };
    let mut out = Vec::new();
    let ended = count.run(&mut out);
    let out = String::from_utf8(out)?;
    if out.starts_with("not counted, ") {
        skip(out.trim_end());
        return ended;
    }
    assert_eq!(out.matches("queue depth 1: ").count(), 2, "{out}");
    let error = ended.expect_err("an error").to_string();
    assert_eq!(error.matches("at queue depth 1").count(), 1, "{error}");
    Ok(())
}

#[test]
#[ignore = "slow"]
fn serve_runs() -> Result<()> {
    if !serve::has_fio() {
        skip("this fio has no engine for NBD");
        return Ok(());
    }
    let mut out = Vec::new();
    serve::run(&serve::Options { seconds: 0.2, only: "stick".to_owned() }, &mut out)?;
    let out = String::from_utf8(out)?;
    assert_eq!(out.matches(" NBD ").count(), 2, "{out}");
    // On an attached device as well, unless the reason for skipping it is printed.
    assert!(out.matches(" ext4 ").count() == 1 || out.contains("is skipped"), "{out}");
    Ok(())
}

#[test]
fn agreement_runs() -> Result<()> {
    let Some(kurabe) = kurabe() else { return Ok(()) };
    // Not in the directory for temporary files, which may be in memory and refuse direct I/O.
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let options = agreement::Options {
        seconds: 0.05,
        rounds: 1,
        size_bytes: SIZE_BYTES,
        directory: directory.path().to_owned(),
        only: "--iodepth=8".to_owned(),
        json: false,
    };
    let mut out = Vec::new();
    agreement::run(&options, &kurabe, &mut out, &mut std::io::sink())?;
    let out = String::from_utf8(out)?;
    let lines = agreement::LINES.iter().filter(|line| line.contains("--iodepth=8"));
    assert!(lines.clone().count() > 4 && lines.clone().all(|line| out.matches(line).count() == 3), "{out}");
    assert_eq!(directory.path().read_dir()?.count(), 0, "the test file is gone");
    Ok(())
}

#[test]
fn model_speed_runs() -> Result<()> {
    let mut out = Vec::new();
    model_speed::run(&model_speed::Options { requests: 200, rounds: 1 }, &mut out)?;
    let out = String::from_utf8(out)?;
    assert!(model_speed::CASES.iter().all(|case| out.contains(case.name)), "{out}");
    Ok(())
}

#[test]
fn disksim_says_what_it_leaves_out_and_why() -> Result<()> {
    let folder = tempfile::tempdir()?;
    // A trace with two requests, because the drive's own is too large to include.
    std::fs::write(
        folder.path().join("hp_c2247a.trace"),
        "R Miss 5 8 15300.0 0.0\nW Miss 90 8 15300.0 9000.0\n",
    )?;
    let mut out = Vec::new();
    disksim::run(&disksim::Options { traces: folder.path().to_owned(), disksim: None, rounds: 1 }, &mut out)?;
    let out = String::from_utf8(out)?;
    assert_eq!(out.matches("skipped").count(), 4, "{out}");
    let row = out.lines().find(|line| line.starts_with("hp-c2247a")).ok_or("no row")?;
    assert!(row.contains("15.30"), "{out}");
    Ok(())
}

#[test]
fn store_scale_runs() -> Result<()> {
    let Some(kurabe) = kurabe() else { return Ok(()) };
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let options = store_scale::Options {
        runs: 200,
        rounds: 1,
        keep_digests: true,
        kurabe,
        directory: directory.path().to_owned(),
    };
    let mut out = Vec::new();
    store_scale::run(&options, &mut out)?;
    let out = String::from_utf8(out)?;
    assert!(out.contains("pivot over all"), "{out}");
    Ok(())
}

#[cfg(feature = "postgres")]
#[test]
fn shared_scale_runs() -> Result<()> {
    let Some(kurabe) = kurabe() else { return Ok(()) };
    if let Err(reason) = kurabe_testkit::postgres::PostgresServer::start() {
        skip(reason);
        return Ok(());
    }
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let directory = directory.path().to_owned();
    let options = store_scale::Options { runs: 300, rounds: 1, keep_digests: true, kurabe, directory };
    let mut out = Vec::new();
    kurabe_benches::shared_scale::run(&options, 3, &mut out)?;
    let out = String::from_utf8(out)?;
    assert!(out.contains("900 runs in the database") && out.contains("history of a device"), "{out}");
    Ok(())
}

#[test]
fn null_versus_runs() -> Result<()> {
    // A disk has few operations in a repetition, so this is computed quickly.
    let verdicts = null_versus::on_models("hitachi-hua722020ala330", 0)?;
    assert_eq!(verdicts.len(), 6);
    assert!(verdicts.iter().all(|(_, blocks)| *blocks >= 4), "{verdicts:?}");
    Ok(())
}

#[test]
fn null_versus_runs_on_a_disk() -> Result<()> {
    let Some(kurabe) = kurabe() else { return Ok(()) };
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let verdicts = null_versus::on_disk(&kurabe, directory.path(), "2s")?;
    assert_eq!(verdicts.len(), 6);
    assert_eq!(directory.path().read_dir()?.count(), 0, "the test files are gone");
    Ok(())
}

/// Compares with MQSim itself if KURABE_MQSIM names the directory in which it was built.
#[test]
fn mqsim_runs_or_is_skipped_with_its_reason() -> Result<()> {
    let mut out = Vec::new();
    match std::env::var_os("KURABE_MQSIM") {
        Some(directory) => mqsim::run(directory.as_ref(), 20_000, &mut out)?,
        None => mqsim::run(Path::new("nowhere"), 1, &mut out)?,
    }
    let out = String::from_utf8(out)?;
    if out.starts_with("not compared: there is no MQSim in `nowhere`") {
        skip("KURABE_MQSIM names no MQSim");
    } else {
        assert!(out.contains("8 KiB random reads"), "{out}");
    }
    Ok(())
}

#[test]
#[ignore = "slow"]
fn page_runs() -> Result<()> {
    let Some(kurabe) = kurabe() else { return Ok(()) };
    let mut out = Vec::new();
    let (time, directory) = (Some("10ms".to_owned()), PathBuf::new());
    let options = page::Options { runs: 3, rounds: 1, models: 2, blocks: 2, time, directory, kurabe };
    page::run(&options, &mut out)?;
    let out = String::from_utf8(out)?;
    assert!(out.contains("with 3 runs in the store") && out.contains("of 2 models"), "{out}");
    assert!(out.contains("with a subscriber, 2 blocks") && out.contains("read SEQ 1 MiB Q8"), "{out}");
    let is_seen = out.contains("with Chromium, 2 blocks")
        && out.contains("first paint")
        && out.contains("events to pixels");
    match out.lines().find_map(|line| line.strip_prefix("without a browser: ")) {
        Some(why) => skip(why),
        None => assert!(is_seen, "{out}"),
    }
    Ok(())
}
