//! What an evaluation shows: on a terminal, as a page, as pictures.

use std::fmt::Write as _;
use std::fs;

use askama::Template;
use camino::Utf8Path;

use super::table::Table;
use crate::plot::Plot;

/// A report in sections.
#[derive(Debug, Clone, Default)]
pub struct Page {
    /// What was evaluated.
    pub title: String,
    /// Model, data, seed: names and values.
    pub facts: Vec<(String, String)>,
    /// Parts.
    pub sections: Vec<Section>,
}

/// A part of a report.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// Heading.
    pub title: String,
    /// What is counted, in sentences.
    pub prose: Vec<String>,
    /// Figures.
    pub table: Option<Table>,
    /// Pictures.
    pub plots: Vec<Plot>,
}

#[derive(Template)]
#[template(path = "evaluation.html")]
struct Document<'p> {
    page: &'p Page,
    version: &'static str,
}

impl Page {
    /// Text for a terminal of 80 columns.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "{}", self.title);
        let width = self
            .facts
            .iter()
            .map(|(name, _)| name.chars().count())
            .max()
            .unwrap_or(0);
        for (name, value) in &self.facts {
            let gap = " ".repeat(width - name.chars().count());
            let indent = " ".repeat(width + 2);
            for (at, line) in wrapped(value, 78 - width).iter().enumerate() {
                if at == 0 {
                    let _ = writeln!(out, "{name}{gap}  {line}");
                } else {
                    let _ = writeln!(out, "{indent}{line}");
                }
            }
        }
        for section in &self.sections {
            let _ = writeln!(out, "\n{}", section.title);
            for line in section
                .prose
                .iter()
                .flat_map(|sentence| wrapped(sentence, 78))
            {
                let _ = writeln!(out, "  {line}");
            }
            for line in section.table.iter().flat_map(Table::lines) {
                let _ = writeln!(out, "  {line}");
            }
        }
        out
    }

    /// The page for a browser, whole in one file.
    ///
    /// # Errors
    /// Only if memory runs out.
    pub fn html(&self) -> Result<String, askama::Error> {
        Document {
            page: self,
            version: env!("CARGO_PKG_VERSION"),
        }
        .render()
    }

    /// Writes the pictures, each into a file of its own.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn write_plots(&self, folder: &Utf8Path) -> std::io::Result<usize> {
        fs::create_dir_all(folder)?;
        let plots = self.sections.iter().flat_map(|section| &section.plots);
        let mut written = 0;
        for plot in plots {
            fs::write(folder.join(format!("{}.svg", plot.name)), &plot.svg)?;
            written += 1;
        }
        Ok(written)
    }
}

/// Lines of at most `width` characters, broken at spaces.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Page {
        let mut table = Table::new(&["kind", "n"]);
        table.row(["a <b>".into(), "3".into()]);
        Page {
            title: "Steps".into(),
            facts: vec![
                ("model".into(), "step & co".into()),
                ("n".into(), "3".into()),
            ],
            sections: vec![Section {
                title: "By kind".into(),
                prose: vec!["word ".repeat(30).trim_end().to_owned()],
                table: Some(table),
                plots: vec![Plot {
                    name: "one".into(),
                    svg: "<svg class=\"plot\"></svg>".into(),
                }],
            }],
        }
    }

    #[test]
    fn the_text_fits_into_80_columns() {
        let text = page().text();
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        assert!(
            text.starts_with("Steps\nmodel  step & co\nn      3\n\nBy kind\n  word"),
            "{text}"
        );
    }

    #[test]
    fn the_page_escapes_text_and_holds_pictures_as_they_are() {
        let html = page().html().unwrap();
        assert!(
            html.contains("a &#60;b&#62;") || html.contains("a &lt;b&gt;"),
            "{html}"
        );
        assert!(html.contains("<svg class=\"plot\"></svg>"));
        assert!(
            !html.contains("http://") || html.contains("xmlns"),
            "nothing is loaded"
        );
    }
}
