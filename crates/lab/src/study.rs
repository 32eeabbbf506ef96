//! Points of a study: models are computed in parallel. Real targets are measured in
//! `own_devices.rs`.

use crate::handle::RunHandle;
use crate::own_devices::measure_real;
use crate::shared_points::share;
use crate::stream::{PointEvent, Stream, StreamEvent};
use crate::trace::{TraceNames, traces};
use kurabe_core::event::Event;
use kurabe_core::model::Model;
use kurabe_core::record::{RunHeader, RunRecord};
use kurabe_core::target_name::MODEL_PREFIX;
use kurabe_core::{Error, ErrorKind, Result, mention::ON, shown, text};
use kurabe_engine::Session;
use kurabe_ranks::Communicator;
use kurabe_sim::{DeviceSpec, ModelTarget, Volatile};
use kurabe_store::Store;
use kurabe_study::{
    Measured, Models, Point, PointAnswers, PointTarget, StudyOptions, StudyPlan, StudyResult,
};

/// Resources of a study.
pub struct StudyRunner<'a> {
    /// Opens the store. Called only if a real target is measured.
    pub open_store: &'a dyn Fn() -> Result<Box<dyn Store>>,
    /// Receives the events.
    pub stream: &'a Stream,
    /// Stops the study.
    pub handle: &'a RunHandle,
    /// Command line for the records of real targets.
    pub command: &'a [String],
    /// Number of threads for models. The result does not depend on it.
    pub threads: usize,
}

/// Checks that the paths of all real targets exist, before anything is measured.
///
/// # Errors
/// When a path does not exist or cannot be used. The error names the first one.
pub fn check_paths(options: &StudyOptions) -> Result<()> {
    options.on.iter().try_for_each(|(name, path)| {
        let Err(error) = std::fs::metadata(path) else { return Ok(()) };
        let path = shown::path(path);
        if error.kind() != std::io::ErrorKind::NotFound {
            let what = text!("{ON} {name}={path}: cannot use it", "{ON} {name}={path}: 使えません");
            return Err(Error::os(what, &error));
        }
        Err(ErrorKind::Target
            .error(text!(
                "{ON} {name}={path}: the path does not exist",
                "{ON} {name}={path}: 使えません。このパスは存在しません"
            ))
            .remedy(text!(
                "name a directory, a file or a block device that exists",
                "実在するディレクトリ、ファイル、ブロックデバイスを指定してください"
            )))
    })
}

/// Runs a study. `before` has the points that were already computed.
///
/// # Errors
/// `Interrupted` when the study is stopped, or an event cannot be reported. Other failures of
/// points are part of the result.
pub fn run_study(plan: &StudyPlan, before: PointAnswers, runner: &StudyRunner<'_>) -> Result<StudyResult> {
    let models = ModelPoints { stream: runner.stream, handle: runner.handle };
    kurabe_study::run(plan, before, &models, |points| measure_real(runner, points), runner.threads)
}

/// Computes the models of several studies together with other ranks, each every n-th point. Rank 0
/// gets the results per study, and computes missing ones itself, so that the result equals that of
/// a single process. Other ranks get `None`.
///
/// # Errors
/// When messages cannot be sent or received.
pub fn share_points(
    plans: &[StudyPlan],
    runner: &StudyRunner<'_>,
    communicator: &dyn Communicator,
) -> Result<Option<Vec<PointAnswers>>> {
    let points: Vec<Point> = plans.iter().flat_map(|plan| &plan.points).cloned().collect();
    let models = ModelPoints { stream: runner.stream, handle: runner.handle };
    let answers = share(points.len(), communicator, runner.handle, |own, each| {
        kurabe_study::compute_models(&points, own, &models, runner.threads, each)
    })?;
    let mut answers = answers.into_iter().flatten();
    let of_rank_0 = communicator.rank() == 0;
    let answers = plans.iter().map(|plan| answers.by_ref().take(plan.points.len()).collect());
    Ok(of_rank_0.then(|| answers.collect()))
}

/// Computes models in virtual time.
struct ModelPoints<'a> {
    stream: &'a Stream,
    handle: &'a RunHandle,
}

impl Models for ModelPoints<'_> {
    fn run(&self, point: &Point) -> Result<Measured> {
        let (PointTarget::Model { name, .. }, Some(device)) = (&point.target, &point.device) else {
            return Err(
                ErrorKind::Internal.error(text!("this target is not a model", "対象はモデルではありません"))
            );
        };
        let run = format!("{MODEL_PREFIX}{name}");
        self.stream.tell(&run, StreamEvent::Point(PointEvent::PointStarted { model: name.clone() }))?;
        let measured = self.compute(&run, name, device, point);
        // A failed point has ended as well, because listeners count all points.
        self.stream.tell(&run, StreamEvent::Point(PointEvent::PointDone))?;
        measured
    }

    fn fewer_threads(&self, threads: usize, asked: usize, why: &std::io::Error) {
        let fewer = PointEvent::FewerThreads { threads, asked, cause: why.to_string() };
        // If a listener fails, the next point reports it.
        let _ = self.stream.tell("", StreamEvent::Point(fewer));
    }
}

impl ModelPoints<'_> {
    fn compute(&self, run: &str, name: &str, device: &DeviceSpec, point: &Point) -> Result<Measured> {
        let mut model = ModelTarget::new(device, point.seed)?;
        let header = RunHeader {
            profile: Some(point.profile.clone()),
            model: Some(Model::record(&model)),
            ..RunHeader::default()
        };
        let mut record = RunRecord::begun(header);
        let mut emit = |event: Event| {
            record.apply(&event);
            self.stream.tell(run, StreamEvent::Run(event))
        };
        let profile = &point.profile;
        let session = Session::on_model(&mut model, name, profile, &self.handle.stop, &mut emit)
            // A study specifies itself whether targets are filled first (`rules.fill`).
            .with_fill(false)
            .with_traces(traces(profile, TraceNames::EmbeddedFirst)?);
        kurabe_virtual::run(session)?;
        let volatile = model.volatile();
        let sum = |of: fn(&Volatile) -> u64| {
            volatile.iter().map(|(_, volatile)| of(volatile)).fold(0, u64::saturating_add)
        };
        let power_cut = Some((sum(|volatile| volatile.lost_bytes), sum(|volatile| volatile.saved_bytes)));
        let RunRecord { header, cells, notices, .. } = record;
        Ok(Measured { header, cells, notices, power_cut, ..Measured::default() })
    }
}
