//! Memory for the results of one file, so that no file takes many times its own length.
//!
//! The model: whatever an importer makes of a file is counted here as it is made: copies of its text, figures, cells, series, runs. When it is
//! more than a small multiple of the file, nothing more is made: `figure_of_value` returns none and the lines of the input end. The
//! results are then incomplete, so `import` refuses the file. The count belongs to the thread, because figures and cells are
//! made by small functions that see no input.

use kurabe_core::{Error, ErrorKind, text};
use std::cell::Cell;

/// Bytes that the results of the smallest file may take; what else an importer holds for a while fits into the rest of 64 MiB.
const LEAST_BYTES: usize = 52 << 20;
/// Bytes for each byte of the file, next to the file itself. Results of fio need 2.3.
const BYTES_PER_BYTE: usize = 3;

/// Counts of what this thread has made of the file that it imports.
#[derive(Clone, Copy)]
struct Made {
    bytes: usize,
    most_bytes: usize,
    cells: usize,
    figures: usize,
    /// Lines of the file, if these are too many.
    lines: usize,
}

const UNLIMITED: Made = Made { bytes: 0, most_bytes: usize::MAX, cells: 0, figures: 0, lines: 0 };

thread_local! {
    static MADE: Cell<Made> = const { Cell::new(UNLIMITED) };
}

/// Begins with a file of this length; what was counted before is forgotten.
pub(super) fn begin(file_bytes: usize) {
    let most_bytes = LEAST_BYTES.saturating_add(file_bytes.saturating_mul(BYTES_PER_BYTE));
    MADE.set(Made { most_bytes, ..UNLIMITED });
}

/// Counts bytes; returns whether there is room for them.
pub(super) fn take(bytes: usize) -> bool {
    count(bytes, 0, 0)
}

/// Counts lines that take so many bytes each; returns whether there is room for them.
pub(super) fn take_lines(lines: usize, line_bytes: usize) -> bool {
    let has_room = take(lines.saturating_mul(line_bytes));
    if !has_room {
        MADE.set(Made { lines, ..MADE.get() });
    }
    has_room
}

/// Gives bytes back that were taken for a while.
pub(super) fn give_back(bytes: usize) {
    let mut made = MADE.get();
    if made.bytes <= made.most_bytes {
        made.bytes = made.bytes.saturating_sub(bytes);
        MADE.set(made);
    }
}

/// Counts a figure of these bytes; returns whether there is room for it.
pub(super) fn take_figure(bytes: usize) -> bool {
    count(bytes, 0, 1)
}

/// Counts a cell of these bytes; returns whether there is room for it.
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

/// Returns whether no more can be made of the file.
pub(super) fn is_spent() -> bool {
    let made = MADE.get();
    made.bytes > made.most_bytes
}

/// The error of a file of whose results there was no room for all.
pub(super) fn too_much(name: &str) -> Error {
    let Made { most_bytes, cells, figures, lines, .. } = MADE.get();
    let most_mib = most_bytes >> 20;
    if lines > 0 {
        return too_many_lines(name, lines);
    }
    let what = text!(
        "{name} contains too many results: its first {cells} tests and {figures} figures fill the {most_mib} MiB limit for a file of this length",
        "{name} の結果が多すぎます。最初の {cells} 項目と {figures} 個の値だけで、この大きさのファイルに使える {most_mib} MiB に達しました"
    );
    ErrorKind::Import
        .error(what)
        .remedy(text!("split the file and import its parts", "ファイルを分割して取り込んでください"))
}

/// The error of a file that has too many lines for its length.
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
