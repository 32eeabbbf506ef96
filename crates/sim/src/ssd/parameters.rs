//! The parameters of an SSD.

use crate::build::parameters;

/// The longest period, ten years: as long as flash is promised to keep data.
pub(super) const MOST_DAYS: f64 = 3650.0;
/// The largest standard deviation, as a share: at 3.46 of them, the end of the distribution, a time is still above 0.
pub(super) const MOST_SPREAD: f64 = 0.25;

parameters! {
    /// Values of all of them. Where a time may be 0, that stands for the usual time of the cell type.
    pub(super) struct Values, PARAMETERS from "ssd" {
        "capacity" capacity_bytes: SOME_SIZE, needed;
        "channels" channels: Count(1, 64), needed;
        "dies" dies: Count(1, 64), needed;
        "serial_dies" serial_dies: Count(1, 64), usual("1", "assumed: all dies work side by side");
        "planes" planes: Count(1, 16), usual("1", "assumed");
        "page" page_bytes: SOME_SIZE, usual("16 KiB", "assumed: usual since about 2013");
        "pages_per_block" pages_per_block: Count(1, 65_536), usual("256", "MQSim ssdconfig.xml");
        "mapping_unit" mapping_unit_bytes: Bytes(512, 1 << 30),
            usual("4 KiB", "assumed: usual for page-mapped drives");
        "over_provisioning" over_provisioning: Number(0.0, 100.0),
            usual("0.07", "derived: 2^30 / 10^9 - 1, flash in GiB sold as GB");
        "cell" cell: Word(&["slc", "mlc", "tlc", "qlc"]), needed;
        "read_time" read_ns: Time, usual("0 ns", "that of the cell type").derived_from(&["cell"]);
        "page_read_times" page_read_times: Rows(&["microseconds"]),
            usual("[]", "assumed: all alike").derived_from(&["read_time"]);
        "read_spread" read_spread: Number(0.0, MOST_SPREAD),
            usual("0", "assumed: rows of one kind of page are alike");
        "program_spread" program_spread: Number(0.0, MOST_SPREAD),
            usual("0", "assumed: rows of pages are alike");
        "program_time" program_ns: Time, usual("0 ns", "that of the cell type").derived_from(&["cell"]);
        "page_program_times" page_program_times: Rows(&["microseconds"]),
            usual("[]", "assumed: all alike, as flash that programs the bits of its cells in one go").derived_from(&["program_time"]);
        "erase_time" erase_ns: Time, usual("0 ns", "that of the cell type").derived_from(&["cell"]);
        "channel_rate" channel_bytes_per_s: Rate, usual("333 MB/s", "MQSim ssdconfig.xml: 333 MT/s");
        "data_first" data_first: Flag, usual("false", "assumed: commands are short and go between");
        "controller_rate" controller_bytes_per_s: Rate, usual("8 GB/s", "assumed: beyond the rest").live();
        "write_rate" write_bytes_per_s: Rate, usual("1 TB/s", "assumed: as controller_rate");
        "command_time" command_ns: Time, usual("1 us", "assumed").live();
        "command_latency" command_latency_ns: Time, usual("5 us", "assumed").live();
        "unit_latency" unit_latency_ns: Time, usual("0 ns", "assumed: small beside the flash").live();
        "hit_time" hit_ns: Time, usual("1 us", "assumed").live();
        "write_latency" write_latency_ns: Time, usual("0 ns", "assumed: as reads").live();
        "write_command_time" write_command_ns: Time,
            usual("0 ns", "assumed: as reads").derived_from(&["command_time"]);
        "buffer" buffer_bytes: SIZE, usual("1 MiB", "assumed");
        "read_ahead" read_ahead_bytes: Bytes(0, 64 << 20), usual("128 KiB", "assumed");
        "flush_waits" flush_waits: Flag, usual("true", "assumed: as the standards ask").live();
        "save_time" save_ns: Time,
            usual("0 ns", "assumed: a row, in cells with one bit where the drive has them").derived_from(&["slc_program_time", "program_time"]).live();
        "power_loss_protection" power_loss_protection: Flag, usual("false", "assumed: a client drive");
        "suspend" suspend: Word(&["none", "program", "program-and-erase"]), usual("none", "assumed");
        "suspend_time" suspend_ns: Time, usual("20 us", "assumed").live();
        "mapping" mapping: Word(&["full", "cached"]), usual("full", "assumed: a drive with DRAM");
        "mapping_cache" mapping_cache_bytes: SIZE, usual("2 MiB", "MQSim ssdconfig.xml");
        "slc_static" slc_static_bytes: SIZE, usual("0 B", "assumed: none");
        "slc_dynamic" slc_dynamic_bytes: SIZE, usual("0 B", "assumed: none");
        "slc_read_time" slc_read_ns: Time,
            usual("0 ns", "assumed: as with all bits").derived_from(&["read_time"]);
        "slc_program_time" slc_program_ns: Time,
            usual("0 ns", "assumed: as with all bits").derived_from(&["program_time"]);
        "slc_keep" slc_keep_bytes: SIZE, usual("0 B", "assumed: everything is moved as soon as there is time");
        "fold_time" fold_ns: Time,
            usual("0 ns", "assumed: as data of the host").derived_from(&["program_time"]);
        "slc_full" slc_full: Word(&["direct", "fold"]), usual("direct", "assumed");
        "gc" gc: Word(&["greedy", "cost-benefit"]), usual("greedy", "MQSim ssdconfig.xml");
        "gc_free_blocks" gc_free_blocks: Count(1, 1024), usual("2", "assumed");
        "idle_free_blocks" idle_free_blocks: Count(1, 65_536), usual("8", "assumed");
        "idle_after" idle_after_ns: Time, usual("100 ms", "assumed").live();
        "refresh_days" refresh_days: Number(0.0, MOST_DAYS), usual("0", "assumed: never in the time of a test");
        "fill" fill: Number(0.0, 1.0), usual("0", "assumed: new");
        "age" age: Word(&["new", "worn"]), usual("new", "assumed: new");
        "unwritten_as_data" unwritten_as_data: Flag,
            usual("true", "assumed: whoever reads has written before").live();
    }
}
