//! A job of fio instead of a procedure: fields, the job's text and the command line are three forms of one thing.
//!
//! The model: the text is what counts. Fields write it, and what a pasted text means is read by the importer of job files and
//! comes back as fields and as a command line.

use super::kit::*;
use kurabe_core::profile::{IoStep, Profile, Step};
use kurabe_core::quantity::format_time_setting;
use kurabe_core::shown::shell_word;
use kurabe_core::words::Keyword;
use kurabe_core::workload::{Direction, Pattern};
use kurabe_interop::{NoSurroundings, read_fio_job};
use kurabe_lab::RunRequest;
use std::collections::BTreeMap;

/// What a pasted job is called in errors.
const PASTED: &str = "pasted.fio";

/// A request that does what a pasted job asks for, where the request says.
///
/// # Errors
/// When it holds what kurabe does not do.
pub(crate) fn ask(request: RunRequest, job: &str) -> Result<RunRequest> {
    Ok(request.with_job(read_fio_job(PASTED, job, &NoSurroundings)?))
}

/// A job of fio: fields write its text, and what is pasted as its text comes back as fields.
pub(crate) fn form(lang: Lang) -> Markup {
    let label =
        text!("job file, written by the fields or pasted", "ジョブファイル(上の欄から生成、または貼り付け)");
    let fields = [("bs", "4k"), ("iodepth", "32"), ("numjobs", "1"), ("runtime", "5"), ("size", "1g")];
    html! {
        details #job {
            summary { (text!("As a job of fio", "fio のジョブで指定").get(lang)) }
            p.line {
                label {
                    "rw "
                    select data-job="rw" {
                        @for word in ["read", "write", "randread", "randwrite", "rw", "randrw"] {
                            option value=(word) { (word) }
                        }
                    }
                } " "
                @for (option, usual) in fields {
                    label {
                        (option) " "
                        input data-job=(option) value=(usual) size="6" spellcheck="false";
                    } " "
                }
            }
            textarea name="job" rows="10" spellcheck="false" aria-label=(label.get(lang)) {}
            p.notice #job-notes hidden {}
            p.quiet { (text!("the same on the command line", "コマンドラインでは").get(lang)) }
            pre { code #command { "–" } }
        }
    }
}

/// A job as it was pasted.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pasted {
    job: String,
    target: String,
}

/// `POST /job`: what a pasted job means, as fields of the form and as a command line.
pub(crate) fn read(_: &App, lang: Lang, Json(Pasted { job, target }): Json<Pasted>) -> Result<Made> {
    let profile = read_fio_job(PASTED, &job, &NoSurroundings)?.profile;
    let notes = profile.differs.as_ref().map(|differs| differs.get(lang));
    let (words, fields) = match profile.steps.as_slice() {
        [Step::Io(step)] => {
            let settings = settings(step, &profile);
            let fields: BTreeMap<&str, &String> =
                settings.iter().map(|(fio, _, value)| (*fio, value)).collect();
            (command(step, &profile, &settings), Some(json!(fields)))
        }
        // Several sections are a file on the command line, too.
        _ => ("job.fio".to_owned(), None),
    };
    let command = format!("kurabe run {words} {}", shell_word(&target));
    Ok(Made::Data(json!({ "command": command, "fields": fields, "notes": notes })))
}

/// A setting of a job: what fio calls it, what kurabe does, and its value.
type JobSetting = (&'static str, &'static str, String);

fn settings(step: &IoStep, profile: &Profile) -> [JobSetting; 6] {
    let direction = step.directions.first().copied().filter(|_| step.directions.len() == 1);
    let pattern = if step.pattern.is_sequential() { Pattern::Sequential } else { Pattern::Random };
    let block_bytes = step.block_sizes.first().map_or(4096, |block| block.size_bytes);
    let time_ns = step.end.time_ns.unwrap_or(profile.rules.time_ns);
    let close = |words: String| words.replace(' ', "");
    [
        ("rw", "rw", (direction.unwrap_or(Direction::Mix), pattern).word().to_owned()),
        ("bs", "bs", close(format_bytes(block_bytes.into()))),
        ("iodepth", "iodepth", step.iodepth.to_string()),
        ("numjobs", "threads", step.threads.to_string()),
        ("runtime", "time", close(format_time_setting(time_ns))),
        ("size", "size", close(format_bytes(profile.rules.size_bytes))),
    ]
}

/// The step as words of `kurabe run`.
fn command(step: &IoStep, profile: &Profile, settings: &[JobSetting]) -> String {
    let mut words: Vec<String> =
        settings.iter().map(|(_, flag, value)| format!("--{flag} {value}")).collect();
    if step.directions == [Direction::Mix] {
        words.push(format!("--rwmixread {}", step.read_percent));
    }
    words.extend((!profile.rules.direct).then(|| "--buffered".to_owned()));
    words.join(" ")
}
