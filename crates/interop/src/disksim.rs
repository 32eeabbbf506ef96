//! Conversion of DiskSim disks to device files.
//!
//! The model: a parameter file (`.parv`, `.diskspecs`, `.model`) supplies the disk with its mechanics,
//! its layout, its measured overheads, and the time of a block on its bus. The meaning that DiskSim's
//! diskmodel (layout_g1.c, mech_g1_seektime.c) and disk controller give each parameter is preserved.
//! Features that kurabe's disk model does not have are refused by name and line if they would change
//! results much (sparing schemes, seek curves), and ignored otherwise. Synthetic workloads, controllers
//! and drivers are not read.

mod layout;
mod parse;

use kurabe_core::{ErrorKind, Result, text};
use parse::{FilesBeside, ParameterBlock, blocks};
use std::fmt::{Display, Write as _};

/// Block size of DiskSim in bytes.
const BLOCK_BYTES: u64 = 512;
/// Number of blocks of a write that are in the buffer before the medium takes the first one, if DiskSim
/// disconnects an extra time.
const EXTRA_DISCONNECT_BLOCKS: u64 = 10;

/// A device file converted from another simulator's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceFile {
    /// Device name, derived from the file name: letters, digits and hyphens.
    pub name: String,
    /// Contents of the file.
    pub toml: String,
}

/// Returns whether a file looks like a DiskSim parameter file with a disk.
pub fn is_disksim(bytes: &[u8]) -> bool {
    let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 16)]);
    let is_block = |line: &str| {
        let kind = line.split_whitespace().next().unwrap_or("");
        matches!(kind, "disksim_global" | "disksim_disk" | "dm_disk") && line.contains('{')
    };
    beginning.lines().any(is_block)
}

/// Converts DiskSim parameters to a device file. `beside` reads a file in the same folder by its name.
///
/// # Errors
/// If a file is damaged, contains no disk, or contains a disk that kurabe cannot model. The error shows
/// the line.
pub fn read_disksim(name: &str, source: &str, beside: FilesBeside<'_>) -> Result<DeviceFile> {
    let blocks = blocks(name, source, beside)?;
    let disk = blocks.iter().find(|block| block.kind == "disksim_disk");
    let model = match disk {
        Some(disk) => disk.block("Model")?,
        None => blocks.iter().find(|block| block.kind == "dm_disk").ok_or_else(|| {
            ErrorKind::Import
                .error(text!(
                    "{name} does not contain a DiskSim disk",
                    "{name} に DiskSim のディスクがありません"
                ))
                .remedy(text!(
                    "give the file that contains `disksim_disk` or `dm_disk`, such as NAME.diskspecs",
                    "`disksim_disk` か `dm_disk` を含むファイル(*.diskspecs など)を指定してください"
                ))
        })?,
    };
    let mut file = DeviceFile::begun(name, model);
    let (cylinders, shortest_track) = file.layout(model)?;
    file.mechanics(model, cylinders, beside)?;
    match disk {
        Some(disk) => file.controller(disk, shortest_track, bus_block_ms(&blocks)?)?,
        None => file.no_overheads("assumed: the file has no controller"),
    }
    Ok(file)
}

/// Returns the longest time of a block on a bus, in ms.
fn bus_block_ms(blocks: &[ParameterBlock]) -> Result<f64> {
    let buses = blocks.iter().filter(|block| block.kind == "disksim_bus");
    let mut times_ms = buses.map(|bus| bus.number_or("Read block transfer time", 0.0));
    times_ms.try_fold(0.0, |longest_ms: f64, ms| Ok(longest_ms.max(ms?)))
}

impl DeviceFile {
    /// Starts the file with the kind of the first layer.
    fn begun(file: &str, model: &ParameterBlock) -> Self {
        let stem = file.rsplit(['/', '\\']).next().unwrap_or(file).split('.').next().unwrap_or("");
        let letters = stem.chars().map(|letter| letter.to_ascii_lowercase());
        let name: String =
            letters.map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
        let name = Some(name.trim_matches('-')).filter(|name| !name.is_empty()).unwrap_or("disksim-disk");
        let disk =
            ["_model", ".model", "_validate"].into_iter().fold(model.name.as_str(), str::trim_end_matches);
        let title: String = disk
            .chars()
            .filter(|letter| letter.is_ascii_graphic() && !matches!(letter, '"' | '\\'))
            .collect();
        let toml = format!(
            "schema = 1\nname = \"{name}\"\ntitle = {{ en = \"{title} (of DiskSim)\", ja = \"{title}(DiskSim)\" }}\n\n\
             [[layer]]\nkind = \"disk\"\n"
        );
        Self { name: name.to_owned(), toml }
    }

