//! A budget: upper limits for the storage use of a program.

use crate::bill::Bill;
use crate::count::{COUNTS, Count, CountUnit};
use kurabe_core::quantity::{parse_bytes, parse_duration_ns};
use kurabe_core::{DataFile, DataTable, Result, Text, Value};
use serde::Serialize;

/// Limits of counts and of times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    counts: Vec<(Count, u64)>,
    /// Limits by model, in ns.
    times_ns: Vec<(String, u64)>,
}

/// A limit and the actual value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BudgetLine {
    /// The count. `None` for a time.
    #[serde(skip)]
    pub count: Option<Count>,
    /// Kind of device. Empty for a count.
    pub title: Text,
    /// Word of the count, or name of the model.
    pub key: String,
    /// Maximum number, bytes or ns.
    pub limit: u64,
    /// Minimum of all recordings: if one of them is within the limit, the limit is not exceeded.
    pub value: u64,
    /// Whether every recording exceeds the limit.
    pub is_over: bool,
}

impl Budget {
    /// Parses a budget. `name` is shown in errors. Its devices are those of the panel.
    ///
    /// # Errors
    /// For the first mistake, with its line.
    pub fn parse(name: &str, source: &str, models: &[&str]) -> Result<Self> {
        let file = DataFile::parse(name, source)?;
        let root = file.root(&["schema", "counts", "times"])?;
        root.require("schema")?.integer(1..=1)?;
        let mut budget = Self::default();
        let words: Vec<&str> = COUNTS.iter().map(|(word, _)| *word).collect();
        if let Some(counts) = root.read("counts", |counts| counts.table(&words))? {
            for (word, count) in COUNTS {
                let limit = counts.read(word, |limit| limit_of(count, limit))?;
                budget.counts.extend(limit.map(|limit| (count, limit)));
            }
        }
        let times: Option<DataTable<'_>> = root.read("times", |times| times.table(models))?;
        for model in times.iter().flat_map(|_| models) {
            let limit =
                times.as_ref().map(|times| times.read(model, |limit| limit.parsed(parse_duration_ns)));
            let limit = limit.transpose()?.flatten();
            budget.times_ns.extend(limit.map(|limit_ns| ((*model).to_owned(), limit_ns)));
        }
        Ok(budget)
    }

    /// Returns the value of a bill for each limit.
    pub fn lines(&self, bill: &Bill) -> Vec<BudgetLine> {
        let counts = self.counts.iter().filter_map(|(count, limit)| {
            let value = bill.count(*count)?.least();
            let (title, key) = (Text::default(), count.word().to_owned());
            Some(BudgetLine {
                count: Some(*count),
                title,
                key,
                limit: *limit,
                value,
                is_over: value > *limit,
            })
        });
        let times = self.times_ns.iter().filter_map(|(model, limit)| {
            let price = bill.prices.iter().find(|price| price.model == *model)?;
            let value = price.time_ns.least();
            let (title, key) = (price.title.clone(), model.clone());
            Some(BudgetLine { count: None, title, key, limit: *limit, value, is_over: value > *limit })
        });
        counts.chain(times).collect()
    }
}

fn limit_of(count: Count, limit: &Value<'_>) -> Result<u64> {
    match count.unit() {
        CountUnit::Bytes => limit.parsed(parse_bytes),
        CountUnit::Requests => limit.integer(0..=u64::MAX >> 1),
    }
}
