//! fio job files, read as profiles.
//!
//! The model: a section is a step, and `[global]` applies to the sections after it. The user expects
//! every option of a job file to take effect, so an unsupported option is refused with its line.
//! Options without an effect here, and differences from fio, are reported in the profile. Sections run
//! concurrently unless they contain `stonewall`. Meanings of the options: fio's HOWTO, version 3.36.

mod line;
mod notes;
mod options;
mod order;
mod own;
mod region;
mod sections;
mod steady;
mod step;
mod table;

pub use crate::job::line::{FioLine, FioResults, read_fio_line};
pub(crate) use crate::job::own::OwnStep;
pub use crate::job::sections::{JobSurroundings, NoSurroundings};
pub use crate::job::step::beside;
pub use crate::job::table::{FioOptionKind, FioOptions, fio_options};

use crate::job::notes::Notes;
use crate::job::options::OptionReader;
use crate::job::order::number_places;
use crate::job::region::Reach;
use crate::job::sections::{JobSection, sections};
use crate::job::step::{SectionJob, read_job};
use crate::log::{FioLog, FioLogKind};
use kurabe_core::mention::{CACHE, FIO, PROFILE, RUN, RUNS};
use kurabe_core::output_path::OutputPath;
use kurabe_core::profile::{Order, Profile, Rules, Step};
use kurabe_core::workload::{Data, Direction, Trims};
use kurabe_core::{Error, ErrorKind, Result, text};
use std::cell::LazyCell;

/// Extensions of job files.
const ENDINGS: [&str; 3] = [".fio", ".job", ".ini"];

/// A job file, converted to a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct FioJob {
    /// Sections as steps.
    pub profile: Profile,
    /// Its target, and how that is accessed.
    pub access: FioAccess,
    /// Requested log files.
    pub logs: Vec<FioLog>,
}

/// The target of a section or of a job file, and how it is accessed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FioAccess {
    /// Value of `filename=` or `directory=`.
    pub target: Option<String>,
    /// Whether the page cache is kept before each repetition (`invalidate=0`).
    pub keeps_cache: bool,
    /// Whether all I/O uses a mapping (`ioengine=mmap`).
    pub is_mapped: bool,
    /// Whether written data is read back and compared (`verify=`).
    pub verifies: bool,
}

/// Returns whether a file name is that of a job file.
pub fn is_job_name(name: &str) -> bool {
    ENDINGS.iter().any(|ending| name.len() > ending.len() && name.ends_with(ending))
}

/// Reads a job file with the name `file`.
///
/// # Errors
/// If something is invalid, unknown or unsupported. The error shows the line.
pub fn read_fio_job(file: &str, source: &str, around: &dyn JobSurroundings) -> Result<FioJob> {
    let mut runs = jobs_of(file, &sections(file, source, &[], around)?, Notes::default(), around)?;
    match (runs.pop(), runs.is_empty()) {
        (Some((job, _)), true) => Ok(job),
        (Some((_, Some(differs))), _) => Err(differs),
        _ => Err(no_jobs(file)),
    }
}

/// Reads the jobs of a command line as runs. A job that waits and uses another target or other settings
/// begins a new run.
///
/// # Errors
/// As [`read_fio_job`], and if a requested section does not exist.
pub fn read_fio_jobs(line: &FioLine, around: &dyn JobSurroundings) -> Result<Vec<FioJob>> {
    // Errors show its words as the lines that they become.
    let sections = sections("fio", &line.source, &line.sections, around)?;
    let mut notes = Notes::default();
    line.idle.iter().for_each(|(word, why)| notes.idle(word, why));
    Ok(jobs_of(&line.name, &sections, notes, around)?.into_iter().map(|(job, _)| job).collect())
}

