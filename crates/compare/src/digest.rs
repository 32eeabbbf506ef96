//! Digests: the part of a run that queries over many runs need, namely its facts and the figures of
//! its cells.
//!
//! [`digest`] computes a digest from the record alone. It uses the same facts and values as the
//! comparison of two runs, so that a pivot and `compare` always agree. The words of a digest are
//! JSON, and are parsed once for all runs.

use crate::fairness::{Fact, FactValue, facts_of};
use crate::listed::{MainFigure, main_cells};
use crate::{history_key::HistoryKey, joined::Joined, key::CellName};
use kurabe_core::digest::{Digester, Digests, RunDigest, Summary};
use kurabe_core::record::RunRecord;
use kurabe_stats::compared_values;
use serde::{Deserialize, Serialize};

/// Version of [`digest`]. Increase it whenever the digest of a record changes, so that stored
/// digests are computed again.
const DIGEST_VERSION: u32 = 10;

/// Computes the digests of a store that is queried over many runs.
pub const DIGESTER: Digester = Digester { version: DIGEST_VERSION, digest };

/// A word of a digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Word {
    /// A fact and its value.
    Fact(Fact, FactValue),
    /// A cell.
    Cell(CellName),
    /// A cell whose figure represents the run in a list.
    Main(MainFigure, CellName),
    /// Key that identifies repetitions of the same measurement.
    History(Box<HistoryKey>),
}

/// Returns the digest of a run.
pub fn digest(run: &RunRecord) -> RunDigest {
    let cells = Joined::of(&run.cells).cells;
    RunDigest {
        facts: facts_of(run)
            .into_iter()
            .map(|(fact, value)| Word::Fact(fact, value))
            .chain([Word::History(Box::new(HistoryKey::of(run)))])
            .filter_map(|fact| word(&fact))
            .collect(),
        figures: cells
            .iter()
            .zip(CellName::of_cells(run, &cells))
            .filter_map(|(cell, name)| Some((word(&Word::Cell(name))?, Summary::of(&compared_values(cell))?)))
            .chain(main_cells(run).into_iter().filter_map(|(main, name, figure)| {
                Some((word(&Word::Main(main, name))?, Summary::of(&[figure])?))
            }))
            .collect(),
    }
}

/// Returns a word as stored. Words have only string keys, so they can always be written as JSON.
fn word(word: &Word) -> Option<String> {
    serde_json::to_string(word).ok()
}

/// Parses the words of many digests. Words that this version of kurabe does not know are `None`.
pub(crate) fn read(digests: &Digests) -> Vec<Option<Word>> {
    digests.words.iter().map(|word| serde_json::from_str(word).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pair::pair;

    fn fixture(name: &str) -> RunRecord {
        let path = format!("{}/../store/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"));
        let file: serde_json::Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        serde_json::from_value(file["run"].clone()).unwrap()
    }

    type Spelled = (Vec<(Fact, FactValue)>, Vec<(CellName, Summary)>);

    fn spelled(run: &RunRecord) -> Spelled {
        let digest = digest(run);
        let word = |word: &str| serde_json::from_str::<Word>(word).unwrap();
        let facts = digest.facts.iter().filter_map(|fact| match word(fact) {
            Word::Fact(fact, value) => Some((fact, value)),
            Word::Cell(_) | Word::Main(..) | Word::History(_) => None,
        });
        let figures = digest.figures.iter().filter_map(|(cell, summary)| match word(cell) {
            Word::Cell(cell) => Some((cell, *summary)),
            Word::Fact(..) | Word::Main(..) | Word::History(_) => None,
        });
        (facts.collect(), figures.collect())
    }

    #[test]
    fn a_digest_has_the_figures_that_a_comparison_has() {
        let names =
            ["export-v1.json", "export-v2-rounds.json", "export-v2-imported.json", "export-v2-modelled.json"];
        for name in names {
            let run = fixture(name);
            let (_, figures) = spelled(&run);
            assert!(!figures.is_empty(), "{name}");
            for cell in pair(&run, &run, 0.05).cells {
                let figure = figures
                    .iter()
                    .find(|(name, _)| name.key == cell.name.key && name.measure == cell.name.measure);
                let mean = figure.map_or(f64::NAN, |(_, summary)| summary.mean);
                assert!((mean / cell.baseline.mean - 1.0).abs() < 1e-12, "{name}: {cell:?}");
            }
        }
    }

    /// If this fails because the facts or the figures of a run have changed, increase
    /// `DIGEST_VERSION`, then write the new digest here.
    #[test]
    fn a_changed_digest_has_another_version() {
        let (facts, figures) = spelled(&fixture("export-v1.json"));
        let facts: Vec<String> = facts
            .iter()
            .map(|(fact, value)| {
                let value = match value {
                    FactValue::Name(name) => name.clone(),
                    value => serde_json::to_string(value).unwrap(),
                };
                format!("{}={value}", fact.word())
            })
            .collect();
        let (first, summary) = &figures[0];
        let first =
            format!("{} {:.3} ±{:.3} of {}", first.label, summary.mean, summary.deviation, summary.count);
        let expected = "tool=kurabe; statistic=\"every_repetition\"; model=\"real_device\"; \
            cache={\"direct\":true}; profile=sample; size=1 MiB; data={\"data\":\"random\"}; time=1 s; \
            target={\"target\":\"directory\"}; device=比べ SSD 1; link=SATA 1.5 Gbit/s; filesystem=ext4; \
            temperature=-10-0 °C; layers=dm-0 (crypt); kernel=Linux 6.12; engine=threads; kurabe=0.1.0; \
            noise={\"disturbed\":false}";
        assert_eq!((DIGEST_VERSION, facts.join("; ").as_str()), (10, expected));
        assert_eq!(first, "ZIPF 4 KiB/8 KiB Q1 T1 32768.000 ±0.000 of 1");
    }
}