    /// Writes a parameter with its TOML value and its source.
    fn put(&mut self, key: &str, value: &str, source: &str) {
        let source: String =
            source.chars().filter(|letter| !matches!(letter, '"' | '\\') && !letter.is_control()).collect();
        // Writing to a string does not fail.
        let _ = writeln!(self.toml, "{key} = {{ value = {value}, source = \"{source}\" }}");
    }

    fn put_rows(&mut self, key: &str, rows: &[Vec<f64>], source: &str) {
        let row = |row: &Vec<f64>| {
            let numbers: Vec<String> = row.iter().map(f64::to_string).collect();
            format!("[{}]", numbers.join(", "))
        };
        let rows: Vec<String> = rows.iter().map(row).collect();
        self.put(key, &format!("[{}]", rows.join(", ")), source);
    }

    /// Writes a parameter that has a counterpart in a block of DiskSim.
    fn put_of(&mut self, key: &str, value: impl Display, block: &ParameterBlock, name: &str) {
        self.put(key, &value.to_string(), &format!("{}: {name}", block.at.file));
    }

    /// Writes a parameter with a unit.
    fn put_in(&mut self, key: &str, value: impl Display, unit: &str, block: &ParameterBlock, name: &str) {
        self.put_of(key, format!("\"{value} {unit}\""), block, name);
    }

    /// Writes the layout. Returns the number of cylinders, and of sectors on the shortest track.
    fn layout(&mut self, model: &ParameterBlock) -> Result<(u64, u64)> {
        let layout = layout::read(model)?;
        let file = &model.at.file;
        // The zones determine the capacity. DiskSim's `Block count` is only compared with it.
        self.put("cylinders", &layout.cylinders.to_string(), &format!("{file}: Number of cylinders, Zones"));
        let heads = "Number of data surfaces";
        self.put_of("heads", model.whole(heads)?, model, heads);
        self.put_rows("zones", &layout.zones, &format!("{file}: Zones"));
        self.put_rows("zone_skews", &layout.skews, &format!("{file}: Zones"));
        for (key, rows) in [("slips", &layout.slips), ("spares", &layout.spares)] {
            if !rows.is_empty() {
                self.put_rows(key, rows, &format!("{file}: slips, Number of spares"));
            }
        }
        let scheme = "LBN-to-PBN mapping scheme";
        let orders =
            [("serpentine", layout.serpentine), ("serpentine_over_zones", layout.serpentine_over_zones)];
        for (key, _) in orders.into_iter().filter(|(_, is_so)| *is_so) {
            self.put_of(key, true, model, scheme);
        }
        let shortest_track = layout.zones.iter().map(|zone| zone[1] as u64).min().unwrap_or(0);
        Ok((layout.cylinders, shortest_track))
    }

    fn mechanics(&mut self, model: &ParameterBlock, cylinders: u64, beside: FilesBeside<'_>) -> Result<()> {
        let mechanics = model.block("Mechanical Model")?;
        let rotation = "Rotation speed (in rpms)";
        self.put_of("rotation", mechanics.number(rotation)?, mechanics, rotation);
        let (seek, from) = layout::seek_table(mechanics, cylinders, beside)?;
        self.put_rows("seek_table", &seek, &from);
        let switch = "Head switch time";
        self.put_in("head_switch", mechanics.number(switch)?, "ms", mechanics, switch);
        // Negative if a write can start before the head has settled as much as a read requires.
        let settling = "Add. write settling delay";
        let ms = mechanics.signed(settling)?;
        let key = if ms < 0.0 { "read_settle" } else { "write_settle" };
        self.put_in(key, ms.abs(), "ms", mechanics, settling);
        Ok(())
    }

    fn controller(&mut self, disk: &ParameterBlock, shortest_track: u64, bus_block_ms: f64) -> Result<()> {
        let scale = disk.number_or("Time scale for overheads", 1.0)?;
        let preparation_ms = disk.number_or("Data preparation overhead", 0.0)?;
        let overheads = |after: &str| -> Result<Vec<f64>> {
            ["Read hit over.", "Read miss over.", "Write hit over.", "Write miss over."]
                .into_iter()
                .map(|name| {
                    let prepares = if name == "Read hit over." { preparation_ms } else { 0.0 };
                    Ok((disk.number(&format!("{name} {after}"))? + prepares) * scale)
                })
                .collect()
        };
        let rows = [overheads("after read")?, overheads("after write")?];
        self.no_overheads("overheads are measured ones");
        self.put_rows("overheads", &rows, &format!("{}: overheads after read and after write", disk.at.file));
        let (reads, writes) = ("Read completion overhead", "Write completion overhead");
        let reselect_ms = disk.number_or("First reselect overhead", 0.0)?;
        // A disk that never releases the bus does not reacquire it. Neither does a write that ends in
        // the buffer.
        let lets_go = disk.number_or("Never disconnect", 0.0)? == 0.0;
        let through = lets_go && disk.whole("Fast write level")? == 0;
        let ends = [
            ("read_end", reads, disk.number_or(reads, 0.0)?),
            ("write_end", writes, disk.number_or(writes, 0.0)? + if through { reselect_ms } else { 0.0 }),
            (
                "reconnect",
                "First reselect overhead",
                if lets_go { reselect_ms + preparation_ms } else { 0.0 },
            ),
        ];
        for (key, name, ms) in ends.into_iter().filter(|(.., ms)| *ms > 0.0) {
            self.put_in(key, ms * scale, "ms", disk, name);
        }
        self.reading_ahead(disk, shortest_track)?;
        self.data_of_requests(disk, bus_block_ms)
    }

