//! Geometry and times of an SSD, derived from its parameters.

use super::die::Manners;
use super::scatter::Scatter;
use crate::build::{Builder, parameters};
use crate::timeline::transfer_ns;
use kurabe_core::{Result, text};

/// The longest period, ten years: the retention that flash guarantees.
pub(super) const MOST_DAYS: f64 = 3650.0;
/// The largest standard deviation, as a share of the mean: at 3.46 deviations, the end of the
/// distribution, times are still above 0.
pub(super) const MOST_SPREAD: f64 = 0.25;

parameters! {
    /// Parameters of an SSD. Where a time may be 0, that means the usual time of the cell type.
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
            usual("[]", "assumed: all alike, as flash that programs the bits of its cells in one go")
                .derived_from(&["program_time"]);
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
            usual("0 ns", "assumed: a row, in cells with one bit where the drive has them")
                .derived_from(&["slc_program_time", "program_time"]).live();
        "fua_save_time" fua_save_ns: Time,
            usual("0 ns", "assumed: as after a flush").derived_from(&["save_time"]).live();
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
            usual("true", "assumed: the read data was written before").live();
    }
}

/// Work done to make room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Reclaimed {
    pub(super) rows_read: u64,
    pub(super) slc_rows_read: u64,
    /// Units moved because their block was collected.
    pub(super) moved: u64,
    /// Units moved out of SLC-mode cells.
    pub(super) folded: u64,
    pub(super) erases: u64,
}

/// Maximum number of blocks that can be tracked.
const MOST_BLOCKS: u128 = 1 << 24;

/// Default read, program and erase times of a cell type, in nanoseconds.
///
/// MLC: MQSim `ssdconfig.xml`. TLC and QLC: FEMU `hw/femu/nand.h`, the mean over the kinds of
/// pages; its QLC values are documented as extrapolated. SLC: usual figures of data sheets.
fn usual_times_ns(cell: &str) -> (u64, u64, u64) {
    match cell {
        "slc" => (25_000, 200_000, 1_500_000),
        "mlc" => (75_000, 750_000, 3_800_000),
        "tlc" => (80_000, 2_926_000, 3_000_000),
        _ => (110_000, 3_800_000, 3_000_000),
    }
}

/// Sizes and counts. A row is the unit of programming of a die: a page of each of its planes. A
/// block is its unit of erasing: a block of each of its planes. A unit is the granularity of the
/// mapping table.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlashGeometry {
    pub(super) capacity_bytes: u64,
    pub(super) unit_bytes: u64,
    /// Units visible to the host.
    pub(super) units: u32,
    pub(super) channels: u32,
    pub(super) dies: u32,
    pub(super) units_per_row: u32,
    pub(super) rows_per_block: u32,
    pub(super) units_per_block: u32,
    pub(super) blocks_per_die: u32,
    /// Bits per cell; an SLC-mode block has that many times fewer rows.
    pub(super) bits: u32,
    /// Blocks of each die that may be used in SLC mode.
    pub(super) slc_blocks: u32,
    /// SLC-mode blocks that remain after background folding.
    pub(super) slc_kept: u32,
    /// Free blocks of each die below which data are moved before any write.
    pub(super) least_free: u32,
    /// Free blocks of each die that background collection maintains.
    pub(super) wanted_free: u32,
}

impl FlashGeometry {
    pub(super) fn row_bytes(&self) -> u64 {
        u64::from(self.units_per_row) * self.unit_bytes
    }
}

/// Parameters, geometry, times and policies.
#[derive(Clone, Debug)]
pub(super) struct Config {
    pub(super) values: Values,
    pub(super) geometry: FlashGeometry,
    /// By kind of page.
    pub(super) read_ns: Vec<u64>,
    pub(super) slc_read_ns: u64,
    /// `program_ns` is the mean over the kinds of pages.
    pub(super) manners: Manners,
    /// By kind of page.
    page_program_ns: Vec<u64>,
    pub(super) scatter: Scatter,
    pub(super) slc_program_ns: u64,
    pub(super) fold_ns: u64,
    pub(super) unit_transfer_ns: u64,
    /// Command time of a write, if it differs.
    pub(super) write_command_ns: Option<u64>,
    pub(super) buffer_rows: u64,
    /// Pages of the mapping table in memory, if not all of them.
    pub(super) mapping_pages: Option<u64>,
    pub(super) fold_when_full: bool,
    pub(super) by_age: bool,
    pub(super) filled_units: u32,
    pub(super) worn: bool,
}

