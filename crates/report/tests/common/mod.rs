//! Style of the rendering tests, and the runs of the test kit.

pub use kurabe_testkit::ssd::*;
pub use kurabe_testkit::{kinds, stories};

use kurabe_compare::ListedRun;
use kurabe_core::Lang;
use kurabe_core::record::RunRecord;
use kurabe_report::Style;
use std::sync::LazyLock;

pub fn style(lang: Lang, width: usize) -> Style {
    Style { lang, color: false, width }
}

/// Returns whether a page of several widths is kept as a snapshot: in English at each width, in
/// Japanese at one. The layout is the same, and the tests check every width in both languages.
pub fn is_kept(lang: Lang, width: usize, widths: &[usize]) -> bool {
    let middle = if widths.contains(&80) { 80 } else { widths[0] };
    lang == Lang::En || width == middle
}

/// Returns a run of each kind. They are created once, because a law uses hundreds of them.
pub fn runs_of_all_kinds() -> &'static [(&'static str, RunRecord)] {
    static RUNS: LazyLock<[(&str, RunRecord); 11]> = LazyLock::new(kinds::all);
    &*RUNS
}

/// Returns the list of runs, some of them with figures.
pub fn listed() -> Vec<ListedRun> {
    let mut runs: Vec<ListedRun> = summaries().into_iter().map(ListedRun::from).collect();
    let figures =
        [(3_133.2e6, 2_704.7e6, Some(80.1e6)), (180.1e6, 171.9e6, Some(0.9e6)), (31.0e6, 9.0e6, None)];
    for (listed, (read, write, random)) in runs.iter_mut().zip(figures) {
        listed.best_read_rate_bytes_per_s = Some(read);
        listed.best_write_rate_bytes_per_s = Some(write);
        listed.random_4k_read_rate_bytes_per_s = random;
    }
    runs
}
