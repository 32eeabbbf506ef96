//! Many models ranked for a use, as a table: which one, by how much, and what its figures rest on.

use super::recommend::{answer_for, misses};
use crate::words;
use kurabe_compare::{Recommendation, Standing, Use};
use kurabe_core::quantity::format_bytes;
use kurabe_core::{Text, number, text};
use kurabe_doc::{Cut, Doc, Entry, Paragraph, Purpose, Role, Table};
use kurabe_study::{Mover, PublishedPrice, RankedModel};
use std::collections::BTreeMap;

/// Returns the models ranked for the use `asked`. `assumed` are the parameters that move the best one
/// most and are assumed.
pub fn ranking_doc(choice: &Recommendation, asked: &Use, models: &[RankedModel], assumed: &[Mover]) -> Doc {
    let (names, computer) = names_of(models);
    let mut doc = Doc::new();
    doc.heading(1, asked.title.clone()).aside(asked.reason.clone());
    doc.push_all(
        computer.map(|computer| Paragraph::new(text!("computer: {computer}", "コンピューター: {computer}"))),
    );
    doc.gap().say(answer_for(choice, &names)).gap().push(ranking(choice, models, &names));
    doc.say(text!(
        "speed: over the whole use, relative to the best; assumed: parameters without a source, out of \
         all. Computed in virtual time; nothing was measured",
        "速さ: 用途全体での値 (最速を 1 とする)。仮定: 出典のないパラメーターの数と全体の数。仮想時間での計算で、実測ではありません"
    ));
    let prices = prices(models);
    if !prices.is_empty() {
        doc.say(text!("published prices:", "公表価格:")).list(Purpose::Item, prices);
    }
    doc.say(text!(
        "not judged: what a card costs and how long it lasts, and whether a computer accepts the emulator",
        "判断していないもの: カードの価格と寿命、コンピューターとの相性"
    ));
    let moving = assumed.iter().map(|mover| format!("{} = {}", mover.name, mover.value));
    let moving = Text::list(moving.map(Text::same));
    if let (false, Some(best)) = (assumed.is_empty(), choice.standings.first()) {
        let name = &names[best.run];
        doc.say(text!(
            "assumed parameters that affect {name}: {moving}",
            "{name} で影響の大きい仮定: {moving}";
            name, moving
        ));
    }
    doc.list(Purpose::Item, notes(models));
    doc.push_all(
        models.iter().zip(&names).flat_map(|(model, name)| misses(name, &model.limits.known_misses)),
    );
    doc
}

/// Returns the names of the models without the computer, if it is the same of all, and that computer.
fn names_of(models: &[RankedModel]) -> (Vec<Text>, Option<String>) {
    let name =
        |model: &RankedModel| model.run.header.model.as_ref().map_or("?".to_owned(), |own| own.name.clone());
    let names: Vec<String> = models.iter().map(name).collect();
    let parted: Option<Vec<(&str, &str)>> = names.iter().map(|name| name.rsplit_once('+')).collect();
    match parted {
        Some(parted) if parted.windows(2).all(|pair| pair[0].1 == pair[1].1) && !parted.is_empty() => {
            (parted.iter().map(|(device, _)| Text::same(*device)).collect(), Some(parted[0].1.to_owned()))
        }
        _ => (names.iter().map(Text::same).collect(), None),
    }
}

fn ranking(choice: &Recommendation, models: &[RankedModel], names: &[Text]) -> Table {
    let best = choice.standings.first().map_or(1.0, |standing| standing.speed);
    let mut table = Table::of(&choice.standings)
        .cut(Cut::Wrap, text!("model", "モデル"), |standing: &&Standing| names[standing.run].clone())
        .right(text!("speed", "速さ"), |standing| format!("{:.2}", standing.speed / best));
    // These devices have no write cache, so that a flush adds nothing.
    for part in choice.parts.iter().filter(|part| part.cell.is_some() && !part.sync) {
        let size = format_bytes(part.block_bytes);
        let head = Text::join([words::direction(part.direction), size.into()], [" "; 2]);
        table = table.right(head, |standing| {
            Entry::figure(
                Role::Plain,
                part.rates_bytes_per_s.get(standing.run).map(|rate| number::rate(*rate)),
            )
        });
    }
    let assumed = |standing: &&Standing| {
        let limits = &models[standing.run].limits;
        format!("{}/{}", limits.assumed, limits.parameters)
    };
    table.right(text!("assumed", "仮定"), assumed).table()
}

/// Returns the price of each emulator once, and the emulators without one.
fn prices(models: &[RankedModel]) -> Vec<Text> {
    let emulator = |model: &RankedModel| {
        let model = model.run.header.model.as_ref()?;
        Some(model.name.split_once('+')?.0.to_owned())
    };
    let prices: BTreeMap<String, &Option<PublishedPrice>> =
        models.iter().filter_map(|model| Some((emulator(model)?, &model.limits.price))).collect();
    let published = prices.iter().filter_map(|(emulator, published)| {
        let PublishedPrice { price, source } = published.as_ref()?;
        Some(text!("{emulator}: {price} ({source})", "{emulator}: {price} ({source})"; source))
    });
    let mut lines: Vec<Text> = published.collect();
    let unpriced = prices.iter().filter(|(_, published)| published.is_none());
    let unpriced = Text::list(unpriced.map(|(emulator, _)| Text::same(emulator)));
    if !unpriced.is_empty() {
        lines.push(text!("no price was found for {unpriced}", "価格の不明なもの: {unpriced}"; unpriced));
    }
    lines
}

/// Returns the limits of the parts, each part once.
fn notes(models: &[RankedModel]) -> Vec<Text> {
    let notes: BTreeMap<&str, &Text> = models
        .iter()
        .flat_map(|model| &model.limits.notes)
        .map(|(part, note)| (part.as_str(), note))
        .collect();
    notes.into_iter().map(|(part, note)| note.map(|note| format!("{part}: {note}"))).collect()
}
