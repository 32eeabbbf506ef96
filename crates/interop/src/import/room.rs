//! Memory limit for the results of one file, so that no file takes many times its own length.
//!
//! The model: all memory that an importer allocates for a file is counted here: copies of its text,
//! figures, cells, series, runs. If it exceeds a small multiple of the file, allocation stops:
//! `figure_of_value` returns `None` and the lines of the input end. The results are then incomplete, so
//! `import` refuses the file. The count belongs to the thread, because small functions without access
//! to the input create figures and cells.

use kurabe_core::{Error, ErrorKind, text};
use std::cell::Cell;

/// Bytes for the results of the smallest file. Temporary memory of an importer fits into the rest of 64
/// MiB.
const LEAST_BYTES: usize = 52 << 20;
/// Bytes for each byte of the file, in addition to the file itself. Results of fio need 2.3.
const BYTES_PER_BYTE: usize = 3;

/// Counts of this thread for the file that it imports.
#[derive(Clone, Copy)]
struct Made {
    bytes: usize,
    most_bytes: usize,
    cells: usize,
    figures: usize,
    /// Number of lines of the file, if it is too large.
    lines: usize,
}

const UNLIMITED: Made = Made { bytes: 0, most_bytes: usize::MAX, cells: 0, figures: 0, lines: 0 };

thread_local! {
    static MADE: Cell<Made> = const { Cell::new(UNLIMITED) };
}

/// Starts a file of this length, and resets all counts.
pub(super) fn begin(file_bytes: usize) {
    let most_bytes = LEAST_BYTES.saturating_add(file_bytes.saturating_mul(BYTES_PER_BYTE));
    MADE.set(Made { most_bytes, ..UNLIMITED });
}

/// Counts bytes. Returns whether they are within the limit.
pub(super) fn take(bytes: usize) -> bool {
    count(bytes, 0, 0)
}

/// Counts lines of this size. Returns whether they are within the limit.
pub(super) fn take_lines(lines: usize, line_bytes: usize) -> bool {
    let has_room = take(lines.saturating_mul(line_bytes));
    if !has_room {
        MADE.set(Made { lines, ..MADE.get() });
    }
    has_room
}

/// Releases bytes that were taken temporarily.
pub(super) fn give_back(bytes: usize) {
    let mut made = MADE.get();
    if made.bytes <= made.most_bytes {
        made.bytes = made.bytes.saturating_sub(bytes);
        MADE.set(made);
    }
}

/// Counts a figure of this size. Returns whether it is within the limit.
pub(super) fn take_figure(bytes: usize) -> bool {
    count(bytes, 0, 1)
}

/// Counts a cell of this size. Returns whether it is within the limit.
pub(super) fn take_cell(bytes: usize) -> bool {
    count(bytes, 1, 0)
}

fn count(bytes: usize, cells: usize, figures: usize) -> bool {
    let mut made = MADE.get();
    made.bytes = made.bytes.saturating_add(bytes);
    if made.bytes <= made.most_bytes {
        (made.cells, made.figures) = (made.cells + cells, made.figures + figures);
    }
    MADE.set(made);
    made.bytes <= made.most_bytes
}

/// Returns whether the limit is reached.
pub(super) fn is_spent() -> bool {
    let made = MADE.get();
    made.bytes > made.most_bytes
}

/// Creates the error for a file whose results exceed the limit.
pub(super) fn too_much(name: &str) -> Error {
    let Made { most_bytes, cells, figures, lines, .. } = MADE.get();
    let most_mib = most_bytes >> 20;
    if lines > 0 {
        return too_many_lines(name, lines);
    }
    let what = text!(
        "{name} contains too many results: its first {cells} tests and {figures} figures fill the \
         {most_mib} MiB limit for a file of this length",
        "{name} の結果が多すぎます。最初の {cells} 項目と {figures} 個の値だけで、この大きさのファイルに使える {most_mib} MiB に達しました"
    );
    ErrorKind::Import
        .error(what)
        .remedy(text!("split the file and import its parts", "ファイルを分割して取り込んでください"))
}

/// Creates the error for a file with too many lines for its length.
fn too_many_lines(name: &str, lines: usize) -> Error {
    let what = text!(
        "{name} has {lines} lines, more than kurabe accepts in a file of this length",
        "{name} は {lines} 行あり、この大きさのファイルとして読める行数を超えています"
    );
    ErrorKind::Import.error(what).remedy(text!(
        "give only the lines that the tool wrote",
        "ツールが書いた行だけを残したファイルを指定してください"
    ))
}
