//! Many models ranked for a use, as a table: which one, by how much, and what its figures rest on.

use super::recommend::answer_for;
use crate::doc::{Cut, Doc, Entry, Paragraph, Purpose, Role, Table};
use crate::words;
use kurabe_compare::{Recommendation, Standing, Use};
use kurabe_core::{Text, number, text};
use kurabe_lab::RankedModel;
use std::collections::BTreeMap;

/// Returns the models ranked for the use `asked`.
pub fn ranking_doc(choice: &Recommendation, asked: &Use, models: &[RankedModel]) -> Doc {
    let names: Vec<Text> = models.iter().map(name_of).collect();
    let mut doc = Doc::new();
    doc.heading(1, asked.title.clone()).aside(asked.reason.clone());
    doc.gap().say(answer_for(choice, &names)).gap().push(ranking(choice, models, &names));
    doc.say(text!(
        "speed: over the whole use, the best being 1; assumed: parameters of the model without a source, of all. Computed in virtual time, nothing was measured",
        "速さ: 用途全体での値 (最速を 1 とする)。仮定: 出典のないパラメーターの数と全体の数。仮想時間での計算で、実測ではありません"
    ));
    doc.say(text!(
        "not judged: prices, whether a computer accepts the emulator, and how long a card lasts",
        "判断していないもの: 価格、コンピューターとの相性、カードの寿命"
    ));
    doc.list(Purpose::Item, notes(models));
    doc.push_all(misses(models, &names));
    doc
}

fn name_of(model: &RankedModel) -> Text {
    Text::same(model.run.header.model.as_ref().map_or("?", |model| model.name.as_str()))
}

fn ranking(choice: &Recommendation, models: &[RankedModel], names: &[Text]) -> Table {
    let best = choice.standings.first().map_or(1.0, |standing| standing.speed);
    let mut table = Table::of(&choice.standings)
        .cut(Cut::Wrap, text!("model", "モデル"), |standing: &&Standing| names[standing.run].clone())
        .right(text!("speed", "速さ"), |standing| format!("{:.2}", standing.speed / best));
    for part in choice.parts.iter().filter(|part| part.cell.is_some()) {
        let head = Text::join([words::direction(part.direction), part.label.clone().into()], [" "; 2]);
        table = table.right(head, |standing| {
            Entry::figure(Role::Plain, part.rates_bytes_per_s.get(standing.run).map(|rate| number::rate(*rate)))
        });
    }
    table
        .right(text!("assumed", "仮定"), |standing| {
            let model = &models[standing.run];
            format!("{}/{}", model.assumed, model.parameters)
        })
        .table()
        .stacks()
}

/// Returns the limits of the parts, each part once.
fn notes(models: &[RankedModel]) -> Vec<Text> {
    let notes: BTreeMap<&str, &Text> =
        models.iter().flat_map(|model| &model.notes).map(|(part, note)| (part.as_str(), note)).collect();
    notes.into_iter().map(|(part, note)| note.map(|note| format!("{part}: {note}"))).collect()
}

/// Returns a warning for each model that does not reach a published figure.
fn misses(models: &[RankedModel], names: &[Text]) -> Vec<Paragraph> {
    let each = |(model, name): (&RankedModel, &Text)| {
        let warn = |miss: &kurabe_study::KnownMiss| {
            let reason = &miss.reason;
            let words = text!(
                "Beware: {name} does not reach a published figure: {reason}",
                "注意: {name} は公表値を再現できません: {reason}";
                name, reason
            );
            Paragraph::new(words).role(Role::Warn)
        };
        model.known_misses.iter().map(warn).collect::<Vec<_>>()
    };
    models.iter().zip(names).flat_map(each).collect()
}
