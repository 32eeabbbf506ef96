//! A fio job instead of a profile: form fields, job file and command line are three forms of the
//! same job.
//!
//! The model: the job file is authoritative. The fields generate it. A pasted job file is read by
//! the importer and converted to fields and to a command line.

use super::kit::*;
use kurabe_core::profile::{IoStep, Profile, Step};
use kurabe_core::quantity::format_time_setting;
use kurabe_core::shown::shell_word;
use kurabe_core::words::Keyword;
use kurabe_core::workload::{Direction, Pattern};
use kurabe_fio::{NoSurroundings, read_fio_job};
use kurabe_lab::RunRequest;
use std::collections::BTreeMap;

/// Name of a pasted job file in errors.
const PASTED: &str = "pasted.fio";

/// Applies the settings of a pasted fio job to a request.
///
/// # Errors
///
/// Returns an error if the job has settings that kurabe does not support.
pub(crate) fn ask(request: RunRequest, job: &str) -> Result<RunRequest> {
    Ok(request.with_job(read_fio_job(PASTED, job, &NoSurroundings)?))
}

/// Renders the form of a fio job: the fields generate the job file, and a pasted job file fills the
/// fields.
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

/// A pasted job file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pasted {
    job: String,
    target: String,
}

/// Handles `POST /job`: returns a pasted job as form fields and as a command line.
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
        // A job with several sections needs a job file on the command line as well.
        _ => ("job.fio".to_owned(), None),
    };
    let command = format!("kurabe run {words} {}", shell_word(&target));
    Ok(Made::Data(json!({ "command": command, "fields": fields, "notes": notes })))
}

/// A setting of a job: fio's name, kurabe's option, and the value.
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

/// Returns the step as arguments of `kurabe run`.
fn command(step: &IoStep, profile: &Profile, settings: &[JobSetting]) -> String {
    let mut words: Vec<String> =
        settings.iter().map(|(_, flag, value)| format!("--{flag} {value}")).collect();
    if step.directions == [Direction::Mix] {
        words.push(format!("--rwmixread {}", step.read_percent));
    }
    words.extend((!profile.rules.direct).then(|| "--buffered".to_owned()));
    words.join(" ")
}
