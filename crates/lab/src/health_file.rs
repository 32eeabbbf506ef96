//! Attaches health data that smartctl or nvme-cli wrote to the run of the same drive.
//!
//! The model: a drive is the same if its serial number is, or, where a run has none, if its model is.
//! Of several runs of the drive, the one closest in time to the report gets the data, or the newest if
//! the report has no time. Facts that the run already has are kept. A run of kurabe that already has
//! health data gets the report as its health after the run, once. For a run of another tool, a later
//! report replaces an earlier one.

use jiff::Timestamp;
use kurabe_core::environment::BlockDevice;
use kurabe_core::mention::{IMPORT, RUN, TO};
use kurabe_core::record::{RunRecord, RunSummary};
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use kurabe_host::{HealthReport, health_report, serial_in_store};
use kurabe_store::Store;

/// Health data that was attached to a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedHealth {
    /// Id of the run.
    pub run: String,
    /// The drive, and why the run is one of it.
    pub drive: Text,
}

/// Attaches the health report in a file to a run. Returns `None` if the file is of another kind. `run`
/// names the run; without it, the run is found by the drive.
///
/// # Errors
/// When the report contains no data, when no stored run or another drive's is meant, or when the run
/// already has health data from before and after it.
pub fn attach_health(
    store: &dyn Store,
    name: &str,
    bytes: &[u8],
    run: Option<&str>,
) -> Option<Result<AttachedHealth>> {
    let report = health_report(bytes)?;
    Some(report.map_err(|why| nothing_reported(name, &why)).and_then(|report| {
        let salt = store.salt()?;
        let (mut record, drive) = match run {
            Some(run) => named(store, run, &report.device, &salt)?,
            None => of_drive(store, name, &report, &salt)?,
        };
        attach(store, &mut record, report, name, &salt)?;
        Ok(AttachedHealth { run: record.header.id, drive })
    }))
}

fn nothing_reported(name: &str, why: &str) -> Error {
    ErrorKind::Import
        .error(text!(
            "{name} contains no health data of a drive: {why}",
            "{name} にはドライブの健康状態がありません: {why}"
        ))
        .remedy(text!(
            "write it as root with `smartctl -j -a DEVICE`",
            "root で `smartctl -j -a デバイス` を実行して書き出してください"
        ))
}

/// Returns the drive in a few words: its model, and its link if that is slower than it could be.
fn drive_words(device: &BlockDevice) -> String {
    let link = match device.link {
        Some(kurabe_core::environment::Link::Sata {
            speed_gbit_per_s: Some(current),
            speed_max_gbit_per_s: Some(most),
            ..
        }) if current < most => format!(", link {current:.1} Gb/s of {most:.1} Gb/s"),
        _ => String::new(),
    };
    format!("{}{link}", device.model.as_deref().unwrap_or("?"))
}

fn named(store: &dyn Store, run: &str, device: &BlockDevice, salt: &[u8]) -> Result<(RunRecord, Text)> {
    let record = store.load(&store.resolve(run)?)?;
    if let Some(own) = record.header.environment.devices.first()
        && is_other_drive(own, device, salt)
    {
        let id = &record.header.id;
        let (of_run, of_file) = (drive_words(own), drive_words(device));
        return Err(ErrorKind::Refused
            .error(text!(
                "the run `{id}` was measured on another drive ({of_run}) than the report is of ({of_file})",
                "測定 `{id}` のドライブ({of_run})は、ファイルのドライブ({of_file})と別のものです"
            ))
            .remedy(text!("name a run of this drive", "このドライブの測定を指定してください")));
    }
    Ok((record, text!("{} (the run was named)", "{}(測定を指定)", drive_words(device))))
}

/// Returns whether the serial numbers differ, or without them the models.
fn is_other_drive(own: &BlockDevice, reported: &BlockDevice, salt: &[u8]) -> bool {
    match (&own.serial, &reported.serial) {
        (Some(own), Some(reported)) => !is_serial(own, reported, salt),
        _ => own.model.is_some() && reported.model.is_some() && !is_model(own, reported),
    }
}

fn is_serial(stored: &str, reported: &str, salt: &[u8]) -> bool {
    stored == reported || stored == serial_in_store(reported, salt)
}

/// Minimum length of a model's name that can be the beginning of another one. Kernel interfaces cut
/// names.
const MODEL_LEAST: usize = 8;

fn is_model(own: &BlockDevice, reported: &BlockDevice) -> bool {
    let (Some(own), Some(reported)) = (&own.model, &reported.model) else { return false };
    let plain = |model: &str| model.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let (own, reported) = (plain(own), plain(reported));
    let begins = |short: &str, long: &str| short.len() >= MODEL_LEAST && long.starts_with(short);
    own == reported || begins(&own, &reported) || begins(&reported, &own)
}

