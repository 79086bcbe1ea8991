//! The debugger's state and what each command does to it.

use std::collections::HashMap;
use std::fmt::Write as _;

use ndbg_simulator::expression::{Expression, Outcome};
use ndbg_simulator::literal::Literal;
use ndbg_simulator::recording::{EventId, FileId, FrameId, Locals, Recording};
use ndbg_tools::trace::Opened;

use super::breakpoint::{Breakpoint, Place, holds, is_named};
use super::command::{Command, Target};
use super::movement::{self, Nowhere};
use super::names::StateNames;
use super::predicted::Predicted;
use super::scan::scan;
use super::{help, outer, view, why};

/// What a command says, and whether the debugger goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Text for the person, whole lines.
    pub text: String,
    /// Whether this was an error.
    pub failed: bool,
    /// Whether to leave.
    pub quit: bool,
}

impl Answer {
    fn say(text: impl Into<String>) -> Self {
        let mut text = text.into();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        Self {
            text,
            failed: false,
            quit: false,
        }
    }

    fn fail(text: impl Into<String>) -> Self {
        Self {
            failed: true,
            ..Self::say(text)
        }
    }
}

/// A position in a recording.
#[derive(Debug)]
pub struct Debugger {
    opened: Opened,
    at: EventId,
    /// Frame looked at: 0 is the event's own, 1 its caller's, …
    selected: usize,
    breakpoints: Vec<Breakpoint>,
    next_number: usize,
    last_find: Option<(String, Expression)>,
    last_step: Option<Command>,
    /// What the run comes from, if it was predicted.
    predicted: Option<Predicted>,
}

impl Debugger {
    /// Stands at the first event. None when there is none.
    pub fn new(opened: Opened) -> Option<Self> {
        let at = opened.recording.find_event(0)?;
        Some(Self {
            opened,
            at,
            selected: 0,
            breakpoints: Vec::new(),
            next_number: 1,
            last_find: None,
            last_step: None,
            predicted: None,
        })
    }

    /// Stands at the first state of a prediction. None when there is none.
    pub fn predicting(predicted: Predicted) -> Option<Self> {
        let mut debugger = Self::new(predicted.opened()?)?;
        debugger.predicted = Some(predicted);
        Some(debugger)
    }

    /// A stop, with how sure it is if it was predicted.
    fn stop(&self, id: EventId) -> String {
        let text = view::stop(self.recording(), id);
        match (&self.predicted, text.split_once('\n')) {
            (Some(predicted), Some((first, rest))) => {
                format!("{first}  predicted {}\n{rest}", predicted.confidence(id))
            }
            _ => text,
        }
    }

    /// The recording.
    pub fn recording(&self) -> &Recording {
        &self.opened.recording
    }

    /// Where it stands.
    pub fn position(&self) -> EventId {
        self.at
    }

    /// The event whose frame is looked at.
    pub fn looked_at(&self) -> EventId {
        let stack = movement::stack(self.recording(), self.at);
        stack.get(self.selected).copied().unwrap_or(self.at)
    }

    /// Locals of the frame that is looked at, as they are now.
    pub fn locals(&self) -> Locals {
        outer::locals(self.recording(), self.looked_at(), self.at)
    }

    /// First lines: what was recorded, and whether it is whole.
    pub fn greeting(&self) -> String {
        format!("{}{}", self.info(), self.stop(self.at))
    }

    /// The step that an empty line repeats.
    pub fn repeated(&self) -> Option<Command> {
        self.last_step.clone()
    }