/// Returns the runs of these sections, each with the reason why it cannot be part of the run before it.
fn jobs_of(
    file: &str,
    sections: &[JobSection],
    mut notes: Notes,
    around: &dyn JobSurroundings,
) -> Result<Vec<(FioJob, Option<Error>)>> {
    let is_old = LazyCell::new(|| around.fio_version().is_some_and(|version| is_before_3_35(&version)));
    let mut laid_out: Option<Data> = None;
    let mut runs: Vec<(Vec<SectionJob>, Option<Error>)> = vec![(Vec::new(), None)];
    let mut at = 0;
    let mut first_job = 1u32;
    while let Some(section) = sections.get(at) {
        let reader = OptionReader::of(section)?;
        let own = own_step(&reader, &sections[at..])?;
        at += own.as_ref().map_or(1, |(_, sections)| *sections);
        let own = own.map(|(step, _)| step);
        let mut job = read_job(&reader, own.as_ref(), &mut notes)?;
        if let Some(places) = &mut job.step.fio_places {
            *places = number_places(&reader, *places, first_job, *is_old)?;
        }
        first_job = first_job.saturating_add(u32::try_from(reader.jobs()?).unwrap_or(u32::MAX));
        if reader.flag("create_only")? {
            notes.add(text!(
                "kurabe creates its test file itself: [{}] is skipped",
                "テストファイルは kurabe が作るので [{}] は行いません",
                section.name
            ));
            laid_out = laid_out.or(job.step.data);
            continue;
        }
        match (check_alike(runs.last().map_or(&[], |(jobs, _)| jobs), &job, &reader), job.waits) {
            (Ok(()), _) => {}
            (Err(differs), true) => runs.push((Vec::new(), Some(differs))),
            (Err(differs), false) => return Err(differs),
        }
        let Some((jobs, _)) = runs.last_mut() else { continue };
        let (count, increment) = job.spread.unwrap_or((1, Reach::Bytes(0)));
        for number in 0..count {
            let mut one = job.clone();
            match increment {
                Reach::Bytes(bytes) => {
                    let offset_bytes = one.step.offset_bytes;
                    one.step.offset_bytes = offset_bytes.saturating_add(number.saturating_mul(bytes));
                }
                Reach::Percent(percent) => {
                    shift(&mut one, u64::from(percent).saturating_mul(number), &reader)?;
                }
            }
            if let Some(places) = &mut one.step.fio_places {
                places.first_job = places.first_job.saturating_add(number as u32);
            }
            one.waits &= number == 0;
            jobs.push(one);
        }
    }
    if runs.iter().any(|(jobs, _)| jobs.is_empty()) {
        return Err(no_jobs(file));
    }
    let run = |(jobs, differs)| Ok((run_of(file, jobs, laid_out, notes.clone())?, differs));
    runs.into_iter().map(run).collect()
}

/// Returns whether a version of fio (`fio-3.33`) seeds its random offsets as versions up to 3.34 did.
fn is_before_3_35(version: &str) -> bool {
    let numbers =
        version.trim_start_matches("fio-").split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
    let numbers: Vec<u32> = numbers.take(2).collect();
    !numbers.is_empty() && numbers < vec![3, 35]
}

fn no_jobs(file: &str) -> Error {
    ErrorKind::DataFile.error(text!("{file} has no jobs", "{file} にジョブがありません")).remedy(text!(
        "add a section: [name], rw=…, bs=…, size=…",
        "[名前]、rw=…、bs=…、size=… のセクションを書いてください"
    ))
}

/// Returns jobs as one run.
fn run_of(file: &str, mut jobs: Vec<SectionJob>, laid_out: Option<Data>, mut notes: Notes) -> Result<FioJob> {
    put_side_by_side(&mut jobs, &mut notes)?;
    if let ([_, _, ..], Some(steady)) = (&jobs[..], jobs.iter().find(|job| job.rounds.is_some())) {
        return Err(ErrorKind::Unsupported
            .error(text!(
                "waiting for a steady state works only with a single job",
                "安定を待てるのは、1 つのジョブだけを動かすときです"
            ))
            .at(steady.place.clone())
            .remedy(text!("run this job alone", "そのジョブだけを実行してください")));
    }
    let verifies = verifies(&jobs, &mut notes)?;
    note_the_whole(&jobs, &mut notes);
    let logs = logs(&jobs, &mut notes);
    Ok(FioJob {
        access: FioAccess {
            target: jobs.iter().find_map(|job| job.access.target.clone()),
            keeps_cache: jobs.iter().all(|job| job.access.keeps_cache),
            is_mapped: jobs.iter().all(|job| job.access.is_mapped),
            verifies,
        },
        logs,
        profile: profile(file, jobs, laid_out, notes),
    })
}

