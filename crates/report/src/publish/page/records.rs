//! The records of a report: in its page, as far as they fit, and in its JSON.

use super::{Embedded, MOST_PAGE_BYTES, Report};
use crate::compare::facts::{no_json, spoken_json};
use crate::publish::page::extent::{ROOM_BEHIND_BYTES, most};
use kurabe_compare::Pair;
use kurabe_core::record::{LatencyRecord, Notice, NoticeKind, RunRecord};
use kurabe_core::{Result, Text, mention::EXPORT, shown, text};
use kurabe_store::{ExportedRun, REPORT_VERSION, export_bundle, export_packed_bundle};
use serde::Serialize;

impl Report<'_> {
    fn owned(&self) -> impl Iterator<Item = RunRecord> {
        self.runs.iter().map(|run| (*run).clone())
    }

    /// The records as JSON that fits into a page of so many bytes: as they are; packed; without what is longest; none.
    pub fn records(&self, page_bytes: usize) -> Embedded {
        let most_bytes = MOST_PAGE_BYTES.saturating_sub(page_bytes + ROOM_BEHIND_BYTES);
        let whole =
            [export_bundle, export_packed_bundle].into_iter().map(|export| export(self.owned().collect()));
        if let Some(json) = whole.into_iter().find(|json| json.len() <= most_bytes) {
            return Embedded { json, left_out: None };
        }
        let most = most();
        let thinner = [
            (text!("time series", "時系列"), false),
            (text!("time series, stalls and latencies", "時系列、停滞、レイテンシ"), true),
        ];
        for (parts, latencies_too) in thinner {
            let remark = text!(
                "the {parts} of the records were left out of this report to keep it below {most} MB; `{EXPORT} RUN` has them",
                "レポートを {most} MB 以下に収めるため、測定記録の{parts}を省きました。`{EXPORT} RUN` にはすべて入っています";
                parts
            );
            let json =
                export_packed_bundle(self.owned().map(|run| thinned(run, latencies_too, &remark)).collect());
            if json.len() <= most_bytes {
                return Embedded { json, left_out: Some(remark) };
            }
        }
        let remark = text!(
            "the records were left out of this report to keep it below {most} MB; `{EXPORT} RUN` has them",
            "レポートを {most} MB 以下に収めるため、測定記録を省きました。`{EXPORT} RUN` で書き出せます"
        );
        Embedded { json: String::new(), left_out: Some(remark) }
    }

    /// Answer, comparisons and records, in the form that is read back.
    ///
    /// # Errors
    /// When a comparison cannot be written as JSON.
    pub fn json(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Reported {
            kurabe_report: u32,
            title: String,
            answer: Text,
            comparisons: Vec<serde_json::Value>,
            runs: Vec<ExportedRun>,
        }
        let spoken = |pair: &Pair| spoken_json(pair, "/differences", &pair.differences);
        let reported = Reported {
            kurabe_report: REPORT_VERSION,
            title: self.title().take(self.lang),
            answer: self.answer(),
            comparisons: self.pairs.iter().map(spoken).collect::<Result<_>>()?,
            runs: self.owned().map(ExportedRun::from).collect(),
        };
        let words = serde_json::to_string(&reported).map_err(no_json)?;
        Ok(shown::json(&words).into_owned() + "\n")
    }
}

/// A record without what makes it large. It says so, wherever it is taken in again.
fn thinned(mut run: RunRecord, latencies_too: bool, remark: &Text) -> RunRecord {
    for cell in &mut run.cells {
        for repetition in &mut cell.repetitions {
            repetition.series.intervals.clear();
            if latencies_too {
                repetition.stalls.clear();
                for operations in [&mut repetition.read, &mut repetition.write, &mut repetition.sync] {
                    operations.latency = LatencyRecord::default();
                }
            }
        }
        if let Some(imported) = &mut cell.imported
            && !imported.figures.is_empty()
        {
            imported.series.clear();
        }
    }
    run.notices.push(Notice::new(NoticeKind::Other, remark.clone()));
    run
}
