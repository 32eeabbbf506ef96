//! A strict reader for the GVariant format that GNOME Disks writes: `a{sv}` with numbers and `a(td)` as
//! values.
//!
//! The model: a container of items of unequal length ends with the end offsets of its items, each an
//! unsigned little-endian number regardless of the machine, as wide as the container's length requires
//! (1, 2, 4 or 8 bytes). An entry `{sv}` is a key terminated by zero, padding to eight bytes, the
//! value, and the end of the key. A value `v` is its bytes, a zero, and its type. Padding is zero.
//! Anything else is refused, where GLib would read default values. Source: the GVariant specification
//! of GLib ("Serialisation Format"), checked against GLib 2.74.

/// Conversion of eight bytes to a number: [`u64::from_le_bytes`] or [`u64::from_be_bytes`].
pub(super) type ByteOrder = fn([u8; 8]) -> u64;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct GVariant {
    /// Type: `i`, `t`, `a(td)`.
    pub(super) kind: String,
    /// Serialized bytes.
    pub(super) bytes: Vec<u8>,
}

/// Returns the entries of an `a{sv}`, in the order of the file.
pub(super) fn dictionary(bytes: &[u8]) -> Option<Vec<(String, GVariant)>> {
    if bytes.is_empty() {
        return Some(Vec::new());
    }
    let width = offset_width(bytes.len());
    let table = offset_at(bytes, bytes.len().checked_sub(width)?, width)?;
    let framing = bytes.len().checked_sub(table)?;
    if framing == 0 || framing % width != 0 {
        return None;
    }
    let mut entries = Vec::new();
    let mut start = 0_usize;
    for item in 0..framing / width {
        let end = offset_at(bytes, table + item * width, width)?;
        let aligned = start.next_multiple_of(8);
        if end > table || aligned > end || bytes[start..aligned].iter().any(|byte| *byte != 0) {
            return None;
        }
        entries.push(entry(&bytes[aligned..end])?);
        start = end;
    }
    (start == table).then_some(entries)
}

/// Parses one `{sv}`.
fn entry(bytes: &[u8]) -> Option<(String, GVariant)> {
    let width = offset_width(bytes.len());
    let last = bytes.len().checked_sub(width)?;
    let key_end = offset_at(bytes, last, width)?;
    let key = bytes.get(..key_end)?.strip_suffix(&[0])?;
    let value_start = key_end.next_multiple_of(8);
    if key.contains(&0) || value_start > last || bytes[key_end..value_start].iter().any(|byte| *byte != 0) {
        return None;
    }
    let key = std::str::from_utf8(key).ok()?.to_owned();
    let variant = &bytes[value_start..last];
    let split = variant.iter().rposition(|byte| *byte == 0)?;
    let kind = std::str::from_utf8(&variant[split + 1..]).ok()?.to_owned();
    (!kind.is_empty()).then(|| (key, GVariant { kind, bytes: variant[..split].to_vec() }))
}

/// Returns the items of an `a(td)`.
pub(super) fn samples(bytes: &[u8], number: ByteOrder) -> Option<Vec<(u64, f64)>> {
    let (numbers, rest) = bytes.as_chunks::<8>();
    let (items, odd) = numbers.as_chunks::<2>();
    let sample = |[offset, value]: &[[u8; 8]; 2]| (number(*offset), f64::from_bits(number(*value)));
    (rest.is_empty() && odd.is_empty()).then(|| items.iter().map(sample).collect())
}

/// Returns the width in bytes of an offset in a container of this length, which includes the offsets.
fn offset_width(length: usize) -> usize {
    match length {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

fn offset_at(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    let mut wide = [0; 8];
    wide[..width].copy_from_slice(bytes.get(at..at.checked_add(width)?)?);
    usize::try_from(u64::from_le_bytes(wide)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `{'a': <int32 1>, 'bc': <uint64 7>}` as GLib 2.74 serializes it on a little-endian machine.
    const GLIB: &str = "61000000000000000100000000690200626300000000000007000000000000000074030f23";

    fn bytes_of(digits: &str) -> Vec<u8> {
        (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
    }

    #[test]
    fn what_glib_wrote_is_read() {
        let entries = dictionary(&bytes_of(GLIB)).unwrap();
        let value = |kind: &str, bytes: &[u8]| GVariant { kind: kind.to_owned(), bytes: bytes.to_vec() };
        assert_eq!(
            entries,
            vec![
                ("a".to_owned(), value("i", &[1, 0, 0, 0])),
                ("bc".to_owned(), value("t", &[7, 0, 0, 0, 0, 0, 0, 0]))
            ]
        );
        assert_eq!(dictionary(&[]), Some(Vec::new()));
    }

    #[test]
    fn every_cut_is_refused() {
        let whole = bytes_of(GLIB);
        for end in 1..whole.len() {
            assert_eq!(dictionary(&whole[..end]), None, "{end}");
        }
    }

    #[test]
    fn samples_come_in_both_orders() {
        let item = [7_u64.to_be_bytes(), 1.5_f64.to_be_bytes()].concat();
        assert_eq!(samples(&item, u64::from_be_bytes), Some(vec![(7, 1.5)]));
        let item = [7_u64.to_le_bytes(), 1.5_f64.to_le_bytes()].concat();
        assert_eq!(samples(&item, u64::from_le_bytes), Some(vec![(7, 1.5)]));
        assert_eq!(samples(&item[..15], u64::from_le_bytes), None);
    }
}
