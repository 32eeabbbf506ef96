//! Checks whether a profile fits a target: which tasks remain, and whether each can run there.

use kurabe_core::mention::{
    ATTACH, BS, BUFFERED, DESTROY_DATA_ON, OFFSET, OUTPUT, RECORD, REPLAY, SIZE, WRITE_EXISTING,
};
use kurabe_core::profile::{Profile, Task, Work};
use kurabe_core::record::{TargetKind, TargetRecord};
use kurabe_core::workload::{Direction, Pattern, Workload};
use kurabe_core::{ErrorKind, Result, Text, quantity::format_bytes, text};

/// Returns the tasks of a profile that can run on a target. If the target is read-only, sampling
/// steps that write back keep only their reads. A task that can't run is omitted as long as another
/// one can; `unfit` returns the reasons.
///
/// # Errors
/// Fails if no task remains, or if the preconditioning can't run on the target.
pub fn plan_tasks(profile: &Profile, target: &TargetRecord) -> Result<Vec<Task>> {
    check_preconditions(profile, target)?;
    let (mut fitting, mut refusal) = (Vec::new(), None);
    for task in allowed_tasks(profile, target) {
        match check_fit(&task, target) {
            Ok(()) => fitting.push(task),
            Err(error) => {
                refusal.get_or_insert(error);
            }
        }
    }
    match (fitting.is_empty(), refusal) {
        (false, _) => Ok(fitting),
        (true, Some(refusal)) => Err(refusal),
        (true, None) => Err(ErrorKind::Refused
            .error(text!(
                "no test is left to measure: the profile only writes, and the target is read-only",
                "測るものがありません。プロファイルは書き込みだけで、対象は読み取り専用です"
            ))
            .remedy(how_to_write(target.kind))),
    }
}

/// Returns why tasks of a profile are omitted on a target, if others remain.
pub(crate) fn unfit(profile: &Profile, target: &TargetRecord) -> Vec<Text> {
    allowed_tasks(profile, target)
        .iter()
        .filter_map(|task| check_fit(task, target).err())
        .map(|error| error.what().clone())
        .collect()
}

fn allowed_tasks(profile: &Profile, target: &TargetRecord) -> Vec<Task> {
    let tasks = profile.tasks(target.span_bytes).into_iter();
    tasks.filter_map(|task| if target.writable { Some(task) } else { reads_only(task) }).collect()
}

/// Returns a task without its writes. Command tasks are kept, because they are rejected for another
/// reason.
fn reads_only(mut task: Task) -> Option<Task> {
    if matches!(task.work, Work::Command(_) | Work::Metadata(_)) {
        return Some(task);
    }
    if let Work::Positional(step) = &mut task.work {
        step.directions.retain(|direction| *direction == Direction::Read);
        task.cells.retain(|cell| cell.direction == Some(Direction::Read));
    }
    (!task.writes()).then_some(task)
}

/// Checks the preconditioning, which can't be omitted because the figures depend on it.
fn check_preconditions(profile: &Profile, target: &TargetRecord) -> Result<()> {
    if !target.writable {
        return Ok(());
    }
    for task in profile.precondition_tasks(target.span_bytes) {
        check_fit(&task, target)?;
    }
    Ok(())
}

/// The requirements of a task: its span, its largest size, and the sizes and offsets that must be
/// aligned.
struct Needs {
    span_bytes: u64,
    largest_bytes: u64,
    aligned: Vec<u64>,
}

impl Needs {
    fn of(task: &Task, target: &TargetRecord) -> Option<Self> {
        let block = |bytes: u32| u64::from(bytes);
        Some(match &task.work {
            Work::Io(workloads) => Self {
                span_bytes: workloads.iter().map(|workload| workload.span_bytes).min()?,
                largest_bytes: block(workloads.iter().map(Workload::largest_block_bytes).max()?),
                aligned: workloads
                    .iter()
                    .flat_map(|workload| {
                        let gap_bytes = match workload.pattern {
                            Pattern::Strided { gap_bytes, .. } => gap_bytes.unsigned_abs(),
                            _ => 0,
                        };
                        let sizes = workload.all_block_bytes().chain(workload.alignment_bytes);
                        sizes.map(block).chain([workload.offset_bytes, gap_bytes])
                    })
                    .collect(),
            },
            Work::Positional(step) => Self {
                span_bytes: target.span_bytes,
                largest_bytes: block(step.sample_bytes),
                aligned: vec![
                    block(step.sample_bytes),
                    block(step.pre_read_bytes),
                    block(step.alignment_bytes),
                ],
            },
            Work::AccessTime(step) => Self {
                span_bytes: step.span_bytes.map_or(target.span_bytes, |span| span.min(target.span_bytes)),
                largest_bytes: block(step.block_bytes),
                aligned: vec![block(step.block_bytes), block(step.alignment_bytes)],
            },
            Work::Copy(_) | Work::Command(_) | Work::Replay(_) | Work::Metadata(_) | Work::Stopwatch(_) => {
                return None;
            }
        })
    }

