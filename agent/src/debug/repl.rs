//! Reads commands and shows answers: with history and completion at a terminal, line by line
//! otherwise.

use std::io::{self, BufRead, IsTerminal, Write};

use camino::Utf8Path;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{Config, Editor};

use super::command::{self, Problem};
use super::complete::Completion;
use super::debugger::{Answer, Debugger};

const PROMPT: &str = "(ndbg) ";

/// Runs until the input ends or the person leaves. `history` is the file that keeps what was typed.
pub fn run(mut debugger: Debugger, history: &Utf8Path) -> io::Result<()> {
    let outcome = if io::stdin().is_terminal() && io::stdout().is_terminal() {
        at_terminal(&mut debugger, history)
    } else {
        piped(&mut debugger, io::stdin().lock(), &mut io::stdout().lock())
    };
    match outcome {
        // `debug … | head`: nobody listens any more, which is no error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// One command a line. Every command is answered, so that what is read can be told apart.
pub fn piped(
    debugger: &mut Debugger,
    input: impl BufRead,
    output: &mut impl Write,
) -> io::Result<()> {
    output.write_all(debugger.greeting().as_bytes())?;
    for line in input.split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        let line = line.trim_end_matches('\r');
        writeln!(output, "{PROMPT}{line}")?;
        if answer(debugger, line, 0, output)? {
            break;
        }
    }
    output.flush()
}

/// Carries a line out and writes the answer; true to leave.
fn answer(
    debugger: &mut Debugger,
    line: &str,
    indent: usize,
    output: &mut impl Write,
) -> io::Result<bool> {
    let command = match command::parse(line) {
        Ok(Some(command)) => command,
        Ok(None) if line.trim().is_empty() => match debugger.repeated() {
            Some(command) => command,
            None => return Ok(false),
        },
        Ok(None) => return Ok(false),
        Err(problem) => {
            output.write_all(describe(line, indent, &problem).as_bytes())?;
            return Ok(false);
        }
    };
    let Answer { text, quit, .. } = debugger.execute(command);
    output.write_all(text.as_bytes())?;
    Ok(quit)
}

/// The message; below the line and a mark at its column, where there is one.
fn describe(line: &str, indent: usize, problem: &Problem) -> String {
    match problem.column {
        Some(column) if indent > 0 => {
            let before = " ".repeat(indent) + &blank(line, column);
            format!("{before}^ {}\n", problem.message)
        }
        Some(column) => {
            let before = blank(line, column);
            format!("  {line}\n  {before}^ {}\n", problem.message)
        }
        None => format!("{}\n", problem.message),
    }
}

/// White space as wide as a line up to a column: tabs stay tabs.
fn blank(line: &str, column: usize) -> String {
    let mut chars = line.chars();
    let blank = |c| if c == '\t' { '\t' } else { ' ' };
    (1..column)
        .map(|_| chars.next().map_or(' ', blank))
        .collect()
}

fn at_terminal(debugger: &mut Debugger, history: &Utf8Path) -> io::Result<()> {
    let config = Config::builder().auto_add_history(true).build();
    let mut editor: Editor<Completion, FileHistory> =
        Editor::with_config(config).map_err(io::Error::other)?;
    // The first time there is none.
    let _ = editor.load_history(history);
    let mut output = io::stdout();
    output.write_all(debugger.greeting().as_bytes())?;
    loop {
        editor.set_helper(Some(Completion::at(debugger)));
        match editor.readline(PROMPT) {
            Ok(line) => {
                if answer(debugger, &line, PROMPT.len(), &mut output)? {
                    break;
                }
            }
            Err(ReadlineError::Interrupted) => println!("`q` leaves"),
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(io::Error::other(error)),
        }
    }
    if let Some(folder) = history.parent() {
        let _ = std::fs::create_dir_all(folder);
    }
    // A history that cannot be kept is no reason to fail.
    let _ = editor.save_history(history);
    Ok(())
}
