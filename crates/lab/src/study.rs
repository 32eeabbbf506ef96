//! The points of a study: models computed side by side, real targets as runs of their own.

use crate::handle::RunHandle;
use crate::journal::Lab;
use crate::prepared::Prepared;
use crate::request::{Procedure, RunRequest};
use crate::stream::{PointEvent, Stream};
use crate::trace::{TraceNames, traces};
use kurabe_core::event::Event;
use kurabe_core::model::Model;
use kurabe_core::record::{RunHeader, RunRecord};
use kurabe_core::{Error, ErrorKind, Result, mention::ON, shown, text};
use kurabe_engine::Session;
use kurabe_ranks::Communicator;
use kurabe_sim::{DeviceSpec, ModelTarget, Volatile};
use kurabe_store::Store;
use kurabe_study::{
    Measured, Models, Paths, Point, PointAnswers, PointTarget, StudyOptions, StudyPlan, StudyResult,
};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a study is run with.
pub struct StudyRunner<'a> {
    /// Opens the store; asked only where a real target is measured.
    pub open_store: &'a dyn Fn() -> Result<Box<dyn Store>>,
    /// Who hears of it.
    pub stream: &'a Stream,
    /// What stops it.
    pub handle: &'a RunHandle,
    /// The command line that the records of real targets keep.
    pub command: &'a [String],
    /// Threads for models; the result does not depend on it.
    pub threads: usize,
}

/// Refuses paths of real targets that are not there, before anything is measured.
///
/// # Errors
/// Names the first of them.
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
                "{ON} {name}={path}: cannot use it, there is no such path",
                "{ON} {name}={path}: 使えません。このパスは存在しません"
            ))
            .remedy(text!(
                "name a directory, a file or a block device that exists",
                "実在するディレクトリ、ファイル、ブロックデバイスを指定してください"
            )))
    })
}

/// Runs a study, of which some points may have been computed before.
///
/// # Errors
/// `Interrupted` when it is stopped, and when nobody can be told. Whatever else goes wrong with a point stands in the
/// result.
pub fn run_study(plan: &StudyPlan, before: PointAnswers, runner: &StudyRunner<'_>) -> Result<StudyResult> {
    let models = ModelPoints { stream: runner.stream, handle: runner.handle };
    kurabe_study::run(plan, before, &models, &mut RealPoints(runner), runner.threads)
}

/// What a rank tells rank 0 of the points that it computes.
#[derive(Serialize, Deserialize)]
enum PointMessage {
    /// It is at work.
    Alive,
    /// A point by its number came to this. One that failed is not told: rank 0 sees for itself.
    Answer(usize, Box<Measured>),
    /// It has none any more.
    Over,
}

/// Computes the models of several studies together with other ranks, each every n-th point. Rank 0 is given what they came to, study by
/// study, and computes itself what it is not told: the result is that of one process. Nothing for the other ranks.
///
/// # Errors
/// When messages cannot be sent or received.
pub fn share_points(
    plans: &[StudyPlan],
    runner: &StudyRunner<'_>,
    communicator: &dyn Communicator,
) -> Result<Option<Vec<PointAnswers>>> {
    let points: Vec<(usize, &Point)> = plans.iter().flat_map(|plan| &plan.points).enumerate().collect();
    let (rank, size) = (communicator.rank() as usize, communicator.size() as usize);
    let own: Vec<(usize, &Point)> =
        points.iter().copied().filter(|(place, _)| place % size == rank).collect();
    let models = ModelPoints { stream: runner.stream, handle: runner.handle };
    let mut gathering = Gathering {
        communicator,
        answers: points.iter().map(|_| None).collect(),
        heard_ns: vec![communicator.now_ns(); size],
        is_over: vec![false; size],
        sent_ns: 0,
    };
    let mut outcome = Ok(());
    kurabe_study::compute(&own, &models, runner.threads, &mut |answer| {
        if outcome.is_ok() {
            outcome = if rank == 0 { gathering.take(answer) } else { gathering.tell(answer) };
        }
    });
    outcome?;
    if rank > 0 {
        gathering.send(&PointMessage::Over)?;
        return Ok(None);
    }
    gathering.is_over[0] = true;
    while !runner.handle.is_stopped() && gathering.awaits_any() {
        gathering.listen(TICK)?;
    }
    let mut answers = gathering.answers.into_iter();
    Ok(Some(plans.iter().map(|plan| answers.by_ref().take(plan.points.len()).collect()).collect()))
}

/// How long a rank may give no sign until rank 0 computes its points.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time between two signs, and between two looks whether it is to end.
const SIGN: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(20);

/// Answers on their way to rank 0.
struct Gathering<'a> {
    communicator: &'a dyn Communicator,
    answers: PointAnswers,
    /// When each rank was last heard of.
    heard_ns: Vec<u64>,
    is_over: Vec<bool>,
    /// When this one gave a sign.
    sent_ns: u64,
}

