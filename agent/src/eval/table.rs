//! Tables that read well at 80 columns.

/// Rows of texts under a head: the first column to the left, the others to the right.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Table {
    /// Names of the columns.
    pub head: Vec<String>,
    /// Rows, each as long as the head.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(head: &[&str]) -> Self {
        Self {
            head: head.iter().map(|&name| name.to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    /// Lines of text, without trailing spaces.
    pub fn lines(&self) -> Vec<String> {
        let all = || std::iter::once(&self.head).chain(&self.rows);
        let widths: Vec<usize> = (0..self.head.len())
            .map(|column| {
                let cells = all().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        let line = |row: &Vec<String>| {
            let mut text = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let gap = " ".repeat(width - cell.chars().count());
                if column == 0 {
                    text = format!("{cell}{gap}");
                } else {
                    text.extend(["  ", &gap, cell.as_ref()]);
                }
            }
            text.trim_end().to_owned()
        };
        let mut lines: Vec<String> = all().map(line).collect();
        let width = widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
        lines.insert(1, "-".repeat(width));
        lines
    }
}

/// `97.5 %`; a dash for nothing.
pub fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0))
}

/// `94.1-98.9`, in percent; a dash for nothing.
pub fn range(interval: Option<ndbg_simulator::eval::Interval>) -> String {
    interval.map_or_else(
        || "-".to_owned(),
        |interval| format!("{:.1}-{:.1}", interval.low * 100.0, interval.high * 100.0),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut table = Table::new(&["kind", "n", "right"]);
        table.row(["return".into(), "7".into(), "85.7 %".into()]);
        table.row(["if".into(), "120".into(), "-".into()]);
        let expected = [
            "kind      n   right",
            "-------------------",
            "return    7  85.7 %",
            "if      120       -",
        ];
        assert_eq!(table.lines(), expected);
    }
}
