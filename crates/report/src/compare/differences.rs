//! What else differed between compared runs: a sentence, and a table with a column for each run.

use crate::compare::facts;
use kurabe_compare::{Difference, Pair, Weight};
use kurabe_core::{Text, text};
use kurabe_doc::{Column, Doc, Entry, Role, Table, TableForm, TableRow};

/// A fact that distinguishes the runs, or that the user asked about.
struct Row<'p> {
    /// The fact in the pair in which it weighs most.
    difference: &'p Difference,
    /// Its value in each run, the baseline first.
    values: Vec<Text>,
}

/// The facts of a comparison, split by what the user asked about.
struct DifferenceRows<'p> {
    asked: Vec<Row<'p>>,
    /// The other ones that differ, the weightiest first.
    others: Vec<Row<'p>>,
}

impl<'p> DifferenceRows<'p> {
    fn of(pairs: &'p [Pair], about: &[String]) -> Self {
        let mut distinct: Vec<&Difference> = Vec::new();
        for difference in pairs.iter().flat_map(|pair| &pair.differences) {
            match distinct.iter_mut().find(|one| one.fact == difference.fact) {
                Some(one) if difference.weight < one.weight => *one = difference,
                Some(_) => {}
                None => distinct.push(difference),
            }
        }
        distinct.sort_by_key(|difference| difference.weight);
        let is_asked = |difference: &&Difference| about.iter().any(|word| word == difference.fact.word());
        let asked = pairs.first().map_or(&[][..], |pair| &pair.facts).iter().filter(is_asked);
        let asked =
            asked.map(|fact| distinct.iter().find(|one| one.fact == fact.fact).copied().unwrap_or(fact));
        let row = |difference| Row { difference, values: values(pairs, difference) };
        Self {
            asked: asked.map(row).collect(),
            others: distinct.iter().filter(|one| !is_asked(one)).map(|one| row(one)).collect(),
        }
    }

    fn sentence(&self, runs: usize) -> Text {
        let name = |row: &Row<'_>| facts::spoken_name(row.difference);
        let (of, same): (Vec<_>, Vec<_>) = self.asked.iter().partition(|row| row.difference.differs());
        let [of, same] = [of, same].map(|rows| Text::list(rows.into_iter().map(name)));
        let also = Text::list(self.others.iter().map(name));
        let the_runs = if runs == 2 { text!("two runs", "2 つの測定") } else { text!("runs", "測定") };
        match (of.is_empty(), also.is_empty()) {
            (true, true) => text!(
                "According to the records, the {the_runs} differ in nothing else.",
                "記録で分かる範囲では、ほかの条件に違いはありません。";
                the_runs
            ),
            (false, true) => text!(
                "The {the_runs} differ in {of}, which you asked about, and according to the records in \
                 nothing else.",
                "違いは、比べたかった点({of})だけです(記録で分かる範囲)。";
                the_runs, of
            ),
            (true, false) if same.is_empty() => text!(
                "The {the_runs} differ in: {also}.",
                "{the_runs}は次の点も違います: {also}。";
                the_runs, also
            ),
            (true, false) => text!(
                "According to the records, the {the_runs} do not differ in what you asked about \
                 ({same}), but in: {also}.",
                "記録で分かる範囲では、比べたかった点({same})に違いはなく、次の点が違います: {also}。";
                the_runs, same, also
            ),
            (false, false) => text!(
                "The {the_runs} differ in {of}, which you asked about, and also in: {also}.",
                "比べたかった点({of})のほかに、次の点も違います: {also}。";
                the_runs, of, also
            ),
        }
    }
}

/// Returns the value of a fact in each run: a pair that doesn't list it agrees with the baseline.
fn values(pairs: &[Pair], difference: &Difference) -> Vec<Text> {
    let of_pair = |pair: &Pair| {
        let all = pair.differences.iter().chain(&pair.facts);
        let one = all.into_iter().find(|one| one.fact == difference.fact);
        facts::value(one.map_or(difference.baseline.as_ref(), |one| one.other.as_ref()))
    };
    std::iter::once(facts::value(difference.baseline.as_ref())).chain(pairs.iter().map(of_pair)).collect()
}

/// Returns the sentence and the table. The first column names the fact, the last says what a difference can do.
pub(crate) fn doc(
    pairs: &[Pair],
    about: &[String],
    columns: Vec<Column>,
    effect_entry: impl Fn(Weight, Text) -> Entry,
) -> Doc {
    let rows = DifferenceRows::of(pairs, about);
    let mut doc = Doc::new();
    doc.say(rows.sentence(pairs.len() + 1));
    let entries = |Row { difference, values }: Row<'_>| -> TableRow {
        let weight = difference.weight;
        let role = if weight == Weight::Decisive { Role::Warn } else { Role::Plain };
        let effect = effect_entry(weight, facts::spoken_effect(difference).unwrap_or_default());
        let name = Entry::new(role, facts::spoken_name(difference));
        std::iter::once(name)
            .chain(values.into_iter().map(Entry::from))
            .chain([effect])
            .collect::<Vec<Entry>>()
            .into()
    };
    let rows: Vec<TableRow> = rows.asked.into_iter().chain(rows.others).map(entries).collect();
    if rows.is_empty() {
        return doc;
    }
    let table = Table::new(columns, rows).indent(2).stacks();
    doc.push(table.on_page(&Text::default(), TableForm::Facts)).done()
}
