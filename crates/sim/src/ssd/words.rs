//! What an SSD tells people: where time goes, and what it counts.

use crate::build::words;

words! {
    /// Where time goes.
    pub(super) struct Causes from "ssd" {
        behind_reads: cause("behind-reads");
        behind_programs: cause("behind-writes");
        behind_erase: cause("behind-erase");
        collecting: cause("garbage-collection");
        folding: cause("folding");
        refreshing: cause("refresh");
        buffer_full: cause("buffer-full");
        sense: cause("flash-read");
        channel_wait: cause("channel-wait");
        channel: cause("channel");
        program: cause("flash-write");
        saving: cause("saving");
        controller_wait: cause("controller-wait");
        controller: cause("controller");
        data_path: cause("data-path");
        mapping: cause("mapping");
        read_ahead: cause("read-ahead");
        partial: cause("partial-write");
    }
}

words! {
    /// What is counted.
    pub(super) struct Counters from "ssd" {
        written: counter("units-written");
        moved: counter("units-moved");
        folded: counter("units-folded");
        erases: counter("erases");
        refreshed: counter("rows-refreshed");
        misses: counter("mapping-misses");
        buffer_hits: counter("buffer-hits");
    }
}
