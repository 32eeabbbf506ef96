//! What the card calls the things that time goes to, and what it counts.

use crate::build::words;

words! {
    /// Causes and counters of the card.
    pub(super) struct Words from "raid" {
        processor_busy: cause("processor-busy");
        request: cause("request");
        strips: cause("strips");
        latency: cause("latency");
        memory_busy: cause("memory-busy");
        memory: cause("memory");
        copy: cause("copy");
        full: cause("cache-full");
        draining: cause("draining");
        ahead: cause("read-ahead");
        row_busy: cause("row-busy");
        parity_busy: cause("parity-busy");
        parity: cause("parity");
        most_bytes: counter("most-bytes");
        even_bytes: counter("even-bytes");
        member_reads: counter("member-reads");
        member_writes: counter("member-writes");
        hit_bytes: counter("hit-bytes");
        missed_bytes: counter("missed-bytes");
        ahead_bytes: counter("ahead-bytes");
        destaged_bytes: counter("destaged-bytes");
        whole_rows: counter("whole-rows");
        partial_rows: counter("partial-rows");
    }
}
