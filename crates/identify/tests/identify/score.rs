//! Scores of answers, and their table.

use crate::fakes::fake;
use crate::truth::Truth;
use kurabe_engine::Stop;
use kurabe_identify::{Certainty, DeviceProperty, SurveyLimits};
use kurabe_sim::ModelTarget;
use std::fmt::Write;

/// Answers to a property.
#[derive(Clone, Copy, Debug, Default)]
pub struct Score {
    pub right: usize,
    pub unclear: usize,
    pub wrong: usize,
    pub surely_wrong: usize,
}

impl Score {
    pub fn asked(&self) -> usize {
        self.right + self.unclear + self.wrong
    }
}

/// Identifies fakes and returns the table and the score of each property.
pub fn scored(seed: u64, count: u64, long_write_bytes: u64) -> (String, Vec<Score>) {
    let mut scores = vec![Score::default(); DeviceProperty::ALL.len()];
    let limits = SurveyLimits { long_write_bytes, long_write_ns: u64::MAX };
    let mut notes = String::new();
    for number in 0..count {
        let fake = fake(seed, number);
        let truth = Truth::of(&fake.spec);
        let mut model = ModelTarget::new(&fake.spec, 1).unwrap();
        let identity =
            kurabe_virtual::identify(&mut model, seed ^ number, true, limits, &Stop::default(), &mut |_| {})
                .unwrap_or_else(|error| panic!("{}: {error}", fake.label));
        for (score, finding) in scores.iter_mut().zip(&identity.findings) {
            assert!(finding.answer.is_none() || !finding.evidence.is_empty(), "{}: no evidence", fake.label);
            match &finding.answer {
                None => score.unclear += 1,
                Some(answer) if truth.accepts(answer) => score.right += 1,
                Some(_) => {
                    score.wrong += 1;
                    score.surely_wrong += usize::from(finding.certainty == Certainty::Certain);
                }
            }
            let is_right = finding.answer.as_ref().is_some_and(|answer| truth.accepts(answer));
            if !is_right {
                let word = if finding.answer.is_some() { "WRONG" } else { "unclear" };
                let figures: Vec<String> = finding
                    .evidence
                    .iter()
                    .map(|figure| format!("{} {:.4e}", figure.name, figure.value))
                    .collect();
                writeln!(
                    notes,
                    "{word} {number} {} {:?} {:?}: {}",
                    fake.label,
                    finding.property,
                    finding.answer,
                    figures.join(", ")
                )
                .unwrap();
            }
        }
    }
    let mut table =
        format!("{:14}{:>8}{:>8}{:>8}{:>14}\n", "property", "right", "unclear", "wrong", "surely wrong");
    for (property, score) in DeviceProperty::ALL.iter().zip(&scores) {
        let Score { right, unclear, wrong, surely_wrong } = score;
        writeln!(table, "{:14}{right:>8}{unclear:>8}{wrong:>8}{surely_wrong:>14}", format!("{property:?}"))
            .unwrap();
    }
    (table + "\n" + &notes, scores)
}
