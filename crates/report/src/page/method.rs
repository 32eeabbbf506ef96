//! How a run was measured, as key and words: what a reader needs to repeat it.

use super::{Report, Why};
use crate::environment::{self, Field};
use crate::remarks;
use crate::style::{Role, Style};
use crate::{why, words};
use kurabe_core::profile_library::PROFILES;
use kurabe_core::record::{RunRecord, RunStatus};
use kurabe_explain::LimitKind;
use std::collections::BTreeSet;

/// Flags of a command line that say where kurabe kept or showed something, and change nothing of the measurement; those
/// with `true` take a word.
const ABOUT_OUTPUT: [(&str, bool); 5] =
    [("--db", true), ("--lang", true), ("--json", false), ("--quiet", false), ("-q", false)];

/// Profile, statistic, sizes, times, versions, and the command line that repeats it.
pub(super) fn fields(record: &RunRecord, style: &Style) -> Vec<Field> {
    let header = &record.header;
    let mut fields: Vec<Field> = Vec::new();
    let mut put = |key: &str, items: Vec<String>| {
        if !items.is_empty() {
            fields.push((key.to_owned(), items));
        }
    };
    put(
        style.pick("target", "対象"),
        vec![header.target_name().to_owned()].into_iter().filter(|name| !name.is_empty()).collect(),
    );
    if let Some(model) = &header.model {
        put(
            style.pick("model", "モデル"),
            [vec![style.say(&model.title)], crate::model::facts(model, style)].concat(),
        );
    }
    if let Some(profile) = &header.profile {
        put(style.pick("profile", "プロファイル"), vec![profile.name.clone(), style.say(&profile.title)]);
        put(style.pick("procedure from", "手順の出典"), profile.source.iter().cloned().collect());
        put(
            style.pick("differs from it", "出典との違い"),
            profile.differs.iter().map(|text| style.say(text)).collect(),
        );
        put(style.pick("figure", "値"), vec![style.say(&words::statistic(profile.statistic)).to_owned()]);
        put(style.pick("repetitions", "繰り返し"), vec![style.say(&words::repetitions(profile))]);
        if let Some(target) = header.target.as_ref().filter(|_| profile.needs_span()) {
            let mut size = vec![style.say(&words::span(target))];
            if header.model.is_none() {
                size.push(style.say(&words::access(target.direct)).to_owned());
                size.push(style.say(&words::data(profile.rules.data)));
            }
            put(style.pick("size and data", "サイズとデータ"), size);
        }
    }
    put(style.pick("engine", "エンジン"), remarks::engines(&record.cells, style).into_iter().collect());
    if let Some(origin) = &header.origin {
        put(style.pick("tool", "ツール"), vec![origin.tool_name()]);
        put(style.pick("procedure", "手順"), origin.procedure.iter().cloned().collect());
        put(style.pick("file", "ファイル"), vec![origin.file.clone()]);
    }
    put("kurabe", vec![header.kurabe_version.clone()]);
    fields
}

/// What a run stood on. Version and command line are told with the method.
pub(super) fn environment(record: &RunRecord, style: &Style) -> Vec<Field> {
    environment::fields(record, style).into_iter().filter(|(key, _)| key != "kurabe").collect()
}

/// The command line that measures in the same way; of another tool's run the profile that does.
pub(super) fn again(record: &RunRecord) -> Option<String> {
    if let Some(origin) = &record.header.origin {
        let profile = origin.profile.as_deref()?;
        return PROFILES
            .iter()
            .any(|(name, _)| *name == profile)
            .then(|| format!("kurabe run --profile {profile} TARGET"));
    }
    let mut words = vec!["kurabe".to_owned()];
    let mut rest = record.header.command.iter().skip(1);
    while let Some(word) = rest.next() {
        match ABOUT_OUTPUT.iter().find(|(flag, _)| flag == word) {
            Some((_, true)) => drop(rest.next()),
            Some((_, false)) => {}
            None if ABOUT_OUTPUT
                .iter()
                .any(|(flag, takes)| *takes && word.starts_with(&format!("{flag}="))) => {}
            None => words.push(quoted(word)),
        }
    }
    (words.len() > 1).then(|| words.join(" "))
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Lines as wide as they are.
pub(super) fn unwrapped(style: &Style) -> Style {
    Style { width: 1 << 20, color: false, ..*style }
}

/// What must be known to read the table: how the run ended, what ± is, what kurabe did not measure.
pub(super) fn footnotes(record: &RunRecord, style: &Style) -> Vec<String> {
    let style = unwrapped(style);
    let mut notes = remarks::status(record, &style);
    notes.extend(remarks::footnotes(record, &style));
    notes.into_iter().map(|note| note.trim().to_owned()).filter(|note| !note.is_empty()).collect()
}

/// A remark of a run.
pub(super) struct Remark {
    /// Whether it warns.
    pub(super) warns: bool,
    /// What it is about, in a word.
    pub(super) kind: String,
    /// The sentence.
    pub(super) words: String,
}

impl Remark {
    /// Word and sentence.
    pub(super) fn line(&self) -> String {
        format!("{}: {}", self.kind, self.words)
    }
}

/// Remarks of a run, each once; why it failed first.
pub(super) fn notices(record: &RunRecord, style: &Style) -> Vec<Remark> {
    let mut notices: Vec<Remark> = Vec::new();
    if record.status == RunStatus::Failed {
        let kind = style.say(&words::status(record.status).0);
        let words = record.error.as_ref().map(|error| style.say(error)).unwrap_or_default();
        notices.push(Remark { warns: true, kind, words });
    }
    let mut told = BTreeSet::new();
    for notice in &record.notices {
        let words = style.say(&notice.text);
        if told.insert(words.clone()) {
            let warns = remarks::notice_role(notice.kind) == Role::Warn;
            notices.push(Remark { warns, kind: style.say(&words::notice(notice.kind)).to_owned(), words });
        }
    }
    if !record.labels.is_empty() {
        let labels: Vec<String> = record.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let kind = style.pick("labels", "ラベル").to_owned();
        notices.push(Remark { warns: false, kind, words: labels.join(", ") });
    }
    notices
}

/// Why each cell of a run is as fast as it is, where that is known: of a model by its account of time, of a device by what
/// the record tells from outside. Cells of which nothing is known are named together.
pub(super) fn why(report: &Report<'_>, place: usize) -> Vec<Why> {
    let (record, style) = (report.runs[place], &report.style);
    let (mut told, mut unknown) = (Vec::new(), Vec::new());
    // Without an operation that was completed there is nothing to explain.
    for one in why::explain(record, None).unwrap_or_default() {
        let cell = style.say(&words::cell(&record.cells[one.number - 1]));
        let sentences = match (one.sentences, one.limit.kind) {
            (sentences, _) if !sentences.is_empty() => sentences,
            (_, LimitKind::Unknown) => {
                unknown.push(cell);
                continue;
            }
            _ => [Some(one.limit.sentence), Some(one.limit.evidence), one.limit.next]
                .into_iter()
                .flatten()
                .collect(),
        };
        let sentences =
            sentences.iter().map(|text| style.say(text)).filter(|words| !words.is_empty()).collect();
        told.push(Why { cell, sentences });
    }
    if !told.is_empty() && !unknown.is_empty() {
        let words = style
            .pick("the record does not tell what limited it", "何が上限だったかは記録からは分かりません");
        let cell = unknown.join(style.pick(", ", "、"));
        told.push(Why { cell, sentences: vec![words.to_owned()] });
    }
    told
}
