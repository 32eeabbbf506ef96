//! A job of fio instead of a procedure: fields, the job's text and the command line are three forms of one thing.
//!
//! The model: the text is what counts. Fields write it, and what a pasted text means is read by the importer of job files and
//! comes back as fields and as a command line.

use crate::pages::{Visit, action};
use axum::extract::Json;
use axum::response::Response;
use kurabe_core::profile::{IoStep, Profile, Step};
use kurabe_core::quantity::{NS_PER_S, format_bytes, format_time_setting};
use kurabe_core::shown::shell_word;
use kurabe_core::words::Keyword;
use kurabe_core::workload::{Direction, Pattern};
use kurabe_core::{Lang, Result, text};
use kurabe_interop::read_fio_job;
use kurabe_lab::RunRequest;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

/// What a pasted job is called in errors.
const PASTED: &str = "pasted.fio";

/// A request that does what a pasted job asks for, where the request says.
///
/// # Errors
/// When it holds what kurabe does not do.
pub(crate) fn ask(request: RunRequest, job: &str) -> Result<RunRequest> {
    Ok(request.with_job(read_fio_job(PASTED, job)?))
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
pub(crate) async fn read(visit: Visit, Json(Pasted { job, target }): Json<Pasted>) -> Response {
    action(visit, move |_, lang| {
        let profile = read_fio_job(PASTED, &job)?.profile;
        let notes = profile.differs.as_ref().map(|differs| differs.get(lang));
        let steps: Vec<&IoStep> = profile
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Io(step) => Some(step),
                _ => None,
            })
            .collect();
        let (command, fields) = match steps.as_slice() {
            [step] if profile.steps.len() == 1 => {
                (command(step, &profile, &target), Some(fields(step, &profile)))
            }
            // Several sections are a file on the command line, too.
            _ => (format!("kurabe run job.fio {}", shell_word(&target)), None),
        };
        Ok(json!({ "command": command, "fields": fields, "notes": notes }))
    })
    .await
}

/// What fio calls the order and the direction of a step.
fn rw(step: &IoStep) -> &'static str {
    let direction = step.directions.first().copied().filter(|_| step.directions.len() == 1);
    let pattern = if step.pattern.is_sequential() { Pattern::Sequential } else { Pattern::Random };
    (direction.unwrap_or(Direction::Mix), pattern).word()
}

fn block_bytes(step: &IoStep) -> u32 {
    step.block_sizes.first().map_or(4096, |block| block.size_bytes)
}

fn time_ns(step: &IoStep, profile: &Profile) -> u64 {
    step.end.time_ns.unwrap_or(profile.rules.time_ns)
}

fn fields(step: &IoStep, profile: &Profile) -> Value {
    json!({
        "rw": rw(step), "bs": block_bytes(step), "iodepth": step.iodepth, "numjobs": step.threads,
        "runtime": time_ns(step, profile).div_ceil(NS_PER_S), "size": profile.rules.size_bytes,
    })
}

/// The step as words of `kurabe run`.
fn command(step: &IoStep, profile: &Profile, target: &str) -> String {
    let mix = if step.directions == [Direction::Mix] {
        format!(" --rwmixread {}", step.read_percent)
    } else {
        String::new()
    };
    let buffered = if profile.rules.direct { "" } else { " --buffered" };
    format!(
        "kurabe run --rw {}{mix} --bs {} --iodepth {} --threads {} --time {} --size {}{buffered} {}",
        rw(step),
        format_bytes(u64::from(block_bytes(step))).replace(' ', ""),
        step.iodepth,
        step.threads,
        format_time_setting(time_ns(step, profile)).replace(' ', ""),
        format_bytes(profile.rules.size_bytes).replace(' ', ""),
        shell_word(target)
    )
}
