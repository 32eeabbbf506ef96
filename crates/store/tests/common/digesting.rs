//! Digests for the tests of stores.

use kurabe_core::digest::{Digester, Digests, RunDigest, Summary};
use kurabe_core::record::{RunRecord, RunStatus};
use kurabe_store::Runs;
use std::cell::Cell;

/// Computes the digests of the stores.
pub const DIGESTER: Digester = Digester { version: 1, digest };

thread_local! {
    static DIGESTS_MADE: Cell<usize> = const { Cell::new(0) };
}

/// Returns the number of digests that this thread has computed.
pub fn digests_made() -> usize {
    DIGESTS_MADE.get()
}

/// Returns a digest that distinguishes all runs: machine, start, and the number of repetitions of
/// each cell.
pub fn digest(run: &RunRecord) -> RunDigest {
    DIGESTS_MADE.set(DIGESTS_MADE.get() + 1);
    let of_cell = |cell: &kurabe_core::record::Cell| {
        let count = cell.repetitions.len() as u32;
        (format!("cell {}", cell.label), Summary { mean: 0.1 + f64::from(cell.index), deviation: 0.3, count })
    };
    RunDigest {
        facts: vec![
            format!("kernel {:?}", run.header.environment.machine.kernel),
            run.header.started_at.clone(),
        ],
        figures: run.cells.iter().map(of_cell).collect(),
    }
}

/// Returns the digest of one run, with its words instead of their numbers.
pub fn spelled(digests: &Digests, id: &str) -> RunDigest {
    let run = digests.runs.iter().find(|run| run.id == id).expect("the run has a digest");
    let word = |place: &u32| digests.words[*place as usize].clone();
    RunDigest {
        facts: run.facts.iter().map(word).collect(),
        figures: run.figures.iter().map(|(place, summary)| (word(place), *summary)).collect(),
    }
}

/// Returns the digests of a store, and the number of records that it had to read for them.
pub fn ask(store: &dyn Runs) -> (Digests, usize) {
    let before = digests_made();
    let digests = store.digests(&mut |_, _| {}).unwrap();
    (digests, digests_made() - before)
}

/// Asserts that the stored digests equal those computed from the records.
pub fn assert_true(store: &dyn Runs) {
    let digests = store.digests(&mut |_, _| {}).unwrap();
    for run in store.list().unwrap().iter().filter(|run| run.status != RunStatus::Running) {
        assert_eq!(spelled(&digests, &run.id), digest(&store.load(&run.id).unwrap()), "{}", run.id);
    }
}
