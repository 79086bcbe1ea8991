//! Completion of commands, names of variables and places.

use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};

use super::command::COMMANDS;
use super::debugger::Debugger;

/// What can be typed now; made anew before each line.
#[derive(Debug, Default)]
pub struct Completion {
    /// Variables of the frame looked at.
    pub variables: Vec<String>,
    /// Functions and files.
    pub places: Vec<String>,
}

impl Completion {
    /// What can be typed where the debugger stands.
    pub fn at(debugger: &Debugger) -> Self {
        let run = debugger.recording();
        let locals = debugger.locals();
        let variables = locals.iter().map(|held| run.text(held.name).to_owned());
        let functions = run
            .codes()
            .iter()
            .map(|code| run.text(code.qualname).to_owned());
        let files = run.files().iter().map(|file| format!("{}:", file.name));
        let mut places: Vec<String> = functions.chain(files).collect();
        places.sort();
        places.dedup();
        Self {
            variables: variables.collect(),
            places,
        }
    }

    /// Words that may stand at `position` and where the one typed starts.
    pub fn candidates(&self, line: &str, position: usize) -> (usize, Vec<String>) {
        let before = line.get(..position).unwrap_or(line);
        let start = before
            .rfind(|c: char| c.is_whitespace() || "()[]=<>!,".contains(c))
            .map_or(0, |at| {
                at + before[at..].chars().next().map_or(1, char::len_utf8)
            });
        let typed = &before[start..];
        let command = before[..start].split_whitespace().next();
        let words: Vec<String> = match command {
            None => COMMANDS
                .iter()
                .flat_map(|(names, ..)| names.iter().map(|&name| name.to_owned()))
                .collect(),
            Some("b" | "break") if !before.contains(" if ") => self.places.clone(),
            Some("h" | "help") => COMMANDS
                .iter()
                .map(|(names, ..)| names[0].to_owned())
                .collect(),
            Some(_) => self.variables.clone(),
        };
        let fitting = words.into_iter().filter(|word| word.starts_with(typed));
        (start, fitting.collect())
    }
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let (start, words) = self.candidates(line, position);
        let pairs = words.into_iter().map(|word| Pair {
            display: word.clone(),
            replacement: word,
        });
        Ok((start, pairs.collect()))
    }
}

impl Hinter for Completion {
    type Hint = String;
}
impl Highlighter for Completion {}
impl Validator for Completion {}
impl Helper for Completion {}
