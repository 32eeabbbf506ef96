//! Size limit of a page. A page of many runs or long sweeps would be too large to open and to
//! attach, so the least important parts are left out first. Each page says what was left out.
//!
//! The records of a report are embedded in the page as far as they fit, and are included in its
//! JSON.

use super::{Embedded, Report};
use crate::compare::SpokenPair;
use crate::compare::facts::no_json;
use crate::words::present;
use kurabe_chart::Theme;
use kurabe_core::record::{LatencyRecord, Notice, NoticeKind, Repetition, RunRecord};
use kurabe_core::{
    Result, Text,
    mention::{EXPORT, Mention, REPORT},
    number, shown, text,
};
use kurabe_store::{ExportedRun, REPORT_VERSION, export_bundle, export_packed_bundle};
use serde::Serialize;

/// Maximum size of a page. A larger one is slow to open and exceeds most limits for attachments.
pub const MOST_PAGE_BYTES: usize = 3_000_000;
/// Bytes reserved for the parts of a page around and after the records: its script and its footer.
pub(super) const ROOM_BEHIND_BYTES: usize = 20_000;

/// A page, with a list of what was left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The page as HTML.
    pub html: String,
    /// What was left out to keep the page small, one sentence each.
    pub left_out: Vec<Text>,
}

/// Parts of a page in addition to the summary and the main table, from all to few.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Extent {
    /// Everything.
    #[default]
    Whole,
    /// Only the expanded charts.
    FirstCharts,
    /// One table per run: the comparison with the baseline, which includes the run's figures. The
    /// main table has no tooltips.
    OneTable,
    /// No tables of single runs.
    MainTable,
}

impl Extent {
    const THINNER: [Self; 3] = [Self::FirstCharts, Self::OneTable, Self::MainTable];
}

impl Report<'_> {
    /// Renders the page. `records` is called last, with the size of the page so far, and returns
    /// the records to embed.
    pub fn html(&self, theme: Theme, records: impl FnOnce(usize) -> Embedded) -> Page {
        let pictures = self.pictures();
        let mut report = self.clone();
        let mut html = report.page(theme, &pictures);
        for extent in Extent::THINNER {
            if html.bytes() + ROOM_BEHIND_BYTES <= MOST_PAGE_BYTES {
                break;
            }
            report.extent = extent;
            html = report.page(theme, &pictures);
        }
        let embedded = records(html.bytes());
        let (charts, tables) = (report.charts_left_out(pictures.len()), report.tables_left_out());
        let left_out = present([charts, tables, embedded.left_out.clone()]);
        self.foot(&mut html, &embedded);
        Page { html: html.finish(), left_out }
    }

    /// Says that charts are missing. `None` if none are.
    pub(super) fn charts_left_out(&self, charts: usize) -> Option<Text> {
        let more = charts.checked_sub(super::charts::SHOWN).filter(|more| *more > 0)?;
        let what = text!("{more} more charts", "残りのグラフ {more} 点");
        (self.extent >= Extent::FirstCharts).then(|| left_out(&what, REPORT))
    }

    /// Says that tables of single runs are missing. `None` if none are.
    pub(super) fn tables_left_out(&self) -> Option<Text> {
        let what = match self.extent {
            Extent::Whole | Extent::FirstCharts => return None,
            _ if self.runs.len() == 1 => return None,
            Extent::OneTable => {
                text!("latencies and reasons of the single runs", "各測定のレイテンシと理由")
            }
            Extent::MainTable => text!("the tables of the single runs", "各測定の表"),
        };
        Some(left_out(&what, REPORT))
    }

    fn owned(&self) -> impl Iterator<Item = RunRecord> {
        self.runs.iter().map(|run| (*run).clone())
    }

    /// Returns the records as JSON that fits into a page of this size: complete, packed, without
    /// the longest parts, or none.
    pub fn records(&self, page_bytes: usize) -> Embedded {
        let most_bytes = MOST_PAGE_BYTES.saturating_sub(page_bytes + ROOM_BEHIND_BYTES);
        let whole = [export_bundle, export_packed_bundle].into_iter();
        let whole = whole.filter_map(|export| {
            let json = export(self.owned().collect()).ok()?;
            Some(Embedded { json, left_out: None })
        });
        let thinner = [
            (text!("time series of the records", "測定記録の時系列"), false),
            (
                text!(
                    "time series, pauses and latencies of the records",
                    "測定記録の時系列、停滞、レイテンシ"
                ),
                true,
            ),
        ];
        let thinner = thinner.into_iter().filter_map(|(parts, latencies_too)| {
            let remark = left_out(&parts, EXPORT);
            let runs = self.owned().map(|run| thinned(run, latencies_too, &remark));
            Some(Embedded { json: export_packed_bundle(runs.collect()).ok()?, left_out: Some(remark) })
        });
        let none = left_out(&text!("the records", "測定記録"), EXPORT);
        let none = Embedded { json: String::new(), left_out: Some(none) };
        whole.chain(thinner).find(|embedded| embedded.json.len() <= most_bytes).unwrap_or(none)
    }

    /// Returns summary, comparisons and records as JSON that kurabe can import again.
    ///
    /// # Errors
    ///
    /// Returns an error if a comparison can't be written as JSON.
    pub fn json(&self) -> Result<String> {
        #[derive(Serialize)]
        struct Reported<'a> {
            kurabe_report: u32,
            title: String,
            answer: Text,
            comparisons: Vec<SpokenPair<'a>>,
            runs: Vec<ExportedRun>,
        }
        let reported = Reported {
            kurabe_report: REPORT_VERSION,
            title: self.title().take(self.lang),
            answer: self.answer(),
            comparisons: self.pairs.iter().map(SpokenPair::from).collect(),
            runs: self.owned().map(ExportedRun::from).collect(),
        };
        let words = serde_json::to_string(&reported).map_err(no_json)?;
        Ok(shown::json(&words).into_owned() + "\n")
    }
}

/// Says that something is missing to keep a report small, and which command shows it for a single
/// run.
fn left_out(what: &Text, command: Mention) -> Text {
    let most = number::fixed(MOST_PAGE_BYTES as f64 / 1e6, 0);
    text!(
        "{what} were left out of this report to keep it below {most} MB; `{command} RUN` has them",
        "レポートを {most} MB 以下に収めるため、{what}を省きました。`{command} RUN` には入っています";
        what
    )
}

/// Returns a record without its large parts and with a notice that says so, which is kept when the
/// record is imported.
fn thinned(mut run: RunRecord, latencies_too: bool, remark: &Text) -> RunRecord {
    for cell in &mut run.cells {
        for repetition in &mut cell.repetitions {
            repetition.series.intervals.clear();
            if latencies_too {
                repetition.stalls.clear();
                let Repetition { read, write, sync, trim, .. } = repetition;
                for operations in [read, write, sync, trim] {
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
