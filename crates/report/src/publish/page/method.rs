//! How a run was measured, as key and words: what a reader needs to repeat it.

use crate::doc::{Field, Role, filled};
use crate::machine::environment;
use crate::run::remarks::Remark;
use crate::run::table::RunTable;
use crate::run::{remarks, why};
use crate::words::{self, present};
use kurabe_core::mention::{DB, JSON, LANG, Mention, PROFILE, QUIET, RUN};
use kurabe_core::profile_library::PROFILES;
use kurabe_core::record::{RunRecord, RunStatus};
use kurabe_core::{Text, shown, text};
use kurabe_explain::LimitKind;

/// Flags of a command line that say where kurabe kept or showed something, and change nothing of the measurement; those
/// with `true` take a word.
const ABOUT_OUTPUT: [(Mention, bool); 5] =
    [(DB, true), (LANG, true), (JSON, false), (QUIET, false), (Mention::Shell("-q"), false)];

/// Profile, statistic, sizes, times, versions, and the command line that repeats it.
pub(super) fn fields(record: &RunRecord) -> Vec<Field> {
    let header = &record.header;
    let mut fields: Vec<Field> = Vec::new();
    let same = |words: &String| Text::same(words);
    let mut put = |key: Text, items: Vec<Text>| fields.push((key, items));
    let target = Some(header.target_name()).filter(|name| !name.is_empty());
    put(text!("target", "対象"), target.into_iter().map(Text::same).collect());
    if let Some(model) = &header.model {
        put(text!("model", "モデル"), [vec![model.title.clone()], crate::model::facts(model)].concat());
    }
    if let Some(profile) = &header.profile {
        put(text!("profile", "プロファイル"), vec![same(&profile.name), profile.title.clone()]);
        put(text!("procedure from", "手順の出典"), profile.source.iter().map(same).collect());
        put(text!("differs from it", "出典との違い"), profile.differs.iter().cloned().collect());
        put(text!("figure", "値"), vec![words::statistic(profile.statistic)]);
        put(text!("repetitions", "繰り返し"), vec![words::repetitions(profile)]);
        put(text!("size and data", "サイズとデータ"), words::size_and_data(header));
    }
    put(text!("engine", "エンジン"), remarks::engines(&record.cells).into_iter().collect());
    if let Some(origin) = &header.origin {
        put(text!("tool", "ツール"), vec![origin.tool_name().into()]);
        put(text!("procedure", "手順"), words::procedures(origin));
        put(text!("file", "ファイル"), vec![same(&origin.file)]);
    }
    put(Text::same("kurabe"), vec![same(&header.kurabe_version)]);
    filled(fields)
}

/// What a run stood on. Version and command line are part of the method.
pub(super) fn environment(record: &RunRecord) -> Vec<Field> {
    environment::fields(record).into_iter().filter(|(key, _)| key.en != "kurabe").collect()
}

/// The command line that measures in the same way; of another tool's run the profile that does.
pub(super) fn again(record: &RunRecord) -> Option<String> {
    if let Some(origin) = &record.header.origin {
        let profile = origin.profile.as_deref()?;
        let is_own = PROFILES.iter().any(|(name, _)| *name == profile);
        return is_own.then(|| format!("{RUN:#} {PROFILE:#} {profile} TARGET"));
    }
    let mut words = vec!["kurabe".to_owned()];
    let mut rest = record.header.command.iter().skip(1);
    while let Some(word) = rest.next() {
        let (name, has_value) = word.split_once('=').map_or((word.as_str(), false), |(name, _)| (name, true));
        let is_it = |(flag, takes): &&(Mention, bool)| format!("{flag:#}") == name && (*takes || !has_value);
        match ABOUT_OUTPUT.iter().find(is_it) {
            Some((_, true)) if !has_value => drop(rest.next()),
            Some(_) => {}
            None => words.push(shown::shell_word(word)),
        }
    }
    (words.len() > 1).then(|| words.join(" "))
}

/// What must be known to read the table: how the run ended, what ± is, what kurabe did not measure.
pub(super) fn footnotes(record: &RunRecord) -> Vec<Text> {
    let mut notes = remarks::status(record);
    notes.append(remarks::footnotes(record, &RunTable::of(record)));
    notes.paragraphs()
}

/// Remarks of a run, each once; why it failed first.
pub(super) fn notices(record: &RunRecord) -> Vec<Remark> {
    let mut notices: Vec<Remark> = Vec::new();
    if record.status == RunStatus::Failed {
        let sentence = record.error.clone().unwrap_or_default();
        notices.push(Remark { role: Role::Warn, kind: words::status(record.status).0, sentence });
    }
    notices.extend(remarks::notices(record));
    notices.extend(remarks::labels(record).map(|labels| Remark {
        role: Role::Plain,
        kind: text!("labels", "ラベル"),
        sentence: labels.into(),
    }));
    notices
}

/// Why a cell is as fast as it is.
pub(super) struct Reasons {
    pub(super) cell: Text,
    pub(super) sentences: Vec<Text>,
}

/// Why each cell of a run is as fast as it is, where that is known: of a model by its account of time, of a device by what
/// the record tells from outside. Cells of which nothing is known are named together.
pub(super) fn why(record: &RunRecord) -> Vec<Reasons> {
    let (mut reasons, mut unknown) = (Vec::new(), Vec::new());
    // Without an operation that was completed there is nothing to explain.
    for one in why::explain(record, None).unwrap_or_default() {
        let cell = words::cell(&record.cells[one.number - 1]);
        let mut sentences = match (one.sentences, one.limit.kind) {
            (sentences, _) if !sentences.is_empty() => sentences,
            (_, LimitKind::Unknown) => {
                unknown.push(cell);
                continue;
            }
            _ => present([Some(one.limit.sentence), Some(one.limit.evidence), one.limit.next]),
        };
        sentences.retain(|sentence| !sentence.is_empty());
        reasons.push(Reasons { cell, sentences });
    }
    if !reasons.is_empty() && !unknown.is_empty() {
        let words =
            text!("the record does not tell what limited it", "何が上限だったかは記録からは分かりません");
        reasons.push(Reasons { cell: Text::list(unknown), sentences: vec![words] });
    }
    reasons
}
