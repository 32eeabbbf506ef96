//! Functions shared by the tests of studies.

use kurabe_core::Result;
use kurabe_core::record::{Cell, Measure, Repetition};
use kurabe_core::workload::Direction;
use kurabe_study::{Measured, Point, RealAnswers};

/// Measures targets one after the other.
pub fn all(points: &[&Point], measure: impl FnMut(&Point) -> Result<Measured>) -> RealAnswers {
    let mut measure = measure;
    RealAnswers { answers: points.iter().map(|point| measure(point)).collect(), apart: None }
}

/// Returns a cell of reads and one of writes, each with one repetition of these bytes in this time.
pub fn cells(bytes: u64, elapsed_ns: u64) -> Vec<Cell> {
    let cell = |direction: Direction| {
        let mut repetition = Repetition { elapsed_ns, ..Repetition::default() };
        repetition.read.bytes = bytes;
        repetition.write.bytes = bytes;
        Cell {
            index: 0,
            step_index: 0,
            part: direction.word().to_owned(),
            label: direction.word().to_owned(),
            direction: Some(direction),
            measure: Measure::Rate,
            workload: None,
            engine: None,
            repetitions: vec![repetition],
            imported: None,
        }
    };
    vec![cell(Direction::Read), cell(Direction::Write)]
}
