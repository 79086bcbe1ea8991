//! What the terminal can show: colour, characters, width.

use std::borrow::Cow;

use console::Style;

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColorChoice {
    /// On terminals; `NO_COLOR`, `CLICOLOR_FORCE` and `TERM=dumb` are heeded.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What a piece of text means; decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Went as hoped.
    Good,
    /// Went wrong.
    Bad,
    /// Wants attention.
    Warn,
    /// Names the column or the kind of line.
    Label,
    /// A heading.
    Strong,
    /// Less important.
    Dim,
}

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Whether to colour.
    pub color: bool,
    /// Whether characters outside ASCII can be shown.
    pub unicode: bool,
    /// Columns.
    pub width: usize,
}

/// Columns when the width is not known, and the most that are used: longer lines read badly.
const WIDTH: usize = 80;
const WIDEST: usize = 100;

impl Look {
    /// No colour, 80 columns.
    pub const PLAIN: Self = Self {
        color: false,
        unicode: true,
        width: WIDTH,
    };

    /// The look for a stream; `terminal` is its width when it is one.
    pub fn settle(
        choice: ColorChoice,
        terminal: Option<usize>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        Self {
            color: wants_color(choice, terminal.is_some(), &variable),
            unicode: speaks_utf8(&variable),
            width: terminal.map_or(WIDTH, |columns| columns.clamp(40, WIDEST)),
        }
    }

    /// `text` in the colour of its role.
    pub fn paint<'a>(&self, role: Role, text: &'a str) -> Cow<'a, str> {
        if !self.color || text.is_empty() {
            return Cow::Borrowed(text);
        }
        let style = match role {
            Role::Good => Style::new().green(),
            Role::Bad => Style::new().red().bold(),
            Role::Warn => Style::new().yellow(),
            Role::Label => Style::new().cyan(),
            Role::Strong => Style::new().bold(),
            Role::Dim => Style::new().dim(),
        };
        Cow::Owned(style.force_styling(true).apply_to(text).to_string())
    }

    /// The mark of something that held or did not.
    pub const fn mark(&self, passed: bool) -> &'static str {
        match (self.unicode, passed) {
            (true, true) => "✓",
            (true, false) => "✗",
            (false, true) => "+",
            (false, false) => "x",
        }
    }

    /// What stands for text left out.
    pub const fn ellipsis(&self) -> &'static str {
        if self.unicode { "…" } else { "..." }
    }

    /// What stands left of quoted text.
    pub const fn gutter(&self) -> &'static str {
        if self.unicode { "│ " } else { "| " }
    }
}

fn wants_color(
    choice: ColorChoice,
    is_terminal: bool,
    variable: &impl Fn(&str) -> Option<String>,
) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            if variable("NO_COLOR").is_some_and(|value| !value.is_empty()) {
                return false;
            }
            if variable("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0") {
                return true;
            }
            is_terminal && variable("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// The first of the three variables that is set decides, as in C's `setlocale`.
fn speaks_utf8(variable: &impl Fn(&str) -> Option<String>) -> bool {
    if cfg!(windows) {
        return true;
    }
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(variable)
        .find(|value| !value.is_empty())
        .is_some_and(|value| {
            let value = value.to_ascii_lowercase();
            value.contains("utf-8") || value.contains("utf8")
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(choice: ColorChoice, terminal: Option<usize>, variables: &[(&str, &str)]) -> Look {
        Look::settle(choice, terminal, |name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn colour_follows_the_choice_then_the_environment_then_the_terminal() {
        use ColorChoice::{Always, Auto, Never};
        let tty = Some(80);
        assert!(look(Auto, tty, &[]).color);
        assert!(!look(Auto, None, &[]).color);
        assert!(!look(Auto, tty, &[("NO_COLOR", "1")]).color);
        assert!(look(Auto, tty, &[("NO_COLOR", "")]).color);
        assert!(!look(Auto, tty, &[("TERM", "dumb")]).color);
        assert!(look(Auto, None, &[("CLICOLOR_FORCE", "1")]).color);
        assert!(!look(Auto, None, &[("CLICOLOR_FORCE", "0")]).color);
        assert!(!look(Auto, None, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]).color);
        assert!(look(Always, None, &[("NO_COLOR", "1")]).color);
        assert!(!look(Never, tty, &[("CLICOLOR_FORCE", "1")]).color);
    }

    #[test]
    #[cfg(unix)]
    fn characters_follow_the_locale() {
        let unicode = |variables: &[_]| look(ColorChoice::Auto, None, variables).unicode;
        assert!(unicode(&[("LANG", "en_GB.UTF-8")]));
        assert!(unicode(&[("LC_ALL", ""), ("LANG", "C.utf8")]));
        assert!(!unicode(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")]));
        assert!(!unicode(&[]));
    }

    #[test]
    fn width_stays_readable() {
        let width = |terminal| look(ColorChoice::Auto, terminal, &[]).width;
        assert_eq!(
            [None, Some(10), Some(90), Some(300)].map(width),
            [80, 40, 90, 100]
        );
    }
}