/// Returns the logs of all jobs.
fn logs(jobs: &[SectionJob], notes: &mut Notes) -> Vec<FioLog> {
    let of_job = |(job, step_index): (&SectionJob, u32)| {
        let number = if job.numbers_logs { format!(".{}", step_index + 1) } else { String::new() };
        let log = |(kind, name): &(FioLogKind, String)| FioLog {
            kind: *kind,
            file: OutputPath::from(format!("{name}{number}.log").as_str()),
            step_index,
        };
        job.logs.iter().map(log).collect::<Vec<_>>()
    };
    let logs: Vec<FioLog> = jobs.iter().zip(0..).flat_map(of_job).collect();
    if !logs.is_empty() {
        notes.add(text!(
            "log files have one line per interval of the series, as with log_avg_msec; for latency it is the maximum",
            "ログは推移の区間ごとに 1 行です(log_avg_msec と同様)。レイテンシは区間内の最大値です"
        ));
    }
    logs
}

/// Shifts a job that covers a percentage of its target by a number of percent.
fn shift(job: &mut SectionJob, by_percent: u64, reader: &OptionReader<'_>) -> Result<()> {
    let shifted = job.step.span_percent.and_then(|(start, length)| {
        let start = u64::from(start).saturating_add(by_percent);
        (start + u64::from(length) <= 100).then_some((start as u8, length))
    });
    let remedy = text!(
        "size= in percent, and all parts within 100 of them",
        "size= も % で書き、全体で 100 % に収めてください"
    );
    job.step.span_percent = Some(reader.taken(shifted, "offset_increment", remedy)?);
    Ok(())
}

/// Returns whether written data is verified. In fio, each job verifies its own data when it ends; here
/// all data is read back at the end.
fn verifies(jobs: &[SectionJob], notes: &mut Notes) -> Result<bool> {
    let Some(asking) = jobs.iter().find(|job| job.access.verifies) else { return Ok(false) };
    let writes =
        |job: &SectionJob| job.step.directions != [Direction::Read] && job.step.trims != Some(Trims::Only);
    if !jobs.iter().any(writes) {
        return Err(ErrorKind::Unsupported
            .error(text!("no writes are made here that could be verified", "検証できる書き込みがありません"))
            .at(asking.place.clone())
            .remedy(text!(
                "put the writing job into the same job file, or remove verify=",
                "書き込むジョブを同じファイルに入れるか、verify= を外してください"
            )));
    }
    let sizes = |job: &SectionJob| {
        job.step.block_sizes.iter().chain(&job.step.write_block_sizes).copied().collect::<Vec<_>>()
    };
    if let Some(odd) = jobs.iter().find(|job| sizes(job).iter().any(|size| size.size_bytes % 512 != 0)) {
        return Err(ErrorKind::Unsupported
            .error(text!(
                "blocks that do not consist of whole sectors cannot be verified",
                "512 バイト単位でないブロックは検証できません"
            ))
            .at(odd.place.clone())
            .remedy(text!(
                "choose a multiple of 512 bytes, or remove verify=",
                "512 の倍数にするか、verify= を外してください"
            )));
    }
    notes.add(text!(
        "verify=: every write is stamped, and all writes are read back at the end; a model has no data to compare",
        "verify=: 書き込みごとに印を付け、最後にすべて読み戻して比べます(モデルには比べるデータがありません)"
    ));
    Ok(true)
}