    /// Carries a command out.
    pub fn execute(&mut self, command: Command) -> Answer {
        let repeatable = matches!(
            command,
            Command::Step(_)
                | Command::Next(_)
                | Command::ReverseStep(_)
                | Command::ReverseNext(_)
                | Command::Continue
                | Command::ReverseContinue
                | Command::Find(..)
        );
        if repeatable {
            self.last_step = Some(match &command {
                Command::Find(_, backwards) => Command::Find(None, *backwards),
                other => other.clone(),
            });
        }
        match command {
            Command::Step(count) => self.walk(count, movement::step),
            Command::Next(count) => self.walk(count, movement::next),
            Command::ReverseStep(count) => self.walk(count, movement::reverse_step),
            Command::ReverseNext(count) => self.walk(count, movement::reverse_next),
            Command::Return => self.walk(1, movement::finish),
            Command::ReverseReturn => self.walk(1, movement::call),
            Command::Continue => self.run_on(false),
            Command::ReverseContinue => self.run_on(true),
            Command::Break(None) => self.list_breakpoints(),
            Command::Break(Some(target)) => self.add_breakpoint(target),
            Command::Clear(number) => self.clear(number),
            Command::Print(None) => self.print_all(),
            Command::Print(Some(expression)) => self.print(&expression),
            Command::Set(name, value) => self.set(&name, value),
            Command::Where => Answer::say(view::stack(self.recording(), self.at, self.selected)),
            Command::List => Answer::say(view::source(self.recording(), self.looked_at())),
            Command::Up(count) => self.select(self.selected + count),
            Command::Down(count) => match self.selected.checked_sub(count) {
                Some(level) => self.select(level),
                None => Answer::fail("this is the innermost frame"),
            },
            Command::Why(name) => self.why(&name),
            Command::Goto(number) => match self.recording().find_event(number) {
                Some(id) => self.go(id),
                None => Answer::fail(format!(
                    "there is no event {number}: they go from 0 to {}",
                    self.recording().len() - 1
                )),
            },
            Command::Find(expression, backwards) => self.find(expression, backwards),
            Command::Tree => self.tree(),
            Command::Info => Answer::say(self.info()),
            Command::Help(None) => Answer::say(help::overview()),
            Command::Help(Some(name)) => match help::on(&name) {
                Some(text) => Answer::say(text),
                None => Answer::fail(format!("no command `{name}`")),
            },
            Command::Quit => Answer {
                quit: true,
                ..Answer::say("")
            },
        }
    }

    fn go(&mut self, id: EventId) -> Answer {
        self.at = id;
        self.selected = 0;
        Answer::say(self.stop(id))
    }

    /// Gives a variable another value here and predicts what follows.
    fn set(&mut self, name: &str, value: Literal) -> Answer {
        if self.selected > 0 {
            return Answer::fail("a value is set in the running frame: `d` goes back to it");
        }
        let at = self.at;
        let Some(predicted) = &mut self.predicted else {
            return Answer::fail(
                "a recording is what happened: only a prediction can be changed (`--predict`)",
            );
        };
        if let Err(why) = predicted.set(at, name, value) {
            return Answer::fail(why);
        }
        let Some(opened) = predicted.opened() else {
            return Answer::fail("nothing can be predicted from here");
        };
        self.opened = opened;
        self.go(at)
    }

    fn walk(
        &mut self,
        count: usize,
        step: fn(&Recording, EventId) -> Result<EventId, Nowhere>,
    ) -> Answer {
        let mut id = self.at;
        for taken in 0..count {
            match step(self.recording(), id) {
                Ok(next) => id = next,
                Err(nowhere) if taken == 0 => return Answer::fail(nowhere.to_string()),
                Err(_) => break,
            }
        }
        self.go(id)
    }

    fn run_on(&mut self, backwards: bool) -> Answer {
        let run = self.recording();
        let at = self.at.0;
        let last = run.len() as u32 - 1;
        // States are known going forwards, so the way back is the last stop on the way here.
        let mut found = None;
        let range = if backwards { 0..at } else { at + 1..last + 1 };
        scan(run, range, |id, locals| {
            if self.breakpoints.iter().any(|b| b.stops_at(run, id, locals)) {
                found = Some(id);
            }
            backwards || found.is_none()
        });
        if let Some(id) = found {
            return self.go(id);
        }
        let (end, name) = if backwards {
            (0, "start")
        } else {
            (last, "end")
        };
        if at == end {
            return Answer::fail(format!("the {name} of the recording"));
        }
        let answer = self.go(EventId(end));
        Answer::say(format!(
            "no breakpoint on the way: the {name} of the recording\n{}",
            answer.text
        ))
    }

    fn list_breakpoints(&self) -> Answer {
        if self.breakpoints.is_empty() {
            return Answer::say("no breakpoints");
        }
        let lines: Vec<String> = self
            .breakpoints
            .iter()
            .map(|b| b.text(self.recording()))
            .collect();
        Answer::say(lines.join("\n"))
    }

