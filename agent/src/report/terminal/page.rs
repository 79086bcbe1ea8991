//! Lines of a terminal: labels, wrapping, indents.

use console::measure_text_width;

use crate::report::look::{Look, Role};
use crate::report::visible::{ellipsize, one_line, wrap};

/// Columns of the label in front of a line, its indent and the gap behind it included.
const LABEL: usize = 13;

/// Text for a terminal, as it is written.
pub struct Page<'a> {
    /// What the terminal can show.
    pub look: &'a Look,
    /// The text.
    pub out: String,
}

impl<'a> Page<'a> {
    /// An empty page.
    pub const fn new(look: &'a Look) -> Self {
        Self {
            look,
            out: String::new(),
        }
    }

    pub fn heading(&mut self, text: &str) {
        let text = self.look.paint(Role::Strong, text).into_owned();
        self.out.push('\n');
        self.line("", &text);
    }

    /// A label with text beside it, wrapped under itself.
    pub fn entry(&mut self, label: &str, role: Role, text: &str) {
        let mut label = label;
        for line in wrap(&one_line(text), self.look.width - LABEL) {
            self.labelled(label, role, &line);
            label = "";
        }
    }

    pub fn labelled(&mut self, label: &str, role: Role, text: &str) {
        let padding = " ".repeat(LABEL.saturating_sub(2 + measure_text_width(label)).max(1));
        let label = self.look.paint(role, label).into_owned();
        self.line(&format!("  {label}{padding}"), text);
    }

    pub fn labelled_id(&mut self, label: &str, id: &str) {
        let id = ellipsize(&one_line(id), self.look.width - LABEL, self.look.ellipsis());
        self.labelled(label, Role::Label, &id);
    }

    /// `warning: text`, wrapped under the text.
    pub fn prefixed(&mut self, label: &str, role: Role, text: &str) {
        let indent = measure_text_width(label) + 2;
        let label = self.look.paint(role, label).into_owned();
        let mut lead = format!("{label}: ");
        for line in wrap(&one_line(text), self.look.width - indent) {
            self.line(&lead, &line);
            lead = " ".repeat(indent);
        }
    }

    /// Text at an indent, wrapped, cut to `max` lines.
    pub fn body(&mut self, indent: usize, text: &str, max: usize) {
        let lines = wrap(text, self.look.width - indent);
        let cut = lines.len() > max;
        for (index, line) in lines.into_iter().take(max).enumerate() {
            let tail = if cut && index + 1 == max {
                self.look.ellipsis()
            } else {
                ""
            };
            let line = ellipsize(&line, self.look.width - indent - tail.chars().count(), tail);
            self.line(&" ".repeat(indent), &format!("{line}{tail}"));
        }
    }

    /// A test id on one line, its middle left out where it is too long.
    pub fn id(&mut self, lead: &str, id: &str) {
        let width = self.look.width - measure_text_width(lead);
        self.line(lead, &ellipsize(&one_line(id), width, self.look.ellipsis()));
    }

    pub fn more(&mut self, all: usize, shown: usize, indent: &str) {
        if all > shown {
            let text = format!("and {} more", all - shown);
            let text = self.look.paint(Role::Dim, &text).into_owned();
            self.line(&format!("  {indent}"), &text);
        }
    }

    pub fn line(&mut self, lead: &str, text: &str) {
        // `::…` and `##[…` at the start of a line are commands to GitHub's runner.
        let text = if lead.trim().is_empty() && text.trim_start().starts_with("::") {
            text.replacen("::", ":\\x3a", 1)
        } else {
            text.to_owned()
        };
        let line = format!("{lead}{text}").replace("##[", "##\\x5b");
        self.out.push_str(line.trim_end());
        self.out.push('\n');
    }
}