    /// Checks whether a target meets the requirements.
    fn check(&self, label: &str, target: &TargetRecord) -> Result<()> {
        let (largest, span_bytes) = (self.largest_bytes, self.span_bytes);
        if span_bytes < largest {
            return Err(ErrorKind::Target
                .error(text!(
                    "{label} needs {}, but its span has only {}",
                    "{label} には {} 必要ですが、範囲には {} しかありません",
                    format_bytes(largest),
                    format_bytes(span_bytes)
                ))
                .remedy(text!(
                    "choose a larger {SIZE}, a smaller {BS} or a smaller {OFFSET}",
                    "{SIZE} を大きくするか、{BS} または {OFFSET} を小さくしてください"
                )));
        }
        let unit = u64::from(target.alignment_bytes);
        if let Some(odd) = self.aligned.iter().find(|bytes| !bytes.is_multiple_of(unit)) {
            return Err(ErrorKind::Target
                .error(text!(
                    "{label}: {odd} bytes is not a multiple of the direct I/O unit, {unit} bytes",
                    "{label}: {odd} バイトは、ここでのダイレクト I/O の単位 {unit} バイトの倍数ではありません"
                ))
                .remedy(text!(
                    "use multiples of {unit} bytes, or {BUFFERED}",
                    "{unit} バイトの倍数にするか、{BUFFERED} を使ってください"
                )));
        }
        Ok(())
    }
}

fn check_fit(task: &Task, target: &TargetRecord) -> Result<()> {
    let label = &task.label;
    if matches!(task.work, Work::Command(_)) && target.kind == TargetKind::Model {
        return Err(ErrorKind::Target
            .error(text!(
                "`{label}` runs a program, which is not possible on a model",
                "`{label}` はプログラムなので、モデルでは実行できません"
            ))
            .remedy(text!(
                "record it on a real device with `{RECORD} {OUTPUT} FILE TARGET -- COMMAND`, and replay \
                 the trace on the model with {REPLAY}",
                "実機で `{RECORD} {OUTPUT} ファイル 対象 -- コマンド` により記録し、そのトレースを {REPLAY} でモデルに再生してください"
            )));
    }
    if matches!(task.work, Work::Stopwatch(_)) && target.kind == TargetKind::Model {
        return Err(ErrorKind::Target
            .error(text!(
                "`{label}` times a computer or a person, who cannot use a model in virtual time",
                "`{label}` は別のコンピューターや人の操作の計時なので、仮想時間のモデルでは測れません"
            ))
            .remedy(text!(
                "attach the model as a device ({ATTACH}), and name a directory on it",
                "モデルをデバイスとして接続し({ATTACH})、その中のディレクトリを指定してください"
            )));
    }
    if matches!(task.work, Work::Metadata(_)) && target.kind == TargetKind::Model {
        return Err(ErrorKind::Target
            .error(text!(
                "`{label}` uses file names, but a model has only blocks",
                "`{label}` はファイル名を扱いますが、モデルにあるのはブロックだけです"
            ))
            .remedy(text!(
                "attach the model as a device ({ATTACH}), create a file system on it, and name a directory there",
                "モデルをデバイスとして接続し、ファイルシステムを作って、その中のディレクトリを指定してください({ATTACH})"
            )));
    }
    let has_files = matches!(task.work, Work::Command(_) | Work::Metadata(_) | Work::Stopwatch(_));
    if has_files && target.kind != TargetKind::Directory {
        return Err(ErrorKind::Target
            .error(text!(
                "`{label}` uses files, so its target must be a directory",
                "`{label}` はファイルを扱うため、対象にはディレクトリが必要です"
            ))
            .remedy(text!(
                "mount the device and name a directory on it",
                "デバイスをマウントし、その中のディレクトリを指定してください"
            )));
    }
    Needs::of(task, target).map_or(Ok(()), |needs| needs.check(&task.label, target))
}

pub(crate) fn writes_left_out(kind: TargetKind) -> Text {
    let how = how_to_write(kind);
    text!("write tests are skipped: {how}", "書き込みは測りません。{how}"; how)
}

fn how_to_write(kind: TargetKind) -> Text {
    match kind {
        TargetKind::BlockDevice => text!(
            "to write to a device, name it with {DESTROY_DATA_ON}; all data on it is lost",
            "デバイスへの書き込みには {DESTROY_DATA_ON} での指定が必要で、中身は失われます"
        ),
        TargetKind::CharacterDevice => {
            text!("this device supports only reads here", "このデバイスは読み出しだけ測れます")
        }
        _ => text!(
            "to write to an existing file, add {WRITE_EXISTING}; its contents are lost",
            "既存のファイルへの書き込みには {WRITE_EXISTING} が必要で、中身は失われます"
        ),
    }
}

/// Returns the minimum duration of these tasks in ns, if all are limited by time. With rounds, the
/// maximum duration.
pub fn planned_time_ns(profile: &Profile, tasks: &[Task]) -> Option<u64> {
    let mut one_pass_ns = 0u64;
    for task in tasks {
        one_pass_ns = one_pass_ns.saturating_add(task.planned_time_ns()?);
    }
    let pauses_ns = profile.rules.interval_ns.saturating_mul((tasks.len() as u64).saturating_sub(1));
    Some(one_pass_ns.saturating_mul(u64::from(profile.repetitions())).saturating_add(pauses_ns))
}