    fn add_breakpoint(&mut self, target: Target) -> Answer {
        let place = match self.place(&target.place) {
            Ok(place) => place,
            Err(message) => return Answer::fail(message),
        };
        let breakpoint = Breakpoint {
            number: self.next_number,
            place,
            condition: target.condition,
        };
        let run = self.recording();
        let (mut hits, mut untold) = (0, 0);
        scan(run, 0..run.len() as u32, |id, locals| {
            if let Some(outcome) = breakpoint.at(run, id, locals) {
                hits += usize::from(outcome.holds());
                untold += usize::from(matches!(outcome, Outcome::Unknown(_)));
            }
            true
        });
        let mut text = format!("{} ({hits} in the recording)", breakpoint.text(run));
        if untold > 0 {
            let _ = write!(text, "\nat {untold} events the condition could not be told");
        }
        self.next_number += 1;
        self.breakpoints.push(breakpoint);
        Answer::say(text)
    }

    fn place(&self, text: &str) -> Result<Place, String> {
        let run = self.recording();
        if text.is_empty() {
            return Ok(Place::Anywhere);
        }
        if let Ok(line) = text.parse() {
            return Ok(Place::Line(run.code_of(self.looked_at()).file, line));
        }
        if let Some((name, line)) = text.rsplit_once(':')
            && let Ok(line) = line.parse()
        {
            let matches: Vec<usize> = (0..run.files().len())
                .filter(|&at| is_file(&run.files()[at].name, name))
                .collect();
            return match matches[..] {
                [file] => Ok(Place::Line(FileId(file as u32), line)),
                [] => Err(format!("no file `{name}` in the recording")),
                _ => Err(format!(
                    "several files end in `{name}`: give more of the path"
                )),
            };
        }
        let exists = run
            .codes()
            .iter()
            .any(|code| is_named(run.text(code.qualname), text));
        if exists {
            Ok(Place::Function(text.to_owned()))
        } else {
            Err(format!("no function `{text}` in the recording"))
        }
    }

    fn clear(&mut self, number: Option<usize>) -> Answer {
        let before = self.breakpoints.len();
        self.breakpoints
            .retain(|b| number.is_some_and(|number| b.number != number));
        match (before - self.breakpoints.len(), number) {
            (0, Some(number)) => Answer::fail(format!("there is no breakpoint {number}")),
            (removed, _) => Answer::say(format!("{removed} removed")),
        }
    }

    fn print_all(&self) -> Answer {
        let run = self.recording();
        let locals = self.locals();
        if locals.is_empty() {
            return Answer::say("no local variables");
        }
        let lines: Vec<String> = locals
            .iter()
            .map(|held| view::binding(run, run.text(held.name), held.value, held.serial, None))
            .collect();
        Answer::say(lines.join("\n"))
    }

    fn print(&self, expression: &Expression) -> Answer {
        let locals = self.locals();
        let names = StateNames::with(self.recording(), self.looked_at(), &locals);
        match expression.evaluate(&names) {
            Outcome::Value(value) => Answer::say(value.to_string()),
            Outcome::Text(text) => Answer::say(text),
            Outcome::Unknown(why) | Outcome::Unbound(why) => Answer::fail(why),
        }
    }

    fn select(&mut self, level: usize) -> Answer {
        let stack = movement::stack(self.recording(), self.at);
        if level >= stack.len() {
            return Answer::fail("there is no recorded caller");
        }
        self.selected = level;
        let id = stack[level];
        let run = self.recording();
        Answer::say(format!(
            "frame of {}\n-> {}\n{}",
            view::place(run, id),
            view::short(run.source_line(id), 76),
            if level == 0 {
                String::new()
            } else {
                let at = id.0;
                format!("   names as bound at event {at}; `global` and `nonlocal` show later\n")
            }
        ))
    }

