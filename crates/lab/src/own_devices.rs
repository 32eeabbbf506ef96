//! The user's own devices in a study: targets with the same profile are measured interleaved, each
//! as a stored run.
//!
//! The procedure is the study's: its repetitions, their length and their order of tests. Only their
//! number is rounded up to whole pairs of blocks, which interleaving needs. If the targets cannot be
//! opened together, each is measured alone, and the result says why.

use crate::journal::Lab;
use crate::prepared::Prepared;
use crate::request::{Procedure, RunRequest};
use crate::study::StudyRunner;
use crate::versus::{PreparedVersus, VersusRequest};
use kurabe_core::record::RunRecord;
use kurabe_core::target_name::TargetName;
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use kurabe_study::{Measured, Point, PointTarget, RealAnswers, StudyPlan};
use std::path::{Path, PathBuf};

/// Checks that the targets that a study's file names exist, before anything is measured.
///
/// # Errors
/// When a path does not exist or cannot be used. The error names the first one.
pub fn check_targets(plan: &StudyPlan) -> Result<()> {
    plan.points.iter().filter_map(|point| path_of(point)).try_for_each(|path| {
        let Err(error) = std::fs::metadata(path) else { return Ok(()) };
        let path = shown::path(path);
        if error.kind() != std::io::ErrorKind::NotFound {
            return Err(Error::os(text!("{path}: cannot use it", "{path}: 使えません"), &error));
        }
        Err(ErrorKind::Target
            .error(text!("{path}: the path does not exist", "{path}: このパスは存在しません"))
            .remedy(text!(
                "connect and mount the device, or change its path in the study's file",
                "機器を接続してマウントするか、スタディのファイルにあるパスを直してください"
            )))
    })
}

fn path_of(point: &Point) -> Option<&PathBuf> {
    match &point.target {
        PointTarget::Path(path) => Some(path),
        PointTarget::Model { .. } => None,
    }
}

/// Measures targets with the same profile, interleaved if there are several.
pub(crate) fn measure_real(runner: &StudyRunner<'_>, points: &[&Point]) -> RealAnswers {
    let alone = |apart: Option<Text>| RealAnswers {
        answers: points.iter().map(|point| measure_alone(runner, point)).collect(),
        apart,
    };
    if points.len() < 2 {
        return alone(None);
    }
    match measure_together(runner, points) {
        Ok(answers) => RealAnswers { answers, apart: None },
        Err(error) if error.kind() == ErrorKind::Interrupted => {
            RealAnswers { answers: vec![Err(error)], apart: None }
        }
        Err(error) => alone(Some(error.what().clone())),
    }
}

/// Measures targets interleaved. Each answer is a separate stored run.
///
/// # Errors
/// When the targets cannot be opened together. Failures of the measurement are answers.
fn measure_together(runner: &StudyRunner<'_>, points: &[&Point]) -> Result<Vec<Result<Measured>>> {
    let paths = points.iter().filter_map(|point| path_of(point).cloned());
    let first = points.first().ok_or_else(no_target)?;
    let request = VersusRequest {
        targets: paths.map(TargetName::Path).collect(),
        given: Some(Box::new(first.profile.clone())),
        ..VersusRequest::default()
    };
    let store = (runner.open_store)()?;
    let lab = Lab { store: &*store, stream: runner.stream, handle: runner.handle, command: runner.command };
    let done = PreparedVersus::new(request)?.open(&lab)?.measure();
    let why = done.why.err();
    if let Some(error) = why.as_ref().filter(|error| error.kind() == ErrorKind::Interrupted) {
        return Err(copy_of(error));
    }
    let answer = |record: Option<RunRecord>| match (record, &why) {
        (Some(record), None) => Ok(of_record(record)),
        (_, Some(error)) => Err(copy_of(error)),
        (None, None) => Err(no_target()),
    };
    Ok(done.records.into_iter().map(answer).collect())
}

fn measure_alone(runner: &StudyRunner<'_>, point: &Point) -> Result<Measured> {
    let path: &Path = path_of(point).ok_or_else(no_target)?;
    let store = (runner.open_store)()?;
    let lab = Lab { store: &*store, stream: runner.stream, handle: runner.handle, command: runner.command };
    let request = RunRequest {
        target: TargetName::Path(path.to_owned()),
        procedure: Procedure::Given(Box::new(point.profile.clone())),
        ..RunRequest::default()
    };
    let done = Prepared::new(request)?.open(&lab)?.measure();
    done.outcome?;
    done.record.map(of_record).ok_or_else(no_target)
}

fn of_record(record: RunRecord) -> Measured {
    let RunRecord { header, cells, notices, health_after, .. } = record;
    let run = Some(header.id.clone());
    Measured { header, cells, notices, health_after, power_cut: None, run }
}

fn copy_of(error: &Error) -> Error {
    let copy = error.kind().error(error.what().clone());
    match error.remedy_text() {
        Some(remedy) => copy.remedy(remedy.clone()),
        None => copy,
    }
}

fn no_target() -> Error {
    ErrorKind::Target.error(text!("nothing was measured", "測定できた項目がありません"))
}