impl Gathering<'_> {
    fn send(&mut self, message: &PointMessage) -> Result<()> {
        self.sent_ns = self.communicator.now_ns();
        let bytes = serde_json::to_vec(message).map_err(|error| {
            ErrorKind::Internal.error(text!("cannot write a message", "通知を書けません")).because(error)
        })?;
        self.communicator.send(0, bytes)
    }

    /// Tells rank 0 an answer, or from time to time that this one is at work.
    fn tell(&mut self, answer: Option<(usize, Result<Measured>)>) -> Result<()> {
        match answer {
            Some((place, Ok(measured))) => self.send(&PointMessage::Answer(place, Box::new(measured))),
            _ if self.communicator.now_ns() - self.sent_ns < SIGN.as_nanos() as u64 => Ok(()),
            _ => self.send(&PointMessage::Alive),
        }
    }

    /// Takes an answer of this rank, and what others have sent meanwhile.
    fn take(&mut self, answer: Option<(usize, Result<Measured>)>) -> Result<()> {
        if let Some((place, answer)) = answer {
            self.answers[place] = Some(answer);
        }
        while self.listen(Duration::ZERO)? {}
        Ok(())
    }

    /// Takes a message, if there is one.
    fn listen(&mut self, limit: Duration) -> Result<bool> {
        let Some((from, bytes)) = self.communicator.receive(limit)? else { return Ok(false) };
        let from = from as usize;
        self.heard_ns[from] = self.communicator.now_ns();
        match serde_json::from_slice(&bytes) {
            Ok(PointMessage::Answer(place, measured)) => {
                if let Some(answer) = self.answers.get_mut(place) {
                    *answer = Some(Ok(*measured));
                }
            }
            Ok(PointMessage::Over) => self.is_over[from] = true,
            // What cannot be read is computed here.
            Ok(PointMessage::Alive) | Err(_) => {}
        }
        Ok(true)
    }

    /// Whether some rank is still at work. Of one that gives no sign nothing is awaited, the end of all neither.
    fn awaits_any(&mut self) -> bool {
        let now_ns = self.communicator.now_ns();
        let silent = |heard_ns: &u64| now_ns.saturating_sub(*heard_ns) >= PATIENCE.as_nanos() as u64;
        for (is_over, heard_ns) in self.is_over.iter_mut().zip(&self.heard_ns) {
            if !*is_over && silent(heard_ns) {
                *is_over = true;
                self.communicator.give_up();
            }
        }
        self.is_over.contains(&false)
    }
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
                ErrorKind::Internal.error(text!("this target is no model", "対象はモデルではありません"))
            );
        };
        let run = format!("model:{name}");
        self.stream.tell(&run, PointEvent::PointStarted { model: name.clone() })?;
        let measured = self.compute(&run, name, device, point);
        // One that fails is over, too: whoever counts points waits for all of them.
        self.stream.tell(&run, PointEvent::PointDone)?;
        measured
    }

    fn fewer_threads(&self, threads: usize, asked: usize, why: &std::io::Error) {
        let fewer = PointEvent::FewerThreads { threads, asked, cause: why.to_string() };
        // A listener that is gone is told so by the next point.
        let _ = self.stream.tell("", fewer);
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
            self.stream.tell(run, event)
        };
        let profile = &point.profile;
        Session::on_model(&mut model, name, profile, self.handle.engine_stop(), &mut emit)
            // A study says itself whether everything is written before (`rules.fill`).
            .with_fill(false)
            .with_traces(traces(profile, TraceNames::EmbeddedFirst)?)
            .run()?;
        let volatile = model.volatile();
        let sum = |of: fn(&Volatile) -> u64| {
            volatile.iter().map(|(_, volatile)| of(volatile)).fold(0, u64::saturating_add)
        };
        let power_cut = Some((sum(|volatile| volatile.lost_bytes), sum(|volatile| volatile.saved_bytes)));
        let RunRecord { header, cells, notices, .. } = record;
        Ok(Measured { header, cells, notices, power_cut, run: None })
    }
}

/// Measures the reader's own devices, and stores the runs.
struct RealPoints<'r, 'a>(&'r StudyRunner<'a>);

impl Paths for RealPoints<'_, '_> {
    fn run(&mut self, point: &Point) -> Result<Measured> {
        let PointTarget::Path(path) = &point.target else {
            return Err(ErrorKind::Internal.error(text!("this target is a model", "対象はモデルです")));
        };
        let store = (self.0.open_store)()?;
        let lab =
            Lab { store: &*store, stream: self.0.stream, handle: self.0.handle, command: self.0.command };
        let request = RunRequest {
            target: path.clone(),
            procedure: Procedure::Given(Box::new(point.profile.clone())),
            ..RunRequest::default()
        };
        let done = Prepared::new(request)?.open(&lab)?.measure();
        done.outcome?;
        let record = done.record.ok_or_else(|| {
            ErrorKind::Target.error(text!("nothing was measured", "測定できた項目がありません"))
        })?;
        let RunRecord { header, cells, notices, .. } = record;
        Ok(Measured { header, cells, notices, power_cut: None, run: Some(done.id) })
    }
}
