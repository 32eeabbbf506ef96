//! The part of the mapping table that a drive without enough memory keeps in its cache.
//!
//! The model: the table is in flash, in pages. The cache holds whole pages and evicts the least
//! recently used one (Gupta, Kim, Urgaonkar: DFTL, ASPLOS 2009, with pages instead of entries). A
//! missing page is read from flash; an evicted page is written to flash if it was changed.
//!
//! Not modelled: table updates by garbage collection, and garbage collection of the table's own pages.

use crate::use_order::UseOrder;

/// Result of a look-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    Hit,
    /// The page must be read; the evicted page must be written if it is given.
    Miss {
        written_back: Option<u32>,
    },
}

/// Table pages in memory, least recently used first.
#[derive(Clone)]
pub(super) struct MappingCache {
    units_per_page: u32,
    most: usize,
    held: usize,
    /// Cached pages in order of use.
    order: UseOrder,
    /// By page: whether it was changed since it was read.
    changed: Vec<bool>,
}

impl MappingCache {
    /// Creates a cache of `most` pages, at least one, for a table of this many units.
    pub(super) fn new(units: u32, units_per_page: u32, most: u64) -> Self {
        let pages = units.div_ceil(units_per_page).max(1);
        Self {
            units_per_page,
            most: most.clamp(1, u64::from(pages)) as usize,
            held: 0,
            order: UseOrder::new(pages as usize),
            changed: vec![false; pages as usize],
        }
    }

    /// Returns the table page of a unit.
    pub(super) fn page_of(&self, unit: u32) -> u32 {
        unit / self.units_per_page
    }

    /// Uses a page, and marks it as changed if `changes`.
    pub(super) fn look_up(&mut self, page: u32, changes: bool) -> Lookup {
        if self.order.has(page) {
            self.changed[page as usize] |= changes;
            self.order.use_now(page);
            return Lookup::Hit;
        }
        let given_up = self.order.oldest().filter(|_| self.held == self.most);
        match given_up {
            Some(old) => self.order.remove(old),
            None => self.held += 1,
        }
        self.order.use_now(page);
        self.changed[page as usize] = changes;
        Lookup::Miss { written_back: given_up.filter(|old| self.changed[*old as usize]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_used_longest_ago_goes_and_is_written_if_changed() {
        let mut cache = MappingCache::new(100, 10, 2);
        assert_eq!(cache.look_up(0, true), Lookup::Miss { written_back: None });
        assert_eq!(cache.look_up(1, false), Lookup::Miss { written_back: None });
        assert_eq!(cache.look_up(0, false), Lookup::Hit);
        assert_eq!(cache.look_up(2, false), Lookup::Miss { written_back: None });
        assert_eq!(cache.look_up(3, false), Lookup::Miss { written_back: Some(0) });
        assert_eq!(cache.look_up(2, false), Lookup::Hit);
        assert_eq!(cache.page_of(99), 9);
    }
}
