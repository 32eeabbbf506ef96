//! Content of a report, from the title to the test environment of its runs.
//!
//! The model: the summary, the table, the charts, the reasons, the stutter, the other differences,
//! the procedure, the test environment, and the warnings. For several runs, procedure and
//! environment are collapsed, one part per run.
//!
//! The procedure of a run is given as keys and values that a reader needs to repeat the run.
//!
//! # To add a section of the report
//!
//! - Write a function that creates a `Doc` from records, independent of the format. Add a line to `Report::body`, which
//!   determines the section's id, title and place. A section with an empty `Doc` is omitted.
//! - `extent.rs` determines what is left out of a page that is too large.

use super::Report;
use super::extent::Extent;
use crate::compare::{differences, run_names, tails};
use crate::machine::environment;
use crate::publish::pictures::Picture;
use crate::run::remarks::Remark;
use crate::run::table::RunTable;
use crate::run::why::is_brief;
use crate::run::{remarks, sweep, why};
use crate::words::{self, present};
use kurabe_compare::{Pair, Weight, subject};
use kurabe_core::mention::{DB, JSON, LANG, Mention, PROFILE, QUIET, RUN};
use kurabe_core::record::{RunRecord, RunStatus};
use kurabe_core::{Text, shown, text};
use kurabe_doc::{Block, Column, Doc, Entry, Field, Fields, Paragraph, Purpose, Role, filled};
use kurabe_explain::LimitKind;
use kurabe_profile::PROFILES;

/// Maximum number of runs named in the head of a report. The others are counted.
const NAMED: usize = 8;
/// Maximum number of runs for which the page has a section with reasons. With more runs, the
/// collapsed parts give them.
const TOLD_WHY: usize = 2;

