//! What a run will write and how long it will take, as far as that can be told before it.

use crate::args::RunArgs;
use crate::lang::t;
use crate::model::model_name;
use crate::output::{print, style};
use crate::run::Subject;
use kurabe_core::profile::{Profile, Task, Work};
use kurabe_core::quantity::{NS_PER_S, format_bytes_decimal, format_time_setting};
use kurabe_core::record::{TargetKind, TargetRecord};
use kurabe_core::trace::Trace;
use kurabe_core::{Error, Result, text};
use kurabe_engine::{model_target, planned_time_ns};
use std::sync::Arc;

/// What the bytes that a run writes depend on.
#[derive(Clone, Copy)]
pub struct Ground {
    span_bytes: u64,
    writable: bool,
    /// A file of kurabe's own is written first, and copies are files beside it.
    test_file: bool,
}

impl Ground {
    /// Of a target that is open.
    pub fn of(target: &TargetRecord, test_file: bool) -> Self {
        // Whatever a model is asked to write, nothing is written.
        let writable = target.writable && target.kind != TargetKind::Model;
        Self { span_bytes: target.span_bytes, writable, test_file }
    }

    /// What a target will be, as far as that can be told without opening it.
    ///
    /// # Errors
    /// When there is no such target.
    pub fn planned(args: &RunArgs, profile: &Profile) -> Result<Self> {
        if let Subject::Model(model, name) = Subject::open(args, profile)? {
            return Ok(Self::of(&model_target(&name, &*model, profile), false));
        }
        let facts = args.target.metadata().map_err(|error| {
            let shown = args.target.display();
            Error::os(text!("cannot use {shown} as a target", "{shown} を測定対象にできません"), &error)
        })?;
        let whole = profile.rules.whole_device && args.size.is_none();
        let span_bytes = match facts.len() {
            length if facts.is_file() && (whole || length < profile.rules.size_bytes) => length,
            _ => profile.rules.size_bytes,
        };
        let consent = if facts.is_file() { args.write_existing } else { args.destroy_data_on.is_some() };
        Ok(Self {
            span_bytes,
            writable: facts.is_dir() || consent,
            test_file: facts.is_dir() && profile.needs_span(),
        })
    }
}

/// Bytes that the run writes at most, as far as its end is given in bytes; the cells bounded by time are told apart.
pub fn planned_write_bytes(
    profile: &Profile,
    tasks: &[Task],
    traces: &[Option<Arc<Trace>>],
    ground: Ground,
) -> u64 {
    if !ground.writable {
        return 0;
    }
    let span_bytes = ground.span_bytes;
    // Where there is no file of its own, a copy goes from one half to the other; the first is written once before.
    let copied_bytes = if ground.test_file { span_bytes } else { span_bytes / 2 };
    let before = profile
        .precondition_tasks(span_bytes)
        .iter()
        .map(|task| task.planned_write_bytes(span_bytes))
        .chain(tasks.iter().map(|task| match task.work {
            Work::Copy(_) if !ground.test_file => copied_bytes,
            _ => 0,
        }))
        .fold(if ground.test_file { span_bytes } else { 0 }, u64::saturating_add);
    let replayed = |task: &Task| match (&task.work, traces.get(task.step_index)) {
        (Work::Replay(_), Some(Some(trace))) => trace.summary().write_bytes,
        _ => task.planned_write_bytes(copied_bytes),
    };
    let once = tasks.iter().map(replayed).fold(0, u64::saturating_add);
    before.saturating_add(once.saturating_mul(u64::from(profile.repetitions())))
}

/// `kurabe run --dry-run`
///
/// # Errors
/// When there is no such target.
pub fn dry_run(args: &RunArgs, profile: &Profile, traces: &[Option<Arc<Trace>>]) -> Result<()> {
    let ground = Ground::planned(args, profile)?;
    let tasks = profile.tasks(ground.span_bytes);
    let on_model = model_name(args).is_some();
    let mut lines = vec![kurabe_report::render_profile(profile, &style())];
    if let Some(ns) = planned_time_ns(profile, &tasks) {
        lines.push(format!(
            "{} {}\n",
            match on_model {
                true => t("of the model's time, at least", "モデルの中の時間(最短):"),
                false => t("measuring takes at least", "測定時間(最短):"),
            },
            format_time_setting(ns.checked_next_multiple_of(NS_PER_S).unwrap_or(ns))
        ));
    }
    lines.extend(foreseen(args, profile, traces, ground));
    print(&lines.concat())
}

/// `kurabe versus --dry-run`: the same of each target; the profile says what is asked of all of them.
///
/// # Errors
/// When there is no such target.
pub fn dry_run_in_turns(
    targets: &[Box<RunArgs>],
    profile: &Profile,
    traces: &[Option<Arc<Trace>>],
    longest_ns: u64,
) -> Result<()> {
    let mut lines = vec![kurabe_report::render_profile(profile, &style())];
    lines.push(format!(
        "{} {}\n",
        t("measuring takes at most, all targets together:", "測定時間(最長、全対象の合計):"),
        format_time_setting(longest_ns)
    ));
    for args in targets {
        lines.push(format!("\n{}\n", args.target.display()));
        let told = foreseen(args, profile, traces, Ground::planned(args, profile)?);
        lines.extend(told.into_iter().map(|line| format!("  {line}")));
    }
    print(&lines.concat())
}

/// What is written on a target, in lines.
fn foreseen(args: &RunArgs, profile: &Profile, traces: &[Option<Arc<Trace>>], ground: Ground) -> Vec<String> {
    let tasks = profile.tasks(ground.span_bytes);
    let writes = tasks.iter().filter(|task| task.writes()).count();
    let mut lines = Vec::new();
    if ground.test_file {
        lines.push(format!(
            "{} {}\n",
            t("test file to write:", "書き込むテストファイル:"),
            format_bytes_decimal(ground.span_bytes)
        ));
    }
    lines.push(format!("{} {writes}\n", t("cells that write:", "書き込みを含む項目:")));
    if !ground.writable && model_name(args).is_none() && writes > 0 {
        lines.push(format!(
            "{}\n",
            t(
                "they are left out: the target may not be written without --write-existing or --destroy-data-on",
                "これらは測りません(--write-existing または --destroy-data-on がなければ対象に書き込みません)"
            )
        ));
    }
    let bytes = planned_write_bytes(profile, &tasks, traces, ground);
    if bytes > 0 {
        lines.push(format!(
            "{} {}\n",
            t("written at most, cells that end by time apart:", "書き込み量(最大、時間で終わる項目を除く):"),
            format_bytes_decimal(bytes)
        ));
    }
    lines
}