/// Makes jobs without a barrier run concurrently with those before them. If each has its own file, each
/// gets a part of one file here.
fn put_side_by_side(jobs: &mut [SectionJob], notes: &mut Notes) -> Result<()> {
    let mut begun = 0;
    while begun < jobs.len() {
        let waiting = jobs[begun + 1..].iter().position(|job| job.waits);
        let end = waiting.map_or(jobs.len(), |place| begun + 1 + place);
        let group = &mut jobs[begun..end];
        begun = end;
        if group.len() == 1 {
            continue;
        }
        if let Some(seeking) = group.iter().find(|job| job.step.latency_target.is_some()) {
            return Err(ErrorKind::Unsupported
                .error(text!(
                    "searching for the greatest depth within a latency works only with a single job",
                    "レイテンシ内の最大の深さは、1 つのジョブだけを動かして探します"
                ))
                .at(seeking.place.clone())
                .remedy(text!("add stonewall to that job", "そのジョブに stonewall を付けてください")));
        }
        group[1..].iter_mut().for_each(|job| job.step.beside = true);
        let names = group.iter().map(|job| &job.access.target);
        let share_one = group[0].has_file
            && group.iter().all(|job| job.has_file)
            && names.clone().all(|name| *name == group[0].access.target);
        if share_one {
            continue;
        }
        notes.add(text!(
            "jobs with separate files each get a part of one file here",
            "別々のファイルを使うジョブは、ここでは 1 つのファイルを分け合います"
        ));
        let mut offset_bytes = 0u64;
        for job in group {
            let Some(span_bytes) = job.step.span_bytes else {
                return Err(ErrorKind::DataFile
                    .error(text!(
                        "the file sizes of concurrent jobs are unknown",
                        "同時に動くジョブのファイルの大きさがわかりません"
                    ))
                    .at(job.place.clone())
                    .remedy(text!("set size= for each of them", "それぞれに size= を書いてください")));
            };
            job.step.offset_bytes = job.step.offset_bytes.saturating_add(offset_bytes);
            offset_bytes = job.step.offset_bytes.saturating_add(span_bytes);
        }
    }
    Ok(())
}

/// Returns the step for this section and some sections after it, if kurabe wrote them, and the number
/// of these sections.
fn own_step(reader: &OptionReader<'_>, sections: &[JobSection]) -> Result<Option<(OwnStep, usize)>> {
    let own = |reader: &OptionReader<'_>| -> Result<Option<OwnStep>> {
        Ok(if reader.has("description") { reader.word("description")?.and_then(OwnStep::read) } else { None })
    };
    let Some(step) = own(reader)? else { return Ok(None) };
    let mut jobs = reader.jobs()?;
    let mut count = 1;
    for section in &sections[1..] {
        if jobs >= step.jobs {
            break;
        }
        let next = OptionReader::of(section)?;
        if next.flag("stonewall")? || own(&next)?.as_ref() != Some(&step) {
            break;
        }
        jobs += next.jobs()?;
        count += 1;
    }
    Ok((jobs == step.jobs).then_some((step, count)))
}