impl Report<'_> {
    /// Returns the title, the runs, the summary, and a notice if there are warnings.
    pub fn head_doc(&self) -> Doc {
        let mut doc = Doc::new();
        doc.heading(2, self.title());
        let several = self.runs.len() > 1;
        for (index, run) in self.runs.iter().enumerate().take(NAMED) {
            let header = &run.header;
            let mut facts = if several { vec![self.names[index].clone()] } else { Vec::new() };
            facts.extend([subject(run), header.profile_name().into()]);
            facts.push(words::measured_at(header));
            facts.extend(words::pairs(&run.labels).into_iter().map(Text::from));
            facts.push(Text::same(&header.id));
            facts.retain(|fact| !fact.is_empty());
            facts.dedup();
            let tags = present([
                (index == 0 && several).then(|| text!("baseline", "基準")),
                header.model.as_ref().map(|_| text!("model", "モデル")),
            ]);
            doc.push(Paragraph::flow(facts).lead(Role::Strong).tags(tags).used_as(Purpose::Run));
        }
        if let Some(more) = self.runs.len().checked_sub(NAMED).filter(|more| *more > 0) {
            let words = text!("and {more} more, below", "ほか {more} 件(下に掲載)");
            doc.push(Paragraph::new(words).used_as(Purpose::Run));
        }
        doc.push(Paragraph::new(self.answer()).used_as(Purpose::Answer));
        doc.push_all(self.warnings()).done()
    }

    /// Returns a notice with the number and kinds of warnings, linked to their section. `None` if
    /// there are no warnings.
    fn warnings(&self) -> Option<Paragraph> {
        let section = if self.runs.len() == 1 { "notices" } else { "runs" };
        let notice = |words| Paragraph::new(words).role(Role::Warn).used_as(Purpose::Notice).link(section);
        self.warning_words().map(notice)
    }

    /// Returns the number and kinds of warnings. `None` if there are none.
    pub fn warning_words(&self) -> Option<Text> {
        let warns = |remark: &Remark| remark.role == Role::Warn;
        let (mut warned, mut count, mut kinds) = (0, 0, Vec::new());
        for run in &self.runs {
            let own: Vec<Text> = notices(run).into_iter().filter(warns).map(|remark| remark.kind).collect();
            (warned, count) = (warned + usize::from(!own.is_empty()), count + own.len());
            for kind in own {
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
        }
        let (kinds, all) = (Text::list(kinds), self.runs.len());
        Some(match count {
            0 => return None,
            1 => text!("1 warning ({kinds})", "警告が 1 件あります({kinds})"; kinds),
            _ if all > 2 => text!(
                "Warnings in {warned} of {all} runs ({kinds})",
                "{all} 件中 {warned} 件の測定に警告があります({kinds})";
                kinds
            ),
            _ => text!("{count} warnings ({kinds})", "警告が {count} 件あります({kinds})"; kinds),
        })
    }

    /// Returns everything below the head.
    pub(super) fn body(&self, pictures: &[[Picture; 2]]) -> Doc {
        let mut results = Doc::of(self.main_table());
        let notes = match self.runs.as_slice() {
            [run] => footnotes(run),
            _ => self.reading(),
        };
        results.list(Purpose::Note, notes);
        if let [pair] = self.pairs.as_slice() {
            let sentences = tails::sentences(pair);
            if !sentences.is_empty() {
                results.heading(4, text!("Slowest operations", "遅い操作")).list(Purpose::Item, sentences);
            }
        }
        let mut doc = Doc::new();
        let mut sections = [
            ("results", text!("Results", "結果"), results),
            ("charts", text!("Charts", "グラフ"), self.charts(pictures)),
            ("why", text!("Why", "理由"), self.why()),
        ];
        if matches!(self.runs.as_slice(), [run] if !sweep::findings(run).is_empty()) {
            // The curves and findings are the purpose of a sweep. The cells in the table are only
            // their points.
            sections.rotate_left(1);
        }
        for (id, title, section) in sections {
            doc.section(id, title, section);
        }
        doc.section("stutter", text!("Stutter", "停滞"), self.stutter());
        if !self.pairs.is_empty() {
            let title = text!("What else differed", "ほかに違う条件");
            doc.section("fairness", title, fairness(&self.pairs, &self.about));
        }
        doc.append(self.of_runs()).done()
    }

    /// Explains how to read the table of a comparison.
    fn reading(&self) -> Vec<Text> {
        let margin = self.pairs.first().map_or(0.0, |pair| pair.margin * 100.0);
        let margin = format!("{} %", (margin * 100.0).round() / 100.0);
        let baseline = &self.names[0];
        let mut notes = vec![
            text!(
                "Figures are means of the repetitions. Speed is how many times as fast a run is \
                 as the baseline {baseline}: \
                 above 1 it is faster, also where the figure is a time.",
                "値は繰り返しの平均です。「速さの比」は基準 {baseline} に対する速さの倍率で、値が時間の項目でも 1 より大きければ\
                 速いことを示します。";
                baseline
            ),
            text!(
                "The interval holds the true ratio with 95 % confidence, corrected for the \
                 number of tests. Differences up \
                 to {margin} do not matter. ▲ faster, ▼ slower, = no difference that matters, ? not clear yet.",
                "区間は真の比を 95 % の信頼度で含みます(項目数に応じて補正済み)。{margin} までの差は問題にしません。\
                 ▲ 速い、▼ 遅い、= 差なし、? まだ判断できない。"
            ),
        ];
        if self.pairs.len() > 1 {
            notes.push(text!(
                "Each run is compared with the baseline separately.",
                "それぞれの測定を 1 件ずつ基準と比べています。"
            ));
        }
        if self.runs.iter().any(|run| run.header.model.is_some()) {
            notes.push(text!(
                "Figures of models are computed, not measured on a device.",
                "モデルの値は計算値であり、実機の測定値ではありません。"
            ));
        }
        notes
    }

    /// Explains the performance of the cells: in full for a single run, and by the most important
    /// sentence of each cell for two runs or many cells. With more runs, the collapsed parts have
    /// it.
    fn why(&self) -> Doc {
        let (mut doc, several) = (Doc::new(), self.runs.len() > 1);
        for (run, name) in self.runs.iter().zip(&self.names).filter(|_| self.runs.len() <= TOLD_WHY) {
            let reasons = why(run);
            if reasons.is_empty() {
                continue;
            }
            if several {
                doc.heading(4, name.clone());
            }
            doc.list(Purpose::Item, sweep::findings(run));
            let count = reasons.len();
            if is_brief(count) {
                let title = text!("The reasons of {count} tests", "{count} 項目の理由");
                doc.push(Block::Fold(title, first_reasons(&reasons)));
            } else if several {
                doc.append(first_reasons(&reasons));
            } else {
                for (cell, sentences) in reasons {
                    doc.heading(4, cell).say_all(sentences);
                }
            }
        }
        doc
    }

    /// Returns procedure, environment and notices: in sections for a single run, otherwise in a
    /// collapsed part for each run.
    fn of_runs(&self) -> Doc {
        let mut doc = Doc::new();
        if let [run] = self.runs.as_slice() {
            let folded = |id, title, doc| Block::Section { id, title, doc, folds: true };
            doc.push(folded("method", text!("Method", "測定方法"), of_method(run)));
            doc.push(folded("environment", text!("Environment", "環境"), of_environment(run)));
            doc.section("notices", text!("Notices", "注意"), of_notices(run));
            return doc;
        }
        let left_out = self.tables_left_out();
        doc.push_all(left_out.map(|words| Paragraph::new(words).used_as(Purpose::Notice)));
        for (index, (run, name)) in self.runs.iter().zip(&self.names).enumerate() {
            let id = &run.header.id;
            doc.push(Block::Fold(name.map(|name| format!("{name} · {id}")), self.of_run(index)));
        }
        let title = text!("Runs: figures, method, environment, notices", "各測定の値、方法、環境、注意");
        Doc::new().section("runs", title, doc).done()
    }

    /// Returns the collapsed part of one of several runs.
    fn of_run(&self, index: usize) -> Doc {
        let (mut doc, run) = (Doc::new(), self.runs[index]);
        let pair = index.checked_sub(1).and_then(|index| self.pairs.get(index));
        let pair = pair.filter(|_| self.pairs.len() > 1);
        if let Some(pair) = pair {
            let baseline = &pair.names[0];
            let title = text!("Against {baseline}", "{baseline} との比較"; baseline);
            doc.heading(4, title.clone());
            if self.extent < Extent::MainTable {
                let both = self.of_part(vec![self.runs[0], run], pair.names.to_vec(), vec![pair.clone()]);
                doc.push(both.table_of_two(&title, &both.pairs[0]));
            }
        }
        if self.extent < Extent::OneTable || self.extent == Extent::OneTable && pair.is_none() {
            let title = text!("Figures", "測定値");
            doc.heading(4, title.clone()).push(self.table_of_one(&title, index));
        }
        doc.list(Purpose::Note, footnotes(run));
        let tells = self.runs.len() > TOLD_WHY && self.extent < Extent::OneTable;
        let reasons = if tells { why(run) } else { Vec::new() };
        if !reasons.is_empty() {
            doc.heading(4, text!("Why", "理由")).append(first_reasons(&reasons));
        }
        doc.heading(4, text!("Method", "測定方法")).append(of_method(run));
        doc.heading(4, text!("Environment", "環境"))
            .append(of_environment(run))
            .append(of_notices(run))
            .done()
    }
}