fn of_drive(store: &dyn Store, name: &str, report: &HealthReport, salt: &[u8]) -> Result<(RunRecord, Text)> {
    let drive = drive_words(&report.device);
    let has_model = |run: &RunSummary| {
        let device = BlockDevice { model: run.device.clone(), ..BlockDevice::default() };
        is_model(&device, &report.device)
    };
    let mut runs: Vec<RunRecord> = Vec::new();
    // The list has no device of a run to which one was attached later.
    let may_match = |run: &&RunSummary| run.model.is_none() && (run.device.is_none() || has_model(run));
    for run in store.list()?.iter().filter(may_match) {
        runs.extend(store.load(&run.id));
    }
    runs.retain(|run| {
        let own = run.header.environment.devices.first();
        own.is_some_and(|own| !is_other_drive(own, &report.device, salt))
    });
    let is_certain = |run: &RunRecord| {
        let serial = run.header.environment.devices.first().and_then(|own| own.serial.as_ref());
        serial
            .zip(report.device.serial.as_ref())
            .is_some_and(|(own, reported)| is_serial(own, reported, salt))
    };
    // The list is in order of time, so that without a time the last one is the newest.
    let away_s = |run: &RunRecord| {
        let started = run.header.measured_at().parse::<Timestamp>().ok();
        started.zip(report.measured_unix_s).map_or(0, |(started, at)| (started.as_second() - at).abs())
    };
    let count = runs.len();
    let best = runs.into_iter().rev().min_by_key(|run| (!is_certain(run), away_s(run)));
    let Some(run) = best else { return Err(no_run(name, &drive)) };
    let how = if is_certain(&run) {
        text!("the same serial number", "シリアル番号が一致")
    } else {
        text!("the same model; the run has no serial number", "型番が一致。測定にシリアル番号がありません")
    };
    let among = if count > 1 {
        text!("; the closest in time of {count} runs", "。{count} 件のうち時刻が最も近いもの")
    } else {
        Text::default()
    };
    Ok((run, text!("{drive} ({how}{among})", "{drive}({how}{among})"; how, among)))
}

fn no_run(name: &str, drive: &str) -> Error {
    let word = shown::shell_word(name);
    if drive == "?" {
        return ErrorKind::NoSuchRun
            .error(text!(
                "{name} is health data of a drive that it does not name",
                "{name} はドライブの健康状態ですが、どのドライブか書かれていません"
            ))
            .remedy(text!(
                "name the run that it belongs to: {IMPORT} {word} {TO} RUN",
                "どの測定のものか指定してください: {IMPORT} {word} {TO} 測定"
            ));
    }
    ErrorKind::NoSuchRun
        .error(text!(
            "{name} is the output of smartctl JSON for {drive}, of which no run is stored",
            "{name} は smartctl JSON の出力({drive})ですが、このドライブの測定が保存されていません"
        ))
        .remedy(text!(
            "measure the drive ({RUN}) or import a result of it first, or name its run: {IMPORT} {word} {TO} RUN",
            "先にこのドライブを測定するか({RUN})、結果を取り込んでください。測定を指定することもできます: {IMPORT} {word} {TO} 測定"
        ))
}

fn attach(
    store: &dyn Store,
    record: &mut RunRecord,
    report: HealthReport,
    name: &str,
    salt: &[u8],
) -> Result<()> {
    let mut reported = report.device;
    let at = report.measured_unix_s.and_then(|at| Timestamp::from_second(at).ok());
    let from = [Some(name.to_owned()), at.map(|at| at.strftime("%Y-%m-%d %H:%M UTC").to_string())];
    if let Some(health) = &mut reported.health {
        let from: Vec<String> = from.into_iter().flatten().collect();
        health.source = format!("{} ({})", health.source, from.join(", "));
    }
    reported.serial = reported.serial.map(|serial| serial_in_store(&serial, salt));
    let devices = &mut record.header.environment.devices;
    if devices.is_empty() {
        devices.push(BlockDevice { name: std::mem::take(&mut reported.name), ..BlockDevice::default() });
    }
    let Some(own) = devices.first_mut() else { return Ok(()) };
    let Some(ended_at) = record.ended_at.clone() else {
        // Of another tool: the time of its end is unknown.
        own.health = reported.health.take().or(own.health.take());
        fill(own, reported);
        store.update_header(&record.header)?;
        crate::journal::keep_digest(store, &record.header.id);
        return Ok(());
    };
    let has_both = own.health.is_some() && record.health_after.is_some();
    if has_both && reported.health.is_some() {
        let id = &record.header.id;
        return Err(ErrorKind::Refused
            .error(text!(
                "the run `{id}` already has health data from before and after it",
                "測定 `{id}` には前後の健康状態がすでにあります"
            ))
            .remedy(text!(
                "name another run of the drive: {TO} RUN",
                "ほかの測定を指定してください: {TO} 測定"
            )));
    }
    let after = own.health.as_ref().and(reported.health.clone());
    fill(own, reported);
    store.update_header(&record.header)?;
    if let Some(after) = after {
        store.finish_run(&record.header.id, record.status, &ended_at, record.error.as_ref(), Some(&after))?;
    }
    crate::journal::keep_digest(store, &record.header.id);
    Ok(())
}

/// Adds facts that the device lacks.
fn fill(own: &mut BlockDevice, reported: BlockDevice) {
    fn or<T>(own: &mut Option<T>, reported: Option<T>) {
        if own.is_none() {
            *own = reported;
        }
    }
    or(&mut own.model, reported.model);
    or(&mut own.firmware, reported.firmware);
    or(&mut own.serial, reported.serial);
    or(&mut own.size_bytes, reported.size_bytes);
    or(&mut own.rotational, reported.rotational);
    or(&mut own.link, reported.link);
    or(&mut own.health, reported.health);
}