impl Config {
    /// # Errors
    /// Returns an error if the parameters are inconsistent.
    pub(super) fn new(builder: &Builder<'_>) -> Result<Self> {
        let values = Values::new(builder);
        let geometry = geometry(builder, &values)?;
        let (read_ns, program_ns, erase_ns) = usual_times_ns(values.cell);
        let given = |given_ns: u64, usual_ns: u64| if given_ns == 0 { usual_ns } else { given_ns };
        let read_ns = given(values.read_ns, read_ns);
        let page_program_ns = by_page(&values.page_program_times, given(values.program_ns, program_ns));
        // Rows may be specified as taking no time, but work in progress is still divided into
        // programs.
        let program_ns = mean(&page_program_ns).max(1);
        let suspend_ns = Some(values.suspend_ns);
        Ok(Self {
            read_ns: by_page(&values.page_read_times, read_ns),
            slc_read_ns: given(values.slc_read_ns, read_ns),
            manners: Manners {
                program_ns,
                erase_ns: given(values.erase_ns, erase_ns),
                suspend_program_ns: suspend_ns.filter(|_| values.suspend != "none"),
                suspend_erase_ns: suspend_ns.filter(|_| values.suspend == "program-and-erase"),
            },
            page_program_ns,
            scatter: Scatter::new(builder.random().bits(), &values),
            slc_program_ns: given(values.slc_program_ns, program_ns),
            fold_ns: given(values.fold_ns, program_ns),
            unit_transfer_ns: transfer_ns(geometry.unit_bytes, values.channel_bytes_per_s),
            write_command_ns: Some(values.write_command_ns).filter(|time_ns| *time_ns > 0),
            buffer_rows: values.buffer_bytes.div_ceil(geometry.row_bytes()).min(1 << 31),
            mapping_pages: (values.mapping == "cached")
                .then(|| values.mapping_cache_bytes / values.page_bytes),
            fold_when_full: values.slc_full == "fold",
            by_age: values.gc == "cost-benefit",
            filled_units: (f64::from(geometry.units) * values.fill) as u32,
            worn: values.age == "worn",
            geometry,
            values,
        })
    }

    /// Returns the time to save the mapping table: that of a row, unless it is specified.
    pub(super) fn save_ns(&self) -> u64 {
        match self.values.save_ns {
            0 => self.slc_program_ns,
            given_ns => given_ns,
        }
    }

    /// Returns the time to save the mapping table after a write with FUA.
    pub(super) fn fua_save_ns(&self) -> u64 {
        match self.values.fua_save_ns {
            0 => self.save_ns(),
            given_ns => given_ns,
        }
    }

    /// Returns the channel time for this many bytes.
    pub(super) fn transfer_ns(&self, bytes: u64) -> u64 {
        transfer_ns(bytes, self.values.channel_bytes_per_s)
    }

    /// Returns the time of a die for a row: transfer and program, or its share of a channel that
    /// cannot feed all its dies.
    pub(super) fn row_ns(&self, row: u32, slc: bool) -> u64 {
        let geometry = &self.geometry;
        let wire_ns = u64::from(geometry.units_per_row).saturating_mul(self.unit_transfer_ns);
        let mean_ns = match self.page_program_ns.as_slice() {
            _ if slc => self.slc_program_ns,
            [only_ns] => *only_ns,
            kinds => kinds[(row % geometry.rows_per_block) as usize % kinds.len()],
        };
        let program_ns = self.scatter.program_ns(row, mean_ns);
        let dies_per_channel = u64::from(geometry.dies / geometry.channels);
        program_ns.saturating_add(wire_ns).max(wire_ns.saturating_mul(dies_per_channel))
    }

    /// Returns the time of a die to move data between its blocks, through the controller.
    pub(super) fn moving_ns(&self, work: &Reclaimed) -> u64 {
        let geometry = &self.geometry;
        let Reclaimed { rows_read, slc_rows_read, moved, folded, .. } = *work;
        let wire_ns = self.unit_transfer_ns.saturating_mul(2 * (moved + folded));
        let reads_ns = rows_read
            .saturating_mul(mean(&self.read_ns))
            .saturating_add(slc_rows_read.saturating_mul(self.slc_read_ns));
        let programs_ns = (self
            .manners
            .program_ns
            .saturating_mul(moved)
            .saturating_add(self.fold_ns.saturating_mul(folded)))
            / u64::from(geometry.units_per_row);
        let dies_per_channel = u64::from(geometry.dies / geometry.channels);
        reads_ns
            .saturating_add(programs_ns)
            .saturating_add(wire_ns)
            .max(wire_ns.saturating_mul(dies_per_channel))
    }
}