/// Returns the most important sentence of each cell.
fn first_reasons(reasons: &[Reasons]) -> Doc {
    let first = reasons.iter().filter_map(|(cell, sentences)| {
        let sentence = sentences.first()?;
        Some(text!("{cell}: {sentence}", "{cell}: {sentence}"; cell, sentence))
    });
    Doc::new().list(Purpose::Item, first).done()
}

/// Returns what else differed between the runs.
fn fairness(pairs: &[Pair], about: &[String]) -> Doc {
    let (what, effect) = (text!("What differs", "違い"), text!("Expected effect", "影響"));
    let heads = std::iter::once(what).chain(run_names(pairs)).chain([effect]);
    differences::doc(pairs, about, heads.map(Column::left).collect(), |weight, effect| {
        Entry::plain(self::weight(weight)).under(effect)
    })
}

/// Describes the possible effect of a difference with this weight.
fn weight(weight: Weight) -> Text {
    match weight {
        Weight::Decisive => text!("may make the figures incomparable", "比較を損なうおそれ"),
        Weight::Notable => text!("may explain a difference", "差の原因になり得る"),
        Weight::Minor => text!("rarely matters", "影響は小さい"),
    }
}

/// Describes the procedure of a run.
fn of_method(run: &RunRecord) -> Doc {
    let mut doc = Doc::of(Fields::from(fields(run)));
    if let Some(command) = again(run) {
        doc.say(text!("The same measurement again:", "同じ測定を行うには:")).push(Block::Code(command));
    }
    doc
}

