//! Firmware RAID of a mainboard or a low-cost adapter: metadata near the end of the disk.
//!
//! Location of each signature: util-linux, `libblkid/src/superblocks/`, in the file given in
//! brackets, in agreement with dmraid, `lib/format/ataraid/` and `lib/format/ddf/`.

use super::{Extract, SECTOR_BYTES};

/// Sectors before the end at which Promise metadata may start (`promise_raid.c`).
pub(super) const PROMISE_SECTORS: [u64; 13] =
    [63, 255, 256, 16, 399, 591, 675, 735, 911, 974, 991, 951, 3087];

/// Returns the arrays to which a disk belongs, with the offset of each signature.
pub(super) fn arrays(extract: &Extract<'_>) -> Vec<(&'static str, u64)> {
    /// Kind, sectors before the end, magic number.
    const AT_THE_END: [(&str, u64, &[u8]); 6] = [
        // isw_raid.c, ddf_raid.c, lsi_raid.c, nvidia_raid.c
        ("Intel RAID", 2, b"Intel Raid ISM Cfg Sig. "),
        ("DDF RAID", 1, b"\xde\x11\xde\x11"),
        ("LSI RAID", 1, b"$XIDE$"),
        ("NVIDIA RAID", 2, b"NVIDIA"),
        // highpoint_raid.c: a complete array, and a degraded one
        ("HighPoint RAID", 11, b"\xf3\x16\x78\x5a"),
        ("HighPoint RAID", 11, b"\xfd\x16\x78\x5a"),
    ];
    let promise = PROMISE_SECTORS.map(|sectors| ("Promise RAID", sectors, &b"Promise Technology, Inc."[..]));
    let mut arrays: Vec<(&str, u64)> = AT_THE_END
        .into_iter()
        .chain(promise)
        .filter_map(|(kind, sectors, magic)| {
            let offset = extract.sector_before_end(sectors)?;
            extract.is(offset, magic).then_some((kind, offset))
        })
        .collect();
    arrays.extend(silicon_image(extract).map(|offset| ("Silicon Image RAID", offset)));
    // highpoint_raid.c: the older variant, in the tenth sector from the start.
    let older = 9 * SECTOR_BYTES;
    if [b"\xf0\x16\x78\x5a", b"\xfd\x16\x78\x5a"].iter().any(|magic| extract.is(older + 32, *magic)) {
        arrays.push(("HighPoint RAID", older));
    }
    arrays
}

/// Finds Silicon Image metadata in the last sector (`silicon_raid.c`). Three of the four bytes of
/// its magic number are zero, so the disk number and the sum of all words up to the checksum must
/// also match.
fn silicon_image(extract: &Extract<'_>) -> Option<u64> {
    const CHECKSUM_AT: usize = 0x13e;
    let offset = extract.sector_before_end(1)?;
    let sector = extract.at(offset, SECTOR_BYTES as usize)?;
    let words = sector[..CHECKSUM_AT].chunks_exact(2).map(|word| u16::from_le_bytes([word[0], word[1]]));
    let sum = words.fold(0_u16, u16::wrapping_add);
    let checksum = extract.u16_le(offset + CHECKSUM_AT as u64)?;
    let is_array = extract.u32_le(offset + 0x60) == Some(0x2f00_0000)
        && sector[0x116] < 8
        && sum.wrapping_add(checksum) == 0;
    is_array.then_some(offset)
}
