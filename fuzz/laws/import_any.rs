//! A result of any bytes: no importer panics, and what is read was printed: finite, not negative, not without a cell.

use kurabe_interop::import;

pub fn holds(bytes: &[u8]) {
    let Ok(runs) = import("fuzz", bytes) else { return };
    assert!(!runs.is_empty());
    for run in runs {
        assert!(!run.cells.is_empty() && !run.origin.tool.is_empty());
        for cell in &run.cells {
            let imported = cell.imported.as_ref().expect("an imported cell says what was printed");
            assert!(!imported.figures.is_empty() || !imported.series.is_empty());
            for figure in &imported.figures {
                assert!(figure.value.is_finite() && figure.value >= 0.0, "{figure:?}");
                assert!(!figure.printed.is_empty(), "{figure:?}");
            }
            for (at, value) in imported.series.iter().flat_map(|series| &series.points) {
                assert!(at.is_finite() && value.is_finite() && *value >= 0.0);
            }
        }
    }
}