/// Returns the notices of a run.
fn of_notices(run: &RunRecord) -> Doc {
    let paragraph =
        |remark: &Remark| Paragraph::new(remark.words()).role(remark.role).used_as(Purpose::Notice);
    notices(run).iter().map(paragraph).collect()
}

/// Options that only say where kurabe stores or shows something, and don't affect the measurement.
/// Those with `true` take a value.
const ABOUT_OUTPUT: [(Mention, bool); 5] =
    [(DB, true), (LANG, true), (JSON, false), (QUIET, false), (Mention::Shell("-q"), false)];

/// Returns profile, statistic, sizes, times and versions.
fn fields(record: &RunRecord) -> Vec<Field> {
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

/// Returns the test environment of a run, without the version, which is part of the procedure.
fn of_environment(record: &RunRecord) -> Doc {
    let fields = environment::fields(record).into_iter().filter(|(key, _)| key.en != "kurabe");
    Doc::of(Fields::from(fields.collect::<Vec<_>>()))
}

/// Returns the command line that repeats the measurement. For another tool's run, it uses the
/// equivalent profile.
fn again(record: &RunRecord) -> Option<String> {
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

/// Returns the notes needed to read the table: how the run ended, the meaning of ±, and what kurabe
/// did not measure.
fn footnotes(record: &RunRecord) -> Vec<Text> {
    let mut notes = remarks::status(record);
    notes.append(remarks::footnotes(record, &RunTable::of(record)));
    notes.paragraphs()
}

/// Returns the distinct notices of a run. The reason for a failure comes first.
fn notices(record: &RunRecord) -> Vec<Remark> {
    let mut notices: Vec<Remark> = Vec::new();
    if record.status == RunStatus::Failed {
        let sentence = record.error.clone().unwrap_or_default();
        notices.push(Remark { role: Role::Warn, kind: words::status(record.status).1, sentence });
    }
    notices.extend(remarks::notices(record));
    notices.extend(remarks::labels(record).map(|labels| Remark {
        role: Role::Plain,
        kind: text!("labels", "ラベル"),
        sentence: labels.into(),
    }));
    notices
}

/// A cell, and the reasons for its performance.
type Reasons = (Text, Vec<Text>);

/// Explains the performance of each cell, if it is known: for a model by its time account, for a
/// device by the observations in the record. Cells without an explanation are named together.
fn why(record: &RunRecord) -> Vec<Reasons> {
    let (mut reasons, mut unknown) = (Vec::new(), Vec::new());
    // A run without a completed operation has nothing to explain.
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
        reasons.push((cell, sentences));
    }
    if !reasons.is_empty() && !unknown.is_empty() {
        let words =
            text!("the record does not show what limited it", "何が上限だったかは記録からは分かりません");
        reasons.push((Text::list(unknown), vec![words]));
    }
    reasons
}