    fn why(&self, name: &str) -> Answer {
        let run = self.recording();
        let at = self.looked_at();
        if name.contains(['.', '[', ' ']) {
            return Answer::fail("`why` takes the name of a variable; `p` shows expressions");
        }
        let Some(write) = why::last_write(run, at, name) else {
            return Answer::fail(format!("`{name}` is not bound in this frame up to here"));
        };
        let how = if write.argument {
            if write.by == write.seen {
                "came in with the call".to_owned()
            } else {
                "is an argument; it was passed by".to_owned()
            }
        } else if let Some(other) = &write.through {
            format!("was changed in place, as `{other}`, by")
        } else {
            "was written by".to_owned()
        };
        let mut text = format!(
            "{}\n{how} event {}, {}\n-> {}\n",
            match write.after {
                Some(value) => format!("{name} = {}", view::short(run.text(value), 70)),
                None => format!("{name} is not bound"),
            },
            write.by.0,
            view::place(run, write.by),
            view::short(run.source_line(write.by), 76),
        );
        if let Some(before) = write.before {
            let _ = writeln!(text, "   before: {}", view::short(run.text(before), 64));
        }
        if write
            .after
            .is_some_and(|value| run.text(value).contains('…'))
        {
            text += "   the value is cut: later writes inside it may not show\n";
        }
        Answer::say(text + &format!("   `goto {}` goes there\n", write.by.0))
    }

    fn find(&mut self, expression: Option<(String, Expression)>, backwards: bool) -> Answer {
        let Some((text, expression)) = expression.or_else(|| self.last_find.clone()) else {
            return Answer::fail("`find` needs an expression the first time: `find total < 0`");
        };
        self.last_find = Some((text.clone(), expression.clone()));
        let run = self.recording();
        let at = self.at.0;
        // Where it becomes true: true here, and not at the frame's event before.
        let mut held: HashMap<FrameId, bool> = HashMap::new();
        let mut found = None;
        let (mut untold, mut reason) = (0, None);
        let range = if backwards {
            0..at
        } else {
            at..run.len() as u32
        };
        scan(run, range, |id, locals| {
            let frame = run.activation_of(id).frame;
            let outcome = expression.evaluate(&StateNames::with(run, id, locals));
            if let Outcome::Unknown(why) = &outcome
                && id.0 != at
            {
                untold += 1;
                reason.get_or_insert_with(|| why.clone());
            }
            let now = outcome.holds();
            let before = match held.insert(frame, now) {
                Some(before) => before,
                None => run
                    .previous_in_frame(id)
                    .is_some_and(|p| holds(run, p, &run.locals(p), &expression)),
            };
            if now && !before && id.0 != at {
                found = Some(id);
            }
            backwards || found.is_none()
        });
        if let Some(id) = found {
            return self.go(id);
        }
        let side = if backwards { "before" } else { "after" };
        let mut said = format!("`{text}` becomes true nowhere {side} here");
        if let Some(reason) = reason {
            let _ = write!(said, ";\nat {untold} events it could not be told: {reason}");
        }
        Answer::fail(said)
    }

    fn tree(&self) -> Answer {
        let run = self.recording();
        let activation = run.event(self.at).activation;
        let mut text = view::call_line(run, activation, 0) + "\n";
        let mut event = Some(run.activation(activation).first);
        let mut shown = 0;
        while let Some(id) = event {
            for child in run.called_during(id) {
                shown += 1;
                if shown <= 40 {
                    text += &view::call_line(run, child, 1);
                    text.push('\n');
                }
            }
            event = run.next_in_activation(id);
        }
        if shown > 40 {
            let _ = writeln!(text, "  … and {} more calls", shown - 40);
        }
        Answer::say(text)
    }

    fn info(&self) -> String {
        let (meta, run) = (&self.opened.meta, self.recording());
        let origin = match &self.predicted {
            Some(predicted) => format!("predicted by {}", predicted.model()),
            None => format!("Python {}", meta.python),
        };
        let mut text = format!(
            "{} events, {} calls, {origin}\n",
            run.len(),
            run.frame_count(),
        );
        for line in crate::trace::gaps(&self.opened.recording, self.opened.cut_off.as_deref()) {
            let _ = writeln!(text, "{line}");
        }
        text
    }
}

/// Whether a file is meant by what a user types: its end, whole path parts.
fn is_file(name: &str, typed: &str) -> bool {
    name == typed
        || name
            .strip_suffix(typed)
            .is_some_and(|rest| rest.ends_with(['/', '\\']))
}