/// Notes the differences from fio that concern all jobs.
fn note_the_whole(jobs: &[SectionJob], notes: &mut Notes) {
    if jobs.iter().any(|job| job.step.span_bytes.is_none()) {
        notes.add(text!(
            "without size=, a whole file or device is used, and 1 GiB in a directory",
            "size= がなければ、ファイルやデバイスは全体、ディレクトリでは 1 GiB を使います"
        ));
    }
    if jobs.len() > 1 && jobs.iter().all(|job| job.access.target.is_none() && !job.step.beside) {
        notes.add(text!(
            "without filename=, each fio section has its own file; here all use one",
            "fio では filename= がなければセクションごとに別のファイルを使いますが、ここでは 1 つのファイルを使います"
        ));
    }
    if jobs.iter().all(|job| job.access.keeps_cache) {
        notes.add(text!(
            "invalidate=0: `{RUN} JOBFILE` keeps the page cache; with {PROFILE}, add {CACHE} keep",
            "invalidate=0: `{RUN} ジョブファイル` ではページキャッシュを破棄しません。{PROFILE} では {CACHE} keep を付けてください"
        ));
    } else if jobs.iter().any(|job| job.access.keeps_cache) {
        notes.add(text!(
            "invalidate=0 of some jobs: kurabe drops the page cache once before each repetition of every \
             job, and not within one",
            "一部のジョブの invalidate=0: kurabe はどのジョブでも、各回の前に 1 回だけページキャッシュを破棄し、その途中では破棄しません"
        ));
    }
    notes.add(text!(
        "fio runs a job once; repeat it with {RUNS} to get an interval",
        "fio はジョブを 1 回だけ実行します。{RUNS} で繰り返すと区間推定がつきます"
    ));
}

fn profile(file: &str, jobs: Vec<SectionJob>, laid_out: Option<Data>, notes: Notes) -> Profile {
    let name = file.rsplit('/').next().unwrap_or(file);
    let end = |job: &SectionJob| Some(job.step.offset_bytes.saturating_add(job.step.span_bytes?));
    let size_bytes = jobs.iter().filter_map(end).max();
    let in_percent = jobs.iter().any(|job| job.step.span_percent.is_some());
    let once = Rules::once();
    let rules = Rules {
        size_bytes: size_bytes.unwrap_or(once.size_bytes),
        whole_device: size_bytes.is_none() || in_percent,
        order: Order::ByStep,
        // fio's results do not show which job was planned to run longer. Here none is longer than the
        // usual time.
        time_ns: jobs.iter().filter_map(|job| job.step.end.time_ns).max().unwrap_or(once.time_ns),
        direct: jobs.iter().all(|job| job.direct != Some(false)),
        data: laid_out.unwrap_or(once.data),
        seed: jobs.iter().find_map(|job| job.seed).unwrap_or(once.seed),
        ..once
    };
    let title = text!("fio's jobs of {name}", "fio のジョブ {name}");
    let rounds = jobs.iter().find_map(|job| job.rounds.clone());
    let steps = jobs.into_iter().map(|job| Step::Io(Box::new(job.step))).collect();
    Profile {
        source: Some("fio".to_owned()),
        differs: notes.into_text(),
        rounds,
        ..Profile::of_steps(name, title, rules, steps)
    }
}

/// Returns whether a name is that of a device. Files can be parts of one file.
fn is_device(target: &Option<String>) -> bool {
    target.as_ref().is_some_and(|name| name.starts_with("/dev/"))
}

/// Checks that all jobs agree on the settings that apply to a whole run of kurabe.
fn check_alike(others: &[SectionJob], job: &SectionJob, reader: &OptionReader<'_>) -> Result<()> {
    let Some(first) = others.first() else { return Ok(()) };
    let direct = others.iter().find_map(|other| other.direct);
    let differing = [
        ("ioengine", first.access.is_mapped != job.access.is_mapped),
        ("direct", direct.zip(job.direct).is_some_and(|(others, own)| others != own)),
        ("randseed", first.seed.is_some() && job.seed.is_some() && first.seed != job.seed),
        (
            "filename",
            is_device(&first.access.target) != is_device(&job.access.target)
                || is_device(&job.access.target) && first.access.target != job.access.target,
        ),
    ];
    let Some((name, _)) = differing.into_iter().find(|(_, differs)| *differs) else { return Ok(()) };
    Err(reader
        .error(name, text!("`{name}` differs from the job before", "`{name}` が前のジョブと異なります"))
        .remedy(text!(
            "all jobs of a run share this option: set it in [global], or add stonewall to make separate \
             runs with `{FIO}`",
            "1 回の測定では共通です。[global] に書くか、stonewall を付けて `{FIO}` で別の測定にしてください"
        )))
}

#[cfg(test)]
mod tests;
