//! The part of the mapping table that a drive without enough memory keeps at hand.
//!
//! The model: the table lies in flash in pages; the cache holds whole pages and gives up the one that was used longest
//! ago (Gupta, Kim, Urgaonkar: DFTL, ASPLOS 2009, with pages for entries). A page that is not there is read from flash; a
//! changed one that is given up is written to flash.
//!
//! Not modelled: table updates by garbage collection, and garbage collection of the table's own pages.

/// No page.
const NONE: u32 = u32::MAX;

/// What a look-up costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lookup {
    Hit,
    /// The page must be read; the page given up for it must be written if it is told.
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
    /// By page: its neighbours in the order of use, whether it is held and whether it was changed.
    links: Vec<LruLink>,
    oldest: u32,
    newest: u32,
}

#[derive(Clone, Copy)]
struct LruLink {
    older: u32,
    newer: u32,
    held: bool,
    changed: bool,
}

impl MappingCache {
    /// A cache of `most` pages, at least one, for a table of so many units.
    pub(super) fn new(units: u32, units_per_page: u32, most: u64) -> Self {
        let pages = units.div_ceil(units_per_page).max(1);
        let link = LruLink { older: NONE, newer: NONE, held: false, changed: false };
        Self {
            units_per_page,
            most: most.clamp(1, u64::from(pages)) as usize,
            held: 0,
            links: vec![link; pages as usize],
            oldest: NONE,
            newest: NONE,
        }
    }

    /// The table page of a unit.
    pub(super) fn page_of(&self, unit: u32) -> u32 {
        unit / self.units_per_page
    }

    /// Uses a page, and changes it if `changes`.
    pub(super) fn look_up(&mut self, page: u32, changes: bool) -> Lookup {
        if self.links[page as usize].held {
            self.links[page as usize].changed |= changes;
            if self.newest != page {
                self.unlink(page);
                self.append(page);
            }
            return Lookup::Hit;
        }
        let mut written_back = None;
        if self.held == self.most {
            let old = self.oldest;
            self.unlink(old);
            written_back = Some(old).filter(|old| self.links[*old as usize].changed);
            self.links[old as usize].held = false;
            self.held -= 1;
        }
        self.append(page);
        self.held += 1;
        let link = &mut self.links[page as usize];
        (link.held, link.changed) = (true, changes);
        Lookup::Miss { written_back }
    }

    fn unlink(&mut self, page: u32) {
        let LruLink { older, newer, .. } = self.links[page as usize];
        match older {
            NONE => self.oldest = newer,
            _ => self.links[older as usize].newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            _ => self.links[newer as usize].older = older,
        }
    }

    fn append(&mut self, page: u32) {
        let last = self.newest;
        let link = &mut self.links[page as usize];
        (link.older, link.newer) = (last, NONE);
        match last {
            NONE => self.oldest = page,
            _ => self.links[last as usize].newer = page,
        }
        self.newest = page;
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
