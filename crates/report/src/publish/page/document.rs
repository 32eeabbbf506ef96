//! What a report says, from its heading to the environment of its runs.
//!
//! The model: the answer, the table, the charts, why, the stutter, what else differed, how it was measured, on what, and
//! what to mind. Of several runs, method and environment are folded by run.

use super::Report;
use super::extent::Extent;
use super::method::{self, Reasons};
use crate::compare::{fairness_table, tails};
use crate::doc::{Block, Column, Doc, Entry, Fields, Paragraph, Purpose, Role};
use crate::publish::pictures::Picture;
use crate::run::remarks::Remark;
use crate::run::sweep;
use crate::run::why::is_brief;
use crate::words::{self, present};
use kurabe_compare::{Pair, Weight, subject};
use kurabe_core::record::RunRecord;
use kurabe_core::{Text, number, text};

/// Runs that are named in the head of a report; more are counted.
const NAMED: usize = 8;
/// Of so many runs the page itself says why; of more what is folded does.
const TOLD_WHY: usize = 2;

impl Report<'_> {
    /// Heading, runs, answer, and that there are warnings.
    pub(super) fn top(&self) -> Doc {
        let mut doc = Doc::new();
        doc.heading(2, self.title());
        let several = self.runs.len() > 1;
        for (index, run) in self.runs.iter().enumerate().take(NAMED) {
            let header = &run.header;
            let mut facts = if several { vec![self.names[index].clone()] } else { Vec::new() };
            facts.extend([subject(run), header.profile_name().into()]);
            facts.push(number::date_minute_with_offset(header.measured_at()).into());
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

    /// That there are warnings, of which kinds, and where they stand.
    fn warnings(&self) -> Option<Paragraph> {
        let warns = |remark: &Remark| remark.role == Role::Warn;
        let of_run = |run: &&RunRecord| method::notices(run).into_iter().filter(warns).collect::<Vec<_>>();
        let warnings: Vec<Vec<Remark>> = self.runs.iter().map(of_run).collect();
        let warned = warnings.iter().filter(|of_run| !of_run.is_empty()).count();
        let (mut count, mut kinds) = (0, Vec::new());
        for Remark { kind, .. } in warnings.into_iter().flatten() {
            count += 1;
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let (kinds, all) = (Text::list(kinds), self.runs.len());
        let words = match count {
            0 => return None,
            1 => text!("1 warning ({kinds})", "警告が 1 件あります({kinds})"; kinds),
            _ if all > 2 => text!(
                "Warnings in {warned} of {all} runs ({kinds})",
                "{all} 件中 {warned} 件の測定に警告があります({kinds})";
                kinds
            ),
            _ => text!("{count} warnings ({kinds})", "警告が {count} 件あります({kinds})"; kinds),
        };
        let section = if all == 1 { "notices" } else { "runs" };
        Some(Paragraph::new(words).role(Role::Warn).used_as(Purpose::Notice).link(section))
    }

    /// Everything below the head.
    pub(super) fn body(&self, pictures: &[[Picture; 2]]) -> Doc {
        let mut results = Doc::of(self.main_table());
        let notes = match self.runs.as_slice() {
            [run] => method::footnotes(run),
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
            // A sweep is for its curves and what they show; the cells below are their points.
            sections.rotate_left(1);
        }
        for (id, title, section) in sections {
            doc.section(id, title, section);
        }
        doc.section("stutter", text!("Stutter", "停滞"), self.stutter());
        if let [pair] = self.pairs.as_slice() {
            let title = text!("What else differed", "ほかに違う条件");
            doc.section("fairness", title, fairness(pair, &self.about));
        }
        doc.append(self.of_runs()).done()
    }

    /// How the table of a comparison is read.
    fn reading(&self) -> Vec<Text> {
        let margin = self.pairs.first().map_or(0.0, |pair| pair.margin * 100.0);
        let margin = format!("{} %", (margin * 100.0).round() / 100.0);
        let baseline = &self.names[0];
        let mut notes = vec![
            text!(
                "Figures are means of the repetitions. Speed is how many times as fast a run is as the baseline {baseline}: \
                 above 1 it is faster, also where the figure is a time.",
                "値は繰り返しの平均です。「速さの比」は基準 {baseline} に対する速さの倍率で、値が時間の項目でも 1 より大きければ\
                 速いことを示します。";
                baseline
            ),
            text!(
                "The interval holds the true ratio with 95 % confidence, corrected for the number of cells. Differences up \
                 to {margin} do not matter. ▲ faster, ▼ slower, = no difference that matters, ? not clear yet.",
                "区間は真の比を 95 % の信頼度で含みます(項目数に応じて補正済み)。{margin} までの差は問題にしません。\
                 ▲ 速い、▼ 遅い、= 差なし、? まだ判断できない。"
            ),
        ];
        if self.pairs.len() > 1 {
            notes.push(text!(
                "Each run is held against the baseline by itself.",
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

    /// Why the cells are as fast as they are: of one run in full, of two and of many cells the most telling sentence of
    /// each. Of more runs it stands in what is folded.
    fn why(&self) -> Doc {
        let (mut doc, several) = (Doc::new(), self.runs.len() > 1);
        for (run, name) in self.runs.iter().zip(&self.names).filter(|_| self.runs.len() <= TOLD_WHY) {
            let reasons = method::why(run);
            if reasons.is_empty() {
                continue;
            }
            if several {
                doc.heading(4, name.clone());
            }
            doc.list(Purpose::Item, sweep::findings(run));
            let count = reasons.len();
            if is_brief(count) {
                let title = text!("The reasons of {count} cells", "{count} 項目の理由");
                doc.push(Block::Fold(title, first_reasons(&reasons)));
            } else if several {
                doc.append(first_reasons(&reasons));
            } else {
                for Reasons { cell, sentences } in reasons {
                    doc.heading(4, cell);
                    doc.say_all(sentences);
                }
            }
        }
        doc
    }

    /// Method, environment and notices: of one run in sections, of several folded by run.
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

    /// Everything of one of several runs.
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
            doc.append(fairness(pair, &self.about));
        }
        let has_own_table = match self.extent {
            Extent::Whole | Extent::FirstCharts => true,
            Extent::OneTable => pair.is_none(),
            Extent::MainTable => false,
        };
        if has_own_table {
            let title = text!("Figures", "測定値");
            doc.heading(4, title.clone()).push(self.table_of_one(&title, index));
        }
        doc.list(Purpose::Note, method::footnotes(run));
        let tells = self.runs.len() > TOLD_WHY && self.extent < Extent::OneTable;
        let reasons = if tells { method::why(run) } else { Vec::new() };
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

/// The most telling sentence of each cell.
fn first_reasons(reasons: &[Reasons]) -> Doc {
    let first = reasons.iter().filter_map(|Reasons { cell, sentences }| {
        let sentence = sentences.first()?;
        Some(text!("{cell}: {sentence}", "{cell}: {sentence}"; cell, sentence))
    });
    Doc::new().list(Purpose::Item, first).done()
}

/// What else differed between two runs.
fn fairness(pair: &Pair, about: &[String]) -> Doc {
    let [baseline, other] = &pair.names;
    let heads =
        [text!("What differs", "違い"), baseline.clone(), other.clone(), text!("Expected effect", "影響")];
    fairness_table(pair, about, heads.map(Column::left), |weight, effect| {
        Entry::plain(self::weight(weight)).under(effect)
    })
}

/// What a difference of a weight can do.
fn weight(weight: Weight) -> Text {
    match weight {
        Weight::Decisive => text!("may make the figures incomparable", "比較を損なうおそれ"),
        Weight::Notable => text!("may explain a difference", "差の原因になり得る"),
        Weight::Minor => text!("rarely matters", "影響は小さい"),
    }
}

/// How a run was measured.
fn of_method(run: &RunRecord) -> Doc {
    let mut doc = Doc::of(Fields::from(method::fields(run)));
    if let Some(command) = method::again(run) {
        doc.say(text!("The same measurement again:", "同じ測定を行うには:")).push(Block::Code(command));
    }
    doc
}

/// What a run stood on.
fn of_environment(run: &RunRecord) -> Doc {
    Doc::of(Fields::from(method::environment(run)))
}

/// Remarks of a run.
fn of_notices(run: &RunRecord) -> Doc {
    let paragraph =
        |remark: &Remark| Paragraph::new(remark.words()).role(remark.role).used_as(Purpose::Notice);
    method::notices(run).iter().map(paragraph).collect()
}
