//! A table in plain text: columns as wide as what they hold, cut where that does not fit.

use console::measure_text_width;

use crate::report::visible::ellipsize;

/// Blanks between columns.
const GAP: usize = 2;

/// The rows as lines of at most `width` columns; the first row names the columns. Those without text are left out;
/// `least` is what each keeps when it is cut.
pub fn columns(rows: &[Vec<String>], least: &[usize], width: usize, ellipsis: &str) -> Vec<String> {
    let count = rows.first().map_or(0, Vec::len);
    let widest = |column: usize, rows: &[Vec<String>]| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells
            .map(|cell| measure_text_width(cell))
            .max()
            .unwrap_or(0)
    };
    let kept: Vec<usize> = (0..count)
        .filter(|&column| widest(column, rows.get(1..).unwrap_or_default()) > 0)
        .collect();
    let mut widths: Vec<usize> = kept.iter().map(|&column| widest(column, rows)).collect();
    let room = width.saturating_sub(GAP * kept.len().saturating_sub(1));
    while widths.iter().sum::<usize>() > room {
        // What is widest has most to give.
        let spare = |(at, width): (usize, &usize)| {
            let least = kept.get(at).and_then(|&column| least.get(column));
            width.saturating_sub(least.copied().unwrap_or_default())
        };
        let most = (0..widths.len()).max_by_key(|&at| spare((at, &widths[at])));
        match most {
            Some(at) if spare((at, &widths[at])) > 0 => widths[at] -= 1,
            _ => break,
        }
    }
    rows.iter()
        .map(|row| {
            let mut line = String::new();
            for (&column, &width) in kept.iter().zip(&widths) {
                let text = row.get(column).map_or("", String::as_str);
                let cell = ellipsize(text, width, ellipsis);
                let blanks = width.saturating_sub(measure_text_width(&cell)) + GAP;
                line.push_str(&cell);
                line.push_str(&" ".repeat(blanks));
            }
            line.trim_end().to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_columns_are_cut_and_empty_ones_left_out() {
        let row = |cells: [&str; 4]| cells.map(String::from).to_vec();
        let rows = [
            row(["line", "source", "empty", "recorded"]),
            row(["12", "total = total + price * count", "", "total = 3"]),
        ];
        assert_eq!(
            columns(&rows, &[4, 10, 0, 8], 32, "…"),
            [
                "line  source           recorded",
                "12    total =…* count  total = 3"
            ]
        );
    }
}