/// Returns the times of the kinds of pages in order, or a single time for all of them.
fn by_page(rows: &[Vec<f64>], same_ns: u64) -> Vec<u64> {
    match rows {
        [] => vec![same_ns],
        rows => rows.iter().map(|row| (row[0] * 1000.0).min(1e12) as u64).collect(),
    }
}

fn mean(times_ns: &[u64]) -> u64 {
    times_ns.iter().sum::<u64>() / times_ns.len() as u64
}

fn geometry(builder: &Builder<'_>, values: &Values) -> Result<FlashGeometry> {
    let &Values { capacity_bytes, mapping_unit_bytes: unit_bytes, channels, planes, serial_dies, .. } =
        values;
    if !values.dies.is_multiple_of(serial_dies) {
        return Err(builder.error("serial_dies", &text!("it divides dies", "dies を割り切る値を指定します")));
    }
    // Dies that alternate do one thing at a time, like a single die with all their blocks.
    let dies = channels * (values.dies / serial_dies);
    let row_bytes = u128::from(values.page_bytes) * u128::from(planes);
    if row_bytes % u128::from(unit_bytes) != 0 {
        return Err(builder.error(
            "mapping_unit",
            &text!(
                "page times planes is a whole number of them",
                "ページ × プレーン数を割り切る値を指定します"
            ),
        ));
    }
    let bits = match values.cell {
        "slc" => 1,
        "mlc" => 2,
        "tlc" => 3,
        _ => 4,
    };
    let rows_per_block = values.pages_per_block;
    let block_bytes = row_bytes * u128::from(rows_per_block);
    let wide = |bytes: u64| u128::from(bytes);
    let least_free = values.gc_free_blocks;
    // Of a die's blocks, two are open, one may be set aside, one takes moved data, and one is in
    // transition.
    let spare = u128::from(least_free) + 5;
    let visible = wide(capacity_bytes).div_ceil(block_bytes * wide(dies));
    let all =
        wide(capacity_bytes) as f64 * (1.0 + values.over_provisioning) / (block_bytes as f64 * dies as f64);
    let slc_block_bytes = (block_bytes / bits).max(1);
    let per_die = |bytes: u64| wide(bytes).div_ceil(slc_block_bytes * wide(dies));
    let own_slc = per_die(values.slc_static_bytes);
    let blocks_per_die = (visible + spare).max(all.ceil() as u128) + own_slc;
    let units_per_block = block_bytes / wide(unit_bytes);
    let total_units = blocks_per_die * wide(dies) * units_per_block;
    if total_units >= u128::from(u32::MAX - 1) || blocks_per_die * wide(dies) > MOST_BLOCKS {
        let what = text!(
            "the drive has more mapping units or blocks than the model can number (2^32 and 2^24): use larger ones",
            "マッピング単位またはブロックの数がモデルの上限(2^32、2^24)を超えます。単位を大きくしてください"
        );
        return Err(builder.error("capacity", &what));
    }
    let slc_blocks = own_slc + per_die(values.slc_dynamic_bytes);
    let one_bit = bits == 1 || rows_per_block < bits as u64;
    Ok(FlashGeometry {
        capacity_bytes,
        unit_bytes,
        units: capacity_bytes.div_ceil(unit_bytes) as u32,
        channels: channels as u32,
        dies: dies as u32,
        units_per_row: (row_bytes / wide(unit_bytes)) as u32,
        rows_per_block: rows_per_block as u32,
        units_per_block: units_per_block as u32,
        blocks_per_die: blocks_per_die as u32,
        bits: bits as u32,
        slc_blocks: if one_bit { 0 } else { slc_blocks.min(blocks_per_die) as u32 },
        slc_kept: (wide(values.slc_keep_bytes) / (slc_block_bytes * wide(dies))).min(slc_blocks) as u32,
        least_free: least_free as u32,
        wanted_free: values.idle_free_blocks.max(least_free) as u32,
    })
}
