//! The benches in a tiny form, so that they cannot rot: milliseconds, one round, a small file.

use kurabe_benches::tools::{Kit, find_kurabe};
use kurabe_benches::{Result, agreement, model_speed, overhead, store_scale};
use std::path::Path;

const SIZE_BYTES: u64 = 16 << 20;

/// The programs, or a printed reason why the test cannot be run.
#[allow(clippy::print_stderr)]
fn kit() -> Result<Option<Kit>> {
    match find_kurabe() {
        Ok(kurabe) => Ok(Some(Kit::new(Path::new(env!("CARGO_BIN_EXE_bare")), kurabe)?)),
        Err(reason) => {
            eprintln!("skipped: {reason}");
            Ok(None)
        }
    }
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
fn agreement_runs() -> Result<()> {
    let Some(kit) = kit()? else { return Ok(()) };
    // Not the directory for temporary files, which may lie in memory and refuse direct I/O.
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let options = agreement::Options {
        seconds: 0.05,
        rounds: 1,
        size_bytes: SIZE_BYTES,
        directory: directory.path().to_owned(),
        engine: "uring",
        json: false,
    };
    let mut out = Vec::new();
    agreement::run(&options, &kit, &mut out, &mut std::io::sink())?;
    let out = String::from_utf8(out)?;
    assert!(out.contains("RND 4 KiB Q32 write"), "{out}");
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
#[allow(clippy::print_stderr)]
fn store_scale_runs() -> Result<()> {
    let kurabe = match find_kurabe() {
        Ok(kurabe) => kurabe,
        Err(reason) => {
            eprintln!("skipped: {reason}");
            return Ok(());
        }
    };
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
