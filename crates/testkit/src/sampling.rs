//! Samples of test cases that are too many for a normal test run.

use kurabe_core::random::Random;
use std::collections::BTreeSet;

/// Stream of the random generator that selects.
const SAMPLE_STREAM: u64 = 0x7361_6d70;

/// Returns whether every item is to be tested (`KURABE_ALL=1`).
pub fn all_is_tested() -> bool {
    std::env::var_os("KURABE_ALL").is_some_and(|value| value == "1")
}

/// Returns the items in order: all of them with `KURABE_ALL=1`, otherwise at most `most`, including
/// the first and the last. The others are chosen with a fixed seed, so that every test run has the
/// same.
pub fn sampled<T>(items: impl IntoIterator<Item = T>, most: usize) -> Vec<T> {
    let items: Vec<T> = items.into_iter().collect();
    if all_is_tested() { items } else { chosen(items, most) }
}

/// Returns the number of inputs of a slow property test: `most` with `KURABE_ALL=1`, otherwise a
/// quarter of it.
pub fn cases(most: u32) -> u32 {
    if all_is_tested() { most } else { most.div_ceil(4) }
}

fn chosen<T>(items: Vec<T>, most: usize) -> Vec<T> {
    let count = items.len();
    if count <= most {
        return items;
    }
    let mut random = Random::new(1, SAMPLE_STREAM);
    let mut places = BTreeSet::from([0, count - 1]);
    while places.len() < most {
        places.insert(random.below(count as u64) as usize);
    }
    items.into_iter().enumerate().filter(|(place, _)| places.contains(place)).map(|(_, item)| item).collect()
}