    fn reading_ahead(&mut self, disk: &ParameterBlock, shortest_track: u64) -> Result<()> {
        let (segment, ahead) = ("Segment size (in blks)", "Maximum read-ahead (blks)");
        let segment_bytes = disk.whole(segment)?.saturating_mul(BLOCK_BYTES);
        let scheme = "Buffer continuous read";
        let ahead_bytes = match (disk.whole(scheme)?, disk.whole(ahead)?) {
            (0, _) => 0,
            (_, 0) => segment_bytes,
            (_, sectors) => sectors.saturating_mul(BLOCK_BYTES),
        };
        let segments = "Number of buffer segments";
        self.put_of("segments", disk.whole(segments)?, disk, segments);
        self.put_in("segment", segment_bytes, "B", disk, segment);
        self.put_in("look_ahead", ahead_bytes, "B", disk, ahead);
        match disk.whole(scheme)? {
            1 => self.put_of("look_ahead_until", "\"track\"", disk, scheme),
            4 => {
                self.put_of("look_ahead_until", "\"next-track\"", disk, scheme);
                // A segment smaller than a track cannot hold a track of read-ahead, so the read-ahead
                // continues.
                if segment_bytes < shortest_track.saturating_mul(BLOCK_BYTES) {
                    self.put_of("look_ahead_of_runs_only", true, disk, segment);
                }
            }
            _ => {}
        }
        let (idle, over) = ("Read-ahead on idle hit", "Read-ahead over requested");
        if disk.number_or(idle, 1.0)? == 0.0 && disk.signed_or(over, 0.0)? <= 0.0 {
            self.put_of("look_ahead_on_hits", false, disk, idle);
        }
        let passing = "Read any free blocks";
        if disk.number_or(passing, 0.0)? > 0.0 {
            self.put_of("keeps_passing", true, disk, passing);
        }
        Ok(())
    }

    fn data_of_requests(&mut self, disk: &ParameterBlock, bus_block_ms: f64) -> Result<()> {
        let block_ms = disk.number_or("Bulk sector transfer time", 0.0)?.max(bus_block_ms);
        if block_ms > 0.0 {
            let bytes_per_s = format!("{:.0}", BLOCK_BYTES as f64 / block_ms * 1000.0);
            let slower = format!("the slower of disk and bus, {block_ms} ms a block");
            self.put_in("buffer_rate", bytes_per_s, "B/s", disk, &slower);
        }
        // The watermark applies only to writes longer than a segment.
        let (mark, of_requests) =
            ("High (read) water mark", disk.number_or("Set watermark by reqsize", 0.0)? != 0.0);
        let share = disk.number_or(mark, 0.0)?;
        if of_requests && share > 0.0 {
            self.put_of("read_start", share.min(1.0), disk, mark);
        }
        // Such a disk receives part of a write before the medium takes it, and never continues
        // immediately.
        let extra = "Extra write disconnect";
        if disk.number_or(extra, 0.0)? > 0.0 {
            self.put_of("write_start", 1, disk, extra);
            self.put_in("write_start_most", EXTRA_DISCONNECT_BLOCKS * BLOCK_BYTES, "B", disk, extra);
        }
        // 0 writes through. 1 and 2 acknowledge early; 2 also does so for writes that continue the
        // previous one.
        if disk.whole("Fast write level")? > 0 {
            let segments = "Maximum number of write segments";
            let segment_bytes = disk.whole("Segment size (in blks)")?.saturating_mul(BLOCK_BYTES);
            self.put_of("write_cache", true, disk, "Fast write level");
            let cache_bytes = disk.whole(segments)?.saturating_mul(segment_bytes);
            self.put_in("write_cache_size", cache_bytes, "B", disk, segments);
            let own = "Use separate write segment";
            if disk.number_or(own, 1.0)? == 0.0 {
                self.put_of("writes_empty_segments", true, disk, own);
            }
        }
        Ok(())
    }

    fn no_overheads(&mut self, source: &str) {
        for key in ["read_overhead", "write_overhead"] {
            self.put(key, "\"0 ms\"", source);
        }
    }
}

#[cfg(test)]
mod tests;
