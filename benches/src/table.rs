//! A plain text table: the first column aligned left, all others right.

use std::fmt::Write;

/// Formats rows as a table; all have as many fields as the first, which is the heading.
pub fn layout(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut laid = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (field, width)) in row.iter().zip(&widths).enumerate() {
            let _ =
                if column == 0 { write!(line, "{field:<width$}") } else { write!(line, "  {field:>width$}") };
        }
        laid.push_str(line.trim_end());
        laid.push('\n');
    }
    laid
}

/// Formats a figure with a fixed number of decimals; a dash if it is not finite.
pub fn figure(value: f64, decimals: usize) -> String {
    if value.is_finite() { format!("{value:.decimals$}") } else { "–".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows =
            [["", "fio"], ["cached", "1"], ["zero", "1000"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(layout(&rows), "         fio\ncached     1\nzero    1000\n");
    }
}
